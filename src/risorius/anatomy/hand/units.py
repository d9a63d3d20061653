"""The 54 musculotendon units: routes over bones and through pulleys, read from `hand_units.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.skeleton import HandSkeleton
from risorius.anatomy.tables import MM, metres, table
from risorius.core.torso import Floats, Ints

SEGMENTS: Final = ("metacarpal", "proximal", "middle", "distal")


@dataclass(frozen=True, eq=False)
class Unit:
    """One unit at rest in a hand.

    Args:
        name: abbreviation of the contract (`FDP2`, `DI1_hood`).
        group: flexor, extensor, wrist, forearm, intrinsic, thenar, hypothenar.
        digit: 1 … 5, or 0.
        strength: [N] greatest active force.
        fibre: [m] fleshy length over which it shortens.
        radius: [m] of the tendon.
        body: (k,) number of the body that each route point belongs to.
        point: (k, 3) [m] route points at rest, origin first.
        link: name of the unit that the origin sits on ("" for a bone), and which of its route points come before.
    """

    name: str
    group: str
    digit: int
    strength: float
    fibre: float
    radius: float
    body: Ints
    point: Floats
    link: tuple[str, int] = ("", 0)


def segment_frame(skeleton: HandSkeleton, segment: str, digit: int) -> tuple[int, Floats, Floats, Floats]:
    """Body, origin, and rows (to the far end; unit dorsal; unit radial) of a segment, in the right hand of the tables.

    Dorsal and radial are square to the segment; radial lies along the first flexion axis of the digit's own joint.
    """
    data = {row["name"]: row for row in table("hand_bones")["bodies"]}
    name = f"{segment}{digit}"
    following = SEGMENTS[SEGMENTS.index(segment) + 1 :] if segment != "distal" else ()
    ahead = [f"{later}{digit}" for later in following if f"{later}{digit}" in data]
    if name in data:
        row, body = data[name], skeleton.index(name)
        start = metres(row["joint"])
        axis = np.array(row["turns"][0]["axis"], float)
    else:  # metacarpals 2 and 3 are part of the hand
        start, body = metres(table("hand_units")["bases"][str(digit)]), skeleton.index("hand")
        axis = np.array(data[ahead[0]]["turns"][0]["axis"], float)
    if ahead:
        end = metres(data[ahead[0]]["joint"])
    else:
        tip = skeleton.tips[digit] / skeleton.scale
        end = tip * (np.array([1.0, 1.0, -1.0]) if skeleton.side == "left" else 1.0)
    along = end - start
    u = along / np.linalg.norm(along)
    radial = axis - (axis @ u) * u
    radial /= np.linalg.norm(radial)
    return body, start, along, np.stack([np.cross(u, radial), radial])


def chosen(word: str, number: int) -> float:
    """`a|b|c|d`: the value of the digit; or one value for all."""
    values = word.split("|")
    return float(values[number if len(values) > 1 else 0])


def waypoint(skeleton: HandSkeleton, words: list[str], digit: int, number: int) -> tuple[int, Floats]:
    """Body and rest place [m] of `slide hand @ x y z` or `slide proximal t dorsal radial`."""
    if words[2] == "@":
        body = words[1]
        return skeleton.index(body), skeleton.point([chosen(word, number) for word in words[3:6]])
    body_number, start, along, frame = segment_frame(skeleton, words[1], digit)
    part, dorsal, radial = (chosen(word, number) for word in words[2:5])
    place = start + part * along + MM * (dorsal * frame[0] + radial * frame[1])
    return body_number, skeleton.placed(place)


def routed(skeleton: HandSkeleton, row: dict[str, Any], number: int, built: dict[str, Unit]) -> Unit:
    """One unit of a row: `number` is the place of its digit in the row."""
    digits = row.get("digits", [0])
    digit = digits[number]
    suffix = str(row["numbers"][number]) if "numbers" in row else str(digit) if len(digits) > 1 else ""
    strength = row["strength"] if isinstance(row["strength"], (int, float)) else row["strength"][number]
    lines: list[str] = []
    for line in row["route"]:
        lines += table("hand_units")["templates"][line[1:]] if line.startswith("+") else [line]
    column = digit - 2 if digit >= 2 else 0
    body, points, link = [], [], ("", 0)
    for line in lines:
        words = line.split()
        if words[0] == "link":
            other = built[f"{words[1]}{digit}"]
            before = int(np.flatnonzero(other.body == skeleton.index("hand"))[-1])
            # metacarpals 2 and 3 belong to the hand too: the gap behind the tunnel's last ring is meant
            before = min(before, 3)
            a, b = other.point[before], other.point[before + 1]
            body.append(int(other.body[before]))
            points.append(a + float(words[2]) * (b - a))
            link = (other.name, before)
            continue
        where, place = waypoint(skeleton, words, digit, column)
        body.append(where)
        points.append(place)
    scale = skeleton.scale
    size = scale**2  # forces grow with the cross-section; the tables are those of a man of mean size
    man = table("hand_bones")["hand_length"]["male"] / table("hand_bones")["reference_length"]
    return Unit(row["name"] + suffix, row["group"], digit, strength * size / man**2, row["fibre"] * MM * scale,
                row["radius"] * MM * scale, np.array(body, np.int32), np.array(points), link)  # fmt: skip


def build_units(skeleton: HandSkeleton) -> tuple[Unit, ...]:
    """All units of a hand, those that others link to first."""
    built: dict[str, Unit] = {}
    for row in table("hand_units")["units"]:
        for number in range(len(row.get("digits", [0]))):
            unit = routed(skeleton, row, number, built)
            built[unit.name] = unit
    return tuple(built.values())


def route_points(skeleton: HandSkeleton, unit: Unit, angles: Floats) -> Floats:
    """(f, k, 3) [m] where the route's points are for joint angles (f, t) [rad]."""
    spin, shift = skeleton.poses(angles)
    return np.einsum("fkij,kj->fki", spin[:, unit.body], unit.point) + shift[:, unit.body]


def lengths(skeleton: HandSkeleton, units: tuple[Unit, ...], angles: Floats) -> Floats:
    """(f, u) [m] length of a taut string through each unit's rings: the limit of a thin, tight strand.

    A unit that begins on another strand keeps its beginning on the bone here.
    """
    spin, shift = skeleton.poses(angles)
    found = []
    for unit in units:
        points = np.einsum("fkij,kj->fki", spin[:, unit.body], unit.point) + shift[:, unit.body]
        found.append(np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1))
    return np.stack(found, axis=1)


def string_arms(skeleton: HandSkeleton, units: tuple[Unit, ...], angles: Floats, step: float = 1e-4) -> Floats:
    """(u, t) [m] moment arms −∂length/∂angle of taut strings at one pose (t,)."""
    forth = angles + step * np.eye(len(angles))
    back = angles - step * np.eye(len(angles))
    return (lengths(skeleton, units, back) - lengths(skeleton, units, forth)).T / (2 * step)
