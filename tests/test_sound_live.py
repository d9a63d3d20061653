"""Laughter as it comes: nothing from the future, nothing that depends on how the stream is cut up, no delay to speak of."""

import numpy as np
import pytest

from risorius.core.errors import InputError
from risorius.inverse.sound.hear import hear
from risorius.inverse.sound.live import LiveEar
from risorius.respiration.utterances import laugh

MADE = laugh(seed=2)
RATE = MADE.sound.rate


def stream(samples, size, rate=RATE):
    ear, times, values = LiveEar(rate), [], []
    for first in range(0, len(samples), size):
        time, value = ear.hear(samples[first : first + size])
        times.append(time)
        values.append(value)
    return np.concatenate(times), np.concatenate(values)


@pytest.mark.parametrize("size", [1, 64, 441, 10_000, 10**7])
def test_the_size_of_blocks_does_not_matter(size):
    samples = MADE.sound.samples[: int(1.5 * RATE)]
    time, value = stream(samples, size)
    again, same = stream(samples, 313)
    assert np.array_equal(time, again) and np.allclose(value, same, atol=1e-9)


def test_what_comes_later_changes_nothing():
    samples = MADE.sound.samples.copy()
    _, value = stream(samples, 441)
    samples[int(3.0 * RATE) :] = 0.5
    _, other = stream(samples, 441)
    assert np.array_equal(value[:598], other[:598])


def test_live_pressure_follows_what_the_whole_clip_tells():
    found = hear(MADE.sound)
    time, value = stream(MADE.sound.samples, 441)
    target = found.target.at(time)
    inside = np.zeros(len(time), dtype=bool)
    for bout in found.bouts:
        inside |= (time > bout.start) & (time < bout.end)
    assert np.corrcoef(value[inside], target[inside])[0, 1] > 0.9
    peaks = [value[np.abs(time - at) < 0.06].max() for at in MADE.times]
    assert 12 < np.mean(peaks) < 40 and value.min() < -0.5


def test_a_call_is_felt_within_thirty_milliseconds():
    time, value = stream(MADE.sound.samples, 441)
    first = MADE.times[0]
    loud = np.abs(MADE.sound.samples) > 0.05
    onset = np.flatnonzero(loud)[0] / RATE
    assert time[np.flatnonzero(value > 5.0)[0]] - onset < 0.03
    assert abs(time[value[time < first + 0.1].argmax()] - first) < 0.03


def test_silence_and_nonsense_give_no_pressure():
    assert np.abs(stream(np.zeros(20_000), 500)[1]).max() == 0.0
    _, value = stream(np.full(20_000, np.nan), 500)
    assert np.isfinite(value).all() and np.abs(value).max() == 0.0
    with pytest.raises(InputError, match="rate"):
        LiveEar(0.0)
