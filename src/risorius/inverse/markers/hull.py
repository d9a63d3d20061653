"""Volume inside the convex hull of markers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from risorius.core.errors import InputError

Floats = NDArray[np.float64]


def hull_volume(points: Floats) -> Floats:
    """(f,) [m³] of the convex hull of each frame (f, n, 3) [m]; at least four markers that do not lie in a plane."""
    if points.shape[1] < 4:
        raise InputError(f"expected at least four markers for a volume, got {points.shape[1]}")
    try:
        return np.array([ConvexHull(frame).volume for frame in points])
    except QhullError:
        raise InputError("expected markers that span a volume, they lie in a plane") from None
