"""Marker files out: TRC (OpenSim, Motion Analysis) and csv with columns `NAME X`, `NAME Y`, `NAME Z`; millimetres."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import write_bytes

Floats = NDArray[np.floating]

MM = 1e3


def cells(points: Floats) -> list[list[str]]:
    """Rows of text, a gap left empty."""
    flat = MM * np.asarray(points, dtype=np.float64).reshape(len(points), -1)
    return [["" if np.isnan(value) else f"{value:.4f}" for value in row] for row in flat]


def write_trc(path: str | PathLike[str], names: Sequence[str], points: Floats, rate: float) -> None:
    """Write markers (f, n, 3) [m] at `rate` frames a second; x forward, y up, z right, as in the story."""
    count, frames = len(names), len(points)
    head = [
        ["PathFileType", "4", "(X/Y/Z)", Path(path).name],
        ["DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units", "OrigDataRate", "OrigDataStartFrame",
         "OrigNumFrames"],
        [f"{rate:g}", f"{rate:g}", str(frames), str(count), "mm", f"{rate:g}", "1", str(frames)],
        ["Frame#", "Time", *(part for name in names for part in (name, "", ""))],
        ["", "", *(f"{axis}{number + 1}" for number in range(count) for axis in "XYZ")],
        [],
    ]  # fmt: skip
    rows = [[str(number + 1), f"{number / rate:.6f}", *row] for number, row in enumerate(cells(points))]
    write_bytes(path, "".join("\t".join(row) + "\n" for row in head + rows).encode())


def write_csv(path: str | PathLike[str], names: Sequence[str], points: Floats, rate: float) -> None:
    """Write markers (f, n, 3) [m] with a time column and columns `NAME X [mm]`."""
    head = ["time_s", *(f"{name} {axis} [mm]" for name in names for axis in "XYZ")]
    rows = [[f"{number / rate:.6f}", *row] for number, row in enumerate(cells(points))]
    write_bytes(path, "".join(",".join(row) + "\n" for row in [head, *rows]).encode())
