"""Breath retraining (row X7): from a person's breath to a target in a few steps, each a take, one page to go through them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.breathe_fit import BREATHS, FRAMES, Fitted, fit_file
from risorius.control.behaviours import styles
from risorius.core.errors import InputError
from risorius.core.record import Record
from risorius.inverse.breath.drive import ONSET, breath_control, knobs, lasting, usual

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]

STEPS: Final = (1, 20)
"""Fewest and most steps."""
QUARTER_SINE: Final = 0.83
"""Bulge of a rise that is nearest to a quarter of a sine, which is how styles begin a breath."""
POSES: Final = {"trunk.flexion": "spine.flexion"}
"""Where a breath's parameter and a style's knob have different names."""


def targets() -> tuple[str, ...]:
    """Styles of breathing that a breath can be led to."""
    return tuple(
        name for name, style in styles().items() if "rate" in style and "duty" in style and "drive_diaphragm" in style
    )


def target_breath(name: str) -> tuple[dict[str, float], float]:
    """A style as a breath's parameters, and its period [s]."""
    if name not in targets():
        raise InputError(f"expected one of {', '.join(targets())}, got {name!r}", place="--retrain")
    style = styles()[name]
    duty = style["duty"]
    rest = 1.0 - duty
    late = style.get("late", 0.1) * rest
    values = {**usual(), "rise": duty, "fall": style["brake"] * rest, "rise_bulge": QUARTER_SINE, "out_late": late,
              "out_rise": 0.5 * (rest - late), "out_fall": 0.5 * (rest - late)}  # fmt: skip
    for knob in knobs().values():
        if knob.role == "time":
            continue
        own = POSES.get(knob.name, knob.name)
        drive = style.get(f"drive_{own}" if knob.role == "in" else f"push_{own}", 0.0)
        values[knob.name] = float(np.clip(drive, knob.low, knob.high))
    return values, 60.0 / style["rate"]


def between(one: dict[str, float], other: dict[str, float], part: float) -> dict[str, float]:
    """Parameters on the way from one breath to another, 0 … 1."""
    return {name: (1.0 - part) * one[name] + part * other[name] for name in one}


def figures(record: Record, period: float) -> dict[str, float]:
    """What a physiotherapist reads off a breath: the last one of a take."""
    last = record.time >= record.time[-1] - period
    span = {name: float(np.ptp(values[last])) for name, values in record.signals.items()}
    cage, belly = span["ribcage_volume_l"], span["abdomen_volume_l"]
    return {
        "rate_per_minute": round(60.0 / period, 2),
        "tidal_l": round(span["lung_volume_l"], 3),
        "rib_cage_part": round(cage / max(cage + belly, 1e-9), 3),
        "sternum_mm": round(span["sternum_ap_mm"], 2),
        "navel_mm": round(span["umbilicus_ap_mm"], 2),
        "diaphragm_mm": round(span["diaphragm_height_mm"], 2),
    }


def retrain(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    target: str,
    *,
    steps: int = 4,
    breaths: int = BREATHS,
    video: bool = False,
    progress: Progress | None = None,
    **reading: Any,
) -> dict[str, Any]:
    """`risorius breathe FILE -o DIR --retrain TARGET --steps N`: takes step-0 (as recorded) … step-N (the target), and
    index.html to go through them.

    Args:
        reading: as for `app.breathe_fit.fit_file`.

    Returns: the figures of the fit and of every step, which run.json holds.
    """
    from risorius.io.take import folder_written, writable, write_json
    from risorius.view.lessons import write_lessons

    tell = progress or (lambda _name, _part: None)
    goal, goal_period = target_breath(target)
    if not STEPS[0] <= steps <= STEPS[1]:
        raise InputError(f"expected {STEPS[0]} to {STEPS[1]} steps, got {steps}", place="--steps")
    writable(folder)
    begun = time.perf_counter()
    fitted, report = fit_file(path, progress=tell, **reading)
    rows: list[dict[str, Any]] = []
    curves: list[dict[str, Floats]] = []
    with folder_written(folder) as temporary:
        for number in range(steps + 1):
            part = number / steps
            tell(f"step {number} of {steps}", part)
            period = float(fitted.period ** (1.0 - part) * goal_period**part)
            record = write_step(temporary / f"step-{number}", fitted, between(fitted.every.values, goal, part), period,
                                breaths, video, f"{report['file']} to {target}, step {number} of {steps}")  # fmt: skip
            rows.append({"step": number, "take": f"step-{number}", **figures(record, period)})
            last = record.time >= record.time[-1] - 2.0 * period
            names = ("lung_volume_l", "ribcage_volume_l", "abdomen_volume_l")
            curves.append({"time_s": record.time[last] - record.time[last][0],
                           **{name: record.signals[name][last] for name in names}})  # fmt: skip
        write_lessons(temporary / "index.html", f"From {report['file']} to {target}", rows, curves)
        run = {"command": f"breathe {report['file']} --retrain {target}", "subject": str(fitted.spec), "seed": 0,
               "target": target, "steps": rows, "fit": report, "wall_s": round(time.perf_counter() - begun, 2)}  # fmt: skip
        write_json(temporary / "run.json", run)
    return {**report, "target": target, "steps": rows}


def write_step(
    folder: Path, fitted: Fitted, values: dict[str, float], period: float, breaths: int, video: bool, command: str
) -> Record:
    """The take of one step; gives its record."""
    from risorius.app.perform import simulate
    from risorius.app.take import write_take
    from risorius.io.control_file import control_text

    seconds = (breaths + ONSET) * period
    control = replace(
        lasting(breath_control(values, period, seconds, "breathe"), seconds, FRAMES), posture=fitted.posture
    )
    torso, record, phases = simulate(control, fitted.spec)
    run = {"command": command, "subject": str(fitted.spec), "seed": 0, "posture": control.posture,
           "step_s": phases.pop("step"), "simulated_s": seconds,
           "real_time_factor": round(seconds / phases["simulate"], 2), "phases_s": phases}  # fmt: skip
    write_take(folder, torso, record, run=run, control_xml=control_text(control), video=video)
    return record
