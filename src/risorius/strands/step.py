"""One step: semi-implicit Euler on the KKT system of bodies and strands, eliminated onto the border (H §3.4, eq. 13, 15).

    [M + h(αM + βK) + h²K   Gᵀ] [Φ⁺]   [M Φ + h f + h A a]
    [G                     −ε] [λ ] = [−g/h             ]

`gather` builds and factorises it; `respond` gives the joint speeds that every activation causes (H a + v_f, eq. 17, from
the same factors); `solve` and `accept` move everything for the activations chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import inner, kernel
from risorius.strands import arrow
from risorius.strands.arrow import SOFT
from risorius.strands.bodies import (
    body_system,
    body_twist,
    geometric_stiffness,
    joint_system,
    move_bodies,
    pose_bodies,
)
from risorius.strands.holds import find_places, hold_rows, strand_point
from risorius.strands.loops import loop_rows
from risorius.strands.tension import excess_of_strands, strand_system

GREATEST_CORRECTION = 0.01
"""Part of a gap [m] or [rad] that one step may close."""


class Now(NamedTuple):
    """The arrays of a `State` that kernels read and write."""

    angle: np.ndarray
    turn: np.ndarray
    shift: np.ndarray
    rotation: np.ndarray
    place: np.ndarray
    momentum: np.ndarray
    speed: np.ndarray
    points: np.ndarray
    velocities: np.ndarray
    place_on_strand: np.ndarray
    place_on_surface: np.ndarray
    engaged: np.ndarray
    multiplier: np.ndarray
    link_force: np.ndarray
    activation: np.ndarray
    drag: np.ndarray


class Room(NamedTuple):
    """Room for one step.

    By strand: row_first (t + 1), band_first (t + 1), width (t), entry_first (t + 1). band, entry: flat; from_column
    (rows); place_of (n), hold_row (c). Holds: start, weight, site, direction, gap. column (m, 6) joint columns. matrix
    (border, border), drive (border, t), right (border), held: scratch. base (b, 6) prescribed velocities, locked (m),
    given (m). trial (n, 3) velocities solved for, excess (t) strain that they would overlook. loop_wrench (l, 6),
    loop_gap (l). response (m, t), force (rows) multipliers, free (m), solved (border).
    """

    row_first: np.ndarray
    band_first: np.ndarray
    width: np.ndarray
    entry_first: np.ndarray
    band: np.ndarray
    entry: np.ndarray
    from_column: np.ndarray
    place_of: np.ndarray
    hold_row: np.ndarray
    start: np.ndarray
    weight: np.ndarray
    site: np.ndarray
    direction: np.ndarray
    gap: np.ndarray
    column: np.ndarray
    matrix: np.ndarray
    drive: np.ndarray
    right: np.ndarray
    held: np.ndarray
    base: np.ndarray
    locked: np.ndarray
    given: np.ndarray
    trial: np.ndarray
    excess: np.ndarray
    loop_wrench: np.ndarray
    loop_gap: np.ndarray
    response: np.ndarray
    force: np.ndarray
    free: np.ndarray
    solved: np.ndarray


@inner
def clipped(gap):
    return min(max(gap, -GREATEST_CORRECTION), GREATEST_CORRECTION)


@inner
def body_border(tree, threads, now, room, gravity, h, links):
    """The joint speeds' part of the border."""
    speeds = tree.owner.size
    matrix, right = np.zeros((speeds, speeds)), np.zeros(speeds)
    body_system(tree, now.rotation, now.place, room.column, now.momentum, room.base, gravity, h, matrix, right)
    joint_system(tree, now.angle, now.turn, h, matrix, right)
    moment = np.zeros((tree.parent.size, 4, 3))
    for k in range(threads.hold_strand.size):
        body = threads.hold_body[k]
        if body < 0:
            continue
        for row in range(threads.row_first[k], threads.row_first[k + 1]):
            for y in range(3):
                force = now.multiplier[row] * room.direction[row, y]
                moment[body, 3, y] += force
                for x in range(3):
                    moment[body, x, y] += room.site[k, x] * force
    geometric_stiffness(tree, room.column, moment, h, matrix)
    for d in range(speeds):
        room.right[links + d] = right[d]
        for e in range(speeds):
            room.matrix[links + d, links + e] = matrix[d, e]


@inner
def row_of_speed(direction, site, column):
    """Velocity along a direction at a site that a joint column gives."""
    x0 = column[3] + column[1] * site[2] - column[2] * site[1]
    x1 = column[4] + column[2] * site[0] - column[0] * site[2]
    x2 = column[5] + column[0] * site[1] - column[1] * site[0]
    return direction[0] * x0 + direction[1] * x1 + direction[2] * x2


