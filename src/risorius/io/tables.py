"""Tables of numbers in text, as measuring programs write them: any separator, empty cells for gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import read_bytes

Floats = NDArray[np.float64]

SIZE_LIMIT: Final = 512 << 20
EMPTY: Final = {"", "nan", "na", "n/a", "null", "none", "-"}


def read_lines(file: Path) -> list[str]:
    """Lines of a text file; refused is what holds binary data."""
    data = read_bytes(file, limit=SIZE_LIMIT)
    if b"\x00" in data[:4096]:
        raise InputError("expected text, got binary data", file=file)
    text = data.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    while lines and not lines[-1].strip(" \t,;"):
        lines.pop()
    return lines


def separator_of(line: str) -> str:
    """The separator of a line: semicolons or tabs where there are some (commas may be decimal there), else commas."""
    return next((mark for mark in (";", "\t") if line.count(mark) >= 2), ",")


def number(word: str) -> float:
    """A number, NaN for an empty cell; `ValueError` for anything else."""
    word = word.strip().strip('"')
    return float("nan") if word.lower() in EMPTY else float(word)


def is_number(word: str) -> bool:
    """Whether a cell holds a number (empty ones do not)."""
    try:
        float(word.strip().strip('"'))
    except ValueError:
        return False
    return True


def numbers(file: Path, lines: list[str], first: int, separator: str, width: int) -> Floats:
    """(rows, width) numbers from line `first` (from 0) on; short rows are filled with gaps, empty lines left out.

    A decimal comma is understood where the separator is another mark.
    """
    rows: list[list[float]] = []
    for at in range(first, len(lines)):
        text = lines[at]
        if separator != ",":
            text = text.replace(",", ".")
        if not text.strip(" \t,;"):
            continue
        words = text.split(separator)[:width]
        try:
            row = [float(word) if word else float("nan") for word in words]
        except ValueError:
            try:
                row = [number(word) for word in words]
            except ValueError as error:
                raise InputError(f"expected numbers: {error}", file=file, line=at + 1) from None
        rows.append(row + [float("nan")] * (width - len(row)))
    if not rows:
        raise InputError("expected rows of numbers, got none", file=file, line=first + 1)
    return np.array(rows)
