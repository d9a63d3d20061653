"""What a sound is: laugh, cough, sneeze, breathing, speech or none of these, by a card of a few traits each.

A card is read as one would by ear: what must be there (the weakest of these limits the score), and what speaks for or
against it (factors). Every knot is a number with a meaning; there are no fitted weights. `docs/sound-and-markers.md`
says where the knots come from and how often the cards err on clips that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from risorius.inverse.sound.traits import Traits

Kind = Literal["laugh", "cough", "sneeze", "breathing", "speech", "none"]

ENOUGH: Final = 0.45
"""A score from which a clip is taken for a kind."""
LAUGHTER_FIRST: Final = 0.15
"""Another kind must be better by this much than laughter to be preferred."""


@dataclass(frozen=True)
class Ramp:
    """How far a value lies from `out` (0) to `full` (1); falling where full < out."""

    out: float
    full: float

    def __call__(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.out) / (self.full - self.out)))


@dataclass(frozen=True)
class Need:
    """A trait that must be there."""

    trait: str
    ramp: Ramp


@dataclass(frozen=True)
class Hint:
    """A trait that counts: without it the score is multiplied by `least`."""

    trait: str
    ramp: Ramp
    least: float


@dataclass(frozen=True)
class Card:
    """Score = weakest need × product of hints × mean of the evidence (1 where there is none)."""

    needs: tuple[Need, ...]
    hints: tuple[Hint, ...] = ()
    evidence: tuple[Need, ...] = ()

    def score(self, traits: Traits) -> float:
        """0 … 1."""
        value = min(need.ramp(getattr(traits, need.trait)) for need in self.needs)
        for hint in self.hints:
            value *= hint.least + (1.0 - hint.least) * hint.ramp(getattr(traits, hint.trait))
        if self.evidence:
            value *= sum(part.ramp(getattr(traits, part.trait)) for part in self.evidence) / len(self.evidence)
        return value


CARDS: Final[dict[Kind, Card]] = {
    "laugh": Card(  # voiced notes, alike and short, in a row of four or more, three to seven a second
        needs=(
            Need("voiced", Ramp(0.02, 0.12)),
            Need("body", Ramp(0.30, 0.50)),
            Need("pitch_spread", Ramp(0.02, 0.10)),
            Need("run", Ramp(2.0, 4.0)),
        ),
        hints=(Hint("variety", Ramp(1.5, 0.8), 0.4), Hint("legato", Ramp(0.23, 0.14), 0.4)),
        evidence=(Need("rhythm", Ramp(0.15, 0.60)), Need("beat", Ramp(0.15, 0.45))),
    ),
    "sneeze": Card(  # one or two bursts, one of them a hiss
        needs=(
            Need("calls", Ramp(5.0, 3.0)),
            Need("rise", Ramp(0.16, 0.10)),
            Need("duration", Ramp(0.08, 0.12)),
            Need("duration", Ramp(0.70, 0.45)),
            Need("hiss", Ramp(0.10, 0.35)),
            Need("body", Ramp(0.25, 0.45)),
            Need("active", Ramp(0.45, 0.30)),
        ),
        hints=(Hint("variety", Ramp(0.5, 1.0), 0.8),),
    ),
    "cough": Card(  # abrupt bursts of mixed noise and voice, each unlike the one before
        needs=(
            Need("rise", Ramp(0.14, 0.07)),
            Need("duration", Ramp(0.07, 0.09)),
            Need("duration", Ramp(0.60, 0.35)),
            Need("body", Ramp(0.35, 0.52)),
            Need("flatness", Ramp(0.005, 0.02)),
            Need("flatness", Ramp(0.26, 0.18)),
            Need("voiced", Ramp(1.0, 0.85)),
            Need("active", Ramp(0.75, 0.55)),
        ),
        hints=(Hint("variety", Ramp(0.4, 0.8), 0.55), Hint("hiss", Ramp(0.8, 0.4), 0.5)),
    ),
    "breathing": Card(  # long soft noise
        needs=(
            Need("voiced", Ramp(0.30, 0.12)),
            Need("rise", Ramp(0.06, 0.10)),
            Need("duration", Ramp(0.18, 0.28)),
            Need("flatness", Ramp(0.40, 0.30)),
            Need("beat", Ramp(0.40, 0.30)),
            Need("active", Ramp(0.08, 0.15)),
        ),
    ),
    "speech": Card(  # syllables of changing vowels in long stretches of voicing
        needs=(
            Need("voiced", Ramp(0.25, 0.45)),
            Need("calls", Ramp(4.0, 7.0)),
            Need("variety", Ramp(0.35, 0.7)),
            Need("beat", Ramp(0.15, 0.30)),
            Need("stretch", Ramp(0.10, 0.20)),
            Need("pitch", Ramp(600.0, 450.0)),
        ),
    ),
}


def scores_of(traits: Traits) -> dict[str, float]:
    """The score of every kind."""
    return {kind: card.score(traits) for kind, card in CARDS.items()}


def kind_of(scores: dict[str, float]) -> Kind:
    """The kind with the best score, laughter before others that are hardly better; none where no score is enough."""
    best = max(CARDS, key=lambda kind: scores[kind] + (LAUGHTER_FIRST if kind == "laugh" else 0.0))
    return best if scores[best] >= ENOUGH else max_other(scores, best)


def max_other(scores: dict[str, float], left_out: Kind) -> Kind:
    """The best of the other kinds, or none."""
    best = max((kind for kind in CARDS if kind != left_out), key=lambda kind: scores[kind])
    return best if scores[best] >= ENOUGH else "none"
