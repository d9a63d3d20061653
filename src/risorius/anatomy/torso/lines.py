"""Straight muscle elements: sheets between the ribs, and the muscles of the attachment table."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.front import Cartilage
from risorius.anatomy.torso.ribs import Rib, carrier_of_rib
from risorius.core.torso import Bodies, Floats, Lines


@dataclass
class Bundle:
    """Elements gathered one by one, right and left together."""

    group: list[str] = field(default_factory=list)
    body: list[tuple[str, str]] = field(default_factory=list)
    point: list[tuple[Floats, Floats]] = field(default_factory=list)
    area: list[float] = field(default_factory=list)
    label: list[str] = field(default_factory=list)

    def pair(self, group: str, bodies: tuple[str, str], points: tuple[Floats, Floats], area: float, label: str) -> None:
        """Add a right element and its mirror image; `=name` is a body of the midline."""
        for side, flip in (("r", 1.0), ("l", -1.0)):
            self.group.append(group)
            first, second = (b[1:] if b.startswith("=") else f"{b}_{side}" for b in bodies)
            self.body.append((first, second))
            self.point.append((points[0] * [1, 1, flip], points[1] * [1, 1, flip]))
            self.area.append(area)
            self.label.append(f"{label} {side}")


def sheet(bundle: Bundle, upper: Rib, lower: Rib, kind: str, frame: Frame) -> None:
    """One layer of a space: fibres at the table's angle to the rib, from lower border to upper border.

    Externals run down and forward, internals down and back: the lower end lies gap / tan(angle) further along.
    """
    t = table("intercostal")
    first, last = t["spaces"][str(upper.number)][kind]
    spacing = t["spacing_mm"] * MM * frame.scale
    count = max(4, round((last - first) * upper.length / spacing))
    forward = 1.0 if kind == "external" else -1.0
    across = t["across"][kind]
    edge = np.linspace(0.0, 1.0, 401)
    target = lower.border(edge, across, 1.0)
    tree = cKDTree(target)
    step = (last - first) * upper.length / count
    for k in range(count):
        f = first + (last - first) * (k + 0.5) / count
        start = upper.border(f, across, -1.0)
        gap, near = tree.query(start)
        angle = np.radians(np.interp(f, [0.1, 0.5, 0.95], t["angle_deg"][kind]))
        end = edge[near] + forward * max(gap, t["least_gap_mm"] * MM) / np.tan(angle) / lower.length
        beyond = near == len(edge) - 1 and gap > t["beyond_mm"] * MM * frame.scale  # the lower rib ends short of it
        finish = lower.border(end, across, 1.0)
        if beyond or not 0.02 <= end <= 1.0 or np.linalg.norm(finish - start) < t["shortest_mm"] * MM * frame.scale:
            continue
        area = t["thickness_mm"][kind] * MM * frame.scale * step * np.sin(angle)
        bundle.pair(
            f"intercostal_{kind}",
            (f"rib{upper.number}", f"rib{lower.number}"),
            (start, finish),
            area,
            f"{kind} intercostal {upper.number} at {f:.2f}",
        )


def cartilage_body(number: int) -> str:
    """Body that holds a cartilage."""
    return "rib1" if number == 1 else f"cartilage{number}" if number <= 5 else "cartilage_lower"


def parasternal(bundle: Bundle, upper: Cartilage, lower: Cartilage, frame: Frame) -> None:
    """Intercartilaginous part: down and lateral from the sternal side of the cartilage above."""
    t = table("intercostal")
    length = min(upper.length, lower.length)
    count = max(3, round(length / (t["spacing_mm"] * MM * frame.scale)))
    edge = np.linspace(0.0, 1.0, 201)
    target = lower.border(edge, 0.0, 1.0)
    tree = cKDTree(target)
    angle = np.radians(t["angle_deg"]["parasternal"])
    for k in range(count):
        f = 1 - (k + 0.5) / count * 0.95
        start = upper.border(f, 0.0, -1.0)
        gap, near = tree.query(start)
        end = edge[near] - max(gap, t["least_gap_mm"] * MM) / np.tan(angle) / lower.length
        finish = lower.border(end, 0.0, 1.0)
        if end < 0.0 or np.linalg.norm(finish - start) < t["shortest_mm"] * MM * frame.scale:
            continue
        area = t["thickness_mm"]["parasternal"] * MM * frame.scale * upper.length * 0.95 / count * np.sin(angle)
        bundle.pair(
            "parasternal",
            (cartilage_body(upper.number), cartilage_body(lower.number)),
            (start, finish),
            area,
            f"parasternal {upper.number} at {f:.2f}",
        )


def seated(point: Floats, bodies: Bodies, name: str) -> Floats:
    """An attachment moved onto the bone it names, where it floats off it (tables and bones differ by millimetres)."""
    middle = name.startswith("=")
    vertices = bodies.meshes[bodies.index(name[1:] if middle else f"{name}_r")].vertices
    if middle and abs(point[2]) < 1e-9:
        vertices = vertices[np.abs(vertices[:, 2]) < table("muscles")["midline_mm"] * MM] * [1.0, 1.0, 0.0]
    distance, index = cKDTree(vertices).query(point)
    return point if distance < table("muscles")["float_mm"] * MM else vertices[index]


def spread(points: Floats, count: int) -> Floats:
    """Points spread evenly along a polyline of attachment; a single point is repeated."""
    points = np.atleast_2d(points)
    if len(points) == 1:
        return np.repeat(points, count, axis=0)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0, arc[-1], count)
    return np.stack([np.interp(at, arc, points[:, i]) for i in range(3)], -1)


def levators(bundle: Bundle, bodies: Bodies, ribs: list[Rib], frame: Frame) -> None:
    """Levatores costarum: from each transverse process (C7 to T11) to the rib below, medial to its angle."""
    t = table("muscles")["levator_costae"]
    for rib in ribs:
        if rib.number == 1:
            process, body = frame.table(t["c7_process"]), "=c4_c7"
        else:
            above = ribs[rib.number - 2]
            process, body = above.tubercle, f"={carrier_of_rib(above.number)}"
            process = process + np.array(t["off_tubercle_mm"]) * MM * frame.scale
        process = seated(process, bodies, body)
        for f in t["rib_at"]:
            area = t["area_cm2"] * 1e-4 * frame.scale**2 / len(t["rib_at"])
            label = f"levator costae {rib.number} at {f:.2f}"
            bundle.pair("levator_costae", (body, f"rib{rib.number}"), (process, rib.border(f, 1.0, 0.6)), area, label)


def attached(bundle: Bundle, bodies: Bodies, frame: Frame, ribs: list[Rib]) -> None:
    """Muscles of `data/muscles.json`, each part a fan of elements between two attachment lines."""
    scale = frame.scale**2
    for muscle in table("muscles")["muscles"]:
        parts = muscle["parts"]
        total = sum(part["count"] for part in parts)
        for part in parts:
            starts = spread(ends_of(part["from"], frame, ribs), part["count"])
            ends = spread(ends_of(part["to"], frame, ribs), part["count"])
            for i, (start, end) in enumerate(zip(starts, ends)):
                held = (body_at(part["from"], start, frame), body_at(part["to"], end, frame))
                start, end = (seated(p, bodies, name) for p, name in zip((start, end), held))
                area = muscle["area_cm2"] * 1e-4 * scale / total
                bundle.pair(muscle["group"], held, (start, end), area, f"{muscle['name']} {part['name']} {i + 1}")


def ends_of(end: dict[str, Any], frame: Frame, ribs: list[Rib]) -> Floats:
    """Attachment line [m] of one end: points of the table, or arcs of a rib's outer face."""
    if "rib" in end:
        rib = ribs[end["rib"] - 1]
        return rib.border(np.atleast_1d(end["at"]), end.get("across", 1.0), end.get("up", 0.0))
    return np.atleast_2d(frame.table(end["points"]))


