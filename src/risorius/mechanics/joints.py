"""What a joint does by itself: springs, friction, servos, limits that stiffen past the end of the range.

For a ball joint with rotation vector φ (fixed frame, along the joint's axes) the potential is ½ Σ k (φ − φ0)² plus, past
a limit, ½ k_limit (φ − φ_limit)²; its torque is −J⁻ᵀ ∂U/∂φ with J⁻¹ the inverse left Jacobian, so energy is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import kernel
from risorius.maths.rotations import left_jacobian_inverse, vector_from_quaternion


class JointLaws(NamedTuple):
    """By degree of freedom (m): stiffness [N m/rad], damping [N m s/rad], neutral angle [rad], low and high limits [rad],
    limit stiffness and limit damping beyond them."""

    stiffness: np.ndarray
    damping: np.ndarray
    neutral: np.ndarray
    low: np.ndarray
    high: np.ndarray
    limit_stiffness: np.ndarray
    limit_damping: np.ndarray


@kernel
def limited(laws, k, angle, bend):
    """∂U/∂φ, ∂²U/∂φ² and damping of one dof at an angle, with its neutral angle moved by `bend`."""
    slope = laws.stiffness[k]
    force = slope * (angle - laws.neutral[k] - bend)
    damping = laws.damping[k]
    beyond = max(angle - laws.high[k], 0.0) + min(angle - laws.low[k], 0.0)
    if beyond != 0.0:
        force += laws.limit_stiffness[k] * beyond
        slope += laws.limit_stiffness[k]
        damping += laws.limit_damping[k]
    return force, slope, damping


@kernel
def joint_forces(tree, pose, laws, bend, u, force, slope, damping):
    """Add joint forces to `force` (m), servos asked to turn by `bend` (m) [rad]; set the positive slopes for the solver in
    `slope`, `damping` (m)."""
    vector = np.empty(3)
    local = np.empty(3)
    moment = np.empty(3)
    inverse = np.empty((3, 3))
    for i in range(tree.parent.size):
        kind = tree.joint[i]
        d = tree.first[i]
        if kind == 3 or kind == 6:
            vector_from_quaternion(pose.turn[i], vector)
            e = tree.axes[i]
            for k in range(3):
                local[k] = e[k, 0] * vector[0] + e[k, 1] * vector[1] + e[k, 2] * vector[2]
            for k in range(3):
                moment[k], slope[d + k], damping[d + k] = limited(laws, d + k, local[k], bend[d + k])
            left_jacobian_inverse(local[0], local[1], local[2], inverse)
            for k in range(3):
                torque = inverse[0, k] * moment[0] + inverse[1, k] * moment[1] + inverse[2, k] * moment[2]
                force[d + k] -= torque + damping[d + k] * u[d + k]
            if kind == 6:
                for k in range(d + 3, d + 6):
                    pull, slope[k], damping[k] = limited(laws, k, pose.shift[i, k - d - 3], bend[k])
                    force[k] -= pull + damping[k] * u[k]
        else:
            for k in range(d, tree.first[i + 1]):
                pull, slope[k], damping[k] = limited(laws, k, pose.angle[k], bend[k])
                force[k] -= pull + damping[k] * u[k]
