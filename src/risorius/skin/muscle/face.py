"""A whole face of muscles from a handful of feature points (ledger X8).

The generic layout lies in a plane in front of the face. Its feature points are brought onto the head's by a thin-plate
spline, everything else follows, and rays from the front put it onto the skin.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import RBFInterpolator

from risorius.core.errors import InputError
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.lids import Opening, lids, opening
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.rig import Control, Rig
from risorius.skin.muscle.sets import with_connected_set
from risorius.skin.muscle.shape import targets
from risorius.skin.muscle.surface import Surface, unit
from risorius.skin.muscle.unfold import unfolded

Floats = NDArray[np.float64]
ALONG = 9
"""Points of each curve that is shot onto the skin."""


@cache
def layout() -> dict[str, Any]:
    """The generic layout."""
    return json.loads((files("risorius.skin.muscle") / "data" / "face_layout.json").read_text())


def feature_names() -> list[str]:
    """Names of the feature points that a head must be given."""
    table = layout()
    return [
        f"{name}{side}"
        for name in table["features"]
        for side in (("_l", "_r") if name in table["paired"] else ("",))
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Face:
    """A head in the layout's frame.

    Args:
        surface: its skin: the part of the mesh that carries the features; whole: everything.
        origin, axes: (3,), (3, 3) rows x to the subject's left, y up, z forward.
        unit: distance between the pupils in the mesh's unit.
        warp: layout (n, 2) -> head (n, 2), both in parts of the pupils' distance.
    """

    surface: Surface
    whole: Surface
    origin: Floats
    axes: Floats
    unit: float
    warp: RBFInterpolator

    def to_mesh(self, points: Floats) -> Floats:
        """(…, 3) frame -> mesh."""
        return self.origin + self.unit * points @ self.axes

    def to_frame(self, points: Floats) -> Floats:
        """(…, 3) mesh -> frame."""
        return (points - self.origin) @ self.axes.T / self.unit

    def shot(self, plane: Floats) -> Floats:
        """(n, 2) head's plane -> (n, 3) the skin seen from the front; the nearest skin where the ray passes by."""
        far = 4.0
        start = self.to_mesh(np.concatenate([plane, np.full((len(plane), 1), far)], axis=1))
        way = np.broadcast_to(-self.axes[2] * self.unit, start.shape)
        t, _ = self.surface.tree.rays(start, way, 0.0, 2.0 * far)
        met = np.isfinite(t)
        found = start + np.where(met, t, far)[:, None] * way
        found[~met] = self.surface.on(found[~met])[1] if (~met).any() else found[~met]
        return found


def face_of(surface: Surface, features: dict[str, Floats]) -> Face:
    """Frame and warp of a head from its feature points (mesh coordinates)."""
    names = feature_names()
    missing = [name for name in names if name not in features]
    if missing:
        raise InputError(f"expected the feature points {', '.join(missing)}", place="features")
    given = np.array([features[name] for name in names])
    off, _, _, triangle = surface.on(given)
    if off.max() > 0.08 * surface.size:
        worst = names[int(off.argmax())]
        raise InputError(f"expected points on the face, this one is {off.max():.4g} away", place=f"features.{worst}")
    left, right = (0.5 * (features[f"eye_inner{s}"] + features[f"eye_outer{s}"]) for s in ("_l", "_r"))
    distance = float(np.linalg.norm(left - right))
    across = unit(left - right)
    up = 0.5 * (left + right) - features["chin"]
    up = up - (up @ across) * across
    if distance < 1e-6 * surface.size or np.linalg.norm(up) < 0.2 * distance:
        raise InputError("expected two eyes above a chin", place="features")
    axes = np.stack([across, unit(up), np.cross(across, unit(up))])
    origin = 0.5 * (left + right)
    table = layout()
    generic = np.array([generic_feature(table, name) for name in names])
    there = ((given - origin) @ axes.T / distance)[:, :2]
    warp = RBFInterpolator(generic, there, kernel="thin_plate_spline", degree=1)
    skin = surface.of_parts(triangle[[names.index(name) for name in ("nose_tip", "chin", "brow_l", "brow_r")]])
    return Face(skin, surface, origin, axes, distance, warp)


