// Puts the page together: layers, labels, timeline, sound, plots.
const CAMERAS = { three: [1, 0.18, 0.78], front: [1, 0.03, 0.001], side: [0.001, 0.03, 1], back: [-1, 0.12, -0.45] };

class Page {
  constructor(view, header, arrays) {
    this.view = view; this.header = header; this.arrays = arrays;
    this.time = arrays.time_s;
    this.start = this.time[0]; this.end = this.time[this.time.length - 1];
    this.now = this.start; this.playing = false; this.speed = 1;
    this.sound = document.getElementById('sound');
    this.plots = header.plots.map(plan => new Plot(document.getElementById('plots'), plan, this.time, arrays, t => this.seek(t)));
    this.listLayers();
    this.listLabels();
    this.wire();
    this.camera('three');
    this.seek(this.start);
    if (!this.sound) this.play(true);
    requestAnimationFrame(stamp => this.tick(stamp));
  }

  frame() {
    const { time, now } = this;
    if (time.length < 2) return 0;
    const rate = (time.length - 1) / (this.end - this.start);
    return Math.max(0, Math.min(time.length - 1, (now - this.start) * rate));
  }

  seek(time) {
    this.now = Math.max(this.start, Math.min(this.end, time));
    if (this.sound && Math.abs(this.sound.currentTime - (this.now - this.start)) > 0.03) this.sound.currentTime = this.now - this.start;
    this.stale = true;
  }

  play(on) {
    if (on && this.now >= this.end - 1e-3) this.seek(this.start);
    this.playing = on;
    document.getElementById('play').textContent = on ? '❚❚' : '▶';
    if (this.sound) {
      this.sound.playbackRate = this.speed;
      if (on) this.sound.play().catch(() => { this.silent = true; });
      else this.sound.pause();
    }
  }

  tick(stamp) {
    const step = Math.min((stamp - (this.before || stamp)) / 1000, 0.2);
    this.before = stamp;
    if (this.playing) {
      const heard = this.sound && !this.silent && !this.sound.paused && !this.sound.ended;
      this.now = heard ? this.start + this.sound.currentTime : this.now + step * this.speed;
      if (this.now >= this.end) { this.now = this.end; if (this.sound) this.play(false); else this.seek(this.start); }
      this.stale = true;
    }
    if (this.stale || this.view.stale) {
      this.stale = false; this.view.stale = false;
      this.draw();
    }
    this.placeLabels();
    requestAnimationFrame(next => this.tick(next));
  }

  draw() {
    const frame = this.frame();
    this.view.move(frame);
    this.view.K.render();
    for (const plot of this.plots) plot.cursor(this.now, Math.round(frame));
    document.getElementById('time').value = (this.now - this.start) / (this.end - this.start || 1);
    document.getElementById('clock').textContent = `${this.now.toFixed(2)} / ${this.end.toFixed(1)} s`;
  }

  listLayers() {
    const list = document.getElementById('layer-list');
    const details = document.createElement('details');
    details.innerHTML = '<summary>Muscle groups</summary>';
    const groups = [];
    const row = layer => {
      const label = document.createElement('label');
      label.className = 'row';
      label.innerHTML = '<input type="checkbox"><i></i><span></span><input type="range" min="0" max="1" step="0.01">';
      const [box, slider] = label.querySelectorAll('input');
      label.querySelector('i').style.background = `#${byte(layer.colour).toString(16).padStart(6, '0')}`;
      label.querySelector('span').textContent = label.title = layer.label;
      box.checked = layer.visible; slider.value = layer.opacity;
      box.dataset.layer = layer.name;
      const apply = () => { this.view.show(layer.name, box.checked, +slider.value); };
      box.addEventListener('change', apply);
      slider.addEventListener('input', () => { box.checked = true; apply(); });
      return { label, box, slider };
    };
    for (const layer of this.view.layers.values()) {
      const made = row(layer);
      if (layer.strands) { groups.push(made); details.append(made.label); } else list.append(made.label);
    }
    if (groups.length) {
      const all = row({ name: 'muscles', label: 'Muscles', colour: this.header.muscle.driven, visible: groups.some(g => g.box.checked), opacity: 1 });
      const fresh = all.label.cloneNode(true); // without the listeners of a single layer
      const [box, slider] = fresh.querySelectorAll('input');
      box.addEventListener('change', () => groups.forEach(g => { g.box.checked = box.checked; g.box.dispatchEvent(new Event('change')); }));
      slider.addEventListener('input', () => groups.forEach(g => { g.slider.value = slider.value; if (g.box.checked) g.slider.dispatchEvent(new Event('input')); }));
      list.append(fresh, details);
    }
  }

