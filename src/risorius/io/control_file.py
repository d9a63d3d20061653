"""control.xml: everything that drives a run, readable and editable; what is written reads back to the same numbers.

    <control version="1" name="calm" seconds="60.0" posture="upright" route="mouth" frames="25.0">
      <drive target="diaphragm" gain="0.065">
        <linear level="0.0" start="0.0" end="inf" period="4.6" points="0.0:0.0 0.2:0.5 …"/>
      </drive>
      <element label="external intercostal 4 at 0.35 r"><sine amplitude="0.5" frequency="1.0"/></element>
      <push body="sternum" x="-40.0" y="0.0" z="0.0" start="2.0" end="2.2"/>
      <ball time="3.0" mass="5.0" radius="0.1" height="0.3"/>
    </control>

The schema is `io/data/control.xsd`. What a schema cannot say, the reader asks for too: names that exist, times that do
not fall, starts before ends, points within the period.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import fields
from importlib.resources import files
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Final, NoReturn

from risorius.control.control import ELEMENT, POSTURES, ROUTES, Ball, Channel, Control, Push
from risorius.control.curves import Curve, Linear, Sawtooth, Sine, Square
from risorius.core import xml
from risorius.core.errors import InputError

KINDS: Final[dict[str, type[Curve]]] = {
    "constant": Curve, "sine": Sine, "square": Square, "sawtooth": Sawtooth, "linear": Linear,
}  # fmt: skip
LONGEST: Final = 3600.0
"""Longest run [s] that a file may ask for."""
FRAMES: Final = (1.0, 240.0)
"""Frames a second that a file may ask for."""
LARGEST: Final = 1e6
NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
BLANK: Final = " \t\r\n"
SCHEMA_HINTS: Final = ("xmlns:xsi", "xsi:noNamespaceSchemaLocation")
"""Attributes of the outermost element that tell an editor of XML where the schema is; they are ignored."""
BALL: Final = {
    "time": (0.0, LONGEST), "mass": (0.01, 100.0), "radius": (0.01, 0.5), "height": (0.0, 5.0), "x": (-5.0, 5.0),
    "y": (-5.0, 5.0), "z": (-5.0, 5.0), "vx": (-20.0, 20.0), "vy": (-20.0, 20.0), "vz": (-20.0, 20.0),
}  # fmt: skip
"""Attributes of a ball and their ranges [s, kg, m, m/s]."""
PUSH: Final = {"x": (-2000.0, 2000.0), "y": (-2000.0, 2000.0), "z": (-2000.0, 2000.0), "start": (0.0, LONGEST)}
"""Attributes of a push and their ranges [N, s]."""


def schema_text() -> str:
    """The XML schema (XSD 1.0) of control files."""
    return files("risorius.io").joinpath("data/control.xsd").read_text(encoding="utf-8")


def control_text(control: Control) -> str:
    """The XML of a control; floats as Python writes them, so that they read back exactly."""
    root = xml.Element(
        "control",
        {
            "version": "1",
            "name": control.name,
            "seconds": exactly(control.seconds),
            "posture": control.posture,
            "route": control.route,
            "frames": exactly(control.frames),
        },
    )
    for channel in control.channels:
        name, value = ("drive", "target") if channel.label is None else ("element", "label")
        drive = xml.Element(name, {value: channel.label or channel.target, "gain": exactly(channel.gain)})
        drive.children = [curve_element(curve) for curve in channel.curves]
        drive.children += [curve_element(fade, "fade") for fade in channel.fades]
        root.children.append(drive)
    for push in control.pushes:
        x, y, z = push.force
        values = {"x": x, "y": y, "z": z, "start": push.start, "end": push.end}
        written = {name: exactly(value) for name, value in values.items()}
        root.children.append(xml.Element("push", {"body": push.body, **written}))
    for ball in control.balls:
        values = {"time": ball.time, "mass": ball.mass, "radius": ball.radius, "height": ball.height}
        if ball.place is not None:
            values |= dict(zip(("x", "y", "z"), ball.place))
        values |= dict(zip(("vx", "vy", "vz"), ball.velocity))
        root.children.append(xml.Element("ball", {name: exactly(value) for name, value in values.items()}))
    return xml.write(root)


def exactly(value: float) -> str:
    """A number so that it reads back to the same bits."""
    return repr(float(value))


def curve_element(curve: Curve, name: str = "") -> xml.Element:
    """One curve, or a fade."""
    values = {field.name: getattr(curve, field.name) for field in fields(curve)}
    points = values.pop("points", None)
    attributes = {name: exactly(value) for name, value in values.items()}
    if points is not None:
        attributes["points"] = " ".join(f"{exactly(time)}:{exactly(value)}" for time, value in points)
    return xml.Element(name or next(tag for tag, kind in KINDS.items() if kind is type(curve)), attributes)


def read_control(path: str | PathLike[str]) -> Control:
    """The control in a file; `InputError` names line, element and what was expected."""
    file = Path(path)
    return control_of(file, xml.read(file))


def control_of(file: Path, root: xml.Element) -> Control:
    """The control of a parsed file."""
    if root.tag != "control":
        fail(file, root, "expected <control> as the outermost element")
    allowed = ("version", "name", "posture", "route", "frames", *SCHEMA_HINTS)
    given = attributes_of(file, root, required=("seconds",), allowed=allowed)
    if given.get("version", "1") != "1":
        fail(file, root, f"expected version 1, got {given['version']!r}")
    seconds = number(file, root, "seconds", given["seconds"], 1e-3, LONGEST)
    posture = choice(file, root, "posture", given.get("posture", "upright"), POSTURES)
    route = choice(file, root, "route", given.get("route", "mouth"), ROUTES)
    frames = number(file, root, "frames", given.get("frames", "25.0"), *FRAMES)
    channels: list[Channel] = []
    pushes: list[Push] = []
    balls: list[Ball] = []
    for element in root:
        if element.tag in ("drive", "element"):
            channels.append(channel_of(file, element))
        elif element.tag == "push":
            pushes.append(push_of(file, element))
        elif element.tag == "ball":
            balls.append(ball_of(file, element))
        else:
            fail(file, element, "expected <drive>, <element>, <push> or <ball>")
    name = given.get("name", "control")
    control = Control(tuple(channels), seconds, posture, route, name, tuple(balls), tuple(pushes), frames, str(file))
    from risorius.anatomy.torso.build import GROUPS

    control.check(GROUPS)
    return control


def channel_of(file: Path, element: xml.Element) -> Channel:
    """One <drive> or <element>."""
    name = "target" if element.tag == "drive" else "label"
    given = attributes_of(file, element, required=(name,), allowed=("gain",))
    gain = number(file, element, "gain", given.get("gain", "1.0"), -LARGEST, LARGEST)
    target = given[name] if name == "target" else ELEMENT + given[name]
    if name == "target" and target.startswith(ELEMENT):
        fail(file, element, "expected a single element as <element label=…>")
    curves, fades = [], []
    for child in element:
        if child.tag == "fade":
            fades.append(curve_of(file, child))
        elif fades:
            fail(file, child, "expected every curve before the first <fade>")
        else:
            curves.append(curve_of(file, child))
    return Channel(target, tuple(curves), gain, tuple(fades), element.line)  # type: ignore[arg-type]


def curve_of(file: Path, element: xml.Element) -> Curve:
    """One curve element."""
    kind = Linear if element.tag == "fade" else KINDS.get(element.tag)
    if kind is None:
        fail(file, element, f"expected one of {', '.join((*KINDS, 'fade'))}")
    names = [field.name for field in fields(kind)]
    given = attributes_of(file, element, required=("points",) if kind is Linear else (), allowed=names)
    leaf(file, element)
    values: dict[str, object] = {}
    for name, text in given.items():
        if name == "points":
            values[name] = points_of(file, element, text)
        elif name == "end" and text.strip(BLANK) == "inf":
            values[name] = math.inf
        else:
            low = 0.0 if name in ("frequency", "period", "start", "end", "duty", "rise") else -LARGEST
            values[name] = number(file, element, name, text, low, 1.0 if name in ("duty", "rise") else LARGEST)
    curve = kind(**values)  # type: ignore[arg-type]
    if curve.end < curve.start:
        fail(file, element, f"expected an end after the start at {curve.start:g}, got {curve.end:g}")
    if isinstance(curve, Linear) and 0.0 < curve.period < curve.points[-1][0]:
        fail(file, element, f"expected points within the period of {curve.period:g}, got {curve.points[-1][0]:g}")
    return curve


def push_of(file: Path, element: xml.Element) -> Push:
    """One <push>."""
    given = attributes_of(file, element, required=("body", "start", "end"), allowed=("x", "y", "z"))
    leaf(file, element)
    values = {name: number(file, element, name, given.get(name, "0.0"), *PUSH[name]) for name in PUSH}
    end = number(file, element, "end", given["end"], 0.0, LONGEST)
    if end < values["start"]:
        fail(file, element, f"expected an end after the start at {values['start']:g}, got {end:g}")
    return Push(given["body"], (values["x"], values["y"], values["z"]), values["start"], end, element.line)


def ball_of(file: Path, element: xml.Element) -> Ball:
    """One <ball>."""
    allowed = [name for name in BALL if name not in ("time", "mass", "radius")]
    given = attributes_of(file, element, required=("time", "mass", "radius"), allowed=allowed)
    leaf(file, element)
    values = {name: number(file, element, name, text, *BALL[name]) for name, text in given.items()}
    named = [name in values for name in "xyz"]
    if any(named) and not all(named):
        fail(file, element, "expected x, y and z, or none of them")
    place = (values["x"], values["y"], values["z"]) if all(named) else None
    velocity = (values.get("vx", 0.0), values.get("vy", 0.0), values.get("vz", 0.0))
    height = values.get("height", Ball.height)
    return Ball(values["time"], values["mass"], values["radius"], height, place, velocity, element.line)


def points_of(file: Path, element: xml.Element, text: str) -> tuple[tuple[float, float], ...]:
    """time:value pairs whose times do not fall."""
    pairs = []
    for word in re.findall(f"[^{BLANK}]+", text):
        time, colon, value = word.partition(":")
        if not colon:
            fail(file, element, f"expected points as time:value, got {word!r}")
        pairs.append(
            (
                number(file, element, "time", time, 0.0, LARGEST),
                number(file, element, "value", value, -LARGEST, LARGEST),
            )
        )
    if not pairs or any(later[0] < earlier[0] for earlier, later in pairwise(pairs)):
        fail(file, element, "expected one point or more, times not falling")
    return tuple(pairs)


def attributes_of(file: Path, element: xml.Element, required: Sequence[str], allowed: Sequence[str]) -> dict[str, str]:
    """Attributes of an element, none unknown and none missing; no text beside its children."""
    if element.text:
        fail(file, element, f"expected no text in it, got {element.text[:40]!r}")
    for name in element.attributes:
        if name not in required and name not in allowed:
            names = [known for known in (*required, *allowed) if known not in SCHEMA_HINTS]
            fail(file, element, f"unknown attribute {name!r}; expected {', '.join(dict.fromkeys(names))}")
    for name in required:
        if name not in element.attributes:
            fail(file, element, f"expected attribute {name!r}")
    return element.attributes


def leaf(file: Path, element: xml.Element) -> None:
    """Refuse children."""
    if element.children:
        fail(file, element.children[0], f"expected nothing inside <{element.tag}>")


def number(file: Path, element: xml.Element, name: str, text: str, low: float, high: float) -> float:
    """A number within bounds."""
    if not NUMBER.fullmatch(text.strip(BLANK)):
        fail(file, element, f"expected a number for {name}, got {text!r}")
    value = float(text)
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
