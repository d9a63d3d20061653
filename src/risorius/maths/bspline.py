"""B-spline surfaces of one degree in both directions, on uniform knots: clamped, or closed along v.

S(u, v) = Σ_i Σ_j N_i(u) N_j(v) q_ij, u and v in 0…1. A clamped direction of k patches has k + degree control points; a
closed one has as many patches as points, and its first `degree` columns are repeated behind the last.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.compiled import inner

Floats = NDArray[np.float64]
DEGREE_LIMIT: Final = 9
"""Highest degree; the kernels' scratch space holds one more."""


def clamped_knots(degree: int, patches: int) -> Floats:
    """(patches + 2 degree + 1,) knots on 0…1, the end ones repeated: the surface starts and ends at its edge points."""
    inside = np.linspace(0.0, 1.0, patches + 1)
    return np.concatenate([np.zeros(degree), inside, np.ones(degree)])


def closed_knots(degree: int, patches: int) -> Floats:
    """(patches + 2 degree + 1,) evenly spaced knots, of which 0…1 is one turn."""
    return np.arange(-degree, patches + degree + 1) / patches


def wrapped(grid: NDArray, degree: int) -> NDArray:
    """(u, v, …) control points closed along v -> (u, v + degree, …), the first columns repeated behind the last."""
    columns = np.arange(grid.shape[1] + degree) % grid.shape[1]
    return grid[:, columns]


def greville(knots: Floats, degree: int) -> Floats:
    """Where each control point has most to say: the mean of its `degree` inner knots."""
    count = len(knots) - degree - 1
    return np.array([knots[i + 1 : i + degree + 1].mean() for i in range(count)])


def matrix(knots: Floats, degree: int, x: Floats) -> Floats:
    """(n, points) values of all basis functions at x (n,), by scipy."""
    from scipy.interpolate import BSpline

    inside = np.clip(x, knots[degree], np.nextafter(knots[-degree - 1], -np.inf))
    return BSpline.design_matrix(inside, knots, degree, extrapolate=False).toarray()


def surface(grid: NDArray, knots_u: Floats, knots_v: Floats, degree: int, u: Floats, v: Floats) -> Floats:
    """(len(u), len(v), 3) the surface at all pairs of u and v."""
    return np.einsum("ai,ijk,bj->abk", matrix(knots_u, degree, u), grid, matrix(knots_v, degree, v))


@inner
def basis(knots, degree, patches, x, out):
    """Values and first two derivatives of the degree + 1 basis functions that are not zero at x.

    N_{i,p} = (x − t_i)/(t_{i+p} − t_i) N_{i,p−1} + (t_{i+p+1} − x)/(t_{i+p+1} − t_{i+1}) N_{i+1,p−1} (Cox, de Boor).

    Args:
        out: (3, ≥ degree + 1), filled.

    Returns: the number of the first of them.
    """
    part = min(max(int(x * patches), 0), patches - 1)
    k = degree + part
    for order in range(3):
        for j in range(degree + 1):
            out[order, j] = 0.0
    out[0, 0] = 1.0
    for d in range(1, degree + 1):
        if d == degree:  # degree − 1 is kept for the first derivative
            for j in range(d):
                out[1, j] = out[0, j]
        if d == degree - 1:  # degree − 2 for the second
            for j in range(d):
                out[2, j] = out[0, j]
        carry = 0.0
        for j in range(d):
            left, right = knots[k + 1 - d + j], knots[k + j + 1]
            share = out[0, j] / (right - left)
            out[0, j] = carry + (right - x) * share
            carry = (x - left) * share
        out[0, d] = carry
    if degree >= 2:
        differentiate(knots, k, degree - 1, out[2])
        differentiate(knots, k, degree, out[2])
    else:
        out[2, 0] = 0.0
    differentiate(knots, k, degree, out[1])
    return part


@inner
def differentiate(knots, k, degree, values):
    """Functions of degree − 1 (`degree` of them) -> derivatives of those of `degree`, in place."""
    carry = 0.0
    for j in range(degree + 1):
        if j < degree:
            share = degree * values[j] / (knots[k + j + 1] - knots[k - degree + j + 1])
        else:
            share = 0.0
        values[j] = carry - share
        carry = share
