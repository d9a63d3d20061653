"""Eyelids: muscles that draw a lid's margin over the eye, along what is seen of the eye from the front."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from risorius.skin.muscle.falloff import falloff
from risorius.skin.muscle.grow import turned
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.sets import geodesic
from risorius.skin.muscle.shape import patchwork
from risorius.skin.muscle.surface import Surface

if TYPE_CHECKING:
    from risorius.skin.muscle.face import Face

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
SCAN: Final = 240
"""Rays up and down each column that look for the lids' margins."""
SPAN: Final = 0.30
"""How far above and below the corners' line they look, in parts of the pupils' distance."""
ALONG: Final = 7
LAYERS: Final = 12
DEEP: Final = 0.004
"""Depth of the lids' paths below what is seen, in parts of the pupils' distance."""


@dataclass(frozen=True, eq=False)
class Opening:
    """What is open between two lids.

    Args:
        x: (c,) columns from the inner to the outer corner; low, high: (c,) the lids' margins there, all in the face's
            plane.
        eye: pieces of the mesh that are seen through the opening.
    """

    x: Floats
    low: Floats
    high: Floats
    eye: Ints


def seen(face: Face, surface: Surface, plane: Floats) -> tuple[Floats, Ints, Floats]:
    """What rays from the front meet first: points (n, 3), pieces (n,), −1 for none, and places in the frame (n, 3)."""
    start = face.to_mesh(np.concatenate([plane, np.full((len(plane), 1), 4.0)], axis=1))
    way = np.broadcast_to(-face.axes[2] * face.unit, start.shape)
    t, triangle = surface.tree.rays(start, way, 0.0, 8.0)
    met = np.isfinite(t)
    place = start + np.where(met, t, 4.0)[:, None] * way
    return place, np.where(met, surface.piece[surface.faces[triangle, 0]], -1), face.to_frame(place)


def opening(face: Face, inner: Floats, outer: Floats, columns: int) -> Opening | None:
    """Find the lids' margins between two corners of an eye; None where the eye is not open.

    The opening is where the first thing that the skin's own rays meet is missing, or lies clearly behind the corners.
    """
    ends = face.to_frame(np.stack([inner, outer]))
    share = np.linspace(0.0, 1.0, columns + 2)[1:-1]
    middle = ends[0] + share[:, None] * (ends[1] - ends[0])
    y = np.linspace(-SPAN, SPAN, SCAN)
    plane = np.stack([np.repeat(middle[:, 0], SCAN), (middle[:, 1, None] + y).ravel()], axis=1)
    _, part, place = seen(face, face.surface, plane)
    behind = place[:, 2].reshape(columns, SCAN) < (middle[:, 2] - 0.10)[:, None]
    hole = (part.reshape(columns, SCAN) < 0) | behind
    low, high = middle[:, 1].copy(), middle[:, 1].copy()
    open_columns = 0
    for k in range(columns):
        run = longest_run(hole[k])
        if run is not None:
            low[k], high[k] = middle[k, 1] + y[run[0]], middle[k, 1] + y[run[1]]
            open_columns += 1
    if open_columns < 3:
        return None
    core = np.abs(share - 0.5) < 0.3
    inside = np.stack([np.repeat(middle[core, 0], 5), np.concatenate(
        [low[k] + np.linspace(0.35, 0.65, 5) * (high[k] - low[k]) for k in np.flatnonzero(core)])], axis=1)  # fmt: skip
    skin = np.unique(face.surface.piece[face.surface.faces[:, 0]])
    eye = np.setdiff1d(all_behind(face, inside), skin)
    x = np.concatenate([ends[:1, 0], middle[:, 0], ends[1:, 0]])
    low, high = (np.concatenate([ends[:1, 1], values, ends[1:, 1]]) for values in (low, high))
    return Opening(x, low, high, eye)


def all_behind(face: Face, plane: Floats) -> Ints:
    """Pieces of the mesh that rays from the front meet, one behind the other."""
    far = 4.0
    start = face.to_mesh(np.concatenate([plane, np.full((len(plane), 1), far)], axis=1))
    way = np.broadcast_to(-face.axes[2] * face.unit, start.shape)
    found: list[Ints] = [np.zeros(0, dtype=np.int64)]
    for _ in range(LAYERS):
        t, triangle = face.whole.tree.rays(start, way, 1e-6, far + 1.0)
        met = np.isfinite(t)
        if not met.any():
            break
        found.append(face.whole.piece[face.whole.faces[triangle[met], 0]])
        start, way = (start + np.where(met, t, 0.0)[:, None] * way)[met], way[met]
    return np.unique(np.concatenate(found))


