"""`risorius hand`: an animation in, bones, 54 tendons and muscles, activations and skin out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.model import HandModel, build_hand
from risorius.anatomy.hand.motions import motion, motion_names
from risorius.anatomy.hand.retarget import HandMotion, retarget
from risorius.anatomy.hand.rigs import find_rig, sided
from risorius.core.clip import Clip
from risorius.core.errors import InputError
from risorius.core.hand import HandRecord, HandSkin, vertex_errors
from risorius.skin.strands import HandBinding, Lift

Progress = Callable[[str, float], None]
KEEP: Final = ("simulated", "original")
LONGEST: Final = 600.0
"""[s] of animation that one run takes."""


def read_motion(
    animation: str | PathLike[str],
    *,
    side: str | None,
    length: str | float,
    mapping: str | PathLike[str] | None,
    start: float,
    seconds: float | None,
) -> tuple[HandModel, HandMotion, dict[str, Any]]:
    """The hand that an animation asks for, its motion on anatomical joints, and what is worth telling."""
    if str(animation) in motion_names():
        model = build_hand(side or "right", length)
        found = trimmed(motion(model.skeleton, str(animation)), start, seconds, None)
        return model, found, {"rig": "example"}
    from risorius.io.clip import read_clip

    clip = read_clip(animation)
    rig = find_rig(clip, side, read_mapping(mapping))
    clip, chosen, warnings = sided(clip, rig, side)
    clip = cut(clip, start, seconds)
    model = build_hand(chosen, length)
    found = retarget(model.skeleton, clip, rig)
    return model, found, {"rig": rig.name, "warnings": [*warnings, *found.warnings]}


def read_mapping(path: str | PathLike[str] | None) -> dict[str, Any] | None:
    """A user's mapping of joint names."""
    if path is None:
        return None
    from risorius.io.files import read_bytes

    try:
        value = json.loads(read_bytes(path, limit=1 << 20))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError('expected JSON: {"joints": {"wrist": "name in the rig", "mcp2": …}}', file=path)
    return value


def cut(clip: Clip, start: float, seconds: float | None) -> Clip:
    """Part of a clip."""
    end = clip.time[-1] if seconds is None else start + seconds
    kept = (clip.time >= start - 1e-9) & (clip.time <= end + 1e-9)
    if start < 0 or not kept.any():
        raise InputError(f"expected a start within the animation's {clip.time[-1]:.2f} s, got {start:g}", file=clip.file,
                         place="start")  # fmt: skip
    if clip.time[kept][-1] - clip.time[kept][0] > LONGEST:
        raise InputError(f"expected at most {LONGEST:g} s; choose a part by start and seconds", file=clip.file)
    return replace(clip, time=clip.time[kept], position=clip.position[kept], rotation=clip.rotation[kept])


def trimmed(found: HandMotion, start: float, seconds: float | None, file: str | None) -> HandMotion:
    end = found.time[-1] if seconds is None else start + seconds
    kept = (found.time >= start - 1e-9) & (found.time <= end + 1e-9)
    if start < 0 or not kept.any():
        raise InputError(f"expected a start within {found.time[-1]:.2f} s, got {start:g}", file=file, place="start")
    return replace(found, time=found.time[kept] - found.time[kept][0], angles=found.angles[kept],
                   root_rotation=found.root_rotation[kept], root_position=found.root_position[kept])  # fmt: skip


def simulate(
    model: HandModel,
    found: HandMotion,
    *,
    keep: str = "simulated",
    smooth: float | None = 6.0,
    progress: Progress | None = None,
) -> HandRecord:
    """Track a motion; `keep="original"` lays the strands on the animation as it was, their activations kept."""
    from risorius.maths.compiled import warm
    from risorius.sim.hand import remapped, track

    if keep not in KEEP:
        raise InputError(f"expected {' or '.join(KEEP)}, got {keep!r}", place="keep")
    if progress is not None:
        progress("preparing" if warm("risorius.strands.step") else "compiling, once for this version", 0.0)
    record, result = track(model, found, smooth=smooth, progress=progress)
    mean, worst = vertex_errors(record)
    duration = float(record.time[-1] - record.time[0]) if len(record.time) > 1 else 0.0
    record.run.update(
        tracking_error_mean_mm=round(mean, 3), tracking_error_worst_mm=round(worst, 3),
        activation_change_worst=round(result.smooth, 3), simulated_s=round(duration, 4),
        real_time_factor=round(duration / result.seconds["simulate"], 2), phases_s=dict(result.seconds),
        retargeting=found.report, keep=keep,
    )  # fmt: skip
    return remapped(model, record) if keep == "original" else record


