"""A muscle under a skin, and what may be set on it while it plays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FALLOFFS: Final = ("linear", "quadratic", "cubic", "cosine")
BULGE: Final = 2.0
"""Bulge factor that a muscle starts with (paper 001, section 3.3.1)."""


@dataclass(frozen=True, eq=False)
class Muscle:
    """A sheet of basis points below the skin and the thickness that stands on it; lengths in the mesh's unit.

    Args:
        name: its own among all muscles.
        basis: (u, v, 3) points of the grid at rest; it shortens along v, towards v = 0.
        normals: (u, v, 3) unit vectors outward, one a basis point.
        skin_thickness: (u, v) depth of the muscle's highest place below the skin.
        muscle_thickness: (u, v) half thickness in the middle; x_ij = thickness · f(i, j).
        bulge: (u, v) b of g(c, b) = 1 + b c.
        degree: of the surface, in both directions.
        closed: a sphincter, a ring along v.
        centre: (1, 3) or (2, 3), the point or the segment that a sphincter draws together to.
        d_full, d_none: distances from the muscle within which it has its full, and beyond which it has no effect.
        falloff: one of FALLOFFS.
        points: (k,) mesh points that it may move; None: all.
        weights: (k,) factor on each of these (of all points where `points` is None).
        envelope: factor on all it does.
    """

    name: str
    basis: Floats
    normals: Floats
    skin_thickness: Floats
    muscle_thickness: Floats
    bulge: Floats
    degree: int = 3
    closed: bool = False
    centre: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    d_full: float = 0.0
    d_none: float = 1.0
    falloff: str = "cosine"
    points: NDArray[np.int64] | None = None
    weights: Floats | None = None
    envelope: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Basis points along u and v."""
        return self.basis.shape[0], self.basis.shape[1]

    @property
    def patches(self) -> tuple[int, int]:
        """Patches along u and v; points = degree + patches (equation 3.1)."""
        return self.shape[0] - self.degree, self.shape[1] - self.degree


@dataclass
class Settings:
    """What plays: one entry a muscle, in the deformer's order.

    Args:
        contraction: (m,) 0…1.
        bulge: (m,) b, or NaN for the muscle's own.
        envelope, d_full, d_none: (m,); falloff: (m,) index into FALLOFFS.
    """

    contraction: Floats
    bulge: Floats
    envelope: Floats
    d_full: Floats
    d_none: Floats
    falloff: NDArray[np.int64]

    @staticmethod
    def of(muscles: list[Muscle]) -> Settings:
        """All muscles at rest, as they were made."""
        return Settings(
            np.zeros(len(muscles)),
            np.full(len(muscles), np.nan),
            np.array([muscle.envelope for muscle in muscles], dtype=np.float64),
            np.array([muscle.d_full for muscle in muscles], dtype=np.float64),
            np.array([muscle.d_none for muscle in muscles], dtype=np.float64),
            np.array([FALLOFFS.index(muscle.falloff) for muscle in muscles], dtype=np.int64),
        )

    def copy(self) -> Settings:
        return Settings(*(getattr(self, name).copy() for name in self.__dataclass_fields__))


def centre_of(muscle: Muscle) -> Floats:
    """A sphincter's centre: the given one, or the mean of all its basis points (paper 001, section 3.5)."""
    return muscle.centre if len(muscle.centre) else muscle.basis.reshape(-1, 3).mean(axis=0, keepdims=True)
