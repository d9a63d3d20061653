"""Rigid bodies on joints: poses, the kept rows of the adjoint as columns, inertia, what joints do, and their motion.

Spatial vectors stand about the world's origin: velocity V = [ω; v of the body's point at the origin]. A joint keeps some
directions of the relative twist and drops the others (H §3.1); the kept ones are columns S of the adjoint, so that
V = Σ S u over the joints on a body's path. This solves the same equations as constraining the dropped rows, without
drift. Momentum is carried per body about its own centre of mass, so that no velocity-product terms appear.
"""

from __future__ import annotations

import math

import numpy as np

from risorius.maths.compiled import inner, kernel
from risorius.maths.rotations import left_jacobian_inverse

EXPLICIT = 0.25
"""Part of the inertia up to which h² times a geometric stiffness is taken explicitly (unstable from 4)."""


@inner
def rotation_about(x, y, z, angle, out):
    """Rotation by an angle about a unit axis (Rodrigues) into out (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    k = 1.0 - c
    out[0, 0] = c + k * x * x
    out[0, 1] = k * x * y - s * z
    out[0, 2] = k * x * z + s * y
    out[1, 0] = k * x * y + s * z
    out[1, 1] = c + k * y * y
    out[1, 2] = k * y * z - s * x
    out[2, 0] = k * x * z - s * y
    out[2, 1] = k * y * z + s * x
    out[2, 2] = c + k * z * z


@inner
def rotation_exp(x, y, z, out):
    """Rotation of a vector [rad] into out (3, 3)."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-12:
        rotation_about(1.0, 0.0, 0.0, 0.0, out)
        out[0, 1], out[0, 2], out[1, 2] = -z, y, -x
        out[1, 0], out[2, 0], out[2, 1] = z, -y, x
    else:
        rotation_about(x / angle, y / angle, z / angle, angle, out)


@kernel
def rotation_log(r, out):
    """Rotation vector [rad], at most half a turn, of r (3, 3) into out (3,), by its quaternion."""
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    big = 3
    most = trace
    for k in range(3):
        if r[k, k] > most:
            big, most = k, r[k, k]
    if big == 3:
        w = 1.0 + trace
        x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    elif big == 0:
        w, x = r[2, 1] - r[1, 2], 1.0 + r[0, 0] - r[1, 1] - r[2, 2]
        y, z = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]
    elif big == 1:
        w, y = r[0, 2] - r[2, 0], 1.0 - r[0, 0] + r[1, 1] - r[2, 2]
        x, z = r[0, 1] + r[1, 0], r[1, 2] + r[2, 1]
    else:
        w, z = r[1, 0] - r[0, 1], 1.0 - r[0, 0] - r[1, 1] + r[2, 2]
        x, y = r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    norm = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(norm, w) / norm if norm > 1e-14 * w else 2.0 / w
    out[0], out[1], out[2] = factor * x, factor * y, factor * z


