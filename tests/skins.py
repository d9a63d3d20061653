"""Meshes that the muscle tests make, and curves drawn on any mesh."""

import numpy as np

from risorius.core.mesh import PolyMesh, of_triangles
from risorius.skin.frames import tangents
from risorius.skin.muscle.surface import Surface


def plane(side=41, waves=0.0):
    x, z = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side), indexing="ij")
    k = np.arange(side * side).reshape(side, side)
    quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)
    y = waves * np.sin(3 * x) * np.cos(2 * z)
    return of_triangles(np.stack([x, y, z], axis=-1).reshape(-1, 3), quads)


def cylinder(around=160, along=60):
    angle, height = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(-2, 2, along), indexing="ij")
    k = np.arange(around * along).reshape(around, along)
    turn = np.roll(k, -1, axis=0)
    quads = np.stack([k[:, :-1], k[:, 1:], turn[:, 1:], turn[:, :-1]], axis=-1).reshape(-1, 4)
    return of_triangles(np.stack([np.cos(angle), height, np.sin(angle)], axis=-1).reshape(-1, 3), quads)


def sphere(rings=60):
    tilt = np.linspace(0, np.pi, rings + 1)[1:-1]
    turn = np.arange(2 * rings) * np.pi / rings
    side = np.stack([np.sin(tilt)[:, None] * np.cos(turn), np.repeat(np.cos(tilt)[:, None], 2 * rings, 1),
                     -np.sin(tilt)[:, None] * np.sin(turn)], axis=-1)  # fmt: skip
    points = np.concatenate([[[0.0, 1.0, 0.0]], side.reshape(-1, 3), [[0.0, -1.0, 0.0]]])
    k = 1 + np.arange(side.shape[0] * 2 * rings).reshape(-1, 2 * rings)
    turn_k = np.roll(k, -1, axis=1)
    last = len(points) - 1
    faces = [[0, a, b] for a, b in zip(k[0], turn_k[0])] + [[last, b, a] for a, b in zip(k[-1], turn_k[-1])]
    for a, b, c, d in zip(k[:-1].ravel(), k[1:].ravel(), turn_k[1:].ravel(), turn_k[:-1].ravel()):
        faces += [[a, b, c], [a, c, d]]
    return of_triangles(points, np.array(faces))


def cut_up(mesh: PolyMesh) -> PolyMesh:
    """Every face with points of its own: polygon soup."""
    return PolyMesh(
        mesh.vertices[mesh.indices], np.arange(len(mesh.indices), dtype=np.int32), mesh.offsets,
    )  # fmt: skip


def drawn_at(surface: Surface, near, length, count=6):
    """Two curves, `length` long and half as far apart, on the surface around the place nearest to a point."""
    _, place, normal, triangle = surface.on(np.atleast_2d(np.asarray(near, dtype=float)))
    surface = surface.of_parts(triangle)
    first, second = tangents(normal[0])
    line = np.linspace(-0.5, 0.5, count)[:, None] * length
    return tuple(surface.on(place[0] + line * first + side * length * second)[1] for side in (-0.25, 0.25))