def body_at(end: dict[str, Any], point: Floats, frame: Frame) -> str:
    """Body of an attachment; `=spine` means the section of the spine at that height."""
    if "rib" in end:
        return f"rib{end['rib']}"
    if end["body"] != "=spine":
        return str(end["body"])
    sections = table("trunk")["sections"]
    best = "pelvis"
    for name, joint in sorted(sections.items(), key=lambda item: item[1][1]):
        if point[1] > frame.table(joint)[1] - table("muscles")["spine_drop_mm"] * MM:
            best = name
    return f"={best}"


def build_lines(
    bodies: Bodies, ribs: list[Rib], cartilages: list[Cartilage], frame: Frame
) -> tuple[Bundle, list[tuple[int, int]], Floats]:
    """All straight elements, and the struts between ribs and cartilages and from rib to rib."""
    bundle = Bundle()
    for upper, lower in pairwise(ribs):
        for kind in ("external", "internal"):
            sheet(bundle, upper, lower, kind, frame)
    for upper_part, lower_part in pairwise(cartilages[:6]):
        parasternal(bundle, upper_part, lower_part, frame)
    levators(bundle, bodies, ribs, frame)
    attached(bundle, bodies, frame, ribs)
    pairs, points = struts(bodies, ribs, cartilages)
    spaces, middles = membranes(bodies, ribs)
    return bundle, pairs + spaces, np.concatenate([points, middles])


