"""Muscles under any skin: grow them from curves, play keys on them, bake what they do."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from risorius.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from risorius.core.mesh import PolyMesh
    from risorius.io.muscle_file import Drawing
    from risorius.skin.muscle.model import Muscle
    from risorius.skin.muscle.rig import Rig
    from risorius.skin.muscle.surface import Surface

Name = str | PathLike[str]
Progress = Callable[[str, float], None]
ENDINGS = (".usdc", ".usda", ".usd", ".glb", ".obj")
ANIMATION_RATE = 30.0
"""Frames a second that an animation is played at where no keys say another rate."""


FIRST_PAGE = 3.0
"""[s] that the studio leaves to its page to come up before it loads its workings."""
FIRST_CLICK = 5.0
"""[s] that the studio leaves to a first click before it readies its kernels."""


def quiet(_phase: str, _part: float) -> None:
    """Progress that nobody watches."""


def check_ending(out: Name, endings: tuple[str, ...]) -> Path:
    """Refuse a name of no known format before any work is done."""
    target = Path(out)
    if target.suffix.lower() not in endings:
        raise InputError(f"expected a name ending in {', '.join(endings)}", file=target)
    return target


def grow(mesh: Name, curves: Name, out: Name, progress: Progress = quiet) -> dict[str, Any]:
    """Grow muscles from curves drawn on a mesh and write them; gives the figures of each."""
    from risorius.io.mesh import read_mesh
    from risorius.io.muscle_file import read_curves, write_muscles
    from risorius.skin.muscle.rig import Rig
    from risorius.skin.muscle.surface import Surface

    check_ending(out, (".json",))
    skin = read_mesh(mesh)
    drawings = read_curves(curves)
    try:
        surface = Surface(skin)
    except InputError as error:
        raise InputError(error.message, file=mesh, place=error.place) from None
    try:
        muscles, reports = grown(surface, drawings, progress)
    except InputError as error:
        raise InputError(error.message, file=curves, place=error.place) from None
    write_muscles(out, Rig(tuple(muscles)), reports)
    return {"mesh": str(mesh), "points": len(skin.vertices), "muscles": reports, "out": str(out)}


def grown(
    surface: Surface, drawings: list[Drawing], progress: Progress = quiet
) -> tuple[list[Muscle], dict[str, dict[str, Any]]]:
    """Muscles of all drawings, mirror images behind their originals, and a report of each."""
    from risorius.skin.muscle.grow import grow as grow_one
    from risorius.skin.muscle.mirror import mirrored, reflected
    from risorius.skin.muscle.report import report

    muscles: list[Muscle] = []
    notes: dict[str, dict[str, Any]] = {}
    above: dict[str, Surface] = {}
    for number, drawing in enumerate(drawings):
        progress(f"growing {drawing.sketch.name}", number / (2 * len(drawings)))
        growth = grow_one(surface, drawing.sketch)
        made = [(growth.muscle, growth.surface)]
        if drawing.mirror is not None:
            over = surface.of_parts(surface.on(reflected(growth.spots, *drawing.mirror))[3])
            made.append((mirrored(growth.muscle, *drawing.mirror, vertices=surface.vertices), over))
        for muscle, part in made:
            if muscle.name in notes:
                raise InputError(f"two muscles would be called {muscle.name!r}", place=f"muscle {drawing.sketch.name}")
            above[muscle.name] = part
            notes[muscle.name] = {"normals": growth.normals, "roughness": round(growth.roughness, 4)}
        muscles += [muscle for muscle, _ in made]
    reports = {}
    for number, muscle in enumerate(muscles):
        progress(f"measuring {muscle.name}", 0.5 + number / (2 * len(muscles)))
        reports[muscle.name] = {**notes[muscle.name], **report(muscle, above[muscle.name], muscles)}
    return muscles, reports


def play(
    skin: PolyMesh,
    rig: Rig,
    keys: Name | None,
    animation: Name | None = None,
    *,
    last: bool = False,
    progress: Progress = quiet,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (f,) and the skin (f, n, 3) under the keys of a document, an animated skeleton, or both.

    With an animation the frames are the animation's; where it carries the mesh's points (a skinned glTF of the same
    points), the skin is deformed at rest and carried along. With `last` it is the last frame alone.
    """
    from risorius.io.motion import read_motion
    from risorius.io.muscle_file import read_keys
    from risorius.skin.muscle.play import frames
    from risorius.skin.muscle.rig import played

    if keys is None and animation is None:
        raise InputError("expected keys, an animation, or both")
    found = None if keys is None else read_keys(keys, rig)
    names = sorted(muscle.name for muscle in rig.muscles)
    if animation is None:
        assert found is not None
        times = found.times()[-1:] if last else found.times()
        return times, frames(skin.vertices, rig, played(rig, names, times, found), progress)
    pose = read_motion(animation, found.rate if found else ANIMATION_RATE)
    pose = pose.last() if last else pose
    try:
        settings = played(rig, names, pose.time, found, pose)
    except InputError as error:
        raise InputError(error.message, file=animation, place=error.place) from None
    points = frames(skin.vertices, rig, settings, progress)
    if sum(len(part.joint) for part in pose.carried) == len(skin.vertices):
        try:
            points = pose.carry(points)
        except InputError as error:
            raise InputError(error.message, file=animation, place=error.place) from None
    return pose.time, points


