"""Surface of a scalar field on a grid: one vertex a cell, one quadrilateral an edge that the surface crosses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def surface_net(field: Floats) -> tuple[Floats, Ints, Ints]:
    """Naive surface nets (Gibson 1998): the zero surface of a field, negative inside.

    Args:
        field: (a, b, c) values at grid points.

    Returns:
        vertices (n, 3) in grid units: mean of the crossings on the edges of each cell that the surface enters;
        faces (m, 3), counter-clockwise seen from outside; cells (n, 3), the cell of each vertex.
    """
    inside = field < 0
    shape = np.array(field.shape) - 1
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    count = np.zeros(shape, int)
    for i, j, k in corners:
        count += inside[i : i + shape[0], j : j + shape[1], k : k + shape[2]]
    cells = np.argwhere((count > 0) & (count < 8))
    number = np.full(shape, -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    total, weight = np.zeros((len(cells), 3)), np.zeros(len(cells))
    for a in corners:
        for axis in range(3):
            if a[axis]:
                continue
            b = a.copy()
            b[axis] = 1
            first, second = (field[tuple((cells + corner).T)] for corner in (a, b))
            crosses = (first < 0) != (second < 0)
            t = np.where(crosses, first / np.where(crosses, first - second, 1.0), 0.0)
            total += np.where(crosses[:, None], a + (b - a) * t[:, None], 0.0)
            weight += crosses
    vertices = cells + total / weight[:, None]
    faces = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        low, high = np.array([0, 0, 0]), np.array(field.shape)
        low[[u, v]] = 1
        high[[u, v]] -= 1
        high[axis] -= 1
        near = inside[tuple(slice(s, e) for s, e in zip(low, high))]
        step = np.zeros(3, int)
        step[axis] = 1
        far = inside[tuple(slice(s + d, e + d) for s, e, d in zip(low, high, step))]
        for change, order in ((near & ~far, (0, 1, 2, 3)), (~near & far, (3, 2, 1, 0))):
            at = np.argwhere(change) + low
            around = []
            for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
                corner = at.copy()
                corner[:, u] -= du
                corner[:, v] -= dv
                around.append(number[tuple(corner.T)])
            quad = np.stack(around, -1)[:, list(order)]
            faces += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return vertices, np.concatenate(faces).astype(np.int32), cells.astype(np.int32)


def clipped(vertices: Floats, faces: Ints, point: Floats, normal: Floats) -> tuple[Floats, Ints]:
    """The part of a mesh on the side of a plane that `normal` points away from, cut exactly, left open."""
    height = (vertices - point) @ normal
    keep = height <= 0
    out = [faces[keep[faces].all(axis=1)]]
    cut = faces[keep[faces].any(axis=1) & ~keep[faces].all(axis=1)]
    made: dict[tuple[int, int], int] = {}
    extra: list[Floats] = []

    def crossing(a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in made:
            i, j = key
            t = height[i] / (height[i] - height[j])
            made[key] = len(vertices) + len(extra)
            extra.append(vertices[i] + t * (vertices[j] - vertices[i]))
        return made[key]

    new = []
    for face in cut.tolist():
        ring: list[int] = []
        for a, b in zip(face, face[1:] + face[:1]):
            if keep[a]:
                ring.append(a)
            if keep[a] != keep[b]:
                ring.append(crossing(a, b))
        new += [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
    whole = np.concatenate([*out, np.array(new, np.int32).reshape(-1, 3)])
    points = np.concatenate([vertices, np.array(extra).reshape(-1, 3)])
    used, index = np.unique(whole, return_inverse=True)
    return points[used], index.reshape(-1, 3).astype(np.int32)


def relaxed(vertices: Floats, faces: Ints, passes: int) -> Floats:
    """Taubin smoothing (0.5, −0.53): umbrella steps in and out, so that the volume hardly shrinks."""
    from scipy.sparse import coo_matrix, diags

    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    both = np.concatenate([edges, edges[:, ::-1]])
    n = len(vertices)
    graph = coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()
    graph.data[:] = 1.0
    mean = diags(1 / np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1)) @ graph
    for _ in range(passes):
        for step in (0.5, -0.53):
            vertices = vertices + step * (mean @ vertices - vertices)
    return vertices
