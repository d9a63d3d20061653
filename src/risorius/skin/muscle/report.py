"""What is worth knowing of a muscle: how well it fits, how big it is, what it runs into."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.maths.closest import Patchwork
from risorius.maths.triangle_tree import TriangleTree
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.shape import patchwork
from risorius.skin.muscle.surface import Surface, unit

Floats = NDArray[np.float64]
FINENESS = 4


def sheets(muscle: Muscle, contraction: float = 0.0) -> tuple[Floats, Floats]:
    """Samples (a, b, 3) of the sheet below (the basis as control points) and of the muscle's surface."""
    top = patchwork(muscle, contraction)
    u, v, above = top.samples(FINENESS)
    return Patchwork.of(muscle.basis, muscle.degree, muscle.closed).at(u, v), above


def volume(muscle: Muscle) -> float:
    """Both halves of the muscle, in the mesh's unit cubed: twice ∫ height dA between its two sheets."""
    below, above = sheets(muscle)
    middle = 0.5 * (below + above)
    area = 0.5 * np.cross(middle[1:, 1:] - middle[:-1, :-1], middle[1:, :-1] - middle[:-1, 1:])
    height = above - below
    mean = 0.25 * (height[1:, 1:] + height[:-1, 1:] + height[1:, :-1] + height[:-1, :-1])
    return 2.0 * float(np.abs(np.einsum("abi,abi->ab", area, mean)).sum())


def length(muscle: Muscle) -> float:
    """Mean length of the basis's polylines along v (of the whole ring where closed)."""
    basis = np.concatenate([muscle.basis, muscle.basis[:, :1]], axis=1) if muscle.closed else muscle.basis
    return float(np.linalg.norm(np.diff(basis, axis=1), axis=2).sum(axis=1).mean())


def triangles(sheet: Floats) -> NDArray[np.int64]:
    """(t, 3) corners in a flattened sheet (a, b, 3)."""
    rows, columns = sheet.shape[:2]
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.reshape(-1) for part in (k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def outside_share(muscle: Muscle, surface: Surface, contraction: float = 0.0) -> float:
    """Part of the muscle's samples that stand above the skin: the way up from the sheet below meets it."""
    below, above = sheets(muscle, contraction)
    start = below.reshape(-1, 3)
    way = above.reshape(-1, 3) - start
    tall = np.linalg.norm(way, axis=1) > 1e-12 * surface.size
    if not tall.any():
        return 0.0
    t, _ = surface.tree.rays(start[tall], way[tall], 0.0, 1.0)
    return float(np.isfinite(t).sum() / len(start))


def touching(muscle: Muscle, others: list[Muscle]) -> list[str]:
    """Names of the muscles whose upper sheet this one's upper sheet cuts."""
    _, mine = sheets(muscle)
    low, high = mine.reshape(-1, 3).min(axis=0), mine.reshape(-1, 3).max(axis=0)
    edges = np.concatenate([np.stack([mine[1:], mine[:-1]], 2).reshape(-1, 2, 3),
                            np.stack([mine[:, 1:], mine[:, :-1]], 2).reshape(-1, 2, 3)])  # fmt: skip
    found = []
    for other in others:
        _, theirs = sheets(other)
        flat = theirs.reshape(-1, 3)
        if (flat.min(axis=0) > high).any() or (flat.max(axis=0) < low).any():
            continue
        tree = TriangleTree(flat, triangles(theirs))
        t, _ = tree.rays(edges[:, 0], edges[:, 1] - edges[:, 0], 0.0, 1.0)
        if np.isfinite(t).any():
            found.append(other.name)
    return found


def report(muscle: Muscle, surface: Surface, others: list[Muscle] | None = None) -> dict[str, Any]:
    """Figures of a muscle under a skin, lengths in the mesh's unit.

    `depth_error` is the largest difference between a basis point's distance to the nearest skin and the depth asked
    for, in parts of that depth; `depth_error_along_normal` the same measured along the point's own normal.
    """
    depth = muscle.skin_thickness + muscle.muscle_thickness
    scale = np.where(depth > 0, depth, 1.0)
    flat = muscle.basis.reshape(-1, 3)
    near = surface.tree.closest(flat)[0].reshape(muscle.shape)
    reach = 3.0 * float(depth.max()) + 1e-6 * surface.size
    t, _ = surface.tree.rays(flat, unit(muscle.normals).reshape(-1, 3), 0.0, reach)
    along = t.reshape(muscle.shape)
    met = np.isfinite(along)
    straight = float((np.abs(along - depth) / scale)[met].max()) if met.any() else None
    inside = outside_share(muscle, surface)
    return {
        "depth_error": round(float((np.abs(near - depth) / scale).max()), 6),
        "depth_error_median": round(float(np.median(np.abs(near - depth) / scale)), 6),
        "depth_error_along_normal": None if straight is None else round(straight, 6),
        "length": length(muscle),
        "volume": volume(muscle),
        "breaks_skin": bool(inside > 0),
        "breaks_skin_contracted": bool(outside_share(muscle, surface, 1.0) > 0),
        "touches": touching(muscle, [other for other in others or [] if other.name != muscle.name]),
    }
