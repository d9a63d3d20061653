"""Force-length and force-velocity curves for tissues, and the tables that kernels read them from.

Hill: active exp(−((λ/λ_o − 1)/w)²), passive (exp(k(λ_m − 1)/ε) − 1)/(exp(k) − 1), force-velocity after Hill (1938) with
a monotone eccentric branch; Zajac 1989, Thelen 2003 (J Biomech Eng 125:70), constants there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from risorius.core.errors import InputError
from risorius.core.strands import Floats, Law
from risorius.maths.compiled import inner

SAMPLES: Final = 512
FADE: Final = (0.3, 0.5)
"""Stretches between which the active force of the linear law rises from 0 to its full value."""


SPEED: Final = 10.0
"""Rate of shortening [1/s] at which the active force of the linear law is gone; muscle: about 10 lengths a second."""
ECCENTRIC: Final = 1.4
"""Greatest factor of the active force of the linear law while it lengthens."""


class Tables(NamedTuple):
    """Curves of all laws (l): given (l, 3) whether passive, active, velocity are tabulated; start (l, 3), step (l, 3) of x;
    value (l, 3, SAMPLES)."""

    given: np.ndarray
    start: np.ndarray
    step: np.ndarray
    value: np.ndarray


def sampled(name: str, *, passive: Callable[[Floats], ArrayLike] | None = None,
            active: Callable[[Floats], ArrayLike] | None = None, velocity: Callable[[Floats], ArrayLike] | None = None,
            stretch: tuple[float, float] = (0.2, 2.2), rate: tuple[float, float] = (-12.0, 12.0),
            samples: int = 201) -> Law:  # fmt: skip
    """A law from functions of arrays: passive and active of stretch λ, velocity of λ̇ [1/s]."""

    def table(function: Callable[[Floats], ArrayLike] | None, span: tuple[float, float]) -> Floats | None:
        if function is None:
            return None
        x = np.linspace(*span, samples)
        return np.stack([x, np.broadcast_to(np.asarray(function(x), dtype=np.float64), x.shape)], axis=1)

    return Law(name, table(passive, stretch), table(active, stretch), table(velocity, rate))


def hill(*, optimum: float = 1.0, width: float = 0.45, speed: float = 10.0, steepness: float = 4.0, strain: float = 0.6,
         curvature: float = 0.25, eccentric: float = 1.4) -> Law:  # fmt: skip
    """A Hill-type muscle. The tissue's `stiffness` is then its passive force [N] at strain `strain`.

    Args:
        optimum: stretch λ_o of greatest active force.
        width: w of the active curve.
        speed: greatest speed of shortening [λ_o/s].
        steepness, strain: k and ε of the passive curve.
        curvature: a/F of Hill's hyperbola.
        eccentric: force, as a part of isometric, that fast lengthening approaches.
    """

    def active(x: Floats) -> Floats:
        return np.asarray(np.exp(-(((x / optimum - 1.0) / width) ** 2)))

    def passive(x: Floats) -> Floats:
        beyond = np.maximum(x / optimum - 1.0, 0.0) / strain
        return np.asarray(np.expm1(steepness * np.minimum(beyond, 2.0)) / np.expm1(steepness))

    def velocity(x: Floats) -> Floats:
        v = x / (speed * optimum)
        shorten = (1.0 + np.maximum(v, -1.0)) / (1.0 - np.maximum(v, -1.0) / curvature)
        slope = 1.0 + 1.0 / curvature
        stretched = np.maximum(v, 0.0) * slope
        return np.asarray(np.where(v < 0, shorten, 1.0 + (eccentric - 1.0) * stretched / (stretched + eccentric - 1.0)))

    limit = 1.5 * speed * optimum
    return sampled("hill", passive=passive, active=active, velocity=velocity, rate=(-limit, limit))


def tables(laws: list[Law]) -> Tables:
    """All curves on even grids, ends repeated outward by their slope where read."""
    count = max(len(laws), 1)
    result = Tables(np.zeros((count, 3), dtype=np.bool_), np.zeros((count, 3)), np.ones((count, 3)),
                    np.zeros((count, 3, SAMPLES)))  # fmt: skip
    for number, law in enumerate(laws):
        for k, curve in enumerate((law.passive, law.active, law.velocity)):
            if curve is None:
                continue
            x = np.linspace(curve[0, 0], curve[-1, 0], SAMPLES)
            result.given[number, k] = True
            result.start[number, k] = x[0]
            result.step[number, k] = x[1] - x[0]
            result.value[number, k] = PchipInterpolator(curve[:, 0], curve[:, 1])(x)
            if k and (result.value[number, k] < 0).any():
                raise InputError("expected active and velocity curves of 0 or more", place=f"law {law.name!r}")
    return result


@inner
def look_up(laws, number, curve, x):
    """Value and slope of a tabulated curve at x, by lines between samples."""
    place = (x - laws.start[number, curve]) / laws.step[number, curve]
    k = min(max(int(place), 0), SAMPLES - 2)
    low = laws.value[number, curve, k]
    rise = laws.value[number, curve, k + 1] - low
    return low + (place - k) * rise, rise / laws.step[number, curve]


@inner
def passive_force(laws, number, stretch, compression):
    """Passive factor of the stiffness at a stretch, and its slope: λ − 1, weakened when slack; or the table."""
    if laws.given[number, 0]:
        return look_up(laws, number, 0, stretch)
    strain = stretch - 1.0
    part = 1.0 if strain > -1e-6 else compression
    return part * strain, part


@inner
def active_force(laws, number, stretch):
    """Active factor of the strength at a stretch, and its slope; never below zero."""
    if laws.given[number, 1]:
        value, slope = look_up(laws, number, 1, stretch)
        return (value, slope) if value > 0.0 else (0.0, 0.0)
    if stretch >= FADE[1]:
        return 1.0, 0.0
    if stretch <= FADE[0]:
        return 0.0, 0.0
    return (stretch - FADE[0]) / (FADE[1] - FADE[0]), 1.0 / (FADE[1] - FADE[0])


@inner
def velocity_factor(laws, number, rate):
    """Factor of the active force at a rate of stretch [1/s], never below zero, its slope, and the rate that these stand for.

    A span that shortens faster than muscle can is read at the greatest speed, slope and all: within a step it is held to that
    speed, where a force of zero without a slope would let it collapse.
    """
    if laws.given[number, 2]:
        value, slope = look_up(laws, number, 2, rate)
        return (value, slope, rate) if value > 0.0 else (0.0, 0.0, rate)
    if rate > (ECCENTRIC - 1.0) * SPEED:
        return ECCENTRIC, 0.0, rate
    rate = max(rate, -SPEED)
    return 1.0 + rate / SPEED, 1.0 / SPEED, rate
