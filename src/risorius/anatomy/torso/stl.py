"""Bone meshes that come inside the `myo_sim` package (Apache-2.0): read, welded, closed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from risorius.anatomy.torso.loft import mesh
from risorius.core.errors import InputError
from risorius.core.torso import Floats, Ints, Mesh


def folder() -> Path:
    """Where the meshes lie; the package itself is not imported, only found."""
    spec = find_spec("myo_sim")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("expected the package myo-sim, which brings the bones; install it with pip", place="bones")
    return Path(spec.submodule_search_locations[0]) / "models" / "meshes"


@cache
def bone(name: str, part: int = -1) -> Mesh:
    """A mesh [m] in its own frame, faces outward; `part` picks one of its pieces, in their order in the file."""
    path = folder() / f"{name}.stl"
    if not path.is_file():
        raise InputError("expected a bone mesh of myo-sim 0.2", file=str(path))
    data = path.read_bytes()
    count = int(np.frombuffer(data[80:84], "<u4")[0])
    record = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")])
    corners = np.frombuffer(data[84 : 84 + 50 * count], record)["corner"].reshape(-1, 3).astype(float)
    vertices, index = np.unique(corners.round(6), axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])]
    if part >= 0:
        edges = np.concatenate([faces[:, :2], faces[:, 1:]])
        graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(vertices),) * 2)
        label = connected_components(graph, directed=False)[1]
        faces = faces[label[faces[:, 0]] == part]
        used, index = np.unique(faces, return_inverse=True)
        vertices, faces = vertices[used], index.reshape(-1, 3)
    closed = turned(filled(without_flaps(vertices, turned(faces.astype(np.int32)))))
    a, b, c = (vertices[closed[:, i]] for i in range(3))
    if (a * np.cross(b, c)).sum() < 0:
        closed = closed[:, ::-1]
    used, index = np.unique(closed, return_inverse=True)
    return mesh(vertices[used], index.reshape(-1, 3))


def turned(faces: Ints) -> Ints:
    """Faces wound the same way round across every edge that two of them share; doubled faces dropped."""
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    faces = faces[np.sort(first)]
    users: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    for number, face in enumerate(faces.tolist()):
        for a, b in zip(face, face[1:] + face[:1]):
            users.setdefault((min(a, b), max(a, b)), []).append((number, a < b))
    beside: list[list[tuple[int, bool]]] = [[] for _ in faces]
    for pair in users.values():
        if len(pair) == 2:
            (one, up), (two, down) = pair
            beside[one].append((two, up == down))
            beside[two].append((one, up == down))
    flipped: dict[int, bool] = {}
    for seed in range(len(faces)):
        if seed in flipped:
            continue
        flipped[seed] = False
        stack, patch = [seed], [seed]
        while stack:
            here = stack.pop()
            for there, against in beside[here]:
                if there not in flipped:
                    flipped[there] = flipped[here] ^ against
                    stack.append(there)
                    patch.append(there)
        if sum(flipped[number] for number in patch) > len(patch) / 2:
            flipped |= {number: not flipped[number] for number in patch}
    turn = np.array([flipped[number] for number in range(len(faces))])
    return np.where(turn[:, None], faces[:, ::-1], faces)


def without_flaps(vertices: Floats, faces: Ints) -> Ints:
    """Leave out folded flaps: faces about a point where their normals cancel."""
    normal = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    total, size = np.zeros_like(vertices), np.zeros(len(vertices))
    for k in range(3):
        np.add.at(total, faces[:, k], normal)
        np.add.at(size, faces[:, k], np.linalg.norm(normal, axis=1))
    flap = np.linalg.norm(total, axis=1) < 0.1 * size
    return faces[~flap[faces].any(axis=1)]


def filled(faces: Ints) -> Ints:
    """Close holes: every loop of edges that only one face uses gets a fan."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    known = {tuple(edge) for edge in edges.tolist()}
    onward: dict[int, list[int]] = {}
    for a, b in sorted(known):
        if (b, a) not in known:
            onward.setdefault(b, []).append(a)  # the hole's rim runs against the face
    extra = []
    while onward:
        start = min(onward)
        loop, here = [start], start
        while True:
            follow = onward[here].pop()
            if not onward[here]:
                del onward[here]
            if follow == start or follow not in onward:
                break
            loop.append(follow)
            here = follow
        extra += [(loop[0], loop[i], loop[i + 1]) for i in range(1, len(loop) - 1)]
    return np.concatenate([faces, np.array(extra, np.int32).reshape(-1, 3)])
