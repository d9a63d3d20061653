"""A rigged mesh in glTF: points, joints, weights, painted colours, and the rig at the pose in which the points stand."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from risorius.core.clip import Clip, checked
from risorius.core.errors import InputError
from risorius.core.mesh import Floats, Ints, PolyMesh
from risorius.io.clip_gltf import of_scene
from risorius.io.mesh_gltf import Scene


@dataclass(frozen=True, eq=False)
class RiggedMesh:
    """A mesh and its rig.

    Args:
        mesh: points as `risorius.io.mesh` gives them.
        rest: the rig at rest, one frame.
        joint, weight: (v, 4) joints of `rest` and weights; weight 0 where there is no joint.
        paint: (v,) red channel of the vertex colours, or None.
    """

    mesh: PolyMesh
    rest: Clip
    joint: Ints
    weight: Floats
    paint: Floats | None


def read_rigged(path: str | PathLike[str]) -> RiggedMesh | None:
    """The first skinned mesh's rig with all points; None where the file has no skin."""
    file = Path(path)
    scene = Scene(file)
    try:
        if not scene.asset.get("skins"):
            return None
        mesh = scene.mesh()
        clip = checked(of_scene(scene, file, None))
        rest = Clip(clip.names, clip.parent, np.zeros(1), clip.rest_position[None], clip.rest_rotation[None],
                    clip.rest_position, clip.rest_rotation, {}, 1.0, str(file))  # fmt: skip
        joint, weight, paint = bound(scene, len(mesh.vertices))
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"expected a valid skinned mesh ({type(error).__name__} {error})"[:120], file=file) from None
    return RiggedMesh(mesh, rest, joint, weight, paint)


def bound(scene: Scene, count: int) -> tuple[Ints, Floats, Floats | None]:
    """Joints, weights and paint of every point, in the order of `Scene.mesh`."""
    worlds = scene.worlds()
    order = {number: k for k, number in enumerate(worlds)}
    joint, weight = np.zeros((count, 4), np.int32), np.zeros((count, 4))
    paint = np.full(count, np.nan)
    start = 0
    for number in worlds:
        node = scene.asset["nodes"][number]
        if "mesh" not in node:
            continue
        seen: set[int] = set()
        for primitive in scene.asset["meshes"][node["mesh"]]["primitives"]:
            attributes = primitive["attributes"]
            position = attributes.get("POSITION")
            if primitive.get("mode", 4) not in (4, 5, 6) or position is None or position in seen:
                continue
            seen.add(position)
            size = int(scene.asset["accessors"][position]["count"])
            own = slice(start, start + size)
            if "skin" in node and "JOINTS_0" in attributes:
                joints = np.array(
                    [order.get(entry, 0) for entry in scene.asset["skins"][node["skin"]]["joints"]], np.int32
                )
                joint[own] = joints[scene.accessor(attributes["JOINTS_0"]).astype(np.int64)]
                weight[own] = scene.accessor(attributes["WEIGHTS_0"]).astype(np.float64)
            if "COLOR_0" in attributes:
                colour = scene.accessor(attributes["COLOR_0"]).astype(np.float64)
                paint[own] = colour[:, 0]
            start += size
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 1e-9, weight / np.maximum(total, 1e-9), np.array([1.0, 0, 0, 0]))
    return joint, weight, np.clip(paint, 0, 1) if np.isfinite(paint).all() else None
