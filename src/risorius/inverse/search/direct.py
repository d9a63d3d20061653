"""Parallel direct search: the multidirectional simplex of Dennis and Torczon (1991, SIAM J. Optimization 1:448).

All vertices but the best are reflected through it at once; if one of them is better, the simplex is tried at double
size, else it shrinks by half towards the best. Reflected, expanded and contracted vertices are independent of each other
and asked for together: 3 n evaluations in one go keep as many processors busy.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.inverse.search.problem import Algorithm

Floats = NDArray[np.float64]

SMALL: Final = 1e-4
"""A simplex smaller than this part of the bounds has arrived; a new one is laid around the best point."""
AGAIN: Final = 0.5
"""Size of a new simplex relative to the one before."""


def direct_search(start: Floats, *, seed: int = 0, size: float = 0.25, restarts: int = 20) -> Algorithm:
    """Search from `start` (n,) in the unit cube, with a regular first simplex of edge `size`."""
    random = np.random.default_rng(seed)
    best = np.array(start, dtype=np.float64)
    best_cost = float((yield best[None])[0])
    for round_ in range(restarts):
        vertices = best + size * regular_simplex(len(best), random)
        costs = np.concatenate([[best_cost], (yield vertices[1:])])
        while np.abs(vertices - vertices[0]).max() > SMALL:
            first = int(costs.argmin())
            order = [first, *(number for number in range(len(costs)) if number != first)]
            vertices, costs = vertices[order], costs[order]
            arms = vertices[1:] - vertices[0]
            asked = np.concatenate([vertices[0] - arms, vertices[0] - 2.0 * arms, vertices[0] + 0.5 * arms])
            reflected, expanded, contracted = np.split(np.asarray((yield asked)), 3)
            if reflected.min() < costs[0]:
                wide = expanded.min() < reflected.min()
                vertices[1:] = vertices[0] - (2.0 if wide else 1.0) * arms
                costs[1:] = expanded if wide else reflected
            else:
                vertices[1:] = vertices[0] + 0.5 * arms
                costs[1:] = contracted
        first = int(costs.argmin())
        best, best_cost = vertices[first].copy(), float(costs[first])
        size *= AGAIN if round_ % 4 else 1.0


def regular_simplex(count: int, random: np.random.Generator) -> Floats:
    """(n + 1, n) vertices: the origin and n more at unit distance from it and from each other, turned by chance."""
    corners = np.eye(count)
    shift = (1.0 - np.sqrt(count + 1.0)) / count
    vertices = np.concatenate([np.full((1, count), shift), corners]) / np.sqrt(2.0)
    vertices -= vertices[0]
    turn, upper = np.linalg.qr(random.standard_normal((count, count)))
    return np.asarray(vertices @ (turn * np.sign(np.diag(upper))).T)
