"""Pressures of sounds, with unit and source, from `inverse/data/pressures.csv`."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def pressures() -> dict[str, dict[str, float]]:
    """Kind -> quantity -> value."""
    text = files("risorius.inverse").joinpath("data/pressures.csv").read_text(encoding="utf-8")
    table: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(text.splitlines()):
        table.setdefault(row["kind"], {})[row["quantity"]] = float(row["value"])
    return table
