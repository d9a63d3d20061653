"""The diaphragm at rest: up the inside of the ribs, over the shoulder of the dome, to the central tendon."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from risorius.anatomy.tables import metres, table
from risorius.anatomy.torso.cage import Cage, Net, Row
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import unit
from risorius.anatomy.torso.spiral import resampled
from risorius.core.torso import Floats


@dataclass(frozen=True)
class Diaphragm:
    """`rings` from the insertion loop (0) to the tendon's border; `tendon` rings inward, the last one the centre.

    Rings run from the front midline over the right to the back and over the left to the front again.
    """

    rings: list[Row]
    apposed: int
    tendon: list[Row]


def full_loop(net: Net, half: Row) -> Row:
    """Both halves of a loop that was gathered from front midline to back midline."""
    return half + [net.twin[i] for i in half[-2:0:-1]]


def nearest_on(points: Floats, vertices: Floats, faces: Floats) -> tuple[Floats, Floats]:
    """Nearest points of a triangle mesh and the normals there: (n, 3) [m], (n, 3)."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normal = unit(np.cross(b - a, c - a))
    found, normals = np.empty_like(points), np.empty_like(points)
    for i, p in enumerate(points):
        q = closest_in_triangles(p, a, b, c)
        best = int(np.argmin(((q - p) ** 2).sum(-1)))
        found[i], normals[i] = q[best], normal[best]
    return found, normals


