"""Figures for people: one line an entry, deeper tables indented."""

from __future__ import annotations

from collections.abc import Mapping


def show(table: Mapping[str, object], indent: str = "") -> None:
    """Print a table of names and values."""
    for name, value in table.items():
        if isinstance(value, dict):
            print(f"{indent}{name}:")
            show(value, indent + "  ")
        elif isinstance(value, list):
            print(f"{indent}{name}: {' '.join(map(str, value))}")
        else:
            print(f"{indent}{name:<24} {'missing' if value is None else value}")
