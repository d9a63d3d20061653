// The 3D view: k3d draws; this file says where every point is.

function meshJson(id, name, vertices, faces, colour, opacity) {
  const none = kind => ({ data: new kind(0), shape: [0] });
  const identity = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  return {
    id, name, type: 'Mesh', visible: true, color: colour, opacity, wireframe: false, flat_shading: false, side: 'double',
    vertices: { data: vertices, shape: [vertices.length / 3, 3] },
    indices: { data: faces, shape: [faces.length / 3, 3] },
    normals: { data: pointNormals(vertices, faces, new Float32Array(vertices.length)), shape: [vertices.length / 3, 3] },
    colors: none(Uint32Array), attribute: none(Float32Array), triangles_attribute: none(Float32Array),
    color_map: none(Float32Array), color_range: [], opacity_function: none(Float32Array), volume: none(Float32Array),
    volume_bounds: none(Float32Array), opacities: none(Float32Array), texture: null, uvs: none(Float32Array),
    model_matrix: { data: identity, shape: [4, 4] }, roughness: 0.62, metalness: 0, slice_planes: [],
  };
}

function pointNormals(points, faces, out) {
  out.fill(0);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    out[a] += x; out[a + 1] += y; out[a + 2] += z;
    out[b] += x; out[b + 1] += y; out[b + 2] += z;
    out[c] += x; out[c + 1] += y; out[c + 2] += z;
  }
  for (let i = 0; i < out.length; i += 3) {
    const size = Math.hypot(out[i], out[i + 1], out[i + 2]) || 1;
    out[i] /= size; out[i + 1] /= size; out[i + 2] /= size;
  }
  return out;
}

const byte = colour => colour.slice(0, 3).reduce((sum, part) => sum * 256 + Math.round(255 * part), 0);

// Three-sided prisms along the segments of a muscle group.
class Strands {
  constructor(part, arrays) {
    this.part = part;
    this.body = arrays[`${part.name}.body`];
    this.surface = arrays[`${part.name}.surface`];
    this.place = arrays[`${part.name}.place`];
    this.from = arrays[`${part.name}.from`];
    this.width = arrays[`${part.name}.width`];
    this.nodes = new Float32Array(this.place.length);
    this.points = new Float32Array(this.from.length * 18);
    const faces = [];
    for (let s = 0; s < this.from.length; s++) {
      const o = 6 * s;
      for (let k = 0; k < 3; k++) {
        const n = (k + 1) % 3;
        faces.push(o + k, o + n, o + 3 + k, o + n, o + 3 + n, o + 3 + k);
      }
    }
    this.faces = new Uint32Array(faces);
  }

  at(matrix, surface) {
    const { body, place, nodes, points, from, width } = this;
    for (let k = 0; k < body.length; k++) {
      const i = 3 * k;
      if (body[k] < 0) {
        const s = 3 * this.surface[k];
        nodes[i] = surface[s]; nodes[i + 1] = surface[s + 1]; nodes[i + 2] = surface[s + 2];
      } else {
        const m = 12 * body[k], x = place[i], y = place[i + 1], z = place[i + 2];
        for (let r = 0; r < 3; r++) {
          nodes[i + r] = matrix[m + 4 * r] * x + matrix[m + 4 * r + 1] * y + matrix[m + 4 * r + 2] * z + matrix[m + 4 * r + 3];
        }
      }
    }
    for (let s = 0; s < from.length; s++) {
      const a = 3 * from[s], b = a + 3;
      const dx = nodes[b] - nodes[a], dy = nodes[b + 1] - nodes[a + 1], dz = nodes[b + 2] - nodes[a + 2];
      const flat = Math.abs(dy) < 0.9 * Math.hypot(dx, dy, dz);
      let ux = flat ? -dz : 0, uy = flat ? 0 : dz, uz = flat ? dx : -dy; // across the segment
      const ul = Math.hypot(ux, uy, uz) || 1;
      ux /= ul; uy /= ul; uz /= ul;
      let vx = dy * uz - dz * uy, vy = dz * ux - dx * uz, vz = dx * uy - dy * ux;
      const vl = Math.hypot(vx, vy, vz) || 1;
      vx /= vl; vy /= vl; vz /= vl;
      const r = width[s] / 2;
      for (let k = 0; k < 3; k++) {
        const c = r * Math.cos(2.0944 * k), d = r * Math.sin(2.0944 * k);
        const p = 18 * s + 3 * k;
        for (let e = 0; e < 2; e++) {
          const at = e ? b : a, q = p + 9 * e;
          points[q] = nodes[at] + c * ux + d * vx;
          points[q + 1] = nodes[at + 1] + c * uy + d * vy;
          points[q + 2] = nodes[at + 2] + c * uz + d * vz;
        }
      }
    }
    return points;
  }
}

