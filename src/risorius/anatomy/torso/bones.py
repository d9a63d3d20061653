"""Bones other than ribs, cartilages and sternum: meshes of `myo_sim` laid on the subject's landmarks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline

from risorius.anatomy.tables import MM, metres, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import bar, joined, mesh, mirrored, unit
from risorius.anatomy.torso.stl import bone
from risorius.core.torso import Floats, Mesh

SECTIONS = {
    "c1_c3": ("C1", "C2", "C3"),
    "c4_c7": ("C4", "C5", "C6", "C7"),
    "t1_t4": ("T1", "T2", "T3", "T4"),
    "t5_t8": ("T5", "T6", "T7", "T8"),
    "t9_t12": ("T9", "T10", "T11", "T12"),
    "l1_l3": ("L1", "L2", "L3"),
    "l4_l5": ("L4", "L5"),
}


def moved(part: Mesh, place: Callable[[Floats], Floats]) -> Mesh:
    """A mesh with its vertices sent elsewhere."""
    return mesh(place(part.vertices), part.faces)


def tilt(angle: float) -> Floats:
    """Rotation about z [rad]; positive lifts the front edge."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def vertebra(name: str) -> Mesh:
    """A vertebra in the frame of the tables: its body gets the table's centre, tilt and size.

    The body alone takes the table's width; arch and processes keep their own breadth, so that the transverse
    processes reach the tubercles of the ribs.
    """
    own, here = table("bones")["vertebrae"][name], table("trunk")["vertebrae"][name]
    part = bone(own["mesh"], own["part"] if own["mesh"] == "hat_cervical" else -1)
    local = part.vertices - metres(own["centre"])
    local = local @ tilt(-np.radians(own["tilt_deg"])).T
    if own["depth"] is None:
        local = local * np.array(table("bones")["cervical_scale"])
    else:
        back = -0.5 * own["depth"] * MM
        body = np.clip((local[:, 0] - back + 4 * MM) / (6 * MM), 0.0, 1.0)
        wide = body * here["width"] / own["width"] + (1 - body)
        deep = np.where(local[:, 0] > back, here["depth"] / own["depth"], 1.0)
        x = np.where(local[:, 0] > back, local[:, 0] * deep, local[:, 0] - back + back * here["depth"] / own["depth"])
        local = np.stack([x, local[:, 1] * here["height"] / own["height"], local[:, 2] * wide], -1)
    turned = local @ tilt(np.radians(here["tilt_deg"] or 0.0)).T
    return mesh(turned + metres(here["centre"]), part.faces)


def disc(upper: str, lower: str) -> Mesh:
    """The disc between two vertebrae, in the frame of the tables."""
    rows = [table("trunk")["vertebrae"][name] for name in (upper, lower)]
    ends = []
    for row, end in zip(rows, (-0.5, 0.5)):
        turn = tilt(np.radians(row["tilt_deg"] or 0.0))
        ends.append((metres(row["centre"]) + turn @ np.array([0.0, end * row["height"] * MM * 1.05, 0.0]), turn, row))
    at = np.linspace(0.0, 1.0, 4)[:, None]
    centre = ends[1][0] + (ends[0][0] - ends[1][0]) * at
    front = unit(ends[1][1][:, 0] + (ends[0][1][:, 0] - ends[1][1][:, 0]) * at)
    size = {k: np.array([row[k] for _, _, row in ends if row[k]]).mean() * MM / 2 * 0.97 for k in ("depth", "width")}
    side = np.tile([0.0, 0.0, 1.0], (4, 1))
    bulge = np.array([0.96, 1.0, 1.0, 0.96])
    return bar(centre, side, front, size["width"] * bulge, size["depth"] * bulge, 14)


def spine(names: tuple[str, ...], discs: list[tuple[str, str]]) -> Mesh:
    """Vertebrae and discs of a section."""
    return joined([vertebra(name) for name in names] + [disc(*pair) for pair in discs])


def carried(source: Floats, target: Floats) -> Callable[[Floats], Floats]:
    """Similarity that carries landmarks onto landmarks with least squares (Umeyama 1991)."""
    a, b = source.mean(axis=0), target.mean(axis=0)
    u, s, vt = np.linalg.svd((target - b).T @ (source - a))
    sign = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = u @ sign @ vt
    scale = (s * np.diag(sign)).sum() / ((source - a) ** 2).sum()
    return lambda p: (p - a) @ rotation.T * scale + b


def along(start: Floats, end: Floats, source: Floats) -> Callable[[Floats], Floats]:
    """Turn the vector `source` onto end − start by the shortest way and scale it to that length."""
    target = end - start
    a, b = unit(source), unit(target)
    v, c = np.cross(a, b), float(a @ b)
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    rotation = np.eye(3) + k + k @ k / (1 + c)
    scale = np.linalg.norm(target) / np.linalg.norm(source)
    return lambda p: p @ rotation.T * scale + start


