"""The take as glTF 2.0: bones as a tree of nodes, the skin skinned to them and to helper joints on the belly."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from risorius.core.mesh import PolyMesh
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import write_bytes
from risorius.io.gltf_build import VERTEX, Builder, to_gltf, turn_to_gltf
from risorius.io.layers import Layers, bone_colour, layer_colours
from risorius.io.story import continuous, vertex_normals
from risorius.maths.lowrank import LowRank, compress
from risorius.maths.rotations import conjugate, matrices, product
from risorius.skin.binding import Binding
from risorius.skin.joints import JointSkin, four_joints, helper_poses

Floats = NDArray[np.float64]


def write_glb(
    path: str | PathLike[str], torso: Torso, record: Record, binding: Binding | None = None
) -> dict[str, float]:
    """Write take.glb, whole or not at all.

    Args:
        binding: of the generated skin; made here where not given.

    Returns: `skin_error_mm`, the largest distance of the four-joint skin from the bound one, and
        `diaphragm_error_mm`, that of the diaphragm's few shapes.
    """
    from risorius.skin.weights import bind, skin_of

    binding = binding or bind(skin_of(torso), torso)
    skin = four_joints(binding, np.asarray(torso.skin.vertices), torso, record)
    build = Builder()
    time = build.accessor(np.asarray(record.time) - record.time[0], bounds=True)
    animation: dict = {"name": "take", "samplers": [], "channels": []}
    joints = add_bones(build, torso, record, animation, time)
    joints += add_helpers(build, torso, record, skin, animation, time)
    root = build.add("nodes", {"name": "Torso", "children": [k for k in joints if k not in owned(build)]})
    build.asset["scenes"][0]["nodes"] = [root]
    add_skin(build, torso, skin, joints, root)
    error = add_diaphragm(build, torso, record, animation, time)
    if animation["channels"]:
        build.asset["animations"] = [animation]
    write_bytes(path, build.bytes())
    return {"skin_error_mm": 1e3 * skin.error, "diaphragm_error_mm": 1e3 * error}


def owned(build: Builder) -> set[int]:
    """Nodes that are some node's children."""
    return {child for node in build.asset["nodes"] for child in node.get("children", [])}


def add_bones(build: Builder, torso: Torso, record: Record, animation: dict, time: int) -> list[int]:
    """A node a body, below its parent's, at its joint point, with its mesh; only what moves gets a channel."""
    bodies = torso.bodies
    colours = {name: build.material(name, layer_colours()[name]) for name in ("Bones", "Cartilage")}
    rotation = continuous(np.asarray(record.rotation))
    spin = matrices(rotation)
    pivot = np.asarray(bodies.joint_point)
    place = np.einsum("fbij,bj->fbi", spin, pivot) + record.position
    for k, name in enumerate(bodies.names):
        mesh = bodies.meshes[k]
        points = to_gltf(np.asarray(mesh.vertices) - pivot[k])
        kind = "Cartilage" if bone_colour(name) == layer_colours()["Cartilage"] else "Bones"
        normals = vertex_normals(points, mesh.faces)
        primitive = build.primitive(points, mesh.faces, normals, colours[kind])
        parent = int(bodies.parent[k])
        node = {
            "name": name,
            "mesh": build.add("meshes", {"name": name, "primitives": [primitive]}),
            "translation": to_gltf(pivot[k] - (pivot[parent] if parent >= 0 else 0.0)).tolist(),
        }
        build.add("nodes", node)
        if parent >= 0:
            build.asset["nodes"][parent].setdefault("children", []).append(k)
            back = spin[:, parent].transpose(0, 2, 1)
            local = np.einsum("fij,fj->fi", back, place[:, k] - place[:, parent])
            turn = product(conjugate(rotation[:, parent]), rotation[:, k])
        else:
            local, turn = place[:, k], rotation[:, k]
        animate(build, animation, k, time, local, turn, node["translation"])
    return list(range(len(bodies.names)))


def animate(
    build: Builder, animation: dict, node: int, time: int, place: Floats, turn: Floats, rest: list[float]
) -> None:
    moved = to_gltf(place)
    if np.abs(moved - np.array(rest)).max() > 1e-9:
        build.channel(animation, node, "translation", time, moved)
    turned = turn_to_gltf(continuous(turn[:, None])[:, 0])
    if np.abs(turned[:, :3]).max() > 1e-9:
        build.channel(animation, node, "rotation", time, turned / np.linalg.norm(turned, axis=1, keepdims=True))


def add_helpers(build: Builder, torso: Torso, record: Record, skin: JointSkin, animation: dict, time: int) -> list[int]:
    """Nodes `belly_00` … that follow points of the belly wall."""
    places, turns = helper_poses(torso, record, skin.helpers)
    found = []
    for k, point in enumerate(skin.helpers.tolist()):
        rest = to_gltf(np.asarray(torso.surface.points)[point]).tolist()
        found.append(build.add("nodes", {"name": f"belly_{k:02d}", "translation": rest}))
        animate(build, animation, found[-1], time, places[:, k], turns[:, k], rest)
    return found


