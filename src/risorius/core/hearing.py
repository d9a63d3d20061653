"""What was heard in a sound: calls, bouts, breaths, and the lung pressure that it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Call:
    """One burst of sound; times in s.

    Args:
        start, end: where it is cut off from its neighbours: the middle of the valley, or where its own sound ends.
        onset, release: where its own sound begins and ends.
        peak: time of its greatest level.
        level: [dB] relative to the loudest of the clip.
        depth: how far the level falls on its shallower side [dB].
        harmonicity: best in the middle of the call, 0 (noise) … 1 (a tone).
        pitch: there [Hz].
    """

    start: float
    end: float
    onset: float
    release: float
    peak: float
    level: float
    depth: float
    harmonicity: float
    pitch: float


@dataclass(frozen=True)
class Bout:
    """Calls on one exhalation; `first` and `last` are their numbers, from 0."""

    start: float
    end: float
    first: int
    last: int


@dataclass(frozen=True)
class Inhalation:
    """Air drawn in from `start` to `end` [s], as much as `volume` [l]; `heard`: it can be heard in the sound."""

    start: float
    end: float
    volume: float
    heard: bool = False


@dataclass(frozen=True)
class Phase:
    """One phase of a breath that can be heard.

    Args:
        start, end: [s].
        inward: or outward.
        level: mean level [dB].
        depth: volume that it moves relative to the mean of its direction, from loudness and length.
    """

    start: float
    end: float
    inward: bool
    level: float
    depth: float


@dataclass(frozen=True, eq=False)
class Target:
    """Lung pressure that a body is to follow: the single control of row X1.

    Positive is driven by expiratory muscles, negative by inspiratory ones.

    Args:
        time: (n,) [s], evenly spaced from 0.
        pressure: (n,) alveolar pressure relative to the mouth [cmH2O].
    """

    time: Floats
    pressure: Floats

    def at(self, time: Floats) -> Floats:
        """Pressure [cmH2O] at times [s]; zero outside."""
        return np.interp(time, self.time, self.pressure, left=0.0, right=0.0)


@dataclass(frozen=True, eq=False)
class Heard:
    """The analysis of a clip.

    Args:
        kind: laugh, cough, sneeze, breathing, speech or none.
        scores: 0 … 1 for every kind.
        seconds: length of the clip [s].
        calls, bouts, inhalations: in order of time.
        call_rate: calls a second within bouts [Hz], from the steps between calls and, where it agrees, the beat; 0 with
            fewer than two.
        beat_rate: the same read off the rhythm of the level, without looking at calls [Hz]; 0 where there is none.
        breathing_rate: breaths a minute where breathing is heard, else 0.
        phases: of breaths, where breathing is heard.
        muddy: whether the stronger filter was used.
        envelope: (n,) at the times of the target, full scale of the clip 1.
        target: the pressure.
        reason: why it is none of these, in words; empty else.
    """

    kind: str
    scores: dict[str, float]
    seconds: float
    calls: tuple[Call, ...]
    bouts: tuple[Bout, ...]
    inhalations: tuple[Inhalation, ...]
    call_rate: float
    beat_rate: float
    breathing_rate: float
    phases: tuple[Phase, ...]
    muddy: bool
    envelope: Floats
    target: Target
    reason: str = ""
    traits: dict[str, float] = field(default_factory=dict)