def clavicle() -> Mesh:
    """A bar along the measured centre line from sternum to acromion, stout at the sternum, flat at the shoulder."""
    t = table("bones")["clavicle"]
    points = metres([t["ends"][0], *table("trunk")["clavicle"][1:-1], t["ends"][1]])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]) / 1.0
    curve = make_interp_spline(arc / arc[-1], points, 3)
    at = np.linspace(0.0, 1.0, 22)
    tangent = unit(curve.derivative()(at))
    up = unit(np.array([0.0, 1.0, 0.0]) - tangent[:, 1:2] * tangent)
    across = np.cross(up, tangent)
    knots = np.linspace(0, 1, len(t["half_across"]))
    ends = np.sqrt(np.clip(1 - (2 * at - 1) ** 16, 0.2, 1))
    half = [np.interp(at, knots, np.array(t[k], float)) * MM * ends for k in ("half_across", "half_along")]
    return bar(curve(at), across, -up, half[0], half[1], 12)


def pelvis() -> Mesh:
    """Both hip bones and the sacrum, in the frame of the tables."""
    t = table("bones")
    levels, breadth = np.array(t["pelvis"]["levels"], float) * MM, np.array(t["pelvis"]["breadth"], float)
    right = bone(t["pelvis"]["mesh"])
    y = right.vertices[:, 1]
    wide = np.interp(y, breadth[:, 0] * MM, breadth[:, 1])
    right = mesh(
        np.stack([right.vertices[:, 0], np.interp(y, levels[:, 0], levels[:, 1]), right.vertices[:, 2] * wide], -1),
        right.faces,
    )
    s, here = t["sacrum"], table("trunk")["sacral_endplate"]
    turn = tilt(np.radians(here["slope_deg"] - s["slope_deg"]))

    def place(p: Floats) -> Floats:
        return ((p - metres(s["endplate"])) * np.array(s["scale"])) @ turn.T + metres(here["centre"])

    return joined([right, mirrored(right), moved(bone(s["mesh"]), place), disc_below()])


def disc_below() -> Mesh:
    """The disc between L5 and the sacrum."""
    row, here = table("trunk")["vertebrae"]["L5"], table("trunk")["sacral_endplate"]
    turn = tilt(np.radians(row["tilt_deg"]))
    upper = metres(row["centre"]) - turn @ np.array([0.0, row["height"] / 2 * MM, 0.0])
    lower = metres(here["centre"])
    at = np.linspace(0.05, 0.95, 4)[:, None]
    front = np.tile(turn[:, 0], (4, 1))
    half = np.full(4, 0.48)
    side = np.tile([0.0, 0.0, 1.0], (4, 1))
    return bar(lower + (upper - lower) * at, side, front, half * row["width"] * MM, half * row["depth"] * MM, 14)


def shoulder_blade() -> Mesh:
    """The scapula on its landmarks, in the frame of the tables."""
    t, here = table("bones")["scapula"], table("trunk")["scapula"]
    names = list(t["landmarks"])
    source = metres([t["landmarks"][name] for name in names]) - metres(t["origin"])
    return moved(bone(t["mesh"]), carried(source, metres([here[name] for name in names])))


def bone_meshes(frame: Frame) -> dict[str, Mesh]:
    """Meshes by body name, right side where there are two, in the subject."""
    t: Any = table("bones")
    j = {name: metres(point) for name, point in table("trunk")["joints"].items()}
    out = {}
    order = [name for names in SECTIONS.values() for name in names]
    for body, names in SECTIONS.items():
        discs = [(a, b) for a, b in pairwise(order) if a in names and a not in ("C1",)]
        out[body] = spine(names, discs)
    head = metres(table("trunk")["atlanto_occipital"])
    skull = joined([bone(name) for name in t["skull"]["meshes"]])
    out["skull"] = moved(skull, lambda p: (p - metres(t["skull"]["joint"])) * t["skull"]["scale"] + head)
    out["pelvis"] = pelvis()
    out["girdle"] = joined([clavicle(), shoulder_blade()])
    arm = along(j["glenohumeral"], j["elbow"], metres(t["humerus"]["to"]))
    out["upper_arm"] = moved(bone(t["humerus"]["mesh"]), arm)
    lower = along(j["elbow"], j["wrist"], metres(t["forearm"]["to"]))
    parts = [bone(name) for name in t["forearm"]["meshes"]]
    shifts = [metres(shift) for shift in t["forearm"]["meshes"].values()]
    out["lower_arm"] = joined([mesh(lower(part.vertices + d), part.faces) for part, d in zip(parts, shifts)])
    return {name: moved(part, frame.points) for name, part in out.items()}
