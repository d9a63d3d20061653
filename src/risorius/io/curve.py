"""One measured breathing signal in: npy, or csv with or without a time column."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core.errors import InputError
from risorius.core.markers import Curve
from risorius.io.files import readable
from risorius.io.markers import RATES
from risorius.io.markers_csv import AXES, HEADER_LINES, TIME, flat_columns, rate_of
from risorius.io.tables import is_number, numbers, read_lines, separator_of

LONGEST: Final = 50_000_000
SHORTEST: Final = 8
FEWEST_MARKERS: Final = 12
"""Columns of numbers alone from which a table is taken for markers: four of them."""


def read_curve(path: str | PathLike[str], *, rate: float | None = None, column: str | None = None) -> Curve:
    """A belt's or spirometer's signal; gaps in it are bridged by straight lines.

    Args:
        rate: samples a second [Hz]; a csv with a time column needs none.
        column: name or number (from 1) of the csv's column; the first that is not time where not given.
    """
    file = Path(path)
    readable(file)
    if file.suffix.lower() == ".npy":
        values, own = npy_values(file), None
    elif file.suffix.lower() in (".csv", ".txt"):
        values, own = csv_values(file, column)
    else:
        raise InputError(f"expected a curve ending in .npy, .csv or .txt, got {file.suffix!r}", file=file)
    rate = rate or own
    if rate is None:
        raise InputError("expected --rate: the file does not say how many samples there are a second", file=file)
    if not RATES[0] <= rate <= RATES[1]:
        raise InputError(f"expected {RATES[0]:g} to {RATES[1]:g} samples a second, got {rate:g}", place="--rate")
    good = np.abs(values) < 1e12
    if len(values) < SHORTEST or good.sum() < max(SHORTEST, 0.5 * len(values)):
        raise InputError(
            f"expected a curve of {SHORTEST} values or more, got {int(good.sum())} numbers in {len(values)}", file=file
        )
    at = np.arange(len(values))
    return Curve(np.interp(at, at[good], values[good]), float(rate))


def looks_like_curve(file: Path) -> bool:
    """Whether a file holds a curve rather than markers: npy, or a text table without any X, Y, Z."""
    if file.suffix.lower() == ".npy":
        return True
    if file.suffix.lower() not in (".csv", ".txt"):
        return False
    readable(file)
    lines = read_lines(file)[:HEADER_LINES]
    separator = separator_of(max(lines, key=len, default=""))
    rows = [[word.strip().strip('"') for word in line.split(separator)] for line in lines]
    axes = any(sum(word.lower() in AXES for word in row) >= 3 or flat_columns(row) for row in rows)
    return not axes and bool(rows) and len(rows[-1]) < FEWEST_MARKERS


def npy_values(file: Path) -> np.ndarray:
    """The numbers of a .npy file, which must be one row of them; nothing in it is executed."""
    try:
        values = np.load(file, allow_pickle=False, mmap_mode="r")
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        raise InputError(f"not readable as npy: {' '.join(str(error).split()) or 'cut off'}", file=file) from None
    values = np.squeeze(values)
    if values.ndim != 1 or values.dtype.kind not in "fiu" or len(values) > LONGEST:
        raise InputError(f"expected one row of numbers, got shape {values.shape} of {values.dtype}", file=file)
    return np.array(values, dtype=np.float64)


def csv_values(file: Path, column: str | None) -> tuple[np.ndarray, float | None]:
    """One column of a csv, and the rate that its time column gives."""
    lines = read_lines(file)
    if not lines:
        raise InputError("expected a table, the file is empty", file=file)
    separator = separator_of(lines[0])
    head = [word.strip().strip('"') for word in lines[0].split(separator)]
    named = not all(is_number(word) for word in head if word)
    table = numbers(file, lines, 1 if named else 0, separator, len(head))
    time = next((at for at, name in enumerate(head) if named and name.lower() in TIME), None)
    if column is None:
        chosen = next((at for at in range(len(head)) if at != time), 0)
    elif column in head:
        chosen = head.index(column)
    elif column.isdigit() and 1 <= int(column) <= len(head):
        chosen = int(column) - 1
    else:
        raise InputError(f"expected a column among {', '.join(head)}, got {column!r}", file=file, place="--column")
    return table[:, chosen], rate_of(file, table[:, time]) if time is not None else None


def unit_of(path: str | PathLike[str], column: str | None = None) -> str:
    """What the name of a csv's column ends with, from its last underscore on (`_l`, `_lps`); empty where it has none."""
    file = Path(path)
    if file.suffix.lower() == ".npy":
        return ""
    lines = read_lines(file)
    head = [word.strip().strip('"') for word in lines[0].split(separator_of(lines[0]))]
    name = column or next((name for name in head if name.lower() not in TIME), "")
    if name.isdigit() and 1 <= int(name) <= len(head):
        name = head[int(name) - 1]
    return f"_{name.rpartition('_')[2].lower()}" if "_" in name else ""
