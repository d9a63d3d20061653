"""Cubic tensor-product surfaces that strands lie on: evaluation and closest point by Newton (H §3.3).

u runs round (periodic) or is pinned; v is pinned at its ends as strands are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.core.strands import Floats, Surface
from risorius.maths.compiled import inner, kernel
from risorius.maths.splines import cubic_weights, pinned_weights


class Surfaces(NamedTuple):
    """Control points of all surfaces (n, 3) rest world; first (f + 1); shape (f, 3): u, v, whether u is closed; body (f)."""

    points: np.ndarray
    first: np.ndarray
    shape: np.ndarray
    body: np.ndarray


def assemble_surfaces(surfaces: tuple[Surface, ...], names: tuple[str, ...]) -> Surfaces:
    """Flatten surfaces; rows of u, v fastest."""
    sizes = [surface.points.shape[0] * surface.points.shape[1] for surface in surfaces]
    points = [surface.points.reshape(-1, 3) for surface in surfaces]
    return Surfaces(
        np.concatenate(points) if points else np.zeros((0, 3)),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([(*s.points.shape[:2], s.closed) for s in surfaces], dtype=np.int64).reshape(-1, 3),
        np.array([names.index(s.body) if s.body else -1 for s in surfaces], dtype=np.int64),
    )


@inner
def around_weights(count, closed, u, b, d, e):
    """Weights (4,) along u and the first of four control points; indices wrap round where closed."""
    if closed:
        u = u - count * math.floor(u / count)
        span = min(int(u), count - 1)
        cubic_weights(u - span, b, d, e)
        return span - 1
    return pinned_weights(count, u, b, d, e)


@kernel
def surface_at(surfaces, index, u, v, out):
    """Point, ∂u, ∂v, ∂uu, ∂uv, ∂vv of a surface into out (6, 3), or the first of them that it has room for; rest world."""
    nu, nv, closed = surfaces.shape[index, 0], surfaces.shape[index, 1], surfaces.shape[index, 2]
    base = surfaces.first[index]
    w = np.empty((6, 4))
    fu = around_weights(nu, closed == 1, u, w[0], w[1], w[2])
    fv = pinned_weights(nv, v, w[3], w[4], w[5])
    out[:] = 0.0
    for i in range(4):
        row = fu + i
        if closed == 1:
            row = (row + nu) % nu
        for j in range(4):
            k = base + row * nv + fv + j
            for x in range(3):
                q = surfaces.points[k, x]
                out[0, x] += w[0, i] * w[3, j] * q
                out[1, x] += w[1, i] * w[3, j] * q
                out[2, x] += w[0, i] * w[4, j] * q
                if out.shape[0] == 6:
                    out[3, x] += w[2, i] * w[3, j] * q
                    out[4, x] += w[1, i] * w[4, j] * q
                    out[5, x] += w[0, i] * w[5, j] * q


@kernel
def closest(surfaces, index, target, uv, rounds):
    """Move uv (2,) to the surface point closest to target (3,): Newton, steps of at most half a span."""
    frame = np.empty((6, 3))
    nu, nv, closed = surfaces.shape[index, 0], surfaces.shape[index, 1], surfaces.shape[index, 2]
    for _ in range(rounds):
        surface_at(surfaces, index, uv[0], uv[1], frame)
        a = b = c = e = f = 0.0
        for x in range(3):
            r = target[x] - frame[0, x]
            a += frame[1, x] * frame[1, x]
            b += frame[1, x] * frame[2, x]
            c += frame[2, x] * frame[2, x]
            e += frame[1, x] * r
            f += frame[2, x] * r
        along = across = mixed = 0.0
        for x in range(3):
            r = target[x] - frame[0, x]
            along += r * frame[3, x]
            mixed += r * frame[4, x]
            across += r * frame[5, x]
        if a - along > 0.0 and (a - along) * (c - across) - (b - mixed) ** 2 > 0.01 * (a * c - b * b):
            a, b, c = a - along, b - mixed, c - across
        determinant = a * c - b * b
        if not determinant > 1e-12 * a * c:
            return
        du = min(max((c * e - b * f) / determinant, -0.5), 0.5)
        dv = min(max((a * f - b * e) / determinant, -0.5), 0.5)
        uv[0] += du
        uv[1] = min(max(uv[1] + dv, 0.0), nv - 1.0)
        if closed == 1:
            uv[0] -= nu * math.floor(uv[0] / nu)
        else:
            uv[0] = min(max(uv[0], 0.0), nu - 1.0)
        if abs(du) + abs(dv) < 1e-10:
            return


def nearest_on_surface(surfaces: Surfaces, index: int, target: Floats) -> Floats:
    """(u, v) of the surface point nearest to a target (3,): a grid, then Newton."""
    nu, nv, closed = (int(x) for x in surfaces.shape[index])
    frame = np.zeros((3, 3))
    best, found = np.inf, np.zeros(2)
    for u in np.arange(0.0, nu if closed else nu - 0.99, 0.5):
        for v in np.arange(0.0, nv - 0.99, 0.5):
            surface_at(surfaces, index, u, v, frame)
            distance = float(((frame[0] - target) ** 2).sum())
            if distance < best:
                best, found = distance, np.array([u, v])
    closest(surfaces, index, np.asarray(target, dtype=np.float64), found, 40)
    return found


def surface_point(surfaces: Surfaces, index: int, uv: Floats) -> tuple[Floats, Floats]:
    """Point (3,) and outward unit normal (3,) at (u, v), rest world."""
    frame = np.zeros((3, 3))
    surface_at(surfaces, index, uv[0], uv[1], frame)
    normal = np.cross(frame[1], frame[2])
    return frame[0].copy(), normal / np.linalg.norm(normal)
