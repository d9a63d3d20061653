"""A run: a system driven by sampled controls, recorded frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.model import Model
from risorius.maths.rotations import quaternions
from risorius.sim.rest import preloaded, relaxed
from risorius.sim.step import Drive, Room, Scheme, State, copy_state, look, march, room_for
from risorius.sim.system import SCALAR_COUNT, System

Floats = NDArray[np.float64]
STEP = 0.005
"""Default step [s]: 0.1 % volume error in a calm breath, 0.2 % in 5 Hz bursts (docs/decisions/002)."""
STEP_RANGE = (1e-5, 0.02)


@dataclass(eq=False)
class Motion:
    """What a run leaves before signals are read off it.

    Args:
        time: (f,) [s].
        position, rotation: (f, bodies, 3) [m] and (f, bodies, 4); see `core.record.Record`.
        turn: (f, bodies, 4) joint rotations of ball joints, fixed frame.
        points: (f, surface points, 3) [m].
        activation: (f, groups).
        scalar: (f, SCALAR_COUNT), entries named in `sim.system`.
        opening: (f,) of the glottis.
        step: [s] that was taken.
    """

    time: Floats
    position: Floats
    rotation: Floats
    turn: Floats
    points: Floats
    activation: Floats
    scalar: Floats
    opening: Floats
    step: float = 0.0


@dataclass(eq=False)
class Simulation:
    """A subject in a posture, ready to run; `state` moves on with every run."""

    model: Model
    system: System
    state: State
    drive: Drive
    room: Room
    scheme: Scheme = field(default_factory=Scheme)

    @classmethod
    def of(
        cls, model: Model, posture: str = "upright", scheme: Scheme | None = None, route: str = "mouth"
    ) -> Simulation:
        """Preload a model; a posture other than upright starts from the upright rest and has to settle."""
        system, state = preloaded(model, posture, route)
        return cls(
            model, system, state, relaxed(model, system), room_for(system, len(model.torso.groups)), scheme or Scheme()
        )

    def copy(self) -> Simulation:
        """The same with an independent state."""
        return Simulation(
            self.model,
            self.system,
            copy_state(self.state),
            Drive(*(array.copy() for array in self.drive)),
            room_for(self.system, len(self.state.activation)),
            self.scheme,
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
    ) -> Motion:
        """Run for `seconds`, recording `frame_rate` frames a second; controls are functions of times [s]."""
        if not STEP_RANGE[0] <= h <= STEP_RANGE[1]:
            raise InputError(f"expected {STEP_RANGE[0]:g} to {STEP_RANGE[1]:g} s, got {h:g}", place="step")
        count = max(1, round(1.0 / (frame_rate * h)))
        fitted = 1.0 / (frame_rate * count)
        frames = round(seconds * frame_rate) + 1
        motion = self.blank(frames)
        self.drive.opening[:] = opening(np.zeros(1))
        self.look()
        self.note(motion, 0, 0.0)
        for frame in range(1, frames):
            times = np.asarray(((frame - 1) * count + np.arange(count) + 0.5) * fitted, dtype=np.float64)
            self.advance(excitation(times), opening(times), fitted)
            self.note(motion, frame, frame / frame_rate)
            if progress is not None:
                progress(frame / (frames - 1))
        if not np.isfinite(motion.scalar).all():
            raise FloatingPointError(f"the motion became undefined at a step of {fitted:g} s; try a smaller --dt")
        motion.step = fitted
        return motion

    def blank(self, frames: int) -> Motion:
        """Room for a recording."""
        bodies, points = len(self.model.torso.bodies.names), len(self.model.torso.surface.points)
        groups = len(self.state.activation)
        shapes = ((), (bodies, 3), (bodies, 4), (bodies, 4), (points, 3), (groups,), (SCALAR_COUNT,), ())
        return Motion(*map(np.zeros, ((frames, *shape) for shape in shapes)))  # type: ignore[arg-type]

    def note(self, motion: Motion, frame: int, time: float) -> None:
        """Record the present state as a frame."""
        work = self.room.work
        motion.time[frame] = time
        motion.position[frame] = work.pose.origin
        motion.rotation[frame] = quaternions(work.pose.rotation)
        motion.turn[frame] = self.state.turn
        motion.points[frame] = work.point
        motion.activation[frame] = self.state.activation
        motion.scalar[frame] = work.scalar
        motion.opening[frame] = self.drive.opening[0]
