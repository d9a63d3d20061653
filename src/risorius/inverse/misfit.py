"""How far a simulated motion is from a recorded one, as the papers measure it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normalised_rms(found: Floats, target: Floats) -> float:
    """Rms error over that of zero pressure, √(Σ(found − target)² / Σ target²) (DiLorenzo 2009, §6.3.2): 0 is perfect.

    Where the target is zero throughout: 0 if found is too, else infinite.
    """
    error, size = float(((found - target) ** 2).sum()), float((target**2).sum())
    if size == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return float(np.sqrt(error / size))


def error_p(found: Floats, recorded: Floats) -> float:
    """Mean distance of markers [m], over frames and markers (f, n, 3) [m] where both are seen (§5.3.2)."""
    return mean_seen(np.linalg.norm(found - recorded, axis=-1))


def error_v(found: Floats, recorded: Floats, rate: float, *, cyclic: bool = False) -> float:
    """Mean size of the difference of the markers' velocities [m/s] (§5.3.2), by central differences.

    Args:
        rate: frames a second [Hz].
        cyclic: the last frame is followed by the first, as in an average breath.
    """
    return mean_seen(np.linalg.norm(velocity(found - recorded, rate, cyclic=cyclic), axis=-1))


def velocity(points: Floats, rate: float, *, cyclic: bool = False) -> Floats:
    """Central differences along the first axis times the rate; one-sided at the ends unless cyclic."""
    if cyclic:
        return 0.5 * rate * (np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0))
    return np.asarray(np.gradient(points, 1.0 / rate, axis=0))


def mean_seen(values: Floats) -> float:
    """Mean of what is a number; NaN where nothing is."""
    good = np.isfinite(values)
    return float(values[good].mean()) if good.any() else float("nan")


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; 0 where one of them does not change."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 0.0 else 0.0
