"""Muscle laws: tension of one element from its length, speed and activation, with slopes.

Length l [m], speed v = l' [m/s] (positive when it lengthens), activation a in 0…1, r the contraction ratio of a spring.
Every law pulls only. Papers: D = DiLorenzo's dissertation (2009), §4.1, §4.2 and table 8.1.

    PASSIVE  F = max(0, k_pe (l − l0) + b v)                                        D eq. 4.1
    SPRING   F = max(0, a k_ac (l − r l0) + k_pe (l − l0) + b v)                    D eq. 4.2
    HILL     F = max(0, k_pe e^{10(λ−1)−5} + b_pe v/l0) + a F_λ(λ) F_ν(ν) F_max      D §4.2
             λ = l/l0, ν = v/(v_max l0)
    HILL_D   the same with the dissertation's own F_ν
"""

from __future__ import annotations

import math
from typing import Final

from risorius.maths.compiled import kernel

PASSIVE: Final = 0
SPRING: Final = 1
HILL: Final = 2
HILL_D: Final = 3

# columns of the parameter array of an element
STRENGTH: Final = 0  # Hill: F_max [N]; spring: k_ac [N/m]
REST: Final = 1  # l0 [m]
WIDTH: Final = 2  # w, half width of the force-length parabola
SPEED: Final = 3  # v_max [l0/s]
STIFFNESS: Final = 4  # k_pe, Hill [N], spring [N/m]
DAMPING: Final = 5  # b_pe, Hill [N s], spring [N s/m]
PARAMETER_COUNT: Final = 6

CURVATURE: Final = 0.25  # a = b of D §4.2: Hill's constants
ECCENTRIC: Final = 1.4  # plateau of the lengthening branch (Katz 1939: 1.2 to 1.8)


@kernel
def force_length(stretch, width):
    """F_λ = 1 − ((λ − 1)/w)², clamped to 0…1 (D §4.2), and its slope."""
    x = (stretch - 1.0) / width
    value = 1.0 - x * x
    if value <= 0.0:
        return 0.0, 0.0
    return value, -2.0 * x / width


@kernel
def force_velocity(speed):
    """F_ν, monotone: Hill's hyperbola (1 + ν)/(1 − 4ν) while shortening, a hyperbola to 1.4 with the same slope (5) at
    ν = 0 while lengthening; and its slope."""
    if speed <= -1.0:
        return 0.0, 0.0
    if speed <= 0.0:
        base = CURVATURE - speed
        return CURVATURE * (1.0 + speed) / base, CURVATURE * (1.0 + CURVATURE) / (base * base)
    rise = ECCENTRIC - 1.0
    slope = (1.0 + CURVATURE) / CURVATURE
    base = rise + slope * speed
    return 1.0 + rise * slope * speed / base, rise * rise * slope / (base * base)


@kernel
def force_velocity_paper(speed):
    """F_ν = (b − a|ν|)/(b + |ν|), a = b = 0.25, clamped to 0…1 (D §4.2): falls on lengthening too; and its slope."""
    size = abs(speed)
    if size >= 1.0:
        return 0.0, 0.0
    base = CURVATURE + size
    slope = -CURVATURE * (1.0 + CURVATURE) / (base * base)
    return CURVATURE * (1.0 - size) / base, slope if speed >= 0.0 else -slope


@kernel
def tension(law, parameters, length, speed, activation, ratio):
    """Tension [N], its slope with length [N/m] and with speed [N s/m], of one element; `parameters` (6,)."""
    rest = parameters[REST]
    if law >= HILL:
        stretch = length / rest
        passive = parameters[STIFFNESS] * math.exp(min(10.0 * (stretch - 1.0) - 5.0, 12.0))
        slope = 10.0 * passive / rest
        rate = parameters[DAMPING] / rest
        passive += rate * speed
        if passive < 0.0:
            passive, slope, rate = 0.0, 0.0, 0.0
        if activation <= 0.0:
            return passive, slope, rate
        fl, dfl = force_length(stretch, parameters[WIDTH])
        nu = speed / (parameters[SPEED] * rest)
        if law == HILL:
            fv, dfv = force_velocity(nu)
        else:
            fv, dfv = force_velocity_paper(nu)
        active = activation * parameters[STRENGTH]
        return (
            passive + active * fl * fv,
            slope + active * dfl * fv / rest,
            rate + active * fl * dfv / (parameters[SPEED] * rest),
        )
    stiffness = parameters[STIFFNESS]
    force = stiffness * (length - rest) + parameters[DAMPING] * speed
    if law == SPRING:
        gain = activation * parameters[STRENGTH]
        force += gain * (length - ratio * rest)
        stiffness += gain
    if force <= 0.0:
        return 0.0, 0.0, 0.0
    return force, stiffness, parameters[DAMPING]
