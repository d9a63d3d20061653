"""Node animations and skins of a glTF 2.0 file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.mesh_gltf import Scene, local_matrix
from risorius.io.motion import Carried, Motion, composed, frame_times

Floats = NDArray[np.float64]
START = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}


def read(file: Path, rate: float) -> Motion:
    """Every node is a joint; nodes without a name are called node_<number>."""
    try:
        return motion_of(Scene(file), rate)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        what = f"{type(error).__name__} {error}"[:100]
        raise InputError(f"expected a valid glTF 2.0 animation ({what})", file=file) from None


def motion_of(scene: Scene, rate: float) -> Motion:
    order = list(scene.worlds())  # parents first
    nodes = [scene.asset["nodes"][number] for number in order]
    place = {number: k for k, number in enumerate(order)}
    parent = [-1] * len(order)
    for k, node in enumerate(nodes):
        for child in node.get("children", []):
            parent[place[child]] = k
    names = tuple(str(node.get("name") or f"node_{number}") for number, node in zip(order, nodes))
    rest = np.stack([local_matrix(node) for node in nodes])
    tracks, seconds = channels(scene, place)
    time = frame_times(seconds, rate, scene.file)
    local = np.repeat(rest[None], len(time), axis=0)
    for k, animated in tracks.items():
        if "matrix" in nodes[k]:
            raise InputError("expected animated nodes without a matrix", file=scene.file, place=f"node {names[k]}")
        values = {}
        for name, start in START.items():
            if name in animated:
                at, table, kind = animated[name]
                values[name] = sampled(at, table, kind, time, name == "rotation")
            else:
                values[name] = np.tile(np.array(nodes[k].get(name, start), dtype=np.float64), (len(time), 1))
        local[:, k] = joined(values)
    return Motion(names, time, local, composed(local, parent), rest, composed(rest, parent), skins(scene, place))


def channels(scene: Scene, place: dict[int, int]) -> tuple[dict[int, dict[str, Any]], float]:
    """Samplers of the first animation by joint and path, and its length [s]."""
    found: dict[int, dict[str, Any]] = {}
    seconds = 0.0
    animations = scene.asset.get("animations", [])
    if not animations:
        raise InputError("expected an animation", file=scene.file)
    for number, channel in enumerate(animations[0]["channels"]):
        target = channel["target"]
        if target.get("path") not in START or target.get("node") not in place:
            continue
        sampler = animations[0]["samplers"][channel["sampler"]]
        at = scene.accessor(sampler["input"])[:, 0].astype(np.float64)
        values = scene.accessor(sampler["output"]).astype(np.float64)
        kind = sampler.get("interpolation", "LINEAR")
        wanted = len(at) * (3 if kind == "CUBICSPLINE" else 1)
        wide = 4 if target["path"] == "rotation" else 3
        if len(at) == 0 or (np.diff(at) < 0).any() or values.shape != (wanted, wide) or not np.isfinite(values).all():
            raise InputError(f"expected rising times and {wanted} values", file=scene.file,
                             place=f"animations[0].channels[{number}]")  # fmt: skip
        found.setdefault(place[target["node"]], {})[target["path"]] = (at, values, kind)
        seconds = max(seconds, float(at[-1]))
    return found, seconds


def sampled(at: Floats, values: Floats, kind: str, time: Floats, turn: bool) -> Floats:
    """(f, w) a channel at given times: LINEAR (rotations along the shorter arc), STEP or CUBICSPLINE."""
    k = np.clip(np.searchsorted(at, time, side="right") - 1, 0, max(len(at) - 2, 0))
    follow = np.minimum(k + 1, len(at) - 1)
    span = at[follow] - at[k]
    s = np.clip((time - at[k]) / np.where(span > 0, span, 1.0), 0.0, 1.0)[:, None]
    if kind == "STEP":
        return values[np.clip(np.searchsorted(at, time, side="right") - 1, 0, len(at) - 1)]
    if kind == "CUBICSPLINE":
        parts = values.reshape(len(at), 3, -1)
        a, b, out, into = parts[k, 1], parts[follow, 1], parts[k, 2], parts[follow, 0]
        width = span[:, None]
        found = ((2 * s**3 - 3 * s**2 + 1) * a + (s**3 - 2 * s**2 + s) * width * out
                 + (3 * s**2 - 2 * s**3) * b + (s**3 - s**2) * width * into)  # fmt: skip
    elif turn:
        a, b = values[k], values[follow]
        cosine = np.einsum("fi,fi->f", a, b)[:, None]
        b = np.where(cosine < 0, -b, b)
        angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
        sine = np.sin(angle)
        near = sine < 1e-6
        safe = np.where(near, 1.0, sine)
        found = np.where(near, a + s * (b - a), np.sin((1 - s) * angle) / safe * a + np.sin(s * angle) / safe * b)
    else:
        found = values[k] + s * (values[follow] - values[k])
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12) if turn else found


def joined(values: dict[str, Floats]) -> Floats:
    """(f, 4, 4) T·R·S."""
    x, y, z, w = values["rotation"].T
    turn = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                     2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                     2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)  # fmt: skip
    out = np.tile(np.eye(4), (len(x), 1, 1))
    out[:, :3, :3] = turn.reshape(-1, 3, 3) * values["scale"][:, None, :]
    out[:, :3, 3] = values["translation"]
    return out


def skins(scene: Scene, place: dict[int, int]) -> tuple[Carried, ...]:
    """What carries each stretch of the mesh's points, in the order in which the mesh reader takes them."""
    found = []
    total = 0
    for number, k in place.items():
        node = scene.asset["nodes"][number]
        if "mesh" not in node:
            continue
        seen = set()
        for primitive in scene.asset["meshes"][node["mesh"]]["primitives"]:
            attributes = primitive["attributes"]
            if primitive.get("mode", 4) not in (4, 5, 6) or "POSITION" not in attributes or (
                attributes["POSITION"] in seen
            ):  # fmt: skip
                continue
            seen.add(attributes["POSITION"])
            count = int(scene.asset["accessors"][attributes["POSITION"]]["count"])
            bind = np.tile(np.eye(4), (len(place), 1, 1))
            if "skin" in node and "JOINTS_0" in attributes:
                skin = scene.asset["skins"][node["skin"]]
                joints = np.array([place[joint] for joint in skin["joints"]])
                if "inverseBindMatrices" in skin:
                    inverse = scene.accessor(skin["inverseBindMatrices"]).astype(np.float64).reshape(-1, 4, 4)
                    bind[joints] = inverse[: len(joints)].transpose(0, 2, 1)
                which = joints[scene.accessor(attributes["JOINTS_0"]).astype(np.int64)]
                weight = scene.accessor(attributes["WEIGHTS_0"]).astype(np.float64)
                sums = weight.sum(axis=1, keepdims=True)
                weight = weight / np.where(sums > 0, sums, 1.0)
                which = np.where(weight > 0, which, which[:, :1])
            else:
                which, weight = np.full((count, 1), k), np.ones((count, 1))
            found.append(Carried(total, which, weight, bind))
            total += count
    return tuple(found)
