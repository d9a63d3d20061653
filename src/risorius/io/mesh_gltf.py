"""Meshes in glTF 2.0 (glb, gltf): triangles of every node of the scene, in world space, skins at their rest pose."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import read_bytes, write_bytes

COMPONENTS: Final = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MAGIC: Final = 0x46546C67
JSON_CHUNK: Final = 0x4E4F534A
BINARY_CHUNK: Final = 0x004E4942
NODE_LIMIT: Final = 100_000


def read(file: Path) -> PolyMesh:
    """Read all triangle primitives; points keep the order of their accessors."""
    try:
        return Scene(file).mesh()
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        what = f"{type(error).__name__} {error}"[:100]
        raise InputError(f"expected a valid glTF 2.0 asset ({what})", file=file) from None


class Scene:
    """A parsed asset and its buffers."""

    def __init__(self, file: Path) -> None:
        self.file = file
        data = read_bytes(file)
        self.binary: bytes | None = None
        if data[:4] == b"glTF":
            data = self.chunks(data)
        try:
            self.asset: dict[str, Any] = json.loads(data)
            version = str(self.asset["asset"]["version"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError("expected a glTF 2.0 asset", file=file) from None
        if not version.startswith("2."):
            raise InputError(f"expected glTF 2.0, got {version[:20]}", file=file)
        needs = self.asset.get("extensionsRequired", [])
        if needs:
            raise InputError(f"uses extensions that are not read: {', '.join(map(str, needs))[:100]}", file=file)
        self.buffers = [self.buffer(entry) for entry in self.asset.get("buffers", [])]

    def chunks(self, data: bytes) -> bytes:
        """The JSON chunk of a glb; keeps its binary chunk."""
        if len(data) < 20 or struct.unpack_from("<I", data, 8)[0] > len(data):
            raise InputError("the file is shorter than it says", file=self.file, place=f"byte {len(data)}")
        at, text = 12, None
        while at + 8 <= len(data):
            length, kind = struct.unpack_from("<II", data, at)
            chunk = data[at + 8 : at + 8 + length]
            if len(chunk) < length:
                raise InputError("the file is shorter than it says", file=self.file, place=f"byte {len(data)}")
            if kind == JSON_CHUNK and text is None:
                text = chunk
            elif kind == BINARY_CHUNK and self.binary is None:
                self.binary = chunk
            at += 8 + length + (-length % 4)
        if text is None:
            raise InputError("expected a JSON chunk", file=self.file)
        return text

    def buffer(self, entry: dict[str, Any]) -> bytes:
        uri = entry.get("uri")
        if uri is None:
            return self.binary or b""
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except binascii.Error:
                raise InputError("expected base64 data", file=self.file, place="buffers") from None
        path = Path(uri)
        if path.is_absolute() or ".." in path.parts or ":" in uri:
            raise InputError(f"buffers must lie beside the file, got {uri[:80]!r}", file=self.file, place="buffers")
        return read_bytes(self.file.parent / path)

    def accessor(self, number: int) -> NDArray:
        """(count, width) numbers of an accessor, sparse entries and normalised integers included."""
        place = f"accessors[{number}]"
        entry = self.asset["accessors"][number]
        count, width = int(entry["count"]), WIDTHS[entry["type"]]
        kind = np.dtype(COMPONENTS[entry["componentType"]])
        size = sum(map(len, self.buffers))
        if not 0 <= count <= max(size, 1) * 64:
            raise InputError(f"a count of {count} is more than the file holds", file=self.file, place=place)
        if "bufferView" in entry:
            values = self.view(entry["bufferView"], int(entry.get("byteOffset", 0)), kind, count, width, place).copy()
        else:
            values = np.zeros((count, width), kind)
        if "sparse" in entry:
            sparse = entry["sparse"]
            many = int(sparse["count"])
            where, what = sparse["indices"], sparse["values"]
            index_kind = np.dtype(COMPONENTS[where["componentType"]])
            index = self.view(where["bufferView"], int(where.get("byteOffset", 0)), index_kind, many, 1, place)
            values[index[:, 0]] = self.view(
                what["bufferView"], int(what.get("byteOffset", 0)), kind, many, width, place
            )
        if entry.get("normalized") and kind.kind in "iu":
            return np.maximum(values / np.iinfo(kind).max, -1.0)
        return values

    def view(self, number: int, offset: int, kind: np.dtype, count: int, width: int, place: str) -> NDArray:
        entry = self.asset["bufferViews"][number]
        data = self.buffers[entry["buffer"]]
        start = int(entry.get("byteOffset", 0)) + offset
        row = kind.itemsize * width
        stride = int(entry.get("byteStride", row))
        if count < 0 or start < 0 or offset < 0 or stride < row or (
            count and start + stride * (count - 1) + row > len(data)
        ):  # fmt: skip
            raise InputError("reaches beyond the end of its buffer", file=self.file, place=place)
        if count == 0:
            return np.zeros((0, width), kind)
        return np.ndarray((count, width), kind, data, start, (stride, kind.itemsize))

    def worlds(self) -> dict[int, NDArray[np.float64]]:
        """World matrix of each node that the scene shows, parents first."""
        nodes = self.asset.get("nodes", [])
        if len(nodes) > NODE_LIMIT:
            raise InputError(f"expected at most {NODE_LIMIT} nodes", file=self.file)
        scenes = self.asset.get("scenes")
        if scenes:
            roots = scenes[int(self.asset.get("scene", 0))].get("nodes", [])
        else:
            children = {child for node in nodes for child in node.get("children", [])}
            roots = [number for number in range(len(nodes)) if number not in children]
        found: dict[int, NDArray[np.float64]] = {}
        stack = [(number, np.eye(4)) for number in reversed(roots)]
        while stack:
            number, parent = stack.pop()
            if number in found or number < 0:
                raise InputError("expected a tree of nodes", file=self.file, place=f"nodes[{number}]")
            found[number] = parent @ local_matrix(nodes[number])
            stack += [(child, found[number]) for child in reversed(nodes[number].get("children", []))]
        return found

    def mesh(self) -> PolyMesh:
        worlds = self.worlds()
        vertices, faces, groups = [], [], []
        names: list[str] = []
        total = 0
        for number, world in worlds.items():
            node = self.asset["nodes"][number]
            if "mesh" not in node:
                continue
            entry = self.asset["meshes"][node["mesh"]]
            seen: dict[int, int] = {}
            name = str(node.get("name") or entry.get("name") or f"mesh{node['mesh']}")
            for primitive in entry["primitives"]:
                if primitive.get("mode", 4) not in (4, 5, 6) or "POSITION" not in primitive["attributes"]:
                    continue
                position = primitive["attributes"]["POSITION"]
                if position not in seen:
                    points = self.posed(primitive, node, world, worlds)
                    seen[position] = total
                    vertices.append(points)
                    total += len(points)
                size = int(self.asset["accessors"][position]["count"])
                index = self.accessor(primitive["indices"])[:, 0] if "indices" in primitive else np.arange(size)
                if len(index) and (index.max() >= size or index.min() < 0):
                    raise InputError(f"expected corners among the {size} points", file=self.file, place=name)
                triangles = triangulated(index.astype(np.int64), primitive.get("mode", 4)) + seen[position]
                faces.append(triangles)
                groups.append(np.full(len(triangles), len(names), dtype=np.int32))
            names.append(name)
        if not faces:
            raise InputError("expected at least one mesh of triangles in the scene", file=self.file)
        corners = np.concatenate(faces).astype(np.int32)
        offsets = np.arange(len(corners) + 1, dtype=np.int32) * 3
        group = np.concatenate(groups)
        return PolyMesh(np.concatenate(vertices), corners.ravel(), offsets, tuple(names), group, 1.0, "y")

    def posed(self, primitive: dict, node: dict, world: NDArray, worlds: dict[int, NDArray]) -> NDArray[np.float64]:
        """Points of a primitive in world space: by its node, or by its skin's joints where it has one."""
        attributes = primitive["attributes"]
        points = self.accessor(attributes["POSITION"]).astype(np.float64)
        if "skin" not in node or "JOINTS_0" not in attributes:
            return points @ world[:3, :3].T + world[:3, 3]
        skin = self.asset["skins"][node["skin"]]
        joints = np.stack([worlds.get(joint, np.eye(4)) for joint in skin["joints"]])
        if "inverseBindMatrices" in skin:
            inverse = self.accessor(skin["inverseBindMatrices"]).astype(np.float64).reshape(-1, 4, 4)
            joints = joints @ inverse[: len(joints)].transpose(0, 2, 1)
        which = self.accessor(attributes["JOINTS_0"]).astype(np.int64)
        weights = self.accessor(attributes["WEIGHTS_0"]).astype(np.float64)
        total = weights.sum(axis=1, keepdims=True)
        matrix = np.einsum("nk,nkij->nij", weights / np.where(total > 0, total, 1.0), joints[which])
        return np.einsum("nij,nj->ni", matrix[:, :3, :3], points) + matrix[:, :3, 3]


