"""Keyframed motions at any time: shortest-arc rotation and straight translation between keys, held outside them."""

from __future__ import annotations

import numpy as np

from risorius.core.strands import Floats, Motion, PointTarget
from risorius.strands.bodies import rotation_log


def rotation_vector(rotation: Floats) -> Floats:
    """Rotation vector (3,) [rad] of a rotation (3, 3): the matrix logarithm."""
    out = np.empty(3)
    rotation_log(np.ascontiguousarray(rotation), out)
    return out


def rotation_matrix(vector: Floats) -> Floats:
    """Rotation (3, 3) of a vector (3,) [rad]: the matrix exponential (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-9:
        return np.eye(3) + cross + 0.5 * cross @ cross
    matrix: Floats = np.eye(3) + np.sin(angle) / angle * cross + (1 - np.cos(angle)) / angle**2 * cross @ cross
    return matrix


def between(times: Floats, time: float) -> tuple[int, float]:
    """The key before a time and the part of the way to the next."""
    if len(times) == 1 or time <= times[0]:
        return 0, 0.0
    k = min(int(np.searchsorted(times, time, side="right")) - 1, len(times) - 2)
    return k, min((time - times[k]) / (times[k + 1] - times[k]), 1.0)


def pose_at(motion: Motion, time: float) -> tuple[Floats, Floats]:
    """Rotation (3, 3) and translation (3,) [m] at a time [s]."""
    k, part = between(motion.times, time)
    if part == 0.0:
        return motion.rotations[k], motion.translations[k]
    first, second = motion.rotations[k], motion.rotations[k + 1]
    rotation = first @ rotation_matrix(part * rotation_vector(first.T @ second))
    return rotation, motion.translations[k] * (1 - part) + motion.translations[k + 1] * part


def position_at(target: PointTarget, time: float) -> Floats:
    """Where a point should be (3,) [m] at a time [s]."""
    k, part = between(target.times, time)
    place: Floats = target.positions[k]
    return place if part == 0.0 else place * (1 - part) + target.positions[k + 1] * part
