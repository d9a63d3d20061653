"""Every muscle's surface as a grid of points to look at, all of them in one sparse product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, kron

from risorius.maths.bspline import matrix
from risorius.skin.muscle.model import Muscle, Settings
from risorius.skin.muscle.shape import Bundle, patchwork

FINENESS = 4
"""Points a patch and direction."""


class Sheets:
    """Grids of points on the surfaces of some muscles, in the order of a deformer.

    Args:
        muscles: at least one.
    """

    def __init__(self, muscles: list[Muscle]) -> None:
        self.bundle = Bundle.of(muscles)
        self.shapes: list[tuple[int, int]] = []
        blocks = []
        for muscle in muscles:
            surface = patchwork(muscle)
            u, v = (np.linspace(0.0, 1.0, FINENESS * count + 1) for count in surface.patches)
            blocks.append(kron(matrix(surface.knots_u, muscle.degree, u), matrix(surface.knots_v, muscle.degree, v)))
            self.shapes.append((len(u), len(v)))
        self.weights = block_diag(blocks, format="csr")
        self.points = self.bundle.basis + self.bundle.normals * self.bundle.swell[:, None]
        self.moves = np.zeros((len(self.points), 4))

    def at(self, now: Settings) -> list[NDArray[np.float64]]:
        """(a, b, 3) points of each muscle; the envelope, which is the skin's alone, has no part in them."""
        whole = replace(now, envelope=np.ones(len(self.shapes)))
        self.bundle.displacements(whole, self.moves)
        points = self.weights @ (self.points + self.moves[:, :3])
        cuts = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        return [part.reshape(*shape, 3) for part, shape in zip(np.split(points, cuts), self.shapes)]