def local_matrix(node: dict[str, Any]) -> NDArray[np.float64]:
    """The node's own transform, T·R·S or its column-major matrix."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = (float(value) for value in node.get("rotation", (0, 0, 0, 1)))
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, :3] *= np.array(node.get("scale", (1, 1, 1)), dtype=np.float64)
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix


def triangulated(index: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    """Triangles of a list (4), a strip (5) or a fan (6)."""
    if mode == 4:
        return index[: len(index) // 3 * 3].reshape(-1, 3)
    count = max(len(index) - 2, 0)
    step = np.arange(count)
    if mode == 6:
        return np.stack([np.full(count, index[0] if count else 0), index[step + 1], index[step + 2]], axis=1)
    odd = step % 2
    return np.stack([index[step], index[step + 1 + odd], index[step + 2 - odd]], axis=1)


def write(file: Path, mesh: PolyMesh) -> None:
    """Write a glb with one mesh; polygons become triangles, points become single precision."""
    points = np.ascontiguousarray(mesh.vertices, dtype="<f4")
    corners = np.ascontiguousarray(mesh.triangles()[0], dtype="<u4")
    binary = points.tobytes() + corners.tobytes()
    asset = {
        "asset": {"version": "2.0", "generator": "Risorius"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "mesh"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3",
             "min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()},
            {"bufferView": 1, "componentType": 5125, "count": int(corners.size), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": points.nbytes, "target": 34962},
            {"buffer": 0, "byteOffset": points.nbytes, "byteLength": corners.nbytes, "target": 34963},
        ],
        "buffers": [{"byteLength": len(binary)}],
    }  # fmt: skip
    write_bytes(file, packed(asset, binary))


def packed(asset: dict[str, Any], binary: bytes) -> bytes:
    """A glb file from its JSON and its binary chunk."""
    text = json.dumps(asset, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    return (
        struct.pack("<III", MAGIC, 2, total)
        + struct.pack("<II", len(text), JSON_CHUNK)
        + text
        + struct.pack("<II", len(binary), BINARY_CHUNK)
        + binary
    )
