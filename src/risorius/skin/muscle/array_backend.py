"""The frame's pass over the points in one array library: numpy, or torch or cupy on a GPU, by the same few calls.

Points are laid out with as many places as the busiest point has muscles, so that a frame is a gather, a weighted sum
and one assignment; bit for bit it is not the compiled pass, to rounding it is.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from risorius.core.errors import InputError
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.model import Settings

LIBRARIES: Final = ("numpy", "torch", "cupy")


class ArrayDeformer:
    """A deformer's frames on another device.

    Args:
        deformer: made as usual; its falloffs are those of the muscles themselves.
        library: one of LIBRARIES; torch uses its GPU where it has one.
    """

    def __init__(self, deformer: Deformer, library: str = "numpy") -> None:
        if library not in LIBRARIES:
            raise InputError(f"expected one of {', '.join(LIBRARIES)}, got {library!r}", place="array library")
        try:
            self.xp: Any = importlib.import_module(library)
        except ImportError:
            raise InputError(f"the package {library} is not installed", place="array library") from None
        self.deformer = deformer
        self.device: Any = "cuda" if library == "torch" and self.xp.cuda.is_available() else "cpu"
        count, width = len(deformer.active), deformer.width
        pairs = np.diff(deformer.offsets)
        most = int(pairs.max()) if count else 0
        place = deformer.offsets[:-1, None] + np.arange(most)
        used = np.arange(most) < pairs[:, None]
        place = np.where(used, place, 0)
        share = np.einsum("pi,pj->pij", deformer.shares[:, 0], deformer.shares[:, 1])
        corner = (
            deformer.first[:, None, None]
            + deformer.stride[:, None, None] * np.arange(width)[:, None]
            + np.arange(width)
        ).astype(np.int64)  # fmt: skip
        flat = (count, most * width * width)
        empty = np.zeros(flat, dtype=deformer.vertices.dtype)
        self.share = self.up((share[place] * used[..., None, None]).reshape(flat) if count else empty)
        self.corner = self.up(corner[place].reshape(flat) if count else empty.astype(np.int64))
        self.active = self.up(np.asarray(deformer.active, dtype=np.int64))
        self.rest = self.up(deformer.vertices)

    def up(self, values: np.ndarray) -> Any:
        """An array on the library's device."""
        values = np.ascontiguousarray(values)
        return self.xp.as_tensor(values, device=self.device) if self.xp.__name__ == "torch" else self.xp.asarray(values)

    def frame(self, now: Settings) -> Any:
        """The skin (n, 3), an array of the library."""
        if self.deformer.muscles:
            self.deformer.bundle.displacements(now, self.deformer.moves)
        moves = self.up(self.deformer.moves[:, :3].copy())
        out = self.rest.clone() if self.xp.__name__ == "torch" else self.rest.copy()
        if len(self.deformer.active):
            out[self.active] = out[self.active] + self.xp.einsum("pk,pki->pi", self.share, moves[self.corner])
        return out