def skinned(
    model: HandModel, record: HandRecord, mesh: str | PathLike[str], *, lift: Lift, paint: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> HandRecord:  # fmt: skip
    """The record with a skin carried by its bones and lifted by its strands."""
    from risorius.io.hand_tubes import centre_lines
    from risorius.io.mesh import read_mesh
    from risorius.skin.strands import skin_motion

    given = read_mesh(mesh)
    binding = bind(model, given, mesh, paint)
    spin, shift = record.rotation, record.position
    lines = np.concatenate([centre_lines(record, k, 3 * (record.strand(k).stop - record.strand(k).start))[0]
                            for k in range(len(record.units))], axis=1)  # fmt: skip
    points, rise = skin_motion(binding, spin, shift, lambda frame: lines[frame], lift,
                               (lambda part: progress("skin", part)) if progress else None)  # fmt: skip
    record.run.update(skin=str(mesh), lift_worst_mm=round(1e3 * float(rise.max(initial=0.0)), 3))
    return replace(record, skin=HandSkin(given, points, rise))


def bind(model: HandModel, given: Any, mesh: str | PathLike[str], paint: str | PathLike[str] | None) -> HandBinding:
    """What carries each vertex of a mesh, and how much strands may lift it."""
    from risorius.anatomy.hand.skins import by_nearness, by_rig, dorsal_paint
    from risorius.io.rigged import read_rigged
    from risorius.skin.strands import normals

    file = Path(mesh)
    rigged = read_rigged(file) if file.suffix.lower() in (".glb", ".gltf") else None
    faces = np.asarray(given.triangles()[0])
    skeleton = model.skeleton
    painted = None
    if rigged is not None:
        rest, _, _ = sided(rigged.rest, find_rig(rigged.rest, None), None)
        rig = find_rig(rest)
        points, body, weight = by_rig(skeleton, rest, rig, given.vertices, rigged.joint, rigged.weight)
        painted = rigged.paint
    else:
        points = np.asarray(given.vertices) * (given.unit or 1.0)
        reach = float(np.ptp(points, axis=0).max())
        away = np.linalg.norm(points.mean(axis=0) - skeleton.joint[skeleton.index("proximal3")])
        if not 0.05 < reach < 1.2 or away > 0.4:
            raise InputError(
                "a mesh without a rig must stand at the hand's rest, in metres (docs/hand.md); "
                "a rigged glTF may stand anywhere",
                file=file,
            )  # fmt: skip
        body, weight = by_nearness(skeleton, points)
    if paint is not None:
        painted = read_paint(paint, len(points))
    if painted is None:
        painted = dorsal_paint(skeleton, normals(points, faces), body, weight)
    return HandBinding(points, body, weight, faces, painted)


def read_paint(path: str | PathLike[str], count: int) -> np.ndarray:
    """One weight a line, 0 to 1, for each vertex."""
    from risorius.io.files import read_bytes

    lines = read_bytes(path, limit=1 << 26).decode("utf-8", errors="replace").split()
    try:
        values = np.array([float(word) for word in lines])
    except ValueError:
        raise InputError("expected numbers, one a vertex", file=path) from None
    if len(values) != count or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"expected {count} weights from 0 to 1, got {len(values)}", file=path)
    return values


def hand(
    animation: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    side: str | None = None,
    length: str | float = "male",
    mapping: str | PathLike[str] | None = None,
    mesh: str | PathLike[str] | None = None,
    paint: str | PathLike[str] | None = None,
    lift: tuple[float, float, float] | None = None,
    keep: str = "simulated",
    smooth: float | None = 6.0,
    start: float = 0.0,
    seconds: float | None = None,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Simulate a hand animation and write its take; returns the folder.

    Args:
        animation: a file (bvh, glb, gltf, usd, xml, js), or the name of an example: fist, pointing, spread, …
        side: "left" or "right" where the file does not say or has both.
        length: [m] hand length, or "male", "female".
        mapping: JSON with names of joints, for rigs that are not known.
        mesh: a hand's skin; paint: weights of its vertices, one a line.
        lift: height [-], reach [mm] and depth [mm] of the skin's lift (equation 19).
        keep: "simulated" bones, or the "original" animation with the strands laid on it.
        smooth: [Hz] targets are freed of what is faster; None follows every key.
        start, seconds: part of the animation.
    """
    from risorius.io.hand_take import write_hand_take
    from risorius.io.take import replaceable

    replaceable(Path(folder).absolute())
    if smooth is not None and not 0.1 <= smooth <= 60:
        raise InputError(f"expected 0.1 to 60 Hz, got {smooth:g}", place="smooth")
    if seconds is not None and not seconds > 0:
        raise InputError(f"expected more than 0 s, got {seconds:g}", place="seconds")
    begun = time.perf_counter()
    model, found, told = read_motion(animation, side=side, length=length, mapping=mapping, start=start, seconds=seconds)
    reading = time.perf_counter() - begun
    record = simulate(model, found, keep=keep, smooth=smooth, progress=progress)
    if mesh is not None:
        record = skinned(model, record, mesh, lift=lift_of(lift), paint=paint, progress=progress)
    record.run["phases_s"] = {"read": reading, **record.run["phases_s"]}
    name = Path(animation).name
    run = {"command": f"hand {name}", "subject": f"{model.skeleton.side} hand of {1e3 * model.skeleton.length:.0f} mm",
           "side": model.skeleton.side, **told, **record.run}  # fmt: skip
    record = replace(record, run=run)
    return write_hand_take(folder, record, drawers=drawers(model.skeleton.side == "left", video), progress=progress)


def lift_of(figures: tuple[float, float, float] | None) -> Lift:
    """Height [-], reach [mm], depth [mm]."""
    return Lift() if figures is None else Lift(figures[0], figures[1] * 1e-3, figures[2] * 1e-3)


def drawers(left: bool, video: bool) -> list[tuple[str, float, Callable[..., None]]]:
    """What draws the page and the video."""

    def page(folder: Path, record: HandRecord, tell: Callable[[float], None]) -> None:
        from risorius.view.hand_report import write_hand_report

        record.run["page"] = write_hand_report(folder / "report.html", record, progress=tell)

    def film(folder: Path, record: HandRecord, tell: Callable[[float], None]) -> None:
        from risorius.view.hand_pictures import write_hand_video

        record.run["video"] = write_hand_video(folder / "video.mp4", record, left=left, progress=tell)

    found: list[tuple[str, float, Callable[..., None]]] = [("page", 3.0, page)]
    return [*found, ("video", 20.0, film)] if video else found
