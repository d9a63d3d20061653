"""Preconditioned conjugate gradients for A δ = r.

The preconditioner factors the articulated part densely (bodies, joints, all pairs and what soft edges hang on them; kept
for some steps, since it only guides the search), takes the free points by 3×3 blocks, and adds the two pressures exactly
by the Woodbury identity.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import inner
from risorius.mechanics.tree import mass_matrix
from risorius.sim.system import ABDOMEN_SLOPE, System, apply_operator


class Guide(NamedTuple):
    """The preconditioner and the room of the search: lower factor (m, m) and its transpose, pivot (m) one over the factor's
    diagonal, blocks (p, 6) inverse 3×3 symmetric, reach (2, z) = P⁻¹ g, core (2, 2); vectors of the search (z). Factors are
    of single precision: they only guide the search, and reading them is most of its cost."""

    spatial: np.ndarray
    dense: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    pivot: np.ndarray
    short: np.ndarray
    inverse: np.ndarray
    reach: np.ndarray
    core: np.ndarray
    residual: np.ndarray
    search: np.ndarray
    image: np.ndarray
    conditioned: np.ndarray


def guide_for(system: System) -> Guide:
    """Room for a system."""
    n, m, p = len(system.tree.parent), len(system.tree.owner), len(system.points.free)
    size = m + 3 * p
    vectors = [np.zeros(size) for _ in range(4)]
    single = np.eye(m, dtype=np.float32)
    return Guide(
        np.zeros((n, 6, 6)), np.zeros((m, m)), single, single.copy(), np.ones(m, dtype=np.float32),
        np.zeros(m, dtype=np.float32), np.zeros((p, 6)), np.zeros((2, size)), np.zeros((2, 2)), *vectors,
    )  # fmt: skip


@inner
def add_path(system, column, k, W, out):
    """Add Jᵀ W J of pair k (J: the joints between its bodies) to out (m, m)."""
    t = np.empty(6)
    for i in range(system.path_first[k], system.path_first[k + 1]):
        d = system.path_dof[i]
        for a in range(6):
            t[a] = 0.0
            for b in range(6):
                t[a] += W[a, b] * column[d, b]
        for j in range(system.path_first[k], i + 1):
            e = system.path_dof[j]
            value = 0.0
            for a in range(6):
                value += t[a] * column[e, a]
            value *= system.path_sign[i] * system.path_sign[j]
            out[d, e] += value
            if d != e:
                out[e, d] += value


@inner
def point_diagonal(system, work, gamma, diagonal):
    """3×3 diagonal blocks (n, 6) of the soft operator at every surface point."""
    diagonal.fill(0.0)
    for k in range(system.edge.shape[0]):
        for j in range(2):
            q = system.edge[k, j]
            for a in range(6):
                diagonal[q, a] += work.block[k, a]
    contact = system.contact
    for i in range(contact.point.size):
        f = work.foot[i]
        if f < 0:
            continue
        n = work.direction[i]
        for j in range(4):
            q = contact.point[i] if j == 3 else contact.face[f, j]
            s = work.slope[i] * (1.0 if j == 3 else work.share[i, j] * work.share[i, j])
            diagonal[q, 0] += s * n[0] * n[0]
            diagonal[q, 1] += s * n[0] * n[1]
            diagonal[q, 2] += s * n[0] * n[2]
            diagonal[q, 3] += s * n[1] * n[1]
            diagonal[q, 4] += s * n[1] * n[2]
            diagonal[q, 5] += s * n[2] * n[2]
    points, tissue = system.points, system.tissue
    for i in range(points.free.size):
        q = points.free[i]
        s, n = work.ball_slope[i], work.ball_normal[i]
        diagonal[q, 0] += s * n[0] * n[0]
        diagonal[q, 1] += s * n[0] * n[1]
        diagonal[q, 2] += s * n[0] * n[2]
        diagonal[q, 3] += s * n[1] * n[1]
        diagonal[q, 4] += s * n[1] * n[2]
        diagonal[q, 5] += s * n[2] * n[2]
        s = points.mass[i] + gamma * tissue.hold_damping[i] + gamma * gamma * tissue.hold[i]
        diagonal[q, 0] += s
        diagonal[q, 3] += s
        diagonal[q, 5] += s
    for k in range(tissue.edge.shape[0]):
        s = gamma * tissue.damping[k] + gamma * gamma * tissue.stiffness[k]
        for j in range(2):
            q = points.free[tissue.edge[k, j]]
            diagonal[q, 0] += s
            diagonal[q, 3] += s
            diagonal[q, 5] += s


@inner
def factor_bodies(system, work, gamma, diagonal, guide):
    """Dense factor of the articulated part, at the present slopes."""
    tree = system.tree
    m = tree.owner.size
    spatial = guide.spatial
    J = np.empty((3, 6))
    for i in range(spatial.shape[0]):
        for a in range(6):
            for c in range(6):
                spatial[i, a, c] = work.pose.spatial[i, a, c]
    for i in range(system.points.body.size):
        b = system.points.body[i]
        D = diagonal[i]
        if b <= 0 or D[0] + D[3] + D[5] == 0.0:
            continue
        x = work.point[i]
        G = spatial[b]
        # J = [−[x]ₓ, 1]: rows of J are point velocities; add Jᵀ D J
        J.fill(0.0)
        J[0, 1], J[0, 2] = x[2], -x[1]
        J[1, 0], J[1, 2] = -x[2], x[0]
        J[2, 0], J[2, 1] = x[1], -x[0]
        J[0, 3] = J[1, 4] = J[2, 5] = 1.0
        for a in range(6):
            t0 = D[0] * J[0, a] + D[1] * J[1, a] + D[2] * J[2, a]
            t1 = D[1] * J[0, a] + D[3] * J[1, a] + D[4] * J[2, a]
            t2 = D[2] * J[0, a] + D[4] * J[1, a] + D[5] * J[2, a]
            for c in range(6):
                G[a, c] += t0 * J[0, c] + t1 * J[1, c] + t2 * J[2, c]
    dense = guide.dense
    mass_matrix(tree, work.pose.column, spatial, dense)
    for k in range(system.pair.shape[0]):
        add_path(system, work.pose.column, k, work.weight[k], dense)
    for k in range(m):
        dense[k, k] += gamma * work.joint_damping[k] + gamma * gamma * work.joint_slope[k]
    cholesky(dense)
    for i in range(m):
        guide.pivot[i] = 1.0 / dense[i, i]
        for j in range(m):
            guide.upper[i, j] = dense[i, j] if j >= i else 0.0
            guide.lower[i, j] = dense[j, i] if j <= i else 0.0


@inner
def cholesky(matrix):
    """A = Lᵀ L in the upper triangle of `matrix` (m, m), row by row outward so that the inner loop runs along memory.

    Our own, because a threaded library would cost more to wake up than this takes and may differ from run to run.
    """
    m = matrix.shape[0]
    for k in range(m):
        row = matrix[k]
        pivot = math.sqrt(row[k])
        scale = 1.0 / pivot
        row[k] = pivot
        for j in range(k + 1, m):
            row[j] *= scale
        for i in range(k + 1, m):
            factor = row[i]
            if factor != 0.0:
                target = matrix[i]
                for j in range(i, m):
                    target[j] -= factor * row[j]


@inner
def block_inverse(D, out):
    """Inverse of a symmetric 3×3 block (xx, xy, xz, yy, yz, zz) into out (6)."""
    c0 = D[3] * D[5] - D[4] * D[4]
    c1 = D[2] * D[4] - D[1] * D[5]
    c2 = D[1] * D[4] - D[2] * D[3]
    scale = 1.0 / (D[0] * c0 + D[1] * c1 + D[2] * c2)
    out[0] = c0 * scale
    out[1] = c1 * scale
    out[2] = c2 * scale
    out[3] = (D[0] * D[5] - D[2] * D[2]) * scale
    out[4] = (D[1] * D[2] - D[0] * D[4]) * scale
    out[5] = (D[0] * D[3] - D[1] * D[1]) * scale


@inner
def condition_parts(guide, m, r, out):
    """out = P⁻¹ r without the pressures."""
    lower, upper, pivot, x = guide.lower, guide.upper, guide.pivot, guide.short
    for j in range(m):
        x[j] = r[j]
    for j in range(m):
        value = x[j] * pivot[j]
        x[j] = value
        row = upper[j]
        for i in range(j + 1, m):
            x[i] -= row[i] * value
    for j in range(m - 1, -1, -1):
        value = x[j] * pivot[j]
        x[j] = value
        row = lower[j]
        for i in range(j):
            x[i] -= row[i] * value
    for j in range(m):
        out[j] = x[j]
    for i in range(guide.inverse.shape[0]):
        B = guide.inverse[i]
        s = m + 3 * i
        r0, r1, r2 = r[s], r[s + 1], r[s + 2]
        out[s] = B[0] * r0 + B[1] * r1 + B[2] * r2
        out[s + 1] = B[1] * r0 + B[3] * r1 + B[4] * r2
        out[s + 2] = B[2] * r0 + B[4] * r1 + B[5] * r2


@inner
def dot(a, b):
    """Inner product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@inner
