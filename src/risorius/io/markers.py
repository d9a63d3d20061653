"""Marker files in, by the ending of the name: c3d, trc (tabs or commas), csv (Vicon's export, or columns `NAME X`).

Gaps become NaN, also where a file fills them with zeros. Units: the file's word for it, or from the size of the cloud.
"""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.markers import Markers
from risorius.io.files import readable

Floats = NDArray[np.float64]

READERS: Final = {".c3d": "markers_c3d", ".trc": "markers_trc", ".csv": "markers_csv", ".txt": "markers_csv"}
UNITS: Final = {"m": 1.0, "meters": 1.0, "metres": 1.0, "cm": 0.01, "mm": 0.001, "millimeters": 0.001}
RATES: Final = (1.0, 10_000.0)
FRAME_LIMIT: Final = 2_000_000
MARKER_LIMIT: Final = 10_000
SIZES: Final = (5.0, 300.0)
"""Diagonal of a cloud of markers on a body: below the first number it is in metres, above the second in millimetres."""
FARTHEST: Final = 1e3
"""A marker further from the origin [m] than this is a broken number."""


def read_markers(path: str | PathLike[str], *, rate: float | None = None, unit: str | None = None) -> Markers:
    """Read a marker file; `InputError` names file and place for whatever is wrong with it.

    Args:
        rate: frames a second [Hz], over what the file says.
        unit: m, cm or mm, over what the file says.
    """
    file = Path(path)
    if file.suffix.lower() not in READERS:
        raise InputError(
            f"expected markers ending in {', '.join(READERS)}, got {file.suffix or 'no ending'!r}", file=file
        )
    if file.is_dir():
        raise InputError("expected a file, got a folder", file=file)
    if rate is not None and not RATES[0] <= rate <= RATES[1]:
        raise InputError(f"expected {RATES[0]:g} to {RATES[1]:g} frames a second, got {rate:g}", place="--rate")
    if unit is not None and unit.lower() not in UNITS:
        raise InputError(f"expected m, cm or mm, got {unit!r}", place="--unit")
    readable(file)
    names, points, own_rate, own_unit = importlib.import_module(f"risorius.io.{READERS[file.suffix.lower()]}").read(
        file
    )
    return checked(file, names, points, rate or own_rate, unit or own_unit)


def checked(file: Path, names: list[str], points: Floats, rate: float | None, unit: str | None) -> Markers:
    """Gaps marked, metres, names made different; refused is what has no points at all."""
    if points.ndim != 3 or points.shape[0] == 0 or points.shape[1] == 0:
        raise InputError(f"expected frames of markers, got {points.shape[0]} frames of {len(names)} markers", file=file)
    points = points.astype(np.float64)
    points[~(np.abs(points) < 1e12)] = np.nan
    lost = ~np.isfinite(points).all(axis=2) | (points == 0.0).all(axis=2)
    points[lost] = np.nan
    if lost.all():
        raise InputError("expected at least one marker that is seen, all of them are gaps", file=file)
    if rate is not None and not RATES[0] <= rate <= RATES[1]:
        raise InputError(f"expected {RATES[0]:g} to {RATES[1]:g} frames a second, the file says {rate:g}", file=file)
    scale = scale_of(file, points, unit)
    if np.nanmax(np.abs(points)) * scale > FARTHEST:
        frame, marker = np.unravel_index(int(np.nanargmax(np.abs(points).max(axis=2))), points.shape[:2])
        raise InputError(
            f"expected points within {FARTHEST:g} m", file=file, place=f"frame {frame + 1}, {names[marker]}"
        )
    used: dict[str, int] = {}
    different = []
    for name in names:
        used[name] = used.get(name, 0) + 1
        different.append(name if used[name] == 1 else f"{name}#{used[name]}")
    return Markers(tuple(different), points * scale, rate)


def scale_of(file: Path, points: Floats, unit: str | None) -> float:
    """Metres in the file's unit."""
    if unit is not None:
        known = UNITS.get(unit.strip().lower())
        if known is None:
            raise InputError(f"expected positions in m, cm or mm, got {unit!r}", file=file)
        return known
    flat = points.reshape(-1, 3)
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = np.percentile(flat, (2, 98), axis=0)
    size = float(np.linalg.norm(high - low))
    return 1.0 if size < SIZES[0] else 0.01 if size < SIZES[1] else 0.001
