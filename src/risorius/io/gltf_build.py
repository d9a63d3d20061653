"""Putting a glTF 2.0 file together: accessors, nodes, meshes, animation channels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.io.mesh_gltf import packed

Floats = NDArray[np.float64]
TO_GLTF: Final = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
"""World (x forward, y up, z right) -> glTF (the subject faces +Z, its left is +X)."""
KINDS: Final = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
WIDTHS: Final = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
VERTEX, INDEX = 34962, 34963


def to_gltf(points: NDArray) -> NDArray:
    """(…, 3) world points or directions in glTF's axes."""
    return points @ TO_GLTF.T


def turn_to_gltf(quaternions: NDArray) -> NDArray:
    """(…, 4) w-x-y-z world rotations -> x-y-z-w in glTF's axes."""
    return np.concatenate([to_gltf(quaternions[..., 1:]), quaternions[..., :1]], axis=-1)


class Builder:
    """Collects the parts of one asset; `bytes` gives the glb file."""

    def __init__(self) -> None:
        self.binary = bytearray()
        self.asset: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Risorius"},
            "scene": 0,
            "scenes": [{"nodes": []}],
            "nodes": [],
            "meshes": [],
            "accessors": [],
            "bufferViews": [],
        }

    def add(self, kind: str, entry: dict[str, Any]) -> int:
        """Append to one of the asset's lists; gives the index."""
        self.asset.setdefault(kind, []).append(entry)
        return len(self.asset[kind]) - 1

    def accessor(self, values: NDArray, kind: str = "f4", *, target: int | None = None, bounds: bool = False) -> int:
        """Store an array (n, width) or (n,)."""
        data = np.ascontiguousarray(values, dtype="<" + kind)
        rows = data.reshape(len(data), -1)
        self.binary += b"\0" * (-len(self.binary) % 4)
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": data.nbytes}
        if target is not None:
            view["target"] = target
        self.binary += data.tobytes()
        entry: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view),
            "componentType": KINDS[kind],
            "count": len(rows),
            "type": WIDTHS[rows.shape[1]],
        }
        if bounds:
            entry["min"] = rows.min(axis=0).astype(float).tolist()
            entry["max"] = rows.max(axis=0).astype(float).tolist()
        return self.add("accessors", entry)

    def material(self, name: str, colour: tuple[float, ...], *, roughness: float = 0.6) -> int:
        entry: dict[str, Any] = {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [*colour[:3], 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": roughness,
            },
            "doubleSided": True,
        }
        return self.add("materials", entry)

    def primitive(
        self, points: NDArray, faces: NDArray, normals: NDArray | None, material: int | None
    ) -> dict[str, Any]:
        """A triangle primitive, in glTF's axes already."""
        attributes = {"POSITION": self.accessor(points, target=VERTEX, bounds=True)}
        if normals is not None:
            attributes["NORMAL"] = self.accessor(normals, target=VERTEX)
        small = len(points) < 65535
        entry: dict[str, Any] = {
            "attributes": attributes,
            "indices": self.accessor(np.asarray(faces).ravel(), "u2" if small else "u4", target=INDEX),
        }
        if material is not None:
            entry["material"] = material
        return entry

    def shapes(self, primitive: dict[str, Any], shapes: NDArray) -> None:
        """Morph targets (k, n, 3) of a primitive."""
        primitive["targets"] = [{"POSITION": self.accessor(shape, target=VERTEX, bounds=True)} for shape in shapes]

    def channel(self, animation: dict[str, Any], node: int, path: str, time: int, values: NDArray) -> None:
        """Animate translation, rotation or weights of a node, linear between frames."""
        animation["samplers"].append({"input": time, "output": self.accessor(values), "interpolation": "LINEAR"})
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def bytes(self) -> bytes:
        self.binary += b"\0" * (-len(self.binary) % 4)
        self.asset["buffers"] = [{"byteLength": len(self.binary)}]
        asset = {key: value for key, value in self.asset.items() if value != []}
        return packed(asset, bytes(self.binary))
