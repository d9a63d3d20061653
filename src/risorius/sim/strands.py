"""A run of bodies and strands: steps with or without the controller, frame by frame, and where it fell short.

Nothing here knows of hands: the anatomical hand is one model among others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from risorius.core.errors import InputError
from risorius.core.strands import Floats, Motion, StrandModel, Target
from risorius.strands.control import Controller, Weights
from risorius.strands.motions import pose_at
from risorius.strands.stepper import Stepper, tensions
from risorius.strands.system import State, System, assemble

MISSED_DISTANCE = 5e-3
MISSED_ANGLE = 0.1
"""[m], [rad] beyond which a target counts as missed in a report (the paper's worst error: 5 mm)."""


@dataclass(frozen=True)
class Settings:
    """How to run.

    Args:
        frame_rate: [1/s] frames recorded. steps: steps a frame. weights, tone, strength: of the controller.
        settle: [s] before the first frame, at the first targets, so that the take does not begin with a jerk.
    """

    frame_rate: float = 60.0
    steps: int = 2
    weights: Weights = field(default_factory=Weights)
    tone: ArrayLike = 0.01
    strength: ArrayLike = 1.0
    settle: float = 0.5


@dataclass(frozen=True)
class Shortfall:
    """A stretch of time in which a target was missed: by how much at most, and what stood in the way.

    Args:
        body: of the target. start, end: [s]. distance: [m]. angle: [rad].
        joints: bodies whose joints were at a limit then. strands: fully activated strands.
    """

    body: str
    start: float
    end: float
    distance: float
    angle: float
    joints: tuple[str, ...]
    strands: tuple[str, ...]

    def __str__(self) -> str:
        because = [f"{' '.join(names)} {what}" for names, what in
                   ((self.joints, "at the limit"), (self.strands, "fully active")) if names]  # fmt: skip
        reason = f" ({'; '.join(because)})" if because else ""
        return (f"{self.body} misses its target by up to {1e3 * self.distance:.1f} mm and {np.degrees(self.angle):.1f}° "
                f"from {self.start:.2f} to {self.end:.2f} s{reason}")  # fmt: skip


@dataclass(eq=False)
class StrandRun:
    """A simulated take; arrays by frame (f).

    Args:
        system: what was simulated (order of bodies and strands).
        times: (f,) [s]. rotations (f, b, 3, 3), places (f, b, 3) [m]: poses x = R x_rest + p in the system's order.
        points: (f, n, 3) [m] control points of all strands (`system.threads.first` splits them).
        activations: (f, strands). tension: (f, strands) [N] greatest along each strand.
        distance, angle: (f, targets) [m], [rad] errors.
        shortfalls: where targets were missed. retries: steps that had to be solved again.
    """

    system: System
    times: Floats
    rotations: Floats
    places: Floats
    points: Floats
    activations: Floats
    tension: Floats
    distance: Floats
    angle: Floats
    angles: Floats
    shortfalls: tuple[Shortfall, ...] = ()
    retries: int = 0
    final: State | None = field(default=None, repr=False)

    def strand_points(self, strand: str) -> Floats:
        """(f, k, 3) [m] control points of one strand."""
        number = self.system.strand(strand)
        first = self.system.threads.first
        return self.points[:, first[number] : first[number + 1]]

    def motion(self, body: str) -> Motion:
        """The simulated motion of a body."""
        number = self.system.body(body)
        return Motion(body, self.times, self.rotations[:, number], self.places[:, number])


Progress = Callable[[float], None]


def run(model: StrandModel | System, duration: float, *, targets: Sequence[Target] = (),
        driven: Sequence[Motion] = (), activation: Callable[[float], ArrayLike] | ArrayLike = 0.0,
        settings: Settings | None = None, start: float = 0.0, state: State | None = None,
        progress: Progress | None = None) -> StrandRun:  # fmt: skip
    """Simulate `duration` seconds from time `start`: activations chosen for targets, or given (constant or by time).

    Args:
        driven: motions of bodies whose joint is driven; they stand at their first pose before their first key.
        state: where to start (left alone); default rest, moved to the driven bodies' first pose.
    """
    settings = settings or Settings()
    if not (np.isfinite(duration) and duration > 0 and settings.frame_rate > 0 and settings.steps >= 1):
        raise InputError("expected a duration and a frame rate above zero, and one step a frame or more", place="run")
    system = model if isinstance(model, System) else assemble(model)
    stepper = Stepper(system)
    controller = Controller(system, targets, settings.weights, settings.tone, settings.strength) if targets else None
    now = stepper.rest() if state is None else state.copy()
    h = 1.0 / (settings.frame_rate * settings.steps)
    begin(stepper, controller, now, h, start, driven, activation, settings)
    frames = max(2, round(duration * settings.frame_rate) + 1)
    kept = Recorder(system, frames, len(targets))
    retries = 0
    for frame in range(frames):
        if frame:
            for _ in range(settings.steps):
                advance(stepper, controller, now, h, driven, activation)
                retries += stepper.tries - 1
        kept.keep(frame, now, controller)
        if progress:
            progress((frame + 1) / frames)
    shortfalls = tuple(find_shortfalls(system, targets, kept))
    return StrandRun(system, kept.times, kept.rotations, kept.places, kept.points, kept.activations, kept.tension,
                     kept.distance, kept.angle, kept.angles, shortfalls, retries, now)  # fmt: skip


class Recorder:
    """Arrays of a run, filled frame by frame."""

    def __init__(self, system: System, frames: int, targets: int) -> None:
        bodies, strands = len(system.names), system.shape.strands
        self.system = system
        self.times = np.zeros(frames)
        self.rotations, self.places = np.zeros((frames, bodies, 3, 3)), np.zeros((frames, bodies, 3))
        self.points = np.zeros((frames, len(system.threads.rest), 3))
        self.activations, self.tension = np.zeros((frames, strands)), np.zeros((frames, strands))
        self.distance, self.angle = np.zeros((frames, targets)), np.zeros((frames, targets))
        self.angles = np.zeros((frames, system.shape.speeds))

    def keep(self, frame: int, state: State, controller: Controller | None) -> None:
        self.times[frame] = state.time
        self.rotations[frame], self.places[frame], self.points[frame] = state.rotation, state.place, state.points
        self.activations[frame], self.angles[frame] = state.activation, state.angle
        force = tensions(self.system, state)
        first = self.system.threads.sample_first
        if self.system.shape.strands:
            self.tension[frame] = np.maximum.reduceat(force, first[:-1])
        if controller is not None:
            miss = controller.miss(state)
            self.distance[frame], self.angle[frame] = miss.distance, miss.angle


def begin(stepper: Stepper, controller: Controller | None, state: State, h: float, start: float, driven: Sequence[Motion],
          activation: Callable[[float], ArrayLike] | ArrayLike, settings: Settings) -> None:  # fmt: skip
    """Bring a state to the first poses and let it come to rest there; its time is `start` afterwards."""
    steps = round(settings.settle / h)
    state.time = start
    poses = {motion.body: pose_at(motion, start) for motion in driven}
    far = any(not np.allclose(pose[0], np.eye(3)) or np.abs(pose[1]).max() > 0 for pose in poses.values())
    if far:
        carry_along(stepper, state, poses)
    for _ in range(steps):
        if controller is not None:
            controller.step(stepper, state, h, poses)
        else:
            stepper.advance(state, h, activation(start) if callable(activation) else activation, poses)
        state.time = start
    if steps and far:
        stepper.settle(state)


def carry_along(stepper: Stepper, state: State, poses: Mapping[str, tuple[Floats, Floats]]) -> None:
    """Put driven bodies to their poses at once, with everything moved rigidly like the first of them."""
    first_rotation, first_place = next(iter(poses.values()))
    state.points[:] = state.points @ first_rotation.T + first_place
    for name, (rotation, place) in poses.items():
        body = stepper.system.body(name)
        state.turn[body], state.shift[body] = rotation, place
    for body, above in enumerate(stepper.system.tree.parent):
        if above < 0 and stepper.system.tree.kind[body] == 6:
            state.turn[body] = first_rotation @ state.turn[body]
            state.shift[body] = first_rotation @ state.shift[body] + first_place
    stepper.settle(state)


def advance(stepper: Stepper, controller: Controller | None, state: State, h: float, driven: Sequence[Motion],
            activation: Callable[[float], ArrayLike] | ArrayLike) -> None:  # fmt: skip
    """One step of the whole."""
    poses = {motion.body: pose_at(motion, state.time + h) for motion in driven}
    if controller is not None:
        controller.step(stepper, state, h, poses)
    else:
        stepper.advance(state, h, activation(state.time) if callable(activation) else activation, poses)


def find_shortfalls(system: System, targets: Sequence[Target], kept: Recorder) -> list[Shortfall]:
    """Stretches of frames in which a target was missed by more than the paper's worst."""
    result = []
    law = system.tree.law
    beyond = (kept.angles < law[:, 3] - 1e-3) | (kept.angles > law[:, 4] + 1e-3)
    for k, target in enumerate(targets):
        bad = (kept.distance[:, k] > MISSED_DISTANCE) | (kept.angle[:, k] > MISSED_ANGLE)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], bad.astype(int), [0]])))
        for first, last in zip(edges[::2], edges[1::2]):
            at_limit = np.flatnonzero(beyond[first:last].mean(axis=0) > 0.5)
            full = np.flatnonzero((kept.activations[first:last] > 0.999).mean(axis=0) > 0.5)
            result.append(Shortfall(
                target.body, float(kept.times[first]), float(kept.times[last - 1]),
                float(kept.distance[first:last, k].max()), float(kept.angle[first:last, k].max()),
                tuple(dict.fromkeys(system.names[system.tree.owner[d]] for d in at_limit)),
                tuple(system.strand_names[t] for t in full),
            ))  # fmt: skip
    return result
