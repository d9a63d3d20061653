"""Simulate a behaviour and write its take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from risorius.control.control import SYRINGE, Control
from risorius.core.errors import InputError
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.torso import Torso

Progress = Callable[[str, float], None]


def simulate(
    control: Control,
    spec: Spec,
    *,
    dt: float | None = None,
    frame_rate: float | None = None,
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

    tell("building the subject" if warm("risorius.sim.step") else "compiling, once for this version", 0.0)
    from risorius.anatomy import build
    from risorius.control.bind import bind
    from risorius.sim.run import STEP, STEP_RANGE, Simulation
    from risorius.sim.signals import record_of

    if spec.lungs != "two-way" and SYRINGE in control.targets():
        raise InputError(
            "expected two-way lungs: gas cannot be pushed into a lung that is read off", place="subject: lungs"
        )
    step = STEP if dt is None else dt
    if not STEP_RANGE[0] <= step <= STEP_RANGE[1]:
        raise InputError(f"expected {STEP_RANGE[0]:g} to {STEP_RANGE[1]:g} s, got {step:g}", place="dt")
    model = build(spec)
    bound = bind(control, model)
    lap("build")
    simulation = Simulation.of(model, control.posture, route=control.route)
    lap("preload")
    motion = simulation.perform(bound, frame_rate or control.frames, step, lambda part: tell("simulating", part))
    lap("simulate")
    phases["step"] = motion.step
    record = record_of(model, motion)
    lap("signals")
    return model.torso, record, phases


def perform(
    control: Control,
    folder: str | PathLike[str],
    *,
    spec: Spec | None = None,
    dt: float | None = None,
    seed: int = 0,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Simulate a control and write the take; returns its folder."""
    from risorius.app.take import write_take
    from risorius.io.control_file import control_text
    from risorius.io.take import writable

    spec = spec or Spec()
    writable(folder)
    torso, record, phases = simulate(control, spec, dt=dt, progress=progress)
    run = {
        "command": f"perform {control.name}",
        "subject": str(spec),
        "seed": seed,
        "posture": control.posture,
        "step_s": phases.pop("step"),
        "simulated_s": control.seconds,
        "real_time_factor": round(control.seconds / phases["simulate"], 2),
        "phases_s": phases,
    }
    return write_take(folder, torso, record, run=run, control_xml=control_text(control), progress=progress, video=video)


def perform_behaviour(
    name: str,
    folder: str | PathLike[str],
    *,
    seconds: float | None = None,
    subject: str = "male",
    posture: str = "upright",
    route: str = "mouth",
    control_file: str | PathLike[str] | None = None,
    dt: float | None = None,
    seed: int = 0,
    knobs: Mapping[str, float] | None = None,
    over: str | PathLike[str] | None = None,
    at: float = 0.0,
    into: str | PathLike[str] | None = None,
    between: tuple[float, float] | None = None,
    video: bool = True,
    progress: Progress | None = None,
) -> Path:
    """`risorius perform`: a behaviour by name, or `control` with a control file that decides everything.

    Args:
        knobs: rate, depth, mix, calls, bouts, effort, irregularity; see `control.behaviours.Knobs`.
        over: a behaviour or a control file on top of it, from the time `at` [s] on.
        into: a behaviour or a control file that it is blended into `between` two times [s].
    """
    from risorius.anatomy.volumes import predicted
    from risorius.control.behaviours import Knobs, behaviour, lasting
    from risorius.control.control import added, blended
    from risorius.core.units import LITRE
    from risorius.io.control_file import LONGEST, read_control

    spec = Spec.parse(subject)
    if (name == "control") != (control_file is not None):
        raise InputError("expected `perform control --control FILE.xml`", place="behaviour")
    if (into is None) != (between is None):
        raise InputError("expected --into with --between FROM TO", place="into")
    residual, functional, total = (predicted(volume, spec) / LITRE for volume in ("RV", "FRC", "TLC"))
    papers = spec.muscles == "papers"

    def made(what: str | PathLike[str], long: float | None, turned: Knobs) -> Control:
        if str(what).lower().endswith(".xml"):
            return read_control(what)
        act = str(what)
        volumes = (residual, functional, total)
        length = lasting(act) if long is None else long
        return behaviour(act, length, posture, route, turned, volumes, papers, spec.sex)

    if seconds is not None and control_file is None and not 0.0 < seconds <= LONGEST:
        raise InputError(f"expected more than 0 and at most {LONGEST:g} s, got {seconds:g}", place="seconds")
    control = made(control_file or name, seconds, Knobs(seed=seed, **(knobs or {})))  # type: ignore[arg-type]
    if into is not None and between is not None:
        control = blended(control, made(into, control.seconds, Knobs(seed=seed)), *between)
    if over is not None:
        if not 0.0 <= at < control.seconds:
            raise InputError(f"expected 0 to {control.seconds:g} s, the length of the run, got {at:g}", place="at")
        control = added(control, made(over, control.seconds - at, Knobs(seed=seed)).shifted(at))
    return perform(control, folder, spec=spec, dt=dt, seed=seed, video=video, progress=progress)
