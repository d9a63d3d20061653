"""Straight muscles and springs between rigid bodies.

A line pulls with tension F along n, from end a to end b; about the world origin both ends feel the same line wrench
s = (x×n, n), with opposite signs. For the solver, the slopes of all elements between the same two bodies are summed
into one 6×6 matrix W = Σ (γ ∂F/∂l' + γ² ∂F/∂l) s sᵀ a pair, positive slopes only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import kernel
from risorius.maths.rotations import left_jacobian_inverse
from risorius.mechanics.muscles import tension


class Lines(NamedTuple):
    """law (n), parameters (n, 6), group (n), body (n, 2), point (n, 2, 3) rest-world ends [m], pair (n), share (n) of the
    group's activation that reaches the element, tone (n) the activation that it keeps at rest."""

    law: np.ndarray
    parameters: np.ndarray
    group: np.ndarray
    body: np.ndarray
    point: np.ndarray
    pair: np.ndarray
    share: np.ndarray
    tone: np.ndarray


class Struts(NamedTuple):
    """Elastic joints between two bodies: body (n, 2), point (n, 3) rest-world [m], stiffness [N/m], turning [N m/rad], their
    damping [N s/m, N m s/rad] (n); offset (n, 3) [m] and bend (n, 3) [rad], the unloaded place in the first body's rest
    frame; reach (n) [m] and swing (n) [rad], how far from rest the stiffness has doubled; pair (n)."""

    body: np.ndarray
    point: np.ndarray
    stiffness: np.ndarray
    turning: np.ndarray
    damping: np.ndarray
    turning_damping: np.ndarray
    offset: np.ndarray
    bend: np.ndarray
    reach: np.ndarray
    swing: np.ndarray
    pair: np.ndarray


@kernel
def carry(rotation, origin, X, out):
    """Where a rest-world point of a body is now, into out (3,)."""
    for a in range(3):
        out[a] = rotation[a, 0] * X[0] + rotation[a, 1] * X[1] + rotation[a, 2] * X[2] + origin[a]


@kernel
def line_forces(lines, pose, tree, twist, activation, ratio, gamma, wrench, weight, steady, force, length):
    """Add wrenches (bodies, 6), upper triangles of the pair matrices `weight` (pairs, 6, 6) and `steady` (bodies) [N m],
    what tension away from a body's own joint adds to that joint's stiffness; note tension [N] and length [m] of each line.

    Tension F on a length l also resists motion across the line by F/l; taken at the line's middle, so that turning both
    bodies together costs nothing.
    """
    xa = np.empty(3)
    xb = np.empty(3)
    middle = np.empty(3)
    s = np.empty(6)
    joint = np.empty((tree.parent.size, 3))
    for b in range(tree.parent.size):
        carry(pose.rotation[b], pose.origin[b], tree.point[b], joint[b])
    for i in range(lines.law.size):
        a, b = lines.body[i, 0], lines.body[i, 1]
        carry(pose.rotation[a], pose.origin[a], lines.point[i, 0], xa)
        carry(pose.rotation[b], pose.origin[b], lines.point[i, 1], xb)
        n0, n1, n2 = xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2]
        size = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        scale = 1.0 / max(size, 1e-9)
        n0, n1, n2 = n0 * scale, n1 * scale, n2 * scale
        s[0] = xa[1] * n2 - xa[2] * n1
        s[1] = xa[2] * n0 - xa[0] * n2
        s[2] = xa[0] * n1 - xa[1] * n0
        s[3], s[4], s[5] = n0, n1, n2
        speed = 0.0
        for k in range(6):
            speed += s[k] * (twist[b, k] - twist[a, k])
        g = lines.group[i]
        drive = lines.tone[i] + (1.0 - lines.tone[i]) * lines.share[i] * activation[g]
        pull, by_length, by_speed = tension(lines.law[i], lines.parameters[i], size, speed, drive, ratio[g])
        force[i] = pull
        length[i] = size
        if pull != 0.0:
            for k in range(6):
                wrench[a, k] += pull * s[k]
                wrench[b, k] -= pull * s[k]
        slope = gamma * max(by_speed, 0.0) + gamma * gamma * max(by_length, 0.0)
        if slope > 0.0 or pull > 0.0:
            W = weight[lines.pair[i]]
            across = gamma * gamma * pull * scale
            for k in range(3):
                middle[k] = 0.5 * (xa[k] + xb[k])
            point_weight(middle, across, 0.0, W)
            slope -= across
            steady[a] += max(pull * lever(joint[a], xa, n0, n1, n2), 0.0)
            steady[b] += max(-pull * lever(joint[b], xb, n0, n1, n2), 0.0)
            for k in range(6):
                t = slope * s[k]
                for j in range(k, 6):
                    W[k, j] += t * s[j]


