"""Pictures of the muscle laboratory: force against time, film strips, the curves of the Hill laws (D figs 4.2 to 4.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import written

Floats = NDArray[np.float64]
STYLES: Final = {"spring": ("#1f5f99", "--"), "hill": ("#c2312b", "-"), "hill-paper": ("#8a8a8a", ":")}
LABELS: Final = {"spring": "spring", "hill": "Hill", "hill-paper": "Hill, the paper's force-velocity law"}
TURNS: Final = 8


class Traced(Protocol):
    """What is drawn: time (n) [s], place (n) [m], force (n) [N]."""

    @property
    def time(self) -> Floats: ...
    @property
    def place(self) -> Floats: ...
    @property
    def force(self) -> Floats: ...


def canvas(width: float, height: float) -> Any:
    """An empty figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def saved(figure: Any, path: str | PathLike[str]) -> None:
    """Write it."""
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})


def draw_forces(path: str | PathLike[str], title: str, traces: Mapping[str, Traced]) -> None:
    """Force and place against time."""
    figure = canvas(9.0, 6.0)
    force, place = figure.subplots(2, 1, sharex=True)
    for name, trace in traces.items():
        colour, mark = STYLES[name]
        force.plot(trace.time, trace.force, mark, color=colour, linewidth=1.4, label=LABELS[name])
        place.plot(trace.time, -trace.place, mark, color=colour, linewidth=1.4)
    force.set_ylabel("force [N]")
    force.set_title(title.replace("-", " "), loc="left", fontsize=11)
    force.legend(frameon=False, fontsize=9)
    place.axhline(0.0, color="#999999", linewidth=0.6)
    place.set_ylabel("lower particle [m]; 0: upper one")
    place.set_xlabel("time [s]")
    saved(figure, path)


def draw_film(path: str | PathLike[str], title: str, traces: Mapping[str, Traced], moments: Sequence[float]) -> None:
    """Both particles at some moments, spring left and Hill right in each frame (D figs 4.3, 4.4, 4.6)."""
    figure = canvas(1.15 * len(moments) + 0.8, 4.2)
    lowest = max(float(trace.place.max()) for trace in traces.values()) + 0.1
    highest = min(0.0, *(float(trace.place.min()) for trace in traces.values())) - 0.1
    for axes, moment in zip(figure.subplots(1, len(moments), sharey=True), moments):
        for across, name in ((0.0, "spring"), (1.0, "hill")):
            trace = traces[name]
            y = float(np.interp(moment, trace.time, trace.place))
            part = np.linspace(0.0, 1.0, 2 * TURNS + 1)
            zigzag = 0.14 * np.where(np.arange(2 * TURNS + 1) % 2, 1.0, -1.0)
            zigzag[[0, -1]] = 0.0
            axes.plot(across + zigzag, -y * part, color=STYLES[name][0], linewidth=1.2)
            axes.plot([across], [0.0], "s", color="#222222", markersize=6)
            axes.plot([across], [-y], "o", color=STYLES[name][0], markersize=8)
        axes.set_xlim(-0.6, 1.6)
        axes.set_ylim(-lowest, -highest)
        axes.set_xticks([0.0, 1.0], ["spring", "Hill"], fontsize=7)
        axes.set_title(f"{moment:g} s", fontsize=9)
        axes.axhline(0.0, color="#dddddd", linewidth=0.6, zorder=0)
    figure.axes[0].set_ylabel(f"{title.replace('-', ' ')} [m]")
    saved(figure, path)


def draw_laws(path: str | PathLike[str]) -> None:
    """Force-length curve and both force-velocity laws (D fig. 4.2)."""
    stretch, speed = np.linspace(0.3, 1.7, 281), np.linspace(-1.2, 1.2, 481)
    length = np.maximum(1.0 - ((stretch - 1.0) / 0.5) ** 2, 0.0)
    figure = canvas(10.0, 4.2)
    left, right = figure.subplots(1, 2)
    left.plot(stretch, length, color="#c2312b")
    left.set_xlabel("length / rest length")
    left.set_ylabel("force / greatest force")
    for name, values in laws(speed).items():
        colour, mark = STYLES[name]
        right.plot(speed, values, mark, color=colour, linewidth=1.5, label=LABELS[name])
    right.axvline(0.0, color="#999999", linewidth=0.6)
    right.set_xlabel("speed / greatest speed; lengthening to the right")
    right.set_ylabel("force / greatest force")
    right.legend(frameon=False, fontsize=9)
    saved(figure, path)


def laws(speed: Floats) -> dict[str, Floats]:
    """Both force-velocity laws as formulas, a = b = 1/4: Hill's hyperbola with a lengthening branch to 1.4, and the
    dissertation's (b − a|ν|)/(b + |ν|)."""
    size = np.abs(speed)
    shortening = np.maximum(0.25 * (1.0 - size) / (0.25 + size), 0.0)
    lengthening = 1.0 + 0.4 * 5.0 * size / (0.4 + 5.0 * size)
    return {"hill": np.where(speed > 0.0, lengthening, shortening), "hill-paper": shortening}
