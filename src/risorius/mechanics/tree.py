"""Articulated rigid bodies in spatial vectors about the world origin (Featherstone 2008, without transforms).

A twist is V = (ω, v₀), v₀ the velocity of the body point now at the origin, so v(x) = v₀ + ω×x. A wrench is (τ₀, f),
τ₀ = x×f. Both add up along the tree as they are: a body's twist is the sum of its ancestors' columns s_k·u_k, a joint's
load the sum of the wrenches beyond it. A pose takes rest-world points to now: x = R·X + p.

Ball axes are fixed in the parent; a universal joint is two hinges in a row; a free body turns about its joint point and
is moved along world axes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.core.torso import Bodies, Joint
from risorius.maths.compiled import kernel
from risorius.maths.rotations import matrix_from_quaternion, quaternion_from_vector, quaternion_product

FREEDOM = {Joint.FIXED: 0, Joint.HINGE: 1, Joint.UNIVERSAL: 2, Joint.BALL: 3, Joint.FREE: 6}


class Tree(NamedTuple):
    """The constant part: n bodies in topological order, m degrees of freedom.

    parent (n), joint (n), first (n + 1) first dof of each body, owner (m) body of each dof, point (n, 3) joint centres
    at rest [m], axes (n, 3, 3) at rest, mass (n) [kg], centre (n, 3) [m], inertia (n, 3, 3) about the centre [kg m²].
    """

    parent: np.ndarray
    joint: np.ndarray
    first: np.ndarray
    owner: np.ndarray
    point: np.ndarray
    axes: np.ndarray
    mass: np.ndarray
    centre: np.ndarray
    inertia: np.ndarray


class Pose(NamedTuple):
    """Where the tree is, and everything that follows from it.

    turn (n, 4) joint rotation of ball and free bodies, angle (m) of hinge and universal dofs [rad], shift (n, 3) of
    free bodies [m]; derived by `place`: rotation (n, 3, 3), origin (n, 3), column (m, 6), spatial (n, 6, 6).
    """

    turn: np.ndarray
    angle: np.ndarray
    shift: np.ndarray
    rotation: np.ndarray
    origin: np.ndarray
    column: np.ndarray
    spatial: np.ndarray


def tree_of(bodies: Bodies) -> Tree:
    """The kernel's view of bodies."""
    counts = [FREEDOM[Joint(int(kind))] for kind in bodies.joint]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    owner = np.repeat(np.arange(len(counts)), counts).astype(np.int64)
    arrays = (bodies.joint_point, bodies.joint_axes, bodies.mass, bodies.centre, bodies.inertia)
    parent, joint = (np.array(item, dtype=np.int64) for item in (bodies.parent, bodies.joint))
    return Tree(parent, joint, first, owner, *(np.array(item, dtype=np.float64) for item in arrays))


def rest_pose(tree: Tree) -> Pose:
    """The pose in which every joint is at rest."""
    n, m = len(tree.parent), len(tree.owner)
    turn = np.zeros((n, 4))
    turn[:, 0] = 1.0
    pose = Pose(
        turn,
        np.zeros(m),
        np.zeros((n, 3)),
        np.zeros((n, 3, 3)),
        np.zeros((n, 3)),
        np.zeros((m, 6)),
        np.zeros((n, 6, 6)),
    )
    place(tree, pose)
    return pose


@kernel
def rotate_about(axis, angle, out):
    """Rotation matrix about a unit axis (Rodrigues) into out (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis[0], axis[1], axis[2]
    t = 1.0 - c
    out[0, 0] = c + t * x * x
    out[0, 1] = t * x * y - s * z
    out[0, 2] = t * x * z + s * y
    out[1, 0] = t * x * y + s * z
    out[1, 1] = c + t * y * y
    out[1, 2] = t * y * z - s * x
    out[2, 0] = t * x * z - s * y
    out[2, 1] = t * y * z + s * x
    out[2, 2] = c + t * z * z


@kernel
def product(a, b, out):
    """3×3 matrix product a·b into out (no aliasing)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@kernel
def set_column(column, k, ax, ay, az, cx, cy, cz):
    """Column of a turn about an axis through c: s = (e, c×e)."""
    column[k, 0] = ax
    column[k, 1] = ay
    column[k, 2] = az
    column[k, 3] = cy * az - cz * ay
    column[k, 4] = cz * ax - cx * az
    column[k, 5] = cx * ay - cy * ax


