"""Laughter amid other sound: speech or music before and after it, found by looking at one stretch after the other."""

from __future__ import annotations

from typing import Final

import numpy as np

from risorius.core.hearing import Call
from risorius.core.sound import Sound
from risorius.inverse.sound.calls import find_calls
from risorius.inverse.sound.kind import scores_of
from risorius.inverse.sound.listening import listen
from risorius.inverse.sound.traits import Traits, traits_of
from risorius.maths.signals import runs

STRETCH: Final = 3.5
"""Length [s] of what is looked at: a fit of laughter lasts 3.7 ± 2.2 s (Filippelli 2001)."""
STEP: Final = 0.7
GRAIN: Final = 0.1
"""Beginning and end of laughter are told so finely [s]."""
SURE: Final = 0.7
"""Score of a stretch from which on laughter is believed, where nothing else scores more: many are looked at, so that each has
to be surer than a clip."""
LONGEST: Final = 0.3
"""Unbroken voicing [s] beyond which a stretch is speech or song, whatever beats time to it."""


def laughing_stretches(sound: Sound) -> tuple[list[tuple[float, float]], dict[str, float], Traits | None]:
    """Where there is laughter [s], with scores and traits of the stretch that is most like it.

    A moment counts where half of the stretches that it lies in are laughter.
    """
    best: dict[str, float] = {}
    told: Traits | None = None
    starts = STEP * np.arange(int((sound.seconds - STRETCH) / STEP) + 1)
    laughing = np.zeros(len(starts))
    for number, start in enumerate(starts):
        part = Sound(sound.samples[int(start * sound.rate) : int((start + STRETCH) * sound.rate)], sound.rate)
        listening = listen(part)
        calls = find_calls(listening)[0] if listening else []
        if listening is None or not calls:
            continue
        traits = traits_of(listening, calls)
        scores = scores_of(traits)
        if scores["laugh"] < max(SURE, *scores.values()) or traits.stretch > LONGEST:
            continue
        laughing[number] = 1.0
        if scores["laugh"] > best.get("laugh", 0.0):
            best, told = scores, traits
    moments = GRAIN * np.arange(int(sound.seconds / GRAIN) + 1)
    covering = (moments[:, None] >= starts) & (moments[:, None] <= starts + STRETCH)
    share = covering @ laughing / np.maximum(covering.sum(axis=1), 1)
    found = [(GRAIN * float(first), GRAIN * float(last)) for first, last in runs(share >= 0.5)]
    return found, best, told


def within(calls: list[Call], stretches: list[tuple[float, float]]) -> list[Call]:
    """Calls whose peaks lie in one of the stretches."""
    return [call for call in calls if any(start <= call.peak <= end for start, end in stretches)]
