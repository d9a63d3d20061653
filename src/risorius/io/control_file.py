"""control.xml: everything that drives a run, readable and editable; what is written reads back to the same numbers.

    <control version="1" name="calm" seconds="60.0" posture="upright" route="mouth">
      <drive target="diaphragm" gain="0.065">
        <linear level="0.0" start="0.0" end="inf" period="4.6" points="0.0:0.0 0.2:0.5 …"/>
      </drive>
    </control>

Curves: constant, sine, square, sawtooth, linear, with the attributes of `control.curves`; targets: muscle groups, the
family `abdomen`, and `glottis`.
"""

from __future__ import annotations

import math
from dataclasses import fields
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Final, NoReturn

from risorius.control.control import Channel, Control
from risorius.control.curves import Curve, Linear, Sawtooth, Sine, Square
from risorius.core import xml
from risorius.core.errors import InputError

KINDS: Final[dict[str, type[Curve]]] = {
    "constant": Curve, "sine": Sine, "square": Square, "sawtooth": Sawtooth, "linear": Linear,
}  # fmt: skip
POSTURES: Final = ("upright", "supine")
ROUTES: Final = ("mouth", "nose")
LONGEST: Final = 3600.0
"""Longest run [s] that a file may ask for."""


def control_text(control: Control) -> str:
    """The XML of a control; floats as Python writes them, so that they read back exactly."""
    names = {kind: name for name, kind in KINDS.items()}
    root = xml.Element(
        "control",
        {
            "version": "1",
            "name": control.name,
            "seconds": repr(float(control.seconds)),
            "posture": control.posture,
            "route": control.route,
        },
    )
    for channel in control.channels:
        drive = xml.Element("drive", {"target": channel.target, "gain": repr(float(channel.gain))})
        for curve in channel.curves:
            values = {field.name: getattr(curve, field.name) for field in fields(curve)}
            points = values.pop("points", None)
            attributes = {name: repr(float(value)) for name, value in values.items()}
            if points is not None:
                attributes["points"] = " ".join(f"{float(time)!r}:{float(value)!r}" for time, value in points)
            drive.children.append(xml.Element(names[type(curve)], attributes))
        root.children.append(drive)
    return xml.write(root)


def read_control(path: str | PathLike[str]) -> Control:
    """The control in a file; `InputError` names line, element and what was expected."""
    file = Path(path)
    root = xml.read(file)
    if root.tag != "control":
        fail(file, root, "expected <control> as the outermost element")
    given = attributes_of(file, root, required=("seconds",), allowed=("version", "name", "posture", "route"))
    if given.get("version", "1") != "1":
        fail(file, root, f"expected version 1, got {given['version']!r}")
    seconds = number(file, root, "seconds", given["seconds"], 1e-3, LONGEST)
    posture = choice(file, root, "posture", given.get("posture", "upright"), POSTURES)
    route = choice(file, root, "route", given.get("route", "mouth"), ROUTES)
    channels = tuple(channel_of(file, element) for element in root)
    return Control(channels, seconds, posture, route, given.get("name", "control"))


def channel_of(file: Path, element: xml.Element) -> Channel:
    """One <drive>."""
    if element.tag != "drive":
        fail(file, element, "expected <drive>")
    given = attributes_of(file, element, required=("target",), allowed=("gain",))
    gain = number(file, element, "gain", given.get("gain", "1.0"), -1e6, 1e6)
    return Channel(given["target"], tuple(curve_of(file, child) for child in element), gain)


def curve_of(file: Path, element: xml.Element) -> Curve:
    """One curve element."""
    if element.tag not in KINDS:
        fail(file, element, f"expected one of {', '.join(KINDS)}")
    kind = KINDS[element.tag]
    names = [field.name for field in fields(kind)]
    given = attributes_of(file, element, required=("points",) if kind is Linear else (), allowed=names)
    values: dict[str, object] = {}
    for name, text in given.items():
        if name == "points":
            values[name] = points_of(file, element, text)
        else:
            low = 0.0 if name in ("frequency", "period", "start", "end") else -1e6
            high = math.inf if name == "end" else 1e6
            values[name] = number(file, element, name, text, low, high)
    for name in ("duty", "rise"):
        if name in values and not 0.0 <= float(values[name]) <= 1.0:  # type: ignore[arg-type]
            fail(file, element, f"expected {name} in 0…1, got {values[name]}")
    return kind(**values)  # type: ignore[arg-type]


def points_of(file: Path, element: xml.Element, text: str) -> tuple[tuple[float, float], ...]:
    """time:value pairs with rising times."""
    pairs = []
    for word in text.split():
        time, colon, value = word.partition(":")
        if not colon:
            fail(file, element, f"expected points as time:value, got {word!r}")
        pairs.append((number(file, element, "time", time, 0.0, 1e6), number(file, element, "value", value, -1e6, 1e6)))
    if not pairs or any(later[0] < earlier[0] for earlier, later in pairwise(pairs)):
        fail(file, element, "expected one point or more, times not falling")
    return tuple(pairs)


def attributes_of(
    file: Path, element: xml.Element, required: tuple[str, ...], allowed: list[str] | tuple[str, ...]
) -> dict[str, str]:
    """Attributes of an element, none unknown and none missing."""
    for name in element.attributes:
        if name not in required and name not in allowed:
            fail(file, element, f"unknown attribute {name!r}; expected {', '.join((*required, *allowed))}")
    for name in required:
        if name not in element.attributes:
            fail(file, element, f"expected attribute {name!r}")
    return element.attributes


def number(file: Path, element: xml.Element, name: str, text: str, low: float, high: float) -> float:
    """A number within bounds."""
    try:
        value = float(text)
    except ValueError:
        fail(file, element, f"expected a number for {name}, got {text!r}")
    if not low <= value <= high:
        fail(file, element, f"expected {name} from {low:g} to {high:g}, got {text}")
    return value


def choice(file: Path, element: xml.Element, name: str, value: str, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in allowed:
        fail(file, element, f"expected {name} to be one of {', '.join(allowed)}, got {value!r}")
    return value


def fail(file: Path, element: xml.Element, message: str) -> NoReturn:
    """Refuse an element."""
    raise InputError(message, file=file, line=element.line, place=f"<{element.tag}>")
