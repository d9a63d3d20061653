"""What strands do at joints: torques from constraint forces, moment arms by unit tension, excursions; and virtual work.

The moment arm of a strand is the torque at a joint over the tension at its insertion, both read off a settled state:
nothing geometric is assumed. Virtual work says that it equals the change of the strand's length with the joint's angle
at constant tension, r = −dl/dθ, which is how the simulator is checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from risorius.core.errors import InputError
from risorius.core.strands import Floats
from risorius.strands.stepper import Stepper, lengths, tensions
from risorius.strands.system import State, System


@dataclass(frozen=True, eq=False)
class Leverage:
    """A strand at a joint over a range of angles.

    Args:
        angle: (k,) [rad]. arm: (k,) [m] torque over tension, positive where the strand turns the joint forward.
        length: (k,) [m]. tension: (k,) [N] at the insertion.
    """

    angle: Floats
    arm: Floats
    length: Floats
    tension: Floats

    @property
    def excursion(self) -> float:
        """How much shorter the strand is at the last angle than at the first [m]."""
        return float(self.length[0] - self.length[-1])

    @property
    def work(self) -> float:
        """∫ r dθ [m] over the range: equals the excursion by virtual work."""
        return float(np.trapezoid(self.arm, self.angle))


def joint_torques(stepper: Stepper, state: State) -> Floats:
    """(m, t) generalised force [N m], or [N] for a free body's translation, of every strand on every joint speed.

    From the multipliers of the last step, at the geometry of `state`: exact where the state has settled.
    """
    system, room = stepper.system, stepper.room
    threads, tree = system.threads, system.tree
    geometry(stepper, state)
    result = np.zeros((system.shape.speeds, system.shape.strands))
    for c, body in enumerate(threads.hold_body):
        if body < 0:
            continue
        rows = slice(int(threads.row_first[c]), int(threads.row_first[c + 1]))
        force = state.multiplier[rows] @ room.direction[rows]
        path = tree.path_dof[tree.path_first[body] : tree.path_first[body + 1]]
        columns = room.column[path]
        reach = columns[:, 3:] + np.cross(columns[:, :3], room.site[c])
        result[path, threads.hold_strand[c]] += reach @ force
    return result


def geometry(stepper: Stepper, state: State) -> None:
    """Constraint rows at a state into the stepper's room."""
    from risorius.strands.holds import hold_rows

    room = stepper.room
    stepper.settle(state)
    hold_rows(stepper.system.threads, state.points, state.rotation, state.place, state.place_on_strand,
              state.place_on_surface, room.start, room.weight, room.site, room.direction, room.gap)  # fmt: skip


def gaps(stepper: Stepper, state: State) -> Floats:
    """(rows,) [m] how far constraints of strands are from being met; lifted contacts count nothing."""
    geometry(stepper, state)
    result = stepper.room.gap.copy()
    lifted = ~state.engaged & (np.diff(stepper.system.threads.row_first) == 1)
    result[stepper.system.threads.row_first[:-1][lifted]] = 0.0
    return result


def insertion_tension(system: System, state: State, strand: int) -> float:
    """Tension [N] at the last sample of a strand."""
    return float(tensions(system, state)[system.threads.sample_first[strand + 1] - 1])


def settle_at(stepper: Stepper, state: State, angles: dict[int, float], activation: Floats, *, h: float = 1 / 120,
              moving: float = 0.25, still: float = 0.5) -> State:  # fmt: skip
    """Move joints to angles [rad] in `moving` seconds with every joint locked, then wait for `still` seconds."""
    every = dict.fromkeys(range(stepper.system.shape.speeds), 0.0)
    steps = max(1, round(moving / h))
    speeds = {number: (angle - state.angle[number]) / (steps * h) for number, angle in angles.items()}
    stepper.lock({**every, **speeds})
    for _ in range(steps):
        stepper.advance(state, h, activation)
    stepper.lock(every)
    for _ in range(max(1, round(still / h))):
        stepper.advance(state, h, activation)
    stepper.lock(None)
    return state


def leverage(stepper: Stepper, strand: str, joint: int, angles: ArrayLike, *, tension: float = 0.0,
             state: State | None = None, still: float = 0.5) -> Leverage:  # fmt: skip
    """Moment arm and length of one strand over angles (k,) [rad] of one joint speed, the others locked.

    Args:
        joint: number of the joint speed (`System.speeds_of`).
        tension: [N] to pull with; 0: a fifth of the strand's strength.
        state: where to start from (left alone); default rest.
    """
    system = stepper.system
    number = system.strand(strand)
    strength = system.model.strands[number].strength
    pull = tension or 0.2 * strength
    if not 0 < pull <= strength:
        raise InputError(f"expected a tension up to the strand's strength {strength:g} N", place=f"strand {strand!r}")
    activation = np.zeros(system.shape.strands)
    activation[number] = pull / strength
    now = stepper.rest() if state is None else state.copy()
    wanted = np.asarray(angles, dtype=np.float64)
    arm, length, force = (np.zeros(len(wanted)) for _ in range(3))
    for k, angle in enumerate(wanted):
        settle_at(stepper, now, {joint: float(angle)}, activation, moving=1.0 if k == 0 else 0.25, still=still)
        force[k] = insertion_tension(system, now, number)
        arm[k] = joint_torques(stepper, now)[joint, number] / force[k]
        length[k] = lengths(system, now)[number]
    return Leverage(wanted, arm, length, force)
