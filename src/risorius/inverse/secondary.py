"""Secondary motion: what spine and shoulders add to a laugh, by its strength (DiLorenzo 2008, §6).

With the strength s, positive pressure over the kind's mean peak, a joint motion is asked for

    angle = amount · (pulse · s + tonic · e),

where e is the running maximum of s, smoothed: pulses go with the calls, e with the bout.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from risorius.control.control import Channel
from risorius.control.curves import Linear
from risorius.core.hearing import Target
from risorius.inverse.sound.tables import pressures
from risorius.maths.signals import low_pass

Floats = NDArray[np.float64]

RATE: Final = 50.0
"""Points a second of the curves."""
BOUT: Final = 0.45
"""Over such a stretch [s] the strongest call counts: two calls of a laugh and more."""
SWAY: Final = 1.0
"""The trunk follows the strength of a bout no faster [Hz]."""
MOST: Final = 3.0
"""Greatest strength that counts: beyond, joints are at their limits."""


@cache
def table() -> dict[str, dict[str, dict[str, float]]]:
    """Kind -> joint motion -> part (tonic, pulse) -> angle at strength 1 [deg]."""
    text = files("risorius.inverse").joinpath("data/secondary.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["kind"], {}).setdefault(row["target"], {})[row["part"]] = float(row["value"])
    return found


def secondary(kind: str, target: Target, amount: float = 1.0) -> tuple[Channel, ...]:
    """Channels of joint motion for a pressure to follow; none for kinds that move by breathing alone."""
    if amount == 0.0 or kind not in table():
        return ()
    time = np.arange(int(target.time[-1] * RATE) + 1) / RATE
    strength = np.clip(target.at(time) / pressures()[kind]["peak"], 0.0, MOST)
    bout = ndimage.maximum_filter1d(strength, max(1, round(BOUT * RATE)), mode="nearest")
    bout = np.maximum(low_pass(bout, RATE, SWAY, both_ways=True), 0.0)
    channels = []
    for motion, part in table()[kind].items():
        angle = amount * (part.get("pulse", 0.0) * strength + part.get("tonic", 0.0) * bout)
        channels.append(Channel(motion, (Linear(points=tuple(zip(time.tolist(), angle.tolist()))),)))
    return tuple(channels)
