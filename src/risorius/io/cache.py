"""Any mesh in motion, by the ending of the name: USD point cache, glTF morph targets, OBJ of the last frame."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import written
from risorius.skin.binding import Placement

Floats = NDArray[np.float64]
TOLERANCE = 2e-4
"""[m] what a few morph targets may miss the motion by."""


def write_cache(
    path: str | PathLike[str],
    mesh: PolyMesh,
    points: NDArray,
    time: Floats,
    placement: Placement,
    tolerance: float | None = None,
) -> dict[str, float]:
    """Write a moving mesh, whole or not at all.

    Args:
        points: (f, n, 3) in the mesh's own unit and axes.
        time: (f,) [s].
        placement: mesh -> world, for formats that must know metres and axes.
        tolerance: what a glTF's shapes may miss the motion by, in the mesh's unit; TOLERANCE where not given.

    Returns: figures worth telling (`error_mm` of the glTF's shapes).
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending == ".obj":
        from risorius.io import mesh_obj

        mesh_obj.write(file, mesh.moved(points[-1].astype(np.float64)))
        return {}
    if ending == ".glb":
        from risorius.io.gltf import write_morphed_glb
        from risorius.io.gltf_build import TO_GLTF

        matrix = np.eye(4)
        matrix[:3, :3] = placement.scale * TO_GLTF @ placement.rotation
        matrix[:3, 3] = TO_GLTF @ placement.translation
        most = TOLERANCE / placement.scale if tolerance is None else tolerance
        few, count = write_morphed_glb(file, mesh, points, time, to_metres=matrix, tolerance=most)
        return {"error_mm": 1e3 * few.error * placement.scale, "shapes": count}
    if ending in (".usdc", ".usda", ".usd"):
        write_usd(file, mesh, points, time, placement)
        return {}
    raise InputError("expected a name ending in .usdc, .usda, .glb or .obj", file=file)


def write_usd(file: Path, mesh: PolyMesh, points: NDArray, time: Floats, placement: Placement) -> None:
    from pxr import Kind, Usd, UsdGeom, Vt

    rate = (len(time) - 1) / float(time[-1] - time[0]) if len(time) > 1 else 25.0
    rate = float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
    with written(file) as temporary:
        temporary.unlink()
        stage = Usd.Stage.CreateNew(str(temporary))
        UsdGeom.SetStageMetersPerUnit(stage, placement.scale)
        upward = placement.rotation[1]
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if abs(upward[2]) > abs(upward[1]) else UsdGeom.Tokens.y)
        stage.SetTimeCodesPerSecond(rate)
        stage.SetFramesPerSecond(rate)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(len(points) - 1)
        prim = UsdGeom.Mesh.Define(stage, "/Skin")
        stage.SetDefaultPrim(prim.GetPrim())
        Usd.ModelAPI(prim.GetPrim()).SetKind(Kind.Tokens.component)
        prim.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.counts)))
        prim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.indices)))
        prim.CreateSubdivisionSchemeAttr(mesh.scheme)
        place, extent = prim.CreatePointsAttr(), prim.CreateExtentAttr()
        for frame in range(-1, len(points)):
            now = np.ascontiguousarray(mesh.vertices if frame < 0 else points[frame], dtype=np.float32)
            when = () if frame < 0 else (frame,)
            place.Set(Vt.Vec3fArray.FromNumpy(now), *when)
            extent.Set(Vt.Vec3fArray.FromNumpy(np.stack([now.min(axis=0), now.max(axis=0)])), *when)
        stage.GetRootLayer().Save()
        del stage
