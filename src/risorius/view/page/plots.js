// Curves of the signals with a moving cursor; a click or drag moves time.
class Plot {
  constructor(parent, plan, time, arrays, seek) {
    this.plan = plan; this.time = time; this.seek = seek;
    this.curves = plan.curves.map(curve => ({ ...curve, values: arrays[curve.name] }));
    const box = document.createElement('div');
    box.className = 'plot';
    box.innerHTML = '<h2><span></span><small></small></h2><canvas></canvas><div class="legend"></div>';
    box.querySelector('span').textContent = plan.title;
    box.querySelector('small').textContent = plan.unit;
    this.canvas = box.querySelector('canvas');
    this.legend = box.querySelector('.legend');
    for (const curve of this.curves) {
      const entry = document.createElement('span');
      entry.innerHTML = `<i style="background:${curve.colour}"></i><b style="font-weight:400"></b> <u style="text-decoration:none"></u>`;
      entry.querySelector('b').textContent = curve.label;
      curve.reading = entry.querySelector('u');
      this.legend.append(entry);
    }
    parent.append(box);
    const go = event => {
      const place = this.canvas.getBoundingClientRect();
      const share = (event.clientX - place.left - this.left) / (place.width - this.left - this.right);
      this.seek(time[0] + Math.max(0, Math.min(1, share)) * (time[time.length - 1] - time[0]));
    };
    this.canvas.addEventListener('pointerdown', event => { this.canvas.setPointerCapture(event.pointerId); go(event); });
    this.canvas.addEventListener('pointermove', event => { if (event.buttons) go(event); });
    this.left = 40; this.right = 6;
    let low = Infinity, high = -Infinity;
    for (const { values } of this.curves) for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    if (plan.zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
    const room = Math.max(high - low, 1e-6 * Math.abs(high), 1e-9);
    this.low = low - 0.06 * room; this.high = high + 0.06 * room;
  }

  ticks() {
    const rough = (this.high - this.low) / 3, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find(k => k * power >= rough) * power;
    const found = [];
    for (let k = Math.ceil(this.low / step); k * step <= this.high; k++) found.push(k * step);
    return { found, digits: Math.max(0, -Math.floor(Math.log10(step))) };
  }

  paint() {
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * scale; this.canvas.height = height * scale;
    const pen = this.canvas.getContext('2d');
    pen.scale(scale, scale);
    const { left, right, time } = this, first = time[0], span = time[time.length - 1] - first || 1;
    const x = t => left + (t - first) / span * (width - left - right);
    const y = v => 4 + (this.high - v) / (this.high - this.low) * (height - 18);
    pen.font = '10px system-ui, sans-serif';
    pen.fillStyle = '#93a1ad'; pen.strokeStyle = '#2a323a'; pen.lineWidth = 1;
    const { found, digits } = this.ticks();
    pen.textAlign = 'right'; pen.textBaseline = 'middle';
    for (const tick of found) {
      pen.beginPath(); pen.moveTo(left, y(tick)); pen.lineTo(width - right, y(tick)); pen.stroke();
      pen.fillText(tick.toFixed(digits), left - 5, y(tick));
    }
    pen.textAlign = 'center'; pen.textBaseline = 'bottom';
    const every = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120].find(k => span / k <= 7) || 300;
    for (let t = Math.ceil(first / every) * every; t <= first + span + 1e-9; t += every) pen.fillText(`${+t.toFixed(2)}`, x(t), height);
    for (const { values, colour } of this.curves) {
      pen.strokeStyle = colour; pen.lineWidth = 1.5; pen.lineJoin = 'round';
      pen.beginPath();
      const skip = Math.max(1, Math.floor(values.length / (4 * width)));
      for (let k = 0; k < values.length; k += skip) pen[k ? 'lineTo' : 'moveTo'](x(time[k]), y(values[k]));
      pen.stroke();
    }
    this.still = pen.getImageData(0, 0, this.canvas.width, this.canvas.height);
    this.x = x; this.height = height; this.scale = scale;
  }

  cursor(now, frame) {
    if (!this.still) this.paint();
    const pen = this.canvas.getContext('2d');
    pen.putImageData(this.still, 0, 0);
    pen.strokeStyle = '#ffffff'; pen.globalAlpha = 0.8; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(this.x(now), 2); pen.lineTo(this.x(now), this.height - 13); pen.stroke();
    pen.globalAlpha = 1;
    for (const curve of this.curves) curve.reading.textContent = this.reading(curve.values[frame]);
  }

  // A value as fine as a thousandth of what the plot spans, never finer: no 1e-11 for nothing, no "-0.0".
  reading(value) {
    if (!Number.isFinite(value)) return '–';
    const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(this.high - this.low))));
    const text = value.toFixed(digits);
    return Number(text) === 0 ? (0).toFixed(digits) : text.replace('-', '−');
  }
}
