"""How well sounds are told apart after they were spoiled: a table over real clips, for developers.

    python tests/hearing_bench.py FOLDER [NAME …]

FOLDER holds `laughing` and `negative` (clips of anything else); nothing is kept of them. Printed are, for every way of
spoiling (or those named), how many laughs are refused and how many of the others are taken for laughter, and by how much
the pressure of the laughs that are told as such departs from that of the unspoiled clip (median correlation).
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from scipy import signal

from risorius.core.sound import Sound
from risorius.inverse.sound.hear import hear
from risorius.io.sound import read_sound

Spoil = Callable[[Sound, np.random.Generator], Sound]


def scaled(factor: float) -> Spoil:
    return lambda sound, _: Sound(factor * sound.samples, sound.rate)


def resampled(rate: float) -> Spoil:
    return lambda sound, _: sound.at(rate)


def noisy(ratio: float, colour: float = 0.0) -> Spoil:
    """Noise `ratio` dB under the clip's mean power; its spectrum falls by `colour` · 3 dB an octave."""

    def spoil(sound: Sound, random: np.random.Generator) -> Sound:
        spectrum = np.fft.rfft(random.standard_normal(len(sound.samples)))
        spectrum /= np.maximum(np.arange(len(spectrum)), 20.0) ** (0.5 * colour)
        noise = np.fft.irfft(spectrum, len(sound.samples))
        return mixed(sound, noise, -ratio)

    return spoil


def mixed(sound: Sound, other: np.ndarray, level: float) -> Sound:
    """Another sound on top, `level` dB by mean power."""
    power, own = np.mean(other**2), np.mean(sound.samples**2)
    return Sound(sound.samples + other * np.sqrt(own / max(power, 1e-30)) * 10 ** (level / 20), sound.rate)


def humming(level: float) -> Spoil:
    def spoil(sound: Sound, _: np.random.Generator) -> Sound:
        time = np.arange(len(sound.samples)) / sound.rate
        hum = sum(np.sin(2 * np.pi * 50 * k * time + k) / k for k in (1, 2, 3, 5))
        return mixed(sound, np.asarray(hum), level)

    return spoil


def clipped(gain: float, hard: bool = True) -> Spoil:
    """Overdriven by `gain` dB over full scale and cut off there."""

    def spoil(sound: Sound, _: np.random.Generator) -> Sound:
        driven = sound.samples / np.abs(sound.samples).max() * 10 ** (gain / 20)
        return Sound(np.clip(driven, -1, 1) if hard else np.tanh(driven), sound.rate)

    return spoil


def silent(seconds: float) -> Spoil:
    def spoil(sound: Sound, _: np.random.Generator) -> Sound:
        quiet = np.zeros(int(seconds * sound.rate))
        return Sound(np.concatenate([quiet, sound.samples, quiet]), sound.rate)

    return spoil


def cut(seconds: float) -> Spoil:
    return lambda sound, _: Sound(sound.samples[: int(seconds * sound.rate)], sound.rate)


def echoing(length: float) -> Spoil:
    """A room whose sound falls by 60 dB over a length [s]."""

    def spoil(sound: Sound, random: np.random.Generator) -> Sound:
        time = np.arange(int(length * sound.rate)) / sound.rate
        tail = random.standard_normal(len(time)) * np.exp(-6.9 * time / length)
        tail[0] = np.abs(tail).max() * 4
        return Sound(signal.fftconvolve(sound.samples, tail)[: len(sound.samples)], sound.rate)

    return spoil


def music(count: int, rate: float, random: np.random.Generator) -> np.ndarray:
    """Chords of plucked tones, two a second, with a beat of noise."""
    time = np.arange(count) / rate
    total = np.zeros(count)
    for start in np.arange(0.0, count / rate, 0.5):
        late = np.maximum(time - start, 0.0)
        shape = np.where(time >= start, np.minimum(late / 0.01, 1.0) * np.exp(-late / 0.4), 0.0)
        root = 110.0 * 2 ** (random.integers(0, 12) / 12)
        for ratio in (1.0, 1.25, 1.5, 2.0):
            total += shape * sum(np.sin(2 * np.pi * root * ratio * k * late) / k**1.5 for k in range(1, 7))
    return total


