"""How the cavity surface turns about each of its points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from risorius.core.torso import Surface

Floats = NDArray[np.float64]


class PointFrames:
    """Local frames of surface points from their neighbours.

    At rest each point has two tangent vectors, combinations t = Σ a_k (x_k − x_i) of its edges by least squares; the
    same combinations of the moved edges, made orthonormal, give the frame F, and R − I = (F − F⁰) F⁰ᵀ. Under a rigid
    motion of all points R is that motion's rotation.
    """

    def __init__(self, surface: Surface) -> None:
        points = np.asarray(surface.points)
        faces = np.concatenate([surface.abdomen, surface.trunk])
        count = len(points)
        neighbours: list[set[int]] = [set() for _ in range(count)]
        for a, b, c in faces.tolist():
            neighbours[a].update((b, c))
            neighbours[b].update((a, c))
            neighbours[c].update((a, b))
        corners = points[faces]
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal = np.zeros((count, 3))
        for corner in range(3):
            np.add.at(normal, faces[:, corner], areas)
        rows, columns, first, second = [], [], [], []
        self.lonely = np.zeros(count, dtype=bool)
        for i, around in enumerate(neighbours):
            others = np.array(sorted(around), dtype=np.int64)
            axes = tangents(normal[i])
            plane = (points[others] - points[i]) @ axes.T if len(others) else np.zeros((0, 2))
            if len(others) < 2 or np.linalg.matrix_rank(plane, tol=1e-9) < 2:
                self.lonely[i] = True
                continue
            weights = np.linalg.pinv(plane.T)  # (k, 2): plane.T @ weights = identity
            rows += [i] * (len(others) + 1)
            columns += [*others.tolist(), i]
            first += [*weights[:, 0].tolist(), -float(weights[:, 0].sum())]
            second += [*weights[:, 1].tolist(), -float(weights[:, 1].sum())]
        shape = (count, count)
        self.first = csr_matrix((first, (rows, columns)), shape=shape)
        self.second = csr_matrix((second, (rows, columns)), shape=shape)
        self.rest = self.frames(points[None])[0]

    def frames(self, points: Floats) -> Floats:
        """Orthonormal frames (f, n, 3, 3) of points (f, n, 3); columns are two tangents and the normal."""
        count = points.shape[1]
        flat = np.ascontiguousarray(points.transpose(1, 0, 2)).reshape(count, -1)
        u, v = (
            unit((operator @ flat).reshape(count, len(points), 3).transpose(1, 0, 2))
            for operator in (self.first, self.second)
        )
        inside, across = unit(u + v), unit(u - v)  # orthogonal, and fair to both tangents
        return np.stack([inside, across, np.cross(inside, across)], axis=-1)

    def turns(self, points: Floats) -> Floats:
        """R − I (f, n, 3, 3) of each point in each frame; exactly zero where nothing moved."""
        change = self.frames(points) - self.rest
        found = change @ self.rest.transpose(0, 2, 1)
        found[:, self.lonely] = 0.0
        return found


def unit(vectors: Floats) -> Floats:
    """Vectors scaled to length one; those of no length stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 1e-12, length, 1.0)


def tangents(normal: Floats) -> Floats:
    """(2, 3) two orthonormal vectors across a normal."""
    axis = unit(normal)
    helper = np.zeros(3)
    helper[np.abs(axis).argmin()] = 1.0
    first = unit(np.cross(axis, helper))
    return np.stack([first, np.cross(axis, first)])
