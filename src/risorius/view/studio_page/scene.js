// The picture: three.js draws the skin, the muscles under it and the curves; one drawing for each change.

const PENS = [[0.29, 0.64, 1.0], [1.0, 0.69, 0.36]];
const STILL = 160; // milliseconds without a change until the picture is drawn once more, finely

const lit = `
  vec3 lit(vec3 colour, vec3 n, vec3 eye) {
    if (dot(n, eye) < 0.0) n = -n;
    float key = dot(n, vec3(-0.46, 0.62, 0.64)) * 0.5 + 0.5;
    float fill = max(dot(n, vec3(0.80, 0.10, 0.59)), 0.0);
    float rim = pow(1.0 - max(dot(n, eye), 0.0), 3.0);
    float shine = pow(max(dot(n, normalize(vec3(-0.46, 0.62, 0.64) + eye)), 0.0), 28.0);
    return colour * (0.16 + 0.80 * key * key + 0.16 * fill * vec3(0.75, 0.88, 1.0)) + 0.10 * shine + 0.10 * rim * vec3(0.6, 0.75, 1.0);
  }`;

// Drawn as if it lay nearer to the eye by `near`: what is just below the skin shows through it, the far side does not.
const lifted = `
  uniform float near;
  vec4 lift(vec4 at) {
    vec4 there = projectionMatrix * vec4(at.xyz + vec3(0.0, 0.0, near), 1.0);
    vec4 here = projectionMatrix * at;
    here.z = there.z / there.w * here.w;
    return here;
  }`;

// Unit normals of points, faces counting by their area; points in one place share theirs.
function pointNormals(points, faces, place, out) {
  out.fill(0);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const px = points[a], py = points[a + 1], pz = points[a + 2];
    const ux = points[b] - px, uy = points[b + 1] - py, uz = points[b + 2] - pz;
    const vx = points[c] - px, vy = points[c + 1] - py, vz = points[c + 2] - pz;
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    const i = 3 * place[faces[f]], j = 3 * place[faces[f + 1]], k = 3 * place[faces[f + 2]];
    out[i] += x; out[i + 1] += y; out[i + 2] += z;
    out[j] += x; out[j + 1] += y; out[j + 2] += z;
    out[k] += x; out[k + 1] += y; out[k + 2] += z;
  }
  for (let p = 0; p < place.length; p++) {
    const q = 3 * place[p], i = 3 * p;
    if (q === i) {
      const size = Math.sqrt(out[i] * out[i] + out[i + 1] * out[i + 1] + out[i + 2] * out[i + 2]) || 1;
      out[i] /= size; out[i + 1] /= size; out[i + 2] /= size;
    } else { out[i] = out[q]; out[i + 1] = out[q + 1]; out[i + 2] = out[q + 2]; }
  }
}

function sheetFaces(rows, columns) {
  const faces = [];
  for (let i = 0; i + 1 < rows; i++) for (let j = 0; j + 1 < columns; j++) {
    const a = i * columns + j;
    faces.push(a, a + 1, a + columns + 1, a, a + columns + 1, a + columns);
  }
  return new Uint32Array(faces);
}

