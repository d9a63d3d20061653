"""Markers of a take, as cameras would have seen them: `risorius export TAKE --to trc` or `csv`.

The places are a layout of 34 (`inverse/data/marker_places.csv`) or a table of one's own: columns name, height, angle, where
height goes from 0 at the hip bones' front spines to 1 at the jugular notch and angle [deg] from the front to the right; or
name, x_mm, y_mm, z_mm at rest (forward, up, right), each moved to the nearest point of the trunk's skin.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.torso import Torso
from risorius.inverse.markers.place import Trunk
from risorius.inverse.markers.subject import body_of
from risorius.inverse.markers.virtual import Places
from risorius.io.take import Take

Floats = NDArray[np.float64]

ROUND: Final = ("name", "height", "angle")
STRAIGHT: Final = ("name", "x_mm", "y_mm", "z_mm")
SLICE: Final = 0.02
"""Half height [m] of the slice of skin whose middle the rays start from."""


def places_of(torso: Torso, table: str | PathLike[str] | None = None) -> Places:
    """Where markers sit on a subject's skin; `InputError` names the line of the table."""
    trunk = body_of(torso).trunk
    names, rows, kind = read_places(table)
    if kind == STRAIGHT:
        _, _, triangle, share = trunk.tree.closest(rows * 1e-3)
    else:
        triangle, share = round_the_trunk(trunk, names, rows, table)
    return Places(names, trunk.faces[triangle], share)


def read_places(table: str | PathLike[str] | None) -> tuple[tuple[str, ...], Floats, tuple[str, ...]]:
    """Names, numbers (n, 2 or 3) and the heading of a table of places."""
    from risorius.io.tables import read_lines

    if table is None:
        lines = files("risorius.inverse").joinpath("data/marker_places.csv").read_text(encoding="utf-8").splitlines()
    else:
        lines = read_lines(Path(table))
    reader = csv.reader(lines)
    head = tuple(word.strip() for word in next(reader, []))
    if head not in (ROUND, STRAIGHT):
        raise InputError(f"expected columns {','.join(ROUND)} or {','.join(STRAIGHT)}", file=table, line=1)
    names: list[str] = []
    rows: list[list[float]] = []
    for number, row in enumerate(reader, start=2):
        if not any(row):
            continue
        try:
            values = [float(word) for word in row[1:]]
        except ValueError:
            values = []
        if (
            len(values) != len(head) - 1
            or not np.isfinite(values).all()
            or not row[0].strip()
            or row[0].strip() in names
        ):
            raise InputError(f"expected a name of its own and {len(head) - 1} numbers", file=table, line=number)
        names.append(row[0].strip())
        rows.append(values)
    if not names:
        raise InputError("expected at least one place", file=table)
    return tuple(names), np.array(rows), head


def round_the_trunk(
    trunk: Trunk, names: tuple[str, ...], rows: Floats, table: str | PathLike[str] | None
) -> tuple[NDArray[np.int64], Floats]:
    """Triangle and shares where rays from the trunk's middle leave it, by height and angle."""
    points = trunk.vertices[np.unique(trunk.faces)]
    starts, ways = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    for number, (part, angle) in enumerate(rows):
        height = part * trunk.notch
        near = points[np.abs(points[:, 1] - height) < SLICE]
        if not len(near):
            raise InputError("expected a height on the trunk, 0 to about 1", file=table, place=names[number])
        starts[number] = 0.5 * (near[:, 0].min() + near[:, 0].max()), height, 0.0
        ways[number] = np.cos(np.radians(angle)), 0.0, np.sin(np.radians(angle))
    far, _ = trunk.tree.rays(starts, ways)
    if not np.isfinite(far).all():
        raise InputError("expected a place on the trunk, found no skin there", file=table,
                         place=names[int(np.flatnonzero(~np.isfinite(far))[0])])  # fmt: skip
    _, _, triangle, share = trunk.tree.closest(starts + far[:, None] * ways)
    return triangle, share


def write_markers(
    target: Path,
    take: Take,
    table: str | PathLike[str] | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> None:
    """Write the markers of a take by the ending of the name, at the take's frame rate.

    Args:
        noise: standard deviation [mm] of what cameras get wrong, each coordinate of each frame by itself.
    """
    from risorius.io.markers_out import write_csv, write_trc

    places = places_of(take.torso, table)
    points = places.on(take.skin).astype(np.float64)
    if not 0.0 <= noise <= 100.0:
        raise InputError(f"expected 0 to 100 mm, got {noise:g}", place="--noise")
    points += 1e-3 * noise * np.random.default_rng(seed).standard_normal(points.shape)
    time = take.record.time
    rate = (len(time) - 1) / float(time[-1] - time[0]) if len(time) > 1 else 25.0
    (write_trc if target.suffix.lower() == ".trc" else write_csv)(target, places.names, points, round(rate, 6))
