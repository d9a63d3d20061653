// The panel beside the picture: what it shows comes from the studio, what is touched is asked of it.

const element = id => document.getElementById(id);

// A slider with its name and its value; `heard` gets the value and when it was touched.
function knob(name, most, step, heard) {
  const label = document.createElement('label'), text = document.createElement('span'), value = document.createElement('output');
  const input = document.createElement('input');
  label.className = 'knob'; text.textContent = name;
  Object.assign(input, { type: 'range', min: 0, max: most, step, value: 0 });
  input.setAttribute('aria-label', name);
  label.append(text, value, input);
  let told = 0, later = 0; // the number follows eight times a second: to draw text costs more than to move a skin
  const tell = () => {
    clearTimeout(later);
    const wait = told + 125 - performance.now();
    if (wait > 0) { later = setTimeout(tell, wait); return; }
    told = performance.now();
    value.textContent = +(+input.value).toPrecision(3);
  };
  const made = { label, input, touched: -1e9, set(number) { input.value = number; tell(); },
    follow(number) { if (performance.now() - made.touched > 500) made.set(number); } }; // not while it is being dragged
  input.addEventListener('input', event => { made.touched = performance.now(); tell(); heard(+input.value, event.timeStamp); });
  tell();
  return made;
}

class Panel {
  constructor(header, size, asking, scene) {
    this.asking = asking; this.scene = scene;
    this.curves = [[], []]; this.drawing = 0;
    this.thickness = {};
    for (const [key, name] of [['skin_thickness', 'Skin thickness'], ['muscle_thickness', 'Muscle thickness']]) {
      const made = knob(name, 0.05 * size, 0.0001 * size, () => {});
      made.set(Math.min(header.thickness[key], 0.05 * size));
      this.thickness[key] = made;
      element('thickness').append(made.label);
    }
    this.knobs = {};
    const reach = { contraction: [1, 'Contraction'], bulge: [10, 'Bulge'], envelope: [2, 'Envelope'],
      d_full: [0.2 * size, 'Full effect up to'], d_none: [0.4 * size, 'No effect from'] };
    for (const [key, [most, name]] of Object.entries(reach)) {
      const made = knob(name, most, most / 400, (value, when) => asking.turn({ do: 'turn', knob: key, value }, when));
      this.knobs[key] = made;
      element('knobs').append(made.label);
    }
    this.controls = new Map();
    for (const kind of header.falloffs) element('falloff').append(new Option(kind));
    this.wire();
  }

  wire() {
    const { asking, scene } = this, ask = request => asking.ask(request);
    const acts = {
      grow: () => ask({ do: 'grow', name: element('name').value, closed: element('closed').checked, connected: element('connected').checked,
        skin_thickness: +this.thickness.skin_thickness.input.value, muscle_thickness: +this.thickness.muscle_thickness.input.value }),
      frame: () => scene.frame(),
    };
    for (const button of document.querySelectorAll('[data-do]')) {
      button.addEventListener('click', () => (acts[button.dataset.do] || (() => ask({ do: button.dataset.do })))());
    }
    for (const pen of document.querySelectorAll('[data-pen]')) pen.addEventListener('click', () => ask({ do: 'pen', curve: +pen.dataset.pen }));
    element('chosen').addEventListener('change', event => ask({ do: 'select', name: event.target.value }));
    element('falloff').addEventListener('change', event => ask({ do: 'turn', knob: 'falloff', value: event.target.value }));
    element('show').addEventListener('change', event => scene.show(event.target.checked));
    element('edges').addEventListener('change', event => scene.edges(event.target.checked));
    document.addEventListener('keydown', event => {
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && (key === 'z' || key === 's') && event.target.type !== 'text') {
        event.preventDefault();
        ask({ do: key === 'z' ? 'undo' : 'save' });
      }
    });
  }

  // A point of the curve is shown at once; the studio hears of it when it can.
  click(point, joined) {
    if (!point) { this.say('That is beside the skin.', true); return; }
    const curve = [...this.curves[this.drawing], point];
    this.showCurves(this.curves.map((old, pen) => pen === this.drawing ? curve : old), this.drawing);
    this.asking.ask({ do: 'click', point, joined });
  }

  say(text, wrong) {
    element('said').textContent = text;
    element('said').className = wrong ? 'wrong' : '';
  }

  showCurves(curves, drawing) {
    this.curves = curves; this.drawing = drawing;
    curves.forEach((curve, pen) => {
      this.scene.curve(pen, curve);
      const button = document.querySelector(`[data-pen="${pen}"]`);
      button.querySelector('b').textContent = curve.length;
      button.classList.toggle('on', drawing === pen);
    });
  }

  // What the studio says.
  show(state) {
    if (state.said !== null) this.say(state.said, state.wrong);
    for (const [key, value] of Object.entries(state.knobs || {})) {
      if (key === 'falloff') element('falloff').value = value;
      else this.knobs[key].follow(value);
    }
    if (!state.curves) return;
    if (!this.asking.line.length) this.showCurves(state.curves, state.drawing); // else points are under way
    const chosen = element('chosen'), names = state.muscles.length ? state.muscles : ['none'];
    if ([...chosen.options].map(option => option.value).join('\n') !== names.join('\n')) chosen.replaceChildren(...names.map(name => new Option(name)));
    if (state.selected) chosen.value = state.selected;
    const idle = !state.selected;
    for (const made of Object.values(this.knobs)) { made.input.disabled = idle; if (idle) made.set(0); }
    for (const name of ['mirror', 'delete', 'relax']) document.querySelector(`[data-do=${name}]`).disabled = idle;
    element('falloff').disabled = idle;
    document.querySelector('[data-do=undo]').disabled = !state.undo;
    if (state.suggested) element('name').value = state.suggested;
    this.showControls(state.controls);
  }

  showControls(controls) {
    element('controls-box').hidden = !controls.length;
    if (controls.length !== this.controls.size) {
      this.controls.clear();
      element('controls').replaceChildren();
      for (const [name, low, high] of controls) {
        const made = knob(name, high, (high - low) / 200, (value, when) => this.asking.turn({ do: 'control', name, value }, when));
        made.input.min = low;
        this.controls.set(name, made);
        element('controls').append(made.label);
      }
    }
    for (const [name, , , value] of controls) this.controls.get(name).follow(value);
  }
}
