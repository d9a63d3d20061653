"""A sound as the analysis takes it: one channel, one rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of samples.

    Args:
        samples: (n,) in the file's own scale, full scale 1.
        rate: samples a second [Hz].
    """

    samples: Floats
    rate: float

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return len(self.samples) / self.rate

    def at(self, rate: float) -> Sound:
        """The same sound at another rate [Hz]."""
        if self.rate == rate:
            return self
        import soxr

        return Sound(np.asarray(soxr.resample(self.samples, self.rate, rate), dtype=np.float64), float(rate))
