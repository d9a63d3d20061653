"""Laughter heard as it comes: blocks of samples in, lung pressure out, nothing looked up from the future.

The same envelope and the same linear fit as for a clip; what a clip tells from its whole length (background, mean peak)
is followed here by slow averages, and an inhalation begins once a bout has been silent for a while.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.errors import InputError
from risorius.core.hearing import Inhalation
from risorius.inverse.sound.tables import pressures
from risorius.inverse.sound.target import CUTOFF, RATE, limited, suction

Floats = NDArray[np.float64]

RUMBLE: Final = 80.0
"""High-pass [Hz]."""
FLOOR_UP: Final = 4.0
FLOOR_DOWN: Final = 0.1
"""The background follows a rising level over the first, a falling one over the second time [s]."""
PEAK_DOWN: Final = 10.0
"""The loudest is forgotten over this time [s]."""
MEAN_PEAK: Final = 0.75
"""Mean peak of calls relative to the loudest, in bouts that grow softer."""
SILENT: Final = 1e-3
"""Envelopes below this [full scale] are silence (-60 dB): before anything was heard there is no loudest to compare with."""
START: Final = 0.1
"""The first so many seconds are taken for background: a stream seldom begins in the middle of a laugh."""
CLEAR: Final = 3.0
"""Sound stands out where it is this many times above the background, and above `PART` of the loudest."""
PART: Final = 0.08
PAUSE: Final = 0.35
"""A bout is over after this long without sound [s]."""
BREATH: Final = 0.5
"""Length of an inhalation [s]."""


class LiveEar:
    """Follows a stream of sound.

    Args:
        rate: samples a second [Hz].
        intensity: factor on the pressure.
    """

    def __init__(self, rate: float, intensity: float = 1.0) -> None:
        if not 2_000 <= rate <= 768_000:
            raise InputError(f"expected 2000 to 768000 samples a second, got {rate:g}", place="rate")
        self.rate = rate
        self.intensity = intensity
        self.table = pressures()["laugh"]
        self.high = signal.butter(2, RUMBLE, btype="high", fs=rate, output="sos")
        self.low = signal.butter(1, CUTOFF, fs=rate, output="sos")
        self.high_state = np.zeros((len(self.high), 2))
        self.low_state = np.zeros((len(self.low), 2))
        self.samples = 0
        self.ticks = 0
        self.floor = 0.0
        self.loudest = 0.0
        self.began = -1.0
        self.last = -np.inf
        self.breath: Inhalation | None = None

    def hear(self, block: Floats) -> tuple[Floats, Floats]:
        """Times [s] and pressures [cmH2O], 200 a second, of the next samples (n,) of the stream."""
        block = np.nan_to_num(np.asarray(block, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        if len(block) == 0:
            return np.zeros(0), np.zeros(0)
        voice, self.high_state = signal.sosfilt(self.high, block, zi=self.high_state)
        shape, self.low_state = signal.sosfilt(self.low, np.abs(voice), zi=self.low_state)
        times, values = [], []
        while (at := int(self.ticks * self.rate / RATE) - self.samples) < len(block):
            time = self.ticks / RATE
            times.append(time)
            values.append(self.tick(time, max(float(shape[at]), 0.0)))
            self.ticks += 1
        self.samples += len(block)
        return np.array(times), self.intensity * np.array(values)

    def tick(self, time: float, level: float) -> float:
        """Pressure at a moment [s] with an envelope of `level`."""
        slow = FLOOR_UP if level > self.floor and time > START else FLOOR_DOWN
        self.floor += (level - self.floor) / (slow * RATE)
        self.loudest = max(level, self.loudest * (1.0 - 1.0 / (PEAK_DOWN * RATE)))
        over = max(0.0, level - self.floor)
        if level > SILENT and level > CLEAR * self.floor and over > PART * self.loudest:
            if time - self.last > PAUSE:
                self.began = time
            self.last, self.breath = time, None
        if time - self.last <= PAUSE:
            ebb = 1.0 - (time - self.last) / PAUSE
            share = over / (MEAN_PEAK * self.loudest)
            pressure = self.table["base"] * ebb + (self.table["peak"] - self.table["base"]) * share
            return float(limited(np.array(pressure), self.table["peak"], self.table["largest"]))
        if self.breath is None and self.began >= 0.0 and np.isfinite(self.last):
            spent = self.table["expired"] * 4.6 * (self.last - self.began)
            volume = float(np.clip(spent, pressures()["breath"]["smallest"], 2.0))
            self.breath = Inhalation(self.last + PAUSE, self.last + PAUSE + BREATH, volume)
        if self.breath is not None and time < self.breath.end:
            return -float(suction(np.array([time]), self.breath)[0])
        return 0.0
