"""Run by a Python that has Blender's module `bpy`: import a file, print as JSON what came in and how it moves.

`python in_blender.py FILE FRAME FRAME`
"""

import json
import sys

import bpy


def corners(name, frame):
    """World positions of an object's vertices as it stands in a frame."""
    bpy.context.scene.frame_set(frame)
    found = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    shape = found.to_mesh()
    points = [tuple(found.matrix_world @ vertex.co) for vertex in shape.vertices]
    found.to_mesh_clear()
    return points


def main(path, first, last):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.endswith(".glb"):
        bpy.ops.import_scene.gltf(filepath=path)
    else:
        bpy.ops.wm.usd_import(filepath=path)
    objects = {thing.name: thing.type for thing in bpy.data.objects}
    parents = {thing.name: thing.parent.name for thing in bpy.data.objects if thing.parent}
    armatures = {thing.name: [bone.name for bone in thing.data.bones]
                 for thing in bpy.data.objects if thing.type == "ARMATURE"}  # fmt: skip
    travel, spread = {}, {}
    for name, kind in objects.items():
        if kind != "MESH":
            continue
        here, there = corners(name, first), corners(name, last)
        travel[name] = max((sum((a - b) ** 2 for a, b in zip(p, q)) ** 0.5 for p, q in zip(here, there)), default=0.0)
        spread[name] = [[min(p[k] for p in here), max(p[k] for p in here)] for k in range(3)] if here else []
    end = bpy.context.scene.frame_end
    print("RESULT" + json.dumps({"blender": bpy.app.version_string, "objects": objects, "parents": parents,
                                 "armatures": armatures, "travel": travel, "spread": spread, "end": end}))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
