"""Ribs: log-spirals of the sex, bent a little to pass through the measured ribs, with their real section."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial import cKDTree

from risorius.anatomy.tables import MM, metres, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import bar, unit
from risorius.anatomy.torso.spiral import mean_shape, placed, planar
from risorius.core.spec import Spec
from risorius.core.torso import Floats, Mesh

STATIONS = 41
TIP = 0.92
"""Where a free rib's end begins to round off, as a part of its arc."""


@dataclass(frozen=True)
class Rib:
    """The right rib of a level, sampled evenly along its arc from head (0) to costal end (1).

    Args:
        number: 1 to 12.
        fraction: (n,) of the arc.
        centre, tangent: (n, 3) [m], unit.
        outward: (n, 3) unit normal of the chest wall.
        face: (n, 3) unit normal of the rib's outer face (rolls upward on ribs 1 and 2).
        height, thickness: (n,) [m] of the section.
        length: [m] of the arc.
        head, tubercle: [m].
        axis: unit vector of the hinge from head to tubercle.
    """

    number: int
    fraction: Floats
    centre: Floats
    tangent: Floats
    outward: Floats
    face: Floats
    height: Floats
    thickness: Floats
    length: float
    head: Floats
    tubercle: Floats
    axis: Floats

    @property
    def upward(self) -> Floats:
        """(n, 3) direction of the rib's height, towards its upper border."""
        return unit(np.cross(self.face, self.tangent))

    def pick(self, values: Floats, fraction: Floats | float) -> Floats:
        """Interpolate an array along the rib."""
        f = np.asarray(fraction, float)
        if values.ndim == 1:
            return np.interp(f, self.fraction, values)
        return np.stack([np.interp(f, self.fraction, values[:, i]) for i in range(values.shape[1])], -1)

    def border(self, fraction: Floats | float, across: float, up: float) -> Floats:
        """Points of the surface: across = 1 outer face, −1 inner face; up = 1 upper border, −1 lower border."""
        return (
            self.pick(self.centre, fraction)
            + self.pick(self.face * (self.thickness / 2)[:, None], fraction) * across
            + self.pick(self.upward * (self.height / 2)[:, None], fraction) * up
        )

    def inner(self, fraction: Floats | float) -> Floats:
        """Points of the side that looks into the chest."""
        reach = np.abs((self.outward * self.face).sum(-1)) * self.thickness / 2
        reach = np.maximum(reach, np.abs((self.outward * self.upward).sum(-1)) * self.height / 2)
        return self.pick(self.centre - self.outward * reach[:, None], fraction)

    def mesh(self) -> Mesh:
        """The bar; ribs that end free have a round tip."""
        part = np.clip((self.fraction - TIP) / (1.0 - TIP), 0.0, 1.0) if self.number > 10 else np.zeros(STATIONS)
        half = 0.5 * np.sqrt(1.0 - 0.9 * part**2)
        return bar(self.centre, self.face, -self.upward, self.thickness * half, self.height * half, 10)


def carrier_of_rib(number: int) -> str:
    """Section of the spine whose vertebra carries a rib."""
    return "t1_t4" if number <= 4 else "t5_t8" if number <= 8 else "t9_t12"


def reference_line(number: int, sex: str, fraction: Floats) -> Floats:
    """Centre line [m] in the frame of the tables: spiral plus the smooth bend to the measured points.

    The plane of the mean spiral misses a real rib by 3 to 7 mm (twist); the bend is what is left at eleven measured
    points, smoothed by a polynomial of degree five that is exact at both ends. A woman's rib is the same placed span
    with her sex's own spiral in it.
    """
    row = table("ribs")["ribs"][str(number)]
    angles = [np.radians(row[name]) for name in ("pump_handle_deg", "lateral_swing_deg", "bucket_handle_deg")]
    start, span = metres(row["spiral_start"]), row["span"] * MM
    coarse = np.linspace(0.0, 1.0, 11)
    male = mean_shape("male", number)
    measured = metres(row["centreline"])
    bend = measured - (start + placed(planar(male, coarse) * span, *angles))
    straight = bend[0] + coarse[:, None] * (bend[-1] - bend[0])
    basis = np.stack([coarse**k * (1 - coarse) for k in range(1, 5)], -1)
    weights, *_ = np.linalg.lstsq(basis, bend - straight, rcond=None)
    fine = np.stack([fraction**k * (1 - fraction) for k in range(1, 5)], -1)
    shape = mean_shape(sex, number)
    line = start + placed(planar(shape, fraction) * span, *angles)
    return line + bend[0] + fraction[:, None] * (bend[-1] - bend[0]) + fine @ weights


