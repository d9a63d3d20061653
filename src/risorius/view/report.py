"""report.html: one self-contained page, no network: 3D view with layers, a timeline in step with the sound, plots.

The drawing library is k3d (three.js inside), copied into the page from the installed package when it is written.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import write_bytes
from risorius.io.layers import Layers, appearance, ball_mesh, bone_colour, layer_colours
from risorius.io.story import continuous
from risorius.io.take import Take
from risorius.maths.lowrank import compress
from risorius.view.figures import page_figures
from risorius.view.library import library as sources

TOLERANCE: Final = 1e-4
"""[m] what the few shapes of skin and cavity may miss their motion by."""
MOST_SHAPES: Final = 40
SOUND_KINDS: Final = {".wav": "audio/wav", ".flac": "audio/flac", ".ogg": "audio/ogg", ".mp3": "audio/mpeg"}
MOST_PLOTTED: Final = 10
"""Curves in one plot."""


class Blob:
    """Named arrays packed into one compressed text."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.arrays: dict[str, dict[str, Any]] = {}

    def add(self, name: str, values: NDArray, kind: str) -> None:
        """Store an array as it is: u2, u4, i2 or f4."""
        data = np.ascontiguousarray(values, dtype="<" + kind)
        self.data += b"\0" * (-len(self.data) % 4)
        self.arrays[name] = {"kind": kind, "offset": len(self.data), "count": int(data.size)}
        self.data += data.tobytes()

    def quantised(self, name: str, values: NDArray, scales: int = 3) -> None:
        """Store as 16-bit steps between the least and the largest of each of `scales` columns."""
        table = np.asarray(values, dtype=np.float64).reshape(-1, scales)
        low, high = (table.min(axis=0), table.max(axis=0)) if len(table) else (np.zeros(scales), np.zeros(scales))
        shift, scale = (low + high) / 2, np.maximum(high - low, 1e-12) / 65534
        self.add(name, np.round((table - shift) / scale).astype(np.int16), "i2")
        self.arrays[name] |= {"scale": scale.tolist(), "shift": shift.tolist()}

    def moving(self, name: str, rest: NDArray, points: NDArray) -> float:
        """Store moving points as a few shapes; gives the largest error [m]."""
        few = compress(rest, points, tolerance=TOLERANCE, most=MOST_SHAPES)
        size = np.maximum(np.abs(few.amounts).max(axis=0), 1e-12) if few.amounts.size else np.zeros(0)
        self.quantised(f"{name}.rest", rest)
        self.quantised(f"{name}.shapes", few.shapes * size[:, None, None])
        self.quantised(f"{name}.amounts", few.amounts / size, scales=max(len(size), 1))
        return few.error

    def text(self) -> str:
        return base64.b64encode(gzip.compress(bytes(self.data), 6, mtime=0)).decode()


@dataclass(frozen=True)
class Section:
    """What a command has to say about its take, above the figures that every page has.

    Args:
        title: of the section.
        table: rows of cells, the first its heading.
        notes: lines below the table.
        pictures: (caption, PNG).
    """

    title: str
    table: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    pictures: tuple[tuple[str, bytes], ...] = ()

    def text(self) -> str:
        """As a part of a page."""
        rows = "".join(
            "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for tag, row in zip(("th", *("td" for _ in self.table)), self.table)
        )
        table = f"<table>{rows}</table>" if rows else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f'<details class="section" open><summary>{html.escape(self.title)}</summary>{table}{notes}'
            f"{shown(self.pictures)}</details>"
        )


def write_report(
    path: str | PathLike[str],
    take: Take,
    *,
    section: Section | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, float]:
    """Write the page of a take.

    Args:
        section: what the command that made it has to say.

    Returns: `skin_error_mm`, `surface_error_mm`: what the page's few shapes miss the motion by at most.
    """
    torso, record = take.torso, take.record
    tell = progress or (lambda _part: None)
    blob = Blob()
    layers = pack_layers(blob, torso)
    tell(0.2)
    turned = continuous(np.asarray(record.rotation))
    turned = turned * np.where(turned[..., :1] < 0, -1.0, 1.0)
    blob.quantised("poses.turn", turned[..., 1:])
    blob.quantised("poses.shift", record.position)
    surface_error = blob.moving("surface", torso.surface.points, record.points)
    tell(0.4)
    skin_error = blob.moving("skin", torso.skin.vertices, take.skin)
    blob.add("skin.faces", torso.skin.faces, "u4")
    tell(0.7)
    plots = pack_signals(blob, record)
    layers += pack_ball(blob, record)
    shown = np.concatenate([np.asarray(torso.skin.vertices), *(np.asarray(m.vertices) for m in torso.bodies.meshes)])
    low, high = shown.min(axis=0), shown.max(axis=0)
    header = {
        "frames": len(record.time),
        "bodies": list(torso.bodies.names),
        "layers": layers,
        "muscle": {key: appearance()["muscle"][key] for key in ("slack", "driven")},
        "plots": plots,
        "labels": labels_of(torso),
        "frame": {
            "centre": (0.5 * (low + high)).tolist(),
            "size": float(high[1] - low[1]),
        },
        "arrays": blob.arrays,
    }
    write_bytes(path, page(take, header, blob.text(), section).encode())
    tell(1.0)
    return {"skin_error_mm": 1e3 * skin_error, "surface_error_mm": 1e3 * surface_error}


