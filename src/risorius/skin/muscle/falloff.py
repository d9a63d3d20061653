"""How the effect of a muscle fades with the distance from it at rest (paper 001, equation 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risorius.skin.muscle.model import FALLOFFS

Floats = NDArray[np.float64]


def falloff(distance: Floats, d_full: float, d_none: float, kind: str) -> Floats:
    """ψ(d): 1 up to d_full, 0 from d_none on, λ((d − d_none)/(d_full − d_none)) between.

    λ(x) is x, x², x³ or ½(1 − cos πx). Where both distances are the same, the effect ends there at once.
    """
    reach = d_none - d_full
    if reach > 0:
        x = np.clip((d_none - distance) / reach, 0.0, 1.0)
    else:
        x = (distance < d_none).astype(np.float64)
    power = FALLOFFS.index(kind)
    if kind == "cosine":
        return 0.5 * (1.0 - np.cos(np.pi * x))
    return x ** (power + 1)
