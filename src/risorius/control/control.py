"""A control: everything that drives a run, as one object; `io.control_file` writes and reads it.

Channels name what they drive: a muscle group (or a family of groups), or `glottis` (0 shut … 1 wide open). Several
channels may drive the same thing; their curves add up, and the sum is kept within 0…1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risorius.control.curves import Curve
from risorius.core.errors import InputError

Floats = NDArray[np.float64]

FAMILIES: dict[str, tuple[str, ...]] = {
    "abdomen": ("rectus_upper", "rectus_middle", "rectus_lower", "oblique", "transversus"),
}
"""One value for several groups (DiLorenzo 2009, §3.2.3: the five regions of the abdomen)."""
GLOTTIS = "glottis"


@dataclass(frozen=True)
class Channel:
    """What is driven, by which curves, times a gain."""

    target: str
    curves: tuple[Curve, ...]
    gain: float = 1.0


@dataclass(frozen=True)
class Control:
    """A whole run's control.

    Args:
        channels: see there; glottis is open where no channel names it.
        seconds: length of the run [s].
        posture: "upright" or "supine".
        route: "mouth" or "nose".
        name: what the behaviour is called.
    """

    channels: tuple[Channel, ...]
    seconds: float
    posture: str = "upright"
    route: str = "mouth"
    name: str = "control"

    def targets(self) -> set[str]:
        """Everything that is driven."""
        return {channel.target for channel in self.channels}

    def excitation(self, groups: Sequence[str], times: Floats) -> Floats:
        """Excitation (times, groups) in 0…1."""
        known = set(groups) | set(FAMILIES) | {GLOTTIS}
        unknown = sorted(self.targets() - known)
        if unknown:
            raise InputError(f"expected a muscle group, got {unknown[0]!r}; one of {', '.join(sorted(known))}")
        value = np.zeros((len(times), len(groups)))
        for channel in self.channels:
            driven = FAMILIES.get(channel.target, (channel.target,))
            columns = [number for number, group in enumerate(groups) if group in driven]
            for curve in channel.curves:
                value[:, columns] += (channel.gain * curve(times))[:, None]
        return np.clip(value, 0.0, 1.0)

    def glottis(self, times: Floats) -> Floats:
        """Opening of the glottis (times) in 0…1."""
        driving = [channel for channel in self.channels if channel.target == GLOTTIS]
        if not driving:
            return np.ones(len(times))
        return np.clip(sum(channel.gain * curve(times) for channel in driving for curve in channel.curves), 0.0, 1.0)
