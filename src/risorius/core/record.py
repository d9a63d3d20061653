"""What a run leaves behind: poses, points and signals, one row a frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Record:
    """A recorded run.

    Args:
        time: (f,) [s].
        position: (f, bodies, 3) [m] and
        rotation: (f, bodies, 4) quaternions w-x-y-z: rest-world point x is now at R·x + p.
        points: (f, surface points, 3) [m].
        signals: name with unit (as in `signals.csv`) -> (f,), in column order.
    """

    time: Floats
    position: Floats
    rotation: Floats
    points: Floats
    signals: dict[str, Floats] = field(default_factory=dict)
