"""Markers on a body: named points over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Markers:
    """Recorded markers.

    Args:
        names: of the n markers, each different.
        points: (f, n, 3) [m], in the recording's own axes; NaN where a marker was not seen.
        rate: frames a second [Hz]; None where the file does not say and nobody else did.
    """

    names: tuple[str, ...]
    points: Floats
    rate: float | None

    @property
    def frames(self) -> int:
        return len(self.points)

    def seen(self) -> Floats:
        """(n,) part of the frames in which each marker was seen."""
        return np.asarray(np.isfinite(self.points).all(axis=2).mean(axis=0))

    def chosen(self, which: list[int]) -> Markers:
        """Only some of the markers, by number."""
        return Markers(tuple(self.names[number] for number in which), self.points[:, which], self.rate)


@dataclass(frozen=True, eq=False)
class Curve:
    """One measured signal: a breathing belt, a spirometer.

    Args:
        values: (n,) in the file's own unit.
        rate: [Hz].
    """

    values: Floats
    rate: float

    @property
    def seconds(self) -> float:
        return len(self.values) / self.rate
