"""A torso sorted into what hosts and viewers show: closed surfaces, muscle strands, colours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.maths.rotations import matrices

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@cache
def appearance() -> dict[str, Any]:
    """Colours and widths of the layers (data/appearance.json)."""
    return json.loads(resources.files("risorius.io").joinpath("data/appearance.json").read_text())


def layer_colours() -> dict[str, tuple[float, float, float, float]]:
    """Layer -> red, green, blue, opacity."""
    return {name: tuple(value) for name, value in appearance()["layers"].items()}


def bone_colour(name: str) -> tuple[float, float, float, float]:
    """Cartilage is bluish, bone is not."""
    colours = layer_colours()
    return colours["Cartilage"] if name.startswith("cartilage") else colours["Bones"]


def activation_colour(activation: Floats) -> Floats:
    """(n, 3) from the colour of a slack muscle at 0 to that of a fully driven one at 1."""
    slack, driven = (np.array(appearance()["muscle"][key]) for key in ("slack", "driven"))
    share = np.sqrt(np.clip(np.asarray(activation, dtype=np.float64), 0, 1))[:, None]
    return slack + share * (driven - slack)


def ball_mesh(splits: int = 3) -> tuple[Floats, Ints]:
    """A ball of radius 1 about the origin, an octahedron split evenly: vertices, and faces with normals outward."""
    points = [
        np.array(p, dtype=np.float64) for p in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1))
    ]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(splits):
        between: dict[tuple[int, int], int] = {}
        for a, b, c in faces:
            for pair in ((a, b), (b, c), (c, a)):
                key = (min(pair), max(pair))
                if key not in between:
                    middle = points[key[0]] + points[key[1]]
                    between[key] = len(points)
                    points.append(middle / np.linalg.norm(middle))
        split = []
        for a, b, c in faces:
            ab, bc, ca = (between[min(p, q), max(p, q)] for p, q in ((a, b), (b, c), (c, a)))
            split += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = split
    return np.array(points), np.array(faces)


def rate_of(record: Record) -> float:
    """Frames a second, from the first and last time; a whole number where it is one within a millionth."""
    if len(record.time) < 2:
        return 25.0
    rate = (len(record.time) - 1) / float(record.time[-1] - record.time[0])
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate


@dataclass(frozen=True, eq=False)
class Strands:
    """Curves of one muscle group.

    Args:
        counts: (c,) points of each curve.
        widths: (c,) [m] diameter of a round muscle of the curve's cross-section, bounded for the eye.
        body, place: (k,) body that carries each curve point (-1: none) and (k, 3) the point at rest [m].
        surface: (k,) surface point that a curve point is (-1: none).
    """

    counts: Ints
    widths: Floats
    body: Ints
    place: Floats
    surface: Ints

    def points(self, torso: Torso, record: Record | None) -> Floats:
        """(k, 3) at rest, or (f, k, 3) in every frame of a record [m]."""
        if record is None:
            return self.place
        out = np.empty((len(record.time), len(self.place), 3))
        carried = self.body >= 0
        which = self.body[carried]
        spin = matrices(record.rotation)[:, which]
        out[:, carried] = np.einsum("fkij,kj->fki", spin, self.place[carried]) + record.position[:, which]
        out[:, ~carried] = record.points[:, self.surface[~carried]]
        return out


class Layers:
    """Faces of the surfaces to show, and the strands of each muscle group."""

    def __init__(self, torso: Torso) -> None:
        self.torso = torso
        surface = torso.surface
        abdomen, trunk = np.asarray(surface.abdomen), np.asarray(surface.trunk)
        abdomen_keys, trunk_keys = face_keys(abdomen), face_keys(trunk)
        self.diaphragm: Ints = abdomen[~np.isin(abdomen_keys, trunk_keys)]
        upper = trunk[~np.isin(trunk_keys, abdomen_keys)]
        self.chest: Ints = np.concatenate([upper, self.diaphragm[:, ::-1]])

    def loose(self, faces: Ints) -> Ints:
        """Points of the faces, and every surface point that no other layer shows, so that a story holds all."""
        shown = np.unique(np.concatenate([faces.ravel(), self.chest.ravel()]))
        others = np.setdiff1d(np.arange(len(self.torso.surface.points)), shown)
        return np.union1d(np.unique(faces), others).astype(np.int32)

    def strands(self, group: int) -> Strands:
        """Curves of one group: each straight element, then each fibre chain."""
        lines, fibres = self.torso.lines, self.torso.fibres
        bounds = appearance()["muscle"]["width_m"]
        counts, widths, body, place, surface = [], [], [], [], []
        for k in np.flatnonzero(lines.group == group):
            counts.append(2)
            widths.append(lines.area[k])
            body += lines.body[k].tolist()
            place += lines.point[k].tolist()
            surface += [-1, -1]
        mine = np.flatnonzero(fibres.group == group)
        for run in runs(mine, fibres.chain, fibres.ends):
            path = [int(fibres.ends[run[0], 0]), *fibres.ends[run, 1].tolist()]
            counts.append(len(path))
            widths.append(float(fibres.area[run].mean()))
            body += [-1] * len(path)
            place += np.asarray(self.torso.surface.points)[path].tolist()
            surface += path
        return Strands(
            np.array(counts, dtype=np.int32),
            np.clip(2 * np.sqrt(np.array(widths) / np.pi), *bounds),
            np.array(body, dtype=np.int32),
            np.array(place, dtype=np.float64).reshape(-1, 3),
            np.array(surface, dtype=np.int32),
        )


def runs(elements: Ints, chain: Ints, ends: Ints) -> list[list[int]]:
    """Elements of the same chain that follow one another, as lists."""
    found: list[list[int]] = []
    for k in elements.tolist():
        last = found[-1][-1] if found else -1
        if last >= 0 and chain[last] == chain[k] and ends[last, 1] == ends[k, 0]:
            found[-1].append(k)
        else:
            found.append([k])
    return found


def face_keys(faces: Ints) -> NDArray[np.int64]:
    """One number a face, whatever corner it starts at and whichever way it turns."""
    ordered = np.sort(faces.astype(np.int64), axis=1)
    return (ordered[:, 0] << 42) | (ordered[:, 1] << 21) | ordered[:, 2]
