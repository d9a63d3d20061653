"""Muscle documents: curves to grow from, grown muscles with their rig, keys to play (contract, 'Muscle documents')."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import write_bytes
from risorius.io.json_file import Node, read_json
from risorius.io.rig_file import read_controls, read_drivers, rig_table
from risorius.maths.bspline import DEGREE_LIMIT
from risorius.skin.muscle.grow import GRID_LIMIT, NORMALS, Sketch
from risorius.skin.muscle.model import BULGE, FALLOFFS, Muscle
from risorius.skin.muscle.rig import Key, Keys, Rig
from risorius.skin.muscle.shape import control_points

Floats = NDArray[np.float64]
SHARED: Final = ("name", "degree", "patches", "skin_thickness", "muscle_thickness", "bulge", "d_full", "d_none",
                 "falloff", "closed", "center")  # fmt: skip
CURVE_KEYS: Final = (*SHARED, "curves", "normals", "mirror", "set")
MUSCLE_KEYS: Final = (*SHARED, "basis", "normals", "control_points", "points", "weights", "envelope", "report")
KEYED: Final = ("contraction", "bulge", "envelope", "d_full", "d_none", "falloff")
LONGEST: Final = 36000
"""Most frames that keys may ask for."""


@dataclass(frozen=True)
class Drawing:
    """A sketch, and the plane it is to be mirrored in: axis 0…2 and the place on it, or none."""

    sketch: Sketch
    mirror: tuple[int, float] | None = None


def version(fields: dict[str, Node]) -> None:
    fields["version"].whole(1, 1)


def read_curves(path: str | PathLike[str]) -> list[Drawing]:
    """Curves to grow muscles from."""
    fields = read_json(path).object(("version", "muscles"), ("version", "muscles"))
    version(fields)
    found = [drawing(node) for node in fields["muscles"].items(1)]
    distinct([entry.sketch.name for entry in found], fields["muscles"])
    return found


def distinct(names: list[str], node: Node) -> None:
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InputError(f"expected names of their own, {name!r} stands twice", file=node.file,
                             place=f"{node.place}[{k}].name")  # fmt: skip


def drawing(node: Node) -> Drawing:
    fields = node.object(CURVE_KEYS, ("name", "curves", "skin_thickness", "muscle_thickness"))
    curves = fields["curves"].items(2)
    if len(curves) != 2:
        fields["curves"].refuse("two curves")
    degree = fields["degree"].whole(1, DEGREE_LIMIT) if "degree" in fields else 3
    sketch = Sketch(
        name=fields["name"].text(),
        curves=(curve(curves[0]), curve(curves[1])),
        skin_thickness=amounts(fields["skin_thickness"]),
        muscle_thickness=amounts(fields["muscle_thickness"]),
        degree=degree,
        patches=pair(fields["patches"], degree) if "patches" in fields else (2, 4),
        bulge=amounts(fields["bulge"]) if "bulge" in fields else BULGE,
        closed=fields["closed"].flag() if "closed" in fields else False,
        centre=centre(fields["center"]) if "center" in fields else np.zeros((0, 3)),
        normals=fields["normals"].text(*NORMALS) if "normals" in fields else "auto",
        d_full=fields["d_full"].number(0.0) if "d_full" in fields else None,
        d_none=fields["d_none"].number(0.0) if "d_none" in fields else None,
        falloff=fields["falloff"].text(*FALLOFFS) if "falloff" in fields else "cosine",
        only_connected="set" in fields and fields["set"].text("all", "connected") == "connected",
    )
    mirror = None
    if "mirror" in fields:
        parts = fields["mirror"].object(("axis", "at"), ("axis",))
        mirror = ("xyz".index(parts["axis"].text("x", "y", "z")), parts["at"].number() if "at" in parts else 0.0)
    return Drawing(sketch, mirror)


def curve(node: Node) -> NDArray:
    """Points (k, 3), or numbers (k,) of mesh points."""
    entries = node.items(2)
    if all(isinstance(entry.value, int) and not isinstance(entry.value, bool) for entry in entries):
        return np.array([entry.whole(0, 2**31 - 1) for entry in entries], dtype=np.int64)
    return node.array(None, 3)


def amounts(node: Node) -> Any:
    """One number from zero up, or rows of them of one length."""
    if not isinstance(node.value, list):
        return node.number(0.0)
    rows = node.items(1)
    length = len(rows[0].items(1))
    table = node.array(len(rows), length)
    if table.min() < 0:
        node.refuse("numbers from zero up")
    return table


def pair(node: Node, degree: int) -> tuple[int, int]:
    u, v = (entry.whole(1, GRID_LIMIT) for entry in node.items(2)) if len(node.items(2)) == 2 else node.refuse("[u, v]")
    if (u + degree) * (v + degree) > GRID_LIMIT:
        node.refuse(f"at most {GRID_LIMIT} basis points in all")
    return u, v


def centre(node: Node) -> Floats:
    """A point, or the two ends of a segment."""
    first = node.items(2)[0].value
    return node.array(2, 3) if isinstance(first, list) else node.array(3).reshape(1, 3)


def read_muscles(path: str | PathLike[str], point_count: int | None = None) -> Rig:
    """Grown muscles with their controls and drivers.

    Args:
        point_count: points of the mesh that they belong to, where known.
    """
    fields = read_json(path).object(("version", "muscles", "controls", "drivers"), ("version", "muscles"))
    version(fields)
    muscles = [muscle(node, point_count) for node in fields["muscles"].items()]
    names = [entry.name for entry in muscles]
    distinct(names, fields["muscles"])
    controls = read_controls(fields["controls"], names) if "controls" in fields else ()
    drivers = read_drivers(fields["drivers"], names, controls) if "drivers" in fields else ()
    return Rig(tuple(muscles), controls, drivers)


def muscle(node: Node, point_count: int | None) -> Muscle:
    """`control_points` follow from basis, normals and thickness; they are checked for their shape alone."""
    fields = node.object(MUSCLE_KEYS, ("name", "basis", "normals", "skin_thickness", "muscle_thickness"))
    degree = fields["degree"].whole(1, DEGREE_LIMIT) if "degree" in fields else 3
    closed = fields["closed"].flag() if "closed" in fields else False
    rows = fields["basis"].items(degree + 1)
    columns = len(rows[0].items(2 if closed else degree + 1))
    if len(rows) * columns > GRID_LIMIT:
        fields["basis"].refuse(f"at most {GRID_LIMIT} points")
    if closed and columns < degree + 1:
        rows[0].refuse(f"{degree + 1} points or more")
    shape = (len(rows), columns)
    if "patches" in fields and pair(fields["patches"], degree) != (shape[0] - degree, columns - degree):
        fields["patches"].refuse(f"[{shape[0] - degree}, {columns - degree}], the basis's points less the degree")
    basis, normals = (fields[name].array(*shape, 3) for name in ("basis", "normals"))
    if "control_points" in fields:
        fields["control_points"].array(*shape, 3)
    length = np.linalg.norm(normals, axis=2, keepdims=True)
    if (length < 1e-6).any():
        fields["normals"].refuse("vectors that have a length")
    normals = np.where(np.abs(length - 1.0) > 1e-6, normals / length, normals)  # what is a unit keeps its digits
    if np.ptp(basis.reshape(-1, 3), axis=0).max() <= 0:
        fields["basis"].refuse("points that are not all the same")
    full = fields["d_full"].number(0.0) if "d_full" in fields else 0.0
    points = np.array([entry.whole(0, (point_count or 2**31) - 1) for entry in fields["points"].items()],
                      dtype=np.int64) if "points" in fields else None  # fmt: skip
    if points is not None and len(np.unique(points)) != len(points):
        fields["points"].refuse("every point once")
    weights = fields["weights"].array(None) if "weights" in fields else None
    many = point_count if points is None else len(points)
    if weights is not None and many is not None and len(weights) != many:
        fields["weights"].refuse(f"{many} numbers, one a point")
    skin, flesh = (everywhere(fields[name], shape) for name in ("skin_thickness", "muscle_thickness"))
    bulge = everywhere(fields["bulge"], shape) if "bulge" in fields else np.full(shape, BULGE)
    if "d_none" in fields:
        none = fields["d_none"].number(full)
    else:
        none = full + 2.0 * float((skin + flesh).max())
    return Muscle(
        fields["name"].text(), basis, normals, skin, flesh, bulge, degree, closed,
        centre(fields["center"]) if "center" in fields else np.zeros((0, 3)), full, none,
        fields["falloff"].text(*FALLOFFS) if "falloff" in fields else "cosine", points, weights,
        fields["envelope"].number() if "envelope" in fields else 1.0,
    )  # fmt: skip


def everywhere(node: Node, shape: tuple[int, int]) -> Floats:
    values = amounts(node)
    if isinstance(values, float):
        return np.full(shape, values)
    if values.shape != shape:
        node.refuse(f"a number, or {shape[0]} rows of {shape[1]}")
    return values


def muscle_table(entry: Muscle, report: dict[str, Any] | None = None) -> dict[str, Any]:
    """A muscle as JSON."""

    def amount(values: Floats) -> Any:
        return float(values.flat[0]) if (values == values.flat[0]).all() else values.tolist()

    table: dict[str, Any] = {
        "name": entry.name, "degree": entry.degree, "patches": list(entry.patches), "basis": entry.basis.tolist(),
        "normals": entry.normals.tolist(), "control_points": control_points(entry).tolist(),
        "skin_thickness": amount(entry.skin_thickness), "muscle_thickness": amount(entry.muscle_thickness),
        "bulge": amount(entry.bulge), "d_full": entry.d_full, "d_none": entry.d_none, "falloff": entry.falloff,
    }  # fmt: skip
    if entry.closed:
        table["closed"] = True
    if len(entry.centre):
        table["center"] = entry.centre[0].tolist() if len(entry.centre) == 1 else entry.centre.tolist()
    if entry.points is not None:
        table["points"] = entry.points.tolist()
    if entry.weights is not None:
        table["weights"] = entry.weights.tolist()
    if entry.envelope != 1.0:
        table["envelope"] = entry.envelope
    if report:
        table["report"] = report
    return table


def write_muscles(path: str | PathLike[str], rig: Rig, reports: dict[str, dict[str, Any]] | None = None) -> None:
    """Write muscles with their rig; numbers keep every digit."""
    table = {
        "version": 1,
        "muscles": [muscle_table(entry, (reports or {}).get(entry.name)) for entry in rig.muscles],
        **rig_table(rig),
    }
    write_bytes(path, (json.dumps(table, separators=(",", ": "), ensure_ascii=False) + "\n").encode())


def write_curves(path: str | PathLike[str], drawings: list[Drawing]) -> None:
    """Write what muscles grow from."""

    def amount(values: Any) -> Any:
        table = np.atleast_2d(np.asarray(values, dtype=np.float64))
        return float(table.flat[0]) if (table == table.flat[0]).all() else table.tolist()

    entries = []
    for drawn in drawings:
        sketch = drawn.sketch
        entry: dict[str, Any] = {
            "name": sketch.name, "curves": [curve.tolist() for curve in sketch.curves], "degree": sketch.degree,
            "patches": list(sketch.patches), "skin_thickness": amount(sketch.skin_thickness),
            "muscle_thickness": amount(sketch.muscle_thickness), "bulge": amount(sketch.bulge),
            "falloff": sketch.falloff, "normals": sketch.normals, "closed": sketch.closed,
            "set": "connected" if sketch.only_connected else "all",
        }  # fmt: skip
        if len(sketch.centre):
            entry["center"] = sketch.centre[0].tolist() if len(sketch.centre) == 1 else sketch.centre.tolist()
        entry |= {name: value for name in ("d_full", "d_none") if (value := getattr(sketch, name)) is not None}
        if drawn.mirror is not None:
            entry["mirror"] = {"axis": "xyz"[drawn.mirror[0]], "at": drawn.mirror[1]}
        entries.append(entry)
    write_bytes(path, (json.dumps({"version": 1, "muscles": entries}, ensure_ascii=False) + "\n").encode())


def read_keys(path: str | PathLike[str], rig: Rig) -> Keys:
    """Keys over time; every name must be one of the rig's."""
    fields = read_json(path).object(("version", "rate", "keys"), ("version", "keys"))
    version(fields)
    rate = fields["rate"].number(1e-3, 1e5) if "rate" in fields else 60.0
    names = {entry.name for entry in rig.muscles}
    controls = {entry.name for entry in rig.controls}
    found: list[Key] = []
    for node in fields["keys"].items(1):
        parts = node.object(("time", "muscles", "controls"), ("time",))
        values: dict[tuple[str, str], float | str] = {}
        for name, entry in parts["muscles"].members() if "muscles" in parts else ():
            if name not in names:
                raise InputError(f"no muscle is called {name[:40]!r}", file=node.file, place=entry.place)
            for what, value in entry.object(KEYED).items():
                values[name, what] = value.text(*FALLOFFS) if what == "falloff" else value.number(*bounds(what))
        for name, entry in parts["controls"].members() if "controls" in parts else ():
            if name not in controls:
                raise InputError(f"no control is called {name[:40]!r}", file=node.file, place=entry.place)
            values["control", name] = entry.number()
        found.append(Key(parts["time"].number(), values))
    times = [key.time for key in found]
    if any(b <= a for a, b in pairwise(times)):
        fields["keys"].refuse("times that rise")
    if (times[-1] - times[0]) * rate > LONGEST:
        fields["keys"].refuse(f"at most {LONGEST} frames")
    return Keys(rate, tuple(found))


def bounds(what: str) -> tuple[float, float]:
    return {"contraction": (0.0, 1.0), "d_full": (0.0, 1e12), "d_none": (0.0, 1e12)}.get(what, (-1e12, 1e12))


def read_features(path: str | PathLike[str]) -> dict[str, Floats]:
    """Named feature points: {"version": 1, "points": {"nose_tip": [x, y, z], …}}."""
    fields = read_json(path).object(("version", "points"), ("version", "points"))
    version(fields)
    return {name: node.array(3) for name, node in fields["points"].members()}
