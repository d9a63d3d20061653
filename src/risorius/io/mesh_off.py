"""OFF (Object File Format), text: also COFF, NOFF and the like, whose extra numbers are passed over."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import read_bytes, write_bytes
from risorius.io.mesh_obj import lines_of, point


def read(file: Path) -> PolyMesh:
    """Read an OFF; one point and one face a line."""
    lines = list(lines_of(read_bytes(file)))
    if not lines:
        raise InputError("expected an OFF file, got nothing", file=file, line=1)
    line, words = lines[0]
    body = 1
    if re.fullmatch(r"(ST)?C?N?OFF", words[0]):
        words = words[1:]
        if not words and len(lines) > 1:
            line, words = lines[1]
            body = 2
    try:
        count, faces = int(words[0]), int(words[1])
    except (ValueError, IndexError):
        got = " ".join(words)[:40]
        raise InputError(f"expected OFF, then the numbers of points and faces, got {got!r}", file=file,
                         line=line) from None  # fmt: skip
    if count < 0 or faces < 0 or len(lines) - body < count + faces:
        raise InputError(
            f"expected {count} points and {faces} faces, one a line, got {max(len(lines) - body, 0)} lines",
            file=file,
            line=lines[-1][0],
        )
    vertices = [point(["v", *words], file, line) for line, words in lines[body : body + count]]
    indices: list[int] = []
    offsets = [0]
    for line, words in lines[body + count : body + count + faces]:
        indices += face(words, count, file, line)
        offsets.append(len(indices))
    return PolyMesh(
        np.array(vertices, dtype=np.float64).reshape(-1, 3),
        np.array(indices, dtype=np.int32),
        np.array(offsets, dtype=np.int32),
    )


def face(words: list[str], count: int, file: Path, line: int) -> list[int]:
    """Corners of one face line: how many, then which (from 0); colours may follow."""
    try:
        size = int(words[0])
        found = [int(word) for word in words[1 : size + 1]]
    except (ValueError, IndexError):
        raise InputError(f"expected whole numbers, got {' '.join(words)[:60]!r}", file=file, line=line) from None
    if size < 3 or len(found) != size:
        raise InputError(f"expected at least three corners and as many as announced ({size}), got {len(found)}",
                         file=file, line=line)  # fmt: skip
    if not all(0 <= index < count for index in found):
        raise InputError(f"expected corners from 0 to {count - 1}, got {' '.join(words[1 : size + 1])[:60]}",
                         file=file, line=line)  # fmt: skip
    return found


def write(file: Path, mesh: PolyMesh) -> None:
    """Write an OFF; numbers keep every digit, groups are lost."""
    out = ["OFF", f"{len(mesh.vertices)} {mesh.face_count} 0"]
    out += [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    flat, bounds = mesh.indices.tolist(), mesh.offsets.tolist()
    for start, end in pairwise(bounds):
        out.append(f"{end - start} " + " ".join(map(str, flat[start:end])))
    write_bytes(file, ("\n".join(out) + "\n").encode())
