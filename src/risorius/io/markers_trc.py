"""TRC, the text format of OpenSim and Motion Analysis, separated by tabs or commas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.tables import numbers, read_lines


def read(file: Path) -> tuple[list[str], NDArray[np.float64], float | None, str | None]:
    """Names, points (f, n, 3) in the file's unit, rate, unit."""
    lines = read_lines(file)
    start = next((at for at, line in enumerate(lines[:20]) if line.startswith("PathFileType")), None)
    if start is None or len(lines) < start + 5:
        raise InputError("expected a TRC file that begins with PathFileType", file=file, line=1)
    separator = "\t" if "\t" in lines[start + 1] else ","
    keys = [word.strip().lower() for word in lines[start + 1].split(separator)]
    values = [word.strip() for word in lines[start + 2].split(separator)]
    header = {key: word for key, word in zip(keys, values, strict=False) if key and word}
    rate = number_of(file, start + 3, header, "datarate")
    heading = [word.strip() for word in lines[start + 3].split(separator)]
    if len(heading) < 3 or not heading[0].lower().startswith("frame"):
        raise InputError("expected the line `Frame# Time NAME …`", file=file, line=start + 4)
    names = [(at, name) for at, name in enumerate(heading) if at >= 2 and name]
    if not names:
        raise InputError("expected markers, the file has none", file=file, line=start + 4)
    columns = np.array([[at, at + 1, at + 2] for at, _ in names])
    table = numbers(file, lines, start + 5, separator, int(columns.max()) + 1)
    return [name for _, name in names], table[:, columns], rate, header.get("units")


def number_of(file: Path, line: int, header: dict[str, str], key: str) -> float | None:
    """A number of the header; none where it is missing."""
    if key not in header:
        return None
    try:
        return float(header[key])
    except ValueError:
        raise InputError(f"expected a number for {key}, got {header[key]!r}", file=file, line=line) from None
