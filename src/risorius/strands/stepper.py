"""Steps of a strand system from Python: room for the kernels, driven bodies, locked joints, the equations taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from risorius.core.errors import InputError
from risorius.core.strands import Floats
from risorius.strands import bodies, step, tension
from risorius.strands.motions import rotation_matrix, rotation_vector
from risorius.strands.step import Now, Room
from risorius.strands.system import KIND, State, System, rest_state

Pose = tuple[ArrayLike, ArrayLike]
"""Rotation (3, 3) and translation (3,) [m] of a body from rest."""


EXCESS: Final = 0.03
"""Strain that one step may overlook before it is halved."""
HALVINGS: Final = 2
"""How often a step is halved at most; what still turns too far then is held back by drag."""
DRAG_GROWTH: Final = 30.0
DRAG_DECAY: Final = 0.3
TRIES: Final = 6


class Stepper:
    """Advances states of one system; keeps the room that kernels work in, and no physics of its own.

    A step is `gather` (build and factorise), optionally `respond` (what activations would do), `finish` (solve, move).
    `advance` does all of it for given activations.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.tries = 0
        self.room = make_room(system)
        self.h = 0.0
        self.driven = np.flatnonzero(system.tree.kind == KIND["driven"])
        self.next_pose: dict[int, tuple[Floats, Floats]] = {}
        self.left = 0.0

    def rest(self) -> State:
        """The state as drawn, contact points found."""
        state = rest_state(self.system)
        self.settle(state)
        return state

    def settle(self, state: State) -> None:
        """Poses and contact points that belong to joint coordinates and control points; call after editing a state."""
        step.settle_poses(self.system.tree, self.system.threads, now_of(state), self.room)

    def lock(self, speeds: Mapping[int, float] | None) -> None:
        """Prescribe joint speeds by number (`System.speeds_of`) in the steps to come; None frees all."""
        self.room.locked[:] = False
        for number, value in (speeds or {}).items():
            self.room.locked[number] = True
            self.room.given[number] = value

    def drive(self, state: State, h: float, poses: Mapping[str, Pose] | None) -> None:
        """Where driven bodies will be after this step; those not named stay."""
        self.room.base[:] = 0.0
        self.next_pose = {}
        if not len(self.driven):
            if poses:
                raise InputError("expected bodies whose joint is driven", place=next(iter(poses)))
            return
        given = {self.system.body(name): pose for name, pose in (poses or {}).items()}
        for body, pose in given.items():
            if body not in self.driven:
                raise InputError("expected a body whose joint is driven", place=self.system.names[body])
            rotation, place = (np.asarray(part, dtype=np.float64) for part in pose)
            if not (np.isfinite(rotation).all() and np.isfinite(place).all()):
                raise InputError("expected a finite pose", place=self.system.names[body])
            turn = np.empty(3)
            bodies.rotation_log(rotation @ state.rotation[body].T, turn)
            centre = self.system.tree.centre[body]
            before = state.rotation[body] @ centre + state.place[body]
            velocity = (rotation @ centre + place - before) / h
            self.room.base[body, :3] = turn / h
            self.room.base[body, 3:] = velocity - np.cross(turn / h, before)
            self.next_pose[body] = (rotation, place)
        for body, above in enumerate(self.system.tree.parent):
            if above >= 0 and body not in given:
                self.room.base[body] = self.room.base[above]

    def gather(self, state: State, h: float, expected: Floats, poses: Mapping[str, Pose] | None = None) -> int:
        """Build and factorise the equations of a step of h [s]; `expected` (t) activations for the implicit part."""
        if not (np.isfinite(h) and h > 0):
            raise InputError(f"expected a step above zero, got {h}", place="step")
        self.h = float(h)
        self.drive(state, h, poses)
        state.drag *= DRAG_DECAY
        state.drag[state.drag * h < 0.1] = 0.0
        return self.build(state, expected, self.h)

    def build(self, state: State, expected: Floats, h: float) -> int:
        system = self.system
        return int(step.gather(system.tree, system.loops, system.threads, system.laws, now_of(state), self.room,
                               system.gravity, h, expected, system.shape.links))  # fmt: skip

    def respond(self) -> tuple[Floats, Floats]:
        """H (m, t) and v_f (m): joint speeds after this step are v_f + H a."""
        step.respond(self.room, self.system.shape.links)
        return self.room.response, self.room.free

    def finish(self, state: State, activation: Floats) -> None:
        """Solve with these activations and move the state.

        A step is linear: a span that turns by an angle φ within it comes out longer by φ²/2 of itself, and a stiff tendon
        answers with a blow. Steps in which a strand would turn too far are halved.
        """
        self.tries, self.left = 0, self.h
        self.move(state, activation, self.h, HALVINGS)
        state.time += self.h

    def move(self, state: State, activation: Floats, h: float, halvings: int) -> None:
        """Move the state by the h [s] that are built, in halves where strands would turn too far."""
        now, room, links = now_of(state), self.room, self.system.shape.links
        excess = step.solve(self.system.threads, now, room, h, activation, links)
        self.tries += 1
        if not excess <= EXCESS and halvings:
            for _ in range(2):
                self.build(state, activation, 0.5 * h)
                self.move(state, activation, 0.5 * h, halvings - 1)
            return
        tries = 1
        while not excess <= EXCESS and tries < TRIES:
            fast = ~(room.excess <= EXCESS)
            state.drag[fast] = np.maximum(state.drag[fast] * DRAG_GROWTH, 1.0 / h)
            self.build(state, activation, h)
            excess = step.solve(self.system.threads, now, room, h, activation, links)
            tries += 1
        self.tries += tries - 1
        step.accept(self.system.tree, now, room, h, activation, links)
        self.carry_driven(state, h)
        step.settle_poses(self.system.tree, self.system.threads, now, room)

    def carry_driven(self, state: State, h: float) -> None:
        """Driven bodies on their way to their poses at the step's end, by h of the time that is left to it."""
        part, self.left = h / self.left, self.left - h
        centre = self.system.tree.centre
        for body, (rotation, place) in self.next_pose.items():
            if part < 1.0 - 1e-9:
                ahead = rotation_matrix(part * rotation_vector(rotation @ state.turn[body].T))
                here = state.turn[body] @ centre[body] + state.shift[body]
                there = here + part * (rotation @ centre[body] + place - here)
                rotation = ahead @ state.turn[body]
                place = there - rotation @ centre[body]
            state.turn[body], state.shift[body] = rotation, place

    def advance(self, state: State, h: float, activation: ArrayLike | None = None,
                poses: Mapping[str, Pose] | None = None) -> State:  # fmt: skip
        """One step of h [s] in place: activations (t) in 0…1 (default: as they are), poses of driven bodies at its end."""
        a = state.activation.copy() if activation is None else activations(activation, self.system.shape.strands)
        self.gather(state, h, a, poses)
        self.finish(state, a)
        return state

    def twists(self, state: State) -> Floats:
        """(b, 6) spatial velocity [ω; v] of every body about the world's origin, of the last step."""
        out = np.empty((len(self.system.names), 6))
        step.twists(self.system.tree, now_of(state), self.room, out)
        return out


