"""Bouts: calls on one exhalation, and the inhalations that the sound leaves room for (rows I1, I2)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.hearing import Bout, Call, Inhalation
from risorius.inverse.sound.listening import Listening
from risorius.inverse.sound.tables import pressures
from risorius.maths.signals import parabola_top

Floats = NDArray[np.float64]

LONGEST_STEP: Final = 0.55
"""Calls further apart than this [s] and than 2.2 times the median step belong to two bouts."""
GASP_LENGTH: Final = 0.18
GASP_HARMONICITY: Final = 0.65
"""A burst this long [s] and this noisy, standing alone among calls, is breath drawn in."""
ROOM: Final = 0.22
"""An inhalation needs a gap this long [s]: the shortest breath between phrases of speech takes about as long."""
LONGEST_BREATH: Final = 0.8
LEAD: Final = 0.05
"""An inhalation ends this long [s] before the next bout."""
LARGEST_BREATH: Final = 2.0
"""Most air drawn in at once [l]."""
LIKE: Final = 0.15
"""A level less like itself than this one beat later has no rhythm."""
AGREE: Final = 0.2
RATES: Final = (2.4, 9.0)
"""Call rates looked for in an envelope [Hz]."""


def split_gasps(calls: list[Call]) -> tuple[list[Call], list[Call]]:
    """Calls proper, and bursts among them that are breath drawn in."""
    if len(calls) < 3:
        return calls, []
    proper: list[Call] = []
    gasps: list[Call] = []
    voiced = np.median([call.harmonicity for call in calls]) > GASP_HARMONICITY
    for number, call in enumerate(calls):
        near = [abs(calls[other].peak - call.peak) for other in (number - 1, number + 1) if 0 <= other < len(calls)]
        noisy = call.harmonicity < GASP_HARMONICITY and call.release - call.onset > GASP_LENGTH
        (gasps if voiced and noisy and max(near) > 0.3 and call.level < -3.0 else proper).append(call)
    return proper, gasps


def find_bouts(calls: list[Call]) -> list[Bout]:
    """Bouts in order; calls that stand alone make bouts of one."""
    if not calls:
        return []
    steps = np.diff([call.peak for call in calls])
    limit = max(LONGEST_STEP, 2.2 * float(np.median(steps))) if len(steps) > 2 else LONGEST_STEP
    limit = min(limit, 1.0)
    bouts, first = [], 0
    for number in range(len(calls)):
        if number + 1 == len(calls) or steps[number] > limit:
            bouts.append(Bout(calls[first].onset, calls[number].release, first, number))
            first = number + 1
    return bouts


def inhalations(bouts: list[Bout], gasps: list[Call], seconds: float, kind: str) -> list[Inhalation]:
    """One before each bout that has room for it: on a gasp where one is heard, else just before the bout.

    Its volume makes up for the calls of the bout before, and for the coming one's at the start of the clip.
    """
    expired = pressures()[kind]["expired"]
    shut = LEAD + pressures()[kind]["compression"]
    found = []
    for number, bout in enumerate(bouts):
        begin = bouts[number - 1].end + LEAD if number else 0.0
        room = bout.start - shut - begin
        owing = bouts[number - 1] if number else bout
        least = pressures()["breath"]["smallest"]
        volume = min(max(expired * (owing.last - owing.first + 1), least), LARGEST_BREATH)
        heard = [gasp for gasp in gasps if begin - LEAD <= gasp.peak <= bout.start]
        if heard:
            start, end = max(begin, heard[0].start), min(bout.start - LEAD, heard[-1].end)
            if end - start > ROOM:
                found.append(Inhalation(start, end, volume, heard=True))
        elif room >= ROOM:
            end = bout.start - shut
            found.append(Inhalation(max(begin, end - LONGEST_BREATH), end, volume))
    return found


def rate_of(calls: list[Call], bouts: list[Bout]) -> float:
    """Calls a second within bouts: one over the median step [Hz]."""
    peaks = np.array([call.peak for call in calls])
    steps = [np.diff(peaks[bout.first : bout.last + 1]) for bout in bouts]
    joined = np.concatenate(steps) if steps else np.zeros(0)
    return float(1.0 / np.median(joined)) if len(joined) else 0.0


def agreed(calls: float, beat: float) -> tuple[float, float]:
    """Two estimates of one rate [Hz] brought together: their geometric mean where they agree within `AGREE`.

    Every second call may be the louder one: a beat at half of the calls' rate is doubled.
    """
    for times in (1.0, 2.0):
        if calls > 0.0 and abs(times * beat / calls - 1.0) < AGREE:
            return float(np.sqrt(times * beat * calls)), times * beat
    return calls, beat


def beat_rate(heard: Listening, bouts: list[Bout]) -> float:
    """Rhythm of the level within bouts [Hz]: the first high peak of its autocorrelation; 0 where there is none."""
    rate = heard.frames.rate
    lags = np.arange(int(rate / RATES[1]), int(rate / RATES[0]) + 2)
    total, weight = np.zeros(lags[-1] + 2), np.zeros(lags[-1] + 2)
    for bout in bouts:
        part = heard.level[int(bout.start * rate) : int(bout.end * rate) + 2]
        if len(part) < 2 * lags[0] + 2:
            continue
        part = signal.detrend(part)
        for lag in range(min(len(total), len(part) - lags[0])):
            total[lag] += float((part[: len(part) - lag] * part[lag:]).sum())
            weight[lag] += len(part) - lag
    if weight[0] == 0.0 or total[0] <= 0.0:
        return 0.0
    curve = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0) / (total[0] / weight[0])
    tops = [lag for lag in lags if curve[lag] > curve[lag - 1] and curve[lag] >= curve[min(lag + 1, len(curve) - 1)]]
    best = max((float(curve[lag]) for lag in tops), default=0.0)
    if best < LIKE:
        return 0.0
    first = next(int(lag) for lag in tops if curve[lag] >= 0.8 * best)
    return rate / parabola_top(curve, first)[0]