def longest_run(flags: NDArray[np.bool_]) -> tuple[int, int] | None:
    """First and last index of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    if len(edges) == 0:
        return None
    starts, ends = edges[::2], edges[1::2] - 1
    best = int((ends - starts).argmax())
    return int(starts[best]), int(ends[best])


def lids(face: Face, eye: Opening, how: dict[str, Any], side: str) -> list[Muscle]:
    """The upper and the lower lid's muscle: from the line where they meet to each margin."""
    visible = np.concatenate([eye.eye, np.unique(face.surface.piece[face.surface.faces[:, 0]])])
    shown = face.whole.only(np.isin(face.whole.piece[face.whole.faces[:, 0]], visible))
    made = [path(face, shown, f"lid_{name}{side}", eye.x, eye.low + meets * (eye.high - eye.low), margin, how)
            for name, margin, meets in zip(("upper", "lower"), (eye.high, eye.low), how["meets"])]  # fmt: skip
    ways = []
    for margin, sign in ((eye.high, 1.0), (eye.low, -1.0)):
        spots = face.shot(np.stack([eye.x, margin + sign * 0.02], axis=1)[1:-1])
        corner = face.surface.faces[face.surface.tree.closest(spots)[2]]
        ways.append(geodesic(face.surface, np.unique(corner), 3.0 * how["none"] * face.unit))
    muscles = []
    for k, muscle in enumerate(made):
        mine, other = ways[k], ways[1 - k]
        with np.errstate(invalid="ignore"):
            lead = np.where(np.isfinite(mine), np.where(np.isfinite(other), other - mine, np.inf), -np.inf)
        share = np.clip(0.5 + lead / (0.10 * face.unit), 0.0, 1.0)
        muscles.append(with_followers(face, muscle, share * share * (3 - 2 * share), eye))
    return muscles


def path(face: Face, shown: Surface, name: str, x: Floats, start: Floats, end: Floats, how: dict[str, Any]) -> Muscle:
    """Basis columns from the meeting line to a margin, just below whatever the front shows there."""
    share = np.linspace(0.0, 1.0, ALONG)
    y = start[:, None] + share * (end - start)[:, None]
    least = 0.004 * np.sign(np.mean(end - start))  # in the corners the way is short, but it is one
    y = y + share * np.where(np.abs(end - start)[:, None] < abs(least), least, 0.0)
    plane = np.stack([np.repeat(x, ALONG), y.ravel()], axis=1)
    _, _, frame = seen(face, shown, plane)
    tall = np.clip(np.abs(end - start) / max(float(np.abs(end - start).max()), 1e-9), 0.0, 1.0)
    depth = smoothed(frame[:, 2].reshape(len(x), ALONG)) + how["clear"] * (1.0 - share) * tall[:, None]
    front = face.to_mesh(np.concatenate([plane, depth.reshape(-1, 1) - DEEP], axis=1)).reshape(len(x), ALONG, 3)
    outward = np.broadcast_to(face.axes[2], (ALONG, 3))
    normals = turned(outward, outward, np.linspace(0, 1, len(x)))
    flat = np.zeros((len(x), ALONG))
    return Muscle(name, front, normals, flat + DEEP * face.unit, flat, flat, 2, d_full=how["full"] * face.unit,
                  d_none=how["none"] * face.unit)  # fmt: skip


def smoothed(depth: Floats) -> Floats:
    """Depths along the columns without the step from eye to lid: never behind what is seen by more than a little."""
    out = depth.copy()
    for _ in range(2):
        wide = np.pad(out, 1, mode="edge")
        out = np.maximum(depth, 0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]))
    return out


def with_followers(face: Face, muscle: Muscle, share: Floats, eye: Opening) -> Muscle:
    """A lid's point set: skin by its share; loose parts that lie along the skin (lashes) go with their roots."""
    surface = face.surface
    vertices = surface.vertices
    on_skin = np.zeros(len(vertices), dtype=bool)
    on_skin[np.unique(surface.faces)] = True
    _, distance = patchwork(muscle).closest(vertices, muscle.d_none)
    weight = np.where(on_skin & np.isfinite(distance), share, 0.0)
    skin = np.flatnonzero(on_skin)
    gap, nearest = cKDTree(vertices[skin]).query(vertices)
    psi = falloff(np.where(np.isfinite(distance), distance, np.inf), muscle.d_full, muscle.d_none, muscle.falloff)
    count = int(surface.piece.max()) + 1
    farthest = np.zeros(count)
    np.maximum.at(farthest, surface.piece, gap)
    reached = np.bincount(surface.piece, np.isfinite(distance), count) > 0
    loose = reached & (farthest < 0.3 * face.unit) & ~np.isin(np.arange(count), eye.eye)
    loose[np.unique(surface.piece[skin])] = False
    for part in np.flatnonzero(loose):
        own = np.flatnonzero(surface.piece == part)
        size = np.ptp(vertices[own], axis=0).max()
        if size > 1.2 * face.unit:
            continue
        root = skin[nearest[own]]
        pull = weight[root] * psi[root]
        weight[own] = np.where(psi[own] > 0.02, pull / np.maximum(psi[own], 0.02), 0.0)
    chosen = np.flatnonzero(weight > 0)
    return replace(muscle, points=chosen.astype(np.int64), weights=weight[chosen])
