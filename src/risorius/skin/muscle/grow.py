"""A muscle from two curves on a surface (paper 001, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.maths.bspline import DEGREE_LIMIT
from risorius.skin.muscle.model import BULGE, Muscle
from risorius.skin.muscle.surface import Surface, unit

Floats = NDArray[np.float64]
NORMALS: Final = ("auto", "surface", "drawn")
ROUGH: Final = 0.45
"""[rad] roughness above which the drawn grid's normals are the better ones."""
OFF: Final = 0.05
"""How far from the surface, in parts of the mesh's diagonal, a drawn point may lie."""
GRID_LIMIT: Final = 4096
"""Most basis points of a muscle."""
CLOSE: Final = 0.01
"""Depth error, in parts of the depth, that refinement stops at."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a user drew and asked for; lengths in the mesh's unit.

    Args:
        curves: two of them, each (k, 3) points or (k,) numbers of mesh points, k ≥ 2 (≥ 3 where closed).
        skin_thickness, muscle_thickness, bulge: one number, or rows of them that are spread over the muscle.
        patches: along u (between the curves) and v (along them).
        closed: the curves are rings, the muscle a sphincter.
        centre: (1, 3) or (2, 3) for a sphincter; none: the mean of the basis points.
        normals: one of NORMALS.
        d_full, d_none: None for what suits the muscle's size.
    """

    name: str
    curves: tuple[NDArray, NDArray]
    skin_thickness: Any
    muscle_thickness: Any
    degree: int = 3
    patches: tuple[int, int] = (2, 4)
    bulge: Any = BULGE
    closed: bool = False
    centre: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    normals: str = "auto"
    d_full: float | None = None
    d_none: float | None = None
    falloff: str = "cosine"
    only_connected: bool = False


@dataclass(frozen=True)
class Growth:
    """A grown muscle and what is worth knowing of it.

    Args:
        surface: the parts of the mesh that the curves were drawn on.
        spots: (k, 3) places of the curves.
    """

    muscle: Muscle
    surface: Surface
    spots: Floats
    normals: str
    roughness: float
    depth_error: float
    off_surface: float


def grow(surface: Surface, sketch: Sketch) -> Growth:
    """Grow one muscle; `InputError` names it where the drawing cannot be used."""
    place = f"muscle {sketch.name}"
    rows, columns = (sketch.degree + count for count in sketch.patches)
    if not 1 <= sketch.degree <= DEGREE_LIMIT:
        raise InputError(f"expected a degree of 1 to {DEGREE_LIMIT}, got {sketch.degree}", place=place)
    if rows * columns > GRID_LIMIT:
        raise InputError(f"expected at most {GRID_LIMIT} basis points, got {rows} × {columns}", place=place)
    drawn = [points_of(curve, surface, place) for curve in sketch.curves]
    line = [resampled(curve, columns, sketch.closed, place) for curve in drawn]
    off, spots, normal, triangle = surface.on(np.concatenate(drawn + line))
    worst = float(off[: len(drawn[0]) + len(drawn[1])].max())
    if worst > OFF * surface.size:
        raise InputError(f"expected points on the surface, got one {worst:.4g} away from it", place=place)
    spots, normal, triangle = spots[-2 * columns :], normal[-2 * columns :], triangle[-2 * columns :]
    rough = float(np.median(surface.roughness(spots)))
    kind = sketch.normals
    if kind == "auto":
        kind = "drawn" if rough > ROUGH else "surface"
    pair = spots.reshape(2, columns, 3)
    if np.linalg.norm(pair[1] - pair[0], axis=1).max() < 1e-9 * surface.size:
        raise InputError("expected two curves, they lie on one another", place=place)
    outward = normal.reshape(2, columns, 3)
    if kind == "drawn":
        outward = of_cells(pair, outward, sketch.closed)
    share = np.linspace(0.0, 1.0, rows)
    start = pair[0] + share[:, None, None] * (pair[1] - pair[0])
    direction = turned(outward[0], outward[1], share)
    depth = spread_over(sketch.skin_thickness, rows, columns) + spread_over(sketch.muscle_thickness, rows, columns)
    near = surface.of_parts(triangle)
    reach = max(float(np.linalg.norm(np.ptp(spots, axis=0))), 4.0 * float(depth.max()))
    basis, direction = sunk(near, start, direction, depth, reach, kind == "surface")
    error = np.abs(near.tree.closest(basis.reshape(-1, 3))[0].reshape(rows, columns) - depth)
    scale = np.where(depth > 0, depth, 1.0)
    muscle = made(sketch, surface, basis, direction, rows, columns)
    return Growth(muscle, near, spots, kind, rough, float((error / scale).max()), worst)


