"""Targets as flat arrays: keyframes at any time, Jacobians and wanted velocities of all of them in one compiled pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from risorius.core.strands import PointTarget, Target
from risorius.maths.compiled import inner, kernel
from risorius.strands.bodies import carry, dot3, rotation_exp, rotation_log, times
from risorius.strands.system import System

TURNING = 30.0
"""Greatest angular speed [rad/s] for each metre a second of greatest speed."""


class Goals(NamedTuple):
    """Targets (k): body, point (k, 3) at rest, radius [m] that a radian counts (0: point target), weight, key_first
    (k + 1); keys: time, rotation (n, 3, 3), place (n, 3): pose, or identity and the wanted position."""

    body: np.ndarray
    point: np.ndarray
    radius: np.ndarray
    weight: np.ndarray
    key_first: np.ndarray
    time: np.ndarray
    rotation: np.ndarray
    place: np.ndarray


def assemble_goals(system: System, targets: Sequence[Target]) -> Goals:
    """Flatten targets; a radian of a body counts its radius of gyration."""
    tree = system.tree
    bodies = [system.body(target.body) for target in targets]
    points, radii, keys = [], [], []
    for target, body in zip(targets, bodies):
        if isinstance(target, PointTarget):
            points.append(target.point)
            radii.append(0.0)
            keys.append((target.times, np.tile(np.eye(3), (len(target.times), 1, 1)), target.positions))
        else:
            points.append(tree.centre[body])
            radii.append(float(np.sqrt(np.trace(tree.inertia[body]) / (2.0 * tree.mass[body]))))
            keys.append((target.motion.times, target.motion.rotations, target.motion.translations))
    return Goals(
        np.array(bodies, dtype=np.int64),
        np.array(points, dtype=np.float64).reshape(-1, 3),
        np.array(radii, dtype=np.float64),
        np.array([target.weight for target in targets], dtype=np.float64),
        np.concatenate([[0], np.cumsum([len(key[0]) for key in keys])]).astype(np.int64),
        np.concatenate([key[0] for key in keys]) if keys else np.zeros(0),
        np.ascontiguousarray(np.concatenate([key[1] for key in keys])) if keys else np.zeros((0, 3, 3)),
        np.ascontiguousarray(np.concatenate([key[2] for key in keys])) if keys else np.zeros((0, 3)),
    )


@inner
def transposed_times(a, b, out):
    """out = aᵀ b, (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]


