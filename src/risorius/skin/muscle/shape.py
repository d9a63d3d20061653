"""A muscle's form: thickness, contraction, bulge (paper 001, sections 3.1 to 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.closest import Patchwork
from risorius.maths.compiled import inner, released
from risorius.skin.muscle.model import Muscle, Settings, centre_of

Floats = NDArray[np.float64]
SHORTEST: Final = 0.01
"""Least factor on the length (equation 3.11)."""


def profile(rows: int, columns: int, closed: bool = False) -> Floats:
    """f(i, j) = [1 − (2i/(i_tot − 1) − 1)²] [1 − (2j/(j_tot − 1) − 1)²] (equation 3.3); a ring is even along v."""
    across = 1.0 - (2.0 * np.arange(rows) / (rows - 1) - 1.0) ** 2
    along = np.ones(columns) if closed else 1.0 - (2.0 * np.arange(columns) / (columns - 1) - 1.0) ** 2
    return across[:, None] * along


def thickness(muscle: Muscle) -> Floats:
    """(u, v) x_ij = τ_m f(i, j) (equation 3.4)."""
    return muscle.muscle_thickness * profile(*muscle.shape, muscle.closed)


def control_points(muscle: Muscle, contraction: float = 0.0, bulge: float | None = None) -> Floats:
    """(u, v, 3) q_ij = p'_ij + n_ij x_ij g(c, b) (equations 3.5, 3.14, 3.15)."""
    amount = min(max(contraction, 0.0), 1.0)
    factor = muscle.bulge if bulge is None else bulge
    swelling = thickness(muscle) * (1.0 + factor * amount)
    return contracted(muscle, contraction) + muscle.normals * swelling[..., None]


def contracted(muscle: Muscle, contraction: float) -> Floats:
    """(u, v, 3) basis points p'_ij at a contraction of 0…1 (equations 3.6 to 3.13)."""
    amount = min(max(contraction, 0.0), 1.0)
    if amount == 0.0:
        return muscle.basis.copy()
    factor = max(SHORTEST, 1.0 - amount)
    if muscle.closed:
        target = targets(muscle)
        return target + factor * (muscle.basis - target)
    return along(np.ascontiguousarray(muscle.basis), arc(muscle.basis), factor)


def arc(basis: Floats) -> Floats:
    """(u, v) t_j: length from v = 0 along each polyline, its whole being 1 (equation 3.6)."""
    steps = np.linalg.norm(np.diff(basis, axis=1), axis=2)
    length = np.concatenate([np.zeros((len(basis), 1)), np.cumsum(steps, axis=1)], axis=1)
    return length / np.where(length[:, -1:] > 0, length[:, -1:], 1.0)


def targets(muscle: Muscle) -> Floats:
    """(u, v, 3) where each point of a sphincter goes: the centre, or the nearest place of its segment."""
    centre = centre_of(muscle)
    if len(centre) == 1:
        return np.broadcast_to(centre[0], muscle.basis.shape)
    edge = centre[1] - centre[0]
    square = float(edge @ edge)
    share = np.clip((muscle.basis - centre[0]) @ edge / square, 0.0, 1.0) if square > 0 else np.zeros(muscle.shape)
    return centre[0] + share[..., None] * edge


def patchwork(muscle: Muscle, contraction: float = 0.0, bulge: float | None = None) -> Patchwork:
    """The muscle's surface."""
    return Patchwork.of(control_points(muscle, contraction, bulge), muscle.degree, muscle.closed)


@inner
def place(basis, arcs, target, first):
    """(x, y, z) at arc length `target` of a polyline, and the segment that it lies on, sought from `first` on."""
    a = first
    while a < len(arcs) - 2 and arcs[a + 1] < target:
        a += 1
    length = arcs[a + 1] - arcs[a]
    share = (target - arcs[a]) / length if length > 0 else 0.0
    x = basis[a, 0] + share * (basis[a + 1, 0] - basis[a, 0])
    y = basis[a, 1] + share * (basis[a + 1, 1] - basis[a, 1])
    z = basis[a, 2] + share * (basis[a + 1, 2] - basis[a, 2])
    return x, y, z, a