class Scene {
  constructor(THREE, canvas, header, buffer) {
    this.THREE = THREE; this.canvas = canvas; this.up = header.up;
    const n = header.points, m = header.triangles;
    this.points = new Float32Array(buffer, 0, 3 * n);
    this.rest = new Float32Array(this.points);
    this.faces = new Uint32Array(buffer, 12 * n, 3 * m);
    this.place = new Uint32Array(buffer, 12 * (n + m), n);
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: false, alpha: false, powerPreference: 'high-performance' });
    this.renderer.setClearColor(0x1b2127);
    this.soft = this.software();
    this.camera = new THREE.PerspectiveCamera(32, 1, 1, 10);
    this.world = new THREE.Scene();
    this.world.matrixWorldAutoUpdate = false;
    this.measure();
    this.build(header.closed);
    this.sheets = new Map();
    this.pens = [null, null];
    this.turn = { x: 0.22, y: 0.12 };
    this.frame();
    new ResizeObserver(() => this.ask()).observe(canvas.parentElement);
  }

  software() {
    const gl = this.renderer.getContext(), more = gl.getExtension('WEBGL_debug_renderer_info');
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(more ? gl.getParameter(more.UNMASKED_RENDERER_WEBGL) : '');
  }

  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.points.length; i++) {
      const axis = i % 3, value = this.points[i];
      if (value < low[axis]) low[axis] = value;
      if (value > high[axis]) high[axis] = value;
    }
    this.size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    const middle = low.map((value, axis) => 0.5 * (value + high[axis]));
    this.reach = 0;
    for (let i = 0; i < this.points.length; i += 3) {
      this.reach = Math.max(this.reach, Math.hypot(this.points[i] - middle[0], this.points[i + 1] - middle[1], this.points[i + 2] - middle[2]));
    }
    this.middle = new this.THREE.Vector3(...middle);
  }

  build(closed) {
    const { THREE } = this;
    this.skin = new THREE.BufferGeometry();
    this.skin.setAttribute('position', new THREE.BufferAttribute(this.points, 3).setUsage(THREE.DynamicDrawUsage));
    this.normals = new Float32Array(this.points.length);
    this.skin.setAttribute('normal', new THREE.BufferAttribute(this.normals, 3).setUsage(THREE.DynamicDrawUsage));
    this.skin.setIndex(new THREE.BufferAttribute(this.faces, 1));
    pointNormals(this.points, this.faces, this.place, this.normals);
    const common = { side: closed ? THREE.FrontSide : THREE.DoubleSide, uniforms: { colour: { value: new THREE.Vector3(0.87, 0.68, 0.57) } } };
    this.finely = new THREE.ShaderMaterial({ ...common,
      vertexShader: `varying vec3 normal_; varying vec3 place_;
        void main() { vec4 at = modelViewMatrix * vec4(position, 1.0); place_ = at.xyz; normal_ = normalMatrix * normal;
          gl_Position = projectionMatrix * at; }`,
      fragmentShader: `varying vec3 normal_; varying vec3 place_; uniform vec3 colour; ${lit}
        void main() { gl_FragColor = vec4(lit(colour, normalize(normal_), normalize(-place_)), 1.0); }`,
    });
    this.quickly = new THREE.ShaderMaterial({ ...common, // for a renderer without a GPU: the same light at the points, no roots or powers
      vertexShader: `varying vec3 shade; uniform vec3 colour;
        void main() {
          gl_Position = projectionMatrix * (modelViewMatrix * vec4(position, 1.0));
          vec3 n = normalMatrix * normal;
          n *= sign(n.z);
          float key = dot(n, vec3(-0.46, 0.62, 0.64)) * 0.5 + 0.5, fill = max(dot(n, vec3(0.80, 0.10, 0.59)), 0.0);
          float rim = 1.0 - n.z, shine = max(dot(n, vec3(-0.254, 0.342, 0.905)), 0.0);
          shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;
          shade = colour * (0.16 + 0.80 * key * key + 0.16 * fill * vec3(0.75, 0.88, 1.0)) + 0.10 * shine + 0.10 * rim * rim * rim * vec3(0.6, 0.75, 1.0);
        }`,
      fragmentShader: 'varying vec3 shade; void main() { gl_FragColor = vec4(shade, 1.0); }',
    });
    this.body = this.add(this.skin, this.finely);
    this.net = null;
    this.flesh = new THREE.ShaderMaterial({
      uniforms: { colour: { value: new THREE.Vector3(0.80, 0.19, 0.15) }, near: { value: 0.06 * this.size }, clear: { value: 0.42 } },
      side: THREE.DoubleSide, transparent: true,
      vertexShader: `varying vec3 normal_; varying vec3 place_; varying float across; attribute float row; ${lifted}
        void main() { vec4 at = modelViewMatrix * vec4(position, 1.0); place_ = at.xyz; normal_ = normalMatrix * normal; across = row;
          gl_Position = lift(at); }`,
      fragmentShader: `varying vec3 normal_; varying vec3 place_; varying float across; uniform vec3 colour; uniform float clear; ${lit}
        void main() { gl_FragColor = vec4(lit(colour, normalize(normal_), normalize(-place_)) * (0.82 + 0.18 * cos(across * 75.4)), clear); }`,
    });
    this.chosenFlesh = this.flesh.clone();
    this.chosenFlesh.uniforms.clear.value = 0.8;
    this.ink = PENS.map(colour => new THREE.ShaderMaterial({
      uniforms: { colour: { value: new THREE.Vector3(...colour) }, near: { value: 0.03 * this.size }, wide: { value: 10 } },
      vertexShader: `uniform float wide; ${lifted} void main() { gl_Position = lift(modelViewMatrix * vec4(position, 1.0)); gl_PointSize = wide; }`,
      fragmentShader: 'uniform vec3 colour; void main() { gl_FragColor = vec4(colour, 1.0); }',
    }));
    this.dots = this.ink.map(ink => { const dot = ink.clone();
      dot.fragmentShader = `uniform vec3 colour; void main() { float far = length(gl_PointCoord - 0.5); if (far > 0.5) discard;
        gl_FragColor = vec4(far > 0.34 ? vec3(1.0) : colour, 1.0); }`;
      return dot; });
  }

  add(geometry, material, kind = this.THREE.Mesh) {
    const object = new kind(geometry, material);
    object.frustumCulled = false; object.matrixAutoUpdate = false;
    this.world.add(object);
    return object;
  }

  drop(object) {
    this.world.remove(object);
    object.geometry.dispose();
  }

  // The skin has moved.
  move(points, asked) {
    this.points.set(points);
    pointNormals(this.points, this.faces, this.place, this.normals);
    this.skin.attributes.position.needsUpdate = true;
    this.skin.attributes.normal.needsUpdate = true;
    this.asked = asked;
    this.ask();
  }

  muscle(name, rows, columns, points) {
    const { THREE } = this;
    let sheet = this.sheets.get(name);
    if (sheet && sheet.points.length !== points.length) { this.drop(sheet.object); sheet = null; }
    if (!sheet) {
      const geometry = new THREE.BufferGeometry();
      const place = Uint32Array.from({ length: rows * columns }, (_, k) => k);
      sheet = { points: new Float32Array(points), normals: new Float32Array(points.length), faces: sheetFaces(rows, columns), place };
      geometry.setAttribute('position', new THREE.BufferAttribute(sheet.points, 3));
      geometry.setAttribute('normal', new THREE.BufferAttribute(sheet.normals, 3));
      const row = Float32Array.from(place, k => Math.floor(k / columns) / (rows - 1));
      geometry.setAttribute('row', new THREE.BufferAttribute(row, 1));
      geometry.setIndex(new THREE.BufferAttribute(sheet.faces, 1));
      sheet.object = this.add(geometry, this.flesh);
      sheet.object.renderOrder = 1;
      this.sheets.set(name, sheet);
    }
    sheet.points.set(points);
    pointNormals(sheet.points, sheet.faces, sheet.place, sheet.normals);
    sheet.object.geometry.attributes.position.needsUpdate = true;
    sheet.object.geometry.attributes.normal.needsUpdate = true;
  }

  // Keep the sheets of these muscles, and show the chosen one as such.
  keep(names, chosen) {
    for (const [name, sheet] of this.sheets) {
      if (!names.includes(name)) { this.drop(sheet.object); this.sheets.delete(name); continue; }
      sheet.object.material = name === chosen ? this.chosenFlesh : this.flesh;
    }
    this.ask();
  }

  show(visible) { for (const sheet of this.sheets.values()) sheet.object.visible = visible; this.ask(); }

  edges(visible) {
    if (visible && !this.net) {
      this.net = this.add(this.skin, new this.THREE.ShaderMaterial({
        wireframe: true, transparent: true, uniforms: { near: { value: 2e-3 * this.size } },
        vertexShader: `${lifted} void main() { gl_Position = lift(modelViewMatrix * vec4(position, 1.0)); }`,
        fragmentShader: 'void main() { gl_FragColor = vec4(0.1, 0.12, 0.15, 0.35); }',
      }));
    }
    if (this.net) this.net.visible = visible;
    this.ask();
  }

  curve(pen, points) {
    const { THREE } = this;
    for (const object of this.pens[pen] || []) this.drop(object);
    const made = [];
    if (points.length) {
      const geometry = new THREE.BufferGeometry().setFromPoints(points.map(point => new THREE.Vector3(...point)));
      if (points.length < 40) made.push(this.add(geometry, this.dots[pen], THREE.Points)); // a stroke shows its line alone
    }
    if (points.length > 1) {
      const path = new THREE.CurvePath();
      for (let k = 1; k < points.length; k++) path.add(new THREE.LineCurve3(new THREE.Vector3(...points[k - 1]), new THREE.Vector3(...points[k])));
      made.push(this.add(new THREE.TubeGeometry(path, Math.min(6 * points.length, 400), 0.0016 * this.size, 5), this.ink[pen]));
    }
    for (const object of made) object.renderOrder = 2;
    this.pens[pen] = made;
    this.ask();
  }

  // The camera turns about a target.
  frame() {
    this.target = this.middle.clone();
    this.distance = 1.06 * this.reach / Math.sin(0.5 * this.camera.fov * Math.PI / 180);
    this.ask();
  }

  look() {
    const { camera, turn, target, distance } = this;
    const flat = Math.cos(turn.y) * distance, high = Math.sin(turn.y) * distance;
    if (this.up === 'z') camera.position.set(target.x + Math.sin(turn.x) * flat, target.y - Math.cos(turn.x) * flat, target.z + high);
    else camera.position.set(target.x + Math.sin(turn.x) * flat, target.y + high, target.z + Math.cos(turn.x) * flat);
    camera.up.set(0, this.up === 'z' ? 0 : 1, this.up === 'z' ? 1 : 0);
    camera.lookAt(target);
    camera.near = Math.max(distance - 2 * this.size, 2e-3 * this.size); camera.far = distance + 2 * this.size;
    camera.updateProjectionMatrix(); camera.updateMatrixWorld();
  }

  rotate(dx, dy) {
    this.turn.x -= 0.007 * dx;
    this.turn.y = Math.min(Math.max(this.turn.y + 0.007 * dy, -1.55), 1.55);
    this.ask();
  }

  pan(dx, dy) {
    const step = 2 * this.distance * Math.tan(0.5 * this.camera.fov * Math.PI / 180) / this.canvas.clientHeight;
    const e = this.camera.matrixWorld.elements;
    for (const [k, axis] of ['x', 'y', 'z'].entries()) this.target[axis] += step * (e[4 + k] * dy - e[k] * dx);
    this.ask();
  }

  nearer(steps) {
    this.distance = Math.min(Math.max(this.distance * Math.exp(1e-3 * steps), 0.02 * this.size), 6 * this.size);
    this.ask();
  }

  // The place of the skin at rest that is seen at a place of the window; null beside the skin.
  pick(event) {
    const { THREE } = this, box = this.canvas.getBoundingClientRect();
    this.look();
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height), this.camera);
    this.skin.boundingSphere = null; // the skin may have moved since it was found
    const met = ray.intersectObject(this.body, false)[0];
    if (!met) return null;
    const { a, b, c } = met.face, share = met.barycoord.toArray();
    return [0, 1, 2].map(axis => share[0] * this.rest[3 * a + axis] + share[1] * this.rest[3 * b + axis] + share[2] * this.rest[3 * c + axis]);
  }

  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(false); });
  }

  // While things move a software renderer draws one point a pixel; the picture that stays is drawn finely.
  draw(fine) {
    clearTimeout(this.later);
    const stage = this.canvas.parentElement, wide = stage.clientWidth, high = stage.clientHeight;
    if (!wide || !high) return;
    const ratio = fine || !this.soft ? Math.max(2, window.devicePixelRatio) : window.devicePixelRatio;
    if (this.renderer.getPixelRatio() !== ratio || this.wide !== wide || this.high !== high) {
      this.wide = wide; this.high = high;
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(wide, high, false);
      this.camera.aspect = wide / high;
      for (const dot of this.dots) dot.uniforms.wide.value = 10 * ratio;
    }
    this.look();
    this.body.material = fine || !this.soft ? this.finely : this.quickly;
    this.renderer.render(this.world, this.camera);
    if (this.asked !== undefined) {
      this.canvas.dispatchEvent(new CustomEvent('moved', { detail: this.asked }));
      this.asked = undefined;
    }
    if (fine || !this.soft) return;
    const now = performance.now(), pace = Math.min(now - (this.drawn || 0), 800); // where frames come slowly, it waits longer
    this.drawn = now;
    this.later = setTimeout(() => this.draw(true), Math.max(STILL, 2.5 * pace));
  }
}
