"""The other one of a pair: a muscle reflected in a plane across an axis."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from risorius.skin.muscle.model import Muscle

Floats = NDArray[np.float64]


def other_side(name: str) -> str:
    """cheek_l <-> cheek_r, left <-> right; any other name gets an ending."""
    for a, b in (("l", "r"), ("r", "l"), ("left", "right"), ("right", "left")):
        if re.search(rf"(^|[_. -]){a}$", name):
            return name[: -len(a)] + b
    return f"{name}_mirrored"


def reflected(points: Floats, axis: int, at: float) -> Floats:
    """(…, 3) points reflected in the plane x_axis = at."""
    out = np.array(points, dtype=np.float64)
    out[..., axis] = 2.0 * at - out[..., axis]
    return out


def mirrored(muscle: Muscle, axis: int, at: float, vertices: Floats | None = None, name: str | None = None) -> Muscle:
    """The muscle's mirror image; its point set becomes the mesh points nearest to the reflected ones.

    Args:
        vertices: (n, 3) of the mesh, for muscles that have a point set.
    """
    normals = muscle.normals.copy()
    normals[..., axis] *= -1.0
    points, weights = muscle.points, muscle.weights
    if points is not None and vertices is not None:
        _, near = cKDTree(reflected(vertices[points], axis, at)).query(vertices)
        distance = np.linalg.norm(reflected(vertices[points], axis, at)[near] - vertices, axis=1)
        spacing = np.median(cKDTree(vertices[points]).query(vertices[points], k=min(2, len(points)))[0][..., -1])
        chosen = np.flatnonzero(distance <= max(float(spacing), 1e-9 * np.ptp(vertices)))
        weights = None if weights is None else weights[near[chosen]]
        points = chosen.astype(np.int64)
    return replace(
        muscle,
        name=name or other_side(muscle.name),
        basis=reflected(muscle.basis, axis, at),
        normals=normals,
        centre=reflected(muscle.centre, axis, at),
        points=points,
        weights=weights,
    )
