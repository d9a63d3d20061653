"""A skin over strands: carried by bones, lifted by the tendons beneath it (Sueda, Kaufman, Pai 2008, equation 19).

    d = p_s − p_v,  h = max(d·n + c, 0),  f = a·exp(−|d − (d·n) n|² / 2 b²),  p_v ← p_v + w h f n

with p_v a vertex, n its outward normal, p_s the strand point closest to it, w its painted weight. a scales the lift, b is how
far it reaches sideways, c how deep a strand may lie and still show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from risorius.core.errors import InputError
from risorius.core.torso import Floats, Ints


@dataclass(frozen=True)
class Lift:
    """Parameters of equation 19.

    Args:
        height: a [-] how much of the way to the strand a vertex is lifted.
        reach: b [m] sideways.
        depth: c [m] below the skin.
    """

    height: float = 1.0
    reach: float = 2.4e-3
    depth: float = 6e-3

    def __post_init__(self) -> None:
        if not (0 <= self.height <= 5 and 1e-5 <= self.reach <= 0.1 and 0 <= self.depth <= 0.1):
            raise InputError(
                "expected height 0 to 5, reach 0.01 to 100 mm, depth 0 to 100 mm, got "
                f"{self.height:g}, {1e3 * self.reach:g}, {1e3 * self.depth:g}", place="lift",
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class HandBinding:
    """What carries each vertex.

    Args:
        points: (v, 3) [m] vertices at the rest of the hand (where every body's pose is the identity).
        body, weight: (v, 4) up to four bodies and their weights, which add up to one.
        faces: (m, 3) triangles, for normals.
        paint: (v,) 0 … 1 how much the strands may lift each vertex (w).
    """

    points: Floats
    body: Ints
    weight: Floats
    faces: Ints
    paint: Floats


def carried(binding: HandBinding, rotation: Floats, position: Floats) -> Floats:
    """(v, 3) [m] vertices carried by bodies (b, 3, 3), (b, 3): linear blend."""
    out = np.zeros_like(binding.points)
    for k in range(binding.body.shape[1]):
        which = binding.body[:, k]
        moved = np.einsum("vij,vj->vi", rotation[which], binding.points) + position[which]
        out += binding.weight[:, k, None] * moved
    return out


def normals(points: Floats, faces: Ints) -> Floats:
    """(v, 3) outward unit normals, faces weighted by area; zero where a vertex has none."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    out = np.zeros_like(points)
    for k in range(3):
        for axis in range(3):
            out[:, axis] += np.bincount(faces[:, k], area[:, axis], len(points))
    size = np.linalg.norm(out, axis=1, keepdims=True)
    return np.where(size > 1e-18, out / np.maximum(size, 1e-18), 0.0)


def lifted(points: Floats, normal: Floats, strands: Floats, paint: Floats, lift: Lift) -> tuple[Floats, Floats]:
    """Equation 19: new vertices (v, 3) and how far each was lifted (v,) [m].

    Args:
        points, normal: (v, 3) vertices and outward unit normals.
        strands: (s, 3) points along all strands, closer together than `lift.reach`.
        paint: (v,) weights w; vertices without weight are left alone.
    """
    rise = np.zeros(len(points))
    chosen = np.flatnonzero(paint > 0)
    if len(chosen) and len(strands):
        p, n = points[chosen], normal[chosen]
        d = strands[cKDTree(strands).query(p)[1]] - p
        along = np.einsum("vi,vi->v", d, n)
        aside = d - along[:, None] * n
        h = np.maximum(along + lift.depth, 0.0)
        f = lift.height * np.exp(-np.einsum("vi,vi->v", aside, aside) / (2 * lift.reach**2))
        rise[chosen] = paint[chosen] * h * f
    return points + rise[:, None] * normal, rise


def skin_motion(
    binding: HandBinding,
    rotation: Floats,
    position: Floats,
    strands: Callable[[int], Floats],
    lift: Lift,
    progress: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vertices (f, v, 3) and lifts (f, v) in every frame; `strands(frame)` gives points along the strands."""
    frames = len(rotation)
    out = np.empty((frames, len(binding.points), 3), np.float32)
    rise = np.empty((frames, len(binding.points)), np.float32)
    for frame in range(frames):
        base = carried(binding, rotation[frame], position[frame])
        out[frame], rise[frame] = lifted(base, normals(base, binding.faces), strands(frame), binding.paint, lift)
        if progress is not None:
            progress((frame + 1) / frames)
    return out, rise
