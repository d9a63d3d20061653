"""A fitted breath beside the recorded one: markers over the torso (DiLorenzo 2009, fig. 5.8) and their errors (table 5.2)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.torso import Torso
from risorius.view.report import Section

Floats = NDArray[np.float64]

ENLARGED: Final = 3.0
RECORDED, SIMULATED, BODY, BONE = "#b3391d", "#1f6f8b", "#d9cfc4", "#a89f94"
FOUR: Final = ("intercostal_external", "diaphragm", "intercostal_internal", "abdomen")
SHORT: Final = {"intercostal_external": "external", "intercostal_internal": "internal"}


def fit_section(
    torso: Torso,
    report: Mapping[str, Any],
    paper: Mapping[str, float],
    recorded: Floats,
    seen: Floats,
    shape: Floats | None,
    period: float,
) -> Section:
    """The page's section on a fit.

    Args:
        report: figures of `risorius breathe`; paper: means of table 5.2.
        recorded, seen: (phases, n, 3) [m] markers about their means, or (phases, 1) [l].
        shape: (n, 3) [m] the markers' mean places, where there are markers.
        period: [s].
    """
    if shape is None:
        picture = png(draw_volume, recorded[:, 0], seen[:, 0], period)
        notes: tuple[str, ...] = (
            f"depth {report['depth_of_calm']:.2f} of a calm breath, {report['tidal_simulated_l']:.2f} l",
            f"correlation with the recording {report['correlation']:.3f}",
        )
        return Section(
            "The breath that was recorded", notes=notes, pictures=(("recorded and simulated volume", picture),)
        )
    pictures = (
        (f"markers recorded (red) and simulated (blue) over the torso, paths enlarged {ENLARGED:g} times",
         png(draw_overlay, torso, recorded, seen, shape)),
        ("how the markers move over a breath", png(draw_courses, recorded, seen, shape, period)),
    )  # fmt: skip
    notes = tuple(
        f"{SHORT.get(name, name.replace('_', ' '))}: {row['value']:.3f} ± {row['standard_error']:.3f}"
        for name, row in report["activations"].items()
    )
    return Section("The breath that was recorded", error_table(report, paper), notes, pictures)


def error_table(report: Mapping[str, Any], paper: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Table 5.2: errors and the four amplitudes; of this fit, of the paper's way, of a torso that is still, of the paper."""
    head = ("", "error_p mm", "error_v mm/s", *(SHORT.get(name, name) for name in FOUR))

    def row(label: str, source: Mapping[str, Any], which: str, drives: Mapping[str, Any] | None) -> tuple[str, ...]:
        own = [f"{drives[name]['value']:.3f}" if drives else "-" for name in FOUR]
        kind = "still_" if drives is None else ""
        return (
            label,
            f"{source[f'{kind}error_p_{which}_mm']:.2f}",
            f"{source[f'{kind}error_v_{which}_mm_s']:.2f}",
            *own,
        )

    four = report["four_amplitudes"]
    return (
        head,
        row("all markers", report, "all", report["activations"]),
        row("… a still torso", report, "all", None),
        row("sagittal column", report, "column", report["activations"]),
        row("… four amplitudes alone", four, "column", four["activations"]),
        row("… a still torso", report, "column", None),
        ("mean of the paper, column", f"{paper['error_p_mm']:.1f}", f"{paper['error_v_mm_s']:.1f}",
         *(f"{paper[name]:.3f}" for name in FOUR)),
    )  # fmt: skip


def png(draw: Any, *parts: Any) -> bytes:
    """A picture drawn into memory."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure, *parts)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return stream.getvalue()


def draw_overlay(figure: Any, torso: Torso, recorded: Floats, seen: Floats, shape: Floats) -> None:
    """From the side and from the front: skin and skeleton behind, recorded and simulated paths on it."""
    from matplotlib.collections import PolyCollection

    skin = np.asarray(torso.skin.vertices)[np.asarray(torso.skin.faces)]
    for number, (across, sign, title) in enumerate(((0, 1.0, "from the right"), (2, -1.0, "from the front"))):
        axes = figure.add_subplot(1, 2, number + 1)
        flat = skin[..., [across, 1]] * [sign, 1.0] * 1e3
        axes.add_collection(PolyCollection(list(flat), facecolors=BODY, edgecolors="none"))
        for name, mesh in zip(torso.bodies.names, torso.bodies.meshes, strict=True):
            if name.startswith(("rib", "sternum", "cartilage", "t", "l", "pelvis")) and not name.startswith("lower"):
                bone = np.asarray(mesh.vertices)[np.asarray(mesh.faces)][..., [across, 1]] * [sign, 1.0] * 1e3
                axes.add_collection(PolyCollection(list(bone), facecolors=BONE, edgecolors="none", alpha=0.25))
        for moved, colour, width in ((recorded, RECORDED, 1.6), (seen, SIMULATED, 1.1)):
            path = (shape + ENLARGED * np.concatenate([moved, moved[:1]]))[..., [across, 1]] * [sign, 1.0] * 1e3
            for marker in range(path.shape[1]):
                axes.plot(path[:, marker, 0], path[:, marker, 1], color=colour, linewidth=width)
        places = shape[:, [across, 1]] * [sign, 1.0] * 1e3
        axes.plot(places[:, 0], places[:, 1], "o", color="#222222", markersize=2.5)
        low, high = flat.reshape(-1, 2).min(axis=0), flat.reshape(-1, 2).max(axis=0)
        axes.set(xlim=(low[0] - 20, high[0] + 20), ylim=(low[1] - 20, high[1] + 20), aspect="equal")
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel("mm")


def draw_courses(figure: Any, recorded: Floats, seen: Floats, shape: Floats, period: float) -> None:
    """Forward, up and outward motion over the breath: mean and middle half of the markers, recorded and simulated."""
    time = np.arange(len(recorded)) / len(recorded) * period
    out = np.sign(shape[:, 2] - np.median(shape[:, 2]))
    front = shape[:, 0] > np.median(shape[:, 0])
    rows = (("front: forward [mm]", recorded[:, front, 0], seen[:, front, 0]),
            ("back: forward [mm]", recorded[:, ~front, 0], seen[:, ~front, 0]),
            ("front: up [mm]", recorded[:, front, 1], seen[:, front, 1]),
            ("all: outward [mm]", recorded[..., 2] * out, seen[..., 2] * out))  # fmt: skip
    for number, (label, real, simulated) in enumerate(rows):
        axes = figure.add_subplot(2, 2, number + 1)
        for values, colour, name in ((real, RECORDED, "recorded"), (simulated, SIMULATED, "simulated")):
            if values.shape[1] == 0:
                continue
            low, high = np.percentile(1e3 * values, (25, 75), axis=1)
            axes.fill_between(time, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(time, 1e3 * values.mean(axis=1), color=colour, label=name)
        axes.set_title(label, loc="left", fontsize=9)
        axes.set_xlabel("time [s]")
    figure.axes[0].legend(frameon=False, fontsize=8)


def draw_volume(figure: Any, recorded: Floats, seen: Floats, period: float) -> None:
    """The recorded curve, scaled, and the torso's lung volume."""
    axes = figure.add_subplot()
    time = np.arange(len(recorded)) / len(recorded) * period
    axes.plot(time, recorded - recorded[0], color=RECORDED, label="recorded, to scale")
    axes.plot(time, seen - seen[0], color=SIMULATED, label="simulated lung volume")
    axes.set(xlabel="time [s]", ylabel="litre since the breath began")
    axes.legend(frameon=False)
