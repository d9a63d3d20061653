"""A picture of recorded breathing: the signal with its breaths, the breaths laid over each other, the markers' paths."""

from __future__ import annotations

from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import written

Floats = NDArray[np.float64]

MOST = 6000
ENLARGED = 5.0
FRONT, BACK, COLUMN = "#b3391d", "#3a78a8", "#222222"


def draw_breathing(
    path: str | PathLike[str],
    signal: Floats,
    rate: float,
    label: str,
    starts: Floats,
    tops: Floats,
    per_minute: float,
    cloud: dict[str, Any] | None = None,
) -> None:
    """Write the picture as a PNG.

    Args:
        signal: (n,) high when the lungs are full; rate [Hz].
        starts, tops: of breaths [s].
        cloud: mean (p, n, 3) the average breath [m] forward, up, right; front and column (n,) flags.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 8.0 if cloud else 6.0), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 3, height_ratios=(1.0, 1.7) if cloud else (1.0, 1.0))
    over = figure.add_subplot(grid[0, :])
    time = np.arange(len(signal)) / rate
    step = max(1, len(signal) // MOST)
    over.plot(time[::step], signal[::step], color="#333333", linewidth=1.0)
    for moment in starts:
        over.axvline(moment, color=BACK, linewidth=0.7)
    over.plot(tops, np.interp(tops, time, signal), "o", color=FRONT, markersize=4)
    over.set_ylabel(label)
    over.set_xlabel("time [s]")
    over.set_xlim(0.0, time[-1])
    over.set_title(f"{len(tops)} breaths · {per_minute:.1f} a minute", loc="left", fontsize=11)
    laid = figure.add_subplot(grid[1, 0] if cloud else grid[1, :])
    for begin, end in pairwise(starts):
        at = np.linspace(begin, end, 200)
        value = np.interp(at, time, signal)
        laid.plot(np.linspace(0.0, 1.0, 200), value - value[0], color="#777777", linewidth=0.8, alpha=0.6)
    laid.set_xlabel("part of a breath")
    laid.set_ylabel("since its beginning")
    if cloud:
        for column, (horizontal, name) in enumerate(((0, "forward [mm]"), (2, "right [mm]")), start=1):
            draw_paths(figure.add_subplot(grid[1, column]), cloud, horizontal, name)
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})


def draw_paths(axes: Any, cloud: dict[str, Any], horizontal: int, name: str) -> None:
    """Markers from the side or from the front, with their paths over a breath enlarged."""
    mean = 1e3 * cloud["mean"]
    place = mean.mean(axis=0)
    path = place + ENLARGED * (mean - place)
    path = np.concatenate([path, path[:1]])
    for number in range(mean.shape[1]):
        colour = COLUMN if cloud["column"][number] else FRONT if cloud["front"][number] else BACK
        axes.plot(path[:, number, horizontal], path[:, number, 1], color=colour, linewidth=1.0)
        axes.plot(place[number, horizontal], place[number, 1], "o", color=colour, markersize=3)
    axes.set_aspect("equal")
    axes.set_xlabel(name)
    axes.set_ylabel(f"up [mm], paths ×{ENLARGED:g}")
    if horizontal == 0:
        axes.set_title("front red, back blue, sagittal column black", loc="left", fontsize=9)
