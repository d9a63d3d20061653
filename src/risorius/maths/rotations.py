"""Rotations as 3×3 matrices, quaternions (w, x, y, z) and rotation vectors; compiled, on single items.

Formulas: Solà, "Quaternion kinematics for the error-state Kalman filter" (2017), with series near zero angle.
"""

from __future__ import annotations

import math

import numpy as np

from risorius.maths.compiled import kernel


@kernel
def quaternion_from_vector(x, y, z, out):
    """exp: rotation vector [rad] -> unit quaternion, into out (4,)."""
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    half = 0.5 * angle
    factor = math.sin(half) / angle if angle > 1e-8 else 0.5 - square / 48.0
    out[0] = math.cos(half)
    out[1] = factor * x
    out[2] = factor * y
    out[3] = factor * z


@kernel
def quaternion_product(a, b, out):
    """Hamilton product a·b into out (may not alias)."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@kernel
def quaternion_normalise(q):
    """Scale q (4,) to unit length in place."""
    scale = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for k in range(4):
        q[k] *= scale


@kernel
def matrix_from_quaternion(q, out):
    """Rotation matrix of a unit quaternion into out (3, 3)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@kernel
def vector_from_quaternion(q, out):
    """log: unit quaternion -> rotation vector [rad] of at most half a turn, into out (3,)."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    w = sign * q[0]
    norm = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    factor = 2.0 * math.atan2(norm, w) / norm if norm > 1e-9 else 2.0 / w
    for k in range(3):
        out[k] = sign * factor * q[k + 1]


@kernel
def left_jacobian_inverse(x, y, z, out):
    """J⁻¹ with d(log R)/dt = J⁻¹ ω for ω in the fixed frame: I − ½[φ]ₓ + c [φ]ₓ², into out (3, 3)."""
    square = x * x + y * y + z * z
    if square > 1e-6:
        angle = math.sqrt(square)
        c = 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    else:
        c = 1.0 / 12.0 + square / 720.0
    out[0, 0] = 1.0 - c * (y * y + z * z)
    out[1, 1] = 1.0 - c * (x * x + z * z)
    out[2, 2] = 1.0 - c * (x * x + y * y)
    out[0, 1] = 0.5 * z + c * x * y
    out[1, 0] = -0.5 * z + c * x * y
    out[0, 2] = -0.5 * y + c * x * z
    out[2, 0] = 0.5 * y + c * x * z
    out[1, 2] = 0.5 * x + c * y * z
    out[2, 1] = -0.5 * x + c * y * z


def conjugate(quaternions: np.ndarray) -> np.ndarray:
    """Conjugates (…, 4): the turns back."""
    return quaternions * np.array([1.0, -1.0, -1.0, -1.0])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton products (n, 4): first b, then a."""
    w = a[:, 0] * b[:, 0] - np.einsum("ij,ij->i", a[:, 1:], b[:, 1:])
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w[:, None], v], axis=1)


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """Unit quaternions (…, 4) of rotation matrices (…, 3, 3), w ≥ 0; stable for every angle (Shepperd's choice)."""
    m = np.asarray(matrices)
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    candidates = np.stack([trace, m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]], axis=-1)
    largest = candidates.argmax(axis=-1)
    q = np.empty((*m.shape[:-2], 4))
    for case in range(4):
        chosen = largest == case
        if not chosen.any():
            continue
        r = m[chosen]
        if case == 0:
            s = np.sqrt(np.maximum(1.0 + trace[chosen], 0.0)) * 2.0
            parts = [s / 4, (r[:, 2, 1] - r[:, 1, 2]) / s, (r[:, 0, 2] - r[:, 2, 0]) / s, (r[:, 1, 0] - r[:, 0, 1]) / s]
        else:
            i, j, k = case - 1, case % 3, (case + 1) % 3
            s = np.sqrt(np.maximum(1.0 + r[:, i, i] - r[:, j, j] - r[:, k, k], 0.0)) * 2.0
            parts = [(r[:, k, j] - r[:, j, k]) / s, None, None, None]
            parts[1 + i] = s / 4
            parts[1 + j] = (r[:, j, i] + r[:, i, j]) / s
            parts[1 + k] = (r[:, k, i] + r[:, i, k]) / s
        q[chosen] = np.stack(parts, axis=-1)
    return np.where(q[..., :1] < 0, -q, q)
