// Draws the newest pose that the server has, as often as the machine can.
const SPAN = 10; // seconds of curve

class Live {
  constructor(view, header) {
    this.view = view; this.header = header;
    this.matrix = new Float32Array(12 * header.bodies.length);
    this.identity();
    view.poses.at = () => this.matrix;
    view.surface.at = () => view.surface.now;
    view.skin.at = () => view.skin.now;
    this.trace = [];
    this.number = 0; this.drawn = 0;
    this.list();
    this.camera();
    this.draw();
    if (header.sound) this.offerSound();
    this.ask();
  }

  identity() {
    for (let k = 0; k < this.header.bodies.length; k++) for (let r = 0; r < 3; r++) this.matrix[12 * k + 5 * r] = 1;
  }

  async ask() {
    for (;;) {
      try {
        const answer = await fetch(`/pose?${this.number}`);
        const numbers = new Float32Array(await answer.arrayBuffer());
        const number = +answer.headers.get('X-Number');
        if (numbers.length && number !== this.number) { this.number = number; this.take(numbers); }
      } catch (error) {
        document.getElementById('state').textContent = `ended · ${this.drawn} pictures drawn`;
        return;
      }
      await new Promise(requestAnimationFrame);
    }
  }

  take(numbers) {
    const { bodies, points, vertices } = this.header, [time, pressure, wanted] = numbers;
    let o = 3;
    const turn = numbers.subarray(o, o += 4 * bodies.length), shift = numbers.subarray(o, o += 3 * bodies.length);
    for (let k = 0; k < bodies.length; k++) {
      const w = turn[4 * k], x = turn[4 * k + 1], y = turn[4 * k + 2], z = turn[4 * k + 3];
      const m = this.matrix.subarray(12 * k, 12 * k + 12);
      m[0] = 1 - 2 * (y * y + z * z); m[1] = 2 * (x * y - z * w); m[2] = 2 * (x * z + y * w);
      m[4] = 2 * (x * y + z * w); m[5] = 1 - 2 * (x * x + z * z); m[6] = 2 * (y * z - x * w);
      m[8] = 2 * (x * z - y * w); m[9] = 2 * (y * z + x * w); m[10] = 1 - 2 * (x * x + y * y);
      for (let i = 0; i < 3; i++) m[4 * i + 3] = shift[3 * k + i];
    }
    this.view.surface.now.set(numbers.subarray(o, o += 3 * points));
    if (vertices) this.view.skin.now.set(numbers.subarray(o, o += 3 * vertices));
    this.trace.push([time, pressure, wanted]);
    while (this.trace[0][0] < time - SPAN) this.trace.shift();
    this.time = time;
    document.getElementById('state').textContent =
      `${time.toFixed(1)} s · heard ${wanted.toFixed(0)} · lung ${pressure.toFixed(0)} cmH2O`;
    if (this.sound && Math.abs(this.sound.currentTime - time) > 0.25) this.sound.currentTime = time;
    this.draw();
    this.drawn++;
  }

  draw() {
    this.view.move(0);
    this.view.K.render();
    this.plot();
  }

  plot() {
    const canvas = document.getElementById('curve'), pen = canvas.getContext('2d');
    const width = canvas.width = canvas.clientWidth, height = canvas.height;
    pen.clearRect(0, 0, width, height);
    if (!this.trace.length) return;
    const end = Math.max(this.time, SPAN), most = Math.max(30, ...this.trace.map(([, a, b]) => Math.max(a, b)));
    const least = Math.min(-8, ...this.trace.map(([, a, b]) => Math.min(a, b)));
    const y = value => height - 4 - (value - least) / (most - least) * (height - 8);
    pen.strokeStyle = '#323b44'; pen.beginPath(); pen.moveTo(0, y(0)); pen.lineTo(width, y(0)); pen.stroke();
    for (const [column, colour, thick] of [[2, '#93a1ad', 1.2], [1, '#ffb05c', 1.8]]) {
      pen.strokeStyle = colour; pen.lineWidth = thick; pen.beginPath();
      for (const row of this.trace) pen.lineTo((1 - (end - row[0]) / SPAN) * width, y(row[column]));
      pen.stroke();
    }
  }

  // Browsers let a page sound only after a click.
  offerSound() {
    const button = document.getElementById('listen');
    button.hidden = false;
    button.addEventListener('click', () => {
      this.sound = new Audio('/sound');
      this.sound.currentTime = this.time || 0;
      this.sound.play().catch(() => { this.sound = null; });
      button.hidden = true;
    });
  }

  list() {
    const list = document.getElementById('layer-list');
    for (const layer of this.view.layers.values()) {
      if (layer.strands) continue;
      const label = document.createElement('label');
      label.className = 'row';
      label.innerHTML = '<input type="checkbox"><i></i><span></span><input type="range" min="0" max="1" step="0.01">';
      const [box, slider] = label.querySelectorAll('input');
      label.querySelector('i').style.background = `#${byte(layer.colour).toString(16).padStart(6, '0')}`;
      label.querySelector('span').textContent = layer.label;
      box.checked = layer.visible; slider.value = layer.opacity;
      const apply = () => { this.view.show(layer.name, box.checked, +slider.value); this.draw(); };
      box.addEventListener('change', apply);
      slider.addEventListener('input', () => { box.checked = true; apply(); });
      list.append(label);
    }
  }

  camera() {
    const { centre, size } = this.header.frame, way = [1, 0.1, 0.7], length = Math.hypot(...way);
    const stage = document.getElementById('view'), far = 2.2 * size / Math.min(1, stage.clientWidth / stage.clientHeight);
    this.view.K.setCamera([...centre.map((c, k) => c + far * way[k] / length), ...centre, 0, 1, 0]);
  }
}

async function show(library) {
  try {
    const { header, arrays } = await unpack();
    const view = await drawing(library, 'view', header, arrays);
    document.getElementById('wait').remove();
    window.page = new Live(view, header);
  } catch (error) {
    document.getElementById('wait').textContent = `This page could not be shown: ${error.message}`;
    console.error(error);
  }
}

require(['k3d'], library => { show(library); });
