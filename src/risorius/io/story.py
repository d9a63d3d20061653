"""The story: a run as an OpenUSD crate file that any USD host opens, and that alone is enough to go on from.

/Torso/Bones/<name>       Xform at the joint point with a mesh below; translate and orient by frame
/Torso/Cavity             the closed abdominal cavity, points by frame
/Torso/Diaphragm          its upper wall alone
/Torso/ChestWall          the closed chest: inside of the rib cage, inlet, and the diaphragm as its floor
/Torso/Muscles/<group>    straight elements and fibre chains as linear curves, coloured by activation
/Torso/Skin               the generated skin, points by frame
/Torso/Ball               a ball that was let go, where there is one
/Torso/Rest               the whole torso at rest in double precision, attributes `risorius:…`
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError, OutputError
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import readable, written
from risorius.io.layers import Layers, activation_colour, bone_colour, layer_colours, rate_of
from risorius.io.rest import flattened, restored, shaped
from risorius.maths.rotations import matrices, quaternions

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
PREFIX: Final = "risorius:"


def write_story(
    path: str | PathLike[str],
    torso: Torso,
    record: Record,
    skin: NDArray | None = None,
    *,
    tolerance: float = 0.0,
    progress: Progress | None = None,
) -> None:
    """Write a story, whole or not at all.

    Args:
        skin: (f, n, 3) [m] points of the generated skin in each frame; bound and computed here where not given.
        tolerance: [m] by which skin and muscles may miss a frame; above 0 they get samples only where a straight line
            between samples, which is what hosts draw, would miss by more. Bones and cavities keep every frame.
        progress: called with the part that is done, 0 to 1.
    """
    from pxr import Tf, Usd, UsdGeom

    if skin is None:
        skin = skin_motion(torso, record)
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
        stage.GetRootLayer().documentation = "A story by Risorius: a torso in motion. Metres, x forward, y up."
        Writer(stage, torso, record, skin, tolerance, progress or (lambda _: None)).write()
        try:
            saved = stage.GetRootLayer().Save()
        except Tf.ErrorException:
            saved = False
        if not saved:
            raise OutputError(f"{path}: could not be written: the disk may be full")
        del stage


def skin_motion(torso: Torso, record: Record) -> NDArray[np.float32]:
    """(f, n, 3) [m] the generated skin, by the default binding."""
    from risorius.skin.binding import apply
    from risorius.skin.weights import bind, skin_of

    mesh = skin_of(torso)
    return apply(bind(mesh, torso), mesh.vertices, torso, record)


class Writer:
    """Fills a stage."""

    def __init__(
        self, stage: Any, torso: Torso, record: Record, skin: NDArray, tolerance: float, progress: Progress
    ) -> None:
        self.stage, self.torso, self.record, self.skin, self.progress = stage, torso, record, skin, progress
        self.tolerance = tolerance
        self.layers = Layers(torso)

    def write(self) -> None:
        from pxr import Kind, Usd, UsdGeom

        root = UsdGeom.Xform.Define(self.stage, "/Torso").GetPrim()
        self.stage.SetDefaultPrim(root)
        Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
        steps = (self.bones, self.cavities, self.muscles, self.the_skin, self.ball, self.rest)
        for done, step in enumerate(steps):
            step()
            self.progress((done + 1) / len(steps))

    def scope(self, name: str, kind: str = "Scope") -> str:
        path = f"/Torso/{name}"
        self.stage.DefinePrim(path, kind)
        return path

    def bones(self) -> None:
        from pxr import Gf, Kind, Usd, UsdGeom

        bodies = self.torso.bodies
        top = self.scope("Bones", "Xform")
        turned = continuous(self.record.rotation)
        pivot = np.asarray(bodies.joint_point)
        moved = np.einsum("fbij,bj->fbi", matrices(turned), pivot) + self.record.position
        for k, name in enumerate(bodies.names):
            xform = UsdGeom.Xform.Define(self.stage, f"{top}/{name}")
            Usd.ModelAPI(xform.GetPrim()).SetKind(Kind.Tokens.subcomponent)
            shift = xform.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
            spin = xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
            shift.Set(Gf.Vec3d(*pivot[k].tolist()))
            spin.Set(Gf.Quatd(1.0))
            places, turns = moved[:, k].tolist(), turned[:, k].tolist()
            for frame, (place, turn) in enumerate(zip(places, turns)):
                shift.Set(Gf.Vec3d(*place), frame)
                spin.Set(Gf.Quatd(*turn), frame)
            bone = bodies.meshes[k]
            self.mesh(f"{top}/{name}/{name}", bone.vertices - pivot[k], bone.faces, bone_colour(name), smooth=True)

    def cavities(self) -> None:
        layers, colours = self.layers, layer_colours()
        for name, faces in (
            ("Cavity", np.asarray(self.torso.surface.abdomen)),
            ("Diaphragm", layers.diaphragm),
            ("ChestWall", layers.chest),
        ):
            used = layers.loose(faces) if name == "Cavity" else np.unique(faces)
            number = np.full(len(self.torso.surface.points), -1, dtype=np.int32)
            number[used] = np.arange(len(used))
            rest = np.asarray(self.torso.surface.points)[used]
            prim = self.mesh(f"/Torso/{name}", rest, number[faces], colours[name], self.record.points[:, used])
            self.custom(prim.GetPrim(), "surface_index", used.astype(np.int32))

    def muscles(self) -> None:
        from pxr import Sdf, UsdGeom, Vt

        self.scope("Muscles")
        for number, group in enumerate(self.torso.groups):
            strand = self.layers.strands(number)
            if len(strand.counts) == 0:
                continue
            curves = UsdGeom.BasisCurves.Define(self.stage, f"/Torso/Muscles/{group}")
            curves.CreateTypeAttr(UsdGeom.Tokens.linear)
            curves.CreateWrapAttr(UsdGeom.Tokens.nonperiodic)
            curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(strand.counts))
            curves.CreateWidthsAttr(Vt.FloatArray.FromNumpy(strand.widths.astype(np.float32)))
            curves.SetWidthsInterpolation(UsdGeom.Tokens.uniform)
            still = strand.points(self.torso, None)
            moving = strand.points(self.torso, self.record)
            self.animated(curves, still, moving, float(strand.widths.max()), self.tolerance)
            colour = UsdGeom.PrimvarsAPI(curves).CreatePrimvar(
                "displayColor", Sdf.ValueTypeNames.Color3fArray, UsdGeom.Tokens.constant
            )
            activation = self.record.signals.get(f"act_{group}")
            colour.Set(Vt.Vec3fArray.FromNumpy(activation_colour(np.zeros(1)).astype(np.float32)))
            if activation is not None:
                for frame, value in enumerate(activation_colour(activation).astype(np.float32)):
                    colour.Set(Vt.Vec3fArray.FromNumpy(value[None]), frame)

    def the_skin(self) -> None:
        skin = self.torso.skin
        colour = layer_colours()["Skin"]
        self.mesh("/Torso/Skin", skin.vertices, skin.faces, colour, self.skin, tolerance=self.tolerance)

    def ball(self) -> None:
        from pxr import Gf, UsdGeom, Vt

        if self.record.ball is None:
            return
        sphere = UsdGeom.Sphere.Define(self.stage, "/Torso/Ball")
        radius = float(self.record.ball[:, 3].max())
        sphere.CreateRadiusAttr(radius)
        sphere.CreateExtentAttr(Vt.Vec3fArray([Gf.Vec3f(-radius), Gf.Vec3f(radius)]))
        sphere.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*layer_colours()["Ball"][:3])]))
        place, seen = sphere.AddTranslateOp(), sphere.CreateVisibilityAttr()
        for frame, (x, y, z, size) in enumerate(self.record.ball.tolist()):
            place.Set(Gf.Vec3d(x, y, z), frame)
            seen.Set(UsdGeom.Tokens.inherited if size > 0.0 else UsdGeom.Tokens.invisible, frame)

    def rest(self) -> None:
        prim = self.stage.GetPrimAtPath(self.scope("Rest"))
        for name, value in flattened(self.torso).items():
            self.custom(prim, name, value)
        self.custom(prim, "time", np.asarray(self.record.time, dtype=np.float64))

    def custom(self, prim: Any, name: str, value: Any) -> None:
        """A custom attribute that keeps an array, its type and its shape."""
        from pxr import Sdf, Vt

        kinds = Sdf.ValueTypeNames
        if isinstance(value, list):
            attribute = prim.CreateAttribute(PREFIX + name, kinds.StringArray, custom=True)
            attribute.Set(Vt.StringArray(value))
            return
        whole = value.dtype.kind in "iu"
        attribute = prim.CreateAttribute(PREFIX + name, kinds.IntArray if whole else kinds.DoubleArray, custom=True)
        flat = np.ascontiguousarray(value, dtype=np.int32 if whole else np.float64).reshape(-1)
        attribute.Set((Vt.IntArray if whole else Vt.DoubleArray).FromNumpy(flat))
        attribute.SetCustomDataByKey("shape", Vt.IntArray([int(size) for size in value.shape]))

    def mesh(
        self, path: str, rest: Floats, faces: NDArray, colour: tuple[float, ...], points: NDArray | None = None,
        *, smooth: bool = False, tolerance: float = 0.0,
    ) -> Any:  # fmt: skip
        from pxr import UsdGeom, Vt

        mesh = UsdGeom.Mesh.Define(self.stage, path)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(faces), 3))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(faces, dtype=np.int32).ravel()))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray.FromNumpy(np.array([colour[:3]], dtype=np.float32)))
        mesh.CreateDisplayOpacityAttr(Vt.FloatArray.FromNumpy(np.array([colour[3]], dtype=np.float32)))
        if smooth:
            mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(vertex_normals(rest, faces).astype(np.float32)))
            mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        self.animated(mesh, rest, points, 0.0, tolerance)
        return mesh

    def animated(self, shape: Any, rest: Floats, points: NDArray | None, width: float, tolerance: float) -> None:
        """Points and extent at rest, and by frame where they move."""
        from pxr import Vt

        place, extent = shape.CreatePointsAttr(), shape.CreateExtentAttr()
        for frame in [-1, *([] if points is None else key_frames(points, tolerance))]:
            now = np.ascontiguousarray(rest if frame < 0 or points is None else points[frame], dtype=np.float32)
            box = np.stack([now.min(axis=0) - np.float32(width / 2), now.max(axis=0) + np.float32(width / 2)])
            when = () if frame < 0 else (frame,)
            place.Set(Vt.Vec3fArray.FromNumpy(now), *when)
            extent.Set(Vt.Vec3fArray.FromNumpy(box), *when)


def key_frames(points: NDArray, tolerance: float) -> list[int]:
    """Frames of moving points (f, n, 3) [m] between which straight lines miss no point of any frame by more than a
    tolerance [m]; every frame at a tolerance of 0."""
    last = len(points) - 1
    if tolerance <= 0.0 or last < 1:
        return list(range(last + 1))
    keys = [0]
    while keys[-1] < last:
        begun, reach = keys[-1], 1
        while begun + reach < last:
            between = np.asarray(points[begun + 1 : begun + reach + 1], dtype=np.float64)
            part = (np.arange(1, reach + 1) / (reach + 1))[:, None, None]
            line = (1.0 - part) * points[begun] + part * points[begun + reach + 1]
            if ((between - line) ** 2).sum(axis=2).max() > tolerance**2:
                break
            reach += 1
        keys.append(begun + reach)
    return keys


def vertex_normals(points: Floats, faces: NDArray) -> Floats:
    """Unit normals (n, 3), faces weighted by area; up where there are none."""
    corners = np.asarray(points)[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    found = np.zeros((len(points), 3))
    for corner in range(3):
        np.add.at(found, faces[:, corner], area)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(length > 1e-12, found / np.where(length > 0, length, 1.0), np.array([0.0, 1.0, 0.0]))


def continuous(rotation: Floats) -> Floats:
    """Quaternions (f, b, 4) with signs chosen so that each frame is near the one before."""
    dots = np.einsum("fbi,fbi->fb", rotation[1:], rotation[:-1])
    signs = np.where(dots < 0, -1.0, 1.0)
    return rotation * np.concatenate([np.ones((1, rotation.shape[1])), np.cumprod(signs, axis=0)])[..., None]


def read_story(path: str | PathLike[str]) -> tuple[Torso, Record]:
    """The torso at rest and the poses and cavity points of every frame; `InputError` for anything else than a story."""
    from pxr import Tf, Usd

    file = Path(path)
    readable(file)
    try:
        stage = Usd.Stage.Open(str(file))
        prim = stage.GetPrimAtPath("/Torso/Rest")
        if not prim:
            raise InputError("expected a story with /Torso/Rest", file=file)
        flat = {name.removeprefix(PREFIX): custom_value(prim, name) for name in prim.GetAuthoredPropertyNames()}
        time = flat.pop("time")
        torso = restored(flat)
        return torso, read_record(stage, torso, time)
    except InputError as error:
        raise InputError(error.message, file=file, place=error.place) from None
    except Tf.ErrorException:
        raise InputError("expected a USD file", file=file) from None
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"the story is incomplete ({type(error).__name__}: {error})"[:200], file=file) from None


def custom_value(prim: Any, name: str) -> Any:
    attribute = prim.GetAttribute(name)
    value = attribute.Get()
    if attribute.GetTypeName().type.typeName.startswith("VtArray<string"):
        return [str(text) for text in value]
    return shaped(np.array(value), [int(size) for size in attribute.GetCustomDataByKey("shape")])


def read_record(stage: Any, torso: Torso, time: Floats) -> Record:
    from pxr import Usd, UsdGeom

    bodies, frames = torso.bodies, len(time)
    codes = [Usd.TimeCode(frame) for frame in range(frames)]
    matrix = np.empty((frames, len(bodies.names), 4, 4))
    for k, name in enumerate(bodies.names):
        prim = stage.GetPrimAtPath(f"/Torso/Bones/{name}")
        if not prim:
            raise InputError(f"expected the bone {name}", place="/Torso/Bones")
        xform = UsdGeom.Xformable(prim)
        matrix[:, k] = [np.array(xform.GetLocalTransformation(code)) for code in codes]
    rotation = matrix[:, :, :3, :3].transpose(0, 1, 3, 2)  # USD multiplies row vectors
    position = matrix[:, :, 3, :3] - np.einsum("fbij,bj->fbi", rotation, np.asarray(bodies.joint_point))
    points = np.repeat(np.asarray(torso.surface.points)[None], frames, axis=0)
    for name in ("Cavity", "ChestWall"):
        prim = stage.GetPrimAtPath(f"/Torso/{name}")
        used = custom_value(prim, f"{PREFIX}surface_index")
        attribute = UsdGeom.Mesh(prim).GetPointsAttr()
        if attribute.GetNumTimeSamples() != frames:
            raise InputError(
                f"expected {frames} frames, got {attribute.GetNumTimeSamples()}", place=str(prim.GetPath())
            )
        for frame, code in enumerate(codes):
            points[frame, used] = np.array(attribute.Get(code))
    finite = np.isfinite(points).all() and np.isfinite(matrix).all() and np.isfinite(time).all()
    if not finite:
        raise InputError("expected finite numbers", place="/Torso")
    return Record(time, position, quaternions(rotation), points)


def read_skin(path: str | PathLike[str], torso: Torso, frames: int) -> NDArray[np.float32]:
    """(f, n, 3) [m] the generated skin as the story has it."""
    from pxr import Usd, UsdGeom

    file = Path(path)
    stage = Usd.Stage.Open(str(file))
    prim = stage.GetPrimAtPath("/Torso/Skin")
    attribute = UsdGeom.Mesh(prim).GetPointsAttr() if prim else None
    out = np.empty((frames, len(torso.skin.vertices), 3), dtype=np.float32)
    for frame in range(frames):
        points = np.array(attribute.Get(frame)) if attribute else np.zeros(0)
        if points.shape != out.shape[1:]:
            raise InputError(f"expected {out.shape[1]} skin points in frame {frame}", file=file, place="/Torso/Skin")
        out[frame] = points
    return out
