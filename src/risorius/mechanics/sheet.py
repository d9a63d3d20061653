"""Soft sheets of point masses: muscle fibres along edges, and the tissue that holds points together and in place.

For the solver every edge keeps one symmetric 3×3 block B = Σ (γ ∂F/∂l' + γ² ∂F/∂l) n nᵀ + γ² F/l (1 − n nᵀ), summed over
the fibres on it, as (xx, xy, xz, yy, yz, zz).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import kernel
from risorius.mechanics.lines import carry
from risorius.mechanics.muscles import tension


class Fibres(NamedTuple):
    """law (n), parameters (n, 6), group (n), ends (n, 2) surface points, edge (n) index of the pair of points, tone (n) the
    activation that an element keeps whatever its group does."""

    law: np.ndarray
    parameters: np.ndarray
    group: np.ndarray
    ends: np.ndarray
    edge: np.ndarray
    tone: np.ndarray


class Tissue(NamedTuple):
    """What keeps free points (p) where the organs and fasciae around them would: potential ½ hold |d|² + ½ Σ_edges k
    |dᵢ − dⱼ|² − (R f)·d, with d the point's place relative to its anchor, which two bodies carry in shares.

    body (p, 2), share (p, 2), rest (p, 3) [m], hold (p) [N/m], hold_damping (p) [N s/m], push (p, 3) [N] in the rest frame
    of body[:, 0]; edge (k, 2) free points, stiffness (k) [N/m], damping (k) [N s/m].
    """

    body: np.ndarray
    share: np.ndarray
    rest: np.ndarray
    hold: np.ndarray
    hold_damping: np.ndarray
    push: np.ndarray
    edge: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray


@kernel
def fibre_forces(fibres, points, speed, activation, ratio, gamma, force, block, pull, length):
    """Add forces (points, 3) and edge blocks (edges, 6); note tension [N] and length [m] of each fibre."""
    for i in range(fibres.law.size):
        p, q = fibres.ends[i, 0], fibres.ends[i, 1]
        n0 = points[q, 0] - points[p, 0]
        n1 = points[q, 1] - points[p, 1]
        n2 = points[q, 2] - points[p, 2]
        size = max(math.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-6)
        n0, n1, n2 = n0 / size, n1 / size, n2 / size
        rate = n0 * (speed[q, 0] - speed[p, 0]) + n1 * (speed[q, 1] - speed[p, 1]) + n2 * (speed[q, 2] - speed[p, 2])
        g = fibres.group[i]
        drive = fibres.tone[i] + (1.0 - fibres.tone[i]) * activation[g]
        F, by_length, by_speed = tension(fibres.law[i], fibres.parameters[i], size, rate, drive, ratio[g])
        pull[i] = F
        length[i] = size
        if F != 0.0:
            force[p, 0] += F * n0
            force[p, 1] += F * n1
            force[p, 2] += F * n2
            force[q, 0] -= F * n0
            force[q, 1] -= F * n1
            force[q, 2] -= F * n2
        across = gamma * gamma * F / size
        along = gamma * max(by_speed, 0.0) + gamma * gamma * max(by_length, 0.0) - across
        B = block[fibres.edge[i]]
        B[0] += across + along * n0 * n0
        B[1] += along * n0 * n1
        B[2] += along * n0 * n2
        B[3] += across + along * n1 * n1
        B[4] += along * n1 * n2
        B[5] += across + along * n2 * n2


@kernel
def apply_edges(edge, block, speed, out):
    """Operator of all edges on point speeds (points, 3): out += B·(vᵢ − vⱼ) on i, its opposite on j."""
    for k in range(edge.shape[0]):
        p, q = edge[k, 0], edge[k, 1]
        B = block[k]
        d0 = speed[p, 0] - speed[q, 0]
        d1 = speed[p, 1] - speed[q, 1]
        d2 = speed[p, 2] - speed[q, 2]
        t0 = B[0] * d0 + B[1] * d1 + B[2] * d2
        t1 = B[1] * d0 + B[3] * d1 + B[4] * d2
        t2 = B[2] * d0 + B[4] * d1 + B[5] * d2
        out[p, 0] += t0
        out[p, 1] += t1
        out[p, 2] += t2
        out[q, 0] -= t0
        out[q, 1] -= t1
        out[q, 2] -= t2


@kernel
def anchor_places(tissue, pose, anchor):
    """Where both bodies carry each point's rest place: anchor (p, 2, 3)."""
    for i in range(tissue.hold.size):
        for j in range(2):
            b = tissue.body[i, j]
            carry(pose.rotation[b], pose.origin[b], tissue.rest[i], anchor[i, j])


