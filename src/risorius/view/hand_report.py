"""report.html of a hand: bones, strands coloured by activation, skin, a timeline, plots; the page of the torso reused."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from importlib import resources
from os import PathLike
from typing import Any

import numpy as np

from risorius.core.hand import HandRecord
from risorius.io.files import write_bytes
from risorius.io.hand_tubes import centre_lines
from risorius.io.layers import appearance, layer_colours
from risorius.io.story import continuous
from risorius.maths.rotations import quaternions
from risorius.view.report import Blob, library

SPACING = 6e-3
"""[m] distance of points along the strands drawn."""
LABELS = (
    ("EPL", "extensor pollicis longus", 0.72),
    ("EDC3", "extensor digitorum", 0.62),
    ("FDP2", "flexor digitorum profundus", 0.8),
    ("APL_a", "abductor pollicis longus", 0.85),
    ("FCR", "flexor carpi radialis", 0.8),
    ("DI1_deep", "first dorsal interosseous", 0.4),
)


def write_hand_report(
    path: str | PathLike[str], record: HandRecord, *, progress: Callable[[float], None] | None = None
) -> dict[str, float]:
    """Write the page; gives what its few shapes miss the motion by at most."""
    tell = progress or (lambda _part: None)
    blob = Blob()
    for k, mesh in enumerate(record.meshes):
        blob.quantised(f"body{k}.points", mesh.vertices)
        blob.add(f"body{k}.faces", np.asarray(mesh.faces), "u4")
    turned = continuous(quaternions(record.rotation))
    turned = turned * np.where(turned[..., :1] < 0, -1.0, 1.0)
    blob.quantised("poses.turn", turned[..., 1:])
    blob.quantised("poses.shift", record.position)
    lines, first = strand_lines(blob, record)
    tell(0.3)
    errors = {"strand_error_mm": 1e3 * blob.moving("surface", lines[0].astype(np.float64), lines)}
    tell(0.6)
    skin = record.skin
    points = skin.points if skin is not None else np.zeros((len(record.time), 1, 3), np.float32)
    errors["skin_error_mm"] = 1e3 * blob.moving("skin", points[0].astype(np.float64), points)
    faces = skin.mesh.triangles()[0] if skin is not None else np.zeros((0, 3), np.int32)
    blob.add("skin.faces", faces, "u4")
    blob.add("time_s", record.time, "f4")
    tell(0.8)
    shown = np.concatenate([lines[0], *(np.asarray(m.vertices) for m in record.meshes[2:])])
    low, high = shown.min(axis=0), shown.max(axis=0)
    header = {
        "frames": len(record.time),
        "bodies": list(record.names),
        "layers": layers(record, skin is not None),
        "muscle": {key: appearance()["muscle"][key] for key in ("slack", "driven")},
        "plots": plots(blob, record),
        "labels": labels(record, first, lines),
        "frame": {"centre": (0.5 * (low + high)).tolist(), "size": float(np.max(high - low)) * 0.8},
        "arrays": blob.arrays,
    }
    write_bytes(path, page(record, header, blob.text()).encode())
    tell(1.0)
    return errors


def strand_lines(blob: Blob, record: HandRecord) -> tuple[np.ndarray, list[int]]:
    """Points of all strands (f, n, 3), each unit's segments in the blob; gives the first point of each."""
    parts, first, count = [], [], 0
    for k, unit in enumerate(record.units):
        start = record.points[0, record.strand(k)]
        samples = max(6, round(float(np.linalg.norm(np.diff(start, axis=0), axis=1).sum()) / SPACING))
        line, radius = centre_lines(record, k, samples)
        parts.append(line.astype(np.float32))
        first.append(count)
        blob.add(f"{unit}.from", np.arange(samples - 1), "u4")
        blob.add(f"{unit}.width", radius[1:] + radius[:-1], "f4")
        blob.add(f"{unit}.body", np.full(samples, -1), "i2")
        blob.add(f"{unit}.surface", count + np.arange(samples), "i2" if count + samples < 32768 else "u4")
        blob.quantised(f"{unit}.place", line[0])
        blob.add(f"act_{unit}", record.activation[:, k], "f4")
        count += samples
    return np.concatenate(parts, axis=1), first


