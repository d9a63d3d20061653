"""Which marker sits where: up, forward and right, front and back, the column of markers along the sagittal plane.

Names are used where the mapping or the table of usual names knows them; markers without a known name then count if they
keep their place among those that have one. Else the shape of the cloud and the motion decide: the markers stand in a ring
about the vertical axis, the ring is wider than deep, and the front moves with the breath.
"""

from __future__ import annotations

import csv
import fnmatch
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.markers import Markers
from risorius.inverse.markers.hull import hull_volume
from risorius.inverse.markers.rigid import filled, mean_of, moved, rigid_motion, without_sway

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

AXES: Final = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}
SEEN: Final = 0.5
"""Markers seen in less than this part of the frames are left out."""
COLUMN: Final = 0.22
"""The sagittal column reaches this far to either side, as a part of the half-width."""
NAME_NEEDED: Final = 3
"""Known landmarks needed before names decide about directions."""
WANDER: Final = 0.02
"""A marker without a known name that wanders less [m] than this among those that have one sits on the trunk, if it is"""
REACH: Final = 0.2
"""not further [m] than this outside the box around them."""
RING: Final = 0.35
"""Markers stand in a ring about an axis when none comes nearer to it than this part of their mean distance."""


ROUND: Final = 1.25
"""A ring less wide than this times its depth is round: then the motion alone says what is forward."""


