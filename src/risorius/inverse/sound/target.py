"""The lung pressure that a sound stands for (rows I1, X1).

Within bouts the pressure is a linear fit to the envelope, normalised so that calls reach the kind's mean peak on average
(DiLorenzo 2009, §6.3); an inhalation is a half sine of flow through Rohrer's airway; a cough or a sneeze is preceded by
the pressure that builds up behind the shut glottis.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.hearing import Bout, Call, Inhalation, Phase, Target
from risorius.inverse.sound.tables import pressures
from risorius.maths.signals import low_pass

Floats = NDArray[np.float64]

RATE: Final = 200.0
"""Points a second of envelope and target."""
CUTOFF: Final = 10.0
"""Low-pass of the envelope [Hz]: lets the calls through and the pitch not."""
STRONG_CUTOFF: Final = 6.0
"""The same for muddy tracks, where what is steady for longer than a call is taken out as well."""
VALLEY: Final = 0.6
"""Over such a stretch [s] the envelope's lowest value counts as steady in a muddy track."""
EDGE: Final = 0.06
"""Pressure fades in and out over this long [s] at the ends of a bout."""
PROMPT: Final = 0.5
"""Part of the envelope that is filtered without delay: midway between the causal envelope of the paper and the one that is in
step with the sound, it is as like to either as it can be to both."""
TAIL: Final = 0.10
"""A bout's pressure outlasts its sound by this long [s]."""


def window(time: Floats, start: float, end: float) -> Floats:
    """1 from start to end [s], with rounded edges outside."""
    rise = np.clip((time - start + EDGE) / EDGE, 0.0, 1.0) * np.clip((end + EDGE - time) / EDGE, 0.0, 1.0)
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * rise))


def clean(envelope: Floats, bouts: list[Bout], muddy: bool) -> Floats:
    """The envelope [own scale] less its background; in muddy tracks less what is steady, too."""
    time = np.arange(len(envelope)) / RATE
    outside = np.ones(len(envelope), dtype=bool)
    for bout in bouts:
        outside &= (time < bout.start - TAIL) | (time > bout.end + TAIL)
    loudest = float(envelope.max())
    quiet = envelope[outside & (envelope > 1e-4 * loudest)]
    floor = float(np.median(quiet)) if len(quiet) > 0.05 * len(envelope) else float(np.percentile(envelope, 5))
    signal = np.maximum(envelope - floor, 0.0)
    if not muddy:
        return signal
    size = max(3, int(VALLEY * RATE))
    padded = np.pad(signal, (size // 2, size - 1 - size // 2), mode="edge")
    lowest = np.lib.stride_tricks.sliding_window_view(padded, size).min(axis=1)
    steady = low_pass(lowest, RATE, 1.0 / VALLEY, both_ways=True)
    return np.maximum(signal - 0.8 * steady, 0.0)


def pressure_of(
    kind: str,
    envelope: Floats,
    calls: list[Call],
    bouts: list[Bout],
    inhalations: list[Inhalation],
    *,
    intensity: float = 1.0,
    muddy: bool = False,
) -> Target:
    """Target of anything but breathing.

    Args:
        kind: a row of `pressures.csv`.
        envelope: (n,) at `RATE`.
        intensity: times the kind's mean peak.
    """
    table = pressures()[kind]
    time = np.arange(len(envelope)) / RATE
    signal = clean(envelope, bouts, muddy)
    peaks = [float(signal[slice_of(call, len(signal))].max()) for call in calls]
    scale = float(np.mean(peaks)) if peaks else 0.0
    pressure = np.zeros(len(envelope))
    if scale > 0.0:
        for bout in bouts:
            inside = window(time, bout.start, bout.end + TAIL)
            part = inside * (table["base"] + (table["peak"] - table["base"]) * signal / scale)
            pressure = np.maximum(pressure, limited(part, table["peak"], table["largest"]))
    if table["compression"] > 0.0:
        for call in calls:
            height = table["peak"] * float(signal[slice_of(call, len(signal))].max()) / max(scale, 1e-300)
            begin = call.onset - table["compression"]
            build = np.clip((time - begin) / (call.peak - begin), 0.0, 1.0) * (time <= call.peak)
            built = height * (0.5 - 0.5 * np.cos(np.pi * build))
            pressure = np.maximum(pressure, limited(built, table["peak"], table["largest"]))
    for breath in inhalations:
        pressure = np.where(breathing_in(time, breath) > 0.0, -suction(time, breath), pressure)
    return Target(time, intensity * pressure)


def limited(pressure: Floats, peak: float, largest: float) -> Floats:
    """Pressure as it is up to 1.5 times the mean peak, from there bending towards the largest that a body makes."""
    knee = 1.5 * peak
    room = largest - knee
    return np.where(pressure > knee, knee + room * np.tanh((pressure - knee) / room), pressure)


def slice_of(call: Call, count: int) -> slice:
    """Where a call stands in an envelope; the low-pass delays it a little."""
    first = min(int(call.start * RATE), count - 1)
    return slice(first, max(first + 1, min(count, int((call.end + 0.03) * RATE) + 1)))


def breathing_in(time: Floats, breath: Inhalation) -> Floats:
    """Flow of an inhalation as a half sine [l/s]."""
    length = breath.end - breath.start
    inside = (time > breath.start) & (time < breath.end)
    shape = np.sin(np.pi * np.clip((time - breath.start) / length, 0.0, 1.0))
    return np.where(inside, 0.5 * np.pi * breath.volume / length * shape, 0.0)


def suction(time: Floats, breath: Inhalation) -> Floats:
    """Pressure below the mouth's that draws that flow through the airway, K1·Q + K2·Q² [cmH2O]."""
    airway = pressures()["airway"]
    flow = breathing_in(time, breath)
    return airway["linear"] * flow + airway["quadratic"] * flow**2


def breath_pressure(phases: tuple[Phase, ...], count: int, *, intensity: float = 1.0) -> Target:
    """Target of breathing heard: a half sine a phase, inward negative, louder ones larger.

    In and out carry the same volume on average.
    """
    time = np.arange(count) / RATE
    pressure = np.zeros(count)
    if phases:
        usual = float(np.mean([phase.end - phase.start for phase in phases]))
        peak = pressures()["breathing"]["peak"]
        for phase in phases:
            size = phase.depth * usual / (phase.end - phase.start)
            turn = np.clip((time - phase.start) / (phase.end - phase.start), 0.0, 1.0)
            pressure += (-1.0 if phase.inward else 1.0) * peak * size * np.sin(np.pi * turn)
    return Target(time, intensity * pressure)
