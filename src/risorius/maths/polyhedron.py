"""Closed triangle surfaces: volume, centre, inertia."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def volume(vertices: Floats, faces: Ints) -> float:
    """Volume [m³] inside a closed surface: Σ a·(b × c) / 6, by the divergence theorem."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def mass_properties(vertices: Floats, faces: Ints) -> tuple[float, Floats, Floats]:
    """Volume [m³], centre [m] and inertia [m⁵] about the centre of a solid of density one.

    Second moments of the tetrahedra between the origin and each face:
    ∫xᵢxⱼ = V/20 (Σₖ vₖᵢvₖⱼ + (Σₖ vₖᵢ)(Σₖ vₖⱼ)); inertia = tr(C)·1 − C.
    """
    middle = vertices.mean(axis=0)
    corner = vertices[faces] - middle
    six = (corner[:, 0] * np.cross(corner[:, 1], corner[:, 2])).sum(-1)
    whole = six.sum() / 6
    total = corner.sum(axis=1)
    first = (six[:, None] * total).sum(axis=0) / 24
    pairs = np.einsum("fki,fkj->fij", corner, corner) + total[:, :, None] * total[:, None, :]
    second = np.einsum("f,fij->ij", six, pairs) / 120
    offset = first / whole
    second = second - whole * np.outer(offset, offset)
    return float(whole), middle + offset, np.trace(second) * np.eye(3) - second


def box_inertia(vertices: Floats) -> Floats:
    """Inertia [m²] per mass of the bounding box about its centre: (b² + c²)/12 about each axis."""
    size = vertices.max(axis=0) - vertices.min(axis=0)
    square = size**2
    return np.diag(square.sum() - square) / 12


def open_edges(faces: Ints) -> int:
    """Edges that do not appear exactly once in each direction: 0 where the surface is closed and oriented."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    size = int(edges.max()) + 1
    forward, counts = np.unique(edges[:, 0] * size + edges[:, 1], return_counts=True)
    backward = np.unique(edges[:, 1] * size + edges[:, 0])
    return int((counts != 1).sum() + len(np.setxor1d(forward, backward)))
