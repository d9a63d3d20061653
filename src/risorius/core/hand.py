"""A hand in motion: what a run of `risorius hand` holds, and every format, page and picture reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.mesh import PolyMesh
from risorius.core.torso import Mesh

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class HandSkin:
    """A skin in motion.

    Args:
        mesh: as the user gave it, points in the file's unit and place.
        points: (f, v, 3) [m] in the world, moved by bones and lifted by strands.
        prominence: (f, v) [m] how far the strands lift each point.
    """

    mesh: PolyMesh
    points: NDArray[np.float32]
    prominence: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HandRecord:
    """Frames of a hand.

    Args:
        names, parent, pivot, meshes: bodies at rest: (b,) parents, (b, 3) [m] joint points, their bones.
        time: (f,) [s].
        rotation, position: (f, b, 3, 3), (f, b, 3) [m] simulated poses in the world: x = R·x_rest + p.
        target_rotation, target_position: the retargeted animation, in the same way.
        units: names of the strands; groups: what each belongs to.
        first: (u + 1,) the control points of unit k are `points[:, first[k]:first[k + 1]]`.
        points: (f, n, 3) [m] control points of the pinned cubic B-splines in the world.
        radius: (n,) [m].
        activation: (f, u) 0 … 1.
        skin: of a user's mesh, if there is one.
        run: figures for run.json.
    """

    names: tuple[str, ...]
    parent: Ints
    pivot: Floats
    meshes: tuple[Mesh, ...]
    time: Floats
    rotation: Floats
    position: Floats
    target_rotation: Floats
    target_position: Floats
    units: tuple[str, ...]
    groups: tuple[str, ...]
    first: Ints
    points: Floats
    radius: Floats
    activation: Floats
    skin: HandSkin | None = None
    run: dict[str, Any] = field(default_factory=dict)

    def strand(self, k: int) -> slice:
        """Where unit k's control points lie in `points` and `radius`."""
        return slice(int(self.first[k]), int(self.first[k + 1]))


def vertex_errors(record: HandRecord) -> tuple[float, float]:
    """Mean and worst distance [mm] of the vertices of the bones between simulated and target pose, over all frames."""
    total, count, worst = 0.0, 0, 0.0
    for k, mesh in enumerate(record.meshes):
        points = np.asarray(mesh.vertices)[:: max(1, len(mesh.vertices) // 300)]
        turn = record.rotation[:, k] - record.target_rotation[:, k]
        shift = record.position[:, k] - record.target_position[:, k]
        away = np.linalg.norm(np.einsum("fij,vj->fvi", turn, points) + shift[:, None], axis=2)
        if away.max() > 0 or k > 1:
            total += float(away.sum())
            count += away.size
        worst = max(worst, float(away.max()))
    return 1e3 * total / max(count, 1), 1e3 * worst
