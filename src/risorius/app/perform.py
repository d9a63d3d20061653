"""Simulate a behaviour and write its take."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from risorius.control.control import Control
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.torso import Torso

Progress = Callable[[str, float], None]
FRAME_RATE = 25.0
"""Frames a second of breathing."""


def simulate(
    control: Control,
    spec: Spec,
    *,
    dt: float | None = None,
    frame_rate: float = FRAME_RATE,
    progress: Progress | None = None,
) -> tuple[Torso, Record, dict[str, float]]:
    """Run a control on a subject; returns torso, record and wall-clock seconds by phase."""
    phases: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        phases[name] = now - clock
        clock = now

    def tell(name: str, part: float) -> None:
        if progress is not None:
            progress(name, part)

    from risorius.maths.compiled import warm

    tell("building the subject" if warm() else "compiling, once for this version", 0.0)
    from risorius.anatomy import build
    from risorius.sim.run import STEP, Simulation
    from risorius.sim.signals import record_of

    model = build(spec)
    lap("build")
    simulation = Simulation.of(model, control.posture)
    groups = model.torso.groups
    motion_at = control.excitation
    motion_at(groups, _zero())
    lap("preload")
    motion = simulation.run(
        lambda times: motion_at(groups, times),
        control.glottis,
        control.seconds,
        frame_rate,
        dt or STEP,
        lambda part: tell("simulating", part),
    )
    lap("simulate")
    record = record_of(model, motion)
    lap("signals")
    return model.torso, record, phases


def _zero() -> object:
    import numpy as np

    return np.zeros(1)


def perform(
    control: Control,
    folder: str | PathLike[str],
    *,
    spec: Spec | None = None,
    dt: float | None = None,
    seed: int = 0,
    command: str = "",
    progress: Progress | None = None,
) -> Path:
    """Simulate a control and write the take; returns its folder."""
    from risorius.app.take import write_take

    spec = spec or Spec()
    torso, record, phases = simulate(control, spec, dt=dt, progress=progress)
    run = {
        "command": command or f"perform {control.name}",
        "subject": str(spec),
        "seed": seed,
        "posture": control.posture,
        "step_s": dt,
        "simulated_s": control.seconds,
        "real_time_factor": round(control.seconds / phases["simulate"], 2),
        "phases_s": phases,
    }
    return write_take(folder, torso, record, run=run, progress=progress)
