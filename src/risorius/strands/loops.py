"""Joints that close loops: the dropped rows of the adjoint, kept as constraints with Baumgarte 1/h."""

from __future__ import annotations

import math

import numpy as np

from risorius.maths.compiled import inner
from risorius.strands.bodies import dot3, rotation_log
from risorius.strands.holds import across, world_point


@inner
def set_row(wrench, x, d, turning):
    """Row that reads the velocity along d at x, or the turn about d, off a spatial velocity."""
    if turning:
        wrench[:3] = d
        wrench[3:] = 0.0
    else:
        wrench[0] = x[1] * d[2] - x[2] * d[1]
        wrench[1] = x[2] * d[0] - x[0] * d[2]
        wrench[2] = x[0] * d[1] - x[1] * d[0]
        wrench[3:] = d


@inner
def loop_rows(loops, rotation, place, wrench, gap):
    """wrench (rows, 6): row = wrench · (V_body − V_parent); gap (rows) [m] or [rad]."""
    unit, eye = np.eye(3), np.eye(3)
    mine, theirs, x = np.empty(3), np.empty(3), np.empty(3)
    first, second, turn = np.empty(3), np.empty(3), np.empty((3, 3))
    for k in range(loops.body.size):
        i, p, kind, row = loops.body[k], loops.parent[k], loops.kind[k], loops.row[k]
        world_point(i, loops.point[k], rotation, place, mine)
        world_point(p, loops.point[k], rotation, place, theirs)
        for a in range(3):
            x[a] = 0.5 * (mine[a] + theirs[a])
        for a in range(3):
            set_row(wrench[row + a], x, unit[a], False)
            gap[row + a] = mine[a] - theirs[a]
        row += 3
        base = rotation[p] if p >= 0 else eye
        if kind == 0:
            for a in range(3):
                for b in range(3):
                    turn[a, b] = dot3(rotation[i, a], base[b])
            rotation_log(turn, mine)
            for a in range(3):
                set_row(wrench[row + a], x, unit[a], True)
                gap[row + a] = mine[a]
        elif kind == 1 or kind == 2:
            for a in range(3):
                theirs[a] = dot3(base[a], loops.axis[k, 0])
                mine[a] = dot3(rotation[i, a], loops.axis[k, kind - 1])
            x[0] = theirs[1] * mine[2] - theirs[2] * mine[1]
            x[1] = theirs[2] * mine[0] - theirs[0] * mine[2]
            x[2] = theirs[0] * mine[1] - theirs[1] * mine[0]
            if kind == 1:
                across(theirs, first, second)
                set_row(wrench[row], x, first, True)
                set_row(wrench[row + 1], x, second, True)
                gap[row], gap[row + 1] = dot3(first, x), dot3(second, x)
            else:
                size = max(math.sqrt(dot3(x, x)), 1e-9)
                for a in range(3):
                    x[a] /= size
                rest = dot3(loops.axis[k, 0], loops.axis[k, 1])
                set_row(wrench[row], x, x, True)
                gap[row] = (rest - dot3(theirs, mine)) / size
