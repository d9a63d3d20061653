"""A heavy ball that falls on the body, as in figure 3.6 of DiLorenzo 2009: one-sided contact of free points with a sphere.

A point inside the sphere by depth g is pushed out along n, the direction from the centre, with F = k g + c ġ, never inward.
Over a step the ball keeps its course; afterwards it takes the opposite of what the points got.
"""

from __future__ import annotations

import math
from typing import Final

from risorius.maths.compiled import kernel

STIFFNESS: Final = 4000.0  # [N/m] a point: skin and fat over muscle
DAMPING: Final = 8.0  # [N s/m] a point

# entries of a ball's constants
RADIUS: Final = 0  # [m]; 0: there is no ball
MASS: Final = 1  # [kg]


@kernel
def ball_forces(ball, course, points, speed, free, gamma, force, normal, slope):
    """Push free points (p, indices `free`) out of the ball: adds to force (points, 3); notes n (p, 3) and slope (p) for the
    operator, and the push (p) [N] in the fourth column of normal (p, 4). `course` (6): centre [m] and speed [m/s]."""
    radius = ball[RADIUS]
    for i in range(free.size):
        slope[i] = 0.0
        normal[i, 3] = 0.0
        q = free[i]
        d0, d1, d2 = points[q, 0] - course[0], points[q, 1] - course[1], points[q, 2] - course[2]
        far = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if far >= radius or far < 1e-6:
            continue
        n0, n1, n2 = d0 / far, d1 / far, d2 / far
        rate = n0 * (speed[q, 0] - course[3]) + n1 * (speed[q, 1] - course[4]) + n2 * (speed[q, 2] - course[5])
        push = STIFFNESS * (radius - far) - DAMPING * rate
        if push <= 0.0:
            continue
        normal[i, 0], normal[i, 1], normal[i, 2], normal[i, 3] = n0, n1, n2, push
        slope[i] = gamma * DAMPING + gamma * gamma * STIFFNESS
        force[q, 0] += push * n0
        force[q, 1] += push * n1
        force[q, 2] += push * n2


@kernel
def apply_ball(free, normal, slope, speed, out):
    """Operator of the contact on point speeds (points, 3), added to out (points, 3)."""
    for i in range(free.size):
        if slope[i] > 0.0:
            q = free[i]
            rate = slope[i] * (normal[i, 0] * speed[q, 0] + normal[i, 1] * speed[q, 1] + normal[i, 2] * speed[q, 2])
            out[q, 0] += rate * normal[i, 0]
            out[q, 1] += rate * normal[i, 1]
            out[q, 2] += rate * normal[i, 2]


@kernel
def fall(ball, course, normal, slope, solution, first, gamma, gravity, h):
    """Advance the ball by h [s] under its weight and what the points did to it: their push, less what the solved change of
    speeds (from entry `first` on, three a point) took off it."""
    f0 = f1 = f2 = 0.0
    for i in range(slope.size):
        if slope[i] > 0.0:
            s = first + 3 * i
            change = normal[i, 0] * solution[s] + normal[i, 1] * solution[s + 1] + normal[i, 2] * solution[s + 2]
            push = max(normal[i, 3] - slope[i] / gamma * change, 0.0)
            f0 -= push * normal[i, 0]
            f1 -= push * normal[i, 1]
            f2 -= push * normal[i, 2]
    mass = ball[MASS]
    course[3] += h * (gravity[0] + f0 / mass)
    course[4] += h * (gravity[1] + f1 / mass)
    course[5] += h * (gravity[2] + f2 / mass)
    for a in range(3):
        course[a] += h * course[3 + a]
