"""Named points that signals, reports and other rooms ask for."""

from __future__ import annotations

import numpy as np

from risorius.anatomy.tables import table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.front import Cartilage
from risorius.anatomy.torso.ribs import Rib
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Floats, Mesh, Surface


def build_landmarks(
    spec: Spec, frame: Frame, ribs: list[Rib], cartilages: list[Cartilage], bodies: Bodies, surface: Surface, skin: Mesh
) -> dict[str, Floats]:
    """Points at rest [m]; `tissue_volume` is one number [m³]."""
    t = table("trunk")
    out: dict[str, Floats] = {}

    def both(name: str, point: Floats) -> None:
        out[f"{name}_r"] = point
        out[f"{name}_l"] = point * [1.0, 1.0, -1.0]

    s = {
        name.removesuffix("_mm"): frame.table(t["sternum"][name])
        for name in t["sternum"]
        if name.endswith("_mm") and isinstance(t["sternum"][name], list) and len(t["sternum"][name]) == 3
    }
    out |= s
    out["sternum_mid"] = (s["sternal_angle"] + s["xiphisternal_joint"]) / 2
    out["xiphoid"] = s["xiphisternal_joint"]
    for name in ("sternoclavicular", "acromioclavicular", "glenohumeral", "elbow", "wrist"):
        both(name, frame.table(t["joints"][name]))
    out["atlanto_occipital"] = frame.table(t["atlanto_occipital"])
    for number in (3, 5):
        both(f"cartilage{number}", cartilages[number - 1].border(0.5, 1.0, 0.0))
    for rib in ribs:
        lateral = int(np.argmax(rib.centre[:, 2]))
        both(f"rib{rib.number}_lateral", rib.border(rib.fraction[lateral], 1.0, 0.0))
    both("costal_margin", cartilages[9].centre[int(np.argmin(cartilages[9].centre[:, 1]))])
    out["level_rib4"] = np.array([0.0, cartilages[3].centre[0, 1], 0.0])
    out["level_xiphoid"] = np.array([0.0, s["xiphisternal_joint"][1], 0.0])
    dome = surface.region == surface.regions.index("tendon")
    for name, side in (("dome_right", 1.0), ("dome_left", -1.0)):
        here = np.flatnonzero(dome & (surface.points[:, 2] * side > 0))
        out[name] = surface.points[here[np.argmax(surface.points[here, 1])]]
    wall = np.flatnonzero((surface.region == surface.regions.index("wall")) & (np.abs(surface.points[:, 2]) < 1e-9))
    level = frame.table([0, table("landmarks")["umbilicus_mm"], 0])[1]
    order = wall[np.argsort(surface.points[wall, 1])]
    y = surface.points[order, 1]
    out["umbilicus"] = np.array([np.interp(level, y, surface.points[order, 0]), level, 0.0])
    out["umbilicus_surface_point"] = surface.points[order[np.argmin(np.abs(y - level))]]
    near = skin.vertices[np.argmin(np.linalg.norm(skin.vertices - out["umbilicus"] - [0.03, 0, 0], axis=1))]
    out["umbilicus_skin"] = near * [1.0, 1.0, 0.0]
    lung = table("landmarks")["tissue_volume"]
    size = (spec.stature / lung["reference_stature_m"]) ** lung["power_of_stature"]
    out["tissue_volume"] = np.array(lung["sex_litre"][spec.sex] * size * 1e-3)
    return out