def add_skin(build: Builder, torso: Torso, skin: JointSkin, joints: list[int], root: int) -> None:
    pivots = np.concatenate([torso.bodies.joint_point, np.asarray(torso.surface.points)[skin.helpers]])
    inverse = np.tile(np.eye(4), (len(joints), 1, 1))
    inverse[:, 3, :3] = -to_gltf(pivots)  # column-major: the last row holds the translation
    points = to_gltf(np.asarray(torso.skin.vertices))
    primitive = build.primitive(
        points,
        torso.skin.faces,
        vertex_normals(points, torso.skin.faces),
        build.material("Skin", layer_colours()["Skin"]),
    )
    primitive["attributes"]["JOINTS_0"] = build.accessor(skin.joint, "u1" if len(joints) < 256 else "u2", target=VERTEX)
    primitive["attributes"]["WEIGHTS_0"] = build.accessor(whole(skin.weight), target=VERTEX)
    bound = {
        "joints": joints,
        "inverseBindMatrices": build.accessor(inverse.reshape(-1, 16)),
        "skeleton": root,
        "name": "Skin",
    }
    mesh = build.add("meshes", {"name": "Skin", "primitives": [primitive]})
    node = build.add("nodes", {"name": "Skin", "mesh": mesh, "skin": build.add("skins", bound)})
    build.asset["scenes"][0]["nodes"].append(node)


def whole(weight: Floats) -> NDArray[np.float32]:
    """Single-precision weights whose sum is one to the last digit that matters."""
    single = weight.astype(np.float32)
    largest = single.argmax(axis=1)
    rows = np.arange(len(single))
    single[rows, largest] += 1.0 - single.astype(np.float64).sum(axis=1).astype(np.float32)
    return single


def add_diaphragm(build: Builder, torso: Torso, record: Record, animation: dict, time: int) -> float:
    """The diaphragm as a mesh with a few morph targets; gives the largest error [m]."""
    faces = Layers(torso).diaphragm
    if len(faces) == 0:
        return 0.0
    used, corners = np.unique(faces, return_inverse=True)
    rest = np.asarray(torso.surface.points)[used]
    few = compress(rest, record.points[:, used], tolerance=2e-4, most=12)
    material = build.material("Diaphragm", layer_colours()["Diaphragm"])
    return add_morphed(build, "Diaphragm", rest, corners.reshape(-1, 3), few, material, animation, time)


def add_morphed(build: Builder, name: str, rest, faces, few, material, animation: dict, time: int) -> float:
    points = to_gltf(rest)
    primitive = build.primitive(points, faces, vertex_normals(points, faces), material)
    mesh: dict = {"name": name, "primitives": [primitive]}
    node = build.add("nodes", {"name": name, "mesh": build.add("meshes", mesh)})
    build.asset["scenes"][0]["nodes"].append(node)
    if len(few.shapes):
        shapes, weights = one_sided(few)
        build.shapes(primitive, to_gltf(shapes))
        mesh["weights"] = [0.0] * len(shapes)
        build.channel(animation, node, "weights", time, weights.reshape(-1))
    return few.error


def one_sided(few: LowRank) -> tuple[Floats, Floats]:
    """Morph targets (k + 1, n, 3) and their weights (f, k + 1) from 0 to 1, since hosts cut weights off there.

    The first target carries to where every other weight is least and is always fully on; all weights at 0 give the
    points at rest. It is left out where nothing goes below 0.
    """
    low = np.minimum(few.amounts.min(axis=0), 0.0)
    span = np.maximum(few.amounts.max(axis=0) - low, 1e-12)
    if not low.any():
        return few.shapes * span[:, None, None], np.clip(few.amounts / span, 0.0, 1.0)
    shapes = np.concatenate([np.tensordot(low, few.shapes, 1)[None], few.shapes * span[:, None, None]])
    share = np.clip((few.amounts - low) / span, 0.0, 1.0)
    return shapes, np.concatenate([np.ones((len(share), 1)), share], axis=1)


def write_morphed_glb(
    path: str | PathLike[str], mesh: PolyMesh, points: NDArray, time: Floats, *, to_metres: Floats, tolerance: float
) -> tuple[LowRank, int]:
    """Any animated mesh as morph targets; points keep the mesh's own numbers, its node brings them to metres and +Z.

    Args:
        points: (f, n, 3) in the mesh's unit.
        to_metres: (4, 4) mesh -> glTF world: a turn, an even scale, a shift.
        tolerance: largest error wanted, in the mesh's unit.

    Returns: the shapes with the largest error reached, and the number of targets in the file.
    """
    few = compress(mesh.vertices, points, tolerance=tolerance)
    return few, write_few_shapes(path, mesh, few, time, to_metres=to_metres)


def write_few_shapes(
    path: str | PathLike[str], mesh: PolyMesh, few: LowRank, time: Floats, *, to_metres: Floats
) -> int:
    """A mesh with given morph targets and their weights over time; the number of targets in the file."""
    build = Builder()
    count = 0
    stamp = build.accessor(np.asarray(time) - time[0], bounds=True)
    faces, _ = mesh.triangles()
    primitive = build.primitive(mesh.vertices, faces, vertex_normals(mesh.vertices, faces), None)
    entry: dict = {"name": "mesh", "primitives": [primitive]}
    matrix = np.asarray(to_metres).T.reshape(-1).tolist()
    node = build.add("nodes", {"name": "mesh", "mesh": build.add("meshes", entry), "matrix": matrix})
    build.asset["scenes"][0]["nodes"] = [node]
    animation: dict = {"name": "take", "samplers": [], "channels": []}
    if len(few.shapes):
        shapes, weights = one_sided(few)
        build.shapes(primitive, shapes)
        count = len(shapes)
        entry["weights"] = [0.0] * count
        build.channel(animation, node, "weights", stamp, weights.reshape(-1))
        build.asset["animations"] = [animation]
    write_bytes(path, build.bytes())
    return count
