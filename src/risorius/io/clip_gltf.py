"""glTF in: every node of the scene as a joint; the animation by name or the first, sampled at an even rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from risorius.core.clip import FRAME_LIMIT, Clip, chained
from risorius.core.errors import InputError
from risorius.io.mesh_gltf import Scene, local_matrix
from risorius.maths.rotations import matrices

RATE: Final = 120.0
"""Samples a second of a key-framed animation."""


def read(file: Path, animation: str | None = None) -> Clip:
    """Read the joints of a glTF file; without an animation, its rest pose as one frame."""
    try:
        return of_scene(Scene(file), file, animation)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected a valid glTF 2.0 asset ({type(error).__name__} {error})"[:160], file=file) from None


def of_scene(scene: Scene, file: Path, animation: str | None) -> Clip:
    nodes = scene.asset.get("nodes", [])
    order = list(scene.worlds())
    above = {child: number for number, node in enumerate(nodes) for child in node.get("children", [])}
    index = {number: k for k, number in enumerate(order)}
    parent = np.array([index.get(above.get(number, -1), -1) for number in order], np.int32)
    names = tuple(str(nodes[number].get("name") or f"node{number}") for number in order)
    parts = [decomposed(nodes[number]) for number in order]
    shift = np.array([part[0] for part in parts], dtype=np.float64).reshape(-1, 3)
    turn = np.array([part[1] for part in parts], dtype=np.float64).reshape(-1, 4)
    scale = np.array([part[2] for part in parts], dtype=np.float64).reshape(-1, 3)
    tracks = chosen(scene, file, animation)
    end = max((float(times[-1]) for _, _, times, _, _ in tracks), default=0.0)
    frames = min(round(end * RATE) + 1, FRAME_LIMIT)
    time = np.arange(frames) / RATE
    moved = {"translation": np.tile(shift, (frames, 1, 1)), "rotation": np.tile(turn, (frames, 1, 1)),
             "scale": np.tile(scale, (frames, 1, 1))}  # fmt: skip
    for node, path, times, values, way in tracks:
        if node in index and path in moved:
            moved[path][:, index[node]] = sampled(time, times, values, way, path == "rotation")
    position, rotation = worlds(parent, moved["translation"], moved["rotation"], moved["scale"])
    rest, rest_turn = worlds(parent, shift[None], turn[None], scale[None])
    return Clip(names, parent, time, position, rotation, rest[0], rest_turn[0], {}, 1.0, str(file))


def worlds(parent, shift, turn, scale):
    """World places and turns; the scale of a joint moves its children away, turns stay turns."""
    wxyz = turn[..., [3, 0, 1, 2]]
    size = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    if not (size > 1e-6).all():
        raise InputError("expected rotations that are unit quaternions", place="animations")
    grown = np.array(shift)
    whole = np.array(scale)
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            grown[:, k] = shift[:, k] * whole[:, above]
            whole[:, k] = whole[:, above] * scale[:, k]
    return chained(parent, grown, matrices(wxyz / size))


def decomposed(node: dict[str, Any]) -> tuple[list[float], list[float], list[float]]:
    """Translation, rotation (x, y, z, w), scale of a node."""
    if "matrix" not in node:
        return (node.get("translation", [0, 0, 0]), node.get("rotation", [0, 0, 0, 1]), node.get("scale", [1, 1, 1]))
    from risorius.maths.rotations import quaternions

    matrix = local_matrix(node)
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    w, x, y, z = quaternions(matrix[:3, :3] / np.maximum(scale, 1e-12))
    return matrix[:3, 3].tolist(), [x, y, z, w], scale.tolist()


def chosen(scene: Scene, file: Path, animation: str | None):
    """(node, path, times, values, interpolation) of every channel."""
    found = scene.asset.get("animations", [])
    if animation is not None:
        found = [entry for entry in found if entry.get("name") == animation]
        if not found:
            raise InputError(f"has no animation {animation!r}", file=file, place="animations")
    tracks = []
    for number, channel in enumerate(found[0]["channels"] if found else []):
        if "node" not in channel["target"]:
            continue
        sampler = found[0]["samplers"][channel["sampler"]]
        times = scene.accessor(sampler["input"])[:, 0].astype(np.float64)
        values = scene.accessor(sampler["output"]).astype(np.float64)
        if len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0).any() or times[0] < 0:
            raise InputError("expected key times that grow from 0", file=file, place=f"animations: channel {number}")
        if channel["target"]["path"] != "weights" and not np.isfinite(values).all():
            raise InputError("expected finite keys", file=file, place=f"animations: channel {number}")
        tracks.append((channel["target"]["node"], channel["target"]["path"], times, values,
                       sampler.get("interpolation", "LINEAR")))  # fmt: skip
    return tracks


def sampled(time, times, values, way: str, turning: bool):
    """Keys at other times: STEP, LINEAR (turns along the shorter arc), CUBICSPLINE (Hermite, tangents scaled)."""
    at = np.clip(time, times[0], times[-1])
    right = np.clip(np.searchsorted(times, at, side="right"), 1, max(len(times) - 1, 1))
    if way == "CUBICSPLINE":
        values = values.reshape(len(times), 3, -1)
        into, keys, out = values[:, 0], values[:, 1], values[:, 2]
    else:
        keys = values.reshape(len(times), -1)
    if len(times) == 1:
        return np.tile(keys[0], (len(time), 1))
    left = right - 1
    span = times[right] - times[left]
    part = ((at - times[left]) / span)[:, None]
    if way == "STEP":
        return keys[np.searchsorted(times, at, side="right") - 1]
    if way == "CUBICSPLINE":
        t2, t3, step = part**2, part**3, span[:, None]
        return ((2 * t3 - 3 * t2 + 1) * keys[left] + step * (t3 - 2 * t2 + part) * out[left]
                + (3 * t2 - 2 * t3) * keys[right] + step * (t3 - t2) * into[right])  # fmt: skip
    a, b = keys[left], keys[right]
    if not turning:
        return a + part * (b - a)
    cosine = (a * b).sum(axis=1, keepdims=True)
    b = np.where(cosine < 0, -b, b)
    angle = np.arccos(np.clip(np.abs(cosine), 0, 1))
    near = angle < 1e-4
    sine = np.where(near, 1.0, np.sin(angle))
    slerp = (np.sin((1 - part) * angle) * a + np.sin(part * angle) * b) / sine
    return np.where(near, a + part * (b - a), slerp)
