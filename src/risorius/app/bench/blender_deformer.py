"""Blender's own Surface Deform modifier, for comparison, where its `bpy` package is installed.

`bpy` is GPL software; it is no dependency and nothing of it is shipped. Install it into an environment of its own
(`pip install bpy risorius`) and run `risorius bench skin` there.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from risorius.core.mesh import PolyMesh


def measure(skin: PolyMesh, frames: int = 50) -> dict[str, Any]:
    """Frames a second of the modifier with one driving grid of 8 × 8 points."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    side = np.linspace(-1, 1, 8)
    x, z = np.meshgrid(side, side, indexing="ij")
    grid = np.stack([x, np.full_like(x, -0.05), z], axis=-1).reshape(-1, 3)
    k = np.arange(64).reshape(8, 8)
    quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)
    driver = placed(bpy, "driver", grid, quads.tolist())
    target = placed(bpy, "skin", skin.vertices, skin.indices.reshape(-1, 4).tolist())
    modifier = target.modifiers.new("deform", "SURFACE_DEFORM")
    modifier.target = driver
    bpy.context.view_layer.objects.active = target
    bpy.ops.object.surfacedeform_bind(modifier="deform")
    start = time.perf_counter()
    for frame in range(frames):
        moved = grid + 0.05 * np.sin(0.1 * frame + grid[:, [2]]) * np.array([0.0, 1.0, 0.0])
        driver.data.vertices.foreach_set("co", moved.astype(np.float32).reshape(-1))
        driver.data.update()
        graph = bpy.context.evaluated_depsgraph_get()
        len(target.evaluated_get(graph).data.vertices)
    seconds = (time.perf_counter() - start) / frames
    return {"bpy": bpy.app.version_string, "points": len(skin.vertices), "frames_per_second": round(1 / seconds, 1)}


def placed(bpy: Any, name: str, points: np.ndarray, faces: list[list[int]]) -> Any:
    """A mesh object in the scene."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(points).tolist(), [], faces)
    entry = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(entry)
    return entry
