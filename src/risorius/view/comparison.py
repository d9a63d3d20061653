"""comparison.html: two motions of one torso side by side, on one clock, with one sound (DiLorenzo 2008, §7)."""

from __future__ import annotations

import html
import json
from importlib import resources
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.io.files import write_bytes
from risorius.io.layers import appearance
from risorius.io.story import continuous
from risorius.io.take import Take
from risorius.view.report import Blob, audio, library, pack_layers

Floats = NDArray[np.float64]
PLOTS = (
    ("Sternum forward", "mm", "sternum_ap_mm"),
    ("Navel forward", "mm", "umbilicus_ap_mm"),
    ("Volume of the abdomen, change", "%", "cavity_volume_error_pct"),
)
"""Title, unit, column."""
COLOURS = ("#ffb05c", "#7cc4ff")


def write_comparison(
    path: str | PathLike[str], take: Take, other: Record, other_skin: NDArray[np.float32], names: tuple[str, str]
) -> None:
    """Write the page.

    Args:
        other: another motion at the take's times, with its skin (f, n, 3) [m].
        names: what the two are called.
    """
    torso, blob = take.torso, Blob()
    layers = pack_layers(blob, torso)
    for prefix, record, skin in (("", take.record, take.skin), ("other.", other, other_skin)):
        turned = continuous(np.asarray(record.rotation))
        turned = turned * np.where(turned[..., :1] < 0, -1.0, 1.0)
        blob.quantised(f"{prefix}poses.turn", turned[..., 1:])
        blob.quantised(f"{prefix}poses.shift", record.position)
        blob.moving(f"{prefix}surface", torso.surface.points, record.points)
        blob.moving(f"{prefix}skin", torso.skin.vertices, skin)
    blob.add("skin.faces", torso.skin.faces, "u4")
    blob.add("time_s", take.record.time, "f4")
    shown = np.concatenate([np.asarray(torso.skin.vertices), *(np.asarray(m.vertices) for m in torso.bodies.meshes)])
    low, high = shown.min(axis=0), shown.max(axis=0)
    header: dict[str, Any] = {
        "frames": len(take.record.time),
        "bodies": list(torso.bodies.names),
        "layers": [layer for layer in layers if not layer.get("strands")],
        "muscle": {key: appearance()["muscle"][key] for key in ("slack", "driven")},
        "plots": pack_plots(blob, take.record, other, names),
        "labels": [],
        "frame": {"centre": (0.5 * (low + high)).tolist(), "size": float(high[1] - low[1])},
        "arrays": blob.arrays,
    }
    page, own = (resources.files("risorius.view").joinpath(name) for name in ("page", "comparison_page"))
    loader, drawing = library()
    parts = {
        "TITLE": html.escape(f"{names[0]} and {names[1]}"),
        "SUBTITLE": html.escape(f"{take.run.get('command', 'a take')} · one clock, one sound · Risorius"),
        "CSS": page.joinpath("page.css").read_text() + own.joinpath("page.css").read_text(),
        "ONE": html.escape(names[0]),
        "TWO": html.escape(names[1]),
        "AUDIO": audio(take.sound),
        "BLOB": blob.text(),
        "HEADER": json.dumps(header, separators=(",", ":")).replace("</", "<\\/"),
        "REQUIRE": loader,
        "LIBRARY": drawing,
        "SCRIPTS": "\n".join(
            [
                *(page.joinpath(f"{name}.js").read_text() for name in ("data", "scene", "plots", "main")),
                own.joinpath("start.js").read_text(),
            ]
        ),
    }
    pieces = own.joinpath("page.html").read_text().split("@")
    write_bytes(path, "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces)).encode())


def pack_plots(blob: Blob, one: Record, two: Record, names: tuple[str, str]) -> list[dict[str, Any]]:
    """Columns that both have, both in one plot each, then the sound's pressure."""
    plots = []
    for title, unit, column in PLOTS:
        curves = []
        for record, prefix, name, colour in zip((one, two), ("", "other."), names, COLOURS):
            if column in record.signals:
                blob.add(f"{prefix}{column}", np.asarray(record.signals[column]), "f4")
                curves.append({"name": f"{prefix}{column}", "label": name, "colour": colour})
        if curves:
            plots.append({"title": title, "unit": unit, "zero": True, "curves": curves})
    known = {"target_pressure_cmH2O": ("target", "#93a1ad"), "lung_pressure_cmH2O": (names[0], COLOURS[0])}
    curves = []
    for column, (label, colour) in known.items():
        if column in one.signals:
            blob.add(column, np.asarray(one.signals[column]), "f4")
            curves.append({"name": column, "label": label, "colour": colour})
    if curves:
        plots.append({"title": "Pressure in the lung", "unit": "cmH₂O", "zero": True, "curves": curves})
    return plots
