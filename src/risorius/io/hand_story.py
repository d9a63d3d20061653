"""hand.usdc: a hand in motion as OpenUSD, metres, Y up.

/Hand/Bones/<name>     Xform at the joint point with a mesh below: the simulated bones
/Hand/Target/<name>    the retargeted animation, same names
/Hand/Strands/<unit>   BasisCurves: the very B-spline of the simulation (cubic, bspline, pinned) with widths, coloured by
                       activation, which stands in `primvars:activation` too
/Hand/Skin             the user's mesh, lifted by the strands, with `primvars:prominence` [m]
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from risorius.core.errors import OutputError
from risorius.core.hand import Floats, HandRecord
from risorius.io.files import written
from risorius.io.layers import activation_colour, layer_colours
from risorius.io.story import continuous, vertex_normals
from risorius.maths.rotations import quaternions

Progress = Callable[[float], None]
TARGET_COLOUR = (0.55, 0.62, 0.70, 0.35)


def rate_of(record: HandRecord) -> float:
    """Frames a second, a whole number where it is one within a millionth."""
    if len(record.time) < 2:
        return 60.0
    rate = (len(record.time) - 1) / float(record.time[-1] - record.time[0])
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate


def write_hand(path: str | PathLike[str], record: HandRecord, progress: Progress | None = None) -> None:
    """Write the file, whole or not at all."""
    from pxr import Kind, Tf, Usd, UsdGeom

    tell = progress or (lambda _part: None)
    rate = rate_of(record)
    with written(path) as temporary:
        temporary.unlink()
        stage = Usd.Stage.CreateNew(str(temporary))
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
        stage.SetTimeCodesPerSecond(rate)
        stage.SetFramesPerSecond(rate)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(len(record.time) - 1)
        stage.GetRootLayer().documentation = "A hand by Risorius: bones, tendons and muscles in motion. Metres, y up."
        root = UsdGeom.Xform.Define(stage, "/Hand").GetPrim()
        stage.SetDefaultPrim(root)
        Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
        bone = layer_colours()["Bones"]
        bones(stage, "/Hand/Bones", record, record.rotation, record.position, bone)
        tell(0.3)
        bones(stage, "/Hand/Target", record, record.target_rotation, record.target_position, TARGET_COLOUR)
        UsdGeom.Imageable(stage.GetPrimAtPath("/Hand/Target")).CreatePurposeAttr(UsdGeom.Tokens.guide)
        tell(0.6)
        strands(stage, record)
        tell(0.8)
        if record.skin is not None:
            skin(stage, record)
        try:
            saved = stage.GetRootLayer().Save()
        except Tf.ErrorException:
            saved = False
        if not saved:
            raise OutputError(f"{path}: could not be written: the disk may be full")
        del stage
    tell(1.0)


def bones(stage: Any, top: str, record: HandRecord, rotation: Floats, position: Floats, colour: tuple) -> None:
    from pxr import Gf, Kind, Usd, UsdGeom, Vt

    UsdGeom.Xform.Define(stage, top)
    turned = continuous(quaternions(rotation))
    place = np.einsum("fbij,bj->fbi", rotation, record.pivot) + position
    for k, name in enumerate(record.names):
        xform = UsdGeom.Xform.Define(stage, f"{top}/{name}")
        Usd.ModelAPI(xform.GetPrim()).SetKind(Kind.Tokens.subcomponent)
        shift = xform.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
        spin = xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
        shift.Set(Gf.Vec3d(*record.pivot[k].tolist()))
        spin.Set(Gf.Quatd(1.0))
        for frame, (where, turn) in enumerate(zip(place[:, k].tolist(), turned[:, k].tolist())):
            shift.Set(Gf.Vec3d(*where), frame)
            spin.Set(Gf.Quatd(*turn), frame)
        bone = record.meshes[k]
        points = np.ascontiguousarray(np.asarray(bone.vertices) - record.pivot[k], dtype=np.float32)
        mesh = UsdGeom.Mesh.Define(stage, f"{top}/{name}/mesh")
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
        mesh.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack([points.min(axis=0), points.max(axis=0)])))
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(bone.faces), 3, np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(bone.faces, np.int32).ravel()))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray.FromNumpy(np.array([colour[:3]], np.float32)))
        mesh.CreateDisplayOpacityAttr(Vt.FloatArray.FromNumpy(np.array([colour[3]], np.float32)))
        mesh.CreateNormalsAttr(
            Vt.Vec3fArray.FromNumpy(
                vertex_normals(points.astype(np.float64), np.asarray(bone.faces)).astype(np.float32)
            )
        )
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)


def strands(stage: Any, record: HandRecord) -> None:
    from pxr import Sdf, UsdGeom, Vt

    UsdGeom.Scope.Define(stage, "/Hand/Strands")
    for k, unit in enumerate(record.units):
        own = record.strand(k)
        points = record.points[:, own]
        curves = UsdGeom.BasisCurves.Define(stage, f"/Hand/Strands/{unit}")
        curves.CreateTypeAttr(UsdGeom.Tokens.cubic)
        curves.CreateBasisAttr(UsdGeom.Tokens.bspline)
        curves.CreateWrapAttr(UsdGeom.Tokens.pinned)
        curves.CreateCurveVertexCountsAttr(Vt.IntArray([points.shape[1]]))
        widths = 2 * record.radius[own]
        curves.CreateWidthsAttr(Vt.FloatArray.FromNumpy(widths.astype(np.float32)))
        curves.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        colour = curves.CreateDisplayColorPrimvar(UsdGeom.Tokens.constant)
        api = UsdGeom.PrimvarsAPI(curves)
        activation = api.CreatePrimvar("activation", Sdf.ValueTypeNames.Float, UsdGeom.Tokens.constant)
        curves.GetPrim().CreateAttribute("risorius:group", Sdf.ValueTypeNames.Token, True).Set(record.groups[k])
        place, extent = curves.CreatePointsAttr(), curves.CreateExtentAttr()
        tints = activation_colour(record.activation[:, k]).astype(np.float32)
        wide = np.float32(widths.max() / 2)
        for frame in range(-1, len(points)):
            when = () if frame < 0 else (frame,)
            now = np.ascontiguousarray(points[max(frame, 0)], dtype=np.float32)
            place.Set(Vt.Vec3fArray.FromNumpy(now), *when)
            box = np.stack([now.min(axis=0) - wide, now.max(axis=0) + wide])
            extent.Set(Vt.Vec3fArray.FromNumpy(box), *when)
            colour.Set(Vt.Vec3fArray.FromNumpy(tints[max(frame, 0)][None]), *when)
            activation.Set(float(record.activation[max(frame, 0), k]), *when)


def skin(stage: Any, record: HandRecord) -> None:
    from pxr import Sdf, UsdGeom, Vt

    assert record.skin is not None
    given, colour = record.skin.mesh, layer_colours()["Skin"]
    mesh = UsdGeom.Mesh.Define(stage, "/Hand/Skin")
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(given.counts)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(given.indices)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDisplayColorAttr(Vt.Vec3fArray.FromNumpy(np.array([colour[:3]], np.float32)))
    place, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
    prominence = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "prominence", Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.vertex
    )
    for frame in range(-1, len(record.time)):
        when = () if frame < 0 else (frame,)
        now = np.ascontiguousarray(record.skin.points[max(frame, 0)], dtype=np.float32)
        place.Set(Vt.Vec3fArray.FromNumpy(now), *when)
        extent.Set(Vt.Vec3fArray.FromNumpy(np.stack([now.min(axis=0), now.max(axis=0)])), *when)
        prominence.Set(Vt.FloatArray.FromNumpy(np.ascontiguousarray(record.skin.prominence[max(frame, 0)])), *when)
