"""C3D, the binary format of motion capture (c3d.org), through ezc3d."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import read_bytes

HEADER = 512


def read(file: Path) -> tuple[list[str], NDArray[np.float64], float | None, str | None]:
    """Names, points (f, n, 3) in the file's unit, rate, unit."""
    check_header(file)
    import ezc3d

    try:
        content = ezc3d.c3d(str(file))
        points = np.asarray(content["data"]["points"], dtype=np.float64)[:3].transpose(2, 1, 0)
        parameters = content["parameters"].get("POINT", {})
        rate = float(content["header"]["points"]["frame_rate"])
    except (OSError, RuntimeError, ValueError, IndexError, KeyError, OverflowError, MemoryError) as error:
        raise InputError(f"not readable as C3D: {str(error) or type(error).__name__}", file=file) from None
    labels = [str(name).strip() for key in ("LABELS", "LABELS2") for name in value(parameters, key)]
    names = [
        labels[number] if number < len(labels) and labels[number] else f"marker{number + 1}"
        for number in range(points.shape[1])
    ]
    unit = value(parameters, "UNITS")
    return names, points, rate if rate > 0.0 else None, str(unit[0]) if unit and str(unit[0]).strip() else None


def value(parameters: dict, key: str) -> list:
    """A parameter's values; none where it is missing."""
    return list(parameters[key]["value"]) if key in parameters else []


def check_header(file: Path) -> None:
    """Refuse what the library would crash or hang on: a wrong key, no points, less data than the header claims."""
    data = read_bytes(file)
    if len(data) < HEADER or data[1] != 0x50:
        raise InputError("not readable as C3D: no C3D header", file=file)
    points, _, first, last, _, _, start, _ = struct.unpack("<HHHHHfHH", data[2:20])
    section = (data[0] - 1) * HEADER
    if not 0 < section <= len(data) - 4:
        raise InputError("not readable as C3D: cut off before its parameters", file=file)
    processor = data[section + 3]
    if processor not in (84, 85, 86):
        raise InputError("not readable as C3D: unknown kind of numbers", file=file)
    if processor == 86:  # big-endian words
        points, _, first, last = struct.unpack(">HHHH", data[2:10])
        start = struct.unpack(">H", data[16:18])[0]
    if points == 0:
        raise InputError("expected markers, the file has none", file=file)
    if last < first or start == 0:
        raise InputError("expected frames, the file has none", file=file)
    least = (start - 1) * HEADER + points * 8 * (last - first + 1)  # whole numbers take 8 bytes a point, floats 16
    if least > len(data):
        raise InputError(f"not readable as C3D: cut off, {len(data)} of at least {least} bytes are there", file=file)
