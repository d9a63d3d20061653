"""Muscles along a skeleton: one in front of and one behind every bone that skin hangs on (ledger X8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.rig import Driver, Rig
from risorius.skin.muscle.surface import Surface, unit

Floats = NDArray[np.float64]
POINTS = 7


@dataclass(frozen=True, eq=False)
class Bone:
    """A joint, the joint at its far end, and both places at rest.

    Args:
        turn: (3, 3) the rotation of the joint at the far end, at rest.
    """

    name: str
    child: str
    start: Floats
    end: Floats
    turn: Floats


@cache
def layout() -> dict[str, Any]:
    return json.loads((files("risorius.skin.muscle") / "data" / "limb_layout.json").read_text())


def limb_rig(surface: Surface, bones: list[Bone], forward: Floats) -> Rig:
    """A flexor in front of each bone and an extensor behind it, driven by the joint at its far end.

    Each contracts as that joint bends towards its own side, and lies still as it bends away. Its depth is a share of
    the distance of skin and bone; bones whose skin is not found on both sides, and those shorter than a share of the
    mesh, are passed over.

    Args:
        forward: (3,) which way the figure looks.
    """
    table = layout()
    muscles: list[Muscle] = []
    drivers: list[Driver] = []
    for bone in bones:
        if np.linalg.norm(bone.end - bone.start) < table["shortest_share"] * surface.size:
            continue
        made = [(one, side) for side, kind in ((outward(bone, forward), "flexor"), (-outward(bone, forward), "extensor"))
                if (one := along_bone(surface, bone, side, f"{bone.name}_{kind}", table))]  # fmt: skip
        if len(made) < 2:
            continue
        for muscle, side in made:
            if all(muscle.name != other.name for other in muscles):
                muscles.append(muscle)
                x, y, z = (bone.turn.T @ np.cross(unit(bone.end - bone.start), side)).tolist()
                ends = ((0.0, 0.0), (float(table["bend_deg"]), float(table["contraction"])))
                drivers.append(Driver((muscle.name, "contraction"), "angle", (bone.child,), (x, y, z), ends))
    if not muscles:
        raise InputError("expected bones with skin around them", place="skeleton")
    return Rig(tuple(muscles), (), tuple(drivers))


def outward(bone: Bone, forward: Floats) -> Floats:
    """(3,) the way straight away from a bone to its front; where it points forward itself, to its upper side."""
    axis = unit(bone.end - bone.start)
    found = forward - (forward @ axis) * axis
    if np.linalg.norm(found) < 0.3:
        up = np.array([0.0, 1.0, 0.0])
        found = up - (up @ axis) * axis
    return unit(found)


def along_bone(surface: Surface, bone: Bone, side: Floats, name: str, table: dict[str, Any]) -> Muscle | None:
    """A muscle on one side of a bone; None where rays from the bone do not meet the skin all along."""
    across = np.cross(unit(bone.end - bone.start), side)
    share = np.linspace(table["along"][0], table["along"][1], POINTS)[:, None]
    spine = bone.start + share * (bone.end - bone.start)
    reach = 0.8 * float(np.linalg.norm(bone.end - bone.start))
    tilt = np.radians(table["spread_deg"])
    curves, far = [], []
    for sign in (-1.0, 1.0):
        way = np.cos(tilt) * side + sign * np.sin(tilt) * across
        t, _ = surface.tree.rays(spine, np.broadcast_to(way, spine.shape), 1e-6 * surface.size, reach)
        if not np.isfinite(t).all():
            return None
        curves.append(spine + t[:, None] * way)
        far.append(t)
    depth = float(np.median(np.concatenate(far)))
    skin, flesh = table["skin_share"] * depth, table["muscle_share"] * depth
    full = 1.05 * (skin + flesh)
    sketch = Sketch(name, (curves[0], curves[1]), skin, flesh, 3, (2, 4), table["bulge"], d_full=full,
                    d_none=full + (table["reach_share"] - 1.0) * depth)  # fmt: skip
    try:
        return grow(surface, sketch).muscle
    except InputError:
        return None
