"""The inside of the rib cage as a net of points, each carried by one bone, and the diaphragm's insertion line."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.front import Cartilage, sternum_back
from risorius.anatomy.torso.ribs import Rib, carrier_of_rib
from risorius.core.torso import Floats

Row = list[int]


@dataclass
class Net:
    """Points gathered one by one; `twin` is the mirror image of each (itself on the midline).

    A body name without side stands on the right as `name_r`, on the left as `name_l`; a leading `=` marks a body of the
    midline.
    """

    points: list[Floats] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    region: list[str] = field(default_factory=list)
    twin: list[int] = field(default_factory=list)

    def pair(self, point: Floats, body: str, region: str) -> int:
        """Add a right point and its mirror image; returns the right one's index."""
        i = len(self.points)
        right, left = (body[1:], body[1:]) if body.startswith("=") else (f"{body}_r", f"{body}_l")
        if body == "":
            right = left = ""
        self.points += [np.asarray(point, float), point * np.array([1.0, 1.0, -1.0])]
        self.body += [right, left]
        self.region += [region, region]
        self.twin += [i + 1, i]
        return i

    def single(self, point: Floats, body: str, region: str, twin: int | None = None) -> int:
        """Add a point of the midline, or any point without a mirror image."""
        i = len(self.points)
        self.points.append(np.asarray(point, float))
        self.body.append(body.removeprefix("="))
        self.region.append(region)
        self.twin.append(i if twin is None else twin)
        return i

    def left(self, row: Row) -> Row:
        """The mirror image of a row."""
        return [self.twin[i] for i in row]


@dataclass(frozen=True)
class Cage:
    """Rows of the right half from back to front, one a rib; `loop` is the insertion line, front midline to back."""

    rows: list[Row]
    strips: list[tuple[Row, Row]]
    loop: Row


def build_cage(net: Net, ribs: list[Rib], cartilages: list[Cartilage], frame: Frame) -> Cage:
    """Rows along every rib and its cartilage, down to the insertion line of the diaphragm."""
    insertion = {name: frame.table(point) for name, point in table("trunk")["insertion"].items()}
    lower = "cartilage_lower"

    def mark(name: str, body: str = lower) -> int:
        return net.pair(insertion[name], body, "insertion")

    def along(part: Cartilage, fractions: list[float], region: str = "insertion") -> list[int]:
        return [net.pair(part.inner(f), lower, region) for f in fractions]

    xiphoid = net.single(insertion["xiphoid, posterior surface"], "sternum", "insertion")
    seven_high = mark("cartilage 7, 15 % from sternum")
    seven_low = mark("cartilage 7, 45 % from sternum")
    seven_eight = mark("cartilage 7/8 junction")
    (eight,) = along(cartilages[7], [0.75])
    eight_nine = mark("cartilage 8/9 junction")
    (nine,) = along(cartilages[8], [0.75])
    nine_ten = mark("cartilage 9/10 junction")
    ten = mark("cartilage 10, mid")
    ten_end = net.pair(ribs[9].inner(1.0), "rib10", "insertion")
    eleven_tip = net.pair(ribs[10].inner(1.0), "rib11", "insertion")
    between = net.pair((ribs[10].inner(1.0) + ribs[11].inner(1.0)) / 2, "rib11", "insertion")
    twelve_tip, twelve_far, twelve_mid = (net.pair(ribs[11].inner(f), "rib12", "insertion") for f in (1.0, 0.75, 0.5))
    process = mark("L1 transverse process tip (lateral/medial arcuate lig. meet)", "=l1_l3")
    side = mark("L1/L2 body side (medial end of medial arcuate lig.)", "=l1_l3")
    crus_point = (insertion["right crus, front of L3"] + insertion["right crus, front of L2"]) / 2
    crus = net.pair(crus_point, "=l1_l3", "insertion")
    middle = net.single(crus_point * [1.0, 1.0, 0.0], "l1_l3", "insertion")
    loop = [xiphoid, seven_high, seven_low, seven_eight, eight, eight_nine, nine, nine_ten, ten, ten_end, eleven_tip,
            between, twelve_tip, twelve_far, twelve_mid, process, side, crus, middle]  # fmt: skip

    rows = [back_row(net, rib, frame) for rib in ribs]
    for k in range(6):  # ribs 1 to 6 reach the sternum
        part = cartilages[k]
        count = max(1, round(part.length / (28 * MM)))
        carrier = "rib1" if k == 0 else f"cartilage{k + 1}" if k < 5 else lower
        rows[k] += [net.pair(part.inner(f), carrier, "ribcage") for f in np.linspace(0, 1, count + 1)[1:-1]]
        end = part.inner(1.0)
        rows[k] += [net.pair(end, "=sternum", "ribcage")]
        rows[k] += [net.single(sternum_back(frame, end[1]), "sternum", "ribcage")]
    rows[6] += [*along(cartilages[6], [0.25], "ribcage"), seven_eight, seven_low, seven_high, xiphoid]
    rows[7] += [*along(cartilages[7], [0.25], "ribcage"), eight_nine, eight, seven_eight]
    rows[8] += [*along(cartilages[8], [0.3], "ribcage"), nine_ten, nine, eight_nine]
    rows[9] += [ten_end, ten, nine_ten]
    rows[10] += [eleven_tip, between]
    rows[11] += [twelve_mid, twelve_far, twelve_tip]

    def until(row: Row, last: int) -> Row:
        return row[: row.index(last) + 1]

    strips = [(rows[k], rows[k + 1]) for k in range(6)]
    strips += [(until(rows[6], seven_eight), rows[7]), (until(rows[7], eight_nine), rows[8])]
    strips += [(until(rows[8], nine_ten), rows[9]), (until(rows[9], ten_end), until(rows[10], eleven_tip))]
    strips += [(rows[10], rows[11]), (until(rows[11], twelve_mid), [middle, crus, side, process, twelve_mid])]
    return Cage(rows, strips, loop)