def activations(values: ArrayLike, count: int) -> Floats:
    """Activations (t) in 0…1, or `InputError`."""
    result = np.broadcast_to(np.asarray(values, dtype=np.float64), (count,)).copy()
    if not (np.isfinite(result).all() and (result >= 0).all() and (result <= 1).all()):
        raise InputError("expected activations in 0…1", place="activation")
    return result


def now_of(state: State) -> Now:
    return Now(state.angle, state.turn, state.shift, state.rotation, state.place, state.momentum, state.speed,
               state.points, state.velocities, state.place_on_strand, state.place_on_surface, state.engaged,
               state.multiplier, state.link_force, state.activation, state.drag)  # fmt: skip


def tensions(system: System, state: State) -> Floats:
    """Tension [N] at every elastic sample (g,); `threads.sample_first` says whose they are."""
    out = np.zeros(len(system.threads.law))
    tension.tensions(system.threads, system.laws, state.points, state.velocities, state.activation, out)
    return out


def lengths(system: System, state: State) -> Floats:
    """Length [m] of every strand (t,)."""
    out = np.zeros(system.shape.strands)
    tension.lengths(system.threads, state.points, out)
    return out


def make_room(system: System) -> Room:
    """Room for the kernels of `risorius.strands.step`."""
    threads, shape = system.threads, system.shape
    holds = np.diff(threads.row_first[threads.hold_first])
    rows = 3 * np.diff(threads.first) + holds
    width = np.minimum(rows, 12 + holds) + 1
    columns = np.diff(threads.column_first)
    bodies_count, border = len(system.names), shape.border
    widest = int(columns.max(initial=0))
    count = len(threads.hold_strand)

    def zeros(*size: int) -> NDArray[np.float64]:
        return np.zeros(size)

    return Room(
        row_first=running(rows),
        band_first=running(rows * width),
        width=width.astype(np.int64),
        entry_first=running(rows * (columns + 2)),
        band=zeros(int((rows * width).sum())),
        entry=zeros(int((rows * (columns + 2)).sum())),
        from_column=np.zeros(int(rows.sum()), dtype=np.int64),
        place_of=np.zeros(len(threads.rest), dtype=np.int64),
        hold_row=np.zeros(count, dtype=np.int64),
        start=np.zeros(count, dtype=np.int64),
        weight=zeros(count, 4),
        site=zeros(count, 3),
        direction=zeros(int(threads.row_first[-1]), 3),
        gap=zeros(int(threads.row_first[-1])),
        column=zeros(shape.speeds, 6),
        matrix=zeros(border, border),
        drive=zeros(border, shape.strands),
        right=zeros(border),
        held=zeros(widest, widest + 2),
        base=zeros(bodies_count, 6),
        locked=np.zeros(shape.speeds, dtype=np.bool_),
        given=zeros(shape.speeds),
        trial=zeros(len(threads.rest), 3),
        excess=zeros(shape.strands),
        loop_wrench=zeros(shape.loops, 6),
        loop_gap=zeros(shape.loops),
        response=zeros(shape.speeds, shape.strands),
        force=zeros(int(threads.row_first[-1])),
        free=zeros(shape.speeds),
        solved=zeros(border),
    )


def running(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