  listLabels() {
    const names = document.getElementById('labels'), lines = document.getElementById('leaders');
    this.labels = this.header.labels.map(anchor => {
      const text = document.createElement('span');
      text.textContent = anchor.label;
      names.append(text);
      const [line, dot] = ['line', 'circle'].map(kind => lines.appendChild(document.createElementNS('http://www.w3.org/2000/svg', kind)));
      dot.setAttribute('r', 2.5);
      return { anchor, text, line, dot };
    });
  }

  // Labels stand in a column right of the body, in the order of their heights, so that they never cover one another.
  placeLabels() {
    if (!this.labels.length || !this.view.now) return;
    const on = document.getElementById('label-switch').checked, stage = document.getElementById('view');
    const width = stage.clientWidth, height = stage.clientHeight;
    const shown = [];
    for (const label of this.labels) {
      const layer = this.view.layers.get(label.anchor.layer);
      const spot = on && layer && layer.visible ? this.view.project(label.anchor, width, height) : null;
      const visible = spot && spot[0] > 0 && spot[0] < width && spot[1] > 0 && spot[1] < height;
      for (const part of [label.text, label.line, label.dot]) part.style.display = visible ? '' : 'none';
      if (visible) shown.push({ ...label, spot });
    }
    shown.sort((a, b) => a.spot[1] - b.spot[1]);
    const column = Math.max(...shown.map(({ spot }) => spot[0])) + 60;
    const x = Math.min(Math.max(column, 0.8 * width), width - 130);
    let y = 0;
    for (const { spot, text, line, dot } of shown) {
      y = Math.max(y + 20, spot[1]);
      text.style.left = `${x}px`; text.style.top = `${y}px`;
      const ends = { x1: spot[0], y1: spot[1], x2: x - 5, y2: y };
      for (const [key, value] of Object.entries(ends)) line.setAttribute(key, value);
      dot.setAttribute('cx', spot[0]); dot.setAttribute('cy', spot[1]);
    }
  }

  camera(name) {
    const { centre, size } = this.header.frame, way = CAMERAS[name];
    const stage = document.getElementById('view'), narrow = Math.min(1, stage.clientWidth / stage.clientHeight);
    const length = Math.hypot(...way), far = 2.2 * size / narrow;
    this.view.K.setCamera([...centre.map((c, k) => c + far * way[k] / length), ...centre, 0, 1, 0]);
    this.stale = true;
  }

  wire() {
    document.getElementById('play').addEventListener('click', () => this.play(!this.playing));
    document.getElementById('time').addEventListener('input', event => this.seek(this.start + event.target.value * (this.end - this.start)));
    document.getElementById('speed').addEventListener('change', event => {
      this.speed = +event.target.value;
      if (this.sound) this.sound.playbackRate = this.speed;
    });
    for (const button of document.querySelectorAll('[data-camera]')) button.addEventListener('click', () => this.camera(button.dataset.camera));
    document.getElementById('label-switch').addEventListener('change', () => { this.stale = true; });
    document.addEventListener('keydown', event => {
      if (event.target.matches('input[type=range], select')) return;
      if (event.code === 'Space') { event.preventDefault(); this.play(!this.playing); }
      if (event.code === 'ArrowRight') this.seek(this.now + 0.04);
      if (event.code === 'ArrowLeft') this.seek(this.now - 0.04);
    });
    window.addEventListener('resize', () => { for (const plot of this.plots) plot.paint(); this.stale = true; });
  }
}

// A view in an element of the page.
async function drawing(library, place, header, arrays) {
  const K = new library.K3D(library.ThreeJsProvider, document.getElementById(place), {
    menuVisibility: false, cameraAutoFit: false, gridAutoFit: false, gridVisible: false, axesHelper: 0, clearColor: 0x15191d,
  });
  const view = new View(K, header, arrays);
  await view.build();
  K.setGridVisible(false); K.setAxesHelper(0); K.setClearColor(0x1b2127); K.setMenuVisibility(false);
  K.setCameraAutoFit(false); K.setGridAutoFit(false); K.setCameraFOV(28); K.setDirectionalLightingIntensity(1.6);
  return view;
}