def back_row(net: Net, rib: Rib, frame: Frame) -> Row:
    """Midline and side of the vertebra, then the inner face of the rib."""
    v = table("trunk")["vertebrae"][f"T{rib.number}"]
    centre, tilt = frame.table(v["centre"]), np.radians(v["tilt_deg"])
    lean = np.array([np.cos(tilt), np.sin(tilt), 0.0]) * v["depth"] * MM * frame.depth
    section = f"={carrier_of_rib(rib.number)}"
    row = [net.single(centre + lean / 2, section, "ribcage")]
    wide = np.array([0.0, 0.0, v["width"] / 2 * MM * frame.chest])
    row += [net.pair(centre + lean * 0.1 + wide, section, "ribcage")]
    count = max(4, round(rib.length / (27 * MM)))
    last = {10: 0.93, 11: 0.9, 12: 0.4}.get(rib.number, 1.0)
    first = 0.12 if rib.number > 1 else 0.5
    for f in np.linspace(first, last, count if rib.number < 12 else 3):
        row.append(net.pair(rib.inner(f), f"rib{rib.number}", "ribcage"))
    return row


def zipped(points: Floats, upper: Row, lower: Row) -> list[tuple[int, int, int]]:
    """Triangles between two polylines of indices, always across the shorter diagonal."""
    faces = []
    i = j = 0
    while i < len(upper) - 1 or j < len(lower) - 1:
        a, b = upper[i], lower[j]
        if i == len(upper) - 1:
            step_upper = False
        elif j == len(lower) - 1:
            step_upper = True
        else:
            step_upper = np.linalg.norm(points[upper[i + 1]] - points[b]) < np.linalg.norm(
                points[lower[j + 1]] - points[a]
            )
        if step_upper:
            face = (a, b, upper[i + 1])
            i += 1
        else:
            face = (a, b, lower[j + 1])
            j += 1
        if len(set(face)) == 3:
            faces.append(face)
    return faces


def cage_faces(net: Net, cage: Cage) -> list[tuple[int, int, int]]:
    """Triangles of the inside of the rib cage, both halves, normals out of the chest."""
    points = np.array(net.points)
    right = [face for upper, lower in cage.strips for face in zipped(points, upper, lower)]
    return right + [tuple(net.twin[i] for i in reversed(face)) for face in right]  # type: ignore[misc]


def cap_faces(net: Net, cage: Cage) -> list[tuple[int, int, int]]:
    """Triangles that close the inlet inside the first ribs, normals up."""
    right, left = cage.rows[0], net.left(cage.rows[0])
    front = right[0]  # the vertebra's front lies ahead of its sides: a fan about it, then a ladder
    faces = [(right[1], right[2], front), (right[2], left[2], front), (front, left[2], left[1])]
    for i in range(2, len(right) - 1):
        faces += [(right[i], right[i + 1], left[i + 1]), (right[i], left[i + 1], left[i])]
    return [face for face in faces if len(set(face)) == 3]
