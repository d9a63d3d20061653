"""Figures of takes."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from risorius.core.errors import InputError
from risorius.io.take import read_take


def plot(takes: Sequence[str | PathLike[str]], name: str, out: str | PathLike[str] | None = None) -> list[Path]:
    """Draw a figure of one or more takes, or with `all` every figure that they have the signals for; gives the files."""
    from risorius.view.figures import FIGURES, draw_figure

    if name != "all" and name not in FIGURES:
        raise InputError(f"expected all or one of {', '.join(FIGURES)}, got {name!r}", place="--figure")
    target = Path(out) if out is not None else None
    if name != "all" and target is not None and target.suffix.lower() not in (".png", ".svg"):
        raise InputError("expected a name ending in .png or .svg", file=target)
    read = [(Path(take).resolve().name, read_take(take)) for take in takes]
    if name != "all":
        file = target or Path(takes[0]) / f"{name}.png"
        draw_figure(file, name, read)
        return [file]
    folder = target or Path(takes[0]) / "figures"
    drawn = []
    for each in FIGURES:
        if each == "relaxation" and not all(take.run.get("command", "").endswith("relaxed-curve") for _, take in read):
            continue
        if each == "sound" and read[0][1].sound is None:
            continue
        draw_figure(folder / f"{each}.png", each, read)
        drawn.append(folder / f"{each}.png")
    return drawn