def music_under(level: float) -> Spoil:
    return lambda sound, random: mixed(sound, music(len(sound.samples), sound.rate, random), level)


def music_around(seconds: float) -> Spoil:
    """The clip between two stretches of music as loud as it is."""

    def spoil(sound: Sound, random: np.random.Generator) -> Sound:
        count = int(seconds * sound.rate)
        played = music(count, sound.rate, random)
        played *= np.sqrt(np.mean(sound.samples**2) / np.mean(played**2))
        return Sound(np.concatenate([played, sound.samples, played]), sound.rate)

    return spoil


def speech_around(seconds: float) -> Spoil:
    """The clip between two stretches of babble as loud as it is."""

    def spoil(sound: Sound, random: np.random.Generator) -> Sound:
        from risorius.respiration.utterances import babble

        said = babble(seconds, seed=int(random.integers(1000))).sound.at(sound.rate).samples
        said = said * np.sqrt(np.mean(sound.samples**2) / np.mean(said**2))
        return Sound(np.concatenate([said, sound.samples, said]), sound.rate)

    return spoil


def squeezed(sound: Sound, _: np.random.Generator) -> Sound:
    """Through ogg at 16 kHz: a telephone's codec."""
    held = io.BytesIO()
    soundfile.write(held, sound.at(16000.0).samples, 16000, format="OGG")
    held.seek(0)
    samples, rate = soundfile.read(held)
    return Sound(samples, float(rate))


WAYS: dict[str, Spoil] = {
    "as it is": scaled(1.0),
    "level x 0.01": scaled(0.01),
    "level x 100": scaled(100.0),
    "8 kHz": resampled(8000.0),
    "96 kHz": resampled(96000.0),
    "offset of 0.2": lambda sound, _: Sound(sound.samples + 0.2, sound.rate),
    "1 s of silence at both ends": silent(1.0),
    "hum at -20 dB": humming(-20.0),
    "hum at -6 dB": humming(-6.0),
    "white noise, 20 dB": noisy(20.0),
    "white noise, 10 dB": noisy(10.0),
    "room noise (pink), 20 dB": noisy(20.0, 1.0),
    "room noise (pink), 10 dB": noisy(10.0, 1.0),
    "music under it, -20 dB": music_under(-20.0),
    "music under it, -10 dB": music_under(-10.0),
    "3 s of music before and after": music_around(3.0),
    "3 s of babble before and after": speech_around(3.0),
    "first 3 s": cut(3.0),
    "reverberation of 0.4 s": echoing(0.4),
    "ogg at 16 kHz": squeezed,
    "overdriven by 6 dB, clipped": clipped(6.0),
    "overdriven by 12 dB, clipped": clipped(12.0),
    "overdriven by 18 dB, clipped": clipped(18.0),
    "overdriven by 18 dB, bent": clipped(18.0, hard=False),
}


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    ways = arguments[1:] or list(WAYS)
    clips = {
        name: [read_sound(file) for file in sorted((folder / name).iterdir())] for name in ("laughing", "negative")
    }
    plain = [hear(sound, kind="laugh") for sound in clips["laughing"]]
    print(f"{'':34}{'refused':>8} of {len(clips['laughing'])}{'taken':>7} of {len(clips['negative'])}{'likeness':>10}")
    for name in ways:
        random = np.random.default_rng(1)
        found = [hear(WAYS[name](sound, random)) for sound in clips["laughing"]]
        others = [hear(WAYS[name](sound, random)) for sound in clips["negative"]]
        refused = [number for number, heard in enumerate(found) if heard.kind != "laugh"]
        taken = [number for number, heard in enumerate(others) if heard.kind == "laugh"]
        alike = [
            np.corrcoef(heard.target.at(own.target.time + shift), own.target.pressure)[0, 1]
            for heard, own in zip(found, plain, strict=True)
            if heard.kind == "laugh"
            for shift in [max(0.0, 0.5 * (heard.seconds - own.seconds))]
        ]
        print(f"{name:34}{len(refused):>8}{len(taken):>13}{np.median(alike) if alike else np.nan:>16.3f}   "
              f"{' '.join(map(str, refused))} | {' '.join(map(str, taken))}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
