"""Who carries the markers: stature and mass of the subject whose skin lies best under the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.spec import BMI_RANGE, STATURE_RANGE, Spec
from risorius.core.torso import Torso
from risorius.inverse.markers.place import Trunk, limbs_of, place
from risorius.skin.binding import Binding

Floats = NDArray[np.float64]

SPREAD: Final = np.array([0.07, 3.5])
"""How far people are from the reference in stature [m] and body-mass index [kg/m²]: one standard deviation, about ANSUR II."""
NUDGE: Final = np.array([0.06, 3.0])
"""Changes of both by which the skin's growth is measured."""
ARMPIT, NECK = 0.92, 0.03
"""Arms begin at this part of the shoulder joint's distance from the middle, the neck so far [m] above the notch."""
ERROR: Final = 0.006
"""[m] how far a marker may lie from its subject's own skin."""
ROUNDS: Final = 2


@dataclass(frozen=True, eq=False)
class Body:
    """A subject's skin, ready for markers."""

    torso: Torso
    binding: Binding
    trunk: Trunk


@lru_cache(maxsize=2)
def body(spec: Spec) -> Body:
    """Build a subject with its skin bound."""
    from risorius.anatomy import build_torso
    from risorius.skin.weights import bind, skin_of

    torso = build_torso(spec)
    binding = bind(skin_of(torso), torso)
    return Body(torso, binding, Trunk.of(torso, limbs_of(binding, torso.bodies.names)))


def trunk(spec: Spec) -> Trunk:
    """Only the skin of a subject: quick, for trying sizes."""
    from risorius.anatomy import build_torso

    return without_arms(build_torso(spec))


def without_arms(torso: Torso) -> Trunk:
    """The skin of a trunk, cut where arms and neck begin by breadth and height, without looking at what moves it."""
    vertices = np.asarray(torso.skin.vertices)
    shoulder = abs(float(torso.landmarks["glenohumeral_r"][2]))
    limbs = np.abs(vertices[:, 2]) > ARMPIT * shoulder
    return Trunk.of(torso, limbs | (vertices[:, 1] > torso.landmarks["jugular_notch"][1] + NECK))


def subject_of(shape: Floats, names: Sequence[str], landmark: Sequence[str], start: Spec) -> Spec:
    """Stature and mass that bring the skin nearest to a cloud (n, 3) [m], within what is usual for people.

    Gauss-Newton on the signed distances of the markers from the skin, their prior the spread of people; few markers leave
    the subject as it was.
    """
    spec, near = start, None
    origin = np.array([start.stature, start.bmi])
    for _ in range(ROUNDS):
        here = np.array([spec.stature, spec.bmi])
        near = place(shape, names, landmark, trunk(spec), near)
        slope = np.empty((len(shape), 2))
        for column, step in enumerate(np.diag(NUDGE)):
            other = place(shape, names, landmark, trunk(sized(spec, here + step)), near)
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
