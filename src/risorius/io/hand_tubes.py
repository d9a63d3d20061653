"""Strands as tubes: rings about the pinned B-splines, with frames that do not twist (rotation-minimising)."""

from __future__ import annotations

import numpy as np

from risorius.core.hand import Floats, HandRecord, Ints
from risorius.maths.splines import design


def centre_lines(record: HandRecord, k: int, samples: int) -> tuple[Floats, Floats]:
    """(f, s, 3) [m] points along unit k in every frame, and (s,) [m] radius."""
    own = record.strand(k)
    count = own.stop - own.start
    basis = design(count, np.linspace(0.0, count - 1.0, samples))
    return np.einsum("sn,fni->fsi", basis, record.points[:, own]), basis @ record.radius[own]


def tubes(line: Floats, radius: Floats, sides: int) -> Floats:
    """(f, s·sides, 3) rings about lines (f, s, 3) of radius (s,): double reflection (Wang 2008) along each line."""
    tangent = np.gradient(line, axis=1)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=2, keepdims=True), 1e-12)
    first = np.cross(tangent[:, 0], [0.0, 0.0, 1.0])
    short = np.linalg.norm(first, axis=1, keepdims=True)
    first = np.where(short > 1e-6, first / np.maximum(short, 1e-12), np.array([1.0, 0.0, 0.0]))
    across = np.empty_like(line)
    across[:, 0] = first
    for n in range(line.shape[1] - 1):
        v = line[:, n + 1] - line[:, n]
        c = np.maximum(np.einsum("fi,fi->f", v, v), 1e-20)[:, None]
        r = across[:, n] - (2 / c) * np.einsum("fi,fi->f", v, across[:, n])[:, None] * v
        t = tangent[:, n] - (2 / c) * np.einsum("fi,fi->f", v, tangent[:, n])[:, None] * v
        w = tangent[:, n + 1] - t
        d = np.maximum(np.einsum("fi,fi->f", w, w), 1e-20)[:, None]
        across[:, n + 1] = r - (2 / d) * np.einsum("fi,fi->f", w, r)[:, None] * w
    other = np.cross(tangent, across)
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[:, None] * across[:, :, None] + np.sin(angle)[:, None] * other[:, :, None]
    out = line[:, :, None] + radius[None, :, None, None] * ring
    return out.reshape(len(line), -1, 3)


def tube_faces(samples: int, sides: int) -> Ints:
    """Triangles of one tube, its ends closed, faces outward."""
    a = (np.arange(samples - 1)[:, None] * sides + np.arange(sides)).ravel()
    b = (np.arange(samples - 1)[:, None] * sides + (np.arange(sides) + 1) % sides).ravel()
    wall = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    fan = np.arange(1, sides - 1)
    head = np.stack([np.zeros_like(fan), fan + 1, fan], 1)
    tail = np.stack([np.zeros_like(fan), fan, fan + 1], 1) + (samples - 1) * sides
    return np.concatenate([wall, head, tail]).astype(np.int32)
