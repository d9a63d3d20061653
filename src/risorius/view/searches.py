"""Searches compared: best cost against evaluations (as DiLorenzo 2009, fig. 6.8)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import written

Floats = NDArray[np.float64]


def draw_searches(path: str | PathLike[str], curves: dict[str, Floats], label: str = "normalised rms error") -> None:
    """Write the picture as a PNG; curves: name of the search -> (evaluations,) best cost so far."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, curve in curves.items():
        steps = np.arange(1, len(curve) + 1)
        axes.step(steps, curve, where="post", linewidth=1.5, label=f"{name}: {curve[-1]:.3f} after {len(curve)}")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("evaluations")
    axes.set_ylabel(label)
    axes.legend()
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})