def pack_layers(blob: Blob, torso: Torso) -> list[dict[str, Any]]:
    """Geometry at rest into the blob; gives the layers in the order in which they are drawn and listed."""
    colours = layer_colours()
    sorted_out = Layers(torso)
    names = torso.bodies.names
    for k, mesh in enumerate(torso.bodies.meshes):
        blob.quantised(f"body{k}.points", mesh.vertices)
        blob.add(f"body{k}.faces", mesh.faces, "u4")
    cartilage = [name for name in names if bone_colour(name) == colours["Cartilage"]]
    bones = [name for name in names if name not in cartilage]

    def layer(name: str, label: str, order: int, **more: Any) -> dict[str, Any]:
        colour = colours.get(name, (*appearance()["muscle"]["driven"], 1.0))
        return {"name": name, "label": label, "order": order, "colour": colour[:3], "opacity": colour[3],
                "visible": True, **more}  # fmt: skip

    found = [layer("Skin", "Skin", 9, skin=True)]
    found += [layer("Bones", "Bones", 0, bodies=bones), layer("Cartilage", "Cartilage", 0, bodies=cartilage)]
    found.append(layer("Diaphragm", "Diaphragm", 1, surface=True, open=True))
    found.append(layer("Cavity", "Abdominal cavity", 2, surface=True))
    found.append(layer("ChestWall", "Chest cavity", 3, surface=True) | {"visible": False})
    for name, faces in (
        ("Diaphragm", sorted_out.diaphragm),
        ("Cavity", np.asarray(torso.surface.abdomen)),
        ("ChestWall", sorted_out.chest),
    ):
        blob.add(f"{name}.faces", faces, "u4")
    for number, group in enumerate(torso.groups):
        strands = sorted_out.strands(number)
        if len(strands.counts) == 0:
            continue
        starts = np.cumsum(strands.counts) - strands.counts
        segments = np.concatenate([start + np.arange(count - 1) for start, count in zip(starts, strands.counts)])
        blob.add(f"{group}.from", segments, "u4")
        blob.add(f"{group}.width", np.repeat(strands.widths, strands.counts - 1), "f4")
        blob.add(f"{group}.body", strands.body, "i2")
        blob.add(f"{group}.surface", strands.surface, "i2")
        blob.quantised(f"{group}.place", strands.place)
        found.append(layer(group, group.replace("_", " "), 0, strands=True) | {"visible": False})
    return found


def pack_ball(blob: Blob, record: Record) -> list[dict[str, Any]]:
    """A ball that was let go, and its layer, where there is one."""
    if record.ball is None:
        return []
    points, faces = ball_mesh()
    blob.add("ball.points", points, "f4")
    blob.add("ball.faces", faces, "u4")
    blob.add("ball.course", record.ball, "f4")
    colour = layer_colours()["Ball"]
    return [{"name": "Ball", "label": "Ball", "order": 0, "colour": colour[:3], "opacity": colour[3], "visible": True,
             "ball": True}]  # fmt: skip


def pack_signals(blob: Blob, record: Record) -> list[dict[str, Any]]:
    """Columns to plot and activations into the blob; gives the plots that have something to show."""
    plan = json.loads(resources.files("risorius.view").joinpath("data/plots.json").read_text())
    blob.add("time_s", record.time, "f4")
    plots = []
    for entry in plan["plots"]:
        columns = dict(entry.get("columns", {}))
        if "prefix" in entry:
            driven = [(float(np.max(values)), name) for name, values in record.signals.items()
                      if name.startswith(entry["prefix"])]  # fmt: skip
            kept = [name for size, name in sorted(driven, key=lambda pair: -pair[0]) if size > entry["least"]]
            columns = {name: name.removeprefix(entry["prefix"]).replace("_", " ") for name in kept[:MOST_PLOTTED]}
        curves = []
        for number, (name, label) in enumerate(columns.items()):
            if name not in record.signals:
                continue
            values = np.asarray(record.signals[name], dtype=np.float64)
            key = name
            if entry.get("change"):
                key, values = f"{name}.change", values - values[0]
            if key not in blob.arrays:
                blob.add(key, values, "f4")
            colour = plan["colours"][number % len(plan["colours"])]
            curves.append({"name": key, "label": label, "colour": colour})
        if curves:
            plots.append(
                {"title": entry["title"], "unit": entry["unit"], "zero": bool(entry.get("zero")), "curves": curves}
            )
    for name, values in record.signals.items():
        if name.startswith("act_") and name not in blob.arrays:
            blob.add(name, values, "f4")
    return plots