@inner
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def times(a, b, out):
    """Matrix product of (3, 3) into out (may not alias)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@inner
def carry(r, p, x, out):
    """out = r x + p."""
    for i in range(3):
        out[i] = r[i, 0] * x[0] + r[i, 1] * x[1] + r[i, 2] * x[2] + p[i]


@inner
def turn_column(r, p, axis, point, out):
    """Column [a; c × a] of a turn about an axis through a point, both carried by the pose (r, p)."""
    for i in range(3):
        out[i] = r[i, 0] * axis[0] + r[i, 1] * axis[1] + r[i, 2] * axis[2]
    c0 = r[0, 0] * point[0] + r[0, 1] * point[1] + r[0, 2] * point[2] + p[0]
    c1 = r[1, 0] * point[0] + r[1, 1] * point[1] + r[1, 2] * point[2] + p[1]
    c2 = r[2, 0] * point[0] + r[2, 1] * point[1] + r[2, 2] * point[2] + p[2]
    out[3] = c1 * out[2] - c2 * out[1]
    out[4] = c2 * out[0] - c0 * out[2]
    out[5] = c0 * out[1] - c1 * out[0]


@inner
def pose_bodies(tree, angle, turn, shift, rotation, place, column):
    """Poses (b) and columns (m, 6) from joint coordinates: angle of hinges and universals, turn and shift of the others."""
    here, ahead, own = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    point, offset, moved = np.empty(3), np.empty(3), np.empty(3)
    for i in range(tree.parent.size):
        above = tree.parent[i]
        kind, d = tree.kind[i], tree.first[i]
        if above >= 0:
            here[:], point[:] = rotation[above], place[above]
        else:
            rotation_about(1.0, 0.0, 0.0, 0.0, here)
            point[:] = 0.0
        if kind == 1 or kind == 2:
            for k in range(kind):
                axis, centre = tree.axis[d + k], tree.point[d + k]
                turn_column(here, point, axis, centre, column[d + k])
                rotation_about(axis[0], axis[1], axis[2], angle[d + k], own)
                for x in range(3):
                    offset[x] = centre[x] - dot3(own[x], centre)
                carry(here, point, offset, moved)
                point[:] = moved
                times(here, own, ahead)
                here[:] = ahead
            rotation[i], place[i] = here, point
            continue
        if kind == 3:
            for k in range(3):
                turn_column(here, point, tree.axis[d + k], tree.point[d + k], column[d + k])
        times(here, turn[i], rotation[i])
        carry(here, point, shift[i], place[i])
        if kind == 6:
            carry(rotation[i], place[i], tree.centre[i], point)
            for k in range(3):
                for x in range(3):
                    column[d + k, x] = column[d + 3 + k, 3 + x] = here[x, k]
                    column[d + 3 + k, x] = 0.0
                column[d + k, 3] = point[1] * here[2, k] - point[2] * here[1, k]
                column[d + k, 4] = point[2] * here[0, k] - point[0] * here[2, k]
                column[d + k, 5] = point[0] * here[1, k] - point[1] * here[0, k]


@inner
def world_inertia(tree, i, r, out):
    """R I Rᵀ about the centre of mass into out (3, 3)."""
    half = np.empty((3, 3))
    times(r, tree.inertia[i], half)
    for x in range(3):
        for y in range(3):
            out[x, y] = half[x, 0] * r[y, 0] + half[x, 1] * r[y, 1] + half[x, 2] * r[y, 2]


@inner
def spatial_inertia(tree, i, r, p, out):
    """(6, 6) inertia about the world's origin: [angular momentum; momentum] = out · V."""
    c, own = np.empty(3), np.empty((3, 3))
    carry(r, p, tree.centre[i], c)
    world_inertia(tree, i, r, own)
    m = tree.mass[i]
    square = dot3(c, c)
    out[:] = 0.0
    for x in range(3):
        for y in range(3):
            out[x, y] = own[x, y] - m * c[x] * c[y]
        out[x, x] += m * square
        out[3 + x, 3 + x] = m
    out[0, 4], out[0, 5], out[1, 5] = -m * c[2], m * c[1], -m * c[0]
    out[1, 3], out[2, 3], out[2, 4] = m * c[2], -m * c[1], m * c[0]
    for x in range(3):
        for y in range(3):
            out[3 + y, x] = out[x, 3 + y]


@inner
def body_system(tree, rotation, place, column, momentum, base, gravity, h, matrix, right):
    """M = Σ Sᵀ I S into matrix (m, m) and Sᵀ(momentum + h gravity − I·base) into right (m)."""
    count = tree.parent.size
    inertia = np.zeros((count, 6, 6))
    wrench = np.zeros((count, 6))
    c = np.empty(3)
    for i in range(count):
        spatial_inertia(tree, i, rotation[i], place[i], inertia[i])
        carry(rotation[i], place[i], tree.centre[i], c)
        force = momentum[i, 3:] + h * tree.mass[i] * gravity
        wrench[i, 0] = momentum[i, 0] + c[1] * force[2] - c[2] * force[1]
        wrench[i, 1] = momentum[i, 1] + c[2] * force[0] - c[0] * force[2]
        wrench[i, 2] = momentum[i, 2] + c[0] * force[1] - c[1] * force[0]
        wrench[i, 3:] = force
        for x in range(6):
            for y in range(6):
                wrench[i, x] -= inertia[i, x, y] * base[i, y]
    for i in range(count - 1, -1, -1):
        above = tree.parent[i]
        if above >= 0:
            inertia[above] += inertia[i]
            wrench[above] += wrench[i]
    held = np.empty(6)
    for e in range(tree.owner.size):
        i = tree.owner[e]
        for x in range(6):
            held[x] = 0.0
            for y in range(6):
                held[x] += inertia[i, x, y] * column[e, y]
        right[e] = 0.0
        for x in range(6):
            right[e] += column[e, x] * wrench[i, x]
        for k in range(tree.path_first[i], tree.path_first[i + 1]):
            d = tree.path_dof[k]
            if d <= e:
                value = 0.0
                for x in range(6):
                    value += column[d, x] * held[x]
                matrix[d, e] = matrix[e, d] = value


@inner
def law_of(law, angle):
    """Torque, stiffness and damping of one joint direction at an angle."""
    torque = -law[0] * (angle - law[2])
    stiffness, damping = law[0], law[1]
    beyond = max(angle - law[4], 0.0) + min(angle - law[3], 0.0)
    if beyond != 0.0:
        torque -= law[5] * beyond
        stiffness += law[5]
        damping += law[6]
    return torque, stiffness, damping


