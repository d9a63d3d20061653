"""Wavefront OBJ: polygons of any size, groups, relative indices, continued lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.io.files import read_bytes, write_bytes


def lines_of(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """(line number from 1, words) of each line that says something; comments are dropped, `\\` joins lines."""
    held: list[str] = []
    first = 0
    for number, raw in enumerate(data.decode("utf-8", errors="replace").splitlines(), start=1):
        words = raw.split("#", 1)[0].split()
        if not held:
            first = number
        if words and words[-1].endswith("\\"):
            words[-1] = words[-1][:-1]
            held += [word for word in words if word]
            continue
        if held or words:
            yield first, held + words
        held = []
    if held:
        yield first, held


def read(file: Path) -> PolyMesh:
    """Read an OBJ; texture and normal indices, materials and free-form surfaces are passed over."""
    vertices: list[tuple[float, float, float]] = []
    indices: list[int] = []
    offsets = [0]
    groups: dict[str, int] = {}
    face_group: list[int] = []
    current = -1
    for line, words in lines_of(read_bytes(file)):
        tag = words[0]
        if tag == "v":
            vertices.append(point(words, file, line))
        elif tag in ("f", "fo"):
            indices += corners(words, len(vertices), file, line)
            offsets.append(len(indices))
            face_group.append(current)
        elif tag in ("g", "o"):
            current = groups.setdefault(" ".join(words[1:]) or "default", len(groups))
        elif not (tag.isascii() and tag.replace("_", "").isalnum()):
            raise InputError(f"expected an OBJ statement (v, f, g, …), got {tag[:20]!r}", file=file, line=line)
    return PolyMesh(
        np.array(vertices, dtype=np.float64).reshape(-1, 3),
        np.array(indices, dtype=np.int32),
        np.array(offsets, dtype=np.int32),
        tuple(groups),
        np.array(face_group, dtype=np.int32),
    )


def point(words: list[str], file: Path, line: int) -> tuple[float, float, float]:
    try:
        x, y, z = float(words[1]), float(words[2]), float(words[3])
    except (ValueError, IndexError):
        got = " ".join(words[1:5])[:60]
        raise InputError(f"expected v and three numbers, got {got!r}", file=file, line=line) from None
    if not (abs(x) <= 1e300 and abs(y) <= 1e300 and abs(z) <= 1e300):
        raise InputError(f"expected finite numbers, got {' '.join(words[1:4])}", file=file, line=line)
    return x, y, z


def corners(words: list[str], count: int, file: Path, line: int) -> list[int]:
    """Corner indices from 0; a negative index counts back from the newest point."""
    if len(words) < 4:
        raise InputError(f"expected a face of at least three corners, got {len(words) - 1}", file=file, line=line)
    found = []
    for word in words[1:]:
        try:
            index = int(word.split("/", 1)[0])
        except ValueError:
            raise InputError(f"expected a corner such as 3 or 3/1/2, got {word[:30]!r}", file=file, line=line) from None
        index = index - 1 if index > 0 else count + index if index < 0 else -1
        if not 0 <= index < count:
            raise InputError(f"expected a corner among the {count} points read so far, got {word[:30]}",
                             file=file, line=line)  # fmt: skip
        found.append(index)
    return found


def write(file: Path, mesh: PolyMesh) -> None:
    """Write an OBJ with its groups; numbers keep every digit."""
    out = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    previous = -1
    flat = (mesh.indices + 1).tolist()
    bounds = mesh.offsets.tolist()
    for number, group in enumerate(mesh.face_group.tolist()):
        if group != previous:
            out.append(f"g {mesh.groups[group]}" if group >= 0 else "g")
            previous = group
        out.append("f " + " ".join(map(str, flat[bounds[number] : bounds[number + 1]])))
    write_bytes(file, ("\n".join(out) + "\n").encode())
