"""A torso that follows a curve of lung pressure, and its take: what laughs and the pressure knob have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.clock import Clock
from risorius.control.control import Channel, Control
from risorius.control.curves import Linear
from risorius.core.errors import InputError
from risorius.core.model import Model
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.torso import Torso

if TYPE_CHECKING:
    from risorius.io.take import Drawer
    from risorius.sim.run import Motion, Simulation

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]
FRAME_RATE: Final = 50.0
"""Frames a second: bursts of laughter come five a second."""
TARGET: Final = "target_pressure_cmH2O"
SLIT, NARROWING = 0.08, 8.0
"""Opening of a glottis in voice (0.05-0.2 cm² of 1.5, Baier 1977), and pressure [cmH2O] at which a quarter of it is left."""
HIGHEST, LONGEST = 400.0, 3600.0
"""Largest pressure [cmH2O] and length [s] of a curve."""


@dataclass(eq=False)
class Followed:
    """A torso that followed a pressure.

    Args:
        control: does the same again.
        step: [s].
        phases: wall-clock seconds.
    """

    torso: Torso
    record: Record
    control: Control
    step: float
    phases: dict[str, float]


def subject_of(
    spec: Spec, posture: str, route: str, clock: Clock, progress: Progress | None
) -> tuple[Model, Simulation]:
    """A subject built, preloaded and its kernels at hand: the phase `start`."""
    from risorius.maths.compiled import warm

    if spec.lungs != "two-way":
        raise InputError("expected two-way lungs, whose pressure can be followed", place="subject: lungs")
    if progress is not None:
        progress("building the subject" if warm("risorius.sim.step") else "compiling, once for this version", 0.0)
    from risorius.anatomy import build
    from risorius.sim.run import Simulation

    model = build(spec)
    simulation = Simulation.of(model, posture, route=route)
    simulation.look()
    clock.lap("start")
    return model, simulation


def follow(
    target: Callable[[Floats], Floats],
    opening: Callable[[Floats], Floats],
    seconds: float,
    spec: Spec,
    *,
    name: str = "pressure",
    posture: str = "upright",
    route: str = "mouth",
    besides: tuple[Channel, ...] = (),
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Followed:
    """Simulate in one forward pass.

    Args:
        besides: channels of joint motion that go with it.
        clock: goes on with its phases.
    """
    clock = clock or Clock()
    model, simulation = subject_of(spec, posture, route, clock, progress)
    from risorius.control.bind import bind
    from risorius.inverse.track import track

    bend = bind(Control(besides, seconds), model).bend if besides else None
    motion, times, commands = track(
        simulation, target, opening, seconds, FRAME_RATE, bend=bend,
        progress=(lambda part: progress("following the pressure", part)) if progress else None,
    )  # fmt: skip
    clock.lap("simulate")
    channels = (*followed_channels(times, commands), Channel("glottis", (drawn(times, opening(times)),)), *besides)
    control = Control(channels, seconds, posture, route, name, frames=FRAME_RATE)
    return followed_of(model, motion, target, control, clock)


def followed_of(
    model: Model, motion: Motion, target: Callable[[Floats], Floats], control: Control, clock: Clock
) -> Followed:
    """The signals of a motion beside its target: the phase `signals`."""
    from risorius.sim.signals import record_of

    record = record_of(model, motion)
    record.signals[TARGET] = np.asarray(target(record.time), dtype=np.float64)
    clock.lap("signals")
    return Followed(model.torso, record, control, motion.step, clock.phases)


def followed_channels(times: Floats, commands: Floats) -> tuple[Channel, ...]:
    """What a follower's commands of every tick drive."""
    from risorius.inverse.track import Tracker

    tracker = Tracker()
    return tuple(
        Channel(group, (drawn(times, np.maximum(sign * commands, 0.0)),), share)
        for sign, by_name in ((1.0, tracker.expiratory), (-1.0, tracker.inspiratory))
        for group, share in by_name.items()
    )


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
    followed: Followed,
    *,
    run: dict[str, Any],
    sound: str | PathLike[str] | None = None,
    video: bool = True,
    progress: Progress | None = None,
    more: Sequence[tuple[str, float, Drawer]] = (),
) -> Path:
    """The take of a torso that followed a pressure, and what else is drawn of it."""
    from risorius.app.take import write_take
    from risorius.io.control_file import control_text

    control = followed.control
    run = {
        **run,
        "posture": control.posture,
        "step_s": followed.step,
        "simulated_s": control.seconds,
        "real_time_factor": round(control.seconds / followed.phases["simulate"], 2),
        "phases_s": followed.phases,
        "tracking": misfit(followed.record),
    }
    return write_take(
        folder, followed.torso, followed.record, run=run, control_xml=control_text(control), sound=sound,
        progress=progress, video=video, more=more,
    )  # fmt: skip


def larynx(pressure: Floats) -> Floats:
    """Opening of a glottis that narrows as pressure rises, as in voice: wide in breathing, a slit from about 20 cmH2O on."""
    return SLIT + (1.0 - SLIT) / (1.0 + (pressure / NARROWING) ** 2) ** 2


def read_curve(path: str | PathLike[str]) -> tuple[Floats, Floats]:
    """Times [s] and pressures [cmH2O] of a csv file with columns time_s and pressure_cmH2O (or target_pressure_cmH2O)."""
    from risorius.io.signals import read_signals

    columns = read_signals(path)
    name = next((name for name in ("pressure_cmH2O", TARGET, "lung_pressure_cmH2O") if name in columns), None)
    if name is None:
        raise InputError(f"expected a column pressure_cmH2O, got {', '.join(columns)}", file=path, line=1)
    time, pressure = columns["time_s"], columns[name]
    if len(time) < 2 or not (np.diff(time) > 0).all():
        raise InputError("expected at least two rows with times that rise", file=path, place="time_s")
    if not (np.isfinite(pressure).all() and np.abs(pressure).max() <= HIGHEST):
        raise InputError(f"expected finite pressures of at most {HIGHEST:g} cmH2O", file=path, place=name)
    if time[-1] - time[0] > LONGEST:
        raise InputError(f"expected at most {LONGEST:g} s, got {time[-1] - time[0]:g}", file=path, place="time_s")
    return time - time[0], pressure


def perform_pressure(
    curve: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    subject: str = "male",
    posture: str = "upright",
    route: str = "mouth",
    glottis: float | None = None,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """`risorius perform pressure --curve FILE.csv`: all groups driven from one curve of lung pressure.

    Args:
        glottis: its opening 0…1 throughout; where not given it narrows as pressure rises.
    """
    from risorius.io.take import writable

    spec = Spec.parse(subject)
    time, pressure = read_curve(curve)
    if glottis is not None and not 0.0 <= glottis <= 1.0:
        raise InputError(f"expected 0 to 1, got {glottis:g}", place="glottis")
    writable(folder)

    def target(times: Floats) -> Floats:
        return np.interp(times, time, pressure)

    def opening(times: Floats) -> Floats:
        return larynx(target(times)) if glottis is None else np.full(len(times), glottis)

    followed = follow(target, opening, float(time[-1]), spec, posture=posture, route=route, progress=progress)
    run = {"command": "perform pressure", "subject": str(spec), "curve": Path(curve).name}
    return write_followed(folder, followed, run=run, video=video, progress=progress)