@released
def along(basis, arcs, factor):
    """Every polyline (along v) of a grid shortened by a factor, towards v = 0."""
    out = np.empty_like(basis)
    for i in range(basis.shape[0]):
        a = 0
        for j in range(basis.shape[1]):
            x, y, z, a = place(basis[i], arcs[i], factor * arcs[i, j], a)
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = x, y, z
    return out


@dataclass(frozen=True, eq=False)
class Bundle:
    """All muscles' grids in one table; a ring's first columns are repeated behind its last.

    Args:
        start: (m + 1,) rows of muscle k are start[k]:start[k + 1], v running fastest.
        columns: (m,) points along v, with those repeated.
        closed: (m,).
        basis, normals, target: (r, 3).
        swell: (r,) thickness x_ij; bulge: (r,); arcs: (r,).
    """

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    closed: NDArray[np.bool_]
    basis: Floats
    normals: Floats
    target: Floats
    swell: Floats
    bulge: Floats
    arcs: Floats

    @staticmethod
    def of(muscles: list[Muscle]) -> Bundle:
        parts: dict[str, list[Floats]] = {name: [] for name in ("basis", "normals", "target", "swell", "bulge", "arcs")}
        start, columns = [0], []
        for muscle in muscles:
            rows, count = muscle.shape
            wide = np.arange(count + (muscle.degree if muscle.closed else 0)) % count
            goal = targets(muscle) if muscle.closed else muscle.basis
            table = (muscle.basis, muscle.normals, goal, thickness(muscle), muscle.bulge, arc(muscle.basis))
            for name, values in zip(parts, table):
                flat = np.asarray(values)[:, wide]
                parts[name].append(flat.reshape(rows * len(wide), *values.shape[2:]))
            start.append(start[-1] + rows * len(wide))
            columns.append(len(wide))
        joined = {name: np.ascontiguousarray(np.concatenate(values)) for name, values in parts.items()}
        closed = np.array([muscle.closed for muscle in muscles])
        return Bundle(np.array(start), np.array(columns), closed, **joined)

    def displacements(self, now: Settings, out: NDArray) -> None:
        """Rows of q(c, b) − q(0) times the envelope, into `out` (≥ r, 4); exactly zero at rest."""
        displace(self.start, self.columns, self.closed, self.basis, self.normals, self.target, self.swell,
                 self.bulge, self.arcs, now.contraction, now.bulge, now.envelope, out)  # fmt: skip


@released
def displace(start, columns, closed, basis, normals, target, swell, bulge, arcs, contraction, given, envelope, out):
    for m in range(len(columns)):
        c = min(max(contraction[m], 0.0), 1.0)
        first, last, wide = start[m], start[m + 1], columns[m]
        if c == 0.0 or envelope[m] == 0.0:
            for r in range(first, last):
                out[r, 0] = out[r, 1] = out[r, 2] = 0.0
            continue
        factor = max(SHORTEST, 1.0 - c)
        for row in range(first, last, wide):
            a = 0
            for r in range(row, row + wide):
                if closed[m]:
                    x = (factor - 1.0) * (basis[r, 0] - target[r, 0])
                    y = (factor - 1.0) * (basis[r, 1] - target[r, 1])
                    z = (factor - 1.0) * (basis[r, 2] - target[r, 2])
                else:
                    x, y, z, a = place(basis[row : row + wide], arcs[row : row + wide], factor * arcs[r], a)
                    x -= basis[r, 0]
                    y -= basis[r, 1]
                    z -= basis[r, 2]
                b = bulge[r] if np.isnan(given[m]) else given[m]
                rise = swell[r] * b * c
                out[r, 0] = envelope[m] * (x + normals[r, 0] * rise)
                out[r, 1] = envelope[m] * (y + normals[r, 1] * rise)
                out[r, 2] = envelope[m] * (z + normals[r, 2] * rise)
