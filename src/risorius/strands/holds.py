"""Where strands are held: the rows of G and the gap of every hold at a pose (H §3.3), and the search for contact points."""

from __future__ import annotations

import math

import numpy as np

from risorius.maths.compiled import inner, kernel
from risorius.maths.splines import pinned_weights
from risorius.strands.bodies import carry, dot3
from risorius.strands.surfaces import closest, surface_at

SEARCH = 12
ASIDE = 3.0
"""Spans from a slide at which a strand's direction is no longer that of the corner."""
HAIRPIN = 0.1
"""Sum of two directions below which a strand turns back on itself and has no mean way."""


@inner
def strand_point(points, first, count, s, weights, out):
    """Value, d/ds, d²/ds² of a strand at s into out (3, 3); returns the first of the four control points (of all)."""
    k = first + pinned_weights(count, s, weights[0], weights[1], weights[2])
    for row in range(3):
        for x in range(3):
            out[row, x] = 0.0
            for a in range(4):
                out[row, x] += weights[row, a] * points[k + a, x]
    return k


@inner
def world_point(body, local, rotation, place, out):
    """A rest-world point where its body has carried it."""
    if body < 0:
        out[:] = local
    else:
        carry(rotation[body], place[body], local, out)


@inner
def nearest_place(points, first, count, s, target):
    """s of the strand point nearest to a target, by Newton from s, at most one span a step."""
    weights, frame = np.empty((3, 4)), np.empty((3, 3))
    for _ in range(SEARCH):
        strand_point(points, first, count, s, weights, frame)
        slope = speed = bend = 0.0
        for x in range(3):
            away = frame[0, x] - target[x]
            slope += frame[1, x] * away
            speed += frame[1, x] * frame[1, x]
            bend += frame[2, x] * away
        step = slope / max(speed + max(bend, -0.5 * speed), 1e-30)
        step = min(max(step, -1.0), 1.0)
        ahead = min(max(s - step, 0.0), count - 1.0)
        if abs(ahead - s) < 1e-12:
            return ahead
        s = ahead
    return s


@inner
def across(tangent, first, second):
    """Two unit vectors across a tangent (3,), and each other."""
    size = math.sqrt(dot3(tangent, tangent))
    if size < 1e-12:
        first[:], second[:] = 0.0, 0.0
        first[0], second[1] = 1.0, 1.0
        return
    least = 0
    for x in range(1, 3):
        if abs(tangent[x]) < abs(tangent[least]):
            least = x
    part = tangent[least] / size
    for x in range(3):
        first[x] = ((1.0 if x == least else 0.0) - part * tangent[x] / size) / math.sqrt(max(1.0 - part * part, 1e-12))
    second[0] = (tangent[1] * first[2] - tangent[2] * first[1]) / size
    second[1] = (tangent[2] * first[0] - tangent[0] * first[2]) / size
    second[2] = (tangent[0] * first[1] - tangent[1] * first[0]) / size


@inner
def find_places(threads, points, rotation, place, on_strand, on_surface):
    """Update contact points after a motion: s of every slide, (u, v) of every contact."""
    weights, frame, x, local = np.empty((3, 4)), np.empty((3, 3)), np.empty(3), np.empty(3)
    for c in range(threads.hold_strand.size):
        t, kind, body = threads.hold_strand[c], threads.hold_kind[c], threads.hold_body[c]
        first, count = threads.first[t], threads.first[t + 1] - threads.first[t]
        if kind == 1:
            world_point(body, threads.hold_point[c], rotation, place, x)
            on_strand[c] = nearest_place(points, first, count, on_strand[c], x)
        elif kind >= 2:
            strand_point(points, first, count, on_strand[c], weights, frame)
            if body >= 0:
                for k in range(3):
                    x[k] = frame[0, k] - place[body, k]
                for k in range(3):
                    local[k] = rotation[body, 0, k] * x[0] + rotation[body, 1, k] * x[1] + rotation[body, 2, k] * x[2]
            else:
                local[:] = frame[0]
            closest(threads.surfaces, threads.hold_surface[c], local, on_surface[c], SEARCH)