@inner
def times_transposed(a, b, out):
    """out = a bᵀ, (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]


@inner
def goal_pose(goals, k, time, rotation, place):
    """Pose of a target at a time, between keys by shortest arc and straight line, into (3, 3), (3,)."""
    low, high = goals.key_first[k], goals.key_first[k + 1] - 1
    if time <= goals.time[low] or low == high:
        rotation[:], place[:] = goals.rotation[low], goals.place[low]
        return
    if time >= goals.time[high]:
        rotation[:], place[:] = goals.rotation[high], goals.place[high]
        return
    while high - low > 1:
        middle = (low + high) // 2
        if goals.time[middle] <= time:
            low = middle
        else:
            high = middle
    part = (time - goals.time[low]) / (goals.time[high] - goals.time[low])
    turn, vector, arc = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    transposed_times(goals.rotation[low], goals.rotation[high], turn)
    rotation_log(turn, vector)
    rotation_exp(part * vector[0], part * vector[1], part * vector[2], arc)
    times(goals.rotation[low], arc, rotation)
    for x in range(3):
        place[x] = goals.place[low, x] * (1.0 - part) + goals.place[high, x] * part


@inner
def closing(error, time, speed):
    """Factor that turns an error into the velocity that closes it in a time, no faster than a speed."""
    size = math.sqrt(dot3(error, error))
    return 1.0 / max(time, size / speed)


@inner
def goal_point(goals, k, rotation, place, out):
    """Where the target wants its point."""
    if goals.radius[k] > 0.0:
        carry(rotation, place, goals.point[k], out)
    else:
        out[:] = place


@kernel
def goal_system(tree, goals, rotation, place, column, base, time, h, response, speed, jacobian, wanted, weight):
    """J (6 k, m), v_x (6 k) and weights (6 k) of all targets: three rows of velocity, three of turning in metres."""
    jacobian[:] = 0.0
    r0, r1, turn = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    p0, p1, at, now, then, e = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for k in range(goals.body.size):
        body, row, radius = goals.body[k], 6 * k, goals.radius[k]
        carry(rotation[body], place[body], goals.point[k], at)
        goal_pose(goals, k, time, r0, p0)
        goal_pose(goals, k, time + h, r1, p1)
        goal_point(goals, k, r0, p0, now)
        goal_point(goals, k, r1, p1, then)
        for x in range(3):
            e[x] = now[x] - at[x]
        factor = closing(e, response, speed)
        for x in range(3):
            wanted[row + x] = (then[x] - now[x]) / h + factor * e[x]
            weight[row + x] = goals.weight[k]
            weight[row + 3 + x] = goals.weight[k] if radius > 0.0 else 0.0
            wanted[row + 3 + x] = 0.0
        if radius > 0.0:
            times_transposed(r1, r0, turn)
            rotation_log(turn, e)
            for x in range(3):
                wanted[row + 3 + x] = radius * e[x] / h
            times_transposed(r0, rotation[body], turn)
            rotation_log(turn, e)
            factor = closing(e, response, TURNING * speed)
            for x in range(3):
                wanted[row + 3 + x] += radius * factor * e[x]
        b = base[body]
        wanted[row] -= b[3] + b[1] * at[2] - b[2] * at[1]
        wanted[row + 1] -= b[4] + b[2] * at[0] - b[0] * at[2]
        wanted[row + 2] -= b[5] + b[0] * at[1] - b[1] * at[0]
        for x in range(3):
            wanted[row + 3 + x] -= radius * b[x]
        for j in range(tree.path_first[body], tree.path_first[body + 1]):
            d = tree.path_dof[j]
            s = column[d]
            jacobian[row, d] = s[3] + s[1] * at[2] - s[2] * at[1]
            jacobian[row + 1, d] = s[4] + s[2] * at[0] - s[0] * at[2]
            jacobian[row + 2, d] = s[5] + s[0] * at[1] - s[1] * at[0]
            for x in range(3):
                jacobian[row + 3 + x, d] = radius * s[x]


@kernel
def goal_miss(goals, rotation, place, time, distance, angle):
    """How far targets are missed: distance (k) [m] of their points, angle (k) [rad]."""
    r, turn = np.empty((3, 3)), np.empty((3, 3))
    p, at, want = np.empty(3), np.empty(3), np.empty(3)
    for k in range(goals.body.size):
        body = goals.body[k]
        carry(rotation[body], place[body], goals.point[k], at)
        goal_pose(goals, k, time, r, p)
        goal_point(goals, k, r, p, want)
        distance[k] = math.sqrt((want[0] - at[0]) ** 2 + (want[1] - at[1]) ** 2 + (want[2] - at[2]) ** 2)
        angle[k] = 0.0
        if goals.radius[k] > 0.0:
            times_transposed(r, rotation[body], turn)
            rotation_log(turn, at)
            angle[k] = math.sqrt(dot3(at, at))


@kernel
def quadratic(jacobian, wanted, weight, response, free, activation, damping, total, matrix, vector):
    """Matrix (t, t) and vector (t) of eq. 18: Hᵀ (Jᵀ W J) H + total·1, Hᵀ Jᵀ W (J v_f − v_x) − damping·a0."""
    speeds, count = free.size, activation.size
    inner_matrix, inner_vector = np.zeros((speeds, speeds)), np.zeros(speeds)
    for r in range(wanted.size):
        if weight[r] == 0.0:
            continue
        residual = -wanted[r]
        for d in range(speeds):
            residual += jacobian[r, d] * free[d]
        for d in range(speeds):
            left = weight[r] * jacobian[r, d]
            if left == 0.0:
                continue
            inner_vector[d] += left * residual
            for e in range(speeds):
                inner_matrix[d, e] += left * jacobian[r, e]
    half = np.dot(inner_matrix, response)
    matrix[:] = np.dot(response.T, half)
    vector[:] = np.dot(inner_vector, response)
    for i in range(count):
        matrix[i, i] += total
        vector[i] -= damping * activation[i]