@inner
def hold_system(tree, threads, now, room, h, t, band, width, entry, columns):
    """Constraint rows of strand t: into its band, its border columns and its right-hand side (last column)."""
    for c in range(threads.hold_first[t], threads.hold_first[t + 1]):
        body = threads.hold_body[c]
        for r in range(threads.row_first[c], threads.row_first[c + 1]):
            row = room.hold_row[c] + r - threads.row_first[c]
            if threads.hold_kind[c] == 3:
                now.engaged[c] = room.gap[r] <= 0.0 or (now.engaged[c] and now.multiplier[r] < 0.0)
                if not now.engaged[c]:
                    band[row, width - 1] = -1.0
                    continue
            band[row, width - 1] = -SOFT
            for a in range(4):
                left = room.place_of[room.start[c] + a] - row + width - 1
                for x in range(3):
                    band[row, left + x] += room.weight[c, a] * room.direction[r, x]
            value = -clipped(room.gap[r]) / h
            if body >= 0:
                value += row_of_speed(room.direction[r], room.site[c], room.base[body])
                k = threads.hold_column_first[c]
                for d in range(tree.path_first[body], tree.path_first[body + 1]):
                    column = room.column[tree.path_dof[d]]
                    entry[row, threads.hold_column[k]] -= row_of_speed(room.direction[r], room.site[c], column)
                    k += 1
            entry[row, columns + 1] += value


@inner
def link_system(threads, now, room, h, t, entry):
    """Columns of the links of strand t, and the gaps of links on the border (once, by the first strand)."""
    weights, frame, other = np.empty((3, 4)), np.empty((3, 3)), np.empty((3, 3))
    for k in range(threads.link.shape[0]):
        for side in range(2):
            if threads.link[k, side] != t:
                continue
            first = threads.first[t]
            i = strand_point(
                now.points, first, threads.first[t + 1] - first, threads.link_place[k, side], weights, frame
            )
            sign = 1.0 if side == 0 else -1.0
            for a in range(4):
                for x in range(3):
                    entry[room.place_of[i + a] + x, threads.link_column[k, side] + x] += sign * weights[0, a]
            if side == 0:
                u = threads.link[k, 1]
                n = threads.first[u + 1] - threads.first[u]
                strand_point(now.points, threads.first[u], n, threads.link_place[k, 1], weights, other)
                for x in range(3):
                    room.right[3 * k + x] -= clipped(frame[0, x] - other[0, x]) / h
                    room.matrix[3 * k + x, 3 * k + x] -= SOFT


@inner
def strand_border(tree, threads, laws, now, room, gravity, h, expected):
    """Build and eliminate every strand. Returns the number of bad pivots."""
    bad = 0
    for t in range(threads.first.size - 1):
        rows = room.row_first[t + 1] - room.row_first[t]
        width = room.width[t]
        columns = threads.column_first[t + 1] - threads.column_first[t]
        band = room.band[room.band_first[t] : room.band_first[t + 1]].reshape((rows, width))
        entry = room.entry[room.entry_first[t] : room.entry_first[t + 1]].reshape((rows, columns + 2))
        band[:] = 0.0
        entry[:] = 0.0
        from_column = room.from_column[room.row_first[t] : room.row_first[t + 1]]
        place_of = room.place_of[threads.first[t] : threads.first[t + 1]]
        arrow.order_strand(threads, t, room.start, place_of, room.hold_row, from_column)
        strand_system(threads, laws, t, now.points, now.velocities, now.drag[t], expected[t], gravity, h, place_of, band,
                      width, entry[:, columns + 1], entry[:, columns])  # fmt: skip
        hold_system(tree, threads, now, room, h, t, band, width, entry, columns)
        link_system(threads, now, room, h, t, entry)
        bad += arrow.factorise(band, width, from_column, rows)
        arrow.forward(band, width, from_column, rows, entry)
        index = threads.column[threads.column_first[t] : threads.column_first[t + 1]]
        arrow.onto_border(band, width, rows, entry, room.held, index, t, room.matrix, room.drive, room.right)
    return bad


@inner
def loop_border(tree, loops, now, room, h, links):
    """Rows of the joints that close loops."""
    loop_rows(loops, now.rotation, now.place, room.loop_wrench, room.loop_gap)
    base = links + tree.owner.size
    for k in range(loops.body.size):
        for r in range(loops.row[k], loops.row[k + 1]):
            room.matrix[base + r, base + r] -= SOFT
            room.right[base + r] -= clipped(room.loop_gap[r]) / h
            for side in range(2):
                body = loops.body[k] if side == 0 else loops.parent[k]
                if body < 0:
                    continue
                sign = 1.0 if side == 0 else -1.0
                for x in range(6):
                    room.right[base + r] -= sign * room.loop_wrench[r, x] * room.base[body, x]
                for j in range(tree.path_first[body], tree.path_first[body + 1]):
                    d = tree.path_dof[j]
                    value = 0.0
                    for x in range(6):
                        value += sign * room.loop_wrench[r, x] * room.column[d, x]
                    room.matrix[base + r, links + d] += value
                    room.matrix[links + d, base + r] += value