def struts(bodies: Bodies, ribs: list[Rib], cartilages: list[Cartilage]) -> tuple[list[tuple[int, int]], Floats]:
    """Six springs a joint between rib and cartilage (rib 1 and sternum): triangle to triangle, stiff all round."""
    inside = table("muscles")["strut_reach_mm"] * MM
    pairs, points = [], []
    t = np.radians([90.0, 210.0, 330.0])
    for rib, part in zip(ribs[:10], cartilages):
        if rib.number == 1:
            first, second, here, there = part, None, 1.0 - inside / part.length, 1.0
        else:
            first, second, here, there = rib, part, 1.0 - inside / rib.length, inside / part.length  # type: ignore[assignment]
        a = np.stack([first.border(here, np.cos(x), np.sin(x)) for x in t])
        if second is None:
            along = part.tangent[-1] * inside
            b = np.stack([first.border(there, np.cos(x), np.sin(x)) for x in t + np.pi / 3]) + along
        else:
            b = np.stack([second.border(there, np.cos(x), np.sin(x)) for x in t + np.pi / 3])
        names = (f"rib{rib.number}", "sternum" if second is None else cartilage_body(rib.number))
        for side, flip in (("_r", 1.0), ("_l", -1.0)):
            index = tuple(bodies.index(name if name == "sternum" else name + side) for name in names)
            for i in range(3):
                for j in (i, (i - 1) % 3):
                    pairs.append(index)
                    points.append([a[i] * [1, 1, flip], b[j] * [1, 1, flip]])
    return pairs, np.array(points)  # type: ignore[return-value]


def membranes(bodies: Bodies, ribs: list[Rib]) -> tuple[list[tuple[int, int]], Floats]:
    """One spring a space, from rib to rib where the space is widest out: the flesh between the ribs, which neither gapes
    nor folds, so that a rib takes its neighbours along."""
    pairs, points = [], []
    for upper, lower in pairwise(ribs):
        at = table("intercostal")["membrane_at"]
        ends = np.stack([upper.border(at, 0.0, -1.0), lower.border(at, 0.0, 1.0)])
        for side, flip in (("_r", 1.0), ("_l", -1.0)):
            pairs.append((bodies.index(f"rib{upper.number}{side}"), bodies.index(f"rib{lower.number}{side}")))
            points.append(ends * [1, 1, flip])
    return pairs, np.array(points)


def packed(bundle: Bundle, bodies: Bodies, groups: list[str]) -> Lines:
    """The elements as arrays."""
    place = {name: i for i, name in enumerate(bodies.names)}
    return Lines(
        np.array([groups.index(g) for g in bundle.group], np.int32),
        np.array([[place[a], place[b]] for a, b in bundle.body], np.int32),
        np.array(bundle.point),
        np.array(bundle.area),
        tuple(bundle.label),
    )
