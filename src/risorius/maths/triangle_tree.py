"""Closest points and rays on any set of triangles: no topology is asked for."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.compiled import inner, kernel

Floats = NDArray[np.float64]
LEAF: Final = 4
DEPTH: Final = 128


class TriangleTree:
    """A tree of boxes over triangles, sorted along a space-filling curve.

    Args:
        vertices: (n, 3); faces: (m, 3), at least one.
    """

    def __init__(self, vertices: Floats, faces: NDArray[np.integer]) -> None:
        corners = np.asarray(vertices, dtype=np.float64)[np.asarray(faces)]
        self.order = np.argsort(morton(corners.mean(axis=1)), kind="stable")
        self.corners = np.ascontiguousarray(corners[self.order])
        leaves = max(1, -(-len(corners) // LEAF))
        self.levels = int(np.ceil(np.log2(leaves)))
        self.boxes = boxes(self.corners, self.levels)

    def closest(self, points: Floats) -> tuple[Floats, Floats, NDArray[np.int64], Floats]:
        """For points (k, 3): distance (k,), place (k, 3), triangle (k,), shares of its corners (k, 3)."""
        place, shares, which = nearest(np.ascontiguousarray(points, dtype=np.float64), self.corners, self.boxes)
        return np.linalg.norm(place - points, axis=1), place, self.order[which], shares

    def rays(
        self, origins: Floats, directions: Floats, low: float = 0.0, high: float = np.inf
    ) -> tuple[Floats, NDArray[np.int64]]:
        """First hit of each ray x + t d with low ≤ t ≤ high: t (k,), inf where there is none, and the triangle."""
        t, which = hits(np.ascontiguousarray(origins, dtype=np.float64),
                        np.ascontiguousarray(directions, dtype=np.float64), self.corners, self.boxes, low,
                        min(high, 1e300))  # fmt: skip
        return t, np.where(which >= 0, self.order[which], -1)


def morton(points: Floats) -> NDArray[np.uint64]:
    """Place of each point along a curve that keeps neighbours together: interleaved bits, 20 an axis."""
    low = points.min(axis=0)
    size = max(float(np.ptp(points, axis=0).max()), 1e-300)
    cell = np.clip((points - low) / size * ((1 << 20) - 1), 0, (1 << 20) - 1).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for bit in range(20):
        for axis in range(3):
            code |= ((cell[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return code


def boxes(corners: Floats, levels: int) -> Floats:
    """(2^(levels+1) − 1, 2, 3) boxes of a full binary tree; node k has children 2k + 1 and 2k + 2."""
    leaves = 1 << levels
    out = np.empty((2 * leaves - 1, 2, 3))
    out[:, 0], out[:, 1] = np.inf, -np.inf
    starts = np.arange(leaves) * LEAF
    used = starts < len(corners)
    flat_low, flat_high = corners.min(axis=1), corners.max(axis=1)
    base = leaves - 1
    out[base : base + used.sum(), 0] = np.minimum.reduceat(flat_low, starts[used])
    out[base : base + used.sum(), 1] = np.maximum.reduceat(flat_high, starts[used])
    for level in range(levels - 1, -1, -1):
        first = (1 << level) - 1
        here = np.arange(first, 2 * first + 1)
        out[here, 0] = np.minimum(out[2 * here + 1, 0], out[2 * here + 2, 0])
        out[here, 1] = np.maximum(out[2 * here + 1, 1], out[2 * here + 2, 1])
    return out


@inner
def box_distance(box, p):
    total = 0.0
    for axis in range(3):
        short = max(box[0, axis] - p[axis], p[axis] - box[1, axis], 0.0)
        total += short * short
    return total


@kernel
def nearest(points, corners, tree):
    count, leaf_base = len(points), len(tree) // 2
    place, shares = np.zeros((count, 3)), np.zeros((count, 3))
    which = np.zeros(count, np.int64)
    stack = np.empty(DEPTH, np.int64)
    share = np.empty(3)
    for i in range(count):
        p = points[i]
        best = np.inf
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            if box_distance(tree[node], p) >= best:
                continue
            if node >= leaf_base:
                start = (node - leaf_base) * LEAF
                for t in range(start, min(start + LEAF, len(corners))):
                    d = on_triangle(p, corners[t], share)
                    if d < best:
                        best = d
                        which[i] = t
                        for axis in range(3):
                            shares[i, axis] = share[axis]
                            place[i, axis] = (share[0] * corners[t, 0, axis] + share[1] * corners[t, 1, axis]
                                              + share[2] * corners[t, 2, axis])  # fmt: skip
            else:
                a, b = 2 * node + 1, 2 * node + 2
                if box_distance(tree[a], p) < box_distance(tree[b], p):
                    a, b = b, a
                stack[top] = a
                stack[top + 1] = b
                top += 2
    return place, shares, which


@inner
def on_triangle(p, corner, share):
    """Squared distance of p from a triangle; `share` gets the corners' shares of the closest point."""
    best = np.inf
    e1, e2, r = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        e1[k] = corner[1, k] - corner[0, k]
        e2[k] = corner[2, k] - corner[0, k]
        r[k] = p[k] - corner[0, k]
    a = e1[0] * e1[0] + e1[1] * e1[1] + e1[2] * e1[2]
    b = e1[0] * e2[0] + e1[1] * e2[1] + e1[2] * e2[2]
    c = e2[0] * e2[0] + e2[1] * e2[1] + e2[2] * e2[2]
    d = e1[0] * r[0] + e1[1] * r[1] + e1[2] * r[2]
    e = e2[0] * r[0] + e2[1] * r[1] + e2[2] * r[2]
    det = a * c - b * b
    if det > 1e-14 * a * c:
        s, t = (c * d - b * e) / det, (a * e - b * d) / det
        if s >= 0 and t >= 0 and s + t <= 1:
            share[0], share[1], share[2] = 1 - s - t, s, t
            total = 0.0
            for k in range(3):
                total += (r[k] - s * e1[k] - t * e2[k]) ** 2
            return total
    for side in range(3):  # outside, or no area: the nearest of the three edges
        i, j = side, (side + 1) % 3
        along = square = 0.0
        for k in range(3):
            edge = corner[j, k] - corner[i, k]
            along += edge * (p[k] - corner[i, k])
            square += edge * edge
        s = min(max(along / square, 0.0), 1.0) if square > 0 else 0.0
        total = 0.0
        for k in range(3):
            total += (p[k] - corner[i, k] - s * (corner[j, k] - corner[i, k])) ** 2
        if total < best:
            best = total
            share[i], share[j], share[3 - i - j] = 1 - s, s, 0.0
    return best


