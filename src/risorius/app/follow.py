"""A torso that follows a curve of lung pressure, and its take: what laughs and the pressure knob have in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import Channel, Control
from risorius.control.curves import Linear
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.torso import Torso

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]
FRAME_RATE: Final = 50.0
"""Frames a second: bursts of laughter come five a second."""
TARGET: Final = "target_pressure_cmH2O"


def follow(
    target: Callable[[Floats], Floats],
    opening: Callable[[Floats], Floats],
    seconds: float,
    spec: Spec,
    *,
    name: str = "pressure",
    posture: str = "upright",
    route: str = "mouth",
    progress: Progress | None = None,
) -> tuple[Torso, Record, Control, dict[str, float]]:
    """Simulate; returns torso, record, the control that does the same again, and wall-clock seconds by phase."""
    from risorius.maths.compiled import warm

    def tell(phase: str, part: float) -> None:
        if progress is not None:
            progress(phase, part)

    tell("building the subject" if warm() else "compiling, once for this version", 0.0)
    from risorius.anatomy import build
    from risorius.inverse.track import Tracker, track
    from risorius.sim.run import Simulation
    from risorius.sim.signals import record_of

    begun = time.perf_counter()
    model = build(spec)
    simulation = Simulation.of(model, posture, route=route)
    built = time.perf_counter()
    tracker = Tracker()
    motion, times, commands = track(
        simulation, target, opening, seconds, FRAME_RATE, tracker, lambda part: tell("following the pressure", part)
    )
    followed = time.perf_counter()
    record = record_of(model, motion)
    record.signals[TARGET] = np.asarray(target(record.time), dtype=np.float64)
    channels = [
        Channel(group, (drawn(times, np.maximum(sign * commands, 0.0)),), share)
        for sign, by_name in ((1.0, tracker.expiratory), (-1.0, tracker.inspiratory))
        for group, share in by_name.items()
    ]
    channels.append(Channel("glottis", (drawn(times, opening(times)),)))
    control = Control(tuple(channels), seconds, posture, route, name, frames=FRAME_RATE)
    phases = {"build": built - begun, "simulate": followed - built, "step": motion.step}
    return model.torso, record, control, phases


def drawn(times: Floats, values: Floats) -> Linear:
    """A curve through the values of every tick."""
    return Linear(points=tuple(zip(times.tolist(), np.asarray(values, dtype=np.float64).tolist())))


def misfit(record: Record) -> dict[str, float]:
    """How well the pressure was followed: rms error over the range of the target, and correlation."""
    wanted, got = record.signals[TARGET], record.signals["lung_pressure_cmH2O"]
    rms = float(np.sqrt(np.mean((got - wanted) ** 2)) / max(float(np.ptp(wanted)), 1e-9))
    steady = np.ptp(wanted) <= 0.0 or np.ptp(got) <= 0.0
    return {"rms_error_of_range": rms, "correlation": 0.0 if steady else float(np.corrcoef(wanted, got)[0, 1])}


def write_followed(
    folder: str | PathLike[str],
    followed: tuple[Torso, Record, Control, dict[str, float]],
    *,
    run: dict[str, Any],
    sound: str | PathLike[str] | None = None,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """The take of a torso that followed a pressure."""
    from risorius.app.take import write_take
    from risorius.io.control_file import control_text

    torso, record, control, phases = followed
    step = phases.pop("step")
    run = {
        **run,
        "posture": control.posture,
        "step_s": step,
        "simulated_s": control.seconds,
        "real_time_factor": round(control.seconds / phases["simulate"], 2),
        "phases_s": phases,
        "tracking": misfit(record),
    }
    return write_take(
        folder, torso, record, run=run, control_xml=control_text(control), sound=sound, progress=progress, video=video
    )
