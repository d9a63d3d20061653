"""Sounds in and out: wav, flac, ogg, mp3 and whatever else libsndfile reads."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core.errors import InputError
from risorius.core.sound import Sound
from risorius.io.files import readable, written

SHORTEST: Final = 0.1
LONGEST: Final = 1200.0
"""Lengths [s] that are taken: less holds no call, more is not a clip."""
RATES: Final = (2_000, 768_000)
CHANNELS: Final = 64
LOUDEST: Final = 1e6
"""Samples beyond this times full scale are taken for a broken file."""
BLOCK: Final = 1 << 18


def read_sound(path: str | PathLike[str]) -> Sound:
    """A sound file as one channel (the mean of all); `InputError` says what is wrong with it.

    The header is believed only as far as the samples bear it out: reading stops at `LONGEST` whatever it claims.
    """
    import soundfile

    file = Path(path)
    if file.is_dir():
        raise InputError("expected a sound file, got a folder", file=file)
    readable(file)
    try:
        with library_silenced(), soundfile.SoundFile(str(file)) as stream:
            rate, channels = stream.samplerate, stream.channels
            if not RATES[0] <= rate <= RATES[1]:
                raise InputError(f"expected {RATES[0]} to {RATES[1]} samples a second, got {rate}", file=file)
            if channels > CHANNELS:
                raise InputError(f"expected at most {CHANNELS} channels, got {channels}", file=file)
            if stream.frames < 1 << 62 and stream.frames > LONGEST * rate:
                raise InputError(
                    f"expected at most {LONGEST:g} s of sound, got {stream.frames / rate:.0f} s", file=file
                )
            parts, count = [], 0
            while len(block := stream.read(BLOCK // channels, dtype="float64", always_2d=True)):
                parts.append(checked(block, file, count / rate))
                count += len(block)
                if count > LONGEST * rate:
                    raise InputError(f"expected at most {LONGEST:g} s of sound, got more", file=file)
    except (soundfile.LibsndfileError, MemoryError) as error:
        reason = getattr(error, "error_string", str(error)).strip().rstrip(".")
        raise InputError(f"not readable as sound (wav, flac, ogg, mp3): {reason}", file=file) from None
    samples = np.concatenate(parts) if parts else np.zeros(0)
    if len(samples) < SHORTEST * rate:
        raise InputError(
            f"expected at least {SHORTEST:g} s of sound, got {len(samples)} samples at {rate} Hz", file=file
        )
    return Sound(samples, float(rate))


@contextlib.contextmanager
def library_silenced() -> Iterator[None]:
    """No words from the decoders written in C (mpg123 warns on stderr); what is wrong is told by the errors raised."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # stderr is closed: nothing to silence
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def checked(block: np.ndarray, file: Path, start: float) -> np.ndarray:
    """The mean over channels of a block of samples, which must be numbers."""
    if not (np.abs(block) <= LOUDEST).all():
        raise InputError("expected finite samples, got NaN or a number beyond any sound", file=file,
                         place=f"after {start:.1f} s")  # fmt: skip
    return np.asarray(block.mean(axis=1))


def write_sound(path: str | PathLike[str], sound: Sound) -> None:
    """Write 16-bit samples, format by the ending (wav, flac, ogg, mp3); beyond full scale they are clipped."""
    import soundfile

    target = Path(path)
    ending = target.suffix.lower().removeprefix(".")
    if ending.upper() not in soundfile.available_formats():
        raise InputError(f"expected a name ending in .wav, .flac, .ogg or .mp3, got {ending or 'none'!r}", file=target)
    with written(target) as temporary:
        soundfile.write(str(temporary), np.clip(sound.samples, -1.0, 1.0), round(sound.rate), format=ending.upper())
