"""A torso that laughs call by call, each call searched from where the one before left the body (DiLorenzo 2009, §6.3.2).

A call's seven numbers are tried on copies of the torso that begin in one and the same state: the end of the last call, or
`EARLY` before the call where there is a pause. Pauses, with the breath drawn in them, are followed (`inverse.track`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import Channel, Control
from risorius.core.hearing import Call, Heard
from risorius.core.spec import Spec
from risorius.core.units import CMH2O
from risorius.inverse.fit import AFTER, Method, fit_call
from risorius.inverse.misfit import normalised_rms
from risorius.inverse.parameters import EARLY, call_channels
from risorius.inverse.search.problem import Executor, Found
from risorius.inverse.track import Follower
from risorius.sim.run import STEP, Motion, Simulation
from risorius.sim.step import State, copy_state
from risorius.sim.system import ALVEOLAR_PRESSURE

Floats = NDArray[np.float64]


@cache
def ready(subject: str, posture: str, route: str) -> Simulation:
    """A torso to try things on, built once in every process."""
    from risorius.anatomy import build

    return Simulation.of(build(Spec.parse(subject)), posture, route=route)


@dataclass(frozen=True, eq=False)
class Trial:
    """What the torso answers to a control from a moment on: (control, times [s]) -> lung pressure [cmH2O].

    Args:
        subject, posture, route: whose torso.
        state: at the moment.
        first: number of its tick; tick [s].
        besides: (n, groups) excitation by everything but the control, from the moment on.
        opening: (n) of the glottis.
        bend: (n, dofs) [rad] asked of the joints, or (0, dofs).
    """

    subject: str
    posture: str
    route: str
    state: State
    first: int
    tick: float
    besides: Floats
    opening: Floats
    bend: Floats

    def __call__(self, control: Control, times: Floats) -> Floats:
        simulation = ready(self.subject, self.posture, self.route)
        for array, value in zip(simulation.state, self.state):
            array[...] = value
        count = min(int(np.ceil(times[-1] / self.tick - self.first - 1e-9)), len(self.opening))
        numbers = self.first + np.arange(count)
        middles = np.asarray((numbers + 0.5) * self.tick, dtype=np.float64)
        driven = control.excitation(simulation.model.torso.groups, middles)
        rows = np.minimum(self.besides[:count] + driven, 1.0)
        pressure = np.zeros(count)
        for k in range(count):
            bend = self.bend[k : k + 1] if len(self.bend) else None
            simulation.advance(rows[k : k + 1], self.opening[k : k + 1], self.tick, bend)
            pressure[k] = simulation.room.work.scalar[ALVEOLAR_PRESSURE] / CMH2O
        return np.interp(times, (numbers + 1) * self.tick, pressure)


class Stage:
    """A torso on its way through a laugh, tick by tick, recorded frame by frame.

    Args:
        simulation: moves on.
        subject, posture, route: how the trials build the same.
        opening, bend: of the glottis (0…1) and of the joints (n, dofs) [rad] at times.
    """

    def __init__(
        self,
        simulation: Simulation,
        subject: str,
        heard: Heard,
        opening: Callable[[Floats], Floats],
        bend: Callable[[Floats], Floats] | None,
        frame_rate: float,
        posture: str = "upright",
        route: str = "mouth",
    ) -> None:
        self.simulation, self.subject, self.posture, self.route = simulation, subject, posture, route
        self.target, self.frame_rate = heard.target, frame_rate
        self.per_frame = max(1, round(1.0 / (frame_rate * STEP)))
        self.tick = 1.0 / (frame_rate * self.per_frame)
        frames = round(heard.seconds * frame_rate) + 1
        self.motion = simulation.blank(frames)
        self.motion.step = self.tick
        count = (frames - 1) * self.per_frame
        self.times = np.asarray((np.arange(count) + 0.5) * self.tick, dtype=np.float64)
        self.opened = np.asarray(opening(self.times), dtype=np.float64)
        self.bends = bend(self.times) if bend is not None else np.zeros((0, 0))
        self.commands, self.pressure = np.zeros(count), np.zeros(count)
        self.besides = np.zeros((count, len(simulation.model.torso.groups)))
        self.now = 0
        simulation.drive.opening[:] = self.opened[:1]
        simulation.look()
        simulation.note(self.motion, 0, 0.0)

    def row(self, k: int) -> Floats | None:
        """Bend asked at a tick."""
        return self.bends[k : k + 1] if len(self.bends) else None

    def add(self, channels: tuple[Channel, ...]) -> None:
        """Drive the torso by these channels as well, from now on."""
        control = Control(channels, float(self.times[-1]), name="call")
        rest = slice(self.now, None)
        driven = control.excitation(self.simulation.model.torso.groups, self.times[rest])
        self.besides[rest] = np.minimum(self.besides[rest] + driven, 1.0)

    def go_on(self, until: float, follow: bool) -> None:
        """Move on to a time [s], following the target or driven by the channels alone."""
        follower = Follower(self.simulation, self.tick)
        last = min(round(until / self.tick), len(self.times))
        ahead = self.times + follower.tracker.ahead - 0.5 * self.tick
        wanted = self.target.at(ahead)
        for k in range(self.now, last):
            opening = self.opened[k : k + 1]
            if follow:
                besides = self.besides[k : k + 1]
                self.commands[k] = follower.advance(float(wanted[k]), opening, self.row(k), besides)
            else:
                self.simulation.advance(self.besides[k : k + 1], opening, self.tick, self.row(k))
            self.pressure[k] = self.simulation.room.work.scalar[ALVEOLAR_PRESSURE] / CMH2O
            if (k + 1) % self.per_frame == 0:
                frame = (k + 1) // self.per_frame
                self.simulation.note(self.motion, frame, frame / self.frame_rate)
        self.now = max(self.now, last)

    def trial(self, until: float) -> Trial:
        """What the torso would do from now until a time [s]."""
        rest = slice(self.now, min(int(np.ceil(until / self.tick)) + 1, len(self.times)))
        return Trial(
            self.subject, self.posture, self.route, copy_state(self.simulation.state), self.now, self.tick,
            self.besides[rest].copy(), self.opened[rest].copy(), self.bends[rest].copy() if len(self.bends) else self.bends,
        )  # fmt: skip

    def beginning(self, call: Call, before: Call | None) -> float:
        """When the torso is left to a call [s]: at the end of the one before, or `EARLY` before it."""
        return max(call.start - EARLY, before.end if before is not None else 0.0)

    def search(
        self,
        call: Call,
        executor: Executor,
        *,
        method: Method,
        budget: int | None = None,
        seed: int = 0,
        progress: Callable[[float, float], None] | None = None,
    ) -> Found:
        """A call's seven numbers, tried from now."""
        trial = self.trial(call.end + AFTER)
        return fit_call(
            trial, self.target, call, executor, method=method, budget=budget, seed=seed,
            earliest=self.now * self.tick, progress=progress,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class CallsFit:
    """A laugh searched call by call.

    Args:
        motion: of the torso.
        times, commands: of every tick [s], and what the pauses' follower asked for.
        channels: of all calls.
        searches: one a call.
    """

    motion: Motion
    times: Floats
    commands: Floats
    channels: tuple[Channel, ...]
    searches: tuple[Found, ...]


def fit_calls(
    stage: Stage,
    heard: Heard,
    executor: Executor,
    *,
    method: Method,
    budget: int | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> CallsFit:
    """Search every call in turn, and follow what lies between them."""
    channels: list[Channel] = []
    searches: list[Found] = []
    calls = [call for call in heard.calls if call.end > call.start]
    for number, call in enumerate(calls):

        def tell(part: float, best: float, number: int = number) -> None:
            if progress is not None:
                whole = (number + part) / len(calls)
                progress(f"call {number + 1} of {len(calls)}, error {best:.2f}", whole)

        stage.go_on(stage.beginning(call, calls[number - 1] if number else None), follow=True)
        found = stage.search(call, executor, method=method, budget=budget, seed=seed + number, progress=tell)
        searches.append(found)
        new = call_channels(found.values)
        stage.add(new)
        channels.extend(new)
        stage.go_on(call.end, follow=False)
    stage.go_on(heard.seconds, follow=True)
    return CallsFit(stage.motion, stage.times, stage.commands, tuple(channels), tuple(searches))


def call_errors(calls: tuple[Call, ...], time: Floats, found: Floats, target: Floats) -> list[float]:
    """Normalised rms error of a pressure within each call, from the frames of a record; NaN for a call without any."""
    errors = []
    for call in calls:
        inside = (time >= call.start) & (time <= call.end)
        errors.append(normalised_rms(found[inside], target[inside]) if inside.any() else float("nan"))
    return errors
