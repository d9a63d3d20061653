"""Calls: single bursts of sound, found as peaks of the level and cut in the middle of the valleys between them.

(DiLorenzo 2009, §6.3.3: better fits where calls are cut in the centre of the valley than at the foot of the rise.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.hearing import Call
from risorius.inverse.sound.listening import Listening
from risorius.maths.signals import low_pass, parabola_top

Floats = NDArray[np.float64]

PROMINENCE: Final = 4.0
"""A peak rises at least so far above its valleys [dB]."""
DEPTH: Final = 25.0
"""Peaks further below the loudest are left out [dB]."""
NEAREST: Final = 0.08
"""Calls follow each other no faster [s]: 12.5 a second is beyond any laugh."""
MUDDY: Final = 8.0
"""Where the median peak stands less than this above its valleys [dB], the track is muddy and filtered more strongly."""
STRONG_SMOOTHING: Final = 7.0
"""Cutoff of the stronger filter [Hz]: just above the fastest laughs."""
STRONG_PROMINENCE: Final = 1.5
EDGE: Final = 10.0
"""A call begins and ends where it is this far below its peak [dB], or at its valley."""


def find_calls(heard: Listening) -> tuple[list[Call], bool]:
    """All calls in order, and whether the stronger filter was needed."""
    calls = calls_in(heard, heard.level, PROMINENCE)
    muddy = bool(calls) and float(np.median([call.depth for call in calls])) < MUDDY
    muddy = muddy or (not calls and bool(heard.active.any()))
    if not muddy:
        return calls, False
    strong = low_pass(heard.level, heard.frames.rate, STRONG_SMOOTHING, order=2, both_ways=True)
    found = calls_in(heard, strong, STRONG_PROMINENCE)
    return (found, True) if len(found) >= len(calls) else (calls, True)


def calls_in(heard: Listening, level: Floats, prominence: float) -> list[Call]:
    """Calls at the peaks of a level [dB]."""
    rate = heard.frames.rate
    padded = np.concatenate([[level.min() - 30.0], level, [level.min() - 30.0]])
    tops, found = signal.find_peaks(
        padded, height=max(-DEPTH, heard.floor + prominence), prominence=prominence, distance=round(NEAREST * rate)
    )
    tops = tops - 1
    if not len(tops):
        return []
    calls = []
    for number, top in enumerate(tops):
        low = tops[number - 1] if number else 0
        high = tops[number + 1] if number + 1 < len(tops) else len(level) - 1
        onset, release = edges(level, low, int(top), high)
        middle = slice(max(0, top - 3), top + 4)
        best = int(heard.frames.harmonicity[middle].argmax()) + middle.start
        place, height = parabola_top(level, int(top))
        calls.append(
            Call(
                start=onset / rate, end=release / rate, onset=onset / rate, release=release / rate,
                peak=place / rate, level=height, depth=float(found["prominences"][number]),
                harmonicity=float(heard.frames.harmonicity[best]), pitch=float(heard.frames.pitch[best]),
            )
        )  # fmt: skip
    for number in range(len(calls) - 1):
        cut = valley(level, int(tops[number]), int(tops[number + 1])) / rate
        left, right = calls[number], calls[number + 1]
        if right.onset - left.release < 0.5:
            calls[number], calls[number + 1] = replace(left, end=cut), replace(right, start=cut)
    return calls


def edges(level: Floats, low: int, top: int, high: int) -> tuple[float, float]:
    """Where a peak's flanks pass `EDGE` below it, between two limits; the lowest point where they do not."""
    threshold = level[top] - EDGE
    before, after = level[low : top + 1], level[top : high + 1]
    under = np.flatnonzero(before < threshold)
    onset = low + float(under[-1]) if len(under) else low + float(before.argmin())
    under = np.flatnonzero(after < threshold)
    release = top + float(under[0]) if len(under) else top + float(after.argmin())
    return onset, release


def valley(level: Floats, left: int, right: int) -> float:
    """The middle of the valley between two peaks: of the stretch nearer to its bottom than to the lower rim."""
    part = level[left : right + 1]
    bottom, rim = int(part.argmin()), min(part[0], part[-1])
    half = 0.5 * (part[bottom] + rim)
    above = part > half
    first = bottom - int(above[bottom::-1].argmax()) if above[: bottom + 1].any() else 0
    last = bottom + int(above[bottom:].argmax()) if above[bottom:].any() else len(part) - 1
    return left + 0.5 * (first + last)
