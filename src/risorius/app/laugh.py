"""A sound clip heard: what it is, its calls and bouts, and the lung pressure that a body is to follow."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.clock import Clock
from risorius.core.errors import InputError
from risorius.core.hearing import Heard
from risorius.core.record import Record
from risorius.core.sound import Sound

if TYPE_CHECKING:
    from risorius.io.take import Drawer, Take

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]
GLOTTIS_SECONDS: Final = 0.03
"""The glottis opens and shuts in 20 to 40 ms (physiology survey section 4.2)."""
SAMPLE: Final = "sample"
"""Given instead of a file: the laugh that the project makes itself."""
METHODS: Final = ("track", "search", "anneal", "cma")
SECONDARY: Final = (0.0, 5.0)
"""Factors on the secondary motion."""
FROM_SOUND: Final = ("read", "hear", "simulate", "signals")
"""Phases from the clip's first byte to finished signals; start-up (imports, subject, kernels) and export are others."""
HEARD: Final = (
    "kind", "call_rate_hz", "beat_rate_hz", "breaths_per_minute", "muddy", "bouts", "inhalations", "breath_depths",
)  # fmt: skip
"""What run.json keeps of the analysis."""


def clip_of(clip: str | PathLike[str], seed: int = 0) -> Sound:
    """A sound file, or the project's own laugh for the word `sample`."""
    if str(clip) == SAMPLE:
        from risorius.respiration.utterances import laugh

        return laugh(seed=seed).sound
    from risorius.io.sound import read_sound

    return read_sound(clip)


def heard_in(
    clip: str | PathLike[str], sound: Sound, *, intensity: float = 1.0, kind: str | None = None, force: bool = False
) -> Heard:
    """The analysis of a clip; `InputError` where it is none of the kinds that move a torso.

    Args:
        kind: take it for this (laugh, cough, sneeze, breathing, speech), whatever it sounds like.
        force: go on with a clip that is none of them; its bursts are taken for calls of laughter.
    """
    from risorius.inverse.sound.hear import hear

    found = hear(sound, intensity=intensity, kind=kind)
    if found.kind == "none" and not force:
        raise InputError(
            f"expected laughter, coughing, sneezing, breathing or speech, heard none of them: {found.reason}; "
            "--force goes on, --kind says what it is",
            file=clip,
        )
    return found


