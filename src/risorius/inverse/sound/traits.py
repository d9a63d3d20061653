"""Traits of a clip by which its kind is told: few, each with a meaning, none depending on level or sample rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.hearing import Call
from risorius.inverse.sound.listening import Listening
from risorius.maths.signals import runs

Floats = NDArray[np.float64]

VOICED: Final = 0.7
"""Harmonicity above which a frame counts as voiced (harmonics-to-noise ratio of 4 dB)."""
CALL_VOICED: Final = 0.6
"""The same for the best frame of a call: breathy calls count."""
VOICE: Final = (75.0, 1000.0)
"""Pitch of voices [Hz]; laughter reaches 1,000 and seldom more (Bachorowski et al. 2001)."""
INTERVALS: Final = (0.12, 0.40)
"""From call to call in laughter [s]: 8 to 2.5 a second (Provine & Yong 1991: 0.21; Filippelli 2001: 4.6 ± 1.1 Hz)."""
BEAT: Final = (3.0, 7.5)
"""Modulation of laughter [Hz], and the band that it is compared with."""
MODULATION: Final = (1.0, 25.0)
OUTSTANDING: Final = 8.0
"""A call this much above the median of its row [dB] counts no more: a squawk among clucks makes no laugh."""


@dataclass(frozen=True)
class Traits:
    """What is looked at.

    Args:
        calls: how many calls stand within 25 dB of the loudest.
        rhythm: part of the calls (weighted by amplitude to 1.5) that are voiced and in a row of three or more in a
            laugh's time.
        run: most calls in a row in a laugh's time.
        beat: part of the modulation of the voiced level, 1 to 25 Hz, that lies between 3 and 7.5 Hz.
        interval: median time from call to call [s]; 0 with fewer than two.
        variety: mean difference of the spectrum from call to call, over five bands [nepers]; the notes of a laugh are
            alike (Provine & Yong 1991).
        stretch: length of unbroken voicing [s], median weighted by energy: short in laughter, long in speech and cries.
        legato: the shorter of stretch and duration [s]: calls that are long and voiced through are syllables or cries.
        voiced: part of the energy in voiced frames.
        pitch: median over voiced frames, weighted by energy [Hz]; 0 with none.
        pitch_spread: interquartile range of that pitch [octaves]; machines and many birds keep theirs.
        body: part of the power between 200 and 2,000 Hz.
        hiss: part of the power above 2,000 Hz in the tenth of active frames that have most of it.
        flatness: median spectral flatness of active frames.
        duration: median length of a call [s], weighted by amplitude.
        rise: median time from 10 dB below to the peak [s], weighted by amplitude.
        active: part of the clip that stands out.
        contrast: from the floor to the loudest [dB].
    """

    calls: int
    rhythm: float
    run: int
    beat: float
    interval: float
    variety: float
    stretch: float
    legato: float
    voiced: float
    pitch: float
    pitch_spread: float
    body: float
    hiss: float
    flatness: float
    duration: float
    rise: float
    active: float
    contrast: float


def traits_of(heard: Listening, calls: list[Call]) -> Traits:
    """Measure a clip that has at least one call."""
    frames, active = heard.frames, heard.active
    energy = np.where(active, frames.level**2, 0.0)
    in_voice = active & (frames.pitch >= VOICE[0]) & (frames.pitch <= VOICE[1])
    voiced = in_voice & (frames.harmonicity > VOICED)
    pitch = quantiles(frames.pitch[voiced], energy[voiced], (0.25, 0.5, 0.75))
    level = np.array([call.level for call in calls])
    weight = 10.0 ** (level / 20.0)
    steps = np.diff([call.peak for call in calls])
    rhythm, run = rows(steps, level, np.array([call.harmonicity for call in calls]) > CALL_VOICED)
    duration = middle(np.array([call.release - call.onset for call in calls]), weight)
    stretches = runs(in_voice & (frames.harmonicity > CALL_VOICED))
    sounding = np.array([energy[a:b].sum() for a, b in stretches])
    stretch = middle(np.diff(stretches, axis=1)[:, 0] / frames.rate, sounding)
    return Traits(
        calls=len(calls),
        rhythm=rhythm,
        run=run,
        beat=beat_of(frames.level * np.clip((frames.harmonicity - 0.4) / 0.3, 0.0, 1.0), frames.rate),
        interval=float(np.median(steps)) if len(steps) else 0.0,
        variety=variety_of(heard, calls),
        stretch=stretch,
        legato=min(stretch, duration),
        voiced=float(energy[voiced].sum() / max(energy.sum(), 1e-300)),
        pitch=float(pitch[1]),
        pitch_spread=float(np.log2(pitch[2] / pitch[0])) if pitch[0] > 0.0 else 0.0,
        body=float(frames.bands[active, 1:4].sum(axis=1).mean()) if active.any() else 0.0,
        hiss=float(np.percentile(frames.bands[active, 4], 90)) if active.any() else 0.0,
        flatness=float(np.median(frames.flatness[active])) if active.any() else 1.0,
        duration=duration,
        rise=middle(np.array([call.peak - call.onset for call in calls]), weight),
        active=float(active.mean()),
        contrast=-heard.floor,
    )  # fmt: skip


def rows(steps: Floats, level: Floats, voiced: NDArray[np.bool_]) -> tuple[float, int]:
    """Rhythm and longest row of calls by the steps between them [s], their levels [dB] and whether they are voiced."""
    weight = 10.0 ** (1.5 * level / 20.0)
    member = np.zeros(len(level))
    longest, first = 0, 0
    fits = (steps >= INTERVALS[0]) & (steps <= INTERVALS[1])
    for number in range(len(level)):
        if number < len(steps) and fits[number]:
            continue
        row = slice(first, number + 1)
        count = number - first + 1
        longest = max(longest, count)
        if count >= 3:
            most = 10.0 ** (1.5 * (np.median(level[row]) + OUTSTANDING) / 20.0)
            member[row] = np.minimum(weight[row], most) * voiced[row]
        first = number + 1
    return (float(member.sum() / weight.sum()) if len(level) else 0.0), longest


def beat_of(level: Floats, rate: float) -> float:
    """Part of the modulation spectrum of a level that lies in the band of laughter."""
    padded = np.concatenate([level - level.mean(), np.zeros(max(0, 256 - len(level)))])
    frequency, power = signal.welch(padded, rate, nperseg=256, noverlap=192, nfft=1024, detrend="linear")
    within = (frequency >= BEAT[0]) & (frequency <= BEAT[1])
    around = (frequency >= MODULATION[0]) & (frequency <= MODULATION[1])
    return float(power[within].sum() / max(float(power[around].sum()), 1e-300))


def variety_of(heard: Listening, calls: list[Call]) -> float:
    """Mean difference of the logarithms of the bands' shares between successive calls."""
    if len(calls) < 2:
        return 0.0
    rate = heard.frames.rate
    spots = [round(call.peak * rate) for call in calls]
    shares = np.array([heard.frames.bands[max(0, at - 2) : at + 3].mean(axis=0) for at in spots])
    return float(np.abs(np.diff(np.log(shares + 0.01), axis=0)).mean())


def quantiles(values: Floats, weight: Floats, at: tuple[float, ...]) -> Floats:
    """Weighted quantiles; zeros where there is nothing."""
    if not len(values) or weight.sum() <= 0.0:
        return np.zeros(len(at))
    order = np.argsort(values)
    share = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.interp(at, share / weight.sum(), values[order])


def middle(values: Floats, weight: Floats) -> float:
    """Weighted median; zero where there is nothing."""
    return float(quantiles(values, weight, (0.5,))[0])
