// Asks the studio one thing after the other; a slider that has moved on asks for its latest value alone.
class Asking {
  constructor(token) { this.token = token; this.line = []; this.busy = false; this.shown = () => {}; }

  ask(request, when) {
    this.line.push({ request, when });
    this.run();
  }

  turn(request, when) {
    const last = this.line.at(-1), key = one => one.do + (one.knob || one.name);
    if (last && key(last.request) === key(request)) last.request = request; // the first touch still waits for its answer
    else this.line.push({ request, when });
    this.run();
  }

  async run() {
    if (this.busy) return;
    this.busy = true;
    while (this.line.length) {
      const { request, when } = this.line.shift();
      try {
        const reply = await fetch('act', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Studio': this.token }, body: JSON.stringify(request) });
        if (!reply.ok) throw new Error(await reply.text());
        const buffer = await reply.arrayBuffer();
        const size = new DataView(buffer).getUint32(0, true);
        this.shown(JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size))), new Float32Array(buffer, 4 + size), when);
      } catch (error) {
        this.line = [];
        this.shown({ said: `The studio does not answer (${error.message}). Start it again.`, wrong: true, sheets: [] }, null);
      }
    }
    this.busy = false;
  }
}

function show(scene, panel) {
  return (state, numbers, when) => {
    let at = 0;
    if (state.skin) { scene.move(numbers.subarray(0, scene.points.length), when); at = scene.points.length; }
    for (const [name, rows, columns] of state.sheets) {
      scene.muscle(name, rows, columns, numbers.subarray(at, at + 3 * rows * columns));
      at += 3 * rows * columns;
    }
    panel.show(state);
    if (state.muscles) scene.keep(state.muscles, state.selected);
    if (!element('show').checked) scene.show(false);
  };
}

// Clicks draw, drags turn, shift and drag draw a stroke.
function listen(canvas, scene, panel) {
  let start = null, moved = 0, stroke = false, last = null;
  canvas.addEventListener('contextmenu', event => event.preventDefault());
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    start = last = event; moved = 0; stroke = event.shiftKey && event.button === 0;
    if (stroke) panel.click(scene.pick(event), false);
  });
  canvas.addEventListener('pointermove', event => {
    if (!start) return;
    const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (stroke) {
      if (Math.hypot(dx, dy) < 7) return;
      panel.click(scene.pick(event), true);
    } else if (moved > 4) {
      canvas.classList.add('turning');
      if (start.button === 0) scene.rotate(dx, dy); else scene.pan(dx, dy);
    }
    last = event;
  });
  canvas.addEventListener('pointerup', event => {
    if (start && start.button === 0 && !stroke && moved <= 4) panel.click(scene.pick(event), false);
    start = null; canvas.classList.remove('turning');
  });
  canvas.addEventListener('wheel', event => { event.preventDefault(); scene.nearer(event.deltaY); }, { passive: false });
}

const header = JSON.parse(element('header').textContent);
const mesh = fetch('mesh').then(reply => reply.arrayBuffer());

async function open(library) {
  try {
    const scene = new Scene(library.ThreeJsProvider.THREE, element('view'), header, await mesh);
    const asking = new Asking(header.token), panel = new Panel(header, scene.size, asking, scene);
    asking.shown = show(scene, panel);
    listen(element('view'), scene, panel);
    element('wait').remove();
    asking.ask({ do: 'state' });
    window.studio = { scene, asking };
  } catch (error) {
    element('wait').textContent = `The page could not be opened: ${error.message}`;
    throw error;
  }
}

require(['k3d'], library => { open(library); });