def deform(
    mesh: Name,
    muscles: Name,
    keys: Name | None,
    out: Name,
    animation: Name | None = None,
    *,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Play keys on a mesh's muscles and write it: .usdc, .usda or .glb (animated), .obj (last frame)."""
    from risorius.io.mesh import read_mesh
    from risorius.io.muscle_cache import write_moving
    from risorius.io.muscle_file import read_muscles

    target = check_ending(out, ENDINGS)
    skin = read_mesh(mesh)
    rig = read_muscles(muscles, len(skin.vertices))
    times, points = play(skin, rig, keys, animation, last=target.suffix.lower() == ".obj", progress=progress)
    progress("writing", 0.9)
    figures = write_moving(target, skin, points, times)
    return {"out": str(target), "frames": len(points), "points": len(skin.vertices), **figures}


def limbs(mesh: Name, out: Name, forward: str = "z") -> dict[str, Any]:
    """Lay muscles in front of and behind the bones of a skinned glTF, driven by its joints.

    Args:
        forward: the axis that the figure looks along: x, y, z, -x, -y or -z.
    """
    from risorius.io.bones import read_bones
    from risorius.io.mesh import read_mesh
    from risorius.io.muscle_file import write_muscles
    from risorius.skin.muscle.limbs import limb_rig
    from risorius.skin.muscle.report import report
    from risorius.skin.muscle.surface import Surface

    check_ending(out, (".json",))
    if forward.lstrip("-") not in ("x", "y", "z"):
        raise InputError(f"expected x, y, z, -x, -y or -z, got {forward[:20]!r}", place="--forward")
    skin, bones = read_mesh(mesh), read_bones(mesh)
    way = np.eye(3)["xyz".index(forward[-1])] * (-1.0 if forward.startswith("-") else 1.0)
    try:
        surface = Surface(skin)
        rig = limb_rig(surface, bones, way)
    except InputError as error:
        raise InputError(error.message, file=mesh, place=error.place) from None
    reports = {muscle.name: report(muscle, surface) for muscle in rig.muscles}
    write_muscles(out, rig, reports)
    lengths = {name: {key: entry[key] for key in ("length", "depth_error_median")} for name, entry in reports.items()}
    return {"mesh": str(mesh), "bones": len(bones), "muscles": lengths, "out": str(out)}


def bake(
    mesh: Name,
    muscles: Name,
    keys: Name,
    out: Name,
    *,
    error_mm: float,
    millimetres: float | None = None,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Bake a performance to the fewest morph targets that miss no point by more than `error_mm`: .glb, .usdc, .usda.

    Args:
        millimetres: in one unit of the mesh, where its file does not say (then a metre).
    """
    from dataclasses import replace

    from risorius.io.mesh import read_mesh
    from risorius.io.morph import write_morphs
    from risorius.io.muscle_file import read_muscles
    from risorius.maths.lowrank import fewest

    target = check_ending(out, (".glb", ".usdc", ".usda", ".usd"))
    if not error_mm > 0:
        raise InputError(f"expected an error above zero, got {error_mm:g}", place="--error-mm")
    if millimetres is not None and not 1e-9 < millimetres < 1e9:
        raise InputError(f"expected millimetres in a unit of the mesh, got {millimetres:g}", place="--unit-mm")
    skin = read_mesh(mesh)
    if millimetres is not None:
        skin = replace(skin, unit=1e-3 * millimetres)
    unit_mm = 1e3 * (skin.unit or 1.0)
    rig = read_muscles(muscles, len(skin.vertices))
    times, points = play(skin, rig, keys, progress=progress)
    progress("finding few targets", 0.7)
    few = fewest(skin.vertices, points, tolerance=error_mm / unit_mm)
    write_morphs(target, skin, few, times)
    return {"out": str(target), "frames": len(points), "points": len(skin.vertices), "targets": len(few.shapes),
            "error_mm": few.error * unit_mm, "wanted_mm": error_mm}  # fmt: skip


def face(mesh: Name, features: Name, out: Name, progress: Progress = quiet) -> dict[str, Any]:
    """Lay a whole face of muscles under a head from its feature points."""
    from risorius.io.mesh import read_mesh
    from risorius.io.muscle_file import read_features, write_muscles
    from risorius.skin.muscle.face import face_rig
    from risorius.skin.muscle.report import report
    from risorius.skin.muscle.surface import Surface

    check_ending(out, (".json",))
    skin = read_mesh(mesh)
    points = read_features(features)
    try:
        surface = Surface(skin)
        rig = face_rig(surface, points, progress)
    except InputError as error:
        raise InputError(error.message, file=features, place=error.place) from None
    reports = {muscle.name: report(muscle, surface) for muscle in rig.muscles}
    write_muscles(out, rig, reports)
    lengths = {name: {key: entry[key] for key in ("length", "depth_error_median")} for name, entry in reports.items()}
    return {
        "mesh": str(mesh),
        "controls": [control.name for control in rig.controls],
        "muscles": lengths,
        "out": str(out),
    }


def start_thickness(mesh: PolyMesh) -> dict[str, float]:
    """What a muscle drawn in the studio starts with."""
    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    return {"skin_thickness": 0.005 * size, "muscle_thickness": 0.015 * size}


def studio(mesh: Name, out: Name | None = None, port: int = 0, *, wait: bool = True) -> Any:
    """Open the studio's page on this machine's own address; with `wait`, serve it until interrupted."""
    from risorius.io.mesh import read_mesh
    from risorius.skin.muscle.model import FALLOFFS
    from risorius.view.muscle_studio import Page

    target = check_ending(out or f"{Path(mesh).stem}.muscles.json", (".json",))
    skin = read_mesh(mesh)
    try:
        page = Page(skin, port, FALLOFFS, start_thickness(skin))  # the page comes up while the kernels are loaded
    except OSError as error:
        raise InputError(f"expected a free port, got {port}: {error.strerror}", place="--port") from None
    if wait:
        print(f"open {page.url}  (Ctrl-C ends)", flush=True)
        page.asked.wait(FIRST_PAGE)  # loading the kernels would take the machine from the page
    from risorius.app.muscle_studio import Studio

    try:
        model = Studio(skin, target)
    except InputError as error:
        page.server.stop()
        raise InputError(error.message, file=error.file or mesh, place=error.place) from None
    page.work_with(model)
    if wait:
        page.touched.wait(FIRST_CLICK)  # compiling would take the machine from whoever looks for the first place
        model.warm()
        page.serve()
    return page