@inner
def crosses_box(box, o, d, low, high):
    for axis in range(3):
        if d[axis] == 0.0:
            if o[axis] < box[0, axis] or o[axis] > box[1, axis]:
                return False
        else:
            a = (box[0, axis] - o[axis]) / d[axis]
            b = (box[1, axis] - o[axis]) / d[axis]
            low = max(low, min(a, b))
            high = min(high, max(a, b))
    return low <= high * (1 + 1e-12) + 1e-300


@kernel
def hits(origins, directions, corners, tree, low, high):
    count, leaf_base = len(origins), len(tree) // 2
    out = np.full(count, np.inf)
    which = np.full(count, -1)
    stack = np.empty(DEPTH, np.int64)
    for i in range(count):
        o, d = origins[i], directions[i]
        best = high
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            if tree[node, 0, 0] > tree[node, 1, 0] or not crosses_box(tree[node], o, d, low, best):
                continue
            if node >= leaf_base:
                start = (node - leaf_base) * LEAF
                for k in range(start, min(start + LEAF, len(corners))):
                    t = through(o, d, corners[k])
                    if low <= t <= best:
                        best = t
                        out[i] = t
                        which[i] = k
            else:
                stack[top] = 2 * node + 1
                stack[top + 1] = 2 * node + 2
                top += 2
    return out, which


@inner
def through(o, d, corner):
    """t of the ray o + t d at a triangle's plane, where it lies inside; else NaN (compares false)."""
    ax, ay, az = corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1], corner[1, 2] - corner[0, 2]
    bx, by, bz = corner[2, 0] - corner[0, 0], corner[2, 1] - corner[0, 1], corner[2, 2] - corner[0, 2]
    px, py, pz = d[1] * bz - d[2] * by, d[2] * bx - d[0] * bz, d[0] * by - d[1] * bx
    det = ax * px + ay * py + az * pz
    if det == 0.0:
        return np.nan
    x, y, z = o[0] - corner[0, 0], o[1] - corner[0, 1], o[2] - corner[0, 2]
    s = (x * px + y * py + z * pz) / det
    qx, qy, qz = y * az - z * ay, z * ax - x * az, x * ay - y * ax
    t = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    if s < -1e-12 or t < -1e-12 or s + t > 1 + 1e-12:
        return np.nan
    return (bx * qx + by * qy + bz * qz) / det
