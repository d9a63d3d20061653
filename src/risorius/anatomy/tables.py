"""The data files of this room: facts with unit and source, read once."""

from __future__ import annotations

import csv
import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from risorius.core.torso import Floats

MM = 1e-3


@cache
def table(name: str) -> Any:
    """A JSON table of `anatomy/data`, as it stands there (treat as read-only)."""
    return json.loads((files("risorius.anatomy") / "data" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """A CSV table of `anatomy/data`, one dict a row."""
    text = (files("risorius.anatomy") / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def metres(point_mm: Any) -> Floats:
    """Points of a table [mm] as an array [m]; pairs (x, y) get z = 0."""
    point = np.asarray(point_mm, float) * MM
    if point.shape[-1] == 2:
        point = np.concatenate([point, np.zeros((*point.shape[:-1], 1))], axis=-1)
    return point