@inner
def way_through(threads, points, on_strand, c, tangent, out):
    """The way on which a strand slides through a ring into out (3,): the mean of its directions before and behind.

    A ring without friction pulls across this mean: T₁t₁ − T₂t₂ ⟂ t₁ + t₂ only if T₁ = T₂. The tangent at the ring itself
    sways as the corner of the spline passes its control points. Where other holds are nearer than six spans the corners
    run into one another, and the way turns into the tangent.
    """
    t = threads.hold_strand[c]
    first, count = threads.first[t], threads.first[t + 1] - threads.first[t]
    reach = ASIDE
    for other in (c - 1, c + 1):
        if threads.hold_first[t] <= other < threads.hold_first[t + 1]:
            reach = min(reach, 0.5 * abs(on_strand[other] - on_strand[c]))
    part = min(max(reach - ASIDE + 1.0, 0.0), 1.0)
    weights, frame, mean = np.empty((3, 4)), np.empty((3, 3)), np.zeros(3)
    for side in (-1.0, 1.0):
        s = min(max(on_strand[c] + side * reach, 0.0), count - 1.0)
        strand_point(points, first, count, s, weights, frame)
        size = max(math.sqrt(dot3(frame[1], frame[1])), 1e-12)
        for x in range(3):
            mean[x] += frame[1, x] / size
    length, size = math.sqrt(dot3(mean, mean)), max(math.sqrt(dot3(tangent, tangent)), 1e-12)
    if length < HAIRPIN:
        part = 0.0
    for x in range(3):
        out[x] = part * mean[x] / max(length, 1e-12) + (1.0 - part) * tangent[x] / size


@kernel
def hold_rows(threads, points, rotation, place, on_strand, on_surface, start, weight, site, direction, gap):
    """Geometry of all holds: start (c) first control point, weight (c, 4), site (c, 3) on the body, direction (rows, 3),
    gap (rows) [m]: row · (strand point − site) less the wanted height."""
    weights, frame, x = np.empty((3, 4)), np.empty((3, 3)), np.empty(3)
    sheet, normal = np.empty((3, 3)), np.empty(3)
    for c in range(threads.hold_strand.size):
        t, kind, body = threads.hold_strand[c], threads.hold_kind[c], threads.hold_body[c]
        first, count = threads.first[t], threads.first[t + 1] - threads.first[t]
        start[c] = strand_point(points, first, count, on_strand[c], weights, frame)
        weight[c] = weights[0]
        row = threads.row_first[c]
        if kind <= 1:
            world_point(body, threads.hold_point[c], rotation, place, x)
            if kind == 0:
                for k in range(3):
                    direction[row + k] = 0.0
                    direction[row + k, k] = 1.0
            else:
                way_through(threads, points, on_strand, c, frame[1], normal)
                across(normal, direction[row], direction[row + 1])
        else:
            surface_at(threads.surfaces, threads.hold_surface[c], on_surface[c, 0], on_surface[c, 1], sheet)
            world_point(body, sheet[0], rotation, place, x)
            normal[0] = sheet[1, 1] * sheet[2, 2] - sheet[1, 2] * sheet[2, 1]
            normal[1] = sheet[1, 2] * sheet[2, 0] - sheet[1, 0] * sheet[2, 2]
            normal[2] = sheet[1, 0] * sheet[2, 1] - sheet[1, 1] * sheet[2, 0]
            size = max(math.sqrt(dot3(normal, normal)), 1e-30)
            for k in range(3):
                if body >= 0:
                    direction[row, k] = dot3(rotation[body, k], normal) / size
                else:
                    direction[row, k] = normal[k] / size
        site[c] = x
        for r in range(row, threads.row_first[c + 1]):
            gap[r] = 0.0
            for k in range(3):
                gap[r] += direction[r, k] * (frame[0, k] - x[k])
        if kind >= 2:
            gap[row] -= threads.hold_height[c]
