"""Muscles under any skin: grow them from curves, play keys on them, bake what they do."""

from __future__ import annotations

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
ENDINGS = (".usdc", ".usda", ".usd", ".glb", ".obj")


def check_ending(out: Name, endings: tuple[str, ...]) -> Path:
    """Refuse a name of no known format before any work is done."""
    target = Path(out)
    if target.suffix.lower() not in endings:
        raise InputError(f"expected a name ending in {', '.join(endings)}", file=target)
    return target


def grow(mesh: Name, curves: Name, out: Name) -> dict[str, Any]:
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
        muscles, reports = grown(surface, drawings)
    except InputError as error:
        raise InputError(error.message, file=curves, place=error.place) from None
    write_muscles(out, Rig(tuple(muscles)), reports)
    return {"mesh": str(mesh), "points": len(skin.vertices), "muscles": reports, "out": str(out)}


def grown(surface: Surface, drawings: list[Drawing]) -> tuple[list[Muscle], dict[str, dict[str, Any]]]:
    """Muscles of all drawings, mirror images behind their originals, and a report of each."""
    from risorius.skin.muscle.grow import grow as grow_one
    from risorius.skin.muscle.mirror import mirrored, reflected
    from risorius.skin.muscle.report import report

    muscles: list[Muscle] = []
    notes: dict[str, dict[str, Any]] = {}
    above: dict[str, Surface] = {}
    for drawing in drawings:
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
    reports = {muscle.name: {**notes[muscle.name], **report(muscle, above[muscle.name], muscles)} for muscle in muscles}
    return muscles, reports


def play(skin: PolyMesh, rig: Rig, keys: Name) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (f,) and the skin (f, n, 3) under the keys of a document."""
    from risorius.io.muscle_file import read_keys
    from risorius.skin.muscle.play import frames
    from risorius.skin.muscle.rig import played

    found = read_keys(keys, rig)
    times = found.times()
    names = sorted(muscle.name for muscle in rig.muscles)
    return times, frames(skin.vertices, rig, played(rig, names, times, found))


def deform(mesh: Name, muscles: Name, keys: Name, out: Name) -> dict[str, Any]:
    """Play keys on a mesh's muscles and write it: .usdc, .usda or .glb (animated), .obj (last frame)."""
    from risorius.io.mesh import read_mesh
    from risorius.io.muscle_cache import write_moving
    from risorius.io.muscle_file import read_muscles

    target = check_ending(out, ENDINGS)
    skin = read_mesh(mesh)
    rig = read_muscles(muscles, len(skin.vertices))
    times, points = play(skin, rig, keys)
    figures = write_moving(target, skin, points, times)
    return {"out": str(target), "frames": len(points), "points": len(skin.vertices), **figures}