def closest_in_triangles(p: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Closest point to p in each triangle, by clamped barycentric regions (Ericson, Real-Time Collision Detection)."""
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    area = np.maximum((normal**2).sum(-1), 1e-30)
    ap = p - a
    v = (np.cross(ap, ac) * normal).sum(-1) / area
    w = (np.cross(ab, ap) * normal).sum(-1) / area
    inside = (v >= 0) & (w >= 0) & (v + w <= 1)
    best = a + v[:, None] * ab + w[:, None] * ac
    distance = np.where(inside, ((best - p) ** 2).sum(-1), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        along = end - start
        t = np.clip(((p - start) * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-30), 0, 1)
        q = start + t[:, None] * along
        d = ((q - p) ** 2).sum(-1)
        closer = d < distance
        best = np.where(closer[:, None], q, best)
        distance = np.where(closer, d, distance)
    return best


def tendon_height(z: Floats) -> Floats:
    """Height [m] of the upright dome over z, in the frame of the tables: saddle between two cupolae."""
    t, dome = table("diaphragm"), table("trunk")["dome"]
    drop = t["upright_drop"]
    right, left, middle = (metres(dome[k]) for k in ("right_apex", "left_apex", "central_tendon"))
    apex = np.where(z > 0, right[1], left[1]) - drop["cupola"] * 1e-3
    centre = middle[1] - drop["centre"] * 1e-3
    out = np.abs(z) / np.abs(right[2])
    inner = np.clip(out, 0.0, 1.0)
    lift = inner * inner * (3 - 2 * inner)
    reach, depth = (v * 1e-3 for v in t["cupola_fall"])
    fall = depth * np.maximum((np.abs(z) - np.abs(right[2])) / reach, 0.0) ** 2
    return centre + (apex - centre) * lift - fall


def build_diaphragm(net: Net, cage: Cage, faces: list[tuple[int, int, int]], frame: Frame) -> Diaphragm:
    """Add the free points of the diaphragm to the net."""
    t = table("diaphragm")
    vertices, triangles = np.array(net.points), np.array(faces)
    loop = full_loop(net, cage.loop)
    half = len(cage.loop)
    start = vertices[cage.loop]
    lift = np.array(t["apposition"])[:, None] * 1e-3 * frame.height * np.array([0.0, 1.0, 0.0])
    edge, _ = nearest_on(start + lift, vertices, triangles)
    edge[[0, -1], 2] = 0.0
    rings = [loop]
    gap = np.array(t["apposed_gap"])[:, None] * 1e-3
    steps = t["apposed_rings"]
    last = np.empty_like(edge)
    for k in range(1, steps + 1):
        on, normal = nearest_on(start + (edge - start) * (k / steps), vertices, triangles)
        last = on - normal * gap
        last[[0, -1], 2] = 0.0
        rings.append(full_loop(net, add_half(net, last, "apposed")))
    # the dome has a right and a left of its own
    border = tendon_border(half, frame)
    both = np.concatenate([last, last[-2:0:-1] * [1.0, 1.0, -1.0]])
    for k in range(1, t["dome_rings"] + 1):
        phi = np.pi / 2 * k / (t["dome_rings"] + 1)
        power = 2 / t["shoulder"]
        inward, up = 1 - np.cos(phi) ** power, np.sin(phi) ** power
        ring = both + (border - both) * np.array([inward, up, inward])
        rings.append(add_ring(net, ring, "dome"))
    rings.append(add_ring(net, border, "tendon"))
    return Diaphragm(rings, steps, tendon_inside(net, border, frame))


def add_half(net: Net, points: Floats, region: str) -> Row:
    """Free points of a right half from front midline to back midline, and their mirror images."""
    row = [net.single(points[0], "", region)]
    row += [net.pair(p, "", region) for p in points[1:-1]]
    return [*row, net.single(points[-1], "", region)]


def add_ring(net: Net, points: Floats, region: str) -> Row:
    """Free points of a whole ring."""
    first = len(net.points)
    n = len(points)
    return [net.single(p, "", region, first + (n - i) % n) for i, p in enumerate(points)]


def tendon_border(half: int, frame: Frame) -> Floats:
    """The trefoil's outline, one point a column [m]."""
    outline = np.array(table("diaphragm")["tendon_half"], float) * 1e-3
    right = resampled(outline, np.linspace(0, 1, half))
    flat = np.concatenate([right, right[-2:0:-1] * [1.0, -1.0]])
    return lifted(flat, frame)


def lifted(flat: Floats, frame: Frame) -> Floats:
    """Points (x, z) of the tables onto the dome, in the subject."""
    x, z = flat[:, 0], flat[:, 1]
    return frame.points(np.stack([x, tendon_height(z), z], -1))


def tendon_inside(net: Net, border: Floats, frame: Frame) -> list[Row]:
    """Rings inside the tendon: half the columns at two thirds, six at one third, then the centre."""
    half = (len(border) + 2) // 2
    outline = np.array(table("diaphragm")["tendon_half"], float) * 1e-3
    right = resampled(outline, np.linspace(0, 1, half))
    flat = np.concatenate([right, right[-2:0:-1] * [1.0, -1.0]])
    centre = np.array(table("diaphragm")["tendon_centre"], float) * 1e-3
    rows = []
    for scale, stride in ((0.68, 2), (0.34, 6)):
        rows.append(add_ring(net, lifted(centre + (flat[::stride] - centre) * scale, frame), "tendon"))
    return [*rows, [net.single(lifted(centre[None], frame)[0], "", "tendon")]]


def ring_faces(outer: Row, inner: Row) -> list[tuple[int, int, int]]:
    """Triangles between two closed rings (inner has as many points, or a divisor of them, or one).

    Normals point outward where the outer ring runs front, right, back and the inner lies above it or inside it.
    """
    faces = []
    n, m = len(outer), len(inner)
    if m == 1:
        return [(outer[i], inner[0], outer[(i + 1) % n]) for i in range(n)]
    stride = n // m
    for j in range(m):
        a, b = inner[j], inner[(j + 1) % m]
        cut = (stride + 1) // 2
        for s in range(stride):
            p, q = outer[(j * stride + s) % n], outer[(j * stride + s + 1) % n]
            if s == cut - 1:
                faces += [(p, a, q), (q, a, b)]
            else:
                faces.append((p, a if s < cut else b, q))
    return faces


def diaphragm_faces(diaphragm: Diaphragm) -> list[tuple[int, int, int]]:
    """Triangles of the whole diaphragm, normals out of the abdomen."""
    rows = diaphragm.rings + diaphragm.tendon
    return [face for outer, inner in pairwise(rows) for face in ring_faces(outer, inner)]
