"""The truth table: manoeuvres on one calibrated subject, bars 1 to 25 measured from what they leave behind."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

from risorius.app.bars import Bar, Run, efforts, geometry, lungs, quiet, table
from risorius.control.behaviours import Knobs, behaviour, lasting
from risorius.core.spec import Spec
from risorius.core.units import LITRE

Progress = Callable[[str, float], None]
RUNS: Final[dict[str, dict[str, Any]]] = {
    "rest": {"seconds": 8.0}, "calm": {"seconds": 30.0}, "deep": {"seconds": 24.0}, "abdominal": {"seconds": 24.0},
    "paradox": {"seconds": 24.0}, "diaphragm-only": {"seconds": 20.0}, "vital-capacity": {}, "relaxed-curve": {},
    "forced-expiration": {}, "max-effort": {}, "sniff-low": {}, "sniff-high": {}, "cough": {}, "laugh": {},
    "calm supine": {"posture": "supine"},
    "vital-capacity supine": {"posture": "supine"}, "deep nose": {"route": "nose", "seconds": 24.0},
    "forced-expiration gentler": {"effort": 0.5, "depth": 2.0},
}  # fmt: skip
"""Name of a run -> how it differs from the behaviour that its first word names."""
FRAME_RATE: Final = 100.0


def runs_of(spec: Spec, progress: Progress | None = None) -> dict[str, Run]:
    """Every run that the bars are measured from."""
    from risorius.anatomy import build
    from risorius.anatomy.volumes import predicted
    from risorius.control.bind import bind
    from risorius.sim.run import Simulation
    from risorius.sim.signals import record_of

    model = build(spec)
    volumes = tuple(predicted(name, spec) / LITRE for name in ("RV", "FRC", "TLC"))
    ready: dict[tuple[str, str], Simulation] = {}
    found: dict[str, Run] = {}
    for number, (name, how) in enumerate(RUNS.items()):
        if progress is not None:
            progress(name, number / len(RUNS))
        act = name.split(" ")[0]
        posture, route = how.get("posture", "upright"), how.get("route", "mouth")
        if (posture, route) not in ready:
            ready[posture, route] = Simulation.of(model, posture, route=route)
        knobs = Knobs(effort=how.get("effort", 1.0), depth=how.get("depth", 1.0))
        seconds = how.get("seconds") or lasting(act)
        control = behaviour(act, seconds, posture, route, knobs, volumes, sex=spec.sex)  # type: ignore[arg-type]
        motion = ready[posture, route].copy().perform(bind(control, model), FRAME_RATE)
        found[name] = Run(model.torso, record_of(model, motion), control)
    return found


def published_ribs(sex: str) -> dict[int, float]:
    """Arc length [mm] of the mean rib of the sex (Holcombe 2016), by number."""
    from risorius.anatomy.materials import table as rows

    return {int(row["rib"]): float(row["arc_mm"]) for row in rows("rib_shape.csv") if row["sex"] == sex}


def validate(spec: Spec | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """Measure all bars on a subject: {subject, passed, of, bars: [{bar, name, pass, measured, range}]}."""
    from risorius.anatomy.volumes import predicted

    spec = spec or Spec()
    runs = runs_of(spec, progress)
    female = spec.sex == "female"
    bars: list[Bar] = [
        *quiet(runs, female),
        *lungs(runs, lambda name: predicted(name, spec) / LITRE),
        *efforts(runs, female),
        geometry(runs["rest"].torso, published_ribs(spec.sex)),
    ]
    rows = table(bars)
    return {"subject": str(spec), "passed": sum(row["pass"] for row in rows), "of": len(rows), "bars": rows}


def write_page(path: str | PathLike[str], report: dict[str, Any]) -> None:
    """The table as one page without scripts."""
    from risorius.io.files import write_bytes

    lines = []
    for row in report["bars"]:
        parts = []
        for name, value in row["measured"].items():
            low, high = row["range"][name]
            good = value is not None and low <= value <= high
            shown = "–" if value is None else f"{value:.4g}"
            colour = "#2a7" if good else "#c43"
            parts.append(f'<span style="color:{colour}">{html.escape(name)} {shown}</span> ({low:g}…{high:g})')
        mark = "✓" if row["pass"] else "✗"
        lines.append(f"<tr><td>{row['bar']}<td>{mark}<td>{html.escape(row['name'])}<td>{'<br>'.join(parts)}</tr>")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Truth table</title>'
        "<style>body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto}td{vertical-align:top;padding:.3em .8em;"
        "border-top:1px solid #ddd}</style>"
        f"<h1>Truth table</h1><p>{html.escape(report['subject'])}: {report['passed']} of {report['of']} bars hold.</p>"
        f"<table>{''.join(lines)}</table></html>"
    )
    write_bytes(Path(path), page.encode())


def as_json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2)
