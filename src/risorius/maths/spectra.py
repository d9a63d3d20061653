"""Short-time spectra and harmonicity of a sound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 2048
"""Frames transformed at a time: bounds the memory of a long sound."""


@dataclass(frozen=True, eq=False)
class Frames:
    """A sound cut into overlapping windows, one every 1/`rate` s.

    Args:
        rate: frames a second [Hz].
        level: (f,) rms of the windowed samples.
        bands: (f, b) part of each frame's power in each band.
        flatness: (f,) geometric over arithmetic mean of the power within the bands, 0 (a tone) … 1 (white noise).
        harmonicity: (f,) height of the best peak of the normalised autocorrelation, 0 … 1.
        pitch: (f,) frequency of that peak [Hz].
    """

    rate: float
    level: Floats
    bands: Floats
    flatness: Floats
    harmonicity: Floats
    pitch: Floats


def frames_of(
    samples: Floats,
    rate: float,
    *,
    window: float,
    hop: float,
    edges: tuple[float, ...],
    pitch_range: tuple[float, float],
) -> Frames:
    """Level, spectrum and harmonicity of windows centred on 0, hop, 2·hop, …

    Harmonicity is the autocorrelation of the windowed sound over that of the window (Boersma 1993, Proc. Inst. Phonetic
    Sciences 17:97); of peaks within 10 % of the best the shortest lag is taken, against octave errors.

    Args:
        samples: (n,); rate [Hz]; window and hop [s].
        edges: limits of the bands [Hz], rising.
        pitch_range: lowest and highest pitch looked for [Hz].
    """
    size, step = round(window * rate), round(hop * rate)
    length = 1 << int(np.ceil(np.log2(1.5 * size)))
    padded = np.concatenate([np.zeros(size // 2), samples, np.zeros(size)])
    views = np.lib.stride_tricks.sliding_window_view(padded, size)[::step][: len(samples) // step + 1]
    taper = np.hanning(size)
    own = np.fft.irfft(np.abs(np.fft.rfft(taper, length)) ** 2, length)[: size // 2 + 2]
    lags = (max(2, int(rate / pitch_range[1])), min(size // 2, int(np.ceil(rate / pitch_range[0]))))
    frequency = np.fft.rfftfreq(length, 1.0 / rate)
    limits = np.searchsorted(frequency, edges)
    parts: list[tuple[Floats, ...]] = []
    for first in range(0, len(views), BLOCK):
        block = views[first : first + BLOCK]
        shaped = (block - block.mean(axis=1, keepdims=True)) * taper
        power = np.abs(np.fft.rfft(shaped, length)) ** 2
        harmonicity, lag = best_lag(np.fft.irfft(power, length)[:, : size // 2 + 2], own / own[0], lags)
        total = np.maximum(power.sum(axis=1), 1e-300)
        cumulated = np.concatenate([np.zeros((len(power), 1)), np.cumsum(power, axis=1)], axis=1)
        bands = np.diff(cumulated[:, limits], axis=1) / total[:, None]
        inside = power[:, limits[0] : limits[-1]] + 1e-12 * total[:, None]
        flatness = np.exp(np.log(inside).mean(axis=1)) / inside.mean(axis=1)
        parts.append((np.sqrt((shaped**2).mean(axis=1)), bands, flatness, harmonicity, rate / lag))
    level, bands, flatness, harmonicity, pitch = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Frames(rate / step, level, bands, flatness, harmonicity, pitch)


def best_lag(correlation: Floats, own: Floats, lags: tuple[int, int]) -> tuple[Floats, Floats]:
    """Height and lag (samples, refined by a parabola) of the shortest of the best peaks between two lags."""
    low, high = lags
    scale = np.maximum(correlation[:, :1], 1e-300) * own
    part = (correlation / scale)[:, low - 1 : high + 2]
    part[correlation[:, 0] <= 1e-290] = 0.0
    inner = part[:, 1:-1]
    peaks = np.where((inner > part[:, :-2]) & (inner >= part[:, 2:]), inner, 0.0)
    best = peaks.max(axis=1)
    chosen = (peaks >= 0.9 * best[:, None]).argmax(axis=1)
    row = np.arange(len(part))
    left, middle, right = part[row, chosen], part[row, chosen + 1], part[row, chosen + 2]
    bend = left - 2.0 * middle + right
    shift = np.where(bend < 0.0, 0.5 * (left - right) / np.where(bend < 0.0, bend, -1.0), 0.0)
    return np.clip(best, 0.0, 1.0), low + chosen + np.clip(shift, -0.5, 0.5)
