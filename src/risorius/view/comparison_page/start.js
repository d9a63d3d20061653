// Two views that do as one: the page moves, shows and turns both.
class Pair {
  constructor(one, two) {
    this.both = [one, two];
    this.layers = one.layers; this.K = {
      render: () => { for (const view of this.both) view.K.render(); },
      setCamera: place => { for (const view of this.both) view.K.setCamera(place); },
    };
    const listen = (from, to) => from.K.on(from.K.events.CAMERA_CHANGE, place => {
      if (this.turning) return;
      this.turning = true;
      to.K.setCamera(place); to.K.render();
      this.turning = false;
    });
    listen(one, two); listen(two, one);
  }
  get stale() { return this.both.some(view => view.stale); }
  set stale(on) { for (const view of this.both) view.stale = on; }
  move(moment) { for (const view of this.both) view.move(moment); }
  show(name, visible, opacity) { for (const view of this.both) view.show(name, visible, opacity); }
}

async function showPair(library) {
  try {
    const { header, arrays } = await unpack();
    const others = { ...arrays };
    for (const name of Object.keys(arrays)) if (name.startsWith('other.')) others[name.slice(6)] = arrays[name];
    const views = [];
    for (const [place, own] of [['view', arrays], ['other', others]]) views.push(await drawing(library, place, header, own));
    document.getElementById('wait').remove();
    window.page = new Page(new Pair(...views), header, arrays);
  } catch (error) {
    document.getElementById('wait').textContent = `This page could not be shown: ${error.message}`;
    console.error(error);
  }
}

require(['k3d'], library => { showPair(library); });