def labels_of(torso: Torso) -> list[dict[str, Any]]:
    """What the page names, and where: bodies by their centre, parts of the surface by their nearest point."""
    names, surface = torso.bodies.names, torso.surface
    found: list[dict[str, Any]] = []
    for name, label in (("sternum", "sternum"), ("rib7_r", "rib 7"), ("cartilage_lower_r", "costal cartilage"),
                        ("girdle_r", "shoulder girdle")):  # fmt: skip
        if name in names:
            k = names.index(name)
            points = np.asarray(torso.bodies.meshes[k].vertices)
            spot = points[(points @ np.array([1.0, 0.0, 0.6])).argmax()] if name == "rib7_r" else points.mean(axis=0)
            spot = points[np.linalg.norm(points - spot, axis=1).argmin()]
            layer = "Cartilage" if name.startswith("cartilage") else "Bones"
            found.append({"label": label, "layer": layer, "body": k, "place": spot.tolist()})
    regions = np.array(surface.regions)[np.asarray(surface.region)]
    points = np.asarray(surface.points)
    for part, label, layer, way in (
        ("dome", "diaphragm", "Diaphragm", (1.0, 0.4, -0.6)),
        ("wall", "belly wall", "Cavity", (1.0, 0.0, 0.3)),
        ("apposed", "zone of apposition", "Diaphragm", (0.3, 0.2, 1.0)),
    ):
        mine = np.flatnonzero(regions == part)
        if len(mine):
            spot = int(mine[(points[mine] @ np.array(way)).argmax()])
            found.append({"label": label, "layer": layer, "surface": spot, "place": points[spot].tolist()})
    return found


@cache
def library() -> tuple[str, str]:
    """Sources of the loader and of k3d, made safe to stand inside a page."""
    loader, drawing = (text.replace("</script", "<\\/script") for text in sources())
    return loader, drawing


def page(take: Take, header: dict[str, Any], blob: str, section: Section | None = None) -> str:
    """The whole page as text."""
    folder = resources.files("risorius.view").joinpath("page")
    scripts = "\n".join(
        folder.joinpath(f"{name}.js").read_text() for name in ("data", "scene", "plots", "main", "start")
    )
    loader, drawing = library()
    run = take.run
    command = run.get("command", "a take")
    words = command if isinstance(command, str) else " ".join(map(str, command))
    seconds = float(take.record.time[-1] - take.record.time[0])
    parts = {
        "TITLE": html.escape(str(run.get("behaviour") or words)),
        "SUBTITLE": html.escape(f"{run.get('subject', take.torso.spec)} · {seconds:.1f} s · Risorius"),
        "CSS": folder.joinpath("page.css").read_text(),
        "AUDIO": audio(take.sound),
        "FIGURES": (section.text() if section else "") + figures(take),
        "BLOB": blob,
        "HEADER": json.dumps(header, separators=(",", ":")).replace("</", "<\\/"),
        "REQUIRE": loader,
        "LIBRARY": drawing,
        "SCRIPTS": scripts,
    }
    pieces = folder.joinpath("page.html").read_text().split("@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def figures(take: Take) -> str:
    """Loops, ribs and a section, folded away; nothing where the take has no signals for them."""
    pictures = page_figures(take)
    if not pictures:
        return ""
    return f'<details id="figures"><summary>Loops, ribs, section</summary>{shown(pictures)}</details>'


def shown(pictures: Sequence[tuple[str, bytes]]) -> str:
    """Pictures (caption, PNG) inside the page."""
    return "".join(
        f'<figure><img alt="{html.escape(title)}" src="data:image/png;base64,{base64.b64encode(data).decode()}">'
        f"<figcaption>{html.escape(title)}</figcaption></figure>"
        for title, data in pictures
    )


def audio(sound: Path | None) -> str:
    """The sound inside the page, or nothing."""
    if sound is None:
        return ""
    kind = SOUND_KINDS.get(sound.suffix.lower(), "audio/wav")
    data = base64.b64encode(sound.read_bytes()).decode()
    return f'<audio id="sound" preload="auto" src="data:{kind};base64,{data}"></audio>'