@kernel
def lever(centre, x, n0, n1, n2):
    """n·(x − c): how far along n [m] a point lies from a joint centre c."""
    return n0 * (x[0] - centre[0]) + n1 * (x[1] - centre[1]) + n2 * (x[2] - centre[2])


@kernel
def strut_forces(struts, pose, twist, gamma, wrench, weight):
    """Add wrenches and upper triangles of the pair matrices of elastic joints, which harden away from rest: potential
    ½ k (|Rₐᵀ d − d0|² + |d|⁴/2r²) + ½ k_t (|θ − θ0|² + |θ|⁴/2s²) with reach r and swing s."""
    xa = np.empty(3)
    x = np.empty(3)
    theta = np.empty(3)
    inverse = np.empty((3, 3))
    w = np.empty(6)
    v = np.empty(6)
    for i in range(struts.pair.size):
        a, b = struts.body[i, 0], struts.body[i, 1]
        Ra, Rb = pose.rotation[a], pose.rotation[b]
        carry(Ra, pose.origin[a], struts.point[i], xa)
        carry(Rb, pose.origin[b], struts.point[i], x)
        k, c = struts.stiffness[i], struts.damping[i]
        kt, ct = struts.turning[i], struts.turning_damping[i]
        for j in range(6):
            v[j] = twist[b, j] - twist[a, j]
        speed0 = v[3] + v[1] * x[2] - v[2] * x[1]
        speed1 = v[4] + v[2] * x[0] - v[0] * x[2]
        speed2 = v[5] + v[0] * x[1] - v[1] * x[0]
        offset = struts.offset[i]
        f = np.empty(3)
        harder = 0.0
        for j in range(3):
            harder += (x[j] - xa[j]) ** 2
        harder /= struts.reach[i] * struts.reach[i]
        for j in range(3):
            rest = Ra[j, 0] * offset[0] + Ra[j, 1] * offset[1] + Ra[j, 2] * offset[2]
            f[j] = k * ((1.0 + harder) * (x[j] - xa[j]) - rest)
        f[0] += c * speed0
        f[1] += c * speed1
        f[2] += c * speed2
        # relative rotation Rₐᵀ R_b as a vector in a's rest frame
        r00 = Ra[0, 0] * Rb[0, 0] + Ra[1, 0] * Rb[1, 0] + Ra[2, 0] * Rb[2, 0]
        r11 = Ra[0, 1] * Rb[0, 1] + Ra[1, 1] * Rb[1, 1] + Ra[2, 1] * Rb[2, 1]
        r22 = Ra[0, 2] * Rb[0, 2] + Ra[1, 2] * Rb[1, 2] + Ra[2, 2] * Rb[2, 2]
        r21 = Ra[0, 2] * Rb[0, 1] + Ra[1, 2] * Rb[1, 1] + Ra[2, 2] * Rb[2, 1]
        r12 = Ra[0, 1] * Rb[0, 2] + Ra[1, 1] * Rb[1, 2] + Ra[2, 1] * Rb[2, 2]
        r02 = Ra[0, 0] * Rb[0, 2] + Ra[1, 0] * Rb[1, 2] + Ra[2, 0] * Rb[2, 2]
        r20 = Ra[0, 2] * Rb[0, 0] + Ra[1, 2] * Rb[1, 0] + Ra[2, 2] * Rb[2, 0]
        r10 = Ra[0, 1] * Rb[0, 0] + Ra[1, 1] * Rb[1, 0] + Ra[2, 1] * Rb[2, 0]
        r01 = Ra[0, 0] * Rb[0, 1] + Ra[1, 0] * Rb[1, 1] + Ra[2, 0] * Rb[2, 1]
        h0, h1, h2 = 0.5 * (r21 - r12), 0.5 * (r02 - r20), 0.5 * (r10 - r01)
        sine = math.sqrt(h0 * h0 + h1 * h1 + h2 * h2)
        cosine = 0.5 * (r00 + r11 + r22 - 1.0)
        factor = math.atan2(sine, cosine) / sine if sine > 1e-9 else 1.0
        theta[0], theta[1], theta[2] = factor * h0, factor * h1, factor * h2
        left_jacobian_inverse(theta[0], theta[1], theta[2], inverse)
        bend = struts.bend[i]
        tighter = (theta[0] ** 2 + theta[1] ** 2 + theta[2] ** 2) / (struts.swing[i] * struts.swing[i])
        m = np.empty(3)
        for j in range(3):
            m[j] = 0.0
            for q in range(3):
                m[j] += inverse[q, j] * kt * ((1.0 + tighter) * theta[q] - bend[q])
        w[0] = Ra[0, 0] * m[0] + Ra[0, 1] * m[1] + Ra[0, 2] * m[2] + ct * v[0] + x[1] * f[2] - x[2] * f[1]
        w[1] = Ra[1, 0] * m[0] + Ra[1, 1] * m[1] + Ra[1, 2] * m[2] + ct * v[1] + x[2] * f[0] - x[0] * f[2]
        w[2] = Ra[2, 0] * m[0] + Ra[2, 1] * m[1] + Ra[2, 2] * m[2] + ct * v[2] + x[0] * f[1] - x[1] * f[0]
        w[3], w[4], w[5] = f[0], f[1], f[2]
        for j in range(6):
            wrench[a, j] += w[j]
            wrench[b, j] -= w[j]
        # slopes between those along (1 + 3 h) and across (1 + h) the displacement
        k *= 1.0 + 2.0 * harder
        kt *= 1.0 + 2.0 * tighter
        point_weight(x, gamma * c + gamma * gamma * k, gamma * ct + gamma * gamma * kt, weight[struts.pair[i]])


