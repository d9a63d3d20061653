"""Who carries the markers: stature and mass of the subject whose skin lies best under the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from risorius.core.spec import BMI_RANGE, STATURE_RANGE, Spec
from risorius.core.torso import Torso
from risorius.inverse.markers.place import Trunk, limbs_of, place
from risorius.skin.binding import Binding

Floats = NDArray[np.float64]

SPREAD: Final = np.array([0.07, 3.5])
"""How far people are from the reference in stature [m] and body-mass index [kg/m²]: one standard deviation (ANSUR II)."""
NUDGE: Final = np.array([0.06, 3.0])
"""Changes of both by which the skin's growth is measured."""
ERROR: Final = 0.006
"""[m] how far a marker may lie from its subject's own skin."""
ROUNDS: Final = 2


@dataclass(frozen=True, eq=False)
class Body:
    """A subject's skin, ready for markers; `limbs` (v,) says which of its vertices are no trunk."""

    torso: Torso
    binding: Binding
    limbs: NDArray[np.bool_]
    trunk: Trunk


@lru_cache(maxsize=2)
def body(spec: Spec) -> Body:
    """Build a subject with its skin bound."""
    from risorius.anatomy import build_torso

    return body_of(build_torso(spec))


def body_of(torso: Torso) -> Body:
    """Bind a torso's skin."""
    from risorius.skin.weights import bind, skin_of

    binding = bind(skin_of(torso), torso)
    limbs = limbs_of(binding, torso.bodies.names)
    return Body(torso, binding, limbs, Trunk.of(torso, limbs))


def trunk_like(spec: Spec, other: Body) -> Trunk:
    """Only the skin of a subject, its limbs cut off where another body's are: quick, for trying sizes."""
    from risorius.anatomy import build_torso

    torso = build_torso(spec)
    size = extent(torso) / extent(other.torso)
    _, nearest = cKDTree(np.asarray(other.torso.skin.vertices) * size).query(np.asarray(torso.skin.vertices))
    return Trunk.of(torso, other.limbs[nearest])


def extent(torso: Torso) -> Floats:
    """(3,) [m] depth, height and breadth by which two torsos are brought to one size."""
    shoulder = abs(float(torso.landmarks["glenohumeral_r"][2]))
    return np.array([shoulder, float(torso.landmarks["jugular_notch"][1]), shoulder])


def subject_of(shape: Floats, names: Sequence[str], landmark: Sequence[str], start: Spec) -> Spec:
    """Stature and mass that bring the skin nearest to a cloud (n, 3) [m], within what is usual for people.

    Gauss-Newton on the signed distances of the markers from the skin, their prior the spread of people; few markers leave
    the subject as it was.
    """
    spec, near, first = start, None, body(start)
    origin = np.array([start.stature, start.bmi])
    for _ in range(ROUNDS):
        here = np.array([spec.stature, spec.bmi])
        near = place(shape, names, landmark, trunk_like(spec, first), near)
        slope = np.empty((len(shape), 2))
        for column, step in enumerate(np.diag(NUDGE)):
            other = place(shape, names, landmark, trunk_like(sized(spec, here + step), first), near)
            slope[:, column] = (other.distance - near.distance) / step.sum()
        matrix = np.concatenate([slope / ERROR, np.diag(1.0 / SPREAD)])
        rest = np.concatenate([-near.distance / ERROR, (origin - here) / SPREAD])
        change = np.linalg.lstsq(matrix, rest, rcond=None)[0]
        spec = sized(spec, here + np.clip(change, -2.0 * NUDGE, 2.0 * NUDGE))
    return spec


def sized(spec: Spec, size: Floats) -> Spec:
    """The same person with another stature [m] and body-mass index, in round numbers."""
    stature = round(float(np.clip(size[0], *STATURE_RANGE)), 3)
    index = float(np.clip(size[1], BMI_RANGE[0] + 0.05, BMI_RANGE[1] - 0.05))
    return replace(spec, stature=stature, mass=round(index * stature**2, 1))
