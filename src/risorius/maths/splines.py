"""Cubic B-splines with uniform knots, pinned at their ends: the curve begins at the first control point and ends at the last.

A curve of n control points has n − 1 spans, s in [0, n − 1]. On span k, with t = s − k and phantom points
q_{−1} = 2 q_0 − q_1 and q_n = 2 q_{n−1} − q_{n−2} (USD: BasisCurves, cubic, bspline, pinned):

    p(s) = (1−t)³/6 q_{k−1} + (3t³−6t²+4)/6 q_k + (−3t³+3t²+3t+1)/6 q_{k+1} + t³/6 q_{k+2}

The ends carry no curvature; each point depends on at most four control points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risorius.maths.compiled import kernel

Floats = NDArray[np.float64]


@kernel
def cubic_weights(t, b, d, e):
    """Weights of the four control points of a span at t in [0, 1]: value b, first d and second derivative e, (4,) each."""
    r = 1.0 - t
    b[0] = r * r * r / 6.0
    b[1] = (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0
    b[2] = (-3.0 * t * t * t + 3.0 * t * t + 3.0 * t + 1.0) / 6.0
    b[3] = t * t * t / 6.0
    d[0] = -0.5 * r * r
    d[1] = 1.5 * t * t - 2.0 * t
    d[2] = -1.5 * t * t + t + 0.5
    d[3] = 0.5 * t * t
    e[0] = r
    e[1] = 3.0 * t - 2.0
    e[2] = 1.0 - 3.0 * t
    e[3] = t


@kernel
def pin_start(w):
    """Fold the phantom point before the first control point into the others, in place."""
    phantom = w[0]
    w[0] = w[1] + 2.0 * phantom
    w[1] = w[2] - phantom
    w[2] = w[3]
    w[3] = 0.0


@kernel
def pin_end(w):
    """Fold the phantom point behind the last control point into the others, in place."""
    phantom = w[3]
    w[3] = w[2] + 2.0 * phantom
    w[2] = w[1] - phantom
    w[1] = w[0]
    w[0] = 0.0


@kernel
def pinned_weights(count, s, b, d, e):
    """Weights (4,) of control points first … first + 3 for value, d/ds and d²/ds² at s in [0, count − 1]; returns first.

    Outside the range s is clamped to it.
    """
    s = min(max(s, 0.0), count - 1.0)
    span = min(int(s), count - 2)
    cubic_weights(s - span, b, d, e)
    if span == 0:
        pin_start(b)
        pin_start(d)
        pin_start(e)
        return 0
    if span == count - 2:
        pin_end(b)
        pin_end(d)
        pin_end(e)
        return count - 4
    return span - 1


def design(count: int, s: Floats, derivative: int = 0) -> Floats:
    """(m, count) matrix that takes control points to curve points (or d/ds, d²/ds²) at s (m,) in [0, count − 1]."""
    matrix = np.zeros((len(s), count))
    weights = np.zeros((3, 4))
    for row, place in enumerate(np.asarray(s, dtype=np.float64)):
        first = pinned_weights(count, place, weights[0], weights[1], weights[2])
        matrix[row, first : first + 4] = weights[derivative]
    return matrix


def interpolate(points: Floats) -> Floats:
    """Control points (n, d) of the curve that runs through points (n, d) at s = 0, 1, …, n − 1 (natural cubic spline)."""
    count = len(points)
    return np.asarray(np.linalg.solve(design(count, np.arange(count, dtype=np.float64)), points), dtype=np.float64)


def evaluate(points: Floats, s: Floats, derivative: int = 0) -> Floats:
    """Points (m, d) of the curve of control points (n, d) at s (m,)."""
    return design(len(points), s, derivative) @ points


def nearest(points: Floats, target: Floats, samples_per_span: int = 16) -> float:
    """s of the curve point nearest to a target (3,): sampled, then Newton."""
    count = len(points)
    grid = np.linspace(0.0, count - 1.0, (count - 1) * samples_per_span + 1)
    curve = evaluate(points, grid)
    s = float(grid[np.argmin(((curve - target) ** 2).sum(axis=1))])
    weights = np.zeros((3, 4))
    for _ in range(20):
        first = pinned_weights(count, s, weights[0], weights[1], weights[2])
        p, d, e = weights @ points[first : first + 4]
        slope = d @ (p - target)
        curvature = d @ d + max(e @ (p - target), -0.5 * (d @ d))
        step = slope / max(curvature, 1e-30)
        s = min(max(s - step, 0.0), count - 1.0)
        if abs(step) < 1e-14:
            break
    return s
