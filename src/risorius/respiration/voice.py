"""Voice as source and filter: glottal pulses and breath noise through the resonances of the vocal tract.

The glottis is Rosenberg's (1971) pulse with jitter and shimmer, the tract a cascade of second-order resonators (Klatt
1980, J Acoust Soc Am 67:971). Figures come from `data/voice.json`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Floats = NDArray[np.float64]


@cache
def figures() -> Any:
    """`data/voice.json` (treat as read-only)."""
    return json.loads(files("risorius.respiration").joinpath("data/voice.json").read_text(encoding="utf-8"))


def glottal_flow(pitch: Floats, rate: float, random: np.random.Generator) -> Floats:
    """Derivative of the flow through the vibrating glottis, as the lips radiate it; peak about 1.

    Args:
        pitch: (n,) fundamental frequency [Hz], above 0.
        rate: samples a second [Hz].
    """
    table = figures()
    cycles = int(np.ceil(float(pitch.sum()) / rate)) + 2
    jitter = 1.0 + table["jitter"]["value"] * random.standard_normal(cycles)
    phase = np.cumsum(pitch) / rate
    cycle = np.minimum(phase.astype(int), cycles - 1)
    phase = np.cumsum(pitch * jitter[cycle]) / rate
    turn, cycle = np.mod(phase, 1.0), np.minimum(phase.astype(int), cycles - 1)
    opening, closing = table["open_quotient"]["opening"], table["open_quotient"]["closing"]
    rise = 0.5 * (1.0 - np.cos(np.pi * turn / opening))
    fall = np.cos(0.5 * np.pi * (turn - opening) / closing)
    flow = np.where(turn < opening, rise, np.where(turn < opening + closing, fall, 0.0))
    shimmer = 1.0 + table["shimmer"]["value"] * random.standard_normal(cycles)
    slope = np.diff(flow * shimmer[cycle], prepend=0.0)
    return slope * rate / (np.pi * pitch / closing)


def resonate(source: Floats, formants: list[float], rate: float, widening: float = 1.0) -> Floats:
    """A source through a tract of these formants [Hz], each of gain 1 at low frequencies."""
    sound = source
    for centre, width in zip(formants, figures()["formants"]["bandwidth"], strict=True):
        if centre >= 0.45 * rate:
            continue
        radius = np.exp(-np.pi * width * widening / rate)
        b1, b2 = 2.0 * radius * np.cos(2.0 * np.pi * centre / rate), -radius * radius
        sound = signal.lfilter([1.0 - b1 - b2], [1.0, -b1, -b2], sound)
    return np.asarray(sound)


def hiss(count: int, rate: float, band: tuple[float, float], random: np.random.Generator) -> Floats:
    """Noise of unit rms between two frequencies [Hz], falling 12 dB an octave outside."""
    high = min(band[1], 0.45 * rate)
    sections = signal.butter(2, (min(band[0], 0.8 * high), high), btype="band", fs=rate, output="sos")
    noise = signal.sosfilt(sections, random.standard_normal(count))
    return np.asarray(noise / max(float(np.sqrt((noise**2).mean())), 1e-12))


def bump(time: Floats, start: float, length: float, rise: float = 0.4) -> Floats:
    """A rounded burst: from 0 at `start` to 1 after `rise` of its length [s], and back to 0."""
    turn = (time - start) / length
    up = np.sin(0.5 * np.pi * np.clip(turn / rise, 0.0, 1.0)) ** 2
    down = np.cos(0.5 * np.pi * np.clip((turn - rise) / (1.0 - rise), 0.0, 1.0)) ** 2
    return np.where((turn > 0.0) & (turn < 1.0), np.where(turn < rise, up, down), 0.0)
