"""Closed meshes swept along a curve: bars of elliptic section, capped; everything counter-clockwise from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.torso import Floats, Mesh


def mesh(vertices: Floats, faces: NDArray[np.integer[Any]]) -> Mesh:
    """A mesh with the types of the contract."""
    return Mesh(np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces, np.int32))


def bar(
    centre: Floats, across: Floats, along: Floats, half_across: Floats, half_along: Floats, sides: int = 10
) -> Mesh:
    """Sweep a superellipse along a centre line.

    Args:
        centre: (n, 3) [m].
        across, along: (n, 3) unit directions of the section's two axes; across × along points onward.
        half_across, half_along: (n,) half sizes [m].
        sides: points round the section.
    """
    t = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    power = 0.8
    c = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** power
    s = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** power
    ring = (
        centre[:, None]
        + (half_across[:, None] * c)[..., None] * across[:, None]
        + (half_along[:, None] * s)[..., None] * along[:, None]
    )
    n = len(centre)
    vertices = np.concatenate([ring.reshape(-1, 3), centre[:1], centre[-1:]])
    faces = []
    j = np.arange(sides)
    k = (j + 1) % sides
    for i in range(n - 1):
        a, b = i * sides, (i + 1) * sides
        faces += [np.stack([a + j, a + k, b + k], -1), np.stack([a + j, b + k, b + j], -1)]
    faces += [np.stack([np.full(sides, n * sides), k, j], -1)]
    last = (n - 1) * sides
    faces += [np.stack([np.full(sides, n * sides + 1), last + j, last + k], -1)]
    return mesh(vertices, np.concatenate(faces))


def joined(parts: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    offsets = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    return mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + offset for part, offset in zip(parts, offsets)]),
    )


def mirrored(part: Mesh) -> Mesh:
    """The left from the right."""
    return mesh(part.vertices * [1.0, 1.0, -1.0], part.faces[:, ::-1])


def ellipsoid(centre: Floats, half: Floats, turn: Floats | None = None, rings: int = 8, sides: int = 12) -> Mesh:
    """An ellipsoid; `turn` (3, 3) has its axes as rows."""
    axes = np.eye(3) if turn is None else turn
    theta = np.linspace(0.02, np.pi - 0.02, rings)
    middle = np.asarray(centre) + (np.cos(theta) * half[1])[:, None] * axes[1]
    n = len(theta)
    return bar(
        middle[::-1],
        np.repeat(axes[2][None], n, 0),
        np.repeat(axes[0][None], n, 0),
        (np.sin(theta) * half[2])[::-1],
        (np.sin(theta) * half[0])[::-1],
        sides,
    )


def unit(vectors: Floats) -> Floats:
    """Vectors (…, 3) at length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-15)
