"""Meshes in and out, by the ending of the name: OBJ, OFF, PLY, glTF (glb, gltf) and USD (usd, usda, usdc, usdz).

Points keep their number and order, polygons stay polygons, and the unit of length is the file's own.
"""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh

READERS: Final = {
    ".obj": "mesh_obj",
    ".off": "mesh_off",
    ".ply": "mesh_ply",
    ".glb": "mesh_gltf",
    ".gltf": "mesh_gltf",
    ".usd": "mesh_usd",
    ".usda": "mesh_usd",
    ".usdc": "mesh_usd",
    ".usdz": "mesh_usd",
}
EXTENT_LIMIT: Final = 1e9
"""Coordinates beyond this are taken for a broken file (float32 hosts lose whole units there)."""


def format_module(path: Path, allowed: dict[str, str]):
    ending = path.suffix.lower()
    if ending not in allowed:
        raise InputError(f"expected a mesh ending in {', '.join(allowed)}, got {ending or 'no ending'!r}", file=path)
    return importlib.import_module(f"risorius.io.{allowed[ending]}")


def read_mesh(path: str | PathLike[str]) -> PolyMesh:
    """Read any mesh; `InputError` names file and line (or element) for whatever is wrong with it."""
    file = Path(path)
    mesh = format_module(file, READERS).read(file)
    return checked(mesh, file)


def write_mesh(path: str | PathLike[str], mesh: PolyMesh) -> None:
    """Write a mesh at rest, whole or not at all."""
    file = Path(path)
    writers = {ending: module for ending, module in READERS.items() if ending not in (".gltf", ".usdz")}
    format_module(file, writers).write(file, mesh)


def checked(mesh: PolyMesh, file: Path) -> PolyMesh:
    """Refuse what no later step can use: nothing at all, numbers that are none, corners that do not exist."""
    count = len(mesh.vertices)
    if count == 0 or mesh.face_count == 0:
        raise InputError(f"expected points and faces, got {count} points and {mesh.face_count} faces", file=file)
    bad = ~(np.abs(mesh.vertices).max(axis=1) <= EXTENT_LIMIT)
    if bad.any():
        number = int(bad.argmax())
        value = ", ".join(f"{x:g}" for x in mesh.vertices[number])
        raise InputError(f"expected finite coordinates below {EXTENT_LIMIT:g}, got ({value})", file=file,
                         place=f"point {number + 1}")  # fmt: skip
    wrong = (mesh.indices < 0) | (mesh.indices >= count)
    if wrong.any():
        corner = int(wrong.argmax())
        face = int(np.searchsorted(mesh.offsets, corner, side="right"))
        raise InputError(f"expected corners among the {count} points, got {mesh.indices[corner]} (from 0)", file=file,
                         place=f"face {face}")  # fmt: skip
    return mesh