def section(number: int, fraction: Floats) -> tuple[Floats, Floats]:
    """Height and thickness [m] along the rib: measured at 20, 50 and 80 %; head, neck and tubercle at its back."""
    t = table("ribs")
    row, ends = t["ribs"][str(number)]["section"], t["head_and_neck"]
    at = [0.0, ends["neck_at"], ends["tubercle_at"], 0.2, 0.5, 0.8, 1.0]
    sizes = []
    for i in (0, 1):
        a, b, c = (row[p][i] for p in ("20", "50", "80"))
        sizes.append(np.interp(fraction, at, [*(s * a for s in ends["of_section_at_20"][i]), a, b, c, c]) * MM)
    return sizes[0], sizes[1]


def hinge(number: int) -> Floats:
    """Unit vector of the costovertebral axis from head to tubercle (right side, frame of the tables)."""
    row = table("ribs")["ribs"][str(number)]
    plane, lift = np.radians(row["axis_to_midplane_deg"]), np.radians(row["axis_elevation_deg"])
    return np.array([-np.cos(plane) * np.cos(lift), np.sin(lift), np.sin(plane) * np.cos(lift)])


def build_ribs(spec: Spec, frame: Frame) -> list[Rib]:
    """The twelve right ribs."""
    fine = np.linspace(0.0, 1.0, 401)
    ribs = []
    for number in range(1, 13):
        line = frame.points(reference_line(number, spec.sex, fine))
        arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        spline = make_interp_spline(arc / arc[-1], line, 3)
        fraction = np.linspace(0.0, 1.0, STATIONS)
        centre = spline(fraction)
        tangent = unit(spline.derivative()(fraction))
        height, thickness = section(number, fraction)
        row = table("ribs")["ribs"][str(number)]
        head = frame.table(row["head"])
        axis = unit(frame.points(hinge(number)))
        tubercle = frame.table(row["tubercle"]) if row["tubercle"] else head + axis * (0.02 * frame.scale)
        blank = np.zeros_like(centre)
        ribs.append(
            Rib(number, fraction, centre, tangent, blank, blank, height * frame.scale, thickness * frame.scale,
                float(arc[-1]), head, tubercle, axis)
        )  # fmt: skip
    return [oriented(ribs, i) for i in range(12)]


def oriented(ribs: list[Rib], i: int) -> Rib:
    """Give a rib the chest wall's normals: the wall runs down from the rib above to the rib below."""
    rib = ribs[i]

    def nearest(other: Rib) -> Floats:
        return other.centre[cKDTree(other.centre).query(rib.centre)[1]]

    above = nearest(ribs[i - 1]) if i > 0 else rib.centre
    below = nearest(ribs[i + 1]) if i < 11 else rib.centre
    down = below - above
    down -= (down * rib.tangent).sum(-1, keepdims=True) * rib.tangent
    outward = smooth(unit(np.cross(unit(down), rib.tangent)))
    outward = unit(outward - (outward * rib.tangent).sum(-1, keepdims=True) * rib.tangent)
    roll = np.radians(np.interp(rib.number, *table("ribs")["roll_deg"]))
    up = unit(np.cross(outward, rib.tangent))
    return replace(rib, outward=outward, face=unit(outward * np.cos(roll) + up * np.sin(roll)))


def smooth(values: Floats, passes: int = 6) -> Floats:
    """Running mean of three along the rib, ends kept free."""
    for _ in range(passes):
        padded = np.concatenate([values[:1], values, values[-1:]])
        values = (padded[:-2] + 2 * values + padded[2:]) / 4
    return values