def points_of(curve: NDArray, surface: Surface, place: str) -> Floats:
    """(k, 3) points of a drawn curve; repeated ones are dropped."""
    if curve.ndim == 1:
        if len(curve) and not (curve.min() >= 0 and curve.max() < len(surface.vertices)):
            raise InputError(f"expected numbers of the mesh's {len(surface.vertices)} points", place=place)
        curve = surface.vertices[curve]
    if len(curve) < 2:
        raise InputError("expected curves of 2 different points or more", place=place)
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    return curve[np.concatenate([[True], steps > 1e-12 * surface.size])]


def resampled(curve: Floats, count: int, closed: bool, place: str) -> Floats:
    """(count, 3) points at equal distances along a polyline, its ends kept; a closed one starts at its first point."""
    if closed and len(curve) > 1 and np.linalg.norm(curve[0] - curve[-1]) < 1e-9 * np.ptp(curve, axis=0).max():
        curve = curve[:-1]
    if len(curve) < (3 if closed else 2):
        raise InputError(f"expected curves of {3 if closed else 2} different points or more", place=place)
    line = np.concatenate([curve, curve[:1]]) if closed else curve
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    wanted = length[-1] * np.arange(count) / (count if closed else count - 1)
    return np.stack([np.interp(wanted, length, line[:, axis]) for axis in range(3)], axis=1)


def of_cells(pair: Floats, outward: Floats, closed: bool) -> Floats:
    """(2, v, 3) normals of the drawn grid: each point's mean of the cells around it (section 3.1.2)."""
    follow = np.roll(pair, -1, axis=1)
    cells = unit(np.cross(follow[1] - pair[0], pair[1] - follow[0]))  # by the diagonals, zero for a cell without area
    if closed:
        mean = cells + np.roll(cells, 1, axis=0)
    else:
        mean = np.concatenate([cells[:1], cells[1:-1] + cells[:-2], cells[-2:-1]])
    side = np.sign(np.einsum("ij,kij->", mean, outward)) or 1.0
    found = unit(mean) * side
    empty = np.linalg.norm(found, axis=1, keepdims=True) < 0.5
    return np.where(empty, outward, found)


def turned(a: Floats, b: Floats, share: Floats) -> Floats:
    """(u, v, 3) unit vectors from a to b, turning evenly about their common perpendicular."""
    cosine = np.clip(np.einsum("ij,ij->i", a, b), -1.0, 1.0)
    angle = np.arccos(cosine)
    sine = np.sin(angle)
    s = share[:, None]
    plain = sine < 1e-6
    safe = np.where(plain, 1.0, sine)
    first = np.where(plain, 1.0 - s, np.sin((1.0 - s) * angle) / safe)
    second = np.where(plain, s, np.sin(s * angle) / safe)
    mixed = first[..., None] * a + second[..., None] * b
    length = np.linalg.norm(mixed, axis=2, keepdims=True)
    return np.where(length > 1e-9, mixed / np.where(length > 0, length, 1.0), a)