def condition(guide, m, r, out):
    """out = P⁻¹ r, pressures included (Woodbury)."""
    condition_parts(guide, m, r, out)
    x, y = dot(guide.reach[0], r), dot(guide.reach[1], r)
    p = guide.core[0, 0] * x + guide.core[0, 1] * y
    q = guide.core[1, 0] * x + guide.core[1, 1] * y
    for k in range(r.size):
        out[k] -= p * guide.reach[0, k] + q * guide.reach[1, k]


@inner
def prepare(system, work, gamma, refactor, diagonal, guide):
    """Make the preconditioner for the last evaluation; the dense factor only when asked."""
    m = system.tree.owner.size
    point_diagonal(system, work, gamma, diagonal)
    if refactor:
        factor_bodies(system, work, gamma, diagonal, guide)
    for i in range(system.points.free.size):
        block_inverse(diagonal[system.points.free[i]], guide.inverse[i])
    for v in range(2):
        condition_parts(guide, m, work.gradient[v], guide.reach[v])
    g = gamma * gamma
    a = 1.0 / (g * work.scalar[ABDOMEN_SLOPE]) + dot(work.gradient[0], guide.reach[0])
    b = dot(work.gradient[0], guide.reach[1])
    d = 1.0 / (g * work.scalar[ABDOMEN_SLOPE + 1]) + dot(work.gradient[1], guide.reach[1])
    scale = 1.0 / (a * d - b * b)
    guide.core[0, 0] = d * scale
    guide.core[0, 1] = guide.core[1, 0] = -b * scale
    guide.core[1, 1] = a * scale


@inner
def solve(system, work, gamma, guide, solution, iterations, tolerance):
    """Solve A δ = guide.residual from δ = 0 into solution; returns the iterations done."""
    m = system.tree.owner.size
    r, p, image, y = guide.residual, guide.search, guide.image, guide.conditioned
    solution.fill(0.0)
    condition(guide, m, r, y)
    for k in range(r.size):
        p[k] = y[k]
    energy = dot(r, y)
    goal = energy * tolerance * tolerance
    for iteration in range(iterations):
        if energy <= goal or energy <= 0.0:
            return iteration
        apply_operator(system, work, p, gamma, image)
        step = energy / dot(p, image)
        for k in range(r.size):
            solution[k] += step * p[k]
            r[k] -= step * image[k]
        condition(guide, m, r, y)
        following = dot(r, y)
        ratio = following / energy
        energy = following
        for k in range(r.size):
            p[k] = y[k] + ratio * p[k]
    return iterations
