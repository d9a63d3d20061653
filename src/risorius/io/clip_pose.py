"""Recorded WebXR poses: joint names with column-major 4 × 4 matrices (`offsetMatrix`), as one frame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core.clip import Clip
from risorius.core.errors import InputError
from risorius.io.files import read_bytes

JOINT: Final = re.compile(r"""['"]?([A-Za-z][\w-]*)['"]?\s*:\s*\{\s*['"]?offsetMatrix['"]?\s*:\s*\[([^\]]*)\]""")


def read(file: Path) -> Clip:
    """Read every joint that has a matrix."""
    text = read_bytes(file, limit=1 << 24).decode("utf-8", errors="replace")
    names, places, turns = [], [], []
    for found in JOINT.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        try:
            values = np.array([float(word) for word in found[2].split(",") if word.strip()])
        except ValueError:
            raise InputError(f"expected numbers in the matrix of {found[1]}", file=file, line=line) from None
        if values.shape != (16,) or not np.isfinite(values).all():
            raise InputError(f"expected 16 finite numbers in the matrix of {found[1]}", file=file, line=line)
        matrix = values.reshape(4, 4).T
        names.append(found[1])
        places.append(matrix[:3, 3])
        turns.append(matrix[:3, :3])
    if not names:
        raise InputError("expected joints with an offsetMatrix of 16 numbers", file=file, line=1)
    position, rotation = np.array(places), np.array(turns)
    parent = np.full(len(names), -1, np.int32)
    return Clip(
        tuple(names), parent, np.zeros(1), position[None], rotation[None], position, rotation, {}, 1.0, str(file)
    )
