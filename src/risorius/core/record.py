"""What a run leaves behind: poses, points and signals, one row a frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BALL: Final = ("ball_x_mm", "ball_y_mm", "ball_z_mm", "ball_radius_mm")
"""Signals of a ball that was let go: its centre in the world, its radius, 0 as long as there is none."""


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

    @property
    def ball(self) -> Floats | None:
        """(f, 4) centre and radius [m] of a ball, radius 0 where there is none yet; nothing where there never is."""
        if not all(name in self.signals for name in BALL):
            return None
        return 1e-3 * np.stack([self.signals[name] for name in BALL], axis=1)
