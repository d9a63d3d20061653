"""The figures that the papers plot, and a lung laboratory's, drawn from one take or from several laid over each other.

D: DiLorenzo 2009; V: Veltkamp & Piest 2009.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import written
from risorius.io.take import Take

Floats = NDArray[np.float64]
Drawing = Callable[[Any, Sequence[tuple[str, Take]]], None]
COLOURS: Final = ("#1f5f99", "#c2512b", "#3f8f4f", "#8a5fb0", "#b08a1f", "#3f9aa0", "#a03f6b", "#666666")
DEPTH: Final = ("#0b2a4a", "#1f5f99", "#5f9fd0", "#c2512b")
SNAPSHOTS: Final = 4


def column(take: Take, name: str) -> Floats:
    """A signal of a take; `InputError` where it has none."""
    if name not in take.record.signals:
        raise InputError(f"expected the column {name!r}", place="signals.csv")
    return np.asarray(take.record.signals[name])


def axes_of(figure: Any, count: int = 1) -> list[Any]:
    """Axes one under another with one time axis."""
    return list(np.atleast_1d(figure.subplots(count, 1, sharex=True)))


def above(axes: Any, *handles: Any, columns: int = 4) -> None:
    """A legend over the plot, where it covers no curve."""
    more = {"handles": handles, "labels": [handle.get_label() for handle in handles]} if handles else {}
    axes.legend(
        **more,
        fontsize=8,
        frameon=False,
        ncols=columns,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.1,
    )


def over_time(
    figure: Any, takes: Sequence[tuple[str, Take]], names: dict[str, str], unit: str, zero: bool = False
) -> None:
    """Columns of every take against time, one plot a take."""
    for axes, (title, take) in zip(axes_of(figure, len(takes)), takes):
        for number, (name, label) in enumerate(names.items()):
            if name in take.record.signals:
                axes.plot(take.record.time, column(take, name), color=COLOURS[number], linewidth=1.2, label=label)
        if zero:
            axes.axhline(0.0, color="#999999", linewidth=0.6)
        axes.set_ylabel(unit)
        axes.set_title(title, loc="left", fontsize=10)
        above(axes)
    axes.set_xlabel("time [s]")


def together(axes: Any, takes: Sequence[tuple[str, Take]], across: str, up: str, change: bool = False) -> None:
    """One column against another, all takes in one plot; `change`: both from where they are least."""
    for number, (title, take) in enumerate(takes):
        x = take.record.time if across == "time_s" else column(take, across)
        y = column(take, up)
        if change:
            x, y = x - x.min(), y - y.min()
        axes.plot(x, y, color=COLOURS[number % len(COLOURS)], linewidth=1.2, label=title)
    if len(takes) > 1:
        axes.legend(fontsize=8, frameon=False)


def spirogram(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    together(axes, takes, "time_s", "lung_volume_l")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("gas in the lung [l]")


def flow_volume(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    for number, (title, take) in enumerate(takes):
        volume, flow = column(take, "lung_volume_l"), -column(take, "flow_lps")
        axes.plot(volume, flow, color=COLOURS[number % len(COLOURS)], linewidth=1.2, label=title)
    axes.invert_xaxis()
    axes.axhline(0.0, color="#999999", linewidth=0.6)
    axes.set_xlabel("gas in the lung [l], emptying to the right")
    axes.set_ylabel("flow out [l/s]")
    if len(takes) > 1:
        axes.legend(fontsize=8, frameon=False)


def konno_mead(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    together(axes, takes, "abdomen_volume_l", "ribcage_volume_l", change=True)
    most = max(*axes.get_xlim(), *axes.get_ylim())
    for volume in np.arange(0.25, 2.0 * most, 0.25 if most < 1.5 else 0.5):
        axes.plot((0.0, volume), (volume, 0.0), color="#cccccc", linewidth=0.6, zorder=0)
    axes.set_xlim(0.0, most)
    axes.set_ylim(0.0, most)
    axes.set_aspect("equal")
    axes.set_xlabel("abdomen, change [l]")
    axes.set_ylabel("rib cage, change [l]; grey: equal volume")


def ribs(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    from matplotlib import colormaps

    colour = colormaps["viridis"]
    grid = figure.subplots(2, len(takes), sharex="col", squeeze=False)
    for place, (title, take) in enumerate(takes):
        for row, kind in enumerate(("pump", "bucket")):
            axes = grid[row, place]
            for rib in range(1, 11):
                name = f"rib{rib}_{kind}_deg"
                axes.plot(
                    take.record.time, column(take, name), color=colour((rib - 1) / 9.5), linewidth=1.1, label=str(rib)
                )
            axes.set_ylabel(f"{kind} handle [deg]")
        grid[0, place].set_title(title, loc="left", fontsize=10)
        grid[1, place].set_xlabel("time [s]")
    grid[0, -1].legend(
        title="right rib", fontsize=8, title_fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0)
    )


def levels(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    for number, (title, take) in enumerate(takes):
        for kind, mark in (("pump", "o-"), ("bucket", "s--")):
            swing = [float(np.ptp(column(take, f"rib{rib}_{kind}_deg"))) for rib in range(1, 11)]
            axes.plot(range(1, 11), swing, mark, color=COLOURS[number % len(COLOURS)], label=f"{title}: {kind} handle")
    axes.set_xlabel("right rib")
    axes.set_ylabel("range of rotation [deg]")
    axes.set_ylim(bottom=0.0)
    axes.legend(fontsize=8, frameon=False)


def pressures(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    names = {
        "lung_pressure_cmH2O": "lung", "pleural_pressure_cmH2O": "pleural", "abdominal_pressure_cmH2O": "abdominal",
        "transdiaphragmatic_pressure_cmH2O": "across the diaphragm",
    }  # fmt: skip
    over_time(figure, takes, names, "cmH2O", zero=True)


def lung_pressure(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    names = {"lung_pressure_cmH2O": "simulated", "target_pressure_cmH2O": "target"}
    over_time(figure, takes, names, "lung pressure [cmH2O]", zero=True)


def recoil(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    for number, (title, take) in enumerate(takes):
        pressure = column(take, "lung_pressure_cmH2O") - column(take, "pleural_pressure_cmH2O")
        axes.plot(
            pressure, column(take, "lung_volume_l"), color=COLOURS[number % len(COLOURS)], linewidth=1.2, label=title
        )
    axes.set_xlabel("across the lung: lung − pleural pressure [cmH2O]")
    axes.set_ylabel("gas in the lung [l]")
    if len(takes) > 1:
        axes.legend(fontsize=8, frameon=False)


def relaxation(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    axes = figure.subplots()
    for title, take in takes:
        volume, lung = column(take, "lung_volume_l"), column(take, "lung_pressure_cmH2O")
        pleural = column(take, "pleural_pressure_cmH2O")
        for number, (label, value) in enumerate((("chest wall", pleural), ("lung", lung - pleural), ("both", lung))):
            named = label if len(takes) == 1 else f"{title}: {label}"
            axes.plot(value, volume, color=COLOURS[number], linewidth=1.3, label=named)
    axes.axvline(0.0, color="#999999", linewidth=0.6)
    axes.set_xlabel("pressure [cmH2O]")
    axes.set_ylabel("gas in the lung [l]")
    axes.legend(fontsize=8, frameon=False)


def heights(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    for axes, (title, take) in zip(axes_of(figure, len(takes)), takes):
        time = take.record.time
        axes.plot(time, column(take, "sternum_height_mm"), color="#2454b8", label="sternum, height [mm]")
        axes.plot(time, column(take, "diaphragm_height_mm"), color="#c22b2b", label="diaphragm, height [mm]")
        other = axes.twinx()
        volume = column(take, "lung_volume_l")
        other.plot(time, volume - volume[0], color="#2f8f3f", label="breath [l]")
        other.set_ylabel("breath [l]", color="#2f8f3f")
        axes.set_ylabel("height [mm]")
        axes.set_title(title, loc="left", fontsize=10)
        above(axes, *axes.get_lines(), *other.get_lines())
    axes.set_xlabel("time [s]")


def activations(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    for axes, (title, take) in zip(axes_of(figure, len(takes)), takes):
        alike: dict[bytes, list[str]] = {}  # groups that one command drives: one curve
        for name, values in take.record.signals.items():
            if name.startswith("act_") and float(np.max(values)) > 1e-3:
                alike.setdefault(np.round(values, 6).tobytes(), []).append(name)
        for number, names in enumerate(alike.values()):
            label = ", ".join(name.removeprefix("act_").replace("_", " ") for name in names)
            mark = "-" if number < len(COLOURS) else "--"
            curve = take.record.signals[names[0]]
            axes.plot(take.record.time, curve, mark, color=COLOURS[number % len(COLOURS)], linewidth=1.2, label=label)
        axes.set_ylabel("activation")
        axes.set_title(title, loc="left", fontsize=10)
        above(axes, columns=2)
    axes.set_xlabel("time [s]")


def sounding(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    from risorius.io.sound import read_sound
    from risorius.view.hearing import outline

    title, take = takes[0]
    if take.sound is None:
        raise InputError("expected a take with a sound; this one has none", place=title)
    wave, drive = axes_of(figure, 2)
    sound = read_sound(take.sound)
    time, low, high = outline(sound.samples, sound.rate)
    wave.fill_between(time, low, high, color="#555555", linewidth=0.0)
    wave.set_ylabel("sound")
    wave.set_title(title, loc="left", fontsize=10)
    for number, name in enumerate(("lung_pressure_cmH2O", "target_pressure_cmH2O")):
        if name in take.record.signals:
            drive.plot(take.record.time, column(take, name), color=COLOURS[number], label=name.split("_")[0])
    drive.set_ylabel("lung pressure [cmH2O]")
    drive.set_xlabel("time [s]")
    drive.legend(fontsize=8, frameon=False)


def outline_of(points: Floats, faces: NDArray[np.int32]) -> list[Floats]:
    """Straight pieces (2, 2) [m] in which the plane z = 0 cuts a mesh: forward, up."""
    side = points[:, 2]
    pieces = []
    for a, b, c in faces[np.ptp(np.sign(side[faces]), axis=1) > 0].tolist():
        cut = []
        for p, q in ((a, b), (b, c), (c, a)):
            if (side[p] > 0.0) != (side[q] > 0.0):
                part = side[p] / (side[p] - side[q])
                cut.append(points[p, :2] + part * (points[q, :2] - points[p, :2]))
        if len(cut) == 2:
            pieces.append(np.array(cut))
    return pieces


def section(figure: Any, takes: Sequence[tuple[str, Take]]) -> None:
    from matplotlib.collections import LineCollection

    grid = figure.subplots(1, len(takes), squeeze=False)[0]
    for axes, (title, take) in zip(grid, takes):
        volume = column(take, "lung_volume_l")
        low, high = np.percentile(volume, (0.5, 99.5))
        faces = np.asarray(take.torso.skin.faces)
        for number, wanted in enumerate(np.linspace(low, high, SNAPSHOTS)):
            frame = int(np.argmin(np.abs(volume - wanted)))
            pieces = outline_of(np.asarray(take.skin[frame], dtype=np.float64), faces)
            label = f"{volume[frame]:.2f} l"
            axes.add_collection(
                LineCollection([1e3 * p for p in pieces], colors=DEPTH[number], linewidths=1.1, label=label)
            )
        axes.autoscale_view()
        axes.set_aspect("equal")
        axes.set_xlabel("forward [mm]")
        axes.set_title(title, loc="left", fontsize=10)
        axes.legend(fontsize=8, frameon=False)
    grid[0].set_ylabel("up [mm]")


FIGURES: Final[dict[str, tuple[Drawing, str, tuple[float, float]]]] = {
    "spirogram": (spirogram, "gas in the lung over time (D 5.2, 7.3; V 9): several takes in one plot", (10, 4)),
    "flow-volume": (flow_volume, "flow-volume loop", (6.5, 6)),
    "konno-mead": (konno_mead, "rib cage against abdomen", (6, 6)),
    "ribs": (ribs, "rotations of the right ribs over time (D 5.4)", (10, 6.5)),
    "levels": (levels, "range of rib rotation by level", (7, 4.5)),
    "section": (section, "change of the surface in the midline, four moments (D 5.5)", (6, 9)),
    "pressures": (pressures, "lung, pleural, abdominal pressure and across the diaphragm", (10, 4.5)),
    "lung-pressure": (lung_pressure, "lung pressure beside its target (D 6.9)", (10, 4)),
    "recoil": (recoil, "lung volume against the pressure across it (D 6.5)", (6.5, 5)),
    "relaxation": (relaxation, "chest wall, lung and both: for relaxed-curve", (6.5, 6)),
    "heights": (heights, "sternum, diaphragm and breath (V 6-8)", (10, 4.5)),
    "activations": (activations, "muscle activations over time", (10, 4.5)),
    "sound": (sounding, "sound above lung pressure (D 6.4)", (10, 6)),
}
"""Name -> how it is drawn, what it shows, size [inch] of one take's."""
STACKED: Final = {"pressures", "lung-pressure", "heights", "activations"}
BESIDE: Final = {"ribs", "section"}


