"""Breaths in any signal that rises and falls with them, and the average breath."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.errors import InputError
from risorius.maths.signals import low_pass, parabola_top

Floats = NDArray[np.float64]

PERIODS: Final = (0.8, 20.0)
"""Breaths looked for [s]: 75 to 3 a minute."""
SLOW: Final = 30.0
"""What changes over longer than this [s] is drift."""
PROMINENCE: Final = 0.12
"""A breath is at least this part of the signal's range (5th to 95th percentile)."""
PHASES: Final = 100
"""Points of an average breath."""
ALIKE: Final = 1.6
"""Breaths whose lengths and depths differ by less than this factor go into one average."""
NOISE: Final = (2.0, 3.5)
"""Frequencies [Hz] between which an average breath holds nothing but noise (cameras, heart, tremor)."""
STANDING_OUT: Final = 4.0
"""A harmonic so many times as strong as noise belongs to the breath."""
LEAST_HARMONICS: Final = 3
"""A breath has at least so many harmonics: it goes in faster than out."""
END: Final = 0.15
"""A breath may begin or end with the recording if that lies this near to the other ends of breaths, part of the range."""


@dataclass(frozen=True, eq=False)
class Breaths:
    """Breaths found.

    Args:
        starts: (b + 1,) where each of b breaths begins, at its least; the last is where the last ends [s].
        tops: (b,) moment of its most [s].
        depths: (b,) from its least to its most, in the signal's unit.
        rate: breaths a minute: 60 over the median length.
    """

    starts: Floats
    tops: Floats
    depths: Floats
    rate: float

    @property
    def count(self) -> int:
        return len(self.tops)

    @property
    def duty(self) -> float:
        """Part of a breath that goes in: median."""
        return float(np.median((self.tops - self.starts[:-1]) / np.diff(self.starts)))


def period_of(values: Floats, rate: float) -> float:
    """Length of a breath [s] by autocorrelation; 0 where nothing repeats."""
    count = len(values)
    lags = np.arange(int(PERIODS[0] * rate), min(int(PERIODS[1] * rate), int(0.6 * count)))
    if len(lags) < 3:
        return 0.0
    size = 1 << int(np.ceil(np.log2(2 * count)))
    curve = np.fft.irfft(np.abs(np.fft.rfft(values - values.mean(), size)) ** 2)[: lags[-1] + 2]
    curve = curve / np.maximum(curve[0], 1e-300) * count / (count - np.arange(len(curve)))
    inner = curve[lags[0] - 1 : lags[-1] + 2]
    tops = np.flatnonzero((inner[1:-1] > inner[:-2]) & (inner[1:-1] >= inner[2:])) + 1
    if not len(tops) or inner[tops].max() < 0.2:
        return 0.0
    first = next(int(top) for top in tops if inner[top] >= 0.8 * inner[tops].max())
    return (lags[0] - 1 + parabola_top(inner, first)[0]) / rate


def find_breaths(values: Floats, rate: float) -> Breaths:
    """Breaths of a signal that is high when the lungs are full; `InputError` where there are none.

    Args:
        values: (n,), any unit; rate [Hz].
    """
    seconds = len(values) / rate
    if seconds < 2.0 * PERIODS[0]:
        raise InputError(f"expected at least {2 * PERIODS[0]:g} s to find breaths in, got {seconds:.2f} s")
    smooth = low_pass(values, rate, 1.5, order=2, both_ways=True)
    if seconds > SLOW:
        smooth = smooth - low_pass(smooth, rate, 1.0 / SLOW, order=2, both_ways=True)
    else:
        smooth = signal.detrend(smooth)
    low, high = np.percentile(smooth, (5, 95))
    if not high - low > 1e-9 * max(1e-300, float(np.abs(values).max())):
        raise InputError("expected a signal that breathes, it hardly changes")
    period = period_of(smooth, rate)
    nearest = max(1, int(0.4 * period * rate)) if period else max(1, int(PERIODS[0] * rate))
    least = PROMINENCE * (high - low)
    bottoms, _ = signal.find_peaks(-extended(smooth, -1.0), prominence=least, distance=nearest)
    bottoms = bottoms - 1
    inner = bottoms[(bottoms > 0) & (bottoms < len(smooth) - 1)]
    if len(inner):
        usual = float(np.median(smooth[inner])) + END * (high - low)
        bottoms = np.array([at for at in bottoms if at in inner or smooth[at] < usual])
    if len(bottoms) < 2:
        raise InputError("expected at least one whole breath, found none")
    sharp = low_pass(values, rate, 6.0, order=2, both_ways=True)  # depths are not to be smoothed away
    starts: list[float] = []
    tops: list[float] = []
    depths: list[float] = []
    for left, right in pairwise(bottoms):
        starts.append(parabola_top(-smooth, int(left))[0] / rate)
        part = sharp[left : right + 1]
        tops.append((left + int(part.argmax())) / rate)
        depths.append(float(part.max() - np.interp(part.argmax(), (0, right - left), (part[0], part[-1]))))
    starts.append(parabola_top(-smooth, int(bottoms[-1]))[0] / rate)
    edges = np.array(starts)
    return Breaths(edges, np.array(tops), np.array(depths), 60.0 / float(np.median(np.diff(edges))))


