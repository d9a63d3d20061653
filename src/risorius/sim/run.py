"""A run: a system driven by sampled controls, recorded frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from risorius.control.bind import Bound
from risorius.core.errors import InputError
from risorius.core.model import Model
from risorius.maths.rotations import quaternions
from risorius.mechanics.ball import RADIUS
from risorius.sim.rest import preloaded, relaxed, settle
from risorius.sim.step import Drive, Room, Scheme, State, copy_state, look, march, room_for
from risorius.sim.system import FLOW, SCALAR_COUNT, System

Floats = NDArray[np.float64]
STEP = 0.005
"""Default step [s]: 0.1 % volume error in a calm breath, 0.2 % in 5 Hz bursts (docs/decisions/002)."""
STEP_RANGE = (1e-5, 0.02)
SAMPLED = 100
"""Frames for which controls are sampled in one go."""


@dataclass(eq=False)
class Motion:
    """What a run leaves before signals are read off it.

    Args:
        time: (f,) [s].
        position, spin: (f, bodies, 3) [m] and (f, bodies, 3, 3) rotation matrices; see `core.record.Record`.
        points: (f, surface points, 3) [m].
        activation: (f, groups).
        scalar: (f, SCALAR_COUNT), entries named in `sim.system`.
        opening: (f,) of the airway, glottis and lips together.
        glottis: (f,) its own opening.
        ball: (f, 4) centre and radius [m] of a ball that was let go; radius 0 where there is none.
        step: [s] that was taken.
        relaxed: one frame of the relaxed subject in its posture, from which displacements and turns are counted.
    """

    time: Floats
    position: Floats
    spin: Floats
    points: Floats
    activation: Floats
    scalar: Floats
    opening: Floats
    glottis: Floats
    ball: Floats
    step: float = 0.0
    relaxed: Motion | None = None

    @cached_property
    def rotation(self) -> Floats:
        """(f, bodies, 4) quaternions."""
        return quaternions(self.spin)


@dataclass(eq=False)
class Simulation:
    """A subject in a posture, relaxed and ready to run; `state` moves on with every run."""

    model: Model
    system: System
    state: State
    drive: Drive
    room: Room
    scheme: Scheme = field(default_factory=Scheme)
    relaxed: Motion | None = None

    @classmethod
    def of(
        cls, model: Model, posture: str = "upright", scheme: Scheme | None = None, route: str = "mouth"
    ) -> Simulation:
        """Preload a model; one who lies is let settle from the upright rest first."""
        system, state = preloaded(model, posture, route)
        room = room_for(system, len(model.torso.groups))
        made = cls(model, system, state, relaxed(model, system), room, scheme or Scheme())
        if posture != "upright":
            settle(system, state, made.drive, room)
        made.look()
        made.relaxed = made.blank(1)
        made.note(made.relaxed, 0, 0.0)
        return made

    def copy(self) -> Simulation:
        """The same with an independent state."""
        return Simulation(
            self.model,
            self.system,
            copy_state(self.state),
            Drive(*(array.copy() for array in self.drive)),
            room_for(self.system, len(self.state.activation)),
            self.scheme,
            self.relaxed,
        )

    def advance(self, excitation: Floats, opening: Floats, h: float, bend: Floats | None = None) -> int:
        """March through rows of excitation (n, groups), glottis opening (n) and bend of the joints (n, m) [rad]."""
        if bend is None:
            bend = np.zeros((0, len(self.drive.bend)))
        return march(self.system, self.state, self.drive, excitation, opening, bend, h, self.scheme, self.room)

    def look(self) -> None:
        """Fill in pose, points, pressures and forces of the present state."""
        look(self.system, self.state, self.drive, self.room)

    def run(
        self,
        excitation: Callable[[Floats], Floats],
        opening: Callable[[Floats], Floats],
        seconds: float,
        frame_rate: float,
        h: float = STEP,
        progress: Callable[[float], None] | None = None,
        bound: Bound | None = None,
    ) -> Motion:
        """Run for `seconds`, recording `frame_rate` frames a second; controls are functions of times [s].

        Args:
            bound: what else a control drives: joints, single elements, pushes, a ball, a syringe.
        """
        if not STEP_RANGE[0] <= h <= STEP_RANGE[1]:
            raise InputError(f"expected {STEP_RANGE[0]:g} to {STEP_RANGE[1]:g} s, got {h:g}", place="step")
        count = max(1, round(1.0 / (frame_rate * h)))
        fitted = 1.0 / (frame_rate * count)
        frames = round(seconds * frame_rate) + 1
        motion = self.blank(frames)
        self.drive.opening[:] = opening(np.zeros(1))
        self.look()
        self.note(motion, 0, 0.0)
        if bound is not None:
            motion.glottis[0] = bound.control.glottis(np.zeros(1))[0]
        hands = Hands(self, bound) if bound is not None and bound.stepwise else None
        for frame in range(1, frames):
            ahead = (frame - 1) % SAMPLED
            if ahead == 0:
                rows = count * min(SAMPLED, frames - frame)
                times = np.asarray(((frame - 1) * count + np.arange(rows) + 0.5) * fitted, dtype=np.float64)
                drive, valve = excitation(times), opening(times)
                bend = bound.bend(times) if bound is not None else np.zeros((0, len(self.drive.bend)))
                glottis = bound.control.glottis(times) if bound is not None else valve
            part = slice(ahead * count, (ahead + 1) * count)
            if hands is None:
                self.advance(drive[part], valve[part], fitted, bend[part])
            else:
                hands.advance(times[part], drive[part], valve[part], fitted, bend[part])
            self.note(motion, frame, frame / frame_rate)
            motion.glottis[frame] = glottis[part][-1]
            if hands is not None:
                motion.scalar[frame, FLOW] += hands.flow
            if progress is not None:
                progress(frame / (frames - 1))
        if hands is not None:
            hands.release()
        if not np.isfinite(motion.scalar).all():
            raise FloatingPointError(f"the motion became undefined at a step of {fitted:g} s; try a smaller --dt")
        motion.step = fitted
        return motion

    def perform(
        self,
        bound: Bound,
        frame_rate: float,
        h: float = STEP,
        progress: Callable[[float], None] | None = None,
    ) -> Motion:
        """Run a control, with everything that it drives, from its beginning to its end."""
        return self.run(bound.excitation, bound.opening, bound.control.seconds, frame_rate, h, progress, bound)

    def blank(self, frames: int) -> Motion:
        """Room for a recording."""
        bodies, points = len(self.model.torso.bodies.names), len(self.model.torso.surface.points)
        groups = len(self.state.activation)
        shapes = ((), (bodies, 3), (bodies, 3, 3), (points, 3), (groups,), (SCALAR_COUNT,), (), (), (4,))
        return Motion(*map(np.zeros, ((frames, *shape) for shape in shapes)), relaxed=self.relaxed)  # type: ignore[arg-type, misc]

    def note(self, motion: Motion, frame: int, time: float) -> None:
        """Record the present state as a frame."""
        work = self.room.work
        motion.time[frame] = time
        motion.position[frame] = work.pose.origin
        motion.spin[frame] = work.pose.rotation
        motion.points[frame] = work.point
        motion.activation[frame] = self.state.activation
        motion.scalar[frame] = work.scalar
        motion.opening[frame] = motion.glottis[frame] = self.drive.opening[0]
        motion.ball[frame, :3] = self.state.ball[:3]
        motion.ball[frame, 3] = self.drive.ball[RADIUS]


class Hands:
    """What acts on a simulation between its steps: pushes, a ball let go, single elements, a syringe at the mouth.

    Single elements follow their excitation as groups do (first order, exact over a step) and act through the `tone` of
    lines and fibres, so that a run without them costs nothing. A syringe adds to the amount of gas in the lung.
    """

    def __init__(self, simulation: Simulation, bound: Bound) -> None:
        self.simulation, self.bound = simulation, bound
        self.system, self.bed = simulation.system, simulation.drive.push.copy()
        lines, fibres = self.system.lines, self.system.fibres
        self.level = np.zeros(len(bound.lines) + len(bound.fibres))
        self.base = np.concatenate([lines.tone[bound.lines], fibres.tone[bound.fibres]])
        simulation.system = self.system._replace(
            lines=lines._replace(tone=lines.tone.copy()), fibres=fibres._replace(tone=fibres.tone.copy())
        )
        self.waiting = list(bound.balls)
        self.flow = 0.0

    def advance(self, times: Floats, excitation: Floats, opening: Floats, h: float, bend: Floats | None) -> None:
        """March through rows; those between which nothing changes, together."""
        simulation, bound = self.simulation, self.bound
        single, push, flow = bound.single(times), bound.push(times), bound.syringe(times)
        begun = 0
        for row in range(len(times)):
            still = (
                row + 1 < len(times)
                and not flow[row]
                and not flow[row + 1]
                and np.array_equal(push[row], push[row + 1])
                and not single[row : row + 2].any()
                and not self.level.any()
                and not (self.waiting and self.waiting[0].time <= times[row + 1])
            )
            if still:
                continue
            self.set(times[begun], single[begun], push[begun], flow[begun] * h, h)
            part = slice(begun, row + 1)
            rows = bend[part] if bend is not None and len(bend) else None
            simulation.advance(excitation[part], opening[part], h, rows)
            begun = row + 1
        self.flow = float(flow[-1])

    def set(self, time: float, single: Floats, push: Floats, gas: float, h: float) -> None:
        """Hold what acts from now on."""
        simulation, bound = self.simulation, self.bound
        simulation.drive.push[:] = self.bed + push
        simulation.state.gas[:] += gas
        while self.waiting and self.waiting[0].time <= time:
            ball = self.waiting.pop(0)
            simulation.drive.ball[:] = ball.radius, ball.mass
            simulation.state.ball[:] = *ball.place, *ball.velocity  # type: ignore[misc]
        if len(single):
            change = single - self.level
            constant = np.where(change > 0.0, bound.rise, bound.fall)
            self.level += change * np.where(constant > 0.0, -np.expm1(-h / np.maximum(constant, 1e-9)), 1.0)
            self.level[(single == 0.0) & (self.level < 1e-6)] = 0.0
            tone = self.base + (1.0 - self.base) * self.level
            simulation.system.lines.tone[bound.lines] = tone[: len(bound.lines)]
            simulation.system.fibres.tone[bound.fibres] = tone[len(bound.lines) :]

    def release(self) -> None:
        """Let go of everything."""
        self.simulation.drive.push[:] = self.bed
        self.simulation.drive.ball[:] = 0.0
        self.simulation.system = self.system