PAGE: Final = ("flow-volume", "konno-mead", "ribs", "levels", "section")
"""Figures that stand in the report page beside its curves."""


def drawn(name: str, takes: Sequence[tuple[str, Take]]) -> Any:
    """A figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if name not in FIGURES:
        raise InputError(f"expected one of {', '.join(FIGURES)}, got {name!r}", place="--figure")
    draw, _, (width, height) = FIGURES[name]
    height = 0.7 * height * len(takes) if name in STACKED and len(takes) > 1 else height
    width = 0.8 * width * len(takes) if name in BESIDE and len(takes) > 1 else width
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure, takes)
    for axes in figure.axes:
        axes.spines["top"].set_visible(False)
    return figure


def draw_figure(path: str | PathLike[str], name: str, takes: Sequence[tuple[str, Take]]) -> None:
    """Write a figure as PNG or SVG, by the ending.

    Args:
        takes: (title, take), one or more.
    """
    figure = drawn(name, takes)
    metadata = {"Software": None} if str(path).endswith(".png") else {"Date": None}
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata=metadata)


def page_figures(take: Take) -> list[tuple[str, bytes]]:
    """(what it shows, PNG) of the figures for the report page that the take has the signals for."""
    found = []
    for name in PAGE:
        try:
            figure = drawn(name, [("", take)])
        except InputError:
            continue
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=80, metadata={"Software": None})
        found.append((FIGURES[name][1], stream.getvalue()))
    return found
