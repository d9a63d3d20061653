"""Where recorded markers sit on a subject's skin: the cloud is turned and moved onto the trunk, each marker goes to the
nearest point of it.

Names help where they are known (`data/landmarks.csv` says how high and on which side), the shape does the rest: the cloud
slides over the skin until it lies best, from several heights and headings, with outliers held down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from risorius.core.errors import InputError
from risorius.core.torso import Torso
from risorius.inverse.markers.layout import landmarks
from risorius.inverse.markers.virtual import Places
from risorius.maths.triangle_tree import TriangleTree
from risorius.skin.binding import Binding

Floats = NDArray[np.float64]

NEAR: Final = 0.010
"""[m] a marker may lie so far from the skin before it counts less: pin, tape, another body's shape."""
TURN: Final = np.array([0.15, 0.20, 0.15])
"""[rad] how far people stand turned about forward, up and right."""
HEIGHT: Final = 0.04
"""[m] how well a landmark's name tells its height."""
HEIGHTS: Final = (0.25, 0.4, 0.55, 0.7)
"""Parts of the trunk's height at which a cloud without names is tried."""
HEADINGS: Final = (-0.4, 0.0, 0.4)
"""[rad] headings from which it is tried."""
NOTCH: Final = 0.85
"""Height of the jugular notch in the scale of `data/landmarks.csv`; 0 is the level of the hip bones' front spines."""
LIMBS: Final = ("upper_arm", "lower_arm", "skull", "c1_c3")
LIMB_SHARE: Final = 0.3
"""Skin that hangs on limbs by more than this is no trunk."""
FAR: Final = 0.06
"""[m] a cloud that lies worse than this on the trunk, root mean square, is none."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A cloud on a skin.

    Args:
        places: of its markers.
        rotation, shift: x_torso = R·x_cloud + t.
        distance: (n,) [m] of each marker from the skin, outside positive.
    """

    places: Places
    rotation: Floats
    shift: Floats
    distance: Floats

    @property
    def rms(self) -> float:
        """[m]"""
        return float(np.sqrt((self.distance**2).mean()))


@dataclass(frozen=True, eq=False)
class Trunk:
    """The skin of a trunk, without limbs.

    Args:
        vertices: (v, 3) [m] of the whole skin; faces: (m, 3) of the trunk.
        normals: (m, 3) of the faces, outward.
        tree: over these faces.
        notch: height of the jugular notch [m].
    """

    vertices: Floats
    faces: NDArray[np.integer]
    normals: Floats
    tree: TriangleTree
    notch: float

    @classmethod
    def of(cls, torso: Torso, limbs: NDArray[np.bool_]) -> Trunk:
        """Cut limbs off a subject's skin; `limbs` (v,) says which vertices are theirs."""
        vertices = np.asarray(torso.skin.vertices)
        faces = np.asarray(torso.skin.faces)
        faces = faces[~limbs[faces].any(axis=1)]
        corner = vertices[faces]
        normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        return cls(vertices, faces, normals, TriangleTree(vertices, faces), float(torso.landmarks["jugular_notch"][1]))

    def signed(self, points: Floats) -> Floats:
        """(n,) [m] distance from the skin, outside positive."""
        distance, place, triangle, _ = self.tree.closest(points)
        side = np.einsum("ni,ni->n", points - place, self.normals[triangle])
        return distance * np.where(side < 0.0, -1.0, 1.0)


def limbs_of(binding: Binding, bodies: Sequence[str]) -> NDArray[np.bool_]:
    """(v,) whether a skin vertex hangs on a limb or the head."""
    limb = [number for number, name in enumerate(bodies) if name.startswith(LIMBS)]
    share = np.asarray(binding.matrix()[:, limb].sum(axis=1)).ravel()
    return np.asarray(share > LIMB_SHARE)


def place(
    shape: Floats, names: Sequence[str], landmark: Sequence[str], trunk: Trunk, near: Placed | None = None
) -> Placed:
    """Put a cloud (n, 3) [m], forward, up, right, on a trunk; `InputError` where it does not lie on one.

    Args:
        near: where the same cloud lay on a body much like this one: only there is looked.
    """
    known = np.array([float(landmarks()[name]["height"] or "nan") if name else np.nan for name in landmark])
    wanted = known * trunk.notch / NOTCH
    told = np.isfinite(wanted)
    middle = trunk.vertices[np.unique(trunk.faces)].mean(axis=0)
    centre = shape.mean(axis=0)
    local = shape - centre

    def moved(q: Floats) -> Floats:
        return local @ turned(q[:3]).T + q[3:]

    def residual(q: Floats) -> Floats:
        points = moved(q)
        distance = trunk.tree.closest(points)[0] / NEAR
        return np.concatenate([distance, (points[told, 1] - wanted[told]) / HEIGHT, q[:3] / TURN])

    if near is not None:
        starts = [np.concatenate([turn_of(near.rotation), near.rotation @ centre + near.shift])]
    else:
        heights = [part * trunk.notch / NOTCH for part in HEIGHTS]
        if told.sum() >= 2:
            heights = [float((wanted[told] - local[told, 1]).mean())]
        starts = [np.array([0.0, to, 0.0, middle[0], height, 0.0]) for height in heights for to in HEADINGS]
    found = [least_squares(residual, start, loss="soft_l1", max_nfev=60) for start in starts]
    best = min(found, key=lambda one: one.cost).x
    points = moved(best)
    _, _, triangle, share = trunk.tree.closest(points)
    distance = trunk.signed(points)
    rotation = turned(best[:3])
    placed = Placed(
        Places(tuple(names), trunk.faces[triangle], share), rotation, best[3:] - rotation @ centre, distance
    )
    if placed.rms > FAR:
        raise InputError(
            f"expected markers that lie on a trunk; these miss it by {1e3 * placed.rms:.0f} mm: name them by a mapping"
        )
    return placed


def turn_of(matrix: Floats) -> Floats:
    """Rotation vector [rad] of a matrix."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrix).as_rotvec())


def turned(vector: Floats) -> Floats:
    """Rotation matrix of a rotation vector [rad]."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())
