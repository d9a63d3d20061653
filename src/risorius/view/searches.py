"""Searches of one call compared: best cost against evaluations (as DiLorenzo 2009, fig. 6.8), and what each found."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import written

Floats = NDArray[np.float64]
COLOURS: Final = {"search": "#3a78a8", "anneal": "#c9821f", "cma": "#5b8a3c", "track": "#b3391d"}
NAMES: Final = {
    "search": "direct search", "anneal": "annealing", "cma": "CMA-ES", "track": "one forward pass",
}  # fmt: skip


def draw_searches(
    path: str | PathLike[str],
    curves: dict[str, Floats],
    label: str = "normalised rms error",
    *,
    known: dict[str, float] | None = None,
    time: Floats | None = None,
    target: Floats | None = None,
    found: dict[str, Floats] | None = None,
    window: tuple[float, float] | None = None,
) -> None:
    """Write the picture as a PNG.

    Args:
        curves: name of the search -> (evaluations,) best cost so far.
        known: name -> cost of what needs no search.
        time, target, found: (n,) [s], pressure wanted and by name found [cmH2O], drawn beside it.
        window: stretch that is compared [s].
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    both = time is not None and target is not None and found is not None
    figure = Figure(figsize=(12.0, 5.0) if both else (8.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    left = axes[0]
    longest = max(len(curve) for curve in curves.values())
    for name, curve in curves.items():
        steps = np.arange(1, len(curve) + 1)
        text = f"{NAMES.get(name, name)}: {curve[-1]:.3f} after {len(curve)}"
        left.step(steps, curve, where="post", linewidth=1.6, color=COLOURS.get(name), label=text)
        left.plot(len(curve), curve[-1], "o", color=COLOURS.get(name), markersize=4)
    for name, cost in (known or {}).items():
        left.axhline(cost, color=COLOURS.get(name), linestyle="--", linewidth=1.4,
                     label=f"{NAMES.get(name, name)}: {cost:.3f}, no search")  # fmt: skip
    left.set_xscale("log")
    left.set_xlim(1, 1.3 * longest)
    left.set_ylim(0.0, 1.05 * min(1.2, max(float(curve[0]) for curve in curves.values())))
    left.set_xlabel("evaluations")
    left.set_ylabel(label)
    left.legend(fontsize=9)
    if both and time is not None and target is not None and found is not None:
        right = axes[1]
        if window is not None:
            right.axvspan(*window, color="#f4d8c9", alpha=0.5, linewidth=0.0, label="compared")
        right.plot(time, target, color="black", linewidth=2.4, label="target")
        for name, pressure in found.items():
            right.plot(time, pressure, color=COLOURS.get(name), linewidth=1.4, label=NAMES.get(name, name))
        right.set_xlabel("time [s]")
        right.set_ylabel("lung pressure [cmH2O]")
        right.legend(fontsize=9)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})