def report_of(clip: str | PathLike[str], found: Heard) -> dict[str, Any]:
    """What was heard, for people and programs."""
    return {
        "clip": str(clip),
        "kind": found.kind,
        "scores": {name: round(value, 3) for name, value in found.scores.items()},
        "seconds": round(found.seconds, 3),
        "muddy": found.muddy,
        "call_rate_hz": round(found.call_rate, 3),
        "beat_rate_hz": round(found.beat_rate, 3),
        "breaths_per_minute": round(found.breathing_rate, 2),
        "calls": [rounded(asdict(call)) for call in found.calls],
        "bouts": [rounded(asdict(bout)) for bout in found.bouts],
        "inhalations": [rounded(asdict(breath)) for breath in found.inhalations],
        "phases": [rounded(asdict(phase)) for phase in found.phases],
        "breath_depths": [round(phase.depth, 3) for phase in found.phases if phase.inward],
        "peak_pressure_cmH2O": round(float(found.target.pressure.max()), 2),
        "least_pressure_cmH2O": round(float(found.target.pressure.min()), 2),
        "traits": rounded(found.traits),
        **({"reason": found.reason} if found.reason else {}),
    }


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Floats to a tenth of a millisecond and the like."""
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}


def analyse(
    clip: str | PathLike[str],
    folder: str | PathLike[str] | None = None,
    *,
    intensity: float = 1.0,
    kind: str | None = None,
    force: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """`risorius laugh CLIP --analyse`: hear a clip and, given a folder, write what was heard.

    The folder gets heard.json, heard.png, pressure.csv (time_s, envelope, target_pressure_cmH2O) and, for the project's
    own laugh, the clip.
    """
    sound = clip_of(clip, seed)
    found = heard_in(clip, sound, intensity=intensity, kind=kind, force=force)
    report = report_of(clip, found)
    if folder is not None:
        from risorius.io.files import write_bytes
        from risorius.io.signals import write_signals
        from risorius.io.sound import write_sound
        from risorius.view.hearing import draw_hearing

        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise InputError("expected a folder, got a file", file=place)
        if str(clip) == SAMPLE:
            write_sound(place / "sample.flac", sound)
        signals = {
            "time_s": found.target.time,
            "envelope": found.envelope,
            "target_pressure_cmH2O": found.target.pressure,
        }
        write_signals(place / "pressure.csv", signals)
        draw_hearing(place / "heard.png", sound, found)
        write_bytes(place / "heard.json", (json.dumps(report, indent=2) + "\n").encode())
    return report


def opening_of(found: Heard) -> Callable[[Floats], Floats]:
    """Opening of the glottis (0…1) over time: a slit while there is sound, wide while air is drawn in."""
    from risorius.inverse.sound.tables import pressures

    kind = found.kind if found.kind in ("laugh", "cough", "sneeze", "speech", "breathing") else "laugh"
    slit = pressures()[kind]["opening"]
    edges = [(breath.start, breath.end) for breath in found.inhalations]
    edges += [(phase.start, phase.end) for phase in found.phases if phase.inward]

    def opening(times: Floats) -> Floats:
        wide = np.zeros(len(times))
        for start, end in edges:
            rise = np.clip((times - start) / GLOTTIS_SECONDS, 0.0, 1.0)
            fall = np.clip((end - times) / GLOTTIS_SECONDS, 0.0, 1.0)
            wide = np.maximum(wide, np.minimum(rise, fall))
        return slit + (1.0 - slit) * wide

    return opening


def laugh(
    clip: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    method: str = "track",
    intensity: float = 1.0,
    secondary: float = 1.0,
    kind: str | None = None,
    force: bool = False,
    subject: str = "male",
    seed: int = 0,
    budget: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    procedural: bool = False,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """`risorius laugh CLIP -o DIR`: a torso that laughs (coughs, sneezes, breathes) the clip, and its take.

    Args:
        method: track, or a search of every call's seven numbers: search, anneal, cma.
        intensity: factor on the pressure.
        secondary: factor on the motion of spine and shoulders that goes with it.
        procedural: also write comparison.html, with the same laugh animated by rotations and scalings beside it.
        budget: evaluations a call; workers or a cluster (address of a Dask scheduler) compute them.
    """
    from risorius.core.spec import Spec
    from risorius.io.sound import write_sound
    from risorius.io.take import writable

    spec = Spec.parse(subject)
    if method not in METHODS:
        raise InputError(f"expected one of {', '.join(METHODS)}, got {method!r}", place="method")
    within(secondary, SECONDARY, "secondary")
    writable(folder)
    clock = Clock()
    sound = clip_of(clip, seed)  # what is no sound is refused before more is loaded
    clock.lap("read")
    from risorius.app.follow import follow, write_followed
    from risorius.inverse.secondary import secondary as secondary_motion
    from risorius.inverse.sound import hear  # noqa: F401 - loaded before the clock of hearing begins

    clock.lap("start")
    found = heard_in(clip, sound, intensity=intensity, kind=kind, force=force)
    clock.lap("hear")
    besides = secondary_motion(found.kind, found.target, secondary)
    if method == "track":
        followed = follow(found.target.at, opening_of(found), found.seconds, spec, name=found.kind, besides=besides,
                          clock=clock, progress=progress)  # fmt: skip
        cost = None
    else:
        from risorius.app.searches import search_laugh

        followed, cost = search_laugh(found, spec, method, besides=besides, seed=seed, budget=budget, workers=workers,
                                      cluster=cluster, clock=clock, progress=progress)  # fmt: skip
    spent = sum(followed.phases[name] for name in FROM_SOUND)
    report = report_of(clip, found)
    run = {
        "command": f"laugh {Path(clip).name}", "subject": str(spec), "seed": seed, "method": method,
        "intensity": intensity, "secondary": secondary,
        "heard": {key: report[key] for key in HEARD},
        "calls": calls_of(found, followed.record),
        "sound_to_signals_s": round(spent, 3),
        "sound_to_signals_of_length": round(spent / found.seconds, 3),
        **({"search": cost} if cost else {}),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as temporary:
        source = clip
        if str(clip) == SAMPLE:
            source = Path(temporary) / "sample.flac"
            write_sound(source, sound)
        more = [("comparison", 4.0, comparison_of(found))] if procedural else []
        return write_followed(folder, followed, run=run, sound=source, video=video, progress=progress, more=more)


def comparison_of(found: Heard) -> Drawer:
    """Draws comparison.html: the take beside the same laugh without physics."""

    def draw(folder: Path, take: Take, progress: Callable[[float], None]) -> None:
        from risorius.inverse.procedural import procedural
        from risorius.sim.signals import closed_volume
        from risorius.skin.binding import apply
        from risorius.skin.weights import bind, skin_of
        from risorius.view.comparison import write_comparison

        torso = take.torso
        animated = procedural(torso, found, take.record)
        volume = closed_volume(animated.points, torso.surface.abdomen)
        animated.signals["cavity_volume_error_pct"] = 100.0 * (volume / volume[0] - 1.0)
        mesh = skin_of(torso)
        skin = apply(bind(mesh, torso), mesh.vertices, torso, animated)
        progress(0.5)
        write_comparison(folder / "comparison.html", take, animated, skin, ("simulated", "procedural"))

    return draw


def within(value: float, bounds: tuple[float, float], name: str) -> None:
    """`InputError` for a knob beyond its bounds."""
    if not bounds[0] <= value <= bounds[1]:
        raise InputError(f"expected {bounds[0]:g} to {bounds[1]:g}, got {value:g}", place=name)


def calls_of(found: Heard, record: Record) -> list[dict[str, float]]:
    """Each call with the normalised rms error of the pressure within it, from the frames of the take."""
    from risorius.inverse.calls import call_errors

    wanted, got = record.signals["target_pressure_cmH2O"], record.signals["lung_pressure_cmH2O"]
    errors = call_errors(found.calls, record.time, got, wanted)
    return [
        {
            "start": round(call.start, 4),
            "end": round(call.end, 4),
            "peak": round(call.peak, 4),
            "error": round(error, 4),
        }
        for call, error in zip(found.calls, errors, strict=True)
    ]