def spread_over(values: Any, rows: int, columns: int) -> Floats:
    """(u, v) a number everywhere, or rows of numbers stretched over the grid, linear between them."""
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    u = np.linspace(0.0, table.shape[0] - 1.0, rows)
    v = np.linspace(0.0, table.shape[1] - 1.0, columns)
    along = np.stack([np.interp(v, np.arange(table.shape[1]), row) for row in table])
    return np.stack([np.interp(u, np.arange(table.shape[0]), column) for column in along.T], axis=1)


def sunk(surface: Surface, start: Floats, direction: Floats, depth: Floats, reach: float, smooth: bool):
    """Grid points at their depth below the surface, measured along their normals; points and normals (u, v, 3).

    A point that lies nearer to some other place of a smooth surface is then moved until its nearest place is the one
    that its normal points at.
    """
    shape = start.shape
    origin, normal, deep = start.reshape(-1, 3), direction.reshape(-1, 3), depth.reshape(-1)
    spot = surface_along(surface, origin, normal, reach)
    point = spot - normal * deep[:, None]
    if smooth:
        best = np.abs(surface.tree.closest(point)[0] - deep)
        trial = point
        for _ in range(8):
            if (best <= CLOSE * deep).all():
                break
            _, near, *_ = surface.tree.closest(trial)
            toward = unit(near - trial)
            fits = np.einsum("ij,ij->i", toward, direction.reshape(-1, 3)) > 0.6
            trial = np.where(fits[:, None], near - toward * deep[:, None], trial)
            error = np.abs(surface.tree.closest(trial)[0] - deep)
            better = fits & (error < best - 1e-12)
            point = np.where(better[:, None], trial, point)
            normal = np.where(better[:, None], toward, normal)
            best = np.where(better, error, best)
    return point.reshape(shape), normal.reshape(shape)


def surface_along(surface: Surface, origin: Floats, normal: Floats, reach: float) -> Floats:
    """(n, 3) where the line through each point along its normal meets the surface nearest; faces that look the same
    way are preferred, and where it meets none the nearest place is taken."""
    best = np.full(len(origin), np.inf)
    offset = np.zeros(len(origin))
    for sign in (1.0, -1.0):
        base = origin
        done = np.zeros(len(origin))
        for _ in range(4):  # past faces that look away
            t, triangle = surface.tree.rays(base, sign * normal, 0.0, reach)
            hit = np.isfinite(t)
            t = np.where(hit, t, 0.0)
            looks = np.einsum("ij,ij->i", unit(surface.area[triangle]), normal) > 0.0
            cost = np.where(hit, done + t, np.inf)
            good = hit & looks & (cost < best)
            best = np.where(good, cost, best)
            offset = np.where(good, sign * cost, offset)
            again = hit & ~looks
            if not again.any():
                break
            step = t + 1e-9 * surface.size
            base = base + sign * step[:, None] * normal
            done = done + step
    found = origin + offset[:, None] * normal
    lost = ~np.isfinite(best)
    if lost.any():
        found[lost] = surface.on(origin[lost])[1]
    return found


def made(sketch: Sketch, surface: Surface, basis: Floats, direction: Floats, rows: int, columns: int) -> Muscle:
    skin = spread_over(sketch.skin_thickness, rows, columns)
    flesh = spread_over(sketch.muscle_thickness, rows, columns)
    deep = float((skin + flesh).max())
    width = float(np.linalg.norm(np.diff(basis, axis=0), axis=2).sum(axis=0).mean())
    full = 1.05 * deep if sketch.d_full is None else sketch.d_full
    none = full + max(deep, 0.5 * width) if sketch.d_none is None else sketch.d_none
    if none < full:
        raise InputError(
            f"expected d_none of at least d_full, got {none:g} and {full:g}", place=f"muscle {sketch.name}"
        )
    muscle = Muscle(
        sketch.name, basis, direction, skin, flesh, spread_over(sketch.bulge, rows, columns), sketch.degree,
        sketch.closed, sketch.centre, full, none, sketch.falloff,
    )  # fmt: skip
    if sketch.only_connected:
        from risorius.skin.muscle.sets import with_connected_set

        return with_connected_set(muscle, surface)
    return muscle
