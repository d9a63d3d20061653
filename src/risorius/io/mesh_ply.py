"""PLY: ascii and both binary byte orders; elements other than vertex and face are passed over."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import read_bytes, write_bytes

TYPES: Final = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
ORDERS: Final = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


@dataclass
class Part:
    """One element of the header: its name, how many there are, and its properties (name, count type, type)."""

    name: str
    count: int
    properties: list[tuple[str, str, str]] = field(default_factory=list)


def read(file: Path) -> PolyMesh:
    """Read a PLY; faces come from the list `vertex_indices` (or `vertex_index`)."""
    data = read_bytes(file)
    order, parts, start, line = header(data, file)
    if sum(part.count for part in parts) > len(data):
        raise InputError(f"expected {sum(p.count for p in parts)} elements, the file is shorter", file=file, line=line)
    take = Text(data[start:], file, line) if order == "" else Binary(data, start, order, file)
    points, faces = None, None
    for part in parts:
        columns = take.part(part)
        if part.name == "vertex":
            if not all(axis in columns for axis in "xyz"):
                raise InputError("expected the vertex properties x, y and z", file=file, place="header")
            points = np.stack([np.asarray(columns[axis], dtype=np.float64) for axis in "xyz"], axis=1)
        elif part.name == "face":
            faces = columns.get("vertex_indices", columns.get("vertex_index"))
    if points is None or faces is None:
        raise InputError("expected the elements vertex and face (vertex_indices)", file=file, place="header")
    sizes = np.array([len(face) for face in faces], dtype=np.int64)
    if len(sizes) and sizes.min() < 3:
        number = int(sizes.argmin()) + 1
        raise InputError(f"expected at least three corners, got {sizes.min()}", file=file, place=f"face {number}")
    flat = np.concatenate([np.asarray(face, dtype=np.float64) for face in faces]) if len(sizes) else np.zeros(0)
    if not (np.abs(flat) < 2**31).all():
        raise InputError("expected corner numbers below 2^31", file=file, place="face")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return PolyMesh(points, flat.astype(np.int32), offsets.astype(np.int32))


def header(data: bytes, file: Path) -> tuple[str, list[Part], int, int]:
    """(byte order, elements, first byte and line after the header)."""
    end = data.find(b"end_header")
    stop = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or stop < 0:
        raise InputError("expected a PLY header from ply to end_header", file=file, line=1)
    lines = data[:end].decode("ascii", errors="replace").splitlines()
    order = None
    parts: list[Part] = []
    for number, text in enumerate(lines[1:], start=2):
        words = text.split()
        try:
            if not words or words[0] in ("comment", "obj_info"):
                continue
            if words[0] == "format":
                order = ORDERS[words[1]]
            elif words[0] == "element":
                parts.append(Part(words[1], int(words[2])))
                if parts[-1].count < 0:
                    raise ValueError
            elif words[0] == "property" and words[1] == "list":
                parts[-1].properties.append((words[4], TYPES[words[2]], TYPES[words[3]]))
            elif words[0] == "property":
                parts[-1].properties.append((words[2], "", TYPES[words[1]]))
            else:
                raise ValueError
        except (ValueError, IndexError, KeyError):
            raise InputError(f"expected a PLY header line, got {text[:60]!r}", file=file, line=number) from None
    if order is None:
        raise InputError("expected a format line", file=file, line=2)
    return order, parts, stop + 1, len(lines) + 1


class Text:
    """Elements of an ascii file, one a line."""

    def __init__(self, data: bytes, file: Path, line: int) -> None:
        self.lines = data.decode("ascii", errors="replace").splitlines()
        self.file, self.first, self.next = file, line, 0

    def part(self, part: Part) -> dict[str, list]:
        columns: dict[str, list] = {name: [] for name, _, _ in part.properties}
        for _ in range(part.count):
            while self.next < len(self.lines) and not self.lines[self.next].strip():
                self.next += 1
            line = self.first + self.next + 1
            if self.next >= len(self.lines):
                raise InputError(f"expected {part.count} of {part.name}, the file ends", file=self.file, line=line)
            words = self.lines[self.next].split()
            self.next += 1
            at = 0
            try:
                for name, counted, kind in part.properties:
                    number = int if kind[0] in "iu" else float
                    if counted:
                        size = int(words[at])
                        if size < 0 or at + 1 + size > len(words):
                            raise IndexError
                        columns[name].append([number(word) for word in words[at + 1 : at + 1 + size]])
                        at += 1 + size
                    else:
                        columns[name].append(number(words[at]))
                        at += 1
            except (ValueError, IndexError, OverflowError):
                raise InputError(f"expected {len(part.properties)} properties of {part.name}, got "
                                 f"{' '.join(words)[:60]!r}", file=self.file, line=line) from None  # fmt: skip
        return columns


class Binary:
    """Elements of a binary file, in either byte order."""

    def __init__(self, data: bytes, start: int, order: str, file: Path) -> None:
        self.data, self.at, self.order, self.file = data, start, order, file

    def part(self, part: Part) -> dict[str, NDArray | list]:
        if not any(counted for _, counted, _ in part.properties):
            row = np.dtype([(f"p{i}", self.order + k) for i, (_, _, k) in enumerate(part.properties)])
            rows = self.rows(row, part.count, part)
            return {name: rows[f"p{i}"] for i, (name, _, _) in enumerate(part.properties)}
        if len(part.properties) == 1 and part.count:
            found = self.equal(part)
            if found is not None:
                return {part.properties[0][0]: found}
        columns: dict[str, list] = {name: [] for name, _, _ in part.properties}
        for _ in range(part.count):
            for name, counted, scalar in part.properties:
                size = int(self.rows(np.dtype(self.order + counted), 1, part)[0]) if counted else 1
                values = self.rows(np.dtype(self.order + scalar), size, part)
                columns[name].append(values if counted else values[0])
        return columns  # type: ignore[return-value]

    def equal(self, part: Part) -> NDArray | None:
        """All lists at once where they have one size, as in most files; else None."""
        _, counted, kind = part.properties[0]
        size = int(np.frombuffer(self.data, self.order + counted, 1, self.at)[0]) if self.at < len(self.data) else -1
        if not 0 < size < 256:
            return None
        row = np.dtype([("n", self.order + counted), ("v", self.order + kind, (size,))])
        if self.at + row.itemsize * part.count > len(self.data):
            return None
        rows = np.frombuffer(self.data, row, part.count, self.at)
        if not (rows["n"] == size).all():
            return None
        self.at += row.itemsize * part.count
        return rows["v"]

    def rows(self, kind: np.dtype, count: int, part: Part) -> NDArray:
        if count < 0 or self.at + kind.itemsize * count > len(self.data):
            raise InputError(f"expected {part.count} of {part.name}, the file ends", file=self.file,
                             place=f"byte {len(self.data)}")  # fmt: skip
        found = np.frombuffer(self.data, kind, count, self.at) if count else np.zeros(0, kind)
        self.at += kind.itemsize * count
        return found


def write(file: Path, mesh: PolyMesh) -> None:
    """Write a binary little-endian PLY with double coordinates; groups are lost."""
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(mesh.vertices)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {mesh.face_count}\nproperty list uint int vertex_indices\nend_header\n"
    )
    counts = mesh.counts
    rows = np.zeros(len(mesh.indices) + len(counts), dtype="<i4")
    starts = mesh.offsets[:-1] + np.arange(len(counts))
    rows[starts] = counts
    rest = np.ones(len(rows), dtype=bool)
    rest[starts] = False
    rows[rest] = mesh.indices
    write_bytes(file, head.encode() + mesh.vertices.astype("<f8").tobytes() + rows.tobytes())
