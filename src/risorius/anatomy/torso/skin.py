"""The skin: a field of distance around bones, cavity and muscle masses, its zero surface smoothed and cut.

The trunk is a star-shaped loft: at every height the hull of what lies inside, grown by muscle and fat; neck, shoulder,
arm, breast and buttock are round bars melted into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.spatial import ConvexHull, QhullError, cKDTree

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import mesh, unit
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Floats, Ints, Mesh, Surface
from risorius.maths.isosurface import clipped, relaxed, surface_net

ANGLES = 73


@dataclass(frozen=True)
class Loft:
    """Trunk as radii (level, angle) about centres (level,); angles 0 (front) to π (back), mirrored."""

    heights: Floats
    centre: Floats
    radius: Floats

    def distance(self, points: Floats) -> Floats:
        """About how far points (n, 3) lie outside [m]."""
        step = self.heights[1] - self.heights[0]
        level = np.clip((points[:, 1] - self.heights[0]) / step, 0, len(self.heights) - 1.001)
        x = points[:, 0] - np.interp(points[:, 1], self.heights, self.centre)
        z = np.abs(points[:, 2])
        angle = np.arctan2(z, x) / np.pi * (ANGLES - 1)
        radius = map_coordinates(self.radius, [level, angle], order=1, mode="nearest")
        above = np.maximum(points[:, 1] - self.heights[-1], 0.0)
        flat = np.hypot(x, z) - radius
        return np.where(above > 0, np.hypot(np.maximum(flat, 0), above) + np.minimum(flat, 0) * 0, flat)


def fatness(spec: Spec) -> float:
    """Subcutaneous fat relative to the reference subject of the sex [-]."""
    t = table("skin")
    reference = table("scaling")["sex"][spec.sex]["reference_bmi"]
    return float(((spec.bmi - t["lean_bmi"]) / (reference - t["lean_bmi"])) ** t["fat_power"])


def trunk_loft(spec: Spec, frame: Frame, inside: Floats) -> Loft:
    """Hulls of the points inside, level by level, grown by muscle and fat."""
    t = table("skin")
    step = t["level_step"] * MM * frame.height
    low, high = t["levels"][0] * MM * frame.height, t["levels"][-1] * MM * frame.height
    heights = np.arange(low, high + step, step)
    angle = np.linspace(0, np.pi, ANGLES)
    ray = np.stack([np.cos(angle), np.sin(angle)], -1)
    layer = {k: {side: np.array(v, float) * MM for side, v in t[spec.sex][k].items()} for k in ("muscle", "fat")}
    share = {"front": np.maximum(ray[:, 0], 0) ** 2, "side": ray[:, 1] ** 2, "back": np.maximum(-ray[:, 0], 0) ** 2}
    lean = frame.scale * np.sqrt(np.clip(spec.bmi / table("scaling")["sex"][spec.sex]["reference_bmi"], 0.75, 1.25))
    levels = np.array(t["levels"]) * MM

    def at_level(y: float, values: Floats) -> float:
        return float(np.interp(y / frame.height, levels, values))

    centre, radius = [], []
    for y in heights:
        near = inside[np.abs(inside[:, 1] - y) < 1.3 * step][:, [0, 2]]
        flat = np.concatenate([near, near * [1.0, -1.0]])
        middle = (flat[:, 0].min() + flat[:, 0].max()) / 2
        grown = sum(
            share[side] * (at_level(y, layer["muscle"][side]) * lean + at_level(y, layer["fat"][side]) * fatness(spec))
            for side in share
        )
        centre.append(middle)
        radius.append(hull_radii(flat - [middle, 0.0], ray) + grown)
    middle_line = gaussian_filter(np.array(centre), 2.0, mode="nearest")
    radii = np.array(radius)
    shift = np.array(centre) - middle_line
    radii = radii + shift[:, None] * ray[:, 0]
    mirrored = np.concatenate([radii[:, ::-1], radii[:, 1:-1], radii[:, ::-1], radii[:, 1:]], axis=1)
    smooth = gaussian_filter(mirrored, (t["smooth"]["along"], t["smooth"]["round"]), mode="nearest")
    whole = smooth[:, 2 * ANGLES - 2 : 3 * ANGLES - 2][:, ::-1]
    f = t["furrow"]
    across = np.sin(angle) * whole / (f["width"] * MM)
    up = np.clip((heights / frame.height / MM - f["from"]) / 60, 0, 1) * np.clip(
        (f["to"] - heights / frame.height / MM) / 60, 0, 1
    )
    groove = f["depth"] * MM * up[:, None] * np.where(angle > np.pi / 2, np.exp(-(across**2)), 0.0)
    return Loft(heights, middle_line, whole - groove)


def hull_radii(flat: Floats, ray: Floats) -> Floats:
    """Distance from the origin to the boundary of the hull of flat points along unit rays."""
    try:
        hull = ConvexHull(flat)
    except QhullError:
        return np.full(len(ray), np.abs(flat).max())
    slope = ray @ hull.equations[:, :2].T
    reach = np.where(slope > 1e-9, -hull.equations[:, 2] / np.where(slope > 1e-9, slope, 1.0), np.inf)
    return reach.min(axis=1)


def rod_distance(points: Floats, start: Floats, end: Floats, radius: Floats) -> Floats:
    """Distance [m] of points (n, 3) from a bar that tapers from radius[0] to radius[1]."""
    along = end - start
    t = np.clip((points - start) @ along / (along @ along), 0, 1)
    return segment_distance(points, start, end) - (radius[0] + t * (radius[1] - radius[0]))


def melted(first: Floats, second: Floats, width: Floats | float) -> Floats:
    """Smooth minimum of two distances: equal ones sink by width/4."""
    h = np.maximum(width - np.abs(first - second), 0.0) / width
    return np.minimum(first, second) - h * h * width / 4


def part_radii(part: dict[str, Any], spec: Spec, frame: Frame) -> Floats:
    """Radii [m] of a muscle mass: with the frame, the sex, and a share of the fat."""
    own = part["female"] if spec.sex == "female" else 1.0
    build = np.clip(spec.bmi / table("scaling")["sex"][spec.sex]["reference_bmi"], 0.75, 1.25) ** 0.35
    t = table("skin")
    layer = np.interp(t["part_fat_level"], t["levels"], t[spec.sex]["fat"]["side"]) * MM
    extra = part["fat"] * layer * (fatness(spec) - 1)
    return np.asarray(np.array(part["radius"], float) * MM * frame.scale * own * build + extra)


def skin_field(spec: Spec, frame: Frame, loft: Loft, points: Floats) -> Floats:
    """Distance to the skin [m], negative inside; mirror-symmetric in z."""
    t = table("skin")
    p = points * [1.0, 1.0, 0.0] + np.abs(points) * [0.0, 0.0, 1.0]
    trunk, arm = loft.distance(p), np.full(len(p), np.inf)
    for part in t["parts"]:
        if part.get("only", spec.sex) != spec.sex:
            continue
        ends = frame.table([part["from"], part["to"]])
        away = rod_distance(p, ends[0], ends[1], part_radii(part, spec, frame))
        if part.get("arm", False):
            arm = melted(arm, away, t["blend"] * MM)
        else:
            trunk = melted(trunk, away, t["blend"] * MM)
    elbow, onward = elbow_plane(frame)
    arm = -melted(-arm, -((p - elbow) @ onward), t["elbow"]["round"] * MM)
    b = t["arm_blend"]
    width = np.interp(p[:, 1], np.array([b["from"], b["to"]]) * MM * frame.height, np.array(b["width"]) * MM)
    g = t["arm_gap"]
    half = np.interp(p[:, 1], np.array([g["from"], g["to"]]) * MM * frame.height, np.array(g["half"]) * MM)
    slit = half - np.abs(trunk - arm) / 2  # arm and flank keep apart below the armpit: one skin each
    return np.maximum(melted(trunk, arm, width), slit)


def elbow_plane(frame: Frame) -> tuple[Floats, Floats]:
    """Point and normal (down the arm) of the right arm's end."""
    j = table("trunk")["joints"]
    shoulder, elbow = frame.table([j["glenohumeral"], j["elbow"]])
    along = unit(elbow - shoulder)
    return elbow + along * table("skin")["elbow"]["beyond"] * MM * frame.scale, along