@kernel
def relative_speed(tissue, twist, anchor, speed, out):
    """Speeds of free points relative to their anchors, (p, 3)."""
    for i in range(tissue.hold.size):
        out[i, 0] = speed[i, 0]
        out[i, 1] = speed[i, 1]
        out[i, 2] = speed[i, 2]
        for j in range(2):
            V = twist[tissue.body[i, j]]
            y = anchor[i, j]
            s = tissue.share[i, j]
            out[i, 0] -= s * (V[3] + V[1] * y[2] - V[2] * y[1])
            out[i, 1] -= s * (V[4] + V[2] * y[0] - V[0] * y[2])
            out[i, 2] -= s * (V[5] + V[0] * y[1] - V[1] * y[0])


@kernel
def react(tissue, anchor, f, sign, force, wrench):
    """Give sign·f (p, 3) to the points and its opposite to the bodies that carry their anchors."""
    for i in range(tissue.hold.size):
        f0, f1, f2 = sign * f[i, 0], sign * f[i, 1], sign * f[i, 2]
        force[i, 0] += f0
        force[i, 1] += f1
        force[i, 2] += f2
        for j in range(2):
            W = wrench[tissue.body[i, j]]
            y = anchor[i, j]
            s = tissue.share[i, j]
            W[0] -= s * (y[1] * f2 - y[2] * f1)
            W[1] -= s * (y[2] * f0 - y[0] * f2)
            W[2] -= s * (y[0] * f1 - y[1] * f0)
            W[3] -= s * f0
            W[4] -= s * f1
            W[5] -= s * f2


@kernel
def tissue_forces(tissue, pose, anchor, points, relative, force, wrench):
    """Add what the tissue does to free points (p, 3), with their relative speeds, and to the bodies."""
    count = tissue.hold.size
    d = np.empty((count, 3))
    f = np.empty((count, 3))
    for i in range(count):
        R = pose.rotation[tissue.body[i, 0]]
        push = tissue.push[i]
        hold, damp = tissue.hold[i], tissue.hold_damping[i]
        for a in range(3):
            d[i, a] = points[i, a] - tissue.share[i, 0] * anchor[i, 0, a] - tissue.share[i, 1] * anchor[i, 1, a]
            p = R[a, 0] * push[0] + R[a, 1] * push[1] + R[a, 2] * push[2]
            f[i, a] = p
        W = wrench[tissue.body[i, 0]]
        W[0] += f[i, 1] * d[i, 2] - f[i, 2] * d[i, 1]
        W[1] += f[i, 2] * d[i, 0] - f[i, 0] * d[i, 2]
        W[2] += f[i, 0] * d[i, 1] - f[i, 1] * d[i, 0]
        for a in range(3):
            f[i, a] -= hold * d[i, a] + damp * relative[i, a]
    for k in range(tissue.edge.shape[0]):
        i, j = tissue.edge[k, 0], tissue.edge[k, 1]
        s, c = tissue.stiffness[k], tissue.damping[k]
        for a in range(3):
            t = s * (d[i, a] - d[j, a]) + c * (relative[i, a] - relative[j, a])
            f[i, a] -= t
            f[j, a] += t
    react(tissue, anchor, f, 1.0, force, wrench)


@kernel
def apply_tissue(tissue, anchor, relative, gamma, out, wrench):
    """Operator of the tissue on relative speeds (p, 3): adds to out (p, 3) and wrench (bodies, 6)."""
    count = tissue.hold.size
    f = np.empty((count, 3))
    for i in range(count):
        k = gamma * tissue.hold_damping[i] + gamma * gamma * tissue.hold[i]
        for a in range(3):
            f[i, a] = k * relative[i, a]
    for e in range(tissue.edge.shape[0]):
        i, j = tissue.edge[e, 0], tissue.edge[e, 1]
        k = gamma * tissue.damping[e] + gamma * gamma * tissue.stiffness[e]
        for a in range(3):
            t = k * (relative[i, a] - relative[j, a])
            f[i, a] += t
            f[j, a] -= t
    react(tissue, anchor, f, 1.0, out, wrench)
