"""A polygon mesh as a user gave it: any polygons, points in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def no_faces() -> Ints:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class PolyMesh:
    """Points and polygons of any size; number and order of points are the file's.

    Args:
        vertices: (n, 3) in the file's own unit and axes.
        indices: (k,) the corners of all faces, one face after the other.
        offsets: (m + 1,) face f has the corners `indices[offsets[f]:offsets[f + 1]]`.
        groups: names of the parts, in the order of their first appearance.
        face_group: (m,) index into `groups`, -1 for a face outside all groups.
        unit: metres in one unit of length where the file says so (glTF, USD), else None.
        up: the axis that points up where the file says so ("x", "y", "z"), else None.
        scheme: how hosts subdivide the polygons, of which these points are the control points: USD's "none",
            "catmullClark", "loop" or "bilinear".
    """

    vertices: Floats
    indices: Ints
    offsets: Ints
    groups: tuple[str, ...] = ()
    face_group: Ints = field(default_factory=no_faces)
    unit: float | None = None
    up: str | None = None
    scheme: str = "none"

    def __post_init__(self) -> None:
        if len(self.face_group) == 0 and len(self.offsets) > 1:
            object.__setattr__(self, "face_group", np.full(len(self.offsets) - 1, -1, dtype=np.int32))
        for array in (self.vertices, self.indices, self.offsets, self.face_group):
            array.setflags(write=False)

    @property
    def face_count(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """(m,) corners of each face."""
        return np.diff(self.offsets).astype(np.int32)

    def face(self, number: int) -> Ints:
        """Corners of one face."""
        return self.indices[self.offsets[number] : self.offsets[number + 1]]

    def triangles(self) -> tuple[Ints, Ints]:
        """Every face as a fan about its first corner: triangles (t, 3) and the face (t,) that each came from."""
        counts = self.counts
        number = np.maximum(counts - 2, 0)
        face = np.repeat(np.arange(len(counts), dtype=np.int32), number)
        first = np.repeat(np.cumsum(number) - number, number)
        step = np.arange(len(face)) - first
        start = self.offsets[face]
        corners = np.stack([start, start + step + 1, start + step + 2], axis=1)
        return self.indices[corners].astype(np.int32).reshape(-1, 3), face

    def edges(self) -> Ints:
        """(e, 2) each undirected edge of the polygons once, lower index first; degenerate edges are left out."""
        follower = np.arange(1, len(self.indices) + 1)
        filled = self.counts > 0
        follower[self.offsets[1:][filled] - 1] = self.offsets[:-1][filled]
        pairs = np.sort(np.stack([self.indices, self.indices[follower]], axis=1), axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return unique_pairs(pairs)[0].astype(np.int32)

    def moved(self, vertices: Floats) -> PolyMesh:
        """The same polygons with other points (n, 3)."""
        if vertices.shape != self.vertices.shape:
            raise ValueError(f"expected points of shape {self.vertices.shape}, got {vertices.shape}")
        points = np.ascontiguousarray(vertices, dtype=np.float64)
        return PolyMesh(points, self.indices, self.offsets, self.groups, self.face_group, self.unit, self.up)


def unique_pairs(pairs: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The different rows of (k, 2) numbers from zero up, in order; which of them each row is (k,), and their counts.

    One number a pair is many times faster to sort than two.
    """
    wide = int(pairs.max(initial=0)) + 1
    keys = pairs[:, 0].astype(np.int64) * wide + pairs[:, 1]
    found, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.stack(np.divmod(found, wide), axis=1), number.reshape(-1), counts


def of_triangles(vertices: Floats, faces: NDArray[np.integer]) -> PolyMesh:
    """A polygon mesh from triangles (m, 3) (or quads (m, 4))."""
    faces = np.asarray(faces, dtype=np.int32)
    offsets = np.arange(len(faces) + 1, dtype=np.int32) * (faces.shape[1] if faces.ndim == 2 else 3)
    points = np.array(vertices, dtype=np.float64).reshape(-1, 3)
    return PolyMesh(points, np.ascontiguousarray(faces.ravel()), offsets.astype(np.int32))
