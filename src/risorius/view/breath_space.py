"""The breath space as a coloured map with the human range marked (D fig. 5.3)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import written

Floats = NDArray[np.float64]
HUMAN: Final = {"male": (0.45, 0.50, 0.75), "female": (0.35, 0.45, 0.60)}
"""Tidal volume [l] of quiet breathing: least, mean, most (physiology survey §1; Tobin 1983)."""


def draw_breath_space(path: str | PathLike[str], across: Floats, up: Floats, tidal: Floats, sex: str) -> None:
    """Write the map as a PNG.

    Args:
        across: (c) contraction; up: (r) period [s]; tidal: (r, c) [l].
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    image = axes.pcolormesh(across, up, tidal, cmap="viridis", shading="nearest", vmin=0.0)
    bar = figure.colorbar(image, label="tidal volume [l]")
    low, mean, high = HUMAN[sex]
    inside = [level for level in (low, mean, high) if tidal.min() < level < tidal.max()]
    if inside:
        marks = axes.contour(
            across, up, tidal, levels=inside, colors="white", linewidths=[2.2 if v == mean else 1.2 for v in inside],
            linestyles=["-" if v == mean else "--" for v in inside],
        )  # fmt: skip
        axes.clabel(marks, fmt="%.2f l", fontsize=8)
    for level in (low, mean, high):
        bar.ax.axhline(level, color="white", linewidth=2.2 if level == mean else 1.2)
    axes.set_xlabel("contraction, part of the deep style's")
    axes.set_ylabel("seconds a breath")
    axes.set_title(
        f"{tidal.size} runs; white: quiet breathing of {'men' if sex == 'male' else 'women'}, {low:g} to {high:g} l",
        loc="left", fontsize=10,
    )  # fmt: skip
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})
