"""A mesh as a muscle sees it: where its surface is, which way is out, how rough it is, what hangs together."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh, unique_pairs
from risorius.maths.triangle_tree import TriangleTree

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
NEIGHBOURS: Final = 32
"""Triangles around a place that say how rough it is."""


class Surface:
    """Triangles of a mesh with outward normals; no demand on its topology."""

    def __init__(self, mesh: PolyMesh) -> None:
        self.mesh = mesh
        self.vertices = np.asarray(mesh.vertices)
        faces, _ = mesh.triangles()
        corners = self.vertices[faces]
        area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = float(np.ptp(self.vertices, axis=0).max())
        solid = np.linalg.norm(area, axis=1) > 1e-14 * size * size
        if not solid.any():
            raise InputError("expected faces with an area", place="mesh")
        self.faces = faces[solid]
        self.area = area[solid] * self._outward(faces[solid], area[solid])[:, None]
        self.size = float(np.linalg.norm(np.ptp(self.vertices, axis=0)))

    @cached_property
    def seams(self) -> Ints:
        """(n,) number of the place of each point, points on the two sides of a seam being one.

        Only border edges that lie on one another are joined, so that two lips that touch inside one mesh stay apart.
        """
        follower = np.arange(1, len(self.mesh.indices) + 1)
        filled = self.mesh.counts > 0
        follower[self.mesh.offsets[1:][filled] - 1] = self.mesh.offsets[:-1][filled]
        sides = np.sort(np.stack([self.mesh.indices, self.mesh.indices[follower]], axis=1), axis=1)
        kinds, _, number = unique_pairs(sides)
        border = kinds[(number == 1) & (kinds[:, 0] != kinds[:, 1])]
        place = np.arange(len(self.vertices))
        if len(border) == 0:
            return place
        grain = max(np.ptp(self.vertices, axis=0).max() * 1e-7, 1e-12)
        ends = np.unique(border)
        _, same = np.unique(np.round(self.vertices[ends] / grain).astype(np.int64), axis=0, return_inverse=True)
        spot = np.zeros(len(self.vertices), dtype=np.int64)
        spot[ends] = same.reshape(-1)
        _, edge, times = unique_pairs(np.sort(spot[border], axis=1))
        seam = np.unique(border[times[edge] > 1])  # both ends of two border edges in the same places
        first = np.full(int(spot.max()) + 1, len(self.vertices))
        np.minimum.at(first, spot[seam], seam)
        place[seam] = first[spot[seam]]
        return place

    @cached_property
    def graph(self) -> csr_matrix:
        """(n, n) lengths of the edges between places; seams are crossed freely."""
        edges = self.mesh.edges()
        place = self.seams
        joined = np.flatnonzero(place != np.arange(len(place)))
        pairs = np.concatenate([edges, np.stack([joined, place[joined]], axis=1)])
        length = np.linalg.norm(self.vertices[pairs[:, 0]] - self.vertices[pairs[:, 1]], axis=1)
        length = np.maximum(length, 1e-12 * max(float(np.ptp(self.vertices, axis=0).max()), 1e-300))
        count = len(self.vertices)
        return csr_matrix((length, (pairs[:, 0], pairs[:, 1])), shape=(count, count))

    @cached_property
    def part(self) -> Ints:
        """(n,) the connected part of the mesh that each point belongs to."""
        return connected_components(self.graph, directed=False)[1]

    @cached_property
    def piece(self) -> Ints:
        """(n,) the piece that each point belongs to by shared points alone, seams being borders."""
        edges = self.mesh.edges()
        count = len(self.vertices)
        joined = csr_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
        return connected_components(joined, directed=False)[1]

    def _outward(self, faces: Ints, area: Floats) -> Floats:
        """(m,) −1 for the faces of a closed part that is wound inside out, else 1."""
        part = self.part[faces[:, 0]]
        count = int(self.part.max()) + 1
        number = np.maximum(np.bincount(part, minlength=count), 1)
        middle = self.vertices[faces].mean(axis=1)
        centre = np.stack([np.bincount(part, middle[:, k], count) / number for k in range(3)], axis=1)
        volume = np.bincount(part, np.einsum("ij,ij->i", middle - centre[part], area), count) / 6.0
        spread = np.bincount(part, np.linalg.norm(area, axis=1), count)
        open_by = np.stack([np.bincount(part, area[:, k], count) for k in range(3)], axis=1)
        closed = np.linalg.norm(open_by, axis=1) < 0.2 * spread  # faces of a closed surface cancel
        inside_out = closed & (volume < -1e-3 * spread**1.5)
        return np.where(inside_out, -1.0, 1.0)[part]

    @cached_property
    def tree(self) -> TriangleTree:
        return TriangleTree(self.vertices, self.faces)

    @cached_property
    def normals(self) -> Floats:
        """(n, 3) unit normals of the places, faces counting by their area; zero where there is no face."""
        total = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(total, self.seams[self.faces[:, corner]], self.area)
        return unit(total)[self.seams]

    @cached_property
    def middles(self) -> cKDTree:
        return cKDTree(self.vertices[self.faces].mean(axis=1))

    def on(self, points: Floats) -> tuple[Floats, Floats, Floats, Ints]:
        """Nearest places of the surface: distance, place, smooth unit normal, triangle."""
        distance, place, triangle, share = self.tree.closest(points)
        normal = np.einsum("kc,kci->ki", share, self.normals[self.faces[triangle]])
        flat = unit(self.area[triangle])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return distance, place, np.where(length > 0.1, normal / np.where(length > 0, length, 1.0), flat), triangle

    def of_parts(self, triangles: Ints) -> Surface:
        """The parts of the mesh that some triangles belong to, as a surface of its own."""
        wanted = np.unique(self.part[self.faces[triangles, 0]])
        return self.only(np.isin(self.part[self.faces[:, 0]], wanted))

    def only(self, keep: NDArray[np.bool_]) -> Surface:
        """Some of the faces as a surface of its own, with the whole one's normals."""
        if keep.all():
            return self
        small = object.__new__(Surface)
        small.__dict__.update(
            mesh=self.mesh, vertices=self.vertices, faces=self.faces[keep], area=self.area[keep], size=self.size,
            seams=self.seams, part=self.part, piece=self.piece, graph=self.graph, normals=self.normals,
        )  # fmt: skip
        return small

    def roughness(self, places: Floats) -> Floats:
        """(k,) [rad] how far the faces around each place turn away from a smoothly bent sheet.

        Normals of the nearest triangles are fitted by a linear function of their place; what is left is roughness.
        """
        few = min(NEIGHBOURS, len(self.faces))
        _, near = self.middles.query(places, k=few)
        near = near.reshape(len(places), few)
        out = np.zeros(len(places))
        for k, which in enumerate(near):
            normal = unit(self.area[which])
            weight = np.sqrt(np.linalg.norm(self.area[which], axis=1))
            offset = self.middles.data[which] - places[k]
            table = np.concatenate([np.ones((few, 1)), offset / max(np.abs(offset).max(), 1e-300)], axis=1)
            fitted, *_ = np.linalg.lstsq(table * weight[:, None], normal * weight[:, None], rcond=1e-6)
            left = np.linalg.norm(normal - table @ fitted, axis=1)
            out[k] = float(np.sqrt((weight**2 * left**2).sum() / (weight**2).sum()))
        return out


def unit(vectors: Floats) -> Floats:
    """Vectors of length one; those without length stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 1e-300, length, 1.0)
