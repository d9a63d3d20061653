"""Which skin point hangs on which place of which muscle: found once, at rest (paper 001, section 4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risorius.maths.closest import weights_at
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.shape import patchwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Attachment:
    """Closest places of a muscle at rest.

    Args:
        points: (k,) mesh points within reach, ascending.
        place: (k, 2) their (u, v).
        distance: (k,) from the muscle at rest.
        weight: (k,) the point's own factor.
    """

    points: Ints
    place: Floats
    distance: Floats
    weight: Floats


def attach(muscle: Muscle, vertices: Floats, reach: float | None = None) -> Attachment:
    """Find the closest place of a muscle's surface for every point within reach (d_none where not given)."""
    chosen = np.arange(len(vertices)) if muscle.points is None else np.asarray(muscle.points, dtype=np.int64)
    weight = np.ones(len(chosen)) if muscle.weights is None else np.asarray(muscle.weights, dtype=np.float64)
    order = np.argsort(chosen, kind="stable")
    chosen, weight = chosen[order], weight[order]
    far = muscle.d_none if reach is None else reach
    place, distance = patchwork(muscle).closest(vertices[chosen], far)
    near = (distance <= far) & (weight != 0)
    return Attachment(chosen[near], place[near], distance[near], weight[near])


def weights(muscle: Muscle, place: Floats, width: int) -> tuple[Floats, NDArray[np.int32]]:
    """B-spline weights (k, 2, width) of places and their first control point's row and column (k, 2)."""
    sheet = patchwork(muscle)
    return weights_at(np.ascontiguousarray(place), sheet.knots_u, sheet.knots_v, muscle.degree, *sheet.patches, width)
