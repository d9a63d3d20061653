"""A sound made ready for listening: one rate, one band, one scale, cut into frames, with its floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from risorius.core.sound import Sound
from risorius.maths.signals import decibels, high_pass, low_pass
from risorius.maths.spectra import Frames, frames_of

Floats = NDArray[np.float64]

RATE: Final = 16_000.0
BAND: Final = (80.0, 3600.0)
"""What is listened to [Hz]: the voice as a telephone passes it, so that a clip sampled at 8 kHz sounds the same; hum of
the mains stays below."""
WINDOW: Final = 0.040
HOP: Final = 0.010
EDGES: Final = (80.0, 200.0, 500.0, 1000.0, 2000.0, 3600.0)
"""Limits of the bands [Hz] whose shares are looked at."""
PITCHES: Final = (75.0, 1050.0)
"""Pitches looked for [Hz]: a voice has up to about 1,000, what is higher is none."""
SILENT: Final = 1e-5
"""Frames below this part of the loudest (-100 dB) are digital silence and tell nothing about the floor."""
STEADY: Final = 2.0
"""A sound whose loudest frames exceed its floor by less than this factor (6 dB) has no events."""


MAINS: Final = (50.0, 60.0)
HARMONICS: Final = 10
HUM: Final = 30.0
"""A line of the mains is taken out where it stands this many times (15 dB) above its surroundings when it is quiet."""
NOTCH: Final = 3.0
"""Width of what is taken out [Hz]."""


@dataclass(frozen=True, eq=False)
class Listening:
    """Frames of a sound with their levels.

    Args:
        frames: one every 10 ms.
        level: (f,) smoothed level [dB] relative to `ceiling`.
        floor: level of the background [dB], relative to `ceiling`.
        ceiling: rms of the loudest frames, in the frames' scale.
        seconds: length [s].
    """

    frames: Frames
    level: Floats
    floor: float
    ceiling: float
    seconds: float

    @property
    def active(self) -> NDArray[np.bool_]:
        """(f,) frames that stand out: within 30 dB of the loudest and clear of the background."""
        return self.frames.level > self.ceiling * 10.0 ** (min(-10.0, max(-30.0, self.floor + 6.0)) / 20.0)


def listen(sound: Sound, smoothing: float = 12.0) -> Listening | None:
    """Frames and levels of a sound; None where there is nothing but silence or a steady noise.

    Args:
        smoothing: cutoff [Hz] of the level's low-pass.
    """
    samples = sound.at(RATE).samples
    samples = samples - samples.mean()
    loudest = float(np.abs(samples).max())
    if loudest < 1e-9:
        return None
    samples = without_hum(high_pass(samples / loudest, RATE, BAND[0]), RATE)
    samples = low_pass(samples, RATE, BAND[1], order=4)
    frames = frames_of(samples, RATE, window=WINDOW, hop=HOP, edges=EDGES, pitch_range=PITCHES)
    heard = frames.level[frames.level > SILENT * frames.level.max()]
    if len(heard) < 3:
        return None
    ceiling, floor = float(np.percentile(heard, 99)), float(np.percentile(heard, 10))
    if len(heard) < 0.95 * len(frames.level):
        floor = min(floor, 10.0 ** (-40.0 / 20.0) * ceiling)  # padded with silence: the quiet parts were cut away
    if ceiling < STEADY * floor:
        return None
    smooth = np.maximum(low_pass(frames.level, frames.rate, smoothing, order=2, both_ways=True), 0.0)
    background = decibels(np.array(floor), ceiling)
    level = np.maximum(decibels(smooth, ceiling, -60.0), float(background) - 3.0)
    return Listening(frames, level, float(background), ceiling, sound.seconds)


def without_hum(samples: Floats, rate: float) -> Floats:
    """The sound without the lines of the mains, where they are there: looked for in its quietest half seconds."""
    size = int(0.5 * rate)
    if len(samples) < 2 * size:
        return samples
    views = np.lib.stride_tricks.sliding_window_view(samples, size)[:: max(size // 2, len(samples) // 2000)]
    strength = (views**2).mean(axis=1)
    heard = strength > 1e-10 * strength.max()
    quiet = views[heard & (strength <= np.percentile(strength[heard], 25))]
    power = (np.abs(np.fft.rfft(quiet * np.hanning(size), axis=1)) ** 2).mean(axis=0)
    step = rate / size
    for mains in MAINS:
        for number in range(1, HARMONICS + 1):
            line = round(number * mains / step)
            around = power[max(1, line - 10) : line + 11]
            if power[line - 1 : line + 2].max() > HUM * np.median(around):
                section = signal.tf2sos(*signal.iirnotch(number * mains, number * mains / NOTCH, fs=rate))
                samples = signal.sosfiltfilt(section, samples)
    return samples
