"""Which points a muscle may move, found along the mesh: an upper lip's muscle leaves the lower lip alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.shape import patchwork
from risorius.skin.muscle.surface import Surface

Floats = NDArray[np.float64]
NEAR: Final = 1.7
FAR: Final = 3.0
"""Ways along edges, in parts of the straight one, up to which a point belongs, and from which it does not."""
FLOOR: Final = 0.12
"""Added to the straight way, in parts of d_none: points beside the muscle are not judged by an edge's detour."""


def footprint(muscle: Muscle, surface: Surface) -> NDArray[np.int64]:
    """Mesh points right above a muscle: corners of the triangles that its normals meet."""
    u, v, _ = patchwork(muscle).samples(2)
    from risorius.maths.closest import Patchwork

    base = Patchwork.of(muscle.basis, muscle.degree, muscle.closed).at(u, v).reshape(-1, 3)
    outward = Patchwork.of(muscle.normals, muscle.degree, muscle.closed).at(u, v).reshape(-1, 3)
    deep = float((muscle.skin_thickness + muscle.muscle_thickness).max())
    t, triangle = surface.tree.rays(base, outward, 0.0, 3.0 * deep + 1e-9 * surface.size)
    found = triangle[np.isfinite(t)]
    if len(found) == 0:
        found = surface.tree.closest(base)[2]
    return np.unique(surface.faces[found])


def geodesic(surface: Surface, seeds: NDArray[np.int64], limit: float) -> Floats:
    """(n,) length of the shortest way along edges from the nearest seed; inf beyond `limit`."""
    return dijkstra(surface.graph, directed=False, indices=seeds, min_only=True, limit=limit)


def with_connected_set(muscle: Muscle, surface: Surface) -> Muscle:
    """The muscle with a point set: points within d_none that are near along the mesh as well.

    A point whose way along the mesh to what lies above the muscle is at most NEAR times its distance through the air
    belongs in full, one of more than FAR times not at all; between the two the weight fades, so that nothing tears.
    """
    seeds = footprint(muscle, surface)
    floor = FLOOR * muscle.d_none
    way = geodesic(surface, seeds, FAR * (2.0 * muscle.d_none + floor))
    _, distance = patchwork(muscle).closest(surface.vertices, muscle.d_none)
    chosen = np.flatnonzero(np.isfinite(way) & np.isfinite(distance))
    straight, _ = cKDTree(surface.vertices[seeds]).query(surface.vertices[chosen])
    share = np.clip((FAR - way[chosen] / (straight + floor)) / (FAR - NEAR), 0.0, 1.0)
    weight = share * share * (3.0 - 2.0 * share)
    used = weight > 0
    return replace(muscle, points=chosen[used].astype(np.int64), weights=weight[used])
