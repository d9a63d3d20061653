"""Laughs, coughs, sneezes, breaths and babble with known times, made by `voice`: the same seed, the same sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.sound import Sound
from risorius.respiration.voice import bump, figures, glottal_flow, hiss, resonate

Floats = NDArray[np.float64]

PEAK: Final = 0.8
"""Loudest sample of what is made."""
FAINT: Final = 10.0 ** (-62.0 / 20.0)
"""Noise of the room, relative to that."""


@dataclass(frozen=True)
class LaughPlan:
    """What a laugh is made of.

    Args:
        bouts: calls of each bout.
        rate: calls a second [Hz].
        pause: from the last call of a bout to the first of the next [s]; the inhalation is heard in it.
        lead: silence before the first call [s].
        irregularity: spread of the steps from call to call, part of the mean.
        decrescendo: how far the last call of a bout lies below the first [dB].
        sex: whose voice, "male" or "female".
        vowel: a, e, i or u.
        breathiness: noise in the calls, part of their amplitude.
    """

    bouts: tuple[int, ...] = (9, 6, 7)
    rate: float = 4.7
    pause: float = 0.85
    lead: float = 0.9
    irregularity: float = 0.05
    decrescendo: float = 9.0
    sex: str = "male"
    vowel: str = "a"
    breathiness: float = 0.12


@dataclass(frozen=True, eq=False)
class Utterance:
    """A made sound with the truth about it.

    Args:
        sound: what was made.
        times: (n,) moments of greatest loudness of its calls [s].
        bouts: first and last call of each bout.
        breaths: start and end of each breath drawn in [s].
    """

    sound: Sound
    times: Floats
    bouts: tuple[tuple[int, int], ...] = ()
    breaths: tuple[tuple[float, float], ...] = field(default=())


def finish(samples: Floats, rate: float, random: np.random.Generator) -> Sound:
    """Scale to the usual peak and add the room's faint noise."""
    samples = samples * (PEAK / max(float(np.abs(samples).max()), 1e-12))
    return Sound(samples + FAINT * PEAK * random.standard_normal(len(samples)), float(rate))


def laugh(plan: LaughPlan | None = None, *, seed: int = 0, rate: float = 44_100.0) -> Utterance:
    """A voiced laugh of bouts and calls, with breath drawn in between the bouts."""
    plan = plan or LaughPlan()
    random = np.random.default_rng(seed)
    times: list[float] = []
    bouts: list[tuple[int, int]] = []
    breaths: list[tuple[float, float]] = []
    levels: list[float] = []
    at = plan.lead
    for number, count in enumerate(plan.bouts):
        if number:
            breaths.append((times[-1] + 0.30 * plan.pause, times[-1] + 0.85 * plan.pause))
            at = times[-1] + plan.pause
        bouts.append((len(times), len(times) + count - 1))
        for call in range(count):
            times.append(at)
            fade = plan.decrescendo * call / max(count - 1, 1)
            levels.append(10.0 ** (-(fade + random.uniform(0.0, 1.5)) / 20.0))
            at += (1.0 + plan.irregularity * random.standard_normal()) / plan.rate
    return render(plan, np.array(times), np.array(levels), tuple(bouts), tuple(breaths), random, rate)


def render(
    plan: LaughPlan,
    times: Floats,
    levels: Floats,
    bouts: tuple[tuple[int, int], ...],
    breaths: tuple[tuple[float, float], ...],
    random: np.random.Generator,
    rate: float,
) -> Utterance:
    """The sound of calls at known times."""
    table = figures()
    length = min(0.62 / plan.rate, 1.8 * table["call"]["length"])
    time = np.arange(int((times[-1] + 0.8) * rate)) / rate
    pitch = np.full(len(time), float(table["laugh_pitch"][plan.sex]))
    voiced, breath = np.zeros(len(time)), np.zeros(len(time))
    for first, last in bouts:
        height = random.uniform(0.92, 1.08)
        for number in range(first, last + 1):
            burst = bump(time, times[number] - 0.4 * length, length)
            bend = 1.0 + 0.10 * np.sin(np.pi * np.clip((time - times[number]) / length + 0.4, 0.0, 1.0))
            lowering = 2.0 ** (-0.5 * (number - first) / max(last - first, 1) + 0.06 * random.standard_normal())
            pitch = np.where(burst > 0.0, table["laugh_pitch"][plan.sex] * height * lowering * bend, pitch)
            voiced += levels[number] * burst
            breath += 0.12 * levels[number] * bump(time, times[number] + 0.35 * length, 0.45 / plan.rate)
    source = glottal_flow(pitch, rate, random) * voiced
    noise = hiss(len(time), rate, (500.0, 6000.0), random)
    source += 0.5 * noise * (plan.breathiness * voiced + 0.5 * plan.breathiness * breath)
    sound = resonate(source, table["formants"][plan.sex][plan.vowel], rate)
    drawn = sum((bump(time, start, end - start, 0.6) for start, end in breaths), np.zeros(len(time)))
    gasp = resonate(hiss(len(time), rate, (600.0, 5000.0), random) * drawn, table["formants"][plan.sex]["e"], rate, 3.0)
    return Utterance(
        finish(sound / np.abs(sound).max() + 0.03 * gasp / max(gasp.std(), 1e-9) * drawn, rate, random),
        times, bouts, breaths,
    )  # fmt: skip


