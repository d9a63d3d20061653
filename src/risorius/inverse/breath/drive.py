"""What a fitted breath is made of: named numbers, and the control that they stand for.

Inspiratory drives share one curve, expiratory ones another, linked in time (DiLorenzo 2009, §5.3.2). Each curve rises
from 0 to 1 and falls back,

    w(x) = x + b x (1 − x) for the rise,  x = 0 … 1,  and the same backwards for the fall,

with b = 0 the paper's sawtooth. The whole breath is drawn on one clock: volume turns `ONSET` of a period after the clock
starts, muscles begin `lead` of a period after it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import Channel, Control
from risorius.control.curves import Linear
from risorius.inverse.search.problem import Parameter

Floats = NDArray[np.float64]

ONSET: Final = 0.15
"""The recorded breath begins this part of a period after the control's clock."""
PIECES: Final = 12
"""Straight pieces that draw a rise or a fall that is not straight."""
FOUR: Final = ("intercostal_external", "diaphragm", "intercostal_internal", "abdomen")
"""The paper's four amplitudes."""


@dataclass(frozen=True)
class Knob(Parameter):
    """A parameter of a breath.

    Args:
        role: in, out (driven by the inspiratory or the expiratory curve), or time.
        usual, spread: where it is before anything is known, and how far from there it may easily be.
        step: of its finite differences.
    """

    role: str = "in"
    usual: float = 0.0
    spread: float = 1.0
    step: float = 0.01


@cache
def knobs() -> dict[str, Knob]:
    """All parameters by name; `data/breath_parameters.csv`."""
    text = files("risorius.inverse").joinpath("data/breath_parameters.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        numbers = (float(row[key]) for key in ("low", "high", "usual"))
        low, high, usual = numbers
        found[row["name"]] = Knob(row["name"], low, high, usual, row["role"], usual, float(row["spread"]),
                                  float(row["step"]))  # fmt: skip
    return found


def usual() -> dict[str, float]:
    """Every parameter where it usually is, and nothing driven."""
    return {name: knob.usual if knob.role == "time" else 0.0 for name, knob in knobs().items()}


def shape(rise: float, fall: float, rise_bulge: float, fall_bulge: float) -> tuple[tuple[float, float], ...]:
    """Points (part of a period, 0…1) of one rise and fall."""
    fall = min(fall, 1.0 - rise)
    up = np.linspace(0.0, 1.0, PIECES + 1 if rise_bulge else 2)
    down = np.linspace(1.0, 0.0, PIECES + 1 if fall_bulge else 2)[1:]
    points = [(rise * x, x + rise_bulge * x * (1.0 - x)) for x in up]
    points += [(rise + fall * (1.0 - x), x + fall_bulge * x * (1.0 - x)) for x in down]
    if rise + fall < 1.0:
        points.append((1.0, 0.0))
    return tuple((float(part), float(value)) for part, value in points)


def breath_control(values: Mapping[str, float], period: float, seconds: float, name: str = "breath") -> Control:
    """The control of a breath that repeats every `period` [s], from `values` by parameter name."""
    given = {**usual(), **values}
    into = shape(given["rise"], given["fall"], given["rise_bulge"], given["fall_bulge"])
    out_rise = given["out_rise"]
    out = shape(out_rise, given["out_fall"], 0.0, 0.0)
    begun = given["lead"] * period
    starts = {"in": begun, "out": begun + (given["rise"] + given["out_late"]) * period}
    curves = {
        role: Linear(points=tuple((part * period, value) for part, value in points), period=period, start=starts[role])
        for role, points in (("in", into), ("out", out))
    }
    channels = tuple(
        Channel(knob.name, (curves[knob.role],), given[knob.name])
        for knob in knobs().values()
        if knob.role != "time" and given[knob.name] != 0.0
    )
    return Control(channels, seconds, name=name)


def lasting(control: Control, seconds: float, frames: float) -> Control:
    """The same with another length and frame rate."""
    return replace(control, seconds=seconds, frames=frames)


def sooner(control: Control, period: float) -> Control:
    """The same breath, whole periods [s] earlier, so that it is under way when the clock starts."""
    whole = [curve.start for channel in control.channels for curve in channel.curves]
    periods = int(np.ceil(max(whole, default=0.0) / period)) + 1
    return control.shifted(-periods * period)
