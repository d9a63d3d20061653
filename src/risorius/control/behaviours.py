"""Behaviours as styles: a few knobs in, a control out. Numbers come from `data/styles.csv`."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

import numpy as np

from risorius.control.control import Channel, Control
from risorius.control.curves import Linear
from risorius.core.errors import InputError

RAMP = 12
"""Straight pieces that draw one rise or fall of effort."""


@cache
def styles() -> dict[str, dict[str, float]]:
    """Style -> knob -> value."""
    table: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(files("risorius.control").joinpath("data/styles.csv").read_text().splitlines()):
        table.setdefault(row["style"], {})[row["knob"]] = float(row["value"])
    return table


def breath(period: float, inspiration: float, brake: float) -> Linear:
    """Inspiratory effort of one breath, repeating: a rounded rise over `inspiration` [s], then a fall over `brake` [s].

    Inspiratory muscles hold on into expiration and brake its first part (physiology survey §6).
    """
    up = np.linspace(0.0, 1.0, RAMP + 1)
    rise = [(inspiration * x, float(np.sin(0.5 * np.pi * x))) for x in up]
    fall = [(inspiration + brake * x, float(0.5 * (1.0 + np.cos(np.pi * x)))) for x in up[1:]]
    return Linear(points=(*rise, *fall, (period, 0.0)), period=period)


def behaviour(name: str, seconds: float, posture: str = "upright", route: str = "mouth") -> Control:
    """The control of a named behaviour."""
    if name == "rest":
        return Control((), seconds, posture, route, name)
    if name not in styles():
        raise InputError(f"expected one of {', '.join(['rest', *styles()])}, got {name!r}", place="behaviour")
    knobs = styles()[name]
    period = 60.0 / knobs["rate"]
    inspiration = knobs["duty"] * period
    curve = breath(period, inspiration, knobs["brake"] * (period - inspiration))
    drives = {key.removeprefix("drive_"): value for key, value in knobs.items() if key.startswith("drive_")}
    channels = tuple(Channel(group, (curve,), gain) for group, gain in drives.items())
    return Control(channels, seconds, posture, route, name)
