"""Signals in time: first-order filters, envelopes, runs of true values, parabolic peaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def low_pass(values: Floats, rate: float, cutoff: float, *, order: int = 1, both_ways: bool = False) -> Floats:
    """Butterworth low-pass along the first axis, starting at rest on the first value.

    Args:
        values: (n, …).
        rate, cutoff: [Hz]; a cutoff at or above half the rate changes nothing.
        both_ways: forward and backward, without delay (the order doubles).
    """
    if cutoff >= 0.5 * rate or len(values) < 2:
        return np.array(values, dtype=np.float64)
    sections = signal.butter(order, cutoff, fs=rate, output="sos")
    if both_ways:
        pad = min(len(values) - 1, int(3.0 * rate / cutoff))
        return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=pad))
    state = signal.sosfilt_zi(sections)
    state = state.reshape(*state.shape, *(1,) * (values.ndim - 1)) * values[:1]
    return np.asarray(signal.sosfilt(sections, values, axis=0, zi=state)[0])


def high_pass(values: Floats, rate: float, cutoff: float, *, order: int = 2) -> Floats:
    """Butterworth high-pass of a signal (n,), forward only, starting at rest on the first value."""
    sections = signal.butter(order, cutoff, btype="high", fs=rate, output="sos")
    return np.asarray(signal.sosfilt(sections, values, zi=signal.sosfilt_zi(sections) * values[0])[0])


def envelope(samples: Floats, rate: float, cutoff: float, out_rate: float, *, prompt: float = 0.0) -> Floats:
    """Rectified, first-order Butterworth low-pass, at `out_rate` [Hz]: what a laugh's pressure follows.

    (DiLorenzo 2009, §6.3: pressure and absolute sound filtered by a first-order Butterworth low-pass.)

    Args:
        prompt: part of it that is filtered forward and backward, without the delay of 1/(2π cutoff).
    """
    rectified = np.abs(samples)
    smooth = low_pass(rectified, rate, cutoff)
    if prompt > 0.0:
        smooth = (1.0 - prompt) * smooth + prompt * low_pass(rectified, rate, cutoff, both_ways=True)
    times = np.arange(int(len(samples) / rate * out_rate) + 1) / out_rate
    return np.interp(times, np.arange(len(smooth)) / rate, smooth)


def runs(flags: Flags) -> NDArray[np.int64]:
    """(n, 2) first and one-past-last index of each stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)


def parabola_top(values: Floats, at: int) -> tuple[float, float]:
    """Place and height of the parabola through a sample and its neighbours; the sample itself at an edge."""
    if not 0 < at < len(values) - 1:
        return float(at), float(values[at])
    left, middle, right = (float(v) for v in values[at - 1 : at + 2])
    bend = left - 2.0 * middle + right
    if bend >= 0.0:
        return float(at), middle
    shift = float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5))
    return at + shift, middle - 0.25 * (left - right) * shift


def decibels(amplitude: Floats, reference: float = 1.0, floor: float = -120.0) -> Floats:
    """20·log10(amplitude / reference), not below `floor`."""
    lowest = 10.0 ** (floor / 20.0)
    return 20.0 * np.log10(np.maximum(amplitude / reference, lowest))
