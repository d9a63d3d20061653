"""Markers in a table of text: Vicon's export (names above X,Y,Z), columns `NAME X` in any order, or numbers alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.markers import UNITS
from risorius.io.tables import is_number, numbers, read_lines, separator_of

Floats = NDArray[np.float64]
Read = tuple[list[str], Floats, float | None, str | None]

AXES: Final = {"x": 0, "y": 1, "z": 2}
TIME: Final = {"time", "time_s", "time (s)", "t", "t_s", "seconds"}
HEADER_LINES: Final = 12


def read(file: Path) -> Read:
    """Names, points (f, n, 3) in the file's unit, rate, unit."""
    lines = read_lines(file)
    if not lines:
        raise InputError("expected a table of markers, the file is empty", file=file)
    separator = separator_of(max(lines[:HEADER_LINES], key=len))
    rows = [[word.strip().strip('"') for word in line.split(separator)] for line in lines[:HEADER_LINES]]
    for at, row in enumerate(rows):
        axes = [word.lower() in AXES for word in row]
        if sum(axes) >= 3 and sum(axes) >= 0.5 * sum(bool(word) for word in row):
            return vicon(file, lines, rows, at, separator)
    for at, row in enumerate(rows):
        found = flat_columns(row)
        if found:
            return flat(file, lines, row, at, found, separator)
    if all(is_number(word) for word in rows[0] if word):
        return bare(file, lines, separator)
    raise InputError(
        "expected columns named `NAME X`, `NAME Y`, `NAME Z`, or a line of X, Y, Z below the names", file=file, line=1
    )


def vicon(file: Path, lines: list[str], rows: list[list[str]], at: int, separator: str) -> Read:
    """A line of X, Y, Z with the names in the line above, units below and a lone rate above."""
    axis = rows[at]
    starts = [column for column, word in enumerate(axis) if word.lower() == "x"]
    starts = [c for c in starts if [word.lower() for word in axis[c : c + 3]] == ["x", "y", "z"]]
    above = rows[at - 1] if at else []
    names = [above[c] if c < len(above) and above[c] else f"marker{number + 1}" for number, c in enumerate(starts)]
    if not starts:
        raise InputError("expected columns X, Y, Z side by side", file=file, line=at + 1)
    rate = next((float(row[0]) for row in rows[:at] if is_number(row[0]) and not any(row[1:])), None)
    first, unit = at + 1, None
    if first < len(rows) and not any(is_number(word) for word in rows[first]):
        unit = next((word for word in rows[first] if word.lower() in UNITS), None)
        first += 1
    columns = np.array([[c, c + 1, c + 2] for c in starts])
    return names, numbers(file, lines, first, separator, int(columns.max()) + 1)[:, columns], rate, unit


def flat_columns(row: list[str]) -> dict[str, list[int]]:
    """Marker -> its three columns, where a header names them `NAME X`, `NAME_x`, `NAME:X`, `X_NAME` and the like."""
    found: dict[str, list[int]] = {}
    for column, word in enumerate(row):
        plain = re.sub(r"\s*[\[(](mm|cm|m)[\])]\s*$", "", word, flags=re.IGNORECASE)
        plain = re.sub(r"_(mm|cm|m)$", "", plain, flags=re.IGNORECASE)
        match = re.fullmatch(r"(.+?)[\s_:.\-]*([xyzXYZ])", plain) or None
        if match is None:
            other = re.fullmatch(r"([xyzXYZ])[\s_:.\-]+(.+)", plain)
            if other is None:
                continue
            name, axis = other[2], other[1]
        else:
            name, axis = match[1], match[2]
        found.setdefault(name.strip(), [-1, -1, -1])[AXES[axis.lower()]] = column
    return {name: columns for name, columns in found.items() if min(columns) >= 0}


def flat(file: Path, lines: list[str], row: list[str], at: int, found: dict[str, list[int]], separator: str) -> Read:
    """A header of named columns; a time column gives the rate, a unit in the names the unit."""
    units = {match[1].lower() for word in row if (match := re.search(r"[\[(_](mm|cm|m)[\])]?$", word, re.IGNORECASE))}
    table = numbers(file, lines, at + 1, separator, len(row))
    rate = None
    for column, word in enumerate(row):
        if word.lower() in TIME:
            rate = rate_of(file, table[:, column])
    columns = np.array(list(found.values()))
    return list(found), table[:, columns], rate, units.pop() if len(units) == 1 else None


def bare(file: Path, lines: list[str], separator: str) -> Read:
    """Numbers alone: three columns a marker, after up to two of frame and time."""
    width = len(lines[0].rstrip(separator + " ").split(separator))
    skip = width % 3
    count = width // 3
    if count == 0:
        raise InputError("expected three columns a marker", file=file, line=1)
    table = numbers(file, lines, 0, separator, width)[:, skip:]
    return [f"marker{number + 1}" for number in range(count)], table.reshape(len(table), count, 3), None, None


def rate_of(file: Path, time: Floats) -> float | None:
    """Frames a second of a time column [s]."""
    steps = np.diff(time[np.isfinite(time)])
    if not len(steps):
        return None
    step = float(np.median(steps))
    if not step > 0.0:
        raise InputError("expected times that rise", file=file, place="time column")
    return 1.0 / step
