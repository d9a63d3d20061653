"""signals.csv: one row a frame, the unit in each column's name."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import read_bytes, write_bytes

Floats = NDArray[np.float64]
LEADING: Final = (
    "time_s", "lung_volume_l", "flow_lps", "lung_pressure_cmH2O", "pleural_pressure_cmH2O",
    "abdominal_pressure_cmH2O", "ribcage_volume_l", "abdomen_volume_l", "sternum_ap_mm", "sternum_height_mm",
    "diaphragm_height_mm", "umbilicus_ap_mm", "chest_circumference_upper_mm", "chest_circumference_lower_mm",
    "cavity_volume_error_pct",
)  # fmt: skip
DIGITS: Final = 10
COLUMN_LIMIT: Final = 10_000


def rank(name: str) -> tuple[int, int, str]:
    """Where a column stands: the fixed ones, activations, ribs, the target, then all others."""
    if name in LEADING:
        return 0, LEADING.index(name), ""
    if name.startswith("act_"):
        return 1, 0, ""
    found = re.fullmatch(r"rib(\d+)_(pump|bucket)_deg", name)
    if found:
        return 2, 2 * int(found[1]) + (found[2] == "bucket"), ""
    return (3, 0, "") if name == "target_pressure_cmH2O" else (4, 0, "")


def write_signals(path: str | PathLike[str], signals: dict[str, Floats]) -> None:
    """Write columns in the order of the contract; the same numbers give the same bytes."""
    names = sorted(signals, key=rank)  # stable: activations and others keep the order they came in
    write_table(path, {name: signals[name] for name in names})


def write_table(path: str | PathLike[str], columns: dict[str, Floats]) -> None:
    """Write columns (f,) of equal length in the order given."""
    table = np.stack([np.asarray(column, dtype=np.float64) for column in columns.values()], axis=1) + 0.0  # no "-0"
    form = f"%.{DIGITS}g"
    rows = [",".join([form % value for value in row]) for row in table.tolist()]
    write_bytes(path, ("\n".join([",".join(columns), *rows]) + "\n").encode())


def read_signals(path: str | PathLike[str]) -> dict[str, Floats]:
    """Columns by name; `InputError` names the line."""
    file = Path(path)
    lines = read_bytes(file).decode("utf-8", errors="replace").splitlines()
    names = lines[0].split(",") if lines else []
    if not names or names[0] != "time_s" or len(set(names)) != len(names) or len(names) > COLUMN_LIMIT:
        raise InputError("expected a header of different names, time_s first", file=file, line=1)
    rows = []
    for number, text in enumerate(lines[1:], start=2):
        try:
            row = [float(word) for word in text.split(",")]
        except ValueError:
            row = []
        if len(row) != len(names):
            raise InputError(f"expected {len(names)} numbers, got {text[:60]!r}", file=file, line=number)
        rows.append(row)
    table = np.array(rows, dtype=np.float64).reshape(-1, len(names))
    return {name: np.ascontiguousarray(table[:, k]) for k, name in enumerate(names)}
