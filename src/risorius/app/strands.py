"""Simulate a strand document: anybody's bodies and strands, with targets, driven bodies or given activations."""

from __future__ import annotations

import time
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from risorius.core.errors import InputError
from risorius.core.strands import PointTarget, Target
from risorius.io.strand_file import StrandDocument, Track, read_strands, write_strands
from risorius.sim.strands import Progress, Settings, StrandRun, run


def simulate(document: StrandDocument, *, seconds: float | None = None, activation: float = 0.0,
             settings: Settings | None = None, progress: Progress | None = None
             ) -> tuple[StrandDocument, StrandRun]:  # fmt: skip
    """Run a document; the answer is the document with the simulated motions and strands in it.

    Args:
        seconds: how long; default until the last key (two seconds where there are none).
        activation: 0…1, of every strand where there are no targets.
    """
    ends = [float(times_of(target)[-1]) for target in document.targets]
    ends += [float(motion.times[-1]) for motion in document.driven]
    starts = [float(times_of(target)[0]) for target in document.targets] + [float(m.times[0]) for m in document.driven]
    start = min(starts, default=0.0)
    duration = seconds if seconds is not None else max(max(ends, default=2.0) - start, 1e-3)
    result = run(document.model, duration, targets=document.targets, driven=document.driven, activation=activation,
                 settings=settings or (Settings() if document.targets else Settings(settle=0.0)), start=start,
                 progress=progress)  # fmt: skip
    track = Track(result.times, tuple(result.strand_points(s.name) for s in document.model.strands), result.activations)
    motions = tuple(result.motion(body.name) for body in document.model.bodies)
    return replace(document, simulated=motions, track=track), result


def times_of(target: Target) -> Any:
    return target.times if isinstance(target, PointTarget) else target.motion.times


def simulate_file(path: str | PathLike[str], out: str | PathLike[str], *, seconds: float | None = None,
                  activation: float = 0.0, progress: Progress | None = None) -> dict[str, Any]:  # fmt: skip
    """Read a document, run it, write it with its keyframes; returns figures."""
    if not 0 <= activation <= 1:
        raise InputError(f"expected an activation in 0…1, got {activation}", place="activation")
    if seconds is not None and not 0 < seconds < 1e6:
        raise InputError(f"expected seconds above zero, got {seconds}", place="seconds")
    document = read_strands(path)
    start = time.perf_counter()
    answer, result = simulate(document, seconds=seconds, activation=activation, progress=progress)
    wall = time.perf_counter() - start
    write_strands(out, answer)
    figures: dict[str, Any] = {
        "out": str(Path(out)),
        "bodies": len(document.model.bodies),
        "strands": len(document.model.strands),
        "frames": len(result.times),
        "wall_s": round(wall, 3),
    }
    if document.targets:
        figures["error_mean_mm"] = round(1e3 * float(result.distance.mean()), 4)
        figures["error_worst_mm"] = round(1e3 * float(result.distance.max()), 4)
        figures["missed"] = [str(shortfall) for shortfall in result.shortfalls]
    return figures
