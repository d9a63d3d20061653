"""Which joint of a rig is which joint of a hand: name tables of common rigs, a user's mapping, and the side."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.skeleton import FINGERS, SIDES
from risorius.anatomy.tables import table
from risorius.core.clip import Clip
from risorius.core.errors import InputError

NEEDED: Final = ("wrist", *(f"{joint}{k}" for k in FINGERS for joint in ("mcp", "pip")), "cmc1", "mp1")
ROLES: Final = ("wrist", "forearm", "cmc1", "mp1", "ip1", "tip1",
                *(f"{joint}{k}" for k in FINGERS for joint in ("mcp", "pip", "dip", "tip")))  # fmt: skip
FORMAT_NOTE: Final = 'expected {"joints": {"wrist": "name in the rig", "mcp2": …}}'


@dataclass(frozen=True)
class Rig:
    """A hand found in a clip.

    Args:
        name: of the table, or of the user's mapping file.
        side: "left", "right", or None where names do not say.
        joint: role -> number of the joint in the clip.
    """

    name: str
    side: str | None
    joint: dict[str, int]


def plain(name: str) -> str:
    """A joint's name without namespaces, paths, prefixes, case and punctuation."""
    last = re.split(r"[|:/]", name)[-1]
    word = re.sub(r"[^0-9a-z]", "", last.lower())
    for prefix in table("hand_rigs")["prefixes"]:
        word = re.sub(rf"^{prefix}\d*(?=[a-z])", "", word)
    return word


def find_rig(clip: Clip, side: str | None = None, mapping: dict[str, Any] | None = None) -> Rig:
    """The hand of a clip: by a user's mapping, or by the table that knows most of its joints.

    Args:
        side: which hand where the rig has two.
        mapping: {"joints": {role: name}}, names as in the file.
    """
    if side is not None and side not in SIDES:
        raise InputError(f"expected left or right, got {side!r}", place="side")
    if mapping is not None:
        return mapped(clip, side, mapping)
    names: dict[str, int] = {}
    for number, name in enumerate(clip.names):
        names.setdefault(plain(name), number)
    exact = dict(zip(reversed(clip.names), range(len(clip.names) - 1, -1, -1)))
    best: tuple[float, Rig] | None = None
    for rig in table("hand_rigs")["rigs"]:
        sides = rig.get("sides", {None: ""})
        for which, word in sides.items():
            if side is not None and which not in (None, side):
                continue
            full = {role: name.format(side=word) for role, name in rig["joints"].items()}
            found = {role: exact.get(name, names.get(plain(name), -1)) for role, name in full.items()}
            found = {role: number for role, number in found.items() if number >= 0}
            score = float(len(found)) + 0.1 * (which == "right")
            if best is None or score > best[0]:
                best = (score, Rig(rig["name"], which, found))
    assert best is not None
    missing = [role for role in NEEDED if role not in best[1].joint]
    if missing:
        known = ", ".join(rig["name"] for rig in table("hand_rigs")["rigs"])
        raise InputError(
            f"has no hand that is known: the nearest rig, {best[1].name}, lacks {', '.join(missing[:6])}; known are {known}; "
            "name the joints in a mapping file",
            file=clip.file, place=f"joints {', '.join(clip.names[:4])}, …",
        )  # fmt: skip
    return best[1]


def mapped(clip: Clip, side: str | None, mapping: dict[str, Any]) -> Rig:
    joints = mapping.get("joints")
    if not isinstance(joints, dict) or set(mapping) - {"joints", "side", "name", "version"}:
        raise InputError(FORMAT_NOTE, place="mapping")
    found = {}
    for role, name in joints.items():
        if role not in ROLES:
            raise InputError(f"expected roles among {', '.join(ROLES)}, got {role!r}", place="mapping")
        if name not in clip.names:
            raise InputError(f"{role}: the animation has no joint {name!r}", file=clip.file, place="mapping")
        found[role] = clip.names.index(name)
    missing = [role for role in NEEDED if role not in found]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", place="mapping")
    return Rig(str(mapping.get("name", "mapping")), side or mapping.get("side"), found)


def curl(clip: Clip, rig: Rig) -> float:
    """How far fingers curl to the palm side that a right hand in right-handed axes would have; negative: a mirror image.

    In a right hand (index − wrist) × (little − wrist) points out of the palm, the way fingers curl; in a left hand it
    points out of the back. Mean cosine over fingers and frames.
    """
    j, p = rig.joint, clip.position
    wrist = p[:, j["wrist"]]
    normal = np.cross(p[:, j["mcp2"]] - wrist, p[:, j["mcp5"]] - wrist)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    total = np.zeros(len(p))
    for k in FINGERS:
        last = p[:, j.get(f"tip{k}", j.get(f"dip{k}", j[f"pip{k}"]))]
        along = last - p[:, j[f"mcp{k}"]]
        total += np.einsum("fi,fi->f", normal, along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12))
    return float(total.mean()) / len(FINGERS)


CURLED: Final = 0.15
"""Mean cosine from which the curl of the fingers tells the side."""


def sided(clip: Clip, rig: Rig, side: str | None = None) -> tuple[Clip, str, tuple[str, ...]]:
    """The clip in right-handed axes, the side of its hand, and warnings.

    The side is the one asked for, else that of the names, of the file's name, of the curl. Where the fingers then curl to the
    wrong side, the file's axes are left-handed (as in some game engines) and the clip is mirrored.
    """
    bend = curl(clip, rig)
    shown = None if abs(bend) < CURLED else "right" if bend > 0 else "left"
    stem = Path(clip.file or "").stem.lower()
    named = next((which for which in SIDES if which in stem), None)
    chosen = side or rig.side or named or shown
    if chosen is None:
        return clip, "right", ("nothing tells the side of this hand: it is taken for a right one",)
    if shown is not None and shown != chosen:
        said = "the fingers curl as in left-handed axes: the animation is mirrored"
        return mirrored(clip), chosen, (said,)
    return clip, chosen, ()


def mirrored(clip: Clip) -> Clip:
    """The same motion with z the other way."""
    flip = np.array([1.0, 1.0, -1.0])
    both = np.outer(flip, flip)
    return replace(clip, position=clip.position * flip, rotation=clip.rotation * both,
                   rest_position=clip.rest_position * flip, rest_rotation=clip.rest_rotation * both,
                   ends={joint: end * flip for joint, end in clip.ends.items()})  # fmt: skip
