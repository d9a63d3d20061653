"""Alembic: bones as transforms with meshes, cavity, diaphragm, chest wall and skin as point caches; metres, Y up.

Needs the optional package alembic3d (`pip install "risorius[alembic]"`).
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import written
from risorius.io.layers import Layers, rate_of
from risorius.maths.rotations import matrices


def write_abc(path: str | PathLike[str], torso: Torso, record: Record, skin: NDArray) -> None:
    """Write an Alembic archive, whole or not at all; skin (f, n, 3) [m]."""
    try:
        import imath
        from alembic3d import Abc, AbcCoreAbstract
    except ImportError:
        raise InputError('Alembic needs an optional package: pip install "risorius[alembic]" (alembic3d)') from None
    with written(path) as temporary:
        temporary.unlink()
        archive = Abc.OArchive(str(temporary))
        sampling = AbcCoreAbstract.TimeSampling(1.0 / rate_of(record), float(record.time[0]))
        Archive(archive, archive.addTimeSampling(sampling), imath).write(torso, record, skin)
        del archive


class Archive:
    """Fills an archive."""

    def __init__(self, archive: Any, sampling: int, imath: Any) -> None:
        self.top, self.sampling, self.imath = archive.getTop(), sampling, imath

    def write(self, torso: Torso, record: Record, skin: NDArray) -> None:
        from alembic3d import AbcGeom

        root = AbcGeom.OXform(self.top, "Torso")
        bones = AbcGeom.OXform(root, "Bones")
        bodies = torso.bodies
        pivot = np.asarray(bodies.joint_point)
        spin = matrices(record.rotation)
        place = np.einsum("fbij,bj->fbi", spin, pivot) + record.position
        for k, name in enumerate(bodies.names):
            xform = AbcGeom.OXform(bones, name, self.sampling)
            for frame in range(len(record.time)):
                sample = AbcGeom.XformSample()
                matrix = np.eye(4)
                matrix[:3, :3] = spin[frame, k].T  # row vectors
                matrix[3, :3] = place[frame, k]
                sample.setMatrix(self.imath.M44d(*[tuple(row) for row in matrix.tolist()]))
                xform.getSchema().set(sample)
            mesh = bodies.meshes[k]
            self.mesh(xform, name, (np.asarray(mesh.vertices) - pivot[k])[None], np.asarray(mesh.faces))
        layers = Layers(torso)
        for name, faces in (
            ("Cavity", np.asarray(torso.surface.abdomen)),
            ("Diaphragm", layers.diaphragm),
            ("ChestWall", layers.chest),
        ):
            used, corners = np.unique(faces, return_inverse=True)
            self.mesh(root, name, record.points[:, used], corners.reshape(-1, 3))
        self.mesh(root, "Skin", skin, np.asarray(torso.skin.faces))

    def mesh(self, parent: Any, name: str, points: NDArray, faces: NDArray) -> None:
        """A triangle mesh with a sample a frame, or one where it stands still."""
        from alembic3d import AbcGeom

        shape = AbcGeom.OPolyMesh(parent, name, self.sampling if len(points) > 1 else 0)
        corners = np.ascontiguousarray(faces[:, ::-1], dtype=np.int32)  # Alembic turns clockwise
        index = self.imath.IntArrayFromBuffer(corners.ravel())
        counts = self.imath.IntArrayFromBuffer(np.full(len(faces), 3, dtype=np.int32))
        for frame, now in enumerate(points):
            place = self.imath.V3fArrayFromBuffer(np.ascontiguousarray(now, dtype=np.float32))
            sample = (
                AbcGeom.OPolyMeshSchemaSample(place, index, counts)
                if frame == 0
                else AbcGeom.OPolyMeshSchemaSample(place)
            )
            shape.getSchema().set(sample)
