"""Bones other than ribs, cartilages and sternum."""

from __future__ import annotations

import numpy as np

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import bar, ellipsoid, joined, unit
from risorius.core.spec import Spec
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


def vertebra(name: str, frame: Frame) -> Mesh:
    """Body of a vertebra as a short elliptic drum with a spinous process."""
    v = table("trunk")["vertebrae"][name]
    tilt = np.radians(v["tilt_deg"] or 0.0)
    up = np.array([-np.sin(tilt), np.cos(tilt), 0.0])
    front = np.array([np.cos(tilt), np.sin(tilt), 0.0])
    side = np.array([0.0, 0.0, 1.0])
    centre = frame.table(v["centre"])
    height = v["height"] * MM * frame.height
    at = np.linspace(-0.5, 0.5, 3)
    depth = min(v["depth"], 40) * MM * frame.depth
    width = min(v["width"] or 20, 50) * MM * frame.chest
    body = bar(
        centre + at[:, None] * height * up, np.tile(side, (3, 1)), np.tile(front, (3, 1)),
        np.full(3, width / 2), np.full(3, depth / 2), 12,
    )  # fmt: skip
    process = rod(centre - front * depth * 0.5, centre - front * (depth * 0.5 + 0.03 * frame.scale) - up * 0.012, 0.004)
    return joined([body, process])


def rod(start: Floats, end: Floats, radius: float | Floats, sides: int = 8) -> Mesh:
    """A round bar with rounded ends."""
    along = unit(end - start)
    across = unit(np.cross(along, [0.3, 0.2, 0.9]))
    other = np.cross(along, across)
    at = np.linspace(0, 1, 9)
    r = np.asarray(radius) * np.sqrt(np.clip(1 - (2 * at - 1) ** 8, 0.05, 1))
    n = len(at)
    return bar(start + at[:, None] * (end - start), np.tile(across, (n, 1)), np.tile(other, (n, 1)), r, r, sides)


def bone_meshes(spec: Spec, frame: Frame) -> dict[str, Mesh]:
    """Meshes by body name, right side where there are two."""
    t = table("trunk")
    out = {name: joined([vertebra(v, frame) for v in parts]) for name, parts in SECTIONS.items()}
    p = frame.table
    head = p(t["atlanto_occipital"])
    out["skull"] = ellipsoid(
        head + np.array([0.018, 0.07, 0.0]) * frame.scale, np.array([0.09, 0.08, 0.072]) * frame.scale
    )
    out["pelvis"] = ellipsoid(p([-70, -20, 0]), np.array([0.06, 0.07, 0.1]) * frame.scale)
    clavicle = p(t["clavicle"])
    s = {k: p(v) for k, v in t["scapula"].items()}
    j = {k: p(v) for k, v in t["joints"].items()}
    parts = [rod(a, b, 0.006 * frame.scale) for a, b in zip(clavicle[:-1], clavicle[1:])]
    edges = ("superior_angle", "root_of_spine", "inferior_angle", "glenoid_centre", "superior_angle")
    parts += [rod(s[a], s[b], 0.004 * frame.scale) for a, b in zip(edges[:-1], edges[1:])]
    parts += [rod(s["root_of_spine"], s["acromion_lateral"], 0.005 * frame.scale)]
    parts += [rod(s["glenoid_centre"], s["coracoid_tip"], 0.005 * frame.scale)]
    out["girdle"] = joined(parts)
    out["upper_arm"] = rod(j["glenohumeral"], j["elbow"], 0.013 * frame.scale)
    out["lower_arm"] = rod(j["elbow"], j["wrist"], 0.011 * frame.scale)
    return out
