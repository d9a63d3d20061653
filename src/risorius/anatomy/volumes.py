"""Predicted lung volumes: GLI-2021 static volumes (Hall et al. 2021, Eur Respir J), European ancestry, 5 to 80 years.

The age spline (at most about 10 % in young adults) is left out, as the equations stand in `data/gli_volumes.csv`:
M = exp(a + b ln A + c ln H + d A + e H), H in cm, A in years, litres.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from importlib.resources import files

from risorius.core.spec import Spec
from risorius.core.units import LITRE


@cache
def coefficients() -> dict[tuple[str, str], tuple[float, ...]]:
    """(volume, sex) -> a, b, c, d, e."""
    text = files("risorius.anatomy").joinpath("data/gli_volumes.csv").read_text()
    rows = csv.DictReader(text.splitlines())
    return {(row["volume"], row["sex"]): tuple(float(row[key]) for key in "abcde") for row in rows}


def predicted(volume: str, spec: Spec) -> float:
    """Predicted FRC, TLC, RV, ERV, IC or VC [m³]."""
    a, b, c, d, e = coefficients()[volume, spec.sex]
    height = 100.0 * spec.stature
    return LITRE * math.exp(a + b * math.log(spec.age) + c * math.log(height) + d * spec.age + e * height)
