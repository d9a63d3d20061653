"""One-sided contact of free points with the inside of the rib cage: the diaphragm lies on the ribs and slides on them.

A point past the wall by depth g (along the wall's outward normal, interpolated over the triangle so that sliding from
face to face is smooth) is pushed back with F = k g; within ±ε of the wall F rises as k (g + ε)²/4ε, so the stiffness
is continuous. The ribs get the opposite, shared by the triangle's corners. So abdominal pressure presses the apposed
diaphragm on the ribs: the zone of apposition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import kernel


class Contact(NamedTuple):
    """point (c) surface points that may touch, start (c) their faces at rest, face (f, 3) surface points of the wall,
    neighbour (f, 3) face across the edge opposite each corner (-1: none), corner (f, 3) index into `touched`, touched (t)
    the surface points of the wall; stiffness [N/m], damping [N s/m], softness ε [m] and level [m], the depth at which the
    point meets the wall (c)."""

    point: np.ndarray
    start: np.ndarray
    face: np.ndarray
    neighbour: np.ndarray
    corner: np.ndarray
    touched: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    softness: np.ndarray
    level: np.ndarray


WALK_LIMIT = 24


@kernel
def face_share(points, face, x, share):
    """Barycentric coordinates of the foot of x on the plane of a face, into share (3,)."""
    a, b, c = points[face[0]], points[face[1]], points[face[2]]
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    w0, w1, w2 = x[0] - a[0], x[1] - a[1], x[2] - a[2]
    uu = u0 * u0 + u1 * u1 + u2 * u2
    uv = u0 * v0 + u1 * v1 + u2 * v2
    vv = v0 * v0 + v1 * v1 + v2 * v2
    wu = w0 * u0 + w1 * u1 + w2 * u2
    wv = w0 * v0 + w1 * v1 + w2 * v2
    scale = 1.0 / max(uu * vv - uv * uv, 1e-18)
    share[1] = (vv * wu - uv * wv) * scale
    share[2] = (uu * wv - uv * wu) * scale
    share[0] = 1.0 - share[1] - share[2]


@kernel
def wall_normals(contact, points, normal):
    """Area-weighted normals of the wall's corners (t, 3), outward."""
    normal.fill(0.0)
    for i in range(contact.face.shape[0]):
        a, b, c = points[contact.face[i, 0]], points[contact.face[i, 1]], points[contact.face[i, 2]]
        u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        for k in range(3):
            t = contact.corner[i, k]
            normal[t, 0] += n0
            normal[t, 1] += n1
            normal[t, 2] += n2


@kernel
def find_contacts(contact, points, speed, gamma, normal, force, foot, share, direction, slope, depth):
    """Walk each point to its face from its rest face, push it back where it is past the wall.

    Adds to force (points, 3); fills for each candidate foot (c) face or -1, share (c, 3), direction (c, 3) and slope (c) of
    the operator; depth (c) [m] past the wall. Returns the number of points in contact.
    """
    wall_normals(contact, points, normal)
    touching = 0
    w = np.empty(3)
    for i in range(contact.point.size):
        p = contact.point[i]
        x = points[p]
        f = contact.start[i]
        foot[i] = -1
        inside = False
        previous = -1
        for walk in range(WALK_LIMIT):
            face_share(points, contact.face[f], x, w)
            worst = 0
            if w[1] < w[worst]:
                worst = 1
            if w[2] < w[worst]:
                worst = 2
            if w[worst] >= -1e-9:
                inside = True
                break
            following = contact.neighbour[f, worst]
            if following < 0:
                break
            if following == previous or walk == WALK_LIMIT - 1:
                # past a convex edge or corner the foot lies on no face: take the nearest place on this one
                total = 0.0
                for k in range(3):
                    w[k] = max(w[k], 0.0)
                    total += w[k]
                for k in range(3):
                    w[k] /= total
                inside = True
                break
            previous = f
            f = following
        if not inside:
            depth[i] = -1.0
            continue
        n0 = n1 = n2 = g0 = g1 = g2 = 0.0
        for k in range(3):
            t, q = contact.corner[f, k], contact.face[f, k]
            n0 += w[k] * normal[t, 0]
            n1 += w[k] * normal[t, 1]
            n2 += w[k] * normal[t, 2]
            g0 += w[k] * points[q, 0]
            g1 += w[k] * points[q, 1]
            g2 += w[k] * points[q, 2]
        scale = 1.0 / max(math.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-18)
        n0, n1, n2 = n0 * scale, n1 * scale, n2 * scale
        gap = (x[0] - g0) * n0 + (x[1] - g1) * n1 + (x[2] - g2) * n2
        depth[i] = gap
        gap -= contact.level[i]
        soft = contact.softness[i]
        if gap <= -soft:
            continue
        k = contact.stiffness[i]
        c = contact.damping[i]
        if gap < soft:
            reach = (gap + soft) / (2.0 * soft)
            push = k * (gap + soft) * 0.5 * reach
            k *= reach
            c *= reach
        else:
            push = k * gap
        rate = n0 * speed[p, 0] + n1 * speed[p, 1] + n2 * speed[p, 2]
        for j in range(3):
            q = contact.face[f, j]
            rate -= w[j] * (n0 * speed[q, 0] + n1 * speed[q, 1] + n2 * speed[q, 2])
        total = push + c * rate
        if total <= 0.0:
            continue
        touching += 1
        foot[i] = f
        slope[i] = gamma * c + gamma * gamma * k
        direction[i, 0], direction[i, 1], direction[i, 2] = n0, n1, n2
        force[p, 0] -= total * n0
        force[p, 1] -= total * n1
        force[p, 2] -= total * n2
        for j in range(3):
            share[i, j] = w[j]
            q = contact.face[f, j]
            force[q, 0] += w[j] * total * n0
            force[q, 1] += w[j] * total * n1
            force[q, 2] += w[j] * total * n2
    return touching


@kernel
def apply_contacts(contact, foot, share, direction, slope, speed, out):
    """Operator of all contacts on point speeds (points, 3), added to out (points, 3)."""
    for i in range(contact.point.size):
        f = foot[i]
        if f < 0:
            continue
        p = contact.point[i]
        n = direction[i]
        rate = n[0] * speed[p, 0] + n[1] * speed[p, 1] + n[2] * speed[p, 2]
        for j in range(3):
            q = contact.face[f, j]
            rate -= share[i, j] * (n[0] * speed[q, 0] + n[1] * speed[q, 1] + n[2] * speed[q, 2])
        rate *= slope[i]
        for a in range(3):
            out[p, a] += rate * n[a]
        for j in range(3):
            q = contact.face[f, j]
            for a in range(3):
                out[q, a] -= share[i, j] * rate * n[a]