@inner
def lock(room, links):
    """Replace the equations of locked joint speeds by their given values."""
    size = room.right.size
    for d in range(room.locked.size):
        if not room.locked[d]:
            continue
        k = links + d
        for i in range(size):
            room.right[i] -= room.matrix[i, k] * room.given[d]
            room.matrix[i, k] = room.matrix[k, i] = 0.0
        room.matrix[k, k] = 1.0
        room.right[k] = room.given[d]
        room.drive[k, :] = 0.0


@kernel
def gather(tree, loops, threads, laws, now, room, gravity, h, expected, links):
    """Build the step's equations at the state and factorise them; returns the number of bad pivots (0 is good)."""
    room.matrix[:] = 0.0
    room.drive[:] = 0.0
    room.right[:] = 0.0
    pose_bodies(tree, now.angle, now.turn, now.shift, now.rotation, now.place, room.column)
    hold_rows(threads, now.points, now.rotation, now.place, now.place_on_strand, now.place_on_surface, room.start,
              room.weight, room.site, room.direction, room.gap)  # fmt: skip
    body_border(tree, threads, now, room, gravity, h, links)
    bad = strand_border(tree, threads, laws, now, room, gravity, h, expected)
    loop_border(tree, loops, now, room, h, links)
    lock(room, links)
    return bad + arrow.factorise_border(room.matrix, room.right.size)


@kernel
def respond(room, links):
    """response (m, t) and free (m): joint speeds are free + response · activation."""
    size, speeds = room.right.size, room.free.size
    columns = np.zeros((size, speeds))
    for d in range(speeds):
        columns[links + d, d] = 1.0
    arrow.solve_border(room.matrix, size, columns)
    room.response[:] = 0.0
    room.free[:] = 0.0
    for i in range(size):
        for d in range(speeds):
            value = columns[i, d]
            room.free[d] += value * room.right[i]
            for t in range(room.drive.shape[1]):
                room.response[d, t] += value * room.drive[i, t]


@kernel
def solve(threads, now, room, h, activation, links):
    """Solve for the activations (t): border into `solved`, strands into `trial`; multipliers into the state. Returns the
    greatest excess strain."""
    size = room.right.size
    column = np.zeros((size, 1))
    for i in range(size):
        column[i, 0] = room.right[i]
        for t in range(activation.size):
            column[i, 0] += room.drive[i, t] * activation[t]
    arrow.solve_border(room.matrix, size, column)
    x = column[:, 0]
    room.solved[:] = x
    for t in range(activation.size):
        rows, width = room.row_first[t + 1] - room.row_first[t], room.width[t]
        columns = threads.column_first[t + 1] - threads.column_first[t]
        band = room.band[room.band_first[t] : room.band_first[t + 1]].reshape((rows, width))
        entry = room.entry[room.entry_first[t] : room.entry_first[t + 1]].reshape((rows, columns + 2))
        answer = np.empty(rows)
        for i in range(rows):
            answer[i] = entry[i, columns + 1] + activation[t] * entry[i, columns]
            for p in range(columns):
                answer[i] -= entry[i, p] * x[threads.column[threads.column_first[t] + p]]
        arrow.back(band, width, room.from_column[room.row_first[t] : room.row_first[t + 1]], rows, answer)
        for i in range(threads.first[t], threads.first[t + 1]):
            for k in range(3):
                room.trial[i, k] = answer[room.place_of[i] + k]
        for c in range(threads.hold_first[t], threads.hold_first[t + 1]):
            for r in range(threads.row_first[c], threads.row_first[c + 1]):
                room.force[r] = answer[room.hold_row[c] + r - threads.row_first[c]] / h
    excess_of_strands(threads, now.points, room.trial, h, room.excess)
    greatest = 0.0
    for t in range(activation.size):
        greatest = max(greatest, room.excess[t])
    return greatest


@kernel
def accept(tree, now, room, h, activation, links):
    """Move the state by what `solve` has found."""
    now.multiplier[:] = room.force
    for k in range(links // 3):
        for a in range(3):
            now.link_force[k, a] = room.solved[3 * k + a] / h
    for d in range(now.speed.size):
        now.speed[d] = room.solved[links + d]
    now.activation[:] = activation
    now.velocities[:] = room.trial
    now.points[:] = now.points + h * room.trial
    move_bodies(tree, now.speed, room.base, h, room.column, now.rotation, now.place, now.angle, now.turn, now.shift,
                now.momentum)  # fmt: skip


@kernel
def settle_poses(tree, threads, now, room):
    """Poses and joint columns, then contact points, after joint coordinates or strands have moved."""
    pose_bodies(tree, now.angle, now.turn, now.shift, now.rotation, now.place, room.column)
    find_places(threads, now.points, now.rotation, now.place, now.place_on_strand, now.place_on_surface)


@kernel
def twists(tree, now, room, out):
    """Spatial velocity of every body at the last solution into out (b, 6)."""
    for i in range(tree.parent.size):
        body_twist(tree, i, room.column, room.base, now.speed, out[i])
