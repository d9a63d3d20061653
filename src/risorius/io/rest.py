"""A torso as flat arrays and back: what the story carries so that nothing but the story is needed (ledger K2)."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from risorius.core.spec import Spec
from risorius.core.torso import Mesh, Torso, frozen

Flat = dict[str, Any]
"""Name with colons -> float64 array, int32 array, or list of text."""


def flattened(torso: Torso) -> Flat:
    """Every array and text of a torso by its path (`bodies:joint_point`); meshes one after the other with bounds."""
    found: Flat = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, np.ndarray):
            found[path] = value
        elif isinstance(value, dict):
            found[f"{path}:names"] = list(value)
            for key, item in value.items():
                found[f"{path}:{key}"] = np.asarray(item, dtype=np.float64)
        elif isinstance(value, tuple) and value and isinstance(value[0], Mesh):
            for name in ("vertices", "faces"):
                parts = [getattr(mesh, name) for mesh in value]
                found[f"{path}:{name}"] = np.concatenate(parts)
                found[f"{path}:{name}_bounds"] = bounds_of(parts)
        elif isinstance(value, tuple):
            found[path] = list(value)
        elif isinstance(value, Spec):
            found[path] = [str(value)]
        elif is_dataclass(value):
            for field in fields(value):
                walk(getattr(value, field.name), f"{path}:{field.name}" if path else field.name)
        else:
            raise TypeError(f"{path}: {type(value).__name__} is not carried by a story")

    walk(torso, "")
    return found


def bounds_of(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)


def restored(flat: Flat) -> Torso:
    """The torso that `flattened` took apart; `KeyError` or `ValueError` where something is missing or wrong."""

    def build(kind: Any, path: str) -> Any:
        if kind is Spec:
            return Spec.parse(flat[path][0])
        if get_origin(kind) is dict:
            return {name: flat[f"{path}:{name}"].copy() for name in flat[f"{path}:names"]}
        if get_origin(kind) is tuple and get_args(kind)[0] is Mesh:
            vertices, faces = split(flat, f"{path}:vertices"), split(flat, f"{path}:faces")
            return tuple(Mesh(v, f) for v, f in zip(vertices, faces, strict=True))
        if get_origin(kind) is tuple:
            return tuple(flat[path])
        if is_dataclass(kind):
            hints = get_type_hints(kind)
            parts = {field.name: build(hints[field.name], f"{path}:{field.name}" if path else field.name)
                     for field in fields(kind)}  # fmt: skip
            return kind(**parts)  # type: ignore[operator]
        return flat[path]

    return frozen(build(Torso, ""))


def split(flat: Flat, path: str) -> list[np.ndarray]:
    bounds = flat[f"{path}_bounds"].tolist()
    return [np.ascontiguousarray(flat[path][a:b]) for a, b in itertools.pairwise(bounds)]


def shaped(values: np.ndarray, shape: list[int]) -> np.ndarray:
    """A flat array in its shape; `ValueError` where it does not fit."""
    if math.prod(shape) != values.size or any(size < 0 for size in shape):
        raise ValueError(f"{values.size} numbers do not fill the shape {shape}")
    return values.reshape(shape)
