"""Meshes in USD files: all mesh prims of the stage, and the control nets of all NURBS patches, in world space at the
default time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import read_bytes, written


def read(file: Path) -> PolyMesh:
    """Read every mesh prim and every NURBS patch, one group each; unit and up axis are the stage's."""
    from pxr import Tf, Usd, UsdGeom

    if not read_bytes(file):
        raise InputError("expected a USD stage, got nothing", file=file)
    try:
        stage = Usd.Stage.Open(str(file))
    except Tf.ErrorException as error:
        reason = str(error).split(" -- ")[-1].split("'")[-1] if " -- " in str(error) else "not a USD stage"
        raise InputError(f"expected a USD stage: {reason[:120]}", file=file) from None
    cache = UsdGeom.XformCache()
    vertices, indices, counts, groups = [np.zeros((0, 3))], [], [], []
    names: list[str] = []
    schemes: set[str] = set()
    total = 0
    for prim in stage.Traverse():
        place = str(prim.GetPath())
        if prim.IsA(UsdGeom.NurbsPatch):
            patch = UsdGeom.NurbsPatch(prim)
            points = np.array(patch.GetPointsAttr().Get() or [], dtype=np.float64).reshape(-1, 3)
            wide, high = (
                attribute.Get() or 0 for attribute in (patch.GetUVertexCountAttr(), patch.GetVVertexCountAttr())
            )
            if wide < 2 or high < 2 or wide * high != len(points):
                raise InputError(f"expected {wide} × {high} control points, got {len(points)}", file=file, place=place)
            count, index = control_net(wide, high)
        elif prim.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(prim)
            points = np.array(mesh.GetPointsAttr().Get() or [], dtype=np.float64).reshape(-1, 3)
            count = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], dtype=np.int32)
            index = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], dtype=np.int32)
            schemes.add(str(mesh.GetSubdivisionSchemeAttr().Get()))
        else:
            continue
        if len(count) and (count.min() < 3 or count.sum() != len(index)):
            raise InputError(f"expected faces of three corners or more, {count.sum()} corners in all, got "
                             f"{len(index)}", file=file, place=place)  # fmt: skip
        if len(index) and not (index.min() >= 0 and index.max() < len(points)):
            raise InputError(f"expected corners among the {len(points)} points", file=file, place=place)
        matrix = np.array(cache.GetLocalToWorldTransform(prim))
        vertices.append(points @ matrix[:3, :3] + matrix[3, :3])
        indices.append(index + total)
        counts.append(count)
        groups.append(np.full(len(count), len(names), dtype=np.int32))
        names.append(prim.GetName())
        total += len(points)
    if not names:
        raise InputError("expected at least one mesh or NURBS patch", file=file)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
    return PolyMesh(
        np.concatenate(vertices),
        np.concatenate(indices).astype(np.int32),
        offsets,
        tuple(names),
        np.concatenate(groups),
        float(UsdGeom.GetStageMetersPerUnit(stage)),
        str(UsdGeom.GetStageUpAxis(stage)).lower(),
        schemes.pop() if len(schemes) == 1 else "none",
    )


def control_net(wide: int, high: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Counts and corners of the quadrilaterals between a NURBS patch's control points, u running fastest."""
    k = np.arange(wide * high, dtype=np.int32).reshape(high, wide)
    quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1)
    return np.full((wide - 1) * (high - 1), 4, dtype=np.int32), quads.reshape(-1)


def write(file: Path, mesh: PolyMesh) -> None:
    """Write one mesh prim /Mesh; points are single precision, as USD keeps them."""
    from pxr import Kind, Usd, UsdGeom, Vt

    with written(file) as temporary:
        temporary.unlink()
        stage = Usd.Stage.CreateNew(str(temporary))
        UsdGeom.SetStageMetersPerUnit(stage, mesh.unit or 1.0)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if mesh.up == "z" else UsdGeom.Tokens.y)
        prim = UsdGeom.Mesh.Define(stage, "/Mesh")
        stage.SetDefaultPrim(prim.GetPrim())
        Usd.ModelAPI(prim.GetPrim()).SetKind(Kind.Tokens.component)
        points = np.ascontiguousarray(mesh.vertices, dtype=np.float32)
        prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
        prim.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.counts)))
        prim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.indices)))
        prim.CreateSubdivisionSchemeAttr(mesh.scheme)
        prim.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack([points.min(axis=0), points.max(axis=0)])))
        stage.GetRootLayer().Save()
        del stage
