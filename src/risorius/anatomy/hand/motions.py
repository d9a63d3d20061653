"""Example motions of our own: fist, pointing, spread, thumb-up, pronation, … (data/hand_motions.json)."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.retarget import HandMotion
from risorius.anatomy.hand.skeleton import FINGERS, HandSkeleton
from risorius.anatomy.tables import table
from risorius.core.errors import InputError
from risorius.core.torso import Floats

RATE: Final = 120.0
"""Frames a second."""


def motion_names() -> tuple[str, ...]:
    return tuple(table("hand_motions")["motions"])


def pose_angles(skeleton: HandSkeleton, words: dict[str, float]) -> Floats:
    """(t,) [rad] of a pose: full names (`mcp2_flexion`) go before short ones (`mcp`: all fingers) before the relaxed hand."""
    found = {**table("hand_motions")["relaxed"], **words}
    angles = np.zeros(len(skeleton.turns))
    names = skeleton.turn_names
    for word in sorted(found, key=len):
        value = np.radians(found[word])
        if word in names:
            angles[names.index(word)] = value
        elif word in ("mcp", "pip", "dip"):
            for k in FINGERS:
                angles[names.index(f"{word}{k}_flexion")] = value
        elif re.fullmatch(r"(cmc|mp|ip)\d", word):
            angles[names.index(f"{word}_flexion")] = value
        else:
            raise InputError(f"expected the name of a turn, got {word!r}", place="pose")
    return np.clip(angles, skeleton.limits[:, 0], skeleton.limits[:, 1])


def motion(skeleton: HandSkeleton, name: str, rate: float = RATE) -> HandMotion:
    """An example motion; between keys 10 s³ − 15 s⁴ + 6 s⁵, the path of least jerk."""
    known: dict[str, Any] = table("hand_motions")["motions"]
    if name not in known:
        raise InputError(f"expected one of {', '.join(known)}, got {name!r}", place="motion")
    keys = known[name]["keys"]
    times = np.array([key[0] for key in keys])
    poses = np.stack([pose_angles(skeleton, key[1]) for key in keys])
    time = np.arange(round(times[-1] * rate) + 1) / rate
    right = np.clip(np.searchsorted(times, time, side="right"), 1, len(times) - 1)
    s = ((time - times[right - 1]) / (times[right] - times[right - 1]))[:, None]
    s = np.clip(s, 0.0, 1.0)
    angles = poses[right - 1] + (10 * s**3 - 15 * s**4 + 6 * s**5) * (poses[right] - poses[right - 1])
    still = np.tile(np.eye(3), (len(time), 1, 1))
    return HandMotion(time, angles, still, np.zeros((len(time), 3)), {"direction_error_mean_deg": 0.0})
