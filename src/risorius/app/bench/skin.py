"""Skin over muscles: frames a second with every muscle moving, and the seconds that attaching takes.

A waved sheet of n points carries a square of muscles; `frames_per_second` counts whole frames: all muscles' control
points and all skin points, one core, single precision.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from risorius.app.bench import studio_page
from risorius.core.mesh import PolyMesh, of_triangles

SIZES = ((4_000, 64), (100_000, 64), (1_000_000, 16))
LINE = (1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000)
SECONDS = 0.8
"""Measured time of each figure; the best of five parts of it counts."""


def sheet(count: int) -> PolyMesh:
    """A waved square of about `count` points, two units wide."""
    side = max(3, round(math.sqrt(count)))
    x, z = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side), indexing="ij")
    y = 0.05 * np.sin(3 * x) * np.cos(2 * z)
    k = np.arange(side * side).reshape(side, side)
    quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)
    return of_triangles(np.stack([x, y, z], axis=-1).reshape(-1, 3), quads)


def muscles_on(number: int, over: float) -> list[Any]:
    """A square of muscles, grown on a small sheet; each point has `over` of them above it on average (inf: all)."""
    from dataclasses import replace

    from risorius.skin.muscle.attach import attach
    from risorius.skin.muscle.grow import Sketch, grow
    from risorius.skin.muscle.surface import Surface

    surface = Surface(sheet(10_000))
    side = math.isqrt(number)
    width = 2.0 / side
    made = []
    for k in range(number):
        x, z = -1 + width * (k // side + 0.5), -1 + width * (k % side + 0.5)
        curves = [
            surface.on(np.array([[x + s * 0.3 * width, 0.0, z + t * width] for t in np.linspace(-0.4, 0.4, 6)]))[1]
            for s in (-1, 1)
        ]
        made.append(grow(surface, Sketch(f"m{k:03d}", (curves[0], curves[1]), 0.01, 0.02)).muscle)
    if math.isinf(over):
        return [replace(muscle, d_none=10.0) for muscle in made]
    low, high = 0.0, 4.0 * width
    for _ in range(20):
        reach = 0.5 * (low + high)
        pairs = sum(len(attach(muscle, surface.vertices, reach).points) for muscle in made)
        low, high = (reach, high) if pairs < over * len(surface.vertices) else (low, reach)
    return [replace(muscle, d_full=min(muscle.d_full, 0.5 * high), d_none=high) for muscle in made]


def rate(frame: Callable[[int], Any], seconds: float = SECONDS) -> float:
    """Calls a second: the best of five runs."""
    frame(0)
    start = time.perf_counter()
    frame(1)
    once = time.perf_counter() - start
    calls = max(1, int(0.2 * seconds / max(once, 1e-7)))
    best = math.inf
    for _ in range(5):
        start = time.perf_counter()
        for k in range(calls):
            frame(k)
        best = min(best, (time.perf_counter() - start) / calls)
    return 1.0 / best


def playing(points: np.ndarray, muscles: list[Any], threads: int = 1) -> tuple[Any, Any, Callable[[int], Any]]:
    """A deformer, its settings, and a function that sets them for frame k, all muscles moving."""
    from risorius.skin.muscle.deform import Deformer

    moving = Deformer(points, muscles, dtype=np.float32, threads=threads)
    now = moving.settings()
    phase = np.arange(len(muscles))

    def turn(k: int) -> None:
        now.contraction[:] = 0.3 + 0.25 * np.sin(0.1 * k + phase)

    return moving, now, turn


def framing(points: np.ndarray, muscles: list[Any], threads: int = 1) -> tuple[Callable[[int], Any], float]:
    """A function that computes frame k, and the mean number of muscles over a point."""
    moving, now, turn = playing(points, muscles, threads)
    out = np.empty_like(moving.vertices)

    def frame(k: int) -> None:
        turn(k)
        moving.frame(now, out)

    return frame, moving.offsets[-1] / len(points)


def measure(progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Figures of frames, of both cores, of attaching, of the slope over points; Blender's deformer where it is there."""
    figures: dict[str, Any] = {}
    for number, (count, many) in enumerate(SIZES):
        progress(f"{count} points, {many} muscles", number / 6)
        points = sheet(count).vertices
        frame, over = framing(points, muscles_on(many, 2.0))
        entry: dict[str, Any] = {"points": len(points), "muscles": many, "muscles_over_a_point": round(over, 3)}
        entry["frames_per_second"] = round(rate(frame), 1)
        both, _ = framing(points, muscles_on(many, 2.0), threads=2)
        entry["frames_per_second_two_cores"] = round(rate(both), 1)
        if len(points) * many <= 20_000_000:
            everywhere, over = framing(points, muscles_on(many, math.inf))
            entry["frames_per_second_all_muscles"] = round(rate(everywhere), 2)
        figures[f"points_{count}"] = entry
    progress("slope", 0.6)
    figures["slope"] = slope()
    progress("attaching", 0.8)
    figures["attach_100000_points_s"] = attaching()
    progress("Blender", 0.85)
    figures["blender"] = blender({count: figures[f"points_{count}"]["frames_per_second"] for count, _ in SIZES})
    progress("the studio's page", 0.9)
    figures["studio"] = studio_page.measure()
    return figures