def volume_of(flow: Floats, rate: float) -> Floats:
    """Volume from flow, in its unit times seconds: the integral less its drift over four breaths and more."""
    centred = flow - flow.mean()
    period = period_of(low_pass(centred, rate, 1.5, order=2, both_ways=True), rate)
    volume = np.cumsum(centred) / rate
    return volume - low_pass(volume, rate, 0.25 / (period or 5.0), order=2, both_ways=True)


def extended(values: Floats, sign: float) -> Floats:
    """The signal between two walls, so that an extremum at an end has something to stand against."""
    wall = values.max() if sign < 0.0 else values.min()
    return np.concatenate([[wall], values, [wall]])


def average_breath(values: Floats, rate: float, breaths: Breaths) -> tuple[Floats, Floats]:
    """Mean and standard deviation over breaths (`PHASES`, …) of any signals (f, …), each breath stretched to one length.

    Frames are taken at phases 0, 1/`PHASES`, …; only breaths that are `alike` go in.
    """
    length, kept = np.diff(breaths.starts), alike(breaths)
    time = np.arange(len(values)) / rate
    flat = values.reshape(len(values), -1)
    cycles = np.empty((len(kept), PHASES, flat.shape[1]))
    for row, number in enumerate(kept):
        at = breaths.starts[number] + np.arange(PHASES) / PHASES * length[number]
        for column in range(flat.shape[1]):
            cycles[row, :, column] = np.interp(at, time, flat[:, column])
    shape = (PHASES, *values.shape[1:])
    return cycles.mean(axis=0).reshape(shape), cycles.std(axis=0).reshape(shape)


def alike(breaths: Breaths) -> NDArray[np.int64]:
    """Numbers of the breaths that are most like each other in length and depth; of equally many, the deepest."""
    size = np.log(np.stack([np.diff(breaths.starts), np.maximum(breaths.depths, 1e-300)], axis=1))
    near = (np.abs(size[:, None] - size[None]) < np.log(ALIKE)).all(axis=2)
    many = near.sum(axis=1)
    centre = max(range(len(many)), key=lambda number: (many[number], breaths.depths[number]))
    return np.flatnonzero(near[centre])


def harmonics_of(mean: Floats, period: float) -> int:
    """How many harmonics of an average breath (phases, …) stand out from its noise.

    Noise is as strong in all harmonics; how strong, those between `NOISE` show, in which nobody breathes.

    Args:
        period: [s].
    """
    power = np.square(np.abs(np.fft.rfft(mean.reshape(len(mean), -1), axis=0))).sum(axis=1)
    at = np.arange(len(power)) / period
    quiet = power[(at >= NOISE[0]) & (at <= NOISE[1])]
    if len(quiet) < 3:
        return len(power) - 1
    loud = np.flatnonzero((power > STANDING_OUT * np.median(quiet)) & (at < NOISE[0]))
    return max(int(loud.max(initial=0)), LEAST_HARMONICS)


def idealised(mean: Floats, harmonics: int) -> Floats:
    """An average breath (phases, …) of so many harmonics."""
    flat = mean.reshape(len(mean), -1)
    parts = np.fft.rfft(flat, axis=0)
    parts[harmonics + 1 :] = 0.0
    return np.asarray(np.fft.irfft(parts, len(mean), axis=0)).reshape(mean.shape)
