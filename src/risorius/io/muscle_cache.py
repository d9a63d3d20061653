"""A skin in motion in its mesh's own unit and axes: USD point cache, glTF morph targets, OBJ of the last frame."""

from __future__ import annotations

from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.mesh import PolyMesh
from risorius.io.cache import write_cache
from risorius.io.gltf_build import TO_GLTF
from risorius.skin.binding import Placement

Floats = NDArray[np.float64]
FINE: Final = 1e-5
"""Largest error of a glTF's shapes, in parts of the mesh's extent, where none is stated."""


def placement(mesh: PolyMesh) -> Placement:
    """The mesh stands as its file says: its own axes, up turned to glTF's y where it is z."""
    rotation = TO_GLTF.T.copy()
    if mesh.up == "z":
        rotation = TO_GLTF.T @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return Placement(scale=mesh.unit or 1.0, rotation=rotation)


def write_moving(
    path: str | PathLike[str], mesh: PolyMesh, points: NDArray, time: Floats, tolerance: float | None = None
) -> dict[str, Any]:
    """Write a moving mesh, whole or not at all.

    Args:
        points: (f, n, 3) in the mesh's unit; time: (f,) [s].
        tolerance: largest error of a glTF's shapes in the mesh's unit.

    Returns: figures: `shapes` and `error` (mesh's unit) of a glTF.
    """
    extent = float(np.ptp(mesh.vertices, axis=0).max())
    return write_cache(path, mesh, points, time, placement(mesh), FINE * extent if tolerance is None else tolerance)
