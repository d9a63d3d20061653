"""The whole analysis of a clip: what it is, its calls and bouts, and the pressure that it stands for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

import numpy as np

from risorius.core.errors import InputError
from risorius.core.hearing import Call, Heard
from risorius.core.sound import Sound
from risorius.inverse.sound.amid import STRETCH, laughing_stretches, within
from risorius.inverse.sound.bouts import agreed, beat_rate, find_bouts, inhalations, rate_of, split_gasps
from risorius.inverse.sound.breathing import Breathing, find_breathing
from risorius.inverse.sound.calls import find_calls
from risorius.inverse.sound.clipping import unclipped
from risorius.inverse.sound.kind import CARDS, LAUGHTER_FIRST, kind_of, scores_of
from risorius.inverse.sound.listening import RATE as LISTENING_RATE
from risorius.inverse.sound.listening import Listening, listen, without_hum
from risorius.inverse.sound.target import CUTOFF, PROMPT, RATE, STRONG_CUTOFF, breath_pressure, pressure_of
from risorius.inverse.sound.traits import Traits, traits_of
from risorius.maths.signals import envelope, high_pass

INTENSITIES: Final = (0.0, 5.0)
RUMBLE: Final = 60.0
"""What is lower [Hz] is no voice: wind, steps, a steady offset."""
BREATHS_ALIKE: Final = 0.3
"""Breathing without a score is believed where breaths are this much alike, three of them and more."""
SINGLE: Final = 0.3
"""Coughs and sneezes: only bursts that reach this part of the loudest are calls [amplitude]."""


def hear(sound: Sound, *, intensity: float = 1.0, kind: str | None = None) -> Heard:
    """Analyse a clip.

    Args:
        intensity: factor on the pressure, 0 to 5.
        kind: take it for this, whatever it sounds like.
    """
    if not INTENSITIES[0] <= intensity <= INTENSITIES[1]:
        raise InputError(f"expected {INTENSITIES[0]:g} to {INTENSITIES[1]:g}, got {intensity:g}", place="intensity")
    if kind is not None and kind not in CARDS:
        raise InputError(f"expected one of {', '.join(CARDS)}, got {kind!r}", place="kind")
    sound = unclipped(sound)
    listening = listen(sound)
    calls, muddy = find_calls(listening) if listening else ([], False)
    breathing = find_breathing(listening) if listening else Breathing(0.0, 0.0, ())
    traits = traits_of(listening, calls) if listening and calls else None
    scores: dict[str, float] = scores_of(traits) if traits else dict.fromkeys(CARDS, 0.0)
    found = kind_of(scores)
    if found == "none" and slow_breathing(breathing, traits, sound.seconds):
        found = "breathing"
    doubtful = found != "laugh" or scores["speech"] > scores["laugh"] - LAUGHTER_FIRST
    if doubtful and kind in (None, "laugh") and sound.seconds >= 2.0 * STRETCH:
        stretches, best, told = laughing_stretches(sound)
        if stretches and (laughed := within(calls, stretches)):
            found, scores, traits, calls = "laugh", best, told, laughed
        elif found == "laugh":
            found = "speech"
    taken = kind or found
    return assemble(sound, listening, calls, breathing, taken, scores, muddy, intensity, traits)


def slow_breathing(breathing: Breathing, traits: Traits | None, seconds: float) -> bool:
    """Breaths that repeat and are not voiced, however they are shaped."""
    if traits is None or traits.voiced > 0.3 or breathing.rate == 0.0 or breathing.rate > 60.0:
        return False
    return breathing.likeness > BREATHS_ALIKE and seconds * breathing.rate / 60.0 >= 3.0


def assemble(
    sound: Sound,
    listening: Listening | None,
    calls: list[Call],
    breathing: Breathing,
    kind: str,
    scores: dict[str, float],
    muddy: bool,
    intensity: float,
    traits: Traits | None,
) -> Heard:
    """Bouts, rates and target of a clip of a kind."""
    if kind in ("cough", "sneeze"):
        calls = [call for call in calls if call.level > 20.0 * np.log10(SINGLE)]
        muddy = False
    proper, gasps = split_gasps(calls) if kind in ("laugh", "none", "speech") else (calls, [])
    bouts = find_bouts(proper)
    shape = envelope_of(sound, STRONG_CUTOFF if muddy else CUTOFF)
    table = "laugh" if kind == "none" else kind
    if kind == "breathing":
        bouts, breaths = [], []
        target = breath_pressure(breathing.phases, len(shape), intensity=intensity)
    else:
        breaths = inhalations(bouts, gasps, sound.seconds, table)
        target = pressure_of(table, shape, proper, bouts, breaths, intensity=intensity, muddy=muddy)
    rate, beat = agreed(rate_of(proper, bouts), beat_rate(listening, bouts) if listening else 0.0)
    return Heard(
        kind=kind,
        scores=scores,
        seconds=sound.seconds,
        calls=tuple(proper),
        bouts=tuple(bouts),
        inhalations=tuple(breaths),
        call_rate=rate,
        beat_rate=beat,
        breathing_rate=breathing.rate if kind == "breathing" else 0.0,
        phases=breathing.phases if kind == "breathing" else (),
        muddy=muddy,
        envelope=shape,
        target=target,
        reason=reason_of(kind, listening, traits, scores),
        traits=asdict(traits) if traits else {},
    )


def envelope_of(sound: Sound, cutoff: float) -> np.ndarray:
    """Envelope of the whole band at the target's rate, hum and rumble left out; the loudest sample is 1."""
    samples = sound.at(LISTENING_RATE).samples
    samples = samples - samples.mean()
    loudest = float(np.abs(samples).max())
    if loudest <= 0.0:
        return np.zeros(int(sound.seconds * RATE) + 1)
    samples = without_hum(high_pass(samples / loudest, LISTENING_RATE, RUMBLE), LISTENING_RATE)
    return np.maximum(envelope(samples, LISTENING_RATE, cutoff, RATE, prompt=PROMPT), 0.0)


def reason_of(kind: str, listening: Listening | None, traits: Traits | None, scores: dict[str, float]) -> str:
    """Why a clip is none of the kinds."""
    if kind != "none":
        return ""
    if listening is None:
        return "nothing stands out: silence or a steady noise"
    if traits is None:
        return "no burst of sound in it"
    best = max(scores, key=lambda name: scores[name])
    return f"nearest to {best} ({scores[best]:.2f}, expected 0.45 or more)"
