"""Laughter amid other sound: speech or music before and after it, found by looking at one stretch after the other."""

from __future__ import annotations

from typing import Final

from risorius.core.hearing import Call
from risorius.core.sound import Sound
from risorius.inverse.sound.calls import find_calls
from risorius.inverse.sound.kind import scores_of
from risorius.inverse.sound.listening import listen
from risorius.inverse.sound.traits import Traits, traits_of

STRETCH: Final = 3.5
"""Length [s] of what is looked at: a fit of laughter lasts 3.7 ± 2.2 s (Filippelli 2001)."""
STEP: Final = 0.7
SURE: Final = 0.7
"""Score of a stretch from which on laughter is believed, where nothing else scores more: many are looked at, so that each has
to be surer than a clip."""
LONGEST: Final = 0.3
"""Unbroken voicing [s] beyond which a stretch is speech or song, whatever beats time to it."""


def laughing_stretches(sound: Sound) -> tuple[list[tuple[float, float]], dict[str, float], Traits | None]:
    """Where there is laughter [s], joined, with scores and traits of the stretch that is most like it."""
    found: list[tuple[float, float]] = []
    best: dict[str, float] = {}
    told: Traits | None = None
    for number in range(int((sound.seconds - STRETCH) / STEP) + 1):
        start = number * STEP
        part = Sound(sound.samples[int(start * sound.rate) : int((start + STRETCH) * sound.rate)], sound.rate)
        listening = listen(part)
        calls = find_calls(listening)[0] if listening else []
        if listening is None or not calls:
            continue
        traits = traits_of(listening, calls)
        scores = scores_of(traits)
        if scores["laugh"] < max(SURE, *scores.values()) or traits.stretch > LONGEST:
            continue
        if scores["laugh"] > best.get("laugh", 0.0):
            best, told = scores, traits
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], start + STRETCH)
        else:
            found.append((start, start + STRETCH))
    return found, best, told


def within(calls: list[Call], stretches: list[tuple[float, float]]) -> list[Call]:
    """Calls whose peaks lie in one of the stretches."""
    return [call for call in calls if any(start <= call.peak <= end for start, end in stretches)]
