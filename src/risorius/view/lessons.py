"""A page that goes through the steps of a breath retraining: each body in its own page, figures and curves of all steps."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.io.files import write_bytes

Floats = NDArray[np.float64]

COLUMNS: Final = {
    "rate_per_minute": "breaths a minute",
    "tidal_l": "depth, l",
    "rib_cage_part": "rib cage's part",
    "sternum_mm": "breastbone, mm",
    "navel_mm": "navel, mm",
    "diaphragm_mm": "diaphragm, mm",
}
CURVES: Final = {"lung_volume_l": "lung", "ribcage_volume_l": "rib cage", "abdomen_volume_l": "belly"}
COLOURS: Final = {"lung_volume_l": "#222222", "ribcage_volume_l": "#b3391d", "abdomen_volume_l": "#1f6f8b"}


def write_lessons(
    path: str | PathLike[str], title: str, steps: Sequence[dict[str, Any]], curves: Sequence[dict[str, Floats]]
) -> None:
    """Write the page; each step's take stands in the folder `take` beside it.

    Args:
        steps: take, and the figures of `COLUMNS`; curves: time_s and volumes [l] of two breaths.
    """
    head = "".join(f"<th>{html.escape(label)}</th>" for label in ("step", *COLUMNS.values()))
    rows = "".join(
        f'<tr data-step="{number}"><td>{name_of(number, len(steps))}</td>'
        + "".join(f"<td>{step[column]:g}</td>" for column in COLUMNS)
        + "</tr>"
        for number, step in enumerate(steps)
    )
    pictures = "".join(
        f'<img data-step="{number}" alt="volumes of step {number}" src="data:image/png;base64,{picture}">'
        for number, picture in enumerate(drawn(curves))
    )
    parts = {
        "TITLE": html.escape(title),
        "HEAD": head,
        "ROWS": rows,
        "PICTURES": pictures,
        "STEPS": json.dumps([{"take": step["take"], "name": name_of(n, len(steps))} for n, step in enumerate(steps)]),
    }
    pieces = files("risorius.view").joinpath("page/lessons.html").read_text(encoding="utf-8").split("@")
    text = "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))
    write_bytes(path, text.encode())


def name_of(number: int, count: int) -> str:
    """What a step is called."""
    return "as recorded" if number == 0 else "the target" if number == count - 1 else f"step {number}"


def drawn(curves: Sequence[dict[str, Floats]]) -> list[str]:
    """A picture (PNG, base64) of every step's volumes, all to one scale."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    most = max(float(np.ptp(curve[name])) for curve in curves for name in CURVES)
    longest = max(float(curve["time_s"][-1]) for curve in curves)
    found = []
    for curve in curves:
        figure = Figure(figsize=(4.6, 2.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for name, label in CURVES.items():
            axes.plot(curve["time_s"], curve[name] - curve[name].min(), color=COLOURS[name], label=label)
        axes.set(xlim=(0.0, longest), ylim=(0.0, 1.08 * most), xlabel="time [s]", ylabel="litre above the least")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper right")
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110, metadata={"Software": None})
        found.append(base64.b64encode(stream.getvalue()).decode())
    return found
