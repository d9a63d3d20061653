"""Sternum and costal cartilages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import bar, joined, unit
from risorius.anatomy.torso.ribs import Rib
from risorius.core.torso import Floats, Mesh

BEND = 1.6
"""Length of the bend at the rib's end, in heights of the cartilage."""


@dataclass(frozen=True)
class Cartilage:
    """A right costal cartilage from its rib (fraction 0) to its medial end (1).

    Args:
        number: 1 to 10.
        fraction: (n,); centre, tangent, outward, upward: (n, 3) [m], units; height, thickness: (n,) [m].
        onward, face: (3,) tangent and outer normal of the rib where it ends, units.
    """

    number: int
    fraction: Floats
    centre: Floats
    tangent: Floats
    outward: Floats
    upward: Floats
    height: Floats
    thickness: Floats
    onward: Floats
    face: Floats

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.diff(self.centre, axis=0), axis=1).sum())

    def border(self, fraction: Floats | float, across: float, up: float) -> Floats:
        """Points of the surface: across = 1 outer face, −1 inner; up = 1 upper border, −1 lower border."""
        line = (
            self.centre
            + across * self.outward * (self.thickness / 2)[:, None]
            + up * self.upward * (self.height / 2)[:, None]
        )
        f = np.asarray(fraction, float)
        return np.stack([np.interp(f, self.fraction, line[:, i]) for i in range(3)], -1)

    def inner(self, fraction: Floats | float) -> Floats:
        """Points of the side that looks into the chest."""
        return self.border(fraction, -1.0, 0.0)

    def mesh(self, joins: Cartilage | None = None) -> Mesh:
        """The bar, which leaves the rib the way the rib runs; with `joins` it runs on into the cartilage above."""
        line, across = self.bent()
        thick, high = self.thickness / 2, self.height / 2
        if joins is not None:
            goal = joins.centre[np.argmin(np.linalg.norm(joins.centre - line[-1], axis=1))]
            line = np.concatenate([line[:-1], line[-1] + (goal - line[-1]) * np.array([[0.4], [0.8]])])
            last = np.array([-1, -1])
            across, thick, high = (np.concatenate([v[:-1], v[last]]) for v in (across, thick, high))
        tangent = unit(np.gradient(line, axis=0))
        tangent[0] = self.onward
        across = unit(across - (across * tangent).sum(-1, keepdims=True) * tangent)
        return bar(line, across, -unit(np.cross(across, tangent)), thick, high, 10)

    def bent(self) -> tuple[Floats, Floats]:
        """Centre line and outward side (n, 3) with the corner at the rib's end turned into an arc about as long as the
        cartilage is high (a cubic of Hermite)."""
        arc = self.fraction * self.length
        k = int(np.searchsorted(arc, min(BEND * self.height[0], 0.4 * arc[-1])))
        t = (arc[: k + 1] / arc[k])[:, None]
        first, last = self.onward * arc[k], self.tangent[k] * arc[k]
        line, across = self.centre.copy(), self.outward.copy()
        line[: k + 1] = (
            (1 + 2 * t) * (1 - t) ** 2 * line[0]
            + t * (1 - t) ** 2 * first
            + t**2 * (3 - 2 * t) * line[k]
            - t**2 * (1 - t) * last
        )
        across[: k + 1] = unit(self.face * (1 - t) + across[k] * t)
        return line, across


def build_cartilages(ribs: list[Rib], frame: Frame) -> list[Cartilage]:
    """The ten right cartilages, each from the costal end of its rib through its measured points."""
    t = table("trunk")
    sizes = t["cartilage_section"]
    forward = unit(np.array(t["sternum_normal"]))
    parts = []
    for number in range(1, 11):
        row, rib = t["cartilages"][str(number)], ribs[number - 1]
        knots = np.concatenate([rib.centre[-1:], frame.table(row["between"]), frame.table([row["medial"]])])
        arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
        curve = PchipInterpolator(arc / arc[-1], knots)
        fraction = np.linspace(0.0, 1.0, 21)
        centre = curve(fraction)
        for _ in range(8):
            centre[1:-1] = (centre[:-2] + 2 * centre[1:-1] + centre[2:]) / 4
        tangent = unit(np.gradient(centre, axis=0))
        turn = np.clip(fraction, 0, 1)[:, None]
        outward = rib.face[-1] * (1 - turn) + forward * turn
        outward = unit(outward - (outward * tangent).sum(-1, keepdims=True) * tangent)
        upward = unit(np.cross(outward, tangent))
        start = np.array([rib.height[-1], rib.thickness[-1]]) * sizes["start"]
        end = np.array([sizes["height"], sizes["thickness"]]) * MM * frame.scale
        if number >= 8:
            end = end * sizes["tip"]
        size = start + (end - start) * turn
        parts.append(
            Cartilage(
                number,
                fraction,
                centre,
                tangent,
                outward,
                upward,
                size[:, 0],
                size[:, 1],
                rib.tangent[-1],
                rib.face[-1],
            )
        )
    return parts


def sternum_back(frame: Frame, y: Floats | float) -> Floats:
    """Points of the midline on the back of the sternum at heights y [m] of the subject."""
    s = table("trunk")["sternum"]
    front = frame.table(
        [s[k] for k in ("xiphoid_tip_mm", "xiphisternal_joint_mm", "sternal_angle_mm", "jugular_notch_mm")]
    )
    thick = (
        np.array([4.0, s["thickness_body_mm"], s["thickness_body_mm"] + 2, s["thickness_manubrium_mm"]])
        * MM
        * frame.depth
    )
    y = np.asarray(y, float)
    x = np.interp(y, front[:, 1], front[:, 0]) - np.interp(y, front[:, 1], thick)
    return np.stack([x, y, np.zeros_like(x)], -1)


def sternum_mesh(frame: Frame) -> Mesh:
    """Manubrium, body and xiphoid: sections along the front midline, widths and thickness from the table."""
    s = table("trunk")["sternum"]
    profile = np.array(table("trunk")["sternum_profile"])
    names = ("jugular_notch_mm", "sternal_angle_mm", "xiphisternal_joint_mm", "xiphoid_tip_mm")
    corner = frame.table([s[name] for name in names])
    at = profile[:, 0]
    front = np.stack([np.interp(at, [0, 1, 2, 3], corner[:, i]) for i in range(3)], -1)
    for _ in range(2):
        front[1:-1] = (front[:-2] + 4 * front[1:-1] + front[2:]) / 6
    tangent = unit(np.gradient(front, axis=0))
    side = np.tile([0.0, 0.0, 1.0], (len(at), 1))
    outward = unit(np.cross(side, tangent))
    outward *= np.sign(outward[:, :1])
    half_width = profile[:, 1] / 2 * MM * frame.chest
    half_depth = profile[:, 2] / 2 * MM * frame.depth
    onward = np.cross(outward, side)
    side = side * np.sign((onward * tangent).sum(-1))[:, None]
    return bar(front - outward * half_depth[:, None], outward, side, half_depth, half_width, 14)


def cartilage_meshes(parts: list[Cartilage]) -> dict[str, Mesh]:
    """Body name (right) -> mesh; 6 to 10 are one comb."""
    out = {f"cartilage{part.number}": part.mesh() for part in parts[1:5]}
    out["cartilage_lower"] = joined([p.mesh(above if p.number >= 8 else None) for above, p in pairwise(parts[4:])])
    return out
