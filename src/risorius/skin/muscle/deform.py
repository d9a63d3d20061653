"""The skin over its muscles, frame after frame: s' = s + Σ ψ(‖s − p⁰‖) (p¹ − p⁰) (paper 001, figure 4.4).

What does not change is found once: the closest place of each muscle, its B-spline weights and its falloff. A frame is
then the muscles' control points and one pass over the points, N_i(u) N_j(v) Δq_ij summed in the same order whatever
order the muscles came in.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.compiled import inner, released
from risorius.skin.muscle.attach import Attachment, attach, weights
from risorius.skin.muscle.falloff import falloff
from risorius.skin.muscle.model import FALLOFFS, Muscle, Settings
from risorius.skin.muscle.shape import Bundle

Floats = NDArray[np.float64]
CUBIC: Final = 4
"""Weights a direction that the fast pass holds; higher degrees take the general one."""


class Deformer:
    """A mesh's points under muscles.

    Args:
        vertices: (n, 3) at rest.
        muscles: any number, each with its own name.
        dtype: float64, or float32 for speed.
        reach: (m,) by the order of `muscles`: the largest d_none that will be set; each muscle's own where not given.
        threads: processor cores to use.
        known: closest places found before, by the muscle's name (`attached` of another deformer).
    """

    def __init__(self, vertices: Floats, muscles: list[Muscle], *, dtype: Any = np.float64,
                 reach: Floats | None = None, threads: int = 1,
                 known: dict[str, Attachment] | None = None) -> None:  # fmt: skip
        order = sorted(range(len(muscles)), key=lambda k: muscles[k].name)
        self.muscles = [muscles[k] for k in order]
        self.names = [muscle.name for muscle in self.muscles]
        self.vertices = np.ascontiguousarray(vertices, dtype=dtype)
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        most = [muscle.d_none for muscle in muscles] if reach is None else list(reach)
        exact = np.ascontiguousarray(vertices, dtype=np.float64)
        found = known or {}
        self.attachments = [found.get(muscles[k].name) or attach(muscles[k], exact, most[k]) for k in order]
        self.width = max([CUBIC] + [muscle.degree + 1 for muscle in self.muscles])
        self._assemble(dtype)

    def _assemble(self, dtype: Any) -> None:
        """Rows of all pairs of point and muscle, point after point."""
        count = len(self.muscles)
        if count:
            self.bundle = Bundle.of(self.muscles)
        rows = int(self.bundle.start[-1]) if count else 0
        widest = int(self.bundle.columns.max()) if count else 0
        self.moves = np.zeros((rows + self.width * (widest + 1), 4), dtype=dtype)
        parts = [self._pairs(k, attachment) for k, attachment in enumerate(self.attachments)]
        point = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
        order = np.argsort(point, kind="stable")
        self._order = order
        self.active, starts = np.unique(point[order], return_index=True)
        self.offsets = np.append(starts, len(point)).astype(np.int64)
        empty = np.zeros((0, 2, self.width))
        self._plain = np.concatenate([empty, *(part[2] for part in parts)])[order].astype(dtype)
        self.first = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])[order].astype(np.int32)
        muscle = np.concatenate([np.zeros(0, np.int64), *(np.full(len(part[0]), k) for k, part in enumerate(parts))])
        self.stride = (self.bundle.columns[muscle[order]] if count else np.zeros(0)).astype(np.int32)
        self._fold(Settings.of(self.muscles))

    def _pairs(self, k: int, attachment: Attachment) -> tuple[NDArray, NDArray, Floats]:
        values, corner = weights(self.muscles[k], attachment.place, self.width)
        first = self.bundle.start[k] + corner[:, 0] * self.bundle.columns[k] + corner[:, 1]
        return attachment.points, first, values

    def _fold(self, now: Settings) -> None:
        """Multiply falloff and point weights into the pairs; done again only where a falloff is keyed."""
        fade = [np.zeros(0)]
        for k, attachment in enumerate(self.attachments):
            kind = FALLOFFS[int(now.falloff[k])]
            psi = falloff(attachment.distance, float(now.d_full[k]), float(now.d_none[k]), kind)
            fade.append(psi * attachment.weight)
        self.shares = self._plain.copy()
        self.shares[:, 0] *= np.concatenate(fade)[self._order].astype(self.shares.dtype)[:, None]
        self._folded = (now.d_full.copy(), now.d_none.copy(), now.falloff.copy())

    def attached(self, *, but: str) -> dict[str, Attachment]:
        """Closest places of all muscles but one."""
        return {name: place for name, place in zip(self.names, self.attachments) if name != but}

    def settings(self) -> Settings:
        """All muscles at rest, in the order of `names`."""
        return Settings.of(self.muscles)

    def frame(self, now: Settings, out: NDArray | None = None) -> NDArray:
        """The skin (n, 3) under these settings; what was set before has no part in it."""
        if out is None:
            out = self.vertices.copy()
        else:
            out[...] = self.vertices
        if not self.muscles:
            return out
        wanted = (now.d_full, now.d_none, now.falloff)
        if not all(np.array_equal(a, b) for a, b in zip(wanted, self._folded)):
            self._fold(now)
        self.bundle.displacements(now, self.moves)
        move = cubic if self.width == CUBIC else general
        count = len(self.active)
        if self.threads == 1 or count < 2000:
            move(self.active, self.offsets, self.first, self.stride, self.shares, self.moves, out, 0, count)
            return out
        cuts = np.linspace(0, count, self.threads + 1).astype(int)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads)
        jobs = [
            self._pool.submit(move, self.active, self.offsets, self.first, self.stride, self.shares, self.moves, out,
                        int(a), int(b))
            for a, b in pairwise(cuts)
        ]  # fmt: skip
        for job in jobs:
            job.result()
        return out


@released
def cubic(active, offsets, first, stride, shares, moves, out, begin, end):
    """Degrees up to three: sixteen control points a pair.

    Their rows are padded to four numbers and all four are summed, the last being zero: a row is then one register.
    """
    zero = moves[0, 0] - moves[0, 0]
    for k in range(begin, end):
        x = y = z = pad = zero
        for pair in range(offsets[k], offsets[k + 1]):
            row, wide = first[pair], stride[pair]
            v0, v1, v2, v3 = shares[pair, 1, 0], shares[pair, 1, 1], shares[pair, 1, 2], shares[pair, 1, 3]
            for i in range(4):
                w = shares[pair, 0, i]
                if w == 0:  # at the muscle's rim one row alone counts: there most far points have their closest place
                    continue
                r = row + i * wide
                a = v0 * moves[r, 0] + v1 * moves[r + 1, 0] + v2 * moves[r + 2, 0] + v3 * moves[r + 3, 0]
                b = v0 * moves[r, 1] + v1 * moves[r + 1, 1] + v2 * moves[r + 2, 1] + v3 * moves[r + 3, 1]
                c = v0 * moves[r, 2] + v1 * moves[r + 1, 2] + v2 * moves[r + 2, 2] + v3 * moves[r + 3, 2]
                d = v0 * moves[r, 3] + v1 * moves[r + 1, 3] + v2 * moves[r + 2, 3] + v3 * moves[r + 3, 3]
                x += w * a
                y += w * b
                z += w * c
                pad += w * d
        put(out, active[k], x + pad, y, z)


@released
def general(active, offsets, first, stride, shares, moves, out, begin, end):
    """Any degree."""
    zero = moves[0, 0] - moves[0, 0]
    width = shares.shape[2]
    for k in range(begin, end):
        x = y = z = zero
        for pair in range(offsets[k], offsets[k + 1]):
            for i in range(width):
                w = shares[pair, 0, i]
                if w != 0:
                    r = first[pair] + i * stride[pair]
                    for j in range(width):
                        s = w * shares[pair, 1, j]
                        x += s * moves[r + j, 0]
                        y += s * moves[r + j, 1]
                        z += s * moves[r + j, 2]
        put(out, active[k], x, y, z)


@inner
def put(out, point, x, y, z):
    """Add a move; a point that does not move keeps its very bits."""
    if x != 0 or y != 0 or z != 0:
        out[point, 0] += x
        out[point, 1] += y
        out[point, 2] += z
