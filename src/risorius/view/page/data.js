// Unpacks the page's blob: named arrays, some of them quantised, into typed arrays.
async function unpack() {
  const header = JSON.parse(document.getElementById('header').textContent);
  const text = document.getElementById('blob').textContent.trim();
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const buffer = await new Response(stream).arrayBuffer();
  const kinds = { i2: Int16Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };
  const arrays = {};
  for (const [name, entry] of Object.entries(header.arrays)) {
    const raw = new kinds[entry.kind](buffer, entry.offset, entry.count);
    if (entry.scale === undefined) { arrays[name] = raw; continue; }
    const values = new Float32Array(entry.count);
    const width = entry.scale.length;
    for (let k = 0; k < entry.count; k++) values[k] = raw[k] * entry.scale[k % width] + entry.shift[k % width];
    arrays[name] = values;
  }
  return { header, arrays };
}

// Moving points as a few shapes: rest + sum of amounts times shapes, between two frames.
class Motion {
  constructor(arrays, name) {
    this.rest = arrays[`${name}.rest`];
    this.shapes = arrays[`${name}.shapes`];
    this.amounts = arrays[`${name}.amounts`];
    this.count = this.rest.length;
    this.few = this.count ? this.shapes.length / this.count : 0;
    this.now = new Float32Array(this.rest);
  }

  at(frame, part, last) {
    const { now, rest, shapes, amounts, few, count } = this;
    now.set(rest);
    const next = Math.min(frame + 1, last);
    for (let k = 0; k < few; k++) {
      const amount = amounts[frame * few + k] * (1 - part) + amounts[next * few + k] * part;
      if (amount === 0) continue;
      const start = k * count;
      for (let i = 0; i < count; i++) now[i] += amount * shapes[start + i];
    }
    return now;
  }
}

// Rotation and shift of every body, between two frames: matrices (row-major 3 x 4).
class Poses {
  constructor(arrays, bodies) {
    this.turn = arrays['poses.turn'];
    this.shift = arrays['poses.shift'];
    this.bodies = bodies;
    this.matrix = new Float32Array(bodies * 12);
  }

  at(frame, part, last) {
    const { turn, shift, matrix, bodies } = this;
    const a = frame * bodies * 3;
    const b = Math.min(frame + 1, last) * bodies * 3;
    for (let k = 0; k < bodies; k++) {
      // vector parts of unit quaternions with w >= 0; a frame apart they are close, so blending them is a turn again
      const x = turn[a + 3 * k] * (1 - part) + turn[b + 3 * k] * part;
      const y = turn[a + 3 * k + 1] * (1 - part) + turn[b + 3 * k + 1] * part;
      const z = turn[a + 3 * k + 2] * (1 - part) + turn[b + 3 * k + 2] * part;
      const w = Math.sqrt(Math.max(0, 1 - x * x - y * y - z * z));
      const m = matrix.subarray(12 * k, 12 * k + 12);
      m[0] = 1 - 2 * (y * y + z * z); m[1] = 2 * (x * y - z * w); m[2] = 2 * (x * z + y * w);
      m[4] = 2 * (x * y + z * w); m[5] = 1 - 2 * (x * x + z * z); m[6] = 2 * (y * z - x * w);
      m[8] = 2 * (x * z - y * w); m[9] = 2 * (y * z + x * w); m[10] = 1 - 2 * (x * x + y * y);
      for (let i = 0; i < 3; i++) m[4 * i + 3] = shift[a + 3 * k + i] * (1 - part) + shift[b + 3 * k + i] * part;
    }
    return matrix;
  }
}