@inner
def joint_system(tree, angle, turn, h, matrix, right):
    """Springs, dampers and limits of the joints, implicit: h² K + h D on the diagonal of matrix, h τ on right."""
    vector, local, inverse = np.empty(3), np.empty(3), np.empty((3, 3))
    for i in range(tree.parent.size):
        d, kind = tree.first[i], tree.kind[i]
        if kind == 1 or kind == 2:
            for k in range(d, d + kind):
                torque, stiffness, damping = law_of(tree.law[k], angle[k])
                right[k] += h * torque
                matrix[k, k] += h * (h * stiffness + damping)
        elif kind == 3:
            rotation_log(turn[i], vector)
            left_jacobian_inverse(vector[0], vector[1], vector[2], inverse)
            local[:] = 0.0
            for k in range(3):
                axis = tree.axis[d + k]
                torque, stiffness, damping = law_of(tree.law[d + k], dot3(axis, vector))
                matrix[d + k, d + k] += h * (h * stiffness + damping)
                for x in range(3):
                    local[x] += torque * axis[x]
            for x in range(3):
                vector[x] = inverse[0, x] * local[0] + inverse[1, x] * local[1] + inverse[2, x] * local[2]
            for k in range(3):
                right[d + k] += h * dot3(tree.axis[d + k], vector)


@inner
def geometric_stiffness(tree, column, moment, h, matrix):
    """How forces on bodies turn with them, K_de = −Σ F·(a_d × ∂x/∂e): made safe, onto the diagonal of matrix.

    moment (b, 4, 3): Σ x Fᵀ in rows 0–2 and Σ F in row 3 of each body; on return summed over what hangs on it. The
    diagonal that dominates K keeps the operator positive whatever the forces are; only what a step cannot take explicitly
    is added, so that it is gone as h goes to zero.
    """
    bound = np.zeros(tree.owner.size)
    for i in range(tree.parent.size - 1, -1, -1):
        if tree.parent[i] >= 0:
            moment[tree.parent[i]] += moment[i]
    for e in range(tree.owner.size):
        i = tree.owner[e]
        p = moment[i]
        trace = p[0, 0] + p[1, 1] + p[2, 2]
        ae, be = column[e, :3], column[e, 3:]
        if dot3(ae, ae) == 0.0:
            continue
        for k in range(tree.path_first[i], tree.path_first[i + 1]):
            d = tree.path_dof[k]
            if d > e:
                continue
            ad = column[d, :3]
            value = -trace * dot3(ad, ae)
            for x in range(3):
                for y in range(3):
                    value += ad[x] * p[x, y] * ae[y]
            value += p[3, 0] * (ad[1] * be[2] - ad[2] * be[1])
            value += p[3, 1] * (ad[2] * be[0] - ad[0] * be[2])
            value += p[3, 2] * (ad[0] * be[1] - ad[1] * be[0])
            if d == e:
                bound[e] += max(-value, 0.0)
            else:
                bound[e] += abs(value)
                bound[d] += abs(value)
    for e in range(tree.owner.size):
        matrix[e, e] += max(h * h * bound[e] - EXPLICIT * matrix[e, e], 0.0)


@inner
def body_twist(tree, i, column, base, u, out):
    """V of a body into out (6,)."""
    out[:] = base[i]
    for k in range(tree.path_first[i], tree.path_first[i + 1]):
        d = tree.path_dof[k]
        for x in range(6):
            out[x] += column[d, x] * u[d]


@inner
def move_bodies(tree, u, base, h, column, rotation, place, angle, turn, shift, momentum):
    """Momenta of speeds u (m), then joint coordinates one step on. Poses stay; `pose_bodies` follows."""
    v, own, c, w = np.empty(6), np.empty((3, 3)), np.empty(3), np.empty(3)
    ahead = np.empty((3, 3))
    for i in range(tree.parent.size):
        body_twist(tree, i, column, base, u, v)
        carry(rotation[i], place[i], tree.centre[i], c)
        world_inertia(tree, i, rotation[i], own)
        for x in range(3):
            momentum[i, x] = dot3(own[x], v[:3])
        m = tree.mass[i]
        momentum[i, 3] = m * (v[3] + v[1] * c[2] - v[2] * c[1])
        momentum[i, 4] = m * (v[4] + v[2] * c[0] - v[0] * c[2])
        momentum[i, 5] = m * (v[5] + v[0] * c[1] - v[1] * c[0])
        d, kind = tree.first[i], tree.kind[i]
        if kind == 1 or kind == 2:
            for k in range(d, d + kind):
                angle[k] += h * u[k]
        elif kind == 3:
            for x in range(3):
                w[x] = h * (u[d] * tree.axis[d, x] + u[d + 1] * tree.axis[d + 1, x] + u[d + 2] * tree.axis[d + 2, x])
            rotation_exp(w[0], w[1], w[2], own)
            times(own, turn[i], ahead)
            turn[i] = ahead
            for x in range(3):
                shift[i, x] = tree.point[d, x] - dot3(ahead[x], tree.point[d])
            rotation_log(ahead, w)
            for k in range(3):
                angle[d + k] = dot3(tree.axis[d + k], w)
        elif kind == 6:
            carry(turn[i], shift[i], tree.centre[i], c)
            rotation_exp(h * u[d], h * u[d + 1], h * u[d + 2], own)
            times(own, turn[i], ahead)
            turn[i] = ahead
            for x in range(3):
                shift[i, x] = c[x] + h * u[d + 3 + x] - dot3(ahead[x], tree.centre[i])
