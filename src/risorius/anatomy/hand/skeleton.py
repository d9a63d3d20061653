"""Bones and joints of hand and forearm: who carries whom, about which axes, how far.

Rest frame: that of the torso (x forward, y up, z to the subject's right) for an arm that hangs with the thumb forward;
the right hand has x radial, −y distal, z dorsal. Every body's rest pose is the identity: x_now = R·x_rest + p.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from risorius.anatomy.tables import MM, metres, table
from risorius.anatomy.torso.loft import joined, mesh
from risorius.anatomy.torso.stl import bone, filled, turned
from risorius.core.errors import InputError
from risorius.core.torso import Floats, Ints, Mesh

SIDES: Final = ("left", "right")
FINGERS: Final = (2, 3, 4, 5)
LENGTHS: Final = (0.08, 0.30)
"""[m] hand lengths that are built, from a newborn's to beyond the longest of men."""
FIXED: Final = ("humerus", "ulna")
MIRROR: Final = np.array([1.0, 1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Turn:
    """One free axis of a joint.

    Args:
        name: `mcp2_flexion`, …
        body: number of the body that it turns.
        axis: (3,) unit, rest axes; positive flexes, abducts (radially, the thumb to the palm's front), pronates.
        low, high: [rad] range.
    """

    name: str
    body: int
    axis: Floats
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class HandSkeleton:
    """Bodies in an order where parents come first.

    Args:
        side: "left" or "right".
        length: [m] hand length, wrist crease to tip of the middle finger.
        scale: metres in a millimetre of the tables, times 1000.
        names: of the bodies; `FIXED` ones never move.
        parent: (b,) number of the parent, -1 for the first.
        joint: (b, 3) [m] joint centre with the parent, at rest.
        turns: free axes, those of one joint in order from the parent to the child.
        meshes: bone of each body, at rest.
    """

    side: str
    length: float
    scale: float
    names: tuple[str, ...]
    parent: Ints
    joint: Floats
    turns: tuple[Turn, ...]
    meshes: tuple[Mesh, ...]

    def index(self, name: str) -> int:
        return self.names.index(name)

    @cached_property
    def turn_names(self) -> tuple[str, ...]:
        return tuple(turn.name for turn in self.turns)

    @cached_property
    def limits(self) -> Floats:
        """(t, 2) [rad] least and largest angle of each turn."""
        return np.array([(turn.low, turn.high) for turn in self.turns])

    @cached_property
    def tips(self) -> dict[int, Floats]:
        """Digit -> [m] tip of its distal bone, the point farthest from the joint."""
        found = {}
        for digit in (1, *FINGERS):
            k = self.index(f"distal{digit}")
            points = np.asarray(self.meshes[k].vertices)
            found[digit] = points[np.linalg.norm(points - self.joint[k], axis=1).argmax()]
        return found

    def point(self, millimetres: Any) -> Floats:
        """Rest place [m] of points of the tables (reference right hand, [mm])."""
        return self.placed(metres(millimetres))

    def placed(self, points: Floats) -> Floats:
        """Points of the reference right hand [m] in this hand."""
        out = np.asarray(points) * self.scale
        return out * MIRROR if self.side == "left" else out

    def poses(self, angles: Floats) -> tuple[Floats, Floats]:
        """Rotation (f, b, 3, 3) and shift (f, b, 3) of each body from rest, for joint angles (f, t) [rad]."""
        angles = np.atleast_2d(angles)
        count = len(angles)
        spin = np.tile(np.eye(3), (count, len(self.names), 1, 1))
        shift = np.zeros((count, len(self.names), 3))
        by_body: dict[int, list[int]] = {}
        for number, turn in enumerate(self.turns):
            by_body.setdefault(turn.body, []).append(number)
        for k, parent in enumerate(self.parent.tolist()):
            local = np.tile(np.eye(3), (count, 1, 1))
            for number in by_body.get(k, []):
                local = local @ about(self.turns[number].axis, angles[:, number])
            if parent < 0:
                continue
            spin[:, k] = spin[:, parent] @ local
            centre = np.einsum("fij,j->fi", spin[:, parent], self.joint[k]) + shift[:, parent]
            shift[:, k] = centre - np.einsum("fij,j->fi", spin[:, k], self.joint[k])
        return spin, shift


def about(axis: Floats, angle: Floats) -> Floats:
    """Rotation matrices (f, 3, 3) about a unit axis by angles (f,) [rad] (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * cross + (1 - c) * (cross @ cross)


def hand_length(subject: str | float) -> float:
    """[m] hand length of "male", "female", or the number itself."""
    if isinstance(subject, str):
        known = table("hand_bones")["hand_length"]
        if subject not in known:
            raise InputError(f"expected male, female or metres, got {subject!r}", place="hand length")
        return known[subject] * MM
    if not LENGTHS[0] <= subject <= LENGTHS[1]:
        raise InputError(f"expected {LENGTHS[0]:g} to {LENGTHS[1]:g} m, got {subject:g}", place="hand length")
    return float(subject)


def build_skeleton(side: str = "right", length: str | float = "male") -> HandSkeleton:
    """Bones and joints of a hand.

    Args:
        side: "left" or "right"; the left is the mirror image.
        length: [m] hand length, or "male", "female" for the mean of each.
    """
    if side not in SIDES:
        raise InputError(f"expected left or right, got {side!r}", place="side")
    data = table("hand_bones")
    size = hand_length(length)
    scale = size / (data["reference_length"] * MM)
    flip = MIRROR if side == "left" else np.ones(3)
    names = tuple(row["name"] for row in data["bodies"])
    parent = np.array([-1 if row["parent"] is None else names.index(row["parent"]) for row in data["bodies"]], np.int32)
    joint = np.array([metres(row.get("joint", [0, 0, 0])) for row in data["bodies"]]) * scale * flip
    turns = []
    for number, row in enumerate(data["bodies"]):
        for turn in row.get("turns", ()):
            axis = np.array(turn["axis"], float)
            # a mirror image turns the other way: an axis is mirrored as −(M·a)
            axis = axis / np.linalg.norm(axis) * (-flip if side == "left" else flip)
            low, high = np.radians(turn["range"])
            turns.append(Turn(turn["name"], number, axis, float(low), float(high)))
    meshes = tuple(body_mesh(row, scale, side) for row in data["bodies"])
    for array in (parent, joint, *(turn.axis for turn in turns)):
        array.setflags(write=False)
    return HandSkeleton(side, size, scale, names, parent, joint, tuple(turns), meshes)


def body_mesh(row: dict[str, Any], scale: float, side: str) -> Mesh:
    """The bones of one body as one mesh [m], closed, faces outward."""
    parts = []
    for name, offset in row["meshes"].items():
        part = bone(name)
        points, faces = np.asarray(part.vertices) + metres(offset), np.asarray(part.faces)
        if "clip" in row:
            points, faces = clipped(points, faces, row["clip"] * MM)
        parts.append(mesh(points, faces))
    whole = joined(parts)
    if side == "right":
        return mesh(np.asarray(whole.vertices) * scale, whole.faces)
    return mesh(np.asarray(whole.vertices) * scale * MIRROR, np.asarray(whole.faces)[:, ::-1])


def clipped(points: Floats, faces: Ints, height: float) -> tuple[Floats, Ints]:
    """The part of a closed mesh below a height, its rim drawn to that height and closed again."""
    kept = faces[(points[faces, 1] < height).any(axis=1)]
    points = points.copy()
    points[:, 1] = np.minimum(points[:, 1], height)
    used, index = np.unique(kept, return_inverse=True)
    return points[used], turned(filled(index.reshape(-1, 3).astype(np.int32)))