def layers(record: HandRecord, with_skin: bool) -> list[dict[str, Any]]:
    colours = layer_colours()

    def layer(name: str, label: str, order: int, colour: tuple[float, ...], **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "label": label,
            "order": order,
            "colour": colour[:3],
            "opacity": 1.0,
            "visible": True,
            **more,
        }

    found = []
    if with_skin:
        found.append(layer("Skin", "Skin", 9, colours["Skin"], skin=True) | {"opacity": 0.35})
    found.append(layer("Bones", "Bones", 0, colours["Bones"], bodies=list(record.names)))
    driven = (*appearance()["muscle"]["driven"], 1.0)
    return found + [layer(unit, unit.replace("_", " "), 0, driven, strands=True) for unit in record.units]


def plots(blob: Blob, record: HandRecord) -> list[dict[str, Any]]:
    """Tracking error, and the activations of the strongest units of each group."""
    plan = json.loads(resources.files("risorius.view").joinpath("data/plots.json").read_text())
    away = np.zeros(len(record.time))
    for k, mesh in enumerate(record.meshes):
        turn = record.rotation[:, k] - record.target_rotation[:, k]
        shift = record.position[:, k] - record.target_position[:, k]
        points = np.asarray(mesh.vertices)[::40]
        away = np.maximum(
            away, np.linalg.norm(np.einsum("fij,vj->fvi", turn, points) + shift[:, None], axis=2).max(axis=1)
        )
    blob.add("error_mm", 1e3 * away, "f4")
    colours = plan["colours"]
    found = [{"title": "Farthest point of a bone from its target", "unit": "mm", "zero": True,
              "curves": [{"name": "error_mm", "label": "farthest", "colour": colours[0]}]}]  # fmt: skip
    for group in dict.fromkeys(record.groups):
        members = [k for k, own in enumerate(record.groups) if own == group]
        members.sort(key=lambda k: -float(record.activation[:, k].max()))
        curves = [{"name": f"act_{record.units[k]}", "label": record.units[k].replace("_", " "),
                   "colour": colours[number % len(colours)]} for number, k in enumerate(members[:8])]  # fmt: skip
        found.append({"title": f"Activation, {group}", "unit": "", "zero": True, "curves": curves})
    return found


def labels(record: HandRecord, first: list[int], lines: np.ndarray) -> list[dict[str, Any]]:
    found = []
    ends = [*first[1:], lines.shape[1]]
    for unit, label, part in LABELS:
        if unit in record.units:
            k = record.units.index(unit)
            spot = first[k] + round(part * (ends[k] - first[k] - 1))
            found.append(
                {"label": label, "layer": unit, "surface": spot, "place": lines[0, spot].astype(float).tolist()}
            )
    return found


def page(record: HandRecord, header: dict[str, Any], blob: str) -> str:
    """The whole page as text."""
    folder = resources.files("risorius.view").joinpath("page")
    scripts = "\n".join(folder.joinpath(f"{name}.js").read_text() for name in ("data", "scene", "plots", "main"))
    loader, drawing = library()
    run = record.run
    seconds = float(record.time[-1] - record.time[0]) if len(record.time) else 0.0
    parts = {
        "TITLE": html.escape(str(run.get("command", "hand"))),
        "SUBTITLE": html.escape(f"{run.get('subject', 'a hand')} · {seconds:.1f} s · Risorius"),
        "CSS": folder.joinpath("page.css").read_text(),
        "AUDIO": "",
        "FIGURES": "",
        "BLOB": blob,
        "HEADER": json.dumps(header, separators=(",", ":")).replace("</", "<\\/"),
        "REQUIRE": loader,
        "LIBRARY": drawing,
        "SCRIPTS": scripts,
    }
    pieces = folder.joinpath("page.html").read_text().split("@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))
