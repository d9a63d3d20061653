"""The binding file: XML that a person can read and edit, exact in every digit.

    <binding version="1" method="smooth" vertices="2" points="361">
      <placement scale="0.1" rotation="0 0 1 0 1 0 -1 0 0" translation="0 0.9 0"/>
      <bodies>pelvis l4_l5 …</bodies>
      <vertex id="0" bones="rib7_r:0.6 sternum:0.3" points="112:0.1"/>
      <vertex id="1" bones="rib7_r:1.0"/>
    </binding>

Weights that an edit left with another sum than one are scaled to it.
"""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core import xml
from risorius.core.errors import InputError
from risorius.core.xml import Element
from risorius.io.files import write_bytes
from risorius.skin.binding import METHODS, Binding, Placement

SUM_TOLERANCE: Final = 1e-9


def write_binding(path: str | PathLike[str], binding: Binding) -> None:
    """Write a binding, whole or not at all."""
    place = binding.placement
    head = {
        "version": "1",
        "method": binding.method,
        "vertices": str(binding.vertex_count),
        "points": str(binding.point_count),
    }
    root = Element("binding", head)
    placement = {
        "scale": repr(float(place.scale)),
        "rotation": " ".join(map(repr, np.asarray(place.rotation).ravel().tolist())),
        "translation": " ".join(map(repr, np.asarray(place.translation).tolist())),
    }
    root.children = [Element("placement", placement), Element("bodies", {}, " ".join(binding.bodies))]
    bodies = len(binding.bodies)
    handles, weights, bounds = binding.handle.tolist(), binding.weight.tolist(), binding.offsets.tolist()
    for number in range(binding.vertex_count):
        bones, points = [], []
        for k in range(bounds[number], bounds[number + 1]):
            if handles[k] < bodies:
                bones.append(f"{binding.bodies[handles[k]]}:{weights[k]!r}")
            else:
                points.append(f"{handles[k] - bodies}:{weights[k]!r}")
        attributes = {"id": str(number)}
        if bones:
            attributes["bones"] = " ".join(bones)
        if points:
            attributes["points"] = " ".join(points)
        root.children.append(Element("vertex", attributes))
    write_bytes(path, xml.write(root).encode())


def read_binding(path: str | PathLike[str]) -> Binding:
    """Read a binding; `InputError` names file and line."""
    file = Path(path)
    root = xml.read(file)
    if root.tag != "binding":
        raise InputError(f"expected <binding>, got <{root.tag}>", file=file, line=root.line)
    only(root, {"version", "method", "vertices", "points"}, file)
    if root.attributes.get("version") != "1":
        raise InputError(f"expected version 1, got {root.attributes.get('version')!r}", file=file, line=root.line)
    method = root.attributes.get("method", "")
    if method not in METHODS:
        raise InputError(f"expected method {' or '.join(METHODS)}, got {method!r}", file=file, line=root.line)
    count = whole(root, "vertices", file)
    points = whole(root, "points", file)
    placement, bodies = Placement(), None
    rows: dict[int, list[tuple[int, float]]] = {}
    for child in root:
        if child.tag == "placement":
            placement = read_placement(child, file)
        elif child.tag == "bodies":
            bodies = {name: number for number, name in enumerate(child.text.split())}
        elif child.tag == "vertex" and bodies is not None:
            number = whole(child, "id", file)
            if number >= count or number in rows:
                raise InputError(f"expected each id from 0 to {count - 1} once, got {number}", file=file,
                                 line=child.line)  # fmt: skip
            rows[number] = read_vertex(child, bodies, points, file)
        else:
            raise InputError(f"expected placement, bodies, then vertex, got <{child.tag}>", file=file, line=child.line)
    if len(rows) != count or bodies is None:
        missing = next((number for number in range(count) if number not in rows), 0)
        raise InputError(f"expected {count} vertices, got {len(rows)}: {missing} is missing", file=file, line=root.line)
    ordered = [rows[number] for number in range(count)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in ordered])]).astype(np.int32)
    flat = [entry for row in ordered for entry in row]
    handle = np.array([entry[0] for entry in flat], dtype=np.int32)
    weight = np.array([entry[1] for entry in flat], dtype=np.float64)
    return Binding(method, tuple(bodies), points, offsets, handle, weight, placement)  # type: ignore[arg-type]


def read_vertex(child: Element, bodies: dict[str, int], points: int, file: Path) -> list[tuple[int, float]]:
    """(handle, weight) entries of one mesh point, bones first."""
    only(child, {"id", "bones", "points"}, file)
    entries: list[tuple[int, float]] = []
    for kind in ("bones", "points"):
        for word in child.attributes.get(kind, "").split():
            name, _, text = word.rpartition(":")
            weight = number(text, child, file)
            if weight < 0:
                raise InputError(f"expected a weight of 0 or more, got {text}", file=file, line=child.line)
            if kind == "bones":
                if name not in bodies:
                    raise InputError(f"unknown bone {name!r}", file=file, line=child.line)
                entries.append((bodies[name], weight))
            else:
                if not (name.isascii() and name.isdigit() and int(name) < points):
                    raise InputError(f"expected a cavity point from 0 to {points - 1}, got {name!r}", file=file,
                                     line=child.line)  # fmt: skip
                entries.append((len(bodies) + int(name), weight))
    total = math.fsum(weight for _, weight in entries)
    if not total > 0 or not math.isfinite(total):
        raise InputError("expected weights that add up to one", file=file, line=child.line)
    if abs(total - 1) > SUM_TOLERANCE:
        entries = [(handle, weight / total) for handle, weight in entries]
    return entries


def read_placement(child: Element, file: Path) -> Placement:
    only(child, {"scale", "rotation", "translation"}, file)
    scale = number(child.attributes.get("scale", "1"), child, file)
    rotation = [number(word, child, file) for word in child.attributes.get("rotation", "1 0 0 0 1 0 0 0 1").split()]
    translation = [number(word, child, file) for word in child.attributes.get("translation", "0 0 0").split()]
    if not scale > 0 or len(rotation) != 9 or len(translation) != 3:
        raise InputError("expected a positive scale, nine numbers of rotation, three of translation", file=file,
                         line=child.line)  # fmt: skip
    matrix = np.array(rotation).reshape(3, 3)
    if not (np.abs(matrix @ matrix.T - np.eye(3)) < 1e-6).all():
        raise InputError("expected a rotation with orthonormal rows", file=file, line=child.line)
    return Placement(scale, matrix, np.array(translation))


def only(element: Element, allowed: set[str], file: Path) -> None:
    for key in element.attributes:
        if key not in allowed:
            raise InputError(f"expected {', '.join(sorted(allowed))} in <{element.tag}>, got {key!r}", file=file,
                             line=element.line)  # fmt: skip


def whole(element: Element, key: str, file: Path) -> int:
    text = element.attributes.get(key, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"expected a whole number in {key}, got {text!r}", file=file, line=element.line)
    return int(text)


def number(text: str, element: Element, file: Path) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {text!r}", file=file, line=element.line)
    return value
