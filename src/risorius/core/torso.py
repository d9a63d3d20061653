"""The torso as geometry: what `anatomy` builds and every other room reads. All arrays are read-only, SI, world frame.

World frame at rest: x forward, y up, z to the subject's right; origin midway between the two anterior superior iliac
spines. A body's pose is the rigid motion that takes rest-world points to where they are now: x = R·x_rest + p.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from risorius.core.spec import Spec

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
T = TypeVar("T")


class Joint(IntEnum):
    """How a body hangs on its parent; the number of free axes is in `JOINT_FREEDOM`."""

    FIXED = 0
    HINGE = 1  # turns about axes[0]
    UNIVERSAL = 2  # turns about axes[0] and axes[1]
    BALL = 3
    FREE = 6  # ball plus translation


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh: vertices (n, 3) [m], faces (m, 3), counter-clockwise seen from outside."""

    vertices: Floats
    faces: Ints


@dataclass(frozen=True, eq=False)
class Bodies:
    """Rigid bodies in an order where parents come before children; body 0 is the pelvis, fixed to the world.

    Args:
        names: contract names (`rib7_r`, `cartilage_lower_l`, …).
        parent: (n,), -1 for the pelvis.
        joint: (n,) values of `Joint`.
        joint_point: (n, 3) [m] centre of the joint with the parent.
        joint_axes: (n, 3, 3) rows are the joint's principal directions (unit, orthogonal, right-handed): joint
            stiffness, limits and hinge axes refer to them. Ribs: row 0 from head to tubercle; spine: x, y, z.
        mass: (n,) [kg].
        centre: (n, 3) [m] centre of mass.
        inertia: (n, 3, 3) [kg m²] about the centre of mass, world axes.
        meshes: one per body.
    """

    names: tuple[str, ...]
    parent: Ints
    joint: Ints
    joint_point: Floats
    joint_axes: Floats
    mass: Floats
    centre: Floats
    inertia: Floats
    meshes: tuple[Mesh, ...]

    def index(self, name: str) -> int:
        return self.names.index(name)


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight muscle elements from body to body.

    Args:
        group: (n,) index into `Torso.groups`.
        body: (n, 2) body of each end.
        point: (n, 2, 3) [m] end points at rest.
        area: (n,) [m²] physiological cross-section.
        label: (n,) what the element is, for people (`external intercostal 4 r 0.35`).
    """

    group: Ints
    body: Ints
    point: Floats
    area: Floats
    label: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Surface:
    """The points and faces of both cavities; points of one set, so that volumes share them.

    Args:
        points: (n, 3) [m] at rest.
        body: (n,) the body that carries the point, or -1 where it moves freely.
        region: (n,) index into `regions`.
        regions: names of the parts: `dome`, `tendon`, `apposed`, `insertion`, `wall`, `back`, `floor`, `ribcage`, …
        abdomen: (m, 3) faces of the closed abdominal cavity: diaphragm, wall, back, floor; normals outward.
        trunk: (k, 3) faces of the closed container of both cavities: inside of the rib cage from the inlet to the
            diaphragm's insertion, then wall, back and floor as in `abdomen`; normals outward. The chest's volume is
            trunk minus abdomen, so a diaphragm that lies on the ribs (zone of apposition) encloses none there.
        cage: (c, 3) the faces of `trunk` on which the diaphragm may lie (inside of the rib cage), normals outward.
    """

    points: Floats
    body: Ints
    region: Ints
    regions: tuple[str, ...]
    abdomen: Ints
    trunk: Ints
    cage: Ints


@dataclass(frozen=True, eq=False)
class Fibres:
    """Muscle elements in chains along the surface.

    Args:
        group: (n,) index into `Torso.groups`.
        ends: (n, 2) indices of surface points.
        chain: (n,) number of the chain that the element belongs to; its elements are in series, in order.
        area: (n,) [m²] physiological cross-section of the chain.
        label: (n,) what the element is.
    """

    group: Ints
    ends: Ints
    chain: Ints
    area: Floats
    label: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Torso:
    """A subject's torso at rest (end of a quiet expiration, upright).

    Args:
        spec: who it is.
        bodies, lines, surface, fibres: see there.
        groups: names of the muscle groups.
        struts: (s, 2) body pairs joined by the springs of T4 (rib to cartilage, rib to rib), with `strut_points` (s, 2, 3).
        skin: generated skin, neck to hips and arms to the elbow.
        landmarks: named points at rest [m].
    """

    spec: Spec
    bodies: Bodies
    groups: tuple[str, ...]
    lines: Lines
    struts: Ints
    strut_points: Floats
    surface: Surface
    fibres: Fibres
    skin: Mesh
    landmarks: dict[str, Floats]


def frozen(value: T) -> T:
    """Make every array inside a dataclass read-only, and return it."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict):
        for item in value.values():
            frozen(item)
    elif isinstance(value, tuple):
        for item in value:
            frozen(item)
    elif is_dataclass(value):
        for field in fields(value):
            frozen(getattr(value, field.name))
    return value
