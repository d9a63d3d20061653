"""The breath space: tidal volume over contraction and period, as in DiLorenzo 2009, fig. 5.3.

Every point is a run of the `deep` style at an effort (the contraction) and a rate (the period's); its value is the mean
range of lung volume over the last breaths. Each run is noted as it is finished, so that a sweep that was broken off goes on
where it stopped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius import __version__
from risorius.control.behaviours import Knobs, behaviour, styles
from risorius.core.errors import InputError
from risorius.core.spec import Spec
from risorius.inverse.search.executors import Dask, Processes, Serial
from risorius.inverse.search.problem import Objective, append, read_archive

Floats = NDArray[np.float64]
STYLE: Final = "deep"
CONTRACTIONS: Final = (0.05, 1.0)
PERIODS: Final = (0.5, 4.5)
"""Seconds a breath (D fig. 5.3)."""
COLUMNS, ROWS = 20, 16
LAST: Final = 3
"""Breaths at the end of a run that are measured."""
FRAME_RATE: Final = 50.0
LONGEST_STEP, STEPS_A_BREATH = 0.01, 100
"""Longest step [s], and least steps a breath: tidal volume within 0.5 % of that at half the step, over the whole map."""
LEAST_SECONDS: Final = 4.0


@dataclass(frozen=True)
class TidalVolume:
    """Tidal volume [l] of a run at (contraction, period [s]); picklable, each process builds the subject once."""

    subject: str
    seconds: float

    def __call__(self, point: Floats) -> float:
        contraction, period = (float(value) for value in point)
        ready, bind = prepared(self.subject)
        seconds = max(self.seconds, (LAST + 1.0) * period)
        control = behaviour(STYLE, seconds, knobs=Knobs(rate=60.0 / period, effort=contraction))
        step = min(LONGEST_STEP, period / STEPS_A_BREATH)
        motion = ready.copy().perform(bind(control, ready.model), FRAME_RATE, step)
        from risorius.sim.system import ABDOMEN_VOLUME, TRUNK_VOLUME

        volume = 1e3 * (motion.scalar[:, TRUNK_VOLUME] - motion.scalar[:, ABDOMEN_VOLUME])
        ends = seconds - period * np.arange(LAST)
        ranges = [np.ptp(volume[(motion.time > end - period) & (motion.time <= end)]) for end in ends]
        return float(np.mean(ranges))


@cache
def prepared(subject: str) -> tuple[Any, Any]:
    """A simulation of a subject at rest, and what binds controls to it."""
    from risorius.anatomy import build
    from risorius.control.bind import bind
    from risorius.sim.run import Simulation

    return Simulation.of(build(Spec.parse(subject))), bind


def grid(columns: int, rows: int) -> tuple[Floats, Floats, list[Floats]]:
    """Contractions, periods, and all points of the map."""
    across, up = np.linspace(*CONTRACTIONS, columns), np.linspace(*PERIODS, rows)
    return across, up, [np.array([x, y]) for y in up for x in across]


def fingerprint() -> str:
    """Of the tables that a subject is made of: runs of another calibration are not mixed into a map."""
    digest = hashlib.sha256()
    for table in sorted(files("risorius.anatomy").joinpath("data").iterdir(), key=lambda entry: entry.name):
        if table.is_file():
            digest.update(table.read_bytes())
    return digest.hexdigest()


def sweep(
    function: Objective,
    points: list[Floats],
    executor: Serial | Processes | Dask,
    archive: Path,
    progress: Callable[[float], None] | None = None,
) -> tuple[Floats, int]:
    """Values (n) of all points, and how many were computed now; each is kept in the archive as it is finished."""
    known = read_archive(archive, len(points[0]))
    missing = [point for point in points if point.tobytes() not in known]
    tell = progress or (lambda _part: None)
    tell(1.0 - len(missing) / len(points))
    for done, (index, value) in enumerate(executor.each(function, missing), start=1):
        known[missing[index].tobytes()] = value
        append(archive, [missing[index]], known)
        tell(1.0 - (len(missing) - done) / len(points))
    return np.array([known[point.tobytes()] for point in points]), len(missing)


def breath_space(
    out: str | PathLike[str],
    *,
    subject: str = "male",
    columns: int = COLUMNS,
    rows: int = ROWS,
    seconds: float = 30.0,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> dict[str, object]:
    """Sweep the breath space; writes breath-space.png, breath-space.csv and the archive of runs into a folder.

    Args:
        workers: processes of this machine; as many as it has cores where not given.
        cluster: address of a Dask scheduler instead.
    """
    from risorius.io.signals import write_table
    from risorius.view.breath_space import draw_breath_space

    if not (2 <= columns <= 200 and 2 <= rows <= 200):
        raise InputError(f"expected 2 to 200 columns and rows, got {columns} and {rows}", place="sweep")
    if not LEAST_SECONDS <= seconds <= 600.0:
        raise InputError(f"expected {LEAST_SECONDS:g} to 600 s, got {seconds:g}", place="seconds")
    spec = Spec.parse(subject)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError("expected a folder, got a file", file=folder)
    folder.mkdir(parents=True, exist_ok=True)
    steps = (LONGEST_STEP, STEPS_A_BREATH)
    style = sorted(styles()[STYLE].items())
    problem = repr((__version__, sorted(asdict(spec).items()), seconds, steps, style, fingerprint()))
    archive = folder / f"runs-{hashlib.sha256(problem.encode()).hexdigest()[:12]}.jsonl"
    across, up, points = grid(columns, rows)
    tell = progress or (lambda _name, _part: None)
    function = TidalVolume(subject, seconds)
    count = workers or os.cpu_count() or 1
    if not cluster and len(read_archive(archive, 2)) < len(points):
        from risorius.maths.compiled import warm

        tell("building the subject" if warm("risorius.sim.step") else "compiling, once for this version", 0.0)
        prepared(subject)  # compiled once, here, before other processes want it too
    executor = Dask(cluster) if cluster else Processes(count) if count > 1 else Serial()
    with nullcontext(executor) if isinstance(executor, Serial) else executor as running:
        values, computed = sweep(function, points, running, archive, lambda part: tell(f"{len(points)} runs", part))
    tidal = values.reshape(rows, columns)
    table = {"contraction": np.tile(across, rows), "period_s": np.repeat(up, columns), "tidal_l": values}
    write_table(folder / "breath-space.csv", table)
    draw_breath_space(folder / "breath-space.png", across, up, tidal, spec.sex)
    return {
        "folder": str(folder),
        "runs": len(points),
        "computed": computed,
        "least_l": round(float(values.min()), 3),
        "most_l": round(float(values.max()), 3),
    }