def generic_feature(table: dict[str, Any], name: str) -> list[float]:
    if name in table["features"]:
        return table["features"][name]
    x, y = table["features"][name[:-2]]
    return [x if name.endswith("_l") else -x, y]


def face_rig(
    surface: Surface, features: dict[str, Floats], progress: Callable[[str, float], None] | None = None
) -> Rig:
    """Muscles and controls of a face; eyes, teeth and whatever hangs apart from the skin stay."""
    table = layout()
    face = face_of(surface, features)
    muscles: list[Muscle] = []
    full: dict[str, float] = {}
    parts = (*table["muscles"].items(), *table["rings"].items())
    for number, (name, entry) in enumerate(parts):
        if progress:
            progress(f"growing {name}", 0.8 * number / len(parts))
        for side in ("",) if entry.get("single") else ("_l", "_r"):
            make = ring if name in table["rings"] else band
            muscle, most = make(face, name + side, entry, -1.0 if side == "_r" else 1.0)
            muscles.append(muscle)
            full[name + side] = most
    controls = named_controls(table, full)
    eyes: list[tuple[str, Opening]] = []
    for side in ("_l", "_r"):
        found = opening(face, features[f"eye_inner{side}"], features[f"eye_outer{side}"], table["lids"]["columns"])
        if found is not None:
            eyes.append((side, found))
    blink: list[tuple[str, str, float]] = []
    for side, eye in eyes:
        made = lids(face, eye, table["lids"], side)
        muscles += made
        amounts = [(muscle.name, "contraction", float(table["lids"]["closed"])) for muscle in made]
        controls.append(Control(f"blink{side}", tuple(amounts)))
        blink += amounts
    if blink:
        controls.append(Control("eyes_closed", tuple(blink)))
    return Rig(tuple(unfolded(face.surface, muscles, controls)), tuple(controls))


def named_controls(table: dict[str, Any], full: dict[str, float]) -> list[Control]:
    """Each control of both sides together and, where it has pairs, of each side with the muscles in the middle."""
    found = []
    for name, parts in table["controls"].items():
        pulls = [(this, "contraction", share * full[this]) for muscle, share in parts.items() if share
                 for this in ([muscle] if muscle in full else [f"{muscle}_l", f"{muscle}_r"])]  # fmt: skip
        found.append(Control(name, tuple(pulls)))
        for side, other in (("_l", "_r"), ("_r", "_l")):
            mine = tuple(pull for pull in pulls if not pull[0].endswith(other))
            if any(muscle.endswith(side) for muscle, _, _ in mine):
                found.append(Control(name + side, mine))
    return found


def depths(face: Face, entry: dict[str, Any]) -> tuple[float, float, float]:
    """Skin and muscle thickness in the mesh's unit, and millimetres in it."""
    table = layout()
    unit_of_mm = face.unit / table["pupil_distance_mm"]
    skin, flesh = (entry.get(key, table["depth"][key]) for key in ("skin_mm", "muscle_mm"))
    return skin * unit_of_mm, flesh * unit_of_mm, unit_of_mm


def band(face: Face, name: str, entry: dict[str, Any], side: float) -> tuple[Muscle, float]:
    """A muscle from its fixed to its moving end, and the contraction that gives its greatest pull."""
    a, b = np.array(entry["from"]), np.array(entry["to"])
    across = np.array([b[1] - a[1], a[0] - b[0]]) / np.linalg.norm(b - a)
    share = np.linspace(0.0, 1.0, ALONG)[:, None]
    half = 0.5 * (entry["width"][0] + share * (entry["width"][1] - entry["width"][0]))
    curves = [face.shot(face.warp((a + share * (b - a) + sign * half * across) * [side, 1.0])) for sign in (-1.0, 1.0)]
    skin, flesh, millimetre = depths(face, entry)
    full = 1.05 * (skin + flesh)
    sketch = Sketch(name, (curves[0], curves[1]), skin, flesh, 3, (2, 5), entry["bulge"], normals="surface",
                    d_full=full, d_none=full + entry["spread"] * face.unit)  # fmt: skip
    muscle = with_connected_set(grow(face.surface, sketch).muscle, face.surface)
    length = float(np.linalg.norm(np.diff(muscle.basis, axis=1), axis=2).sum(axis=1).mean())
    return muscle, min(entry["pull_mm"] * millimetre / length, 1.0)


