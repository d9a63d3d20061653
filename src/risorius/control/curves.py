"""Curves of time that drive muscles: constant, sine, square, sawtooth and linear interpolation (DiLorenzo 2009, §8.1).

Every curve has a start and an end [s]; outside it is zero, so curves can be added up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A constant `level` from `start` to `end` [s]; the base of all curves."""

    level: float = 0.0
    start: float = 0.0
    end: float = np.inf

    def __call__(self, time: ArrayLike) -> Floats:
        """Values at times [s]."""
        t = np.asarray(time, dtype=np.float64)
        return np.where((t >= self.start) & (t < self.end), self.shape(t - self.start), 0.0)

    def shape(self, t: Floats) -> Floats:
        """Values at times [s] since the start."""
        return np.full_like(t, self.level)


@dataclass(frozen=True)
class Wave(Curve):
    """A periodic curve: `level` + `amplitude`·w(phase), phase = frequency·t + `phase` in turns, frequency [Hz]."""

    amplitude: float = 1.0
    frequency: float = 1.0
    phase: float = 0.0

    def turns(self, t: Floats) -> Floats:
        """Part of the period that has passed, 0 to 1."""
        return np.asarray(np.mod(self.frequency * t + self.phase, 1.0), dtype=np.float64)


@dataclass(frozen=True)
class Sine(Wave):
    """w = sin(2π phase)."""

    def shape(self, t: Floats) -> Floats:
        return self.level + self.amplitude * np.sin(2.0 * np.pi * self.turns(t))


@dataclass(frozen=True)
class Square(Wave):
    """w = 1 for the first `duty` part of the period, then 0."""

    duty: float = 0.5

    def shape(self, t: Floats) -> Floats:
        return np.where(self.turns(t) < self.duty, self.level + self.amplitude, self.level)


@dataclass(frozen=True)
class Sawtooth(Wave):
    """w rises from 0 to 1 over the first `rise` part of the period and falls back over the rest."""

    rise: float = 1.0

    def shape(self, t: Floats) -> Floats:
        turns = self.turns(t)
        up = turns / self.rise if self.rise > 0.0 else np.ones_like(turns)
        down = (1.0 - turns) / (1.0 - self.rise) if self.rise < 1.0 else np.zeros_like(turns)
        return self.level + self.amplitude * np.where(turns < self.rise, up, down)


@dataclass(frozen=True)
class Linear(Curve):
    """Straight lines through (time, value) points, times [s] since the start, rising; with `period` > 0 it repeats."""

    points: tuple[tuple[float, float], ...] = field(default=((0.0, 0.0),))
    period: float = 0.0

    def shape(self, t: Floats) -> Floats:
        times, values = np.array(self.points, dtype=np.float64).T
        where = np.mod(t, self.period) if self.period > 0.0 else t
        return np.asarray(self.level + np.interp(where, times, values), dtype=np.float64)
