"""hand.glb: simulated bones as animated nodes; strands by group and skin as meshes with morph targets."""

from __future__ import annotations

from os import PathLike
from typing import Final

import numpy as np

from risorius.core.hand import HandRecord
from risorius.io.files import write_bytes
from risorius.io.gltf import add_morphed, animate
from risorius.io.gltf_build import Builder, to_gltf
from risorius.io.hand_tubes import centre_lines, tube_faces, tubes
from risorius.io.layers import appearance, layer_colours
from risorius.io.story import continuous, vertex_normals
from risorius.maths.lowrank import compress
from risorius.maths.rotations import conjugate, product, quaternions

SIDES: Final = 6
SPACING: Final = 7e-3
"""[m] about the distance of rings."""
TOLERANCE: Final = 2e-4
MOST: Final = 48


def write_hand_glb(path: str | PathLike[str], record: HandRecord) -> dict[str, float]:
    """Write the file, whole or not at all.

    Returns: `strand_error_mm`, `skin_error_mm`: what the few shapes miss the motion by at most.
    """
    build = Builder()
    time = build.accessor(np.asarray(record.time) - record.time[0], bounds=True)
    animation: dict = {"name": "take", "samplers": [], "channels": []}
    bones(build, record, animation, time)
    worst = 0.0
    for group in dict.fromkeys(record.groups):
        worst = max(worst, group_tubes(build, record, group, animation, time))
    found = {"strand_error_mm": 1e3 * worst}
    if record.skin is not None:
        faces, _ = record.skin.mesh.triangles()
        rest = record.skin.points[0].astype(np.float64)
        few = compress(rest, record.skin.points, tolerance=TOLERANCE, most=MOST)
        material = build.material("Skin", layer_colours()["Skin"])
        found["skin_error_mm"] = 1e3 * add_morphed(build, "Skin", rest, faces, few, material, animation, time)
    if animation["channels"]:
        build.asset["animations"] = [animation]
    write_bytes(path, build.bytes())
    return found


def bones(build: Builder, record: HandRecord, animation: dict, time: int) -> None:
    """A node a body below its parent's, at its joint point, with its mesh."""
    material = build.material("Bones", layer_colours()["Bones"])
    turned = continuous(quaternions(record.rotation))
    place = np.einsum("fbij,bj->fbi", record.rotation, record.pivot) + record.position
    for k, name in enumerate(record.names):
        bone = record.meshes[k]
        points = to_gltf(np.asarray(bone.vertices) - record.pivot[k])
        primitive = build.primitive(points, bone.faces, vertex_normals(points, np.asarray(bone.faces)), material)
        parent = int(record.parent[k])
        rest = to_gltf(record.pivot[k] - (record.pivot[parent] if parent >= 0 else 0.0)).tolist()
        mesh = build.add("meshes", {"name": name, "primitives": [primitive]})
        node = build.add("nodes", {"name": name, "mesh": mesh, "translation": rest})
        if parent >= 0:
            build.asset["nodes"][parent].setdefault("children", []).append(node)
            back = record.rotation[:, parent].transpose(0, 2, 1)
            local = np.einsum("fij,fj->fi", back, place[:, k] - place[:, parent])
            turn = product(conjugate(turned[:, parent]), turned[:, k])
        else:
            local, turn = place[:, k], turned[:, k]
            build.asset["scenes"][0]["nodes"].append(node)
        animate(build, animation, node, time, local, turn, rest)


def group_tubes(build: Builder, record: HandRecord, group: str, animation: dict, time: int) -> float:
    """One mesh for all units of a group; gives the largest error of its few shapes [m]."""
    points, faces, count = [], [], 0
    for k, own in enumerate(record.groups):
        if own != group:
            continue
        first = record.points[0, record.strand(k)]
        length = float(np.linalg.norm(np.diff(first, axis=0), axis=1).sum())
        samples = max(6, round(length / SPACING))
        line, radius = centre_lines(record, k, samples)
        rings = tubes(line, radius, SIDES)
        points.append(rings.astype(np.float32))
        faces.append(tube_faces(samples, SIDES) + count)
        count += rings.shape[1]
    moved = np.concatenate(points, axis=1)
    rest = moved[0].astype(np.float64)
    few = compress(rest, moved, tolerance=TOLERANCE, most=MOST)
    driven = appearance()["muscle"]["driven"]
    material = build.material(group, (*driven, 1.0))
    return add_morphed(build, group, rest, np.concatenate(faces), few, material, animation, time)