@kernel
def place(tree, pose):
    """Fill `rotation`, `origin`, `column` and `spatial` of a pose from its joint coordinates."""
    relative = np.empty((3, 3))
    other = np.empty((3, 3))
    for i in range(tree.parent.size):
        p = tree.parent[i]
        kind = tree.joint[i]
        d = tree.first[i]
        R = pose.rotation[i]
        X = tree.point[i]
        if p < 0:
            for a in range(3):
                pose.origin[i, a] = 0.0
                for b in range(3):
                    R[a, b] = 1.0 if a == b else 0.0
            inertia_about_origin(tree, pose, i)
            continue
        P = pose.rotation[p]
        c0 = P[0, 0] * X[0] + P[0, 1] * X[1] + P[0, 2] * X[2] + pose.origin[p, 0]
        c1 = P[1, 0] * X[0] + P[1, 1] * X[1] + P[1, 2] * X[2] + pose.origin[p, 1]
        c2 = P[2, 0] * X[0] + P[2, 1] * X[1] + P[2, 2] * X[2] + pose.origin[p, 2]
        if kind == 6:
            c0 += pose.shift[i, 0]
            c1 += pose.shift[i, 1]
            c2 += pose.shift[i, 2]
        if kind == 3 or kind == 6:
            matrix_from_quaternion(pose.turn[i], relative)
        elif kind == 1:
            rotate_about(tree.axes[i, 0], pose.angle[d], relative)
        elif kind == 2:
            first = np.empty((3, 3))
            rotate_about(tree.axes[i, 0], pose.angle[d], first)
            rotate_about(tree.axes[i, 1], pose.angle[d + 1], other)
            product(first, other, relative)
        else:
            for a in range(3):
                for b in range(3):
                    relative[a, b] = 1.0 if a == b else 0.0
        product(P, relative, R)
        pose.origin[i, 0] = c0 - (R[0, 0] * X[0] + R[0, 1] * X[1] + R[0, 2] * X[2])
        pose.origin[i, 1] = c1 - (R[1, 0] * X[0] + R[1, 1] * X[1] + R[1, 2] * X[2])
        pose.origin[i, 2] = c2 - (R[2, 0] * X[0] + R[2, 1] * X[1] + R[2, 2] * X[2])
        turns = 3 if kind == 6 else tree.first[i + 1] - d
        for k in range(turns):
            e = tree.axes[i, k]
            if kind == 2 and k == 1:  # carried by the first hinge
                f0 = first[0, 0] * e[0] + first[0, 1] * e[1] + first[0, 2] * e[2]
                f1 = first[1, 0] * e[0] + first[1, 1] * e[1] + first[1, 2] * e[2]
                f2 = first[2, 0] * e[0] + first[2, 1] * e[1] + first[2, 2] * e[2]
            else:
                f0, f1, f2 = e[0], e[1], e[2]
            a0 = P[0, 0] * f0 + P[0, 1] * f1 + P[0, 2] * f2
            a1 = P[1, 0] * f0 + P[1, 1] * f1 + P[1, 2] * f2
            a2 = P[2, 0] * f0 + P[2, 1] * f1 + P[2, 2] * f2
            set_column(pose.column, d + k, a0, a1, a2, c0, c1, c2)
        if kind == 6:
            for k in range(3):
                for a in range(6):
                    pose.column[d + 3 + k, a] = 1.0 if a == 3 + k else 0.0
        inertia_about_origin(tree, pose, i)


@kernel
def inertia_about_origin(tree, pose, i):
    """Spatial inertia of body i about the world origin: [[I_c + m(c²1 − ccᵀ), m[c]ₓ], [−m[c]ₓ, m1]]."""
    R = pose.rotation[i]
    X = tree.centre[i]
    m = tree.mass[i]
    c = np.empty(3)
    for a in range(3):
        c[a] = R[a, 0] * X[0] + R[a, 1] * X[1] + R[a, 2] * X[2] + pose.origin[i, a]
    G = pose.spatial[i]
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    I0 = tree.inertia[i]
    for a in range(3):
        for b in range(a, 3):
            value = 0.0
            for k in range(3):
                value += R[a, k] * (I0[k, 0] * R[b, 0] + I0[k, 1] * R[b, 1] + I0[k, 2] * R[b, 2])
            value -= m * c[a] * c[b]
            if a == b:
                value += m * square
            G[a, b] = value
            G[b, a] = value
            G[3 + a, 3 + b] = m if a == b else 0.0
            G[3 + b, 3 + a] = G[3 + a, 3 + b]
    G[0, 3], G[0, 4], G[0, 5] = 0.0, -m * c[2], m * c[1]
    G[1, 3], G[1, 4], G[1, 5] = m * c[2], 0.0, -m * c[0]
    G[2, 3], G[2, 4], G[2, 5] = -m * c[1], m * c[0], 0.0
    for a in range(3):
        for b in range(3):
            G[3 + b, a] = G[a, 3 + b]


@kernel
def advance(tree, base, step, pose):
    """Joint coordinates `base` moved by increments `step` (m) [rad, m], into `pose` (then call `place`)."""
    small = np.empty(4)
    for i in range(tree.parent.size):
        kind = tree.joint[i]
        d = tree.first[i]
        if kind == 3 or kind == 6:
            e = tree.axes[i]
            a, b, c = step[d], step[d + 1], step[d + 2]
            x = a * e[0, 0] + b * e[1, 0] + c * e[2, 0]
            y = a * e[0, 1] + b * e[1, 1] + c * e[2, 1]
            z = a * e[0, 2] + b * e[1, 2] + c * e[2, 2]
            quaternion_from_vector(x, y, z, small)
            quaternion_product(small, base.turn[i], pose.turn[i])
            if kind == 6:
                for k in range(3):
                    pose.shift[i, k] = base.shift[i, k] + step[d + 3 + k]
        else:
            for k in range(d, tree.first[i + 1]):
                pose.angle[k] = base.angle[k] + step[k]