class View {
  constructor(K, header, arrays) {
    this.K = K; this.header = header; this.arrays = arrays;
    this.last = header.frames - 1;
    this.poses = new Poses(arrays, header.bodies.length);
    this.surface = new Motion(arrays, 'surface');
    this.skin = new Motion(arrays, 'skin');
    this.parts = [];
    this.layers = new Map();
  }

  async build() {
    const { header, arrays } = this;
    const objects = [];
    let id = 1;
    const register = (part, vertices, faces, layer) => {
      part.id = id++;
      part.layer = layer.name;
      objects.push(meshJson(part.id, part.name, vertices, faces, byte(layer.colour), 1));
      this.parts.push(part);
    };
    for (const layer of header.layers) {
      this.layers.set(layer.name, { ...layer, parts: [] });
      for (const name of layer.bodies || []) {
        const k = header.bodies.indexOf(name);
        register({ kind: 'body', name, body: k }, arrays[`body${k}.points`], Uint32Array.from(arrays[`body${k}.faces`]), layer);
      }
      if (layer.surface) {
        const faces = Uint32Array.from(arrays[`${layer.name}.faces`]);
        const used = Uint32Array.from(new Set(faces)).sort();
        const number = new Map([...used].map((point, k) => [point, k]));
        const points = new Float32Array(used.length * 3);
        const part = { kind: 'surface', name: layer.name, used, points, faces: faces.map(point => number.get(point)) };
        this.gather(part);
        register(part, points, part.faces, layer);
      }
      if (layer.skin) {
        const faces = Uint32Array.from(arrays['skin.faces']);
        register({ kind: 'skin', name: layer.name, faces }, new Float32Array(this.skin.rest), faces, layer);
      }
      if (layer.ball) {
        const faces = Uint32Array.from(arrays['ball.faces']);
        register({ kind: 'ball', name: layer.name, faces }, arrays['ball.points'], faces, layer);
      }
      if (layer.strands) {
        const strands = new Strands({ name: layer.name }, arrays);
        strands.at(this.poses.at(0, 0, this.last), this.surface.rest);
        register({ kind: 'strands', name: layer.name, strands, faces: strands.faces }, strands.points, strands.faces, layer);
      }
    }
    await this.K.load({ objects });
    const world = this.K.getWorld();
    for (const part of this.parts) {
      part.object = world.ObjectsById[part.id];
      part.object.frustumCulled = false;
      if (part.kind === 'body' || part.kind === 'ball') part.object.matrixAutoUpdate = false;
      if (part.kind === 'strands') { part.object.material.flatShading = true; part.object.material.needsUpdate = true; }
      this.layers.get(part.layer).parts.push(part);
    }
    for (const layer of this.layers.values()) this.show(layer.name, layer.visible, layer.opacity);
  }

