"""Blender's own Surface Deform modifier on the skin and the moving sheets of a file: run by a Python that has `bpy`.

`bpy` is GPL software; it is no dependency, and nothing of it is shipped or imported by the package. This file is handed
to the Python that `risorius doctor` names as Blender's, with the name of a .npz file that holds `skin` (n, 3), `quads`
(q, 4), `sheets` (frames, muscles, rows, columns, 3) and `near` (muscles, n), the weight of each point under each muscle,
or (0, n) to leave that out. It prints frames a second as JSON behind the word RESULT, on one core.
"""

import json
import os
import sys
import time

import numpy as np

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, before Blender counts them
import bpy  # noqa: E402


def placed(name, points, faces):
    """A mesh object in the scene."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(points).reshape(-1, 3).tolist(), [], np.asarray(faces).tolist())
    entry = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(entry)
    return entry


def quads_of(rows, columns):
    k = np.arange(rows * columns).reshape(rows, columns)
    return np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)


def deformed(skin, driver, group=None):
    """Bind the skin to a driving sheet; whether Blender did."""
    modifier = skin.modifiers.new("deform", "SURFACE_DEFORM")
    modifier.target = driver
    if group is not None:
        modifier.vertex_group = group
    bpy.context.view_layer.objects.active = skin
    bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    return modifier.is_bound


def rate(skin, drivers, sheets, seconds=2.0):
    """Frames a second: the sheets' points go in, the skin's come out."""
    out = np.empty(3 * len(skin.data.vertices), dtype=np.float32)

    def frame(k):
        for driver, points in zip(drivers, sheets[k % len(sheets)]):
            driver.data.vertices.foreach_set("co", points.reshape(-1))
            driver.data.update()
        graph = bpy.context.evaluated_depsgraph_get()
        skin.evaluated_get(graph).data.vertices.foreach_get("co", out)

    frame(1)
    moved = out.copy()
    frame(2)
    assert np.abs(out - moved).max() > 0, "nothing moved"
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        frame(count)
        count += 1
    return count / (time.perf_counter() - start)


def main(path):
    given = np.load(path)
    skin, quads, sheets, near = (given[name] for name in ("skin", "quads", "sheets", "near"))
    frames, muscles, rows, columns = sheets.shape[:4]
    figures = {"bpy": bpy.app.version_string, "points": len(skin), "muscles": muscles}

    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = placed("skin", skin, quads)
    one = quads_of(rows, columns)
    faces = np.concatenate([one + m * rows * columns for m in range(muscles)])
    driver = placed("driver", sheets[0], faces)
    if deformed(body, driver):  # every point hangs on the one face that is nearest
        joined = np.ascontiguousarray(sheets.reshape(frames, 1, -1))
        figures["one_modifier_fps"] = round(rate(body, [driver], joined), 2)
    if len(near) == muscles:
        figures |= apart(skin, quads, sheets, near)
    print("RESULT" + json.dumps(figures))


def apart(skin, quads, sheets, near):
    """A modifier a muscle, each under its own weights: what the muscles here do."""
    muscles, one = len(near), quads_of(*sheets.shape[2:4])

    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = placed("skin", skin, quads)
    drivers, start = [], time.perf_counter()
    for m in range(muscles):
        driver = placed(f"driver{m}", sheets[0, m], one)
        group = body.vertex_groups.new(name=f"near{m}")
        for weight in np.unique(near[m][near[m] > 0]):
            group.add(np.flatnonzero(near[m] == weight).tolist(), float(weight), "REPLACE")
        if not deformed(body, driver, group.name):
            return {"a_modifier_a_muscle": f"Blender did not bind muscle {m}"}
        drivers.append(driver)
    bound = round(time.perf_counter() - start, 2)
    return {"bind_s": bound, "a_modifier_a_muscle_fps": round(rate(body, drivers, sheets), 2)}


main(sys.argv[1])
