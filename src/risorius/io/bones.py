"""Bones of a glTF skin at rest, for muscles along them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from risorius.core.errors import InputError
from risorius.io.mesh_gltf import Scene
from risorius.io.motion import unscaled
from risorius.skin.muscle.limbs import Bone


def read_bones(path: str | PathLike[str]) -> list[Bone]:
    """Every joint of a skin with a child that is a joint: the bone between them (the farthest child's, of several)."""
    file = Path(path)
    if file.suffix.lower() not in (".glb", ".gltf"):
        raise InputError("expected a skinned glTF (.glb, .gltf)", file=file)
    try:
        scene = Scene(file)
        worlds = scene.worlds()
        nodes = scene.asset["nodes"]
        joints = {joint for skin in scene.asset.get("skins", []) for joint in skin["joints"] if joint in worlds}
        found = []
        for number in sorted(joints):
            children = [child for child in nodes[number].get("children", []) if child in joints]
            if not children:
                continue
            start = worlds[number][:3, 3]
            child = max(children, key=lambda k: float(np.linalg.norm(worlds[k][:3, 3] - start)))
            name, far = (str(nodes[k].get("name") or f"node_{k}") for k in (number, child))
            found.append(Bone(name, far, start, worlds[child][:3, 3], unscaled(worlds[child])))
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected a valid skinned glTF ({type(error).__name__} {error})"[:160], file=file) from None
    if not found:
        raise InputError("expected a skin with joints", file=file)
    return found