def cough(times: Sequence[float], *, seed: int = 0, rate: float = 44_100.0) -> Utterance:
    """Coughs at known times: a bang of noise as the glottis opens, a quieter middle, a voiced end.

    (The three phases of a cough's sound: explosive, intermediate, voiced; Korpas 1996, Pulm Pharmacol 9:261.)
    """
    random = np.random.default_rng(seed)
    time = np.arange(int((max(times) + 1.0) * rate)) / rate
    table, sound = figures(), np.zeros(len(time))
    for at in times:
        formants = [centre * random.uniform(0.9, 1.1) for centre in table["formants"]["male"]["e"]]
        bang = bump(time, at, 0.16, 0.06) + 0.35 * bump(time, at + 0.06, 0.22, 0.3)
        noise = resonate(hiss(len(time), rate, (200.0, 7000.0), random) * bang, formants, rate, 4.0)
        voice = glottal_flow(np.full(len(time), random.uniform(120.0, 260.0)), rate, random)
        sound += noise / noise.std() * 0.2 + 0.12 * resonate(voice * bump(time, at + 0.14, 0.16), formants, rate, 2.0)
    return Utterance(finish(sound, rate, random), np.asarray(times, dtype=np.float64) + 0.01)


def sneeze(at: float = 1.2, *, seed: int = 0, rate: float = 44_100.0) -> Utterance:
    """A sneeze: breath drawn in with a voice ("ah"), then a long hiss ("choo") from `at` [s] on."""
    random = np.random.default_rng(seed)
    time = np.arange(int((at + 1.2) * rate)) / rate
    table = figures()
    voice = glottal_flow(200.0 + 90.0 * np.clip((time - at + 0.6) / 0.5, 0.0, 1.0), rate, random)
    sound = 0.12 * resonate(voice * bump(time, at - 0.65, 0.35, 0.7), table["formants"]["male"]["a"], rate)
    rush = hiss(len(time), rate, (1800.0, 8000.0), random) * bump(time, at, 0.32, 0.08)
    after = resonate(voice * bump(time, at + 0.12, 0.2, 0.2), table["formants"]["male"]["u"], rate)
    return Utterance(finish(sound + 0.35 * rush + 0.08 * after, rate, random), np.array([at + 0.025]))


def breathing(
    breaths_a_minute: float, seconds: float = 30.0, *, seed: int = 0, rate: float = 16_000.0, inward: float = 0.4
) -> Utterance:
    """Audible breathing at a known rate: in and out differ in pitch of their noise, with a short rest after each."""
    random = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    period = 60.0 / breaths_a_minute
    into, out = np.zeros(len(time)), np.zeros(len(time))
    starts = np.arange(0.1 * period, seconds, period)
    for start in starts:
        shift = 0.03 * period * random.standard_normal()
        into += random.uniform(0.8, 1.2) * bump(time, start + shift, inward * period * 0.85, 0.5)
        out += random.uniform(0.8, 1.2) * bump(time, start + shift + inward * period, (0.92 - inward) * period, 0.3)
    sound = (
        hiss(len(time), rate, (900.0, 3000.0), random) * into
        + 0.7 * hiss(len(time), rate, (250.0, 1200.0), random) * out
    )
    ends = starts + 0.85 * inward * period
    return Utterance(
        finish(sound, rate, random), starts, breaths=tuple(zip(starts.tolist(), ends.tolist(), strict=True))
    )


def babble(seconds: float = 5.0, *, seed: int = 0, rate: float = 44_100.0, sex: str = "male") -> Utterance:
    """Speech without words: phrases of syllables with changing vowels, voiced through, hisses between some of them."""
    random = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    table = figures()
    sound, times, at = np.zeros(len(time)), [], 0.3
    wander = np.interp(time, np.linspace(0.0, seconds, 12), random.uniform(0.85, 1.2, 12))
    voice = glottal_flow(table["speech_pitch"][sex] * wander, rate, random)
    while at < seconds - 0.6:
        for _ in range(int(random.integers(4, 10))):
            length = random.uniform(0.14, 0.30)
            if at + length > seconds - 0.3:
                break
            vowel = table["formants"][sex][str(random.choice(list("aeiu")))]
            syllable = bump(time, at - 0.04, length + 0.08, 0.35)
            sound += random.uniform(0.5, 1.0) * resonate(voice * syllable, vowel, rate)
            if random.random() < 0.3:
                sound += 0.15 * hiss(len(time), rate, (2500.0, 7000.0), random) * bump(time, at - 0.06, 0.09)
            times.append(at + 0.35 * length)
            at += length
        at += random.uniform(0.25, 0.5)
    return Utterance(finish(sound, rate, random), np.array(times))