@kernel
def twists(tree, column, u, out):
    """Twists of all bodies from joint speeds u (m), into out (n, 6)."""
    for i in range(tree.parent.size):
        p = tree.parent[i]
        for a in range(6):
            out[i, a] = out[p, a] if p >= 0 else 0.0
        for k in range(tree.first[i], tree.first[i + 1]):
            for a in range(6):
                out[i, a] += column[k, a] * u[k]


@kernel
def joint_loads(tree, column, wrench, out):
    """Joint forces out (m) += sᵀ·(sum of wrenches beyond the joint); sums `wrench` (n, 6) toward the root in place."""
    for i in range(tree.parent.size - 1, -1, -1):
        for k in range(tree.first[i], tree.first[i + 1]):
            total = 0.0
            for a in range(6):
                total += column[k, a] * wrench[i, a]
            out[k] += total
        p = tree.parent[i]
        if p >= 0:
            for a in range(6):
                wrench[p, a] += wrench[i, a]


@kernel
def cross_motion(v, s, out):
    """Spatial cross product of motions v × s into out (6,)."""
    out[0] = v[1] * s[2] - v[2] * s[1]
    out[1] = v[2] * s[0] - v[0] * s[2]
    out[2] = v[0] * s[1] - v[1] * s[0]
    out[3] = v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1]
    out[4] = v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2]
    out[5] = v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0]


@kernel
def bias_wrench(tree, pose, u, twist, acceleration, wrench):
    """Wrenches (n, 6) that the motion itself asks for at u̇ = 0: I·A + V ×* (I·V); `acceleration` is room (n, 6)."""
    rate = np.empty(6)
    frame = np.empty(6)
    h = np.empty(6)
    for i in range(tree.parent.size):
        p = tree.parent[i]
        A = acceleration[i]
        for a in range(6):
            A[a] = acceleration[p, a] if p >= 0 else 0.0
        if p >= 0:
            d = tree.first[i]
            for a in range(6):
                frame[a] = twist[p, a]
            for k in range(d, tree.first[i + 1]):
                s = pose.column[k]
                if tree.joint[i] == 6:
                    # axes fixed in the world, through a point that moves along: ṡ = (0, ċ×e)
                    if k < d + 3:
                        vx, vy, vz = u[d + 3], u[d + 4], u[d + 5]
                        A[3] += (vy * s[2] - vz * s[1]) * u[k]
                        A[4] += (vz * s[0] - vx * s[2]) * u[k]
                        A[5] += (vx * s[1] - vy * s[0]) * u[k]
                    continue
                cross_motion(frame, s, rate)
                for a in range(6):
                    A[a] += rate[a] * u[k]
                if tree.joint[i] == 2:
                    for a in range(6):
                        frame[a] += s[a] * u[k]
        V = twist[i]
        G = pose.spatial[i]
        W = wrench[i]
        for a in range(6):
            h[a] = 0.0
            W[a] = 0.0
            for b in range(6):
                h[a] += G[a, b] * V[b]
                W[a] += G[a, b] * A[b]
        W[0] += V[1] * h[2] - V[2] * h[1] + V[4] * h[5] - V[5] * h[4]
        W[1] += V[2] * h[0] - V[0] * h[2] + V[5] * h[3] - V[3] * h[5]
        W[2] += V[0] * h[1] - V[1] * h[0] + V[3] * h[4] - V[4] * h[3]
        W[3] += V[1] * h[5] - V[2] * h[4]
        W[4] += V[2] * h[3] - V[0] * h[5]
        W[5] += V[0] * h[4] - V[1] * h[3]


@kernel
def mass_matrix(tree, column, spatial, out):
    """Joint-space inertia (m, m) from spatial matrices (n, 6, 6) by composite bodies; spatial is summed in place."""
    m = tree.owner.size
    F = np.empty(6)
    for i in range(m):
        for j in range(m):
            out[i, j] = 0.0
    for i in range(tree.parent.size - 1, -1, -1):
        G = spatial[i]
        p = tree.parent[i]
        for k in range(tree.first[i], tree.first[i + 1]):
            for a in range(6):
                F[a] = 0.0
                for b in range(6):
                    F[a] += G[a, b] * column[k, b]
            body = i
            while body >= 0:
                for j in range(tree.first[body], tree.first[body + 1]):
                    value = 0.0
                    for a in range(6):
                        value += column[j, a] * F[a]
                    out[k, j] = value
                    out[j, k] = value
                body = tree.parent[body]
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    spatial[p, a, b] += G[a, b]
