"""Breathing heard: its rate from the likeness of the sound to itself a breath later, and its phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.hearing import Phase
from risorius.inverse.sound.listening import Listening
from risorius.maths.signals import decibels, low_pass, parabola_top, runs

Floats = NDArray[np.float64]

RATE: Final = 25.0
"""Points a second of the slow spectrogram."""
SMOOTHING: Final = 1.2
"""Its low-pass [Hz]: phases of a breath pass, words and laughs do not."""
PERIODS: Final = (0.9, 15.0)
"""Breaths looked for [s]: 67 to 4 a minute."""
LIKE: Final = 0.15
"""Breaths less alike than this are none."""
PAUSE: Final = 5.0
"""Between two phases the level falls at least so far below both [dB]."""
SHORTEST_PHASE: Final = 0.25
LOUDNESS: Final = 30.0
"""The noise of breathing rises with flow: amplitude with its power of about 1.5, so that flow goes as 10^(level / 30 dB)."""


@dataclass(frozen=True)
class Breathing:
    """Rate [1/min], 0 where none is found, how alike successive breaths are (0 … 1), and the phases heard."""

    rate: float
    likeness: float
    phases: tuple[Phase, ...]


def find_breathing(heard: Listening) -> Breathing:
    """Breathing rate and phases.

    In and out sound different, so that the spectrum repeats itself after a whole breath, the level often after half of
    one already: the autocorrelation of the band powers [dB] is looked at, not of the level alone.
    """
    slow = slow_bands(heard)
    phases = phases_of(heard, slow)
    period, likeness = period_of(slow)
    if period > 0.0 and period * 1.5 <= heard.seconds:
        return Breathing(60.0 / period, likeness, phases)
    starts = [phase.start for phase in phases if phase.inward]
    if len(starts) > 1:
        return Breathing(60.0 / float(np.median(np.diff(starts))), likeness, phases)
    return Breathing(0.0, likeness, phases)


def slow_bands(heard: Listening) -> Floats:
    """(n, bands) smoothed power of each band [dB], not below the background."""
    frames = heard.frames
    power = frames.bands * (frames.level[:, None] / heard.ceiling) ** 2
    level = 0.5 * decibels(power, 1.0, 2.0 * (heard.floor - 18.0))
    smooth = low_pass(level, frames.rate, SMOOTHING, order=2, both_ways=True)
    return np.asarray(smooth[:: round(frames.rate / RATE)])


def period_of(slow: Floats) -> tuple[float, float]:
    """Length of a breath [s], and how alike breaths one period apart are.

    Looked for is the shortest lag at which both loudness and colour (the bands' shares while there is sound) are nearly
    as alike as they get: at half a breath the colour is not.
    """
    count = len(slow)
    lags = np.arange(int(PERIODS[0] * RATE), min(int(PERIODS[1] * RATE), int(0.67 * count)))
    if len(lags) < 3:
        return 0.0, 0.0
    level = total_level(slow)
    loud = (level > np.percentile(level, 15))[:, None]
    colour = slow - level[:, None]
    colour = (colour - colour[loud[:, 0]].mean(axis=0)) * loud
    alike = likeness(slow - low_pass(slow, RATE, 1.0 / (2.0 * PERIODS[1]), both_ways=True), lags)
    both = (alike + likeness(colour, lags)) * (1.0 - 0.5 * lags / count)  # long lags rest on less
    tops = np.flatnonzero((alike[1:-1] > alike[:-2]) & (alike[1:-1] >= alike[2:])) + 1
    tops = tops[alike[tops] > LIKE]
    if not len(tops) or both[tops].max() <= 0.0:
        return 0.0, 0.0
    first = next(int(top) for top in tops if both[top] >= 0.85 * both[tops].max())
    place, height = parabola_top(alike, first)
    return (lags[0] + place) / RATE, height


def likeness(part: Floats, lags: NDArray[np.int64]) -> Floats:
    """Autocorrelation of rows at some lags, normalised by what overlaps: 1 for a repeat."""
    count = len(part)
    squares = np.concatenate([[0.0], np.cumsum((part**2).sum(axis=1))])
    return np.array(
        [
            2.0 * float((part[: count - lag] * part[lag:]).sum())
            / max(float(squares[count - lag] + squares[count] - squares[lag]), 1e-300)
            for lag in lags
        ]
    )  # fmt: skip


def total_level(slow: Floats) -> Floats:
    """Level of all bands together [dB]."""
    return np.asarray(10.0 * np.log10((10.0 ** (slow / 10.0)).sum(axis=1)))


def phases_of(heard: Listening, slow: Floats) -> tuple[Phase, ...]:
    """Stretches of sound between pauses, told apart into inward and outward by their spectra.

    Phases are put in two groups by the main direction in which their spectra differ; the group of shorter ones is
    breath drawn in (it takes two fifths of a breath at rest, Tobin 1983). With no difference they alternate.
    """
    level = total_level(slow)
    low, high = np.percentile(level, (5, 95))
    found = runs(level > max(low + 0.35 * (high - low), high - 25.0)) if high - low > PAUSE else np.zeros((0, 2), int)
    found = found[(found[:, 1] - found[:, 0]) > SHORTEST_PHASE * RATE]
    if not len(found):
        return ()
    colour = np.array([slow[a:b].mean(axis=0) - level[a:b].mean() for a, b in found])
    colour -= colour.mean(axis=0)
    along = colour @ np.linalg.svd(colour, full_matrices=False)[2][0] if len(found) > 1 else np.zeros(1)
    first = along > 0.0
    length = (found[:, 1] - found[:, 0]) / RATE
    if first.all() or not first.any():
        first = np.arange(len(found)) % 2 == 0
    inward = first if not (~first).any() or length[first].mean() <= length[~first].mean() else ~first
    loud = np.array([level[a:b].mean() for a, b in found])
    depth = 10.0 ** (loud / LOUDNESS) * length
    for group in (inward, ~inward):
        if group.any():
            depth[group] /= depth[group].mean()
    return tuple(
        Phase(a / RATE, b / RATE, bool(into), float(size), float(volume))
        for (a, b), into, size, volume in zip(found, inward, loud, depth, strict=True)
    )
