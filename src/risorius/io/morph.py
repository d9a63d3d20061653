"""A performance as morph targets and their weights over time: glTF targets, USD blend shapes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import written
from risorius.io.muscle_cache import placement
from risorius.maths.lowrank import LowRank

Floats = NDArray[np.float64]


def write_morphs(path: str | PathLike[str], mesh: PolyMesh, few: LowRank, time: Floats) -> None:
    """Write the mesh with its targets and an animation of their weights, whole or not at all.

    Args:
        few: shapes and amounts; time: (f,) [s].
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending == ".glb":
        from risorius.io.gltf import write_few_shapes
        from risorius.io.gltf_build import TO_GLTF

        where = placement(mesh)
        matrix = np.eye(4)
        matrix[:3, :3] = where.scale * TO_GLTF @ where.rotation
        write_few_shapes(file, mesh, few, time, to_metres=matrix)
    elif ending in (".usd", ".usda", ".usdc"):
        write_usd(file, mesh, few, time)
    else:
        raise InputError("expected a name ending in .glb, .usdc or .usda", file=file)


def scaled(few: LowRank) -> tuple[Floats, Floats]:
    """Shapes (k, n, 3) at their greatest and weights (f, k) in −1…1."""
    scale = np.abs(few.amounts).max(axis=0) if len(few.amounts) else np.ones(len(few.shapes))
    scale = np.where(scale > 0, scale, 1.0)
    return few.shapes * scale[:, None, None], few.amounts / scale


def write_usd(file: Path, mesh: PolyMesh, few: LowRank, time: Floats) -> None:
    """/Skin (SkelRoot) with /Skin/Mesh, its blend shapes, and /Skin/Skeleton with the animation of the weights."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

    shapes, weights = scaled(few)
    names = [f"shape_{k:02d}" for k in range(len(shapes))]
    rate = (len(time) - 1) / float(time[-1] - time[0]) if len(time) > 1 else 25.0
    with written(file) as temporary:
        temporary.unlink()
        stage = Usd.Stage.CreateNew(str(temporary))
        UsdGeom.SetStageMetersPerUnit(stage, mesh.unit or 1.0)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if mesh.up == "z" else UsdGeom.Tokens.y)
        stage.SetTimeCodesPerSecond(rate)
        stage.SetFramesPerSecond(rate)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(max(len(time) - 1, 0))
        root = UsdSkel.Root.Define(stage, "/Skin")
        stage.SetDefaultPrim(root.GetPrim())
        points = np.ascontiguousarray(mesh.vertices, dtype=np.float32)
        prim = UsdGeom.Mesh.Define(stage, "/Skin/Mesh")
        prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
        prim.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.counts)))
        prim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.indices)))
        prim.CreateSubdivisionSchemeAttr(mesh.scheme)
        prim.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack([points.min(axis=0), points.max(axis=0)])))
        skeleton = UsdSkel.Skeleton.Define(stage, "/Skin/Skeleton")
        one = Vt.Matrix4dArray(1, Gf.Matrix4d(1.0))
        skeleton.CreateJointsAttr(["root"])
        skeleton.CreateBindTransformsAttr(one)
        skeleton.CreateRestTransformsAttr(one)
        motion = UsdSkel.Animation.Define(stage, "/Skin/Skeleton/Motion")
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([motion.GetPath()])
        binding = UsdSkel.BindingAPI.Apply(prim.GetPrim())
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
        if names:
            targets = [blend_shape(stage, f"/Skin/Mesh/{name}", shape) for name, shape in zip(names, shapes)]
            binding.CreateBlendShapesAttr(names)
            binding.CreateBlendShapeTargetsRel().SetTargets(targets)
            motion.CreateBlendShapesAttr(names)
            attribute = motion.CreateBlendShapeWeightsAttr()
            for frame, row in enumerate(weights):
                attribute.Set(Vt.FloatArray.FromNumpy(np.ascontiguousarray(row, dtype=np.float32)), frame)
        stage.GetRootLayer().Save()
        del stage


def blend_shape(stage: Any, place: str, shape: Floats) -> Any:
    """One target; points that it does not move are left out."""
    from pxr import UsdSkel, Vt

    moved = np.flatnonzero(np.abs(shape).max(axis=1) > 0)
    target = UsdSkel.BlendShape.Define(stage, place)
    target.CreateOffsetsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(shape[moved], dtype=np.float32)))
    target.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(moved, dtype=np.int32)))
    return target.GetPath()