  // Switches a layer on or off and sets how opaque it is.
  show(name, visible, opacity) {
    const layer = this.layers.get(name);
    layer.visible = visible; layer.opacity = opacity;
    for (const part of layer.parts) {
      const { material } = part.object;
      const clear = opacity < 0.995;
      part.object.visible = visible && opacity > 0.004;
      if (material.transparent !== clear || material.depthWrite === clear) material.needsUpdate = true;
      material.transparent = clear; material.opacity = opacity; material.depthWrite = !clear;
      const open = part.kind === 'surface' && layer.open;
      material.side = clear && !open ? 0 : 2; // one side of a clear closed surface, both of an opaque or open one
      part.object.renderOrder = layer.order;
    }
    this.stale = true;
  }

  gather(part) {
    const from = this.surface.now, { used, points } = part;
    for (let k = 0; k < used.length; k++) {
      points[3 * k] = from[3 * used[k]]; points[3 * k + 1] = from[3 * used[k] + 1]; points[3 * k + 2] = from[3 * used[k] + 2];
    }
  }

  // Moves everything to a time given in frames.
  move(moment) {
    const frame = Math.max(0, Math.min(this.last, Math.floor(moment))), share = Math.min(Math.max(moment - frame, 0), 1);
    const matrix = this.poses.at(frame, share, this.last);
    this.surface.at(frame, share, this.last);
    for (const part of this.parts) {
      if (!part.object.visible) continue;
      if (part.kind === 'body') {
        const m = matrix.subarray(12 * part.body, 12 * part.body + 12);
        part.object.matrix.set(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], 0, 0, 0, 1);
        part.object.matrixWorldNeedsUpdate = true;
        continue;
      }
      if (part.kind === 'ball') {
        const course = this.arrays['ball.course'], a = 4 * frame, b = 4 * Math.min(frame + 1, this.last);
        const there = course[a + 3] > 0 ? share : 1; // it appears where it is let go
        const [x, y, z] = [0, 1, 2].map(i => course[a + i] * (1 - there) + course[b + i] * there), r = course[b + 3];
        part.object.matrix.set(r, 0, 0, x, 0, r, 0, y, 0, 0, r, z, 0, 0, 0, 1);
        part.object.matrixWorldNeedsUpdate = true;
        continue;
      }
      const position = part.object.geometry.attributes.position;
      if (part.kind === 'surface') { this.gather(part); position.array.set(part.points); }
      if (part.kind === 'skin') position.array.set(this.skin.at(frame, share, this.last));
      if (part.kind === 'strands') {
        position.array.set(part.strands.at(matrix, this.surface.now));
        this.tint(part, frame);
      }
      position.needsUpdate = true;
      const normal = part.object.geometry.attributes.normal;
      if (normal && part.kind !== 'strands') { pointNormals(position.array, part.faces, normal.array); normal.needsUpdate = true; }
    }
    this.now = { matrix, surface: this.surface.now };
  }

  tint(part, frame) {
    const activation = this.arrays[`act_${part.layer}`];
    const { slack, driven } = this.header.muscle;
    const share = activation ? Math.sqrt(Math.max(0, Math.min(1, activation[frame]))) : 0;
    part.object.material.color.setRGB(...slack.map((low, k) => low + share * (driven[k] - low)));
  }

  // Where a named thing is now: a body's or a surface point's place, in pixels of the view.
  project(anchor, width, height) {
    const p = anchor.place;
    let at = [p[0], p[1], p[2]];
    if (anchor.surface !== undefined) at = [0, 1, 2].map(i => this.now.surface[3 * anchor.surface + i]);
    else if (anchor.body !== undefined) {
      const m = this.now.matrix.subarray(12 * anchor.body, 12 * anchor.body + 12);
      at = [0, 1, 2].map(r => m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3]);
    }
    const { camera } = this.K.getWorld();
    const turn = (e, [x, y, z, w]) => [0, 1, 2, 3].map(r => e[r] * x + e[4 + r] * y + e[8 + r] * z + e[12 + r] * w);
    const [x, y, , w] = turn(camera.projectionMatrix.elements, turn(camera.matrixWorldInverse.elements, [...at, 1]));
    return w > 0 ? [(0.5 + 0.5 * x / w) * width, (0.5 - 0.5 * y / w) * height] : null;
  }
}
