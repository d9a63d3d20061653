"""What the torso answers to a breath: one settled period of it, seen by markers or as a volume.

Objects of this module are small and picklable; the subject is built once in every process that asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from risorius.control.bind import bind
from risorius.core.model import Model
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.units import LITRE
from risorius.inverse.breath.drive import ONSET, breath_control, lasting, sooner
from risorius.inverse.markers.breaths import idealised
from risorius.inverse.markers.rigid import without_sway
from risorius.inverse.markers.virtual import VirtualMarkers
from risorius.sim.run import Motion, Simulation
from risorius.sim.system import ABDOMEN_VOLUME, TRUNK_VOLUME

Floats = NDArray[np.float64]

STEPS: Final = 330
"""Steps of a period in a search, within"""
STEP_RANGE: Final = (0.005, 0.02)
"""these [s]: half a per cent of the motion is lost."""
SETTLING: Final = (2.5, 0.4)
"""A run begins at least so long [s], and this part of a period, before the period that counts: at the end of an expiration
if it can be, from rest, and what it began with is forgotten."""
PHASES: Final = 50
"""Frames of a period in a search."""


@lru_cache(maxsize=2)
def resting(spec: Spec, posture: str) -> tuple[Model, Simulation]:
    """A subject at rest, built once a process."""
    from risorius.anatomy import build

    model = build(spec)
    return model, Simulation.of(model, posture)


class Seen(Protocol):
    """Reads what was recorded off a period of motion: (phases, …) in metres or litres."""

    def __call__(self, model: Model, motion: Motion) -> Floats: ...


@dataclass(frozen=True, eq=False)
class SeenMarkers:
    """Markers with sway and what is faster than a breath taken out, as from recorded ones.

    Args:
        harmonics: of a breath that are kept.
    """

    markers: VirtualMarkers
    harmonics: int

    def __call__(self, model: Model, motion: Motion) -> Floats:
        record = Record(motion.time, motion.position, motion.rotation, motion.points)
        return idealised(without_sway(self.markers.read(model.torso, record))[0], self.harmonics)


@dataclass(frozen=True, eq=False)
class SeenVolume:
    """Gas in the lung [l], (phases, 1)."""

    def __call__(self, model: Model, motion: Motion) -> Floats:
        return (motion.scalar[:, TRUNK_VOLUME] - motion.scalar[:, ABDOMEN_VOLUME])[:, None] / LITRE


@dataclass(frozen=True, eq=False)
class Answer:
    """One period of a breath of these parameters: values by name -> what is seen of it, evenly from its `ONSET`.

    Args:
        spec, posture: who breathes, and how.
        period: [s].
        seen: reads it off the motion.
        phases: frames of the period.
        step: [s], by the period where not given.
    """

    spec: Spec
    posture: str
    period: float
    seen: Seen
    phases: int = PHASES
    step: float | None = None

    def __call__(self, values: Mapping[str, float]) -> Floats:
        model, rest = resting(self.spec, self.posture)
        rate = self.phases / self.period
        first = int(np.ceil(max(SETTLING[0], SETTLING[1] * self.period) * rate))
        seconds = (first + self.phases) / rate
        control = breath_control(values, self.period, seconds).shifted(first / rate - ONSET * self.period)
        control = lasting(sooner(control, self.period), seconds, rate)
        step = self.step or float(np.clip(self.period / STEPS, *STEP_RANGE))
        motion = rest.copy().perform(bind(control, model), rate, min(step, 1.0 / rate))
        return self.seen(model, part_of(motion, first, first + self.phases))


def part_of(motion: Motion, first: int, last: int) -> Motion:
    """Frames first … last − 1."""
    arrays = {
        part.name: getattr(motion, part.name)[first:last]
        for part in fields(motion)
        if isinstance(getattr(motion, part.name), np.ndarray)
    }
    return replace(motion, **arrays)
