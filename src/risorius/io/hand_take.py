"""The folder of a hand's take: hand.usdc, hand.glb, hand.xml, signals.csv, run.json, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from risorius import __version__
from risorius.core.clip import Clip
from risorius.core.errors import InputError
from risorius.core.hand import HandRecord
from risorius.io.clip_xml import write_clip
from risorius.io.hand_gltf import write_hand_glb
from risorius.io.hand_story import write_hand
from risorius.io.signals import write_signals
from risorius.io.take import Progress, Steps, folder_written, write_json


def write_hand_take(
    folder: str | PathLike[str],
    record: HandRecord,
    *,
    drawers: Sequence[tuple[str, float, Callable[..., None]]] = (),
    progress: Progress | None = None,
) -> Path:
    """Write the take; a drawer that raises `InputError` leaves a warning in run.json and the rest is written."""
    report: dict[str, Any] = {**record.run, "version": __version__}
    phases: dict[str, float] = dict(report.get("phases_s", {}))
    warnings: list[str] = list(report.get("warnings", []))
    shares = {"signals": 0.1, "usd": 2.0, "glb": 1.0, "xml": 0.3, **{name: share for name, share, _ in drawers}}
    tell = Steps(progress, shares)
    with folder_written(folder) as temporary:
        with tell.step("signals", phases):
            columns = {f"act_{unit}": record.activation[:, k] for k, unit in enumerate(record.units)}
            write_signals(temporary / "signals.csv", {"time_s": record.time, **columns})
        with tell.step("usd", phases) as part:
            write_hand(temporary / "hand.usdc", record, part)
        with tell.step("glb", phases):
            report["glb"] = write_hand_glb(temporary / "hand.glb", record)
        with tell.step("xml", phases):
            write_clip(temporary / "hand.xml", as_clip(record))
        if record.skin is not None:
            write_prominence(temporary / "prominence.csv", record)
        for name, _, draw in drawers:
            with tell.step(name, phases) as part:
                try:
                    draw(temporary, record, part)
                except InputError as error:
                    warnings.append(f"{name}: {error}")
        for name in ("page", "video"):
            if name in record.run:
                report[name] = record.run[name]
        report["phases_s"] = {name: round(seconds, 3) for name, seconds in phases.items()}
        report["warnings"] = warnings
        write_json(temporary / "run.json", report)
    return Path(folder)


def as_clip(record: HandRecord) -> Clip:
    """The simulated bones as keyframes."""
    place = np.einsum("fbij,bj->fbi", record.rotation, record.pivot) + record.position
    still = np.tile(np.eye(3), (len(record.names), 1, 1))
    return Clip(
        record.names, record.parent, record.time, place, record.rotation, np.asarray(record.pivot), still, {}, 1.0
    )


def write_prominence(path: Path, record: HandRecord) -> None:
    """One row a vertex: mean and greatest lift over the take [mm]."""
    assert record.skin is not None
    rise = 1e3 * record.skin.prominence
    rows = [f"{k},{mean:.4f},{most:.4f}" for k, (mean, most) in enumerate(zip(rise.mean(axis=0), rise.max(axis=0)))]
    path.write_text("\n".join(["vertex,prominence_mean_mm,prominence_most_mm", *rows]) + "\n")
