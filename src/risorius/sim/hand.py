"""A hand that follows an animation: every bone is a target of the strand simulator's controller.

The bones' poses of the animation are 6D targets (Sueda, Kaufman, Pai 2008, equations 16 to 18), so that what one joint
cannot do, its neighbours make good: the flesh of the hand stays where the animation has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.model import HandModel
from risorius.anatomy.hand.retarget import HandMotion
from risorius.anatomy.hand.skeleton import FIXED
from risorius.core.hand import HandRecord
from risorius.core.strands import Motion, PoseTarget
from risorius.core.torso import Floats
from risorius.strands.control import Controller, Weights
from risorius.strands.stepper import Stepper
from risorius.strands.system import State, System, assemble

STEP: Final = 1 / 120
FRAME_RATE: Final = 60.0
OIL: Final = 0.05
"""[N m s/rad] damping of joints while a drawn hand comes to rest."""
LEAD_IN: Final = 1.0
"""[s] in which the hand goes from the drawn pose to the animation's first, before anything is recorded."""
HOLD: Final = 0.5
"""[s] for which an animation of a single frame is held."""
TONE: Final = 0.01
"""Least activation of a muscle."""
WEIGHTS: Final = Weights(activation=1e-4, damping=1e-3, rate=11.0)
"""Bones come first; of the activations that move them alike, the smallest and steadiest are taken."""
Progress = Callable[[str, float], None]


