"""Weights smoothed where a control would fold the skin over.

Where a muscle's effect ends within a shorter way than it pulls, triangles turn over. There its weights are replaced by
the mean of their neighbours', again and again, until the same pull is spread over enough skin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.rig import Control, Key, Keys, Rig, played
from risorius.skin.muscle.surface import Surface

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
ROUNDS: Final = 60
RINGS: Final = 3
"""Rings of points around a folding triangle that are smoothed with it."""
STEEP: Final = 0.2
"""A triangle counts as folding while the cosine of its turn is below this."""


def unfolded(surface: Surface, muscles: Sequence[Muscle], controls: Sequence[Control]) -> list[Muscle]:
    """The muscles with weights under which no control, fully turned, folds a triangle of the surface (where it can be).

    Args:
        surface: the skin whose triangles are watched.
    """
    everywhere = [replace(muscle, points=None, weights=None) for muscle in muscles]
    moving = Deformer(surface.vertices, everywhere)
    order = {muscle.name: k for k, muscle in enumerate(muscles)}
    weights = np.stack([dense(muscle, len(surface.vertices)) for muscle in muscles])
    touched = np.zeros(len(muscles), dtype=bool)
    near = neighbours(surface)
    for control in controls:
        pulls = pulled(moving, everywhere, control)
        if not pulls:
            continue
        which = np.array([order[name] for name in pulls])
        moves = np.stack(list(pulls.values()))
        for _ in range(ROUNDS):
            points = surface.vertices + np.einsum("mn,mni->ni", weights[which], moves)
            folding = folds(surface, points)
            if not folding.any():
                break
            around = np.zeros(len(points), dtype=bool)
            around[surface.faces[folding]] = True
            for _ in range(RINGS):
                around |= near @ around > 0
            rows = near[np.flatnonzero(around)]
            weights[np.ix_(which, around)] = (rows @ weights[which].T).T
            touched[which] = True
    return [with_weights(muscle, weights[k]) if touched[k] else muscle for k, muscle in enumerate(muscles)]


def pulled(moving: Deformer, muscles: list[Muscle], control: Control) -> dict[str, Floats]:
    """What each muscle of a control, fully turned, does to every point where its weight is one: (n, 3) by its name."""
    now = played(Rig(tuple(muscles), (control,)), moving.names, np.zeros(1),
                 Keys(1.0, (Key(0.0, {("control", control.name): control.high}),)))[0]  # fmt: skip
    found = {}
    for name in dict.fromkeys(muscle for muscle, _, _ in control.amounts):
        alone = moving.settings()
        k = moving.names.index(name)
        alone.contraction[k], alone.bulge[k] = now.contraction[k], now.bulge[k]
        found[name] = moving.frame(alone) - moving.vertices
    return found


def dense(muscle: Muscle, count: int) -> Floats:
    """(n,) weight of every point."""
    if muscle.points is None:
        return np.ones(count) if muscle.weights is None else np.asarray(muscle.weights, dtype=np.float64).copy()
    out = np.zeros(count)
    out[muscle.points] = 1.0 if muscle.weights is None else muscle.weights
    return out


def with_weights(muscle: Muscle, weight: Floats) -> Muscle:
    """The muscle with these weights of all points."""
    used = np.flatnonzero(weight > 1e-6)
    return replace(muscle, points=used, weights=weight[used])


def neighbours(surface: Surface) -> csr_matrix:
    """(n, n) rows that take the mean of a point and its neighbours."""
    graph = surface.graph + surface.graph.T
    count = graph.shape[0]
    joined = csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    joined = joined + csr_matrix((np.ones(count), (np.arange(count), np.arange(count))), shape=graph.shape)
    return csr_matrix(joined.multiply(1.0 / joined.sum(axis=1)))


def folds(surface: Surface, points: Floats, steep: float = STEEP) -> Flags:
    """(m,) triangles that turned from their rest so far that the cosine is below `steep`."""
    corners = points[surface.faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rest = surface.vertices[surface.faces]
    before = np.cross(rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0])
    both = np.linalg.norm(area, axis=1) * np.linalg.norm(before, axis=1)
    return np.einsum("ij,ij->i", area, before) < steep * both