@dataclass(frozen=True)
class MarkerMap:
    """What a person says about their markers.

    Args:
        landmarks: pattern of a marker's name (`*` and `?` stand for anything) -> landmark, in order; first match wins.
        up, forward: axes of the recording (x, -y, …), empty where not said.
    """

    landmarks: tuple[tuple[str, str], ...] = ()
    up: str = ""
    forward: str = ""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the used markers sit.

    Args:
        used: numbers of the markers used, in the recording.
        axes: (3, 3) rows forward, up, right in the recording's axes.
        landmark: of each used marker, empty where none is known.
        front, back, column: (n,) over the used markers.
    """

    used: tuple[int, ...]
    axes: Floats
    landmark: tuple[str, ...]
    front: Flags
    back: Flags
    column: Flags
    notes: tuple[str, ...] = field(default=())


@cache
def landmarks() -> dict[str, dict[str, str]]:
    """Landmark -> side (front, back, side, other), height in the trunk, usual names; `data/landmarks.csv`."""
    text = files("risorius.inverse").joinpath("data/landmarks.csv").read_text(encoding="utf-8")
    return {row["landmark"]: row for row in csv.DictReader(text.splitlines())}


def landmark_of(name: str, mapping: MarkerMap) -> str:
    """Landmark of a marker by the mapping, else by its usual names; empty where unknown."""
    for pattern, landmark in mapping.landmarks:
        if fnmatch.fnmatchcase(name, pattern):
            return landmark
    plain = name.split(":")[-1].lower().replace(".", "").replace("_", "").replace(" ", "").replace("-", "")
    for landmark, row in landmarks().items():
        if plain in row["names"].split():
            return landmark
    return ""


def lay_out(markers: Markers, mapping: MarkerMap | None = None) -> Layout:
    """Find out where the markers of a trunk sit; `InputError` where too few are left."""
    mapping = mapping or MarkerMap()
    named = [landmark_of(name, mapping) for name in markers.names]
    seen = markers.seen()
    known = [number for number, landmark in enumerate(named) if landmark not in ("", "ignore")]
    limbs = len(known) >= NAME_NEEDED
    trunk = steady(markers.points, known) if limbs else np.ones(len(named), dtype=bool)
    used = [
        number
        for number, landmark in enumerate(named)
        if landmark != "ignore" and seen[number] >= SEEN and (landmark != "" or trunk[number])
    ]
    if len(used) < 4:
        raise InputError(
            f"expected at least four markers of a trunk seen in half of the frames, got {len(used)} of {len(named)}"
        )
    points = markers.points[:, used]
    where = [named[number] for number in used]
    aligned, shape = without_sway(points)
    motion = breath_motion(points, filled(aligned))
    up = axis_of(mapping.up) if mapping.up else up_axis(shape, where)
    forward = axis_of(mapping.forward) if mapping.forward else forward_axis(shape, up, where, motion)
    forward = forward - (forward @ up) * up
    if np.linalg.norm(forward) < 1e-6:
        raise InputError(f"expected forward and up in different directions, got {mapping.forward} and {mapping.up}")
    forward /= np.linalg.norm(forward)
    axes = np.stack([forward, up, np.cross(forward, up)])
    return sides(used, where, shape @ axes.T, axes)


def steady(points: Floats, known: list[int]) -> Flags:
    """(n,) which markers keep their place among the known ones, as those on a trunk do and those on limbs do not."""
    shape = without_sway(points[:, known])[1]
    whole = np.isfinite(points[:, known]).all(axis=2).sum(axis=1) >= NAME_NEEDED
    if not whole.any():
        return np.zeros(points.shape[1], dtype=bool)
    turn, shift = rigid_motion(shape, points[whole][:, known], np.ones(len(known)))
    local = moved(turn, shift, points[whole])
    middle = mean_of(local)
    wander = np.sqrt(mean_of(np.square(local - middle)).sum(axis=1))
    low, high = shape.min(axis=0) - REACH, shape.max(axis=0) + REACH
    return np.asarray((wander < WANDER) & ((middle > low) & (middle < high)).all(axis=1))


def breath_motion(points: Floats, aligned: Floats) -> Floats:
    """(n,) how far each marker moves with the breath in the room [m]: the part of its motion that follows the volume.

    The room is taken, not the aligned cloud, in which the back seems to move as much as the front.
    """
    try:
        volume = hull_volume(aligned)
    except InputError:
        volume = np.linalg.norm(aligned - aligned.mean(axis=0), axis=2).mean(axis=1)
    volume = (volume - volume.mean()) / max(float(volume.std()), 1e-300)
    centred = np.nan_to_num(points - mean_of(points))
    return np.linalg.norm(np.einsum("f,fni->ni", volume, centred), axis=1) / len(points)


def axis_of(name: str) -> Floats:
    """A direction by name."""
    if name.lower() not in AXES:
        raise InputError(f"expected an axis among {', '.join(AXES)}, got {name!r}")
    return np.array(AXES[name.lower()], dtype=np.float64)


def up_axis(shape: Floats, where: list[str]) -> Floats:
    """Up: from low landmarks to high ones; else the axis about which the markers stand in a ring; else z.

    A ring says nothing about up or down: there the axis's positive direction is taken.
    """
    height = np.array(
        [float(landmarks()[name]["height"]) if name and landmarks()[name]["height"] else np.nan for name in where]
    )
    known = np.isfinite(height)
    if known.sum() >= NAME_NEEDED and np.ptp(height[known]) > 0.15:
        slope = (height[known] - height[known].mean()) @ (shape[known] - shape[known].mean(axis=0))
        best = int(np.abs(slope).argmax())
        return np.eye(3)[best] * np.sign(slope[best])
    rings = [ring(np.delete(shape, axis, axis=1)) for axis in range(3)]
    best = int(np.argmax(rings))
    return np.eye(3)[best if rings[best] > RING else 2]


def ring(flat: Floats) -> float:
    """How hollow points (n, 2) are: least over mean distance from the middle, in units of their spread."""
    centred = flat - 0.5 * (flat.max(axis=0) + flat.min(axis=0))
    spread = np.linalg.cholesky(np.cov(centred.T) + 1e-12 * np.eye(2))
    distance = np.linalg.norm(np.linalg.solve(spread, centred.T), axis=0)
    return float(distance.min() / distance.mean())


def forward_axis(shape: Floats, up: Floats, where: list[str], motion: Floats) -> Floats:
    """Forward: from back landmarks to front ones; else across the ring, towards the side that moves with the breath."""
    side = np.array([landmarks()[name]["side"] if name else "" for name in where])
    flat = shape - np.outer(shape @ up, up)
    if (side == "front").any() and (side == "back").any():
        return flat[side == "front"].mean(axis=0) - flat[side == "back"].mean(axis=0)
    centred = flat - flat.mean(axis=0)
    towards = (motion - motion.mean()) @ centred
    plane = [axis for axis in np.linalg.svd(centred, full_matrices=False)[2] if abs(axis @ up) < 0.7][:2]
    narrow = plane[-1]
    if np.ptp(centred @ plane[0]) < ROUND * np.ptp(centred @ narrow):
        return towards
    return narrow * np.sign(towards @ narrow)


def sides(used: list[int], where: list[str], local: Floats, axes: Floats) -> Layout:
    """Front, back and column of markers at places (n, 3) forward, up, right [m]."""
    depth, across = local[:, 0], local[:, 2]
    middle = 0.5 * (depth.max() + depth.min())
    side = np.array([landmarks()[name]["side"] if name else "" for name in where])
    front = np.where(side == "", depth > middle, side == "front")
    back = np.where(side == "", depth <= middle, side == "back")
    centre = 0.5 * (across.max() + across.min())
    near = np.abs(across - centre) < COLUMN * 0.5 * np.ptp(across) + 1e-9
    told = np.array([bool(name) and landmarks()[name]["column"] == "yes" for name in where])
    column = told if told.sum() >= 2 else front & near
    if not column.any():
        column = (
            front & (np.abs(across - centre) <= np.abs(across - centre)[front].min() + 1e-9) if front.any() else front
        )
    return Layout(tuple(used), axes, tuple(where), front.astype(bool), back.astype(bool), column.astype(bool))


def handed(axes: Floats) -> bool:
    """Whether forward, up, right form a right-handed frame."""
    return bool(np.linalg.det(axes) > 0.0)


def all_axes() -> list[Floats]:
    """Every way in which the axes of a recording can stand (24 turns); tests go through them."""
    found = []
    for order in permutations(range(3)):
        for signs in np.ndindex(2, 2, 2):
            turn = np.eye(3)[list(order)] * (1.0 - 2.0 * np.array(signs))[:, None]
            if np.linalg.det(turn) > 0.0:
                found.append(turn)
    return found