@dataclass(eq=False)
class Tracking:
    """What a run gives besides its record.

    Args:
        seconds: wall-clock time by phase. worst: (t,) [rad] largest miss of each turn. smooth: largest change of an
            activation from frame to frame. warnings: for the user.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    worst: Floats = field(default_factory=lambda: np.zeros(0))
    smooth: float = 0.0
    warnings: list[str] = field(default_factory=list)


def loosen(system: System, stepper: Stepper, state: State, tone: float, seconds: float = 0.3, h: float = 1e-3) -> None:
    """Let a hand as drawn, whose tendons are not in balance, come to rest: small steps, joints in thick oil."""
    law = system.tree.law
    law.setflags(write=True)
    before = law[:, 1].copy()
    law[:, 1] += OIL
    for _ in range(round(seconds / h)):
        stepper.advance(state, h, np.full(len(system.strand_names), tone))
    law[:, 1] = before


def speed_order(system: System, model: HandModel) -> np.ndarray:
    """Number of the joint speed of each turn of the skeleton."""
    skeleton = model.skeleton
    found: list[int] = []
    used: dict[str, int] = {}
    for turn in skeleton.turns:
        name = skeleton.names[turn.body]
        own = system.speeds_of(name)
        found.append(own.start + used.get(name, 0))
        used[name] = used.get(name, 0) + 1
    return np.array(found)


def resampled(motion: HandMotion, smooth: float | None) -> tuple[Floats, Floats]:
    """Times (n,) of simulation steps and target angles (n, t); `smooth` [Hz] takes out what is faster."""
    if len(motion.time) == 1:
        count = round(HOLD / STEP) + 1
        return np.arange(count, dtype=np.float64) * STEP, np.repeat(motion.angles, count, axis=0)
    count = int(np.floor(motion.time[-1] / STEP + 1e-9)) + 1
    time_: Floats = np.arange(count, dtype=np.float64) * STEP
    angles = np.stack([np.interp(time_, motion.time, column) for column in motion.angles.T], axis=1)
    if smooth and count > 4:
        from scipy.signal import butter, filtfilt

        b, a = butter(2, min(smooth * STEP * 2, 0.99))
        pad = min(count - 1, round(0.5 / STEP))
        angles = filtfilt(b, a, angles, axis=0, padtype="odd", padlen=pad)
    return time_, np.asarray(angles, dtype=np.float64)


def bone_targets(model: HandModel, path: Floats) -> list[PoseTarget]:
    """Every bone that moves, on its way through joint angles (n, t) [rad], one a step."""
    spin, shift = model.skeleton.poses(path)
    times: Floats = np.arange(len(path), dtype=np.float64) * STEP
    return [PoseTarget(Motion(name, times, spin[:, k], shift[:, k]))
            for k, name in enumerate(model.skeleton.names) if name not in FIXED]  # fmt: skip


def track(
    model: HandModel,
    motion: HandMotion,
    *,
    weights: Weights = WEIGHTS,
    smooth: float | None = 6.0,
    progress: Progress | None = None,
) -> tuple[HandRecord, Tracking]:
    """Simulate a hand that follows a motion; the record's frames come at 60 a second.

    Args:
        smooth: [Hz] cut-off of the targets; None follows them as they are.
    """
    tell = progress or (lambda _phase, _part: None)
    result = Tracking()
    begun = time.perf_counter()
    system = assemble(model.strands)
    stepper = Stepper(system)
    state = stepper.rest()
    order = speed_order(system, model)
    loosen(system, stepper, state, TONE)
    limits = model.skeleton.limits
    times, wanted = resampled(motion, smooth)
    wanted = np.clip(wanted, limits[:, 0], limits[:, 1])
    lead = round(LEAD_IN / STEP)
    share = (np.arange(lead + 1) / lead)[:, None]
    drawn = state.angle[order].copy()
    path = np.concatenate([drawn + (10 * share**3 - 15 * share**4 + 6 * share**5) * (wanted[0] - drawn),
                           np.repeat(wanted[:1], lead // 2, axis=0), wanted])  # fmt: skip
    lead += lead // 2
    controller = Controller(system, bone_targets(model, path), weights, tone=TONE)
    state.time = 0.0
    result.seconds["prepare"] = time.perf_counter() - begun
    begun = time.perf_counter()
    every = round(1 / (FRAME_RATE * STEP))
    rows: list[tuple[Any, ...]] = []
    worst = np.zeros(len(order))
    for number, target in enumerate(path[1:]):
        activation = controller.step(stepper, state, STEP)
        if not np.isfinite(state.angle).all():
            raise ArithmeticError(f"the simulation diverged at {times[max(number - lead, 0)]:.3f} s")
        if number < lead:
            continue
        worst = np.maximum(worst, np.abs(state.angle[order] - target))
        if (number - lead) % every == 0:
            rows.append((state.rotation.copy(), state.place.copy(), state.points.copy(), activation, target))
            tell("simulating", (number + 1) / len(path))
    result.seconds["simulate"] = time.perf_counter() - begun
    result.worst = worst
    record = record_of(model, system, motion, rows)
    result.smooth = float(np.abs(np.diff(record.activation, axis=0)).max(initial=0.0))
    return record, result


def record_of(model: HandModel, system: System, motion: HandMotion, rows: list[tuple[Any, ...]]) -> HandRecord:
    """Frames in the world: the forearm where the animation has it."""
    skeleton = model.skeleton
    numbers = [system.body(name) for name in skeleton.names]
    time_ = np.arange(len(rows)) / FRAME_RATE
    rotation = np.stack([row[0][numbers] for row in rows])
    place = np.stack([row[1][numbers] for row in rows])
    target_turn, target_place = skeleton.poses(np.stack([row[4] for row in rows]))
    root, shift = root_motion(motion, time_)

    def world(turn: Floats, where: Floats) -> tuple[Floats, Floats]:
        return (np.einsum("fij,fbjk->fbik", root, turn), np.einsum("fij,fbj->fbi", root, where) + shift[:, None])

    rotation, place = world(rotation, place)
    target_turn, target_place = world(target_turn, target_place)
    points = np.einsum("fij,fnj->fni", root, np.stack([row[2] for row in rows])) + shift[:, None]
    units = tuple(system.strand_names)
    groups = {strand.name: strand.group for strand in model.strands.strands}
    radius = {strand.name: strand.radius for strand in model.strands.strands}
    counts = [len(radius[name]) for name in units]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return HandRecord(
        skeleton.names, skeleton.parent, skeleton.joint, skeleton.meshes, time_, rotation, place, target_turn,
        target_place, units, tuple(groups[name] for name in units), first, points,
        np.concatenate([radius[name] for name in units]), np.stack([row[3] for row in rows]),
    )  # fmt: skip


def root_motion(motion: HandMotion, times: Floats) -> tuple[Floats, Floats]:
    """Pose of the forearm (f, 3, 3), (f, 3) at other times: nearest earlier and later frames blended."""
    if len(motion.time) == 1:
        return np.repeat(motion.root_rotation, len(times), axis=0), np.repeat(motion.root_position, len(times), axis=0)
    from scipy.spatial.transform import Rotation, Slerp

    at = np.clip(times, motion.time[0], motion.time[-1])
    turn = Slerp(motion.time, Rotation.from_matrix(motion.root_rotation))(at).as_matrix()
    place = np.stack([np.interp(at, motion.time, column) for column in motion.root_position.T], axis=1)
    return turn, place


def remapped(model: HandModel, record: HandRecord) -> HandRecord:
    """The strands laid back on the original animation: each control point follows the bones beside it.

    A control point's move from the simulated to the original pose is the blend of the moves of the bodies that its strand
    passes, by how near their rings are to it (equal partition along the strand).
    """
    points = record.points.copy()
    back = np.einsum("fbij,fbkj->fbik", record.target_rotation, record.rotation)
    shift = record.target_position - np.einsum("fbij,fbj->fbi", back, record.position)
    skeleton = model.skeleton
    holds = ring_places(model)
    for k, unit in enumerate(record.units):
        own = record.strand(k)
        bodies, places = holds[unit]
        rest = model.strands.strand(unit).points
        away = np.linalg.norm(rest[:, None] - places[None], axis=2)
        weight = 1.0 / np.maximum(away, 1e-3 * skeleton.scale) ** 4
        weight /= weight.sum(axis=1, keepdims=True)
        here = record.points[:, own]
        moved = np.zeros_like(here)
        for ring, body in enumerate(bodies.tolist()):
            there = np.einsum("fij,fnj->fni", back[:, body], here) + shift[:, body, None]
            moved += weight[None, :, ring, None] * there
        points[:, own] = moved
    return replace(record, points=points, rotation=record.target_rotation, position=record.target_position)


def ring_places(model: HandModel) -> dict[str, tuple[np.ndarray, Floats]]:
    """Unit -> bodies and rest places of its rings and ends."""
    return {unit.name: (np.asarray(unit.body), np.asarray(unit.point)) for unit in model.units}