def slope() -> dict[str, Any]:
    """Exponent of the time of a frame over the number of points, 16 muscles."""
    muscles = muscles_on(16, 2.0)
    times = []
    for count in LINE:
        frame, _ = framing(sheet(count).vertices, muscles)
        times.append(1.0 / rate(frame, 0.4))
    fitted = np.polyfit(np.log(LINE), np.log(times), 1)[0]
    return {"points": list(LINE), "milliseconds": [round(1e3 * t, 4) for t in times], "exponent": round(fitted, 3)}


def attaching() -> float:
    """Seconds for 100,000 points, all within reach, to one muscle; best of three."""
    from risorius.skin.muscle.attach import attach

    muscle = muscles_on(1, math.inf)[0]
    points = sheet(100_000).vertices
    attach(muscle, points[:10])
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        attach(muscle, points)
        best = min(best, time.perf_counter() - start)
    return round(best, 4)


def blender(rates: dict[int, float]) -> dict[str, Any] | str:
    """Blender's surface deformer under the same muscles; without a Python that has `bpy`, how to get one.

    Args:
        rates: frames a second of this package by the number of points, from the same run.
    """
    from risorius.app.doctor import blender as blender_python

    python = blender_python()
    if python is None:
        return "not measured: python3.11 -m venv blender && blender/bin/pip install bpy==5.0.1, then set RISORIUS_BLENDER to blender/bin/python"  # noqa: E501
    figures: dict[str, Any] = {}
    for count, many in SIZES[:2]:
        found = in_blender(python, count, many)
        for way in ("one_modifier", "a_modifier_a_muscle"):
            if f"{way}_fps" in found:
                found[f"faster_than_{way}"] = round(rates[count] / found[f"{way}_fps"], 1)
        figures[f"points_{count}"] = found
    return figures


APART: Final = 10_000
"""Up to so many points Blender is also given a modifier a muscle; binding these to more takes minutes."""


def in_blender(python: str, count: int, many: int, frames: int = 8) -> dict[str, Any]:
    """Blender's figures for one size: its modifier gets the muscles' moving sheets and the falloff as weights."""
    from risorius.skin.muscle.falloff import falloff
    from risorius.skin.muscle.sheets import Sheets

    skin = sheet(count)
    moving, now, turn = playing(skin.vertices, muscles_on(many, 2.0))
    near = np.zeros((many if count <= APART else 0, len(skin.vertices)), dtype=np.float32)
    for row, muscle, held in zip(near, moving.muscles, moving.attachments):
        row[held.points] = np.round(falloff(held.distance, muscle.d_full, muscle.d_none, muscle.falloff), 2)
    sheets = Sheets(moving.muscles)
    moved = []
    for k in range(frames):
        turn(k)
        moved.append(np.stack(sheets.at(now)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "skin.npz"
        np.savez(
            path,
            skin=skin.vertices,
            quads=skin.indices.reshape(-1, 4),
            sheets=np.stack(moved).astype(np.float32),
            near=near,
        )
        script = Path(__file__).with_name("blender_deformer.py")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        run = subprocess.run([python, str(script), str(path)], capture_output=True, text=True, env=clean, timeout=1200)
    lines = [line for line in run.stdout.splitlines() if line.startswith("RESULT")]
    return json.loads(lines[0][6:]) if lines else {"failed": (run.stderr.strip().splitlines() or ["no word"])[-1]}
