"""One step of the whole: BDF2, linearly implicit, with an Euler step to start (Hairer & Wanner II, ch. V).

    (3 v' − 4 v + v⁻)/2 = h M⁻¹ F(q', v'),  q' = q ⊕ (Δ/3 + γ v'),  γ = 2h/3,  Δ the last increment

The forces are linearised where the present speeds lead. (From extrapolated speeds 2v − v⁻ a search of a few iterations
leaves stiff modes growing: seen to blow up within 0.3 s.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import inner, kernel, merged
from risorius.maths.rotations import quaternion_normalise
from risorius.mechanics.ball import RADIUS, fall
from risorius.mechanics.tree import Pose, advance, place, rest_pose
from risorius.sim.solver import Guide, guide_for, prepare, solve
from risorius.sim.system import (
    ABDOMEN_PRESSURE,
    ABDOMEN_SLOPE,
    GAS,
    System,
    Work,
    apply_mass,
    carry_points,
    evaluate,
    pressures,
    volumes,
    workspace,
)

LARGEST_TURN, LARGEST_MOVE = 0.25, 0.012
"""Largest joint turn [rad] and point move [m] in a step; beyond, the step is cut up."""
PRESSURE_MISS = 300.0
"""Abdominal pressure [Pa] that a step may miss its linear forecast by; beyond, another Newton pass is made."""
FAR_TURN, FAR_MOVE = 0.02, 0.001
"""Correction of the forecast pose, joint turn [rad] and point move [m], up to which one linearisation serves; beyond, the
forces are linearised again where the correction leads."""
MOST_PARTS = 16


class State(NamedTuple):
    """What the integrator advances: joint coordinates turn (n, 4), angle (m), shift (n, 3); place (p, 3) of points [m];
    z (m + 3p) speeds, z_past one step ago; increment (m + 3p) of the last step; gas (2) amount now and one step ago [m³ at
    the mouth]; activation (groups); ball (6) centre [m] and speed [m/s] of a ball; clock (2): time [s] and steps since the
    last fresh start."""

    turn: np.ndarray
    angle: np.ndarray
    shift: np.ndarray
    place: np.ndarray
    z: np.ndarray
    z_past: np.ndarray
    increment: np.ndarray
    gas: np.ndarray
    activation: np.ndarray
    ball: np.ndarray
    clock: np.ndarray


class Drive(NamedTuple):
    """What drives one step: excitation (groups) 0…1, ratio (groups) of spring muscles, opening (1) of the glottis 0…1,
    rise and fall time constants (groups) of activation [s] (0: at once), bend (m) [rad] asked of the joint servos, push
    (bodies, 3) [N] on centres of mass, ball (2): radius [m] (0: none) and mass [kg]."""

    excitation: np.ndarray
    ratio: np.ndarray
    opening: np.ndarray
    rise: np.ndarray
    fall: np.ndarray
    bend: np.ndarray
    push: np.ndarray
    ball: np.ndarray


class Scheme(NamedTuple):
    """How to step: conjugate-gradient iterations and tolerance, least and most Newton passes a step (more than the least
    only where the abdominal pressure is missed), steps between dense factors, and whether to use BDF2 (else Euler)."""

    iterations: int = 4
    tolerance: float = 1e-6
    least: int = 1
    passes: int = 3
    refactor: int = 20
    second_order: bool = True


class Room(NamedTuple):
    """Everything a step writes on besides the state."""

    work: Work
    guide: Guide
    diagonal: np.ndarray
    z: np.ndarray
    past: np.ndarray
    increment: np.ndarray
    solution: np.ndarray
    place: np.ndarray
    activation: np.ndarray
    course: np.ndarray


def room_for(system: System, groups: int) -> Room:
    """Room for a system with a number of muscle groups."""
    p, size = len(system.points.free), len(system.tree.owner) + 3 * len(system.points.free)
    z, past, increment, solution = np.zeros((4, size))
    diagonal = np.zeros((len(system.points.body), 6))
    return Room(
        workspace(system), guide_for(system), diagonal, z, past, increment, solution, np.zeros((p, 3)), np.zeros(groups),
        np.zeros(6),
    )  # fmt: skip


def rest_state(system: System, groups: int, gas: float) -> State:
    """Standing still at the rest pose, with an amount of gas [m³] in the lung."""
    pose = rest_pose(system.tree)
    size = len(system.tree.owner) + 3 * len(system.points.free)
    return State(
        pose.turn, pose.angle, pose.shift, system.points.rest[system.points.free].copy(), np.zeros(size), np.zeros(size),
        np.zeros(size), np.full(2, gas), np.zeros(groups), np.zeros(6), np.zeros(2),
    )  # fmt: skip


def copy_state(state: State) -> State:
    """An independent copy."""
    return State(*(array.copy() for array in state))


@inner
def put(system, state, increment, work, place_free):
    """Pose and points of a state moved by an increment, into work."""
    m = system.tree.owner.size
    base = Pose(
        state.turn, state.angle, state.shift, work.pose.rotation, work.pose.origin, work.pose.column, work.pose.spatial
    )
    advance(system.tree, base, increment, work.pose)
    place(system.tree, work.pose)
    for i in range(place_free.shape[0]):
        for a in range(3):
            place_free[i, a] = state.place[i, a] + increment[m + 3 * i + a]
    carry_points(system.points, work.pose, place_free, work.point)


@inner
def activate(state, drive, h, out):
    """First-order activation dynamics, exact for an excitation held over the step, into out (groups)."""
    for g in range(state.activation.size):
        change = drive.excitation[g] - state.activation[g]
        constant = drive.rise[g] if change > 0.0 else drive.fall[g]
        out[g] = state.activation[g] + (change * (1.0 - math.exp(-h / constant)) if constant > 0.0 else change)


@inner
def too_far(increment, m):
    """Whether a step turns a joint or moves a point further than one linearisation can be trusted for."""
    for k in range(increment.size):
        if not abs(increment[k]) < (LARGEST_TURN if k < m else LARGEST_MOVE):  # catches NaN too
            return True
    return False


@inner
def corrected_far(correction, gamma, m):
    """Whether a correction of speeds moves anything beyond what one linearisation serves for."""
    for k in range(correction.size):
        if gamma * abs(correction[k]) > (FAR_TURN if k < m else FAR_MOVE):
            return True
    return False


@inner
def hold_back(z, increment, m):
    """Scale speeds and increments of an Euler step down to the largest that are trusted; stop where they are undefined."""
    part = 1.0
    for k in range(increment.size):
        size = abs(increment[k])
        most = LARGEST_TURN if k < m else LARGEST_MOVE
        if not size <= 1e6 * most:
            part = 0.0
        elif part * size > most:
            part = most / size
    for k in range(increment.size):
        z[k] = part * z[k] if part > 0.0 else 0.0
        increment[k] = part * increment[k] if part > 0.0 else 0.0


@merged
def attempt(system, state, drive, h, scheme, room, accept):
    """One step of h [s]: returns conjugate-gradient iterations spent, or -1 with nothing changed where the step is too
    large for the motion; with `accept` it is taken, no further than the largest step goes."""
    work, guide = room.work, room.guide
    m = system.tree.owner.size
    count = int(state.clock[1])
    second = scheme.second_order and count > 0
    gamma = 2.0 * h / 3.0 if second else h
    keep = 1.0 / 3.0 if second else 0.0
    size = room.z.size
    activate(state, drive, h, room.activation)
    gas_past = (4.0 * state.gas[0] - state.gas[1]) / 3.0 if second else state.gas[0]
    for k in range(size):
        room.past[k] = (4.0 * state.z[k] - state.z_past[k]) / 3.0 if second else state.z[k]
        room.z[k] = state.z[k]
        room.increment[k] = keep * state.increment[k] + gamma * room.z[k]
    put(system, state, room.increment, work, room.place)
    for a in range(3):
        room.course[a] = state.ball[a] + h * state.ball[3 + a]
        room.course[3 + a] = state.ball[3 + a]
    spent = 0
    settled = False
    for newton in range(scheme.passes):
        evaluate(system, work, room.z, room.activation, drive, room.course, gamma, gas_past)
        for k in range(size):
            room.solution[k] = room.z[k] - room.past[k]
        apply_mass(system, work, room.solution, guide.image)
        for k in range(size):
            guide.residual[k] = gamma * work.force[k] - guide.image[k]
        prepare(system, work, gamma, newton == 0 and count % scheme.refactor == 0, room.diagonal, guide)
        spent += solve(system, work, gamma, guide, room.solution, scheme.iterations, scheme.tolerance)
        foreseen = work.scalar[ABDOMEN_PRESSURE]
        for k in range(size):
            room.z[k] += room.solution[k]
            room.increment[k] += gamma * room.solution[k]
            foreseen -= work.scalar[ABDOMEN_SLOPE] * work.gradient[0, k] * gamma * room.solution[k]
        if too_far(room.increment, m):
            if not accept:
                return -1
            hold_back(room.z, room.increment, m)
        put(system, state, room.increment, work, room.place)
        abdomen, trunk = volumes(system, work)
        pressures(system, work, abdomen, trunk, gamma, gas_past, drive.opening[0])
        missed = abs(work.scalar[ABDOMEN_PRESSURE] - foreseen) > PRESSURE_MISS
        if newton + 1 >= scheme.least and not missed and not corrected_far(room.solution, gamma, m):
            settled = True
            break
    if not settled and not accept:
        return -1
    for i in range(state.turn.shape[0]):
        quaternion_normalise(work.pose.turn[i])
        for a in range(4):
            state.turn[i, a] = work.pose.turn[i, a]
        for a in range(3):
            state.shift[i, a] = work.pose.shift[i, a]
    for k in range(m):
        state.angle[k] = work.pose.angle[k]
    for i in range(room.place.shape[0]):
        for a in range(3):
            state.place[i, a] = room.place[i, a]
    for g in range(room.activation.size):
        state.activation[g] = room.activation[g]
    state.gas[1] = state.gas[0]
    state.gas[0] = work.scalar[GAS]
    for k in range(size):
        state.z_past[k] = state.z[k]
        state.z[k] = room.z[k]
        state.increment[k] = room.increment[k]
    if drive.ball[RADIUS] > 0.0:
        fall(drive.ball, state.ball, work.ball_normal, work.ball_slope, room.solution, m, gamma, system.gravity, h)
    state.clock[0] += h
    state.clock[1] += 1.0
    return spent


@merged
def step(system, state, drive, h, scheme, room):
    """Advance `state` by h [s], in 2, 4, 8 or 16 smaller Euler-started parts where the motion is too quick for one."""
    parts = 1
    spent = 0
    left = 1  # parts still to take, of size h / parts
    while left > 0:
        done = attempt(system, state, drive, h / parts, scheme, room, parts >= MOST_PARTS)
        if done >= 0:
            spent += done
            left -= 1
        elif state.clock[1] > 0.0:
            state.clock[1] = 0.0  # first try: the same part, without memory
        else:
            parts *= 2
            left *= 2
        if parts > 1 and left == 0:
            state.clock[1] = 0.0
    return spent


@kernel
def march(system, state, drive, excitation, opening, bend, h, scheme, room):
    """Step through rows of excitation (n, groups), opening (n) and, unless it has none, bend (n, m); returns
    conjugate-gradient iterations spent.

    With no rows nothing moves: pose, points, pressures and forces of the present state are filled in, at drive.opening.
    The one entry from Python, because every further one would compile the whole again.
    """
    spent = 0
    for k in range(excitation.shape[0]):
        for g in range(excitation.shape[1]):
            drive.excitation[g] = excitation[k, g]
        drive.opening[0] = opening[k]
        if bend.shape[0] > 0:
            for j in range(bend.shape[1]):
                drive.bend[j] = bend[k, j]
        spent += step(system, state, drive, h, scheme, room)
    if excitation.shape[0] == 0:
        for k in range(room.increment.size):
            room.increment[k] = 0.0
        put(system, state, room.increment, room.work, room.place)
        evaluate(system, room.work, state.z, state.activation, drive, state.ball, h, state.gas[0])
    return spent


def steps(system: System, state: State, drive: Drive, h: float, count: int, scheme: Scheme, room: Room) -> int:
    """Several steps under one drive; returns conjugate-gradient iterations spent."""
    excitation = np.tile(drive.excitation, (count, 1))
    opening = np.full(count, drive.opening[0])
    return march(system, state, drive, excitation, opening, np.zeros((0, len(drive.bend))), h, scheme, room)


def look(system: System, state: State, drive: Drive, room: Room) -> None:
    """Fill the room's pose, points, pressures and forces for the present state."""
    nothing = np.zeros((0, len(drive.bend)))
    march(system, state, drive, np.zeros((0, len(state.activation))), np.zeros(0), nothing, 1e-9, Scheme(), room)