def build_skin(spec: Spec, frame: Frame, bodies: Bodies, surface: Surface) -> Mesh:
    """The skin from neck to hips, open there; arms to the elbow, closed."""
    t = table("skin")
    cuts = cut_planes(frame)
    inside = contents(bodies, surface, cuts, frame)
    trunk = [
        m.vertices
        for n, m in zip(bodies.names, bodies.meshes)
        if "arm" not in n and n not in ("skull", "girdle_r", "girdle_l")
    ]
    blades = [
        m.vertices[m.vertices[:, 0] < -0.09 * frame.depth] for n, m in zip(bodies.names, bodies.meshes) if "girdle" in n
    ]
    blades = [b[np.abs(b[:, 2]) < 0.115 * frame.chest] for b in blades]
    loft = trunk_loft(spec, frame, np.concatenate([sampled(surface), *trunk, *blades]))
    grid = t["grid"] * MM * frame.scale
    low, high = (frame.points(np.array(c, float) * MM) for c in t["box"])
    count = np.ceil((high - low) / grid).astype(int)
    half = count[2] // 2
    axes = [
        low[0] + grid * np.arange(count[0]),
        low[1] + grid * np.arange(count[1]),
        grid * (np.arange(-1, half) + 0.5),
    ]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    field = skin_field(spec, frame, loft, nodes.reshape(-1, 3))
    bare = inside[skin_field(spec, frame, loft, inside) > -t["least"] * MM]
    if len(bare):
        right = nodes.reshape(-1, 3) * [1.0, 1.0, 0.0] + np.abs(nodes.reshape(-1, 3)) * [0.0, 0.0, 1.0]
        away = cKDTree(bare).query(right)[0]
        field = melted(field, away - t["least"] * MM * 1.7, t["blend"] * MM * 0.6)
    shape = nodes.shape[:3]
    whole = np.concatenate([field.reshape(shape)[:, :, :1:-1], field.reshape(shape)], axis=2)
    vertices, faces, cells = surface_net(whole)
    vertices = relaxed(vertices, faces, t["relax"])
    middle = (whole.shape[2] - 2) // 2
    faces = faces[(cells[faces][:, :, 2] >= middle).all(axis=1)]
    vertices[cells[:, 2] == middle, 2] = middle + 0.5
    start = np.array([axes[0][0], axes[1][0], -(shape[2] - 1.5) * grid])
    points = vertices * grid + start
    points[:, 2] = np.where(np.abs(points[:, 2]) < 1e-9, 0.0, points[:, 2])
    points = carved(points, faces, inside, spec, frame)
    for point, normal in cuts:
        points, faces = clipped(points, faces, point, normal)
    return doubled(*largest(points, faces))


