"""Hand animations in, by the ending of the name: BVH, glTF, USD, the XML of keyframes, recorded WebXR poses (js)."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Final

from risorius.core.clip import Clip, checked
from risorius.core.errors import InputError

READERS: Final = {
    ".bvh": "clip_bvh",
    ".glb": "clip_gltf",
    ".gltf": "clip_gltf",
    ".usd": "clip_usd",
    ".usda": "clip_usd",
    ".usdc": "clip_usd",
    ".usdz": "clip_usd",
    ".xml": "clip_xml",
    ".js": "clip_pose",
    ".json": "clip_pose",
}


def read_clip(path: str | PathLike[str]) -> Clip:
    """Read any animation; `InputError` names file and place for whatever is wrong with it."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in READERS:
        raise InputError(
            f"expected an animation ending in {', '.join(READERS)}, got {ending or 'no ending'!r}", file=file
        )
    return checked(importlib.import_module(f"risorius.io.{READERS[ending]}").read(file))