def ring(face: Face, name: str, entry: dict[str, Any], side: float) -> tuple[Muscle, float]:
    """A sphincter around mouth or eye, and the contraction that gives its greatest pull."""
    turn = np.arange(24) * 2 * np.pi / 24
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    curves = [face.shot(face.warp((np.array(entry["centre"]) + circle * entry[key]) * [side, 1.0]))
              for key in ("outer", "inner")]  # fmt: skip
    middle = np.array(entry.get("towards", [entry["centre"]])) * [side, 1.0]
    skin, flesh, millimetre = depths(face, entry)
    full = 1.05 * (skin + flesh)
    none = full + entry["spread"] * face.unit
    centre = face.shot(face.warp(middle)) - (skin + flesh) * face.axes[2]
    if entry.get("even"):
        muscle = even_ring(face, name, entry, (skin, flesh), (full, none))
    else:
        sketch = Sketch(name, (curves[0], curves[1]), skin, flesh, 3, (2, 13), entry["bulge"], True, centre, "surface",
                        full, none)  # fmt: skip
        muscle = grow(face.surface, sketch).muscle
    muscle = with_connected_set(muscle, face.surface)
    far = float(np.linalg.norm(muscle.basis - targets(muscle), axis=2).max())
    return muscle, min(entry["pull_mm"] * millimetre / far, 1.0)


def even_ring(
    face: Face, name: str, entry: dict[str, Any], deep: tuple[float, float], reach: tuple[float, float]
) -> Muscle:
    """An ellipse in the face's plane, its points at one depth behind what is seen there from the front.

    It draws together to an upright segment in front of its middle: narrower and forward. Its upper half is the lower
    one's mirror image, so that what hangs midway, where two lips meet, goes the same way whichever half is the nearer.
    """
    rows, columns = 5, 16
    turn = 2 * np.pi * np.arange(columns) / columns
    middle = np.array(entry["centre"])
    size = np.linspace(entry["outer"], entry["inner"], rows)
    left, right, above, below = face.warp(middle + np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]) * size[0])
    wide, high = 0.5 * (left - right), 0.5 * float(np.linalg.norm(above - below))
    tall = high * np.array([-wide[1], wide[0]]) / float(np.linalg.norm(wide))
    part = (size / size[0])[:, None]
    plane = (
        0.5 * (left + right)
        + (part[..., :1] * np.cos(turn)[:, None]) * wide
        + (part[..., 1:] * np.sin(turn)[:, None]) * tall
    )
    depth = face.to_frame(face.shot(plane.reshape(-1, 2)))[:, 2].reshape(rows, columns)
    depth = np.minimum(depth, depth[:, -np.arange(columns)])
    frame = np.concatenate([plane, depth[..., None]], axis=2)
    basis = face.to_mesh(frame) - sum(deep) * face.axes[2]
    front = depth.max() + entry["forward_mm"] / layout()["pupil_distance_mm"]
    ends = 0.5 * (left + right) + np.array([[1.0], [-1.0]]) * tall
    centre = face.to_mesh(np.column_stack([ends, [front, front]]))
    flat = np.ones((rows, columns))
    outward = np.broadcast_to(face.axes[2], basis.shape).copy()
    return Muscle(name, basis, outward, deep[0] * flat, deep[1] * flat, entry["bulge"] * flat, 3, True, centre, *reach)