@kernel
def point_weight(x, k, kt, W):
    """Add to the upper triangle of W (6, 6) the matrix of an isotropic spring k at x and an isotropic turning spring kt."""
    x0, x1, x2 = x[0], x[1], x[2]
    W[0, 0] += k * (x1 * x1 + x2 * x2) + kt
    W[1, 1] += k * (x0 * x0 + x2 * x2) + kt
    W[2, 2] += k * (x0 * x0 + x1 * x1) + kt
    W[0, 1] -= k * x0 * x1
    W[0, 2] -= k * x0 * x2
    W[1, 2] -= k * x1 * x2
    W[0, 4] -= k * x2
    W[0, 5] += k * x1
    W[1, 3] += k * x2
    W[1, 5] -= k * x0
    W[2, 3] -= k * x1
    W[2, 4] += k * x0
    W[3, 3] += k
    W[4, 4] += k
    W[5, 5] += k


@kernel
def fill_lower(weight):
    """Lower triangles of symmetric matrices (n, 6, 6) from their upper ones."""
    for i in range(weight.shape[0]):
        W = weight[i]
        for k in range(1, 6):
            for j in range(k):
                W[k, j] = W[j, k]


@kernel
def apply_pairs(pair, weight, twist, wrench):
    """Operator of all pairs: wrench (bodies, 6) += W·(V_a − V_b) on a, its opposite on b."""
    for i in range(pair.shape[0]):
        a, b = pair[i, 0], pair[i, 1]
        W = weight[i]
        Va, Vb = twist[a], twist[b]
        d0, d1, d2 = Va[0] - Vb[0], Va[1] - Vb[1], Va[2] - Vb[2]
        d3, d4, d5 = Va[3] - Vb[3], Va[4] - Vb[4], Va[5] - Vb[5]
        for k in range(6):
            value = W[k, 0] * d0 + W[k, 1] * d1 + W[k, 2] * d2 + W[k, 3] * d3 + W[k, 4] * d4 + W[k, 5] * d5
            wrench[a, k] += value
            wrench[b, k] -= value