def sampled(surface: Surface, steps: int = 5) -> Floats:
    """Points spread over the faces of the trunk's inside, so that no level misses it."""
    grid = np.array([[i, j, steps - i - j] for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    return np.einsum("gk,fkc->fgc", grid, surface.points[surface.trunk]).reshape(-1, 3)


def cut_planes(frame: Frame) -> list[tuple[Floats, Floats]]:
    """Planes (point, normal away from what stays) at neck and hips."""
    t = table("skin")["cuts"]
    return [
        (frame.table([0, t["neck"], 0]), unit(np.array([t["neck_slope"], 1.0, 0.0]))),
        (frame.table([0, t["hip"], 0]), np.array([0.0, -1.0, 0.0])),
    ]


def contents(bodies: Bodies, surface: Surface, cuts: list[tuple[Floats, Floats]], frame: Frame) -> Floats:
    """Right-hand points that the skin must cover: bones and cavity on the inner side of the cuts."""
    names = [n for n in bodies.names if not n.endswith("_l") and n != "skull" and not n.startswith("lower_arm")]
    points = np.concatenate([surface.points, *[bodies.meshes[bodies.index(n)].vertices for n in names]])
    points = points * [1, 1, 0] + np.abs(points) * [0, 0, 1]
    for point, normal in cuts:
        points = points[(points - point) @ normal < 0.0]
    elbow, onward = elbow_plane(frame)
    return points[((points - elbow) @ onward < -2 * table("skin")["least"] * MM) | (points[:, 2] < elbow[2] / 2)]


def doubled(points: Floats, faces: Ints) -> Mesh:
    """A right half and its mirror image, sharing the points of the midline."""
    own = np.flatnonzero(points[:, 2] != 0.0)
    twin = np.arange(len(points))
    twin[own] = len(points) + np.arange(len(own))
    return mesh(np.concatenate([points, points[own] * [1.0, 1.0, -1.0]]), np.concatenate([faces, twin[faces][:, ::-1]]))


def carved(points: Floats, faces: Ints, inside: Floats, spec: Spec, frame: Frame) -> Floats:
    """Furrows and ridges that muscles, bones and navel draw on front and back: strokes of a rounded profile
    h exp(−(d/w)²), d the distance in the frontal plane; fat hides those of muscle and bone, and none cuts to what lies
    inside."""
    normals = np.zeros_like(points)
    corner = points[faces]
    across = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    for k in range(3):
        np.add.at(normals, faces[:, k], across)
    normals[points[:, 2] == 0.0, 2] = 0.0  # this is the right half
    normals = unit(normals)
    flat = np.stack([points[:, 1], np.abs(points[:, 2])], -1)
    height = np.zeros(len(points))
    for stroke in table("skin")["relief"]:
        if stroke.get("only", spec.sex) != spec.sex:
            continue
        line = frame.table([[0.0, table("landmarks").get(y, y), z] for y, z in stroke["line"]])[:, 1:]
        away = np.min([segment_distance(flat, a, b) for a, b in pairwise([*line, line[-1]])], axis=0)
        facing = np.maximum(normals[:, 0] * (1.0 if stroke["face"] == "front" else -1.0), 0.0)
        shown = min(fatness(spec) ** -stroke["lean"], 2.0) * (stroke["female"] if spec.sex == "female" else 1.0)
        height += stroke["height"] * MM * shown * facing * np.exp(-((away / (stroke["width"] * MM)) ** 2))
    room = np.maximum(cKDTree(inside).query(points)[0] - table("skin")["least"] * MM, 0.0)
    return points + np.maximum(height, -room)[:, None] * normals


def segment_distance(points: Floats, start: Floats, end: Floats) -> Floats:
    """Distance of points (n, d) from a straight piece."""
    along = end - start
    t = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - start - t[:, None] * along, axis=1)


def largest(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """The largest connected piece (stray crumbs beyond the cuts fall away)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = np.concatenate([faces[:, :2], faces[:, 1:]])
    graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(points),) * 2)
    label = connected_components(graph, directed=False)[1]
    main = np.bincount(label).argmax()
    used, index = np.unique(faces[label[faces[:, 0]] == main], return_inverse=True)
    return points[used], index.reshape(-1, 3).astype(np.int32)
