"""The abdominal wall from the costal margin to the pelvis, its back on the spine, and the pelvic floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.cage import Cage, Net, Row
from risorius.anatomy.torso.diaphragm import full_loop
from risorius.anatomy.torso.frame import Frame
from risorius.core.spec import Spec
from risorius.core.torso import Floats


@dataclass(frozen=True)
class Wall:
    """`rows` of full loops from the insertion (0) to the pelvis; `floor` rings inward; `free` columns of the half."""

    rows: list[Row]
    floor: list[Row]
    free: int


def outline(y: Floats, angle: Floats, spec: Spec, frame: Frame) -> Floats:
    """Points of the wall at heights y [m] and angles [rad] (0 front, π/2 side, π back): quarters of superellipses."""
    t, w = table("trunk"), table("wall")
    alba = np.array(t["linea_alba"], float)[::-1] * MM
    level = np.array([[c["y"], c["breadth"]] for c in t["cavity"]], float)[::-1] * MM
    ref = y / frame.height
    belly = np.interp(ref, *(np.array(w["belly_profile"], float).T * [[MM], [1.0]]))
    extra = spec.bmi - w["sex"][spec.sex]["reference_bmi"]
    forward = w["sex"][spec.sex]["front_mm_per_bmi"] * MM * extra * belly
    sideward = w["sex"][spec.sex]["side_mm_per_bmi"] * MM * extra * belly
    front = np.interp(ref, alba[:, 1], alba[:, 0]) * frame.depth + forward * frame.scale
    half = (
        np.interp(ref, level[:, 0], level[:, 1]) / 2 * frame.breadth(ref) * w["sex"][spec.sex]["waist"]
        + sideward * frame.scale
    )
    middle = w["middle"] * MM * frame.depth
    reach = np.where(angle < np.pi / 2, front - middle, w["back"] * MM * frame.depth + middle)
    power = 2 / w["squareness"]
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([middle + np.sign(c) * np.abs(c) ** power * reach, y, np.abs(s) ** power * half], -1)


def angle_at(points: Floats, spec: Spec, frame: Frame) -> Floats:
    """The outline's angle [rad] whose direction from the middle is that of each point."""
    trial = np.linspace(0.0, np.pi, 721)
    found = []
    for p in points:
        ring = outline(np.full_like(trial, p[1]), trial, spec, frame)
        want = np.arctan2(p[2], p[0] - table("wall")["middle"] * MM * frame.depth)
        have = np.arctan2(ring[:, 2], ring[:, 0] - table("wall")["middle"] * MM * frame.depth)
        found.append(trial[int(np.argmin(np.abs(have - want)))])
    return np.array(found)


def build_wall(net: Net, cage: Cage, spec: Spec, frame: Frame) -> Wall:
    """Add wall, back and floor to the net."""
    w = table("wall")
    top = np.array(net.points)[cage.loop]
    bottom = frame.table(w["pelvis"])
    count, free = w["rows"], w["free_columns"]
    joints = {k: frame.table(v)[1] for k, v in table("trunk")["sections"].items()}
    upper, lower = angle_at(top, spec, frame), angle_at(bottom, spec, frame)
    shift_top = top - outline(top[:, 1], upper, spec, frame)
    shift_bottom = bottom - outline(bottom[:, 1], lower, spec, frame)
    rows = [full_loop(net, cage.loop)]
    for k in range(1, count):
        v = k / count
        y = top[:, 1] + (bottom[:, 1] - top[:, 1]) * v
        ease = v * v * (3 - 2 * v)
        shape = outline(y, upper + (lower - upper) * v, spec, frame)
        bulged = (
            shape + shift_top * (1 - ease)[..., None] * (1 - v) + shift_bottom * ease * v
            if False
            else (shape + shift_top * (1 - v) ** 2 + shift_bottom * v**2)
        )
        straight = top + (bottom - top) * v
        blend = np.clip((np.arange(len(top)) - (free - 2)) / 2, 0, 1)[:, None]
        points = bulged * (1 - blend) + straight * blend
        points[[0, -1], 2] = 0.0
        row = []
        for i, p in enumerate(points):
            body = "" if i < free else carrier(p[1], joints)
            region = "wall" if i < free else "back"
            single = i in (0, len(points) - 1)
            row.append(net.single(p, body, region) if single else net.pair(p, f"={body}" if body else "", region))
        rows.append(full_loop(net, row))
    row = [net.single(bottom[0], "pelvis", "wall")]
    row += [net.pair(p, "=pelvis", "wall" if i + 1 < free else "back") for i, p in enumerate(bottom[1:-1])]
    row += [net.single(bottom[-1], "pelvis", "back")]
    rows.append(full_loop(net, row))
    return Wall(rows, build_floor(net, frame), free)


def carrier(y: float, joints: dict[str, float]) -> str:
    """Body of the lumbar spine at a height."""
    return "l1_l3" if y > joints["l1_l3"] else "l4_l5" if y > joints["l4_l5"] else "pelvis"


def build_floor(net: Net, frame: Frame) -> list[Row]:
    """Iliac fossae and pelvic floor: rings inside the pelvis."""
    rings: list[Row] = []
    for half in table("wall")["floor"]:
        points = frame.table(half)
        if len(points) == 1:
            rings.append([net.single(points[0], "pelvis", "floor")])
            continue
        row = [net.single(points[0], "pelvis", "floor")]
        row += [net.pair(p, "=pelvis", "floor") for p in points[1:-1]]
        rings.append(full_loop(net, [*row, net.single(points[-1], "pelvis", "floor")]))
    return rings
