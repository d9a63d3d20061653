"""A recorded breath fitted to the torso, and its take: `risorius breathe FILE -o DIR`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.breathe import LITRE, MM, MarkerBreath, breath_report, curve_breaths, read_marker_breath
from risorius.core.errors import InputError
from risorius.core.spec import Spec
from risorius.inverse.breath.drive import knobs
from risorius.inverse.misfit import correlation, error_p, error_v

if TYPE_CHECKING:  # a file that cannot be read is refused before the simulation is loaded
    from risorius.control.control import Control
    from risorius.inverse.breath.fit import BreathFit
    from risorius.inverse.markers.place import Placed

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]

BREATHS: Final = 3
"""Breaths of a take where nobody says."""
FRAMES: Final = 25.0
STRAY: Final = 0.04
"""A marker without a known name that lies further [m] than this from the trunk's skin is not on it."""
FEWEST: Final = 4
"""Markers that a fit needs."""
LIKELY: Final = 1.96
"""Standard errors to either side that hold the truth 19 times in 20."""
TIDAL: Final = 0.5
"""Depth [l] of a breath whose recording has no unit: a calm one."""
DEEPEST: Final = (0.05, 5.0)
"""Least and largest breath [l] that a torso is asked for."""
MOST: Final = 50
"""Breaths of a take."""
UNITS: Final = {"_ml": 1e-3, "_l": 1.0, "_lps": 1.0, "_mlps": 1e-3}
"""Litres in the unit that the end of a column's name says."""
PAPER: Final = {"error_p_mm": 6.8, "error_v_mm_s": 6.1, "intercostal_external": 0.327, "diaphragm": 0.062,
                "intercostal_internal": 0.013, "abdomen": 0.005}  # fmt: skip
"""Mean of the four subjects of DiLorenzo 2009, table 5.2, to stand beside ours."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A breath with everything that a take, a page and a table need.

    Args:
        spec, posture: who breathes, and how.
        period: [s].
        every: the whole fit; four: the paper's, where there are markers.
        report: figures.
        recorded, seen: (phases, n, 3) [m] the markers' average breath and the torso's about their means, in the torso's
            axes; of a curve (phases, 1) [l].
        placed: the markers on the skin; shape: (n, 3) [m] their recorded mean places there.
    """

    spec: Spec
    posture: str
    period: float
    every: BreathFit
    report: dict[str, Any]
    recorded: Floats
    seen: Floats
    four: BreathFit | None = None
    placed: Placed | None = None
    shape: Floats | None = None

    def control(self, seconds: float) -> Control:
        """What drives the torso for so long."""
        from risorius.inverse.breath.drive import breath_control, lasting

        return lasting(breath_control(self.every.values, self.period, seconds, "breathe"), seconds, FRAMES)


def fit_markers_to_torso(
    found: MarkerBreath, spec: Spec | None, posture: str, progress: Progress, workers: int | None = None
) -> Fitted:
    """Scale a subject, put virtual markers on it and fit its breath.

    Args:
        spec: the subject, or nothing where its size is to be found from the markers.
    """
    from risorius.inverse.breath.answer import Answer, SeenMarkers
    from risorius.inverse.breath.fit import fit_markers
    from risorius.inverse.markers.place import place
    from risorius.inverse.markers.subject import body, subject_of
    from risorius.inverse.markers.virtual import VirtualMarkers
    from risorius.inverse.search.executors import Processes
    from risorius.sim.run import STEP

    progress("placing the markers", 0.0)
    shape = found.mean.mean(axis=0)
    given = spec is not None
    spec = spec or subject_of(shape, found.names, found.layout.landmark, Spec())
    on = body(spec)
    placed = place(shape, found.names, found.layout.landmark, on.trunk)
    kept = np.array([bool(name) for name in found.layout.landmark]) | (np.abs(placed.distance) < STRAY)
    if kept.sum() < FEWEST:
        raise InputError(f"expected at least {FEWEST} markers on the trunk, found {int(kept.sum())}")
    if not kept.all():
        found = found.only(kept)
        shape = found.mean.mean(axis=0)
        placed = place(shape, found.names, found.layout.landmark, on.trunk)
    recorded = (found.mean - shape) @ placed.rotation.T
    there = shape @ placed.rotation.T + placed.shift
    virtual = VirtualMarkers.of(on.binding, on.torso, placed.places)
    answer = Answer(spec, posture, found.period, SeenMarkers(virtual, found.harmonics))
    column = found.layout.column
    with Processes(workers) as executor:
        four, every = fit_markers(
            answer, recorded[:: len(recorded) // answer.phases], there, column, found.breaths.duty, executor, progress
        )
        progress("measuring what is left", 0.0)
        finely = replace(answer, phases=len(recorded), step=STEP)
        paper, seen = (moved - moved.mean(axis=0) for moved in executor.answers(finely, [four.values, every.values]))
    report = breath_report(found.breaths, LITRE, "l") | {
        "subject": str(spec),
        "subject_from": "given" if given else "markers",
        "markers": list(found.names),
        "distance_from_skin_rms_mm": round(MM * placed.rms, 2),
        **errors(seen, recorded, found.period, "all"),
        **errors(seen[:, column], recorded[:, column], found.period, "column"),
        **tides(there, recorded, seen),
        "activations": activations(every),
        "timing": {name: round(value, 4) for name, value in every.values.items() if knobs()[name].role == "time"},
        "four_amplitudes": {
            **errors(paper[:, column], recorded[:, column], found.period, "column"),
            "activations": activations(four),
        },
        "runs": four.solved.runs + every.solved.runs,
    }
    return Fitted(spec, posture, found.period, every, report, recorded, seen, four, placed, there)


def errors(seen: Floats, recorded: Floats, period: float, which: str) -> dict[str, float]:
    """error_p and error_v of a fit beside those of a body that does not move (DiLorenzo 2009, §5.3.2)."""
    rate = len(recorded) / period
    found = {}
    for name, moved in (("", seen), ("still_", np.zeros_like(recorded))):
        found[f"{name}error_p_{which}_mm"] = round(MM * error_p(moved, recorded), 3)
        found[f"{name}error_v_{which}_mm_s"] = round(MM * error_v(moved, recorded, rate, cyclic=True), 3)
    for kind, unit in (("p", "mm"), ("v", "mm_s")):
        still = found[f"still_error_{kind}_{which}_{unit}"]
        found[f"error_{kind}_{which}_part"] = round(found[f"error_{kind}_{which}_{unit}"] / still, 4) if still else 0.0
    return found


def tides(shape: Floats, recorded: Floats, seen: Floats) -> dict[str, float]:
    """Volume that a breath adds between the markers [l]: recorded, and the torso's."""
    from risorius.inverse.markers.hull import hull_volume

    if shape.shape[0] < 4:
        return {}
    own, other = (LITRE * float(np.ptp(hull_volume(shape + moved))) for moved in (recorded, seen))
    return {
        "tidal_hull_l": round(own, 4),
        "tidal_hull_simulated_l": round(other, 4),
        "tidal_hull_part": round(other / own, 4),
    }


def activations(fit: BreathFit) -> dict[str, dict[str, float]]:
    """Each drive of a breath with what is known of it: one standard error, and bounds that hold 19 times in 20."""
    found = {}
    for name, error in zip(fit.names, fit.error, strict=True):
        if name not in knobs() or knobs()[name].role == "time":
            continue
        knob, value = knobs()[name], fit.values[name]
        low, high = (float(np.clip(value + side * LIKELY * error, knob.low, knob.high)) for side in (-1, 1))
        found[name] = {"value": round(value, 4), "standard_error": round(float(error), 4), "low": round(low, 4),
                       "high": round(high, 4)}  # fmt: skip
    return found


def fit_curve_to_torso(
    path: str | PathLike[str],
    spec: Spec,
    posture: str,
    progress: Progress,
    *,
    rate: float | None = None,
    quantity: str | None = None,
    column: str | None = None,
    invert: bool = False,
    tidal: float | None = None,
) -> Fitted:
    """Fit depth and timing of a calm breath to a belt's or a spirometer's curve.

    Args:
        tidal: depth [l] of the average breath; where not given the column's unit tells it, else it is a calm breath's.
    """
    from risorius.io.curve import read_curve, unit_of

    curve = read_curve(path, rate=rate, column=column)
    from risorius.inverse.breath.answer import Answer, SeenVolume
    from risorius.inverse.breath.fit import fit_volume
    from risorius.inverse.markers.breaths import alike, average_breath
    from risorius.inverse.search.executors import Processes
    from risorius.sim.run import STEP

    try:
        values, breaths = curve_breaths(curve, quantity or "belt", invert=invert)
    except InputError as error:
        raise InputError(error.message, file=path, place=error.place) from None
    mean = average_breath(values, curve.rate, breaths)[0]
    litre = UNITS.get(unit_of(path, column)) if quantity in ("flow", "volume") else None
    size = float(np.ptp(mean))
    depth = tidal or (litre * size if litre else TIDAL)
    if not DEEPEST[0] <= depth <= DEEPEST[1]:
        raise InputError(
            f"expected a breath of {DEEPEST[0]:g} to {DEEPEST[1]:g} l, got {depth:g}: say --tidal", file=path
        )
    period = float(np.diff(breaths.starts)[alike(breaths)].mean())
    recorded = ((mean - mean.mean()) * depth / size)[:, None]
    answer = Answer(spec, posture, period, SeenVolume())
    with Processes() as executor:
        every = fit_volume(answer, recorded[:: len(recorded) // answer.phases], breaths.duty, executor, progress)
        finely = replace(answer, phases=len(recorded), step=STEP)
        seen = executor.answers(finely, [every.values])[0]
    seen = seen - seen.mean(axis=0)
    report = breath_report(breaths, 1.0, "own_unit") | {
        "subject": str(spec),
        "quantity": quantity or "belt",
        "tidal_l": round(float(np.ptp(recorded)), 4),
        "tidal_simulated_l": round(float(np.ptp(seen)), 4),
        "tidal_from": "given" if tidal else "the file" if litre else "a calm breath",
        "error_rms_part": round(float(np.sqrt(np.mean((seen - recorded) ** 2)) / np.ptp(recorded)), 4),
        "correlation": round(correlation(seen[:, 0], recorded[:, 0]), 4),
        "activations": {name: {"value": round(every.values[name], 4)} for name in driven(every)},
        "depth_of_calm": round(float(every.solved.values[0]), 4),
        "depth_standard_error": round(float(every.error[0]), 4),
        "timing": {name: round(value, 4) for name, value in every.values.items() if knobs()[name].role == "time"},
        "runs": every.solved.runs,
    }
    return Fitted(spec, posture, period, every, report, recorded, seen)


def driven(fit: BreathFit) -> list[str]:
    """What a breath drives."""
    return [name for name, value in fit.values.items() if knobs()[name].role != "time" and value]


def fit_file(
    path: str | PathLike[str],
    *,
    subject: str | None = None,
    posture: str = "upright",
    mapping: str | PathLike[str] | None = None,
    rate: float | None = None,
    unit: str | None = None,
    quantity: str | None = None,
    column: str | None = None,
    invert: bool = False,
    tidal: float | None = None,
    progress: Progress | None = None,
) -> tuple[Fitted, dict[str, Any]]:
    """Read markers, or a curve where the file is one or a quantity is named, and fit them; also gives the figures."""
    from risorius.io.curve import looks_like_curve

    tell = progress or (lambda _name, _part: None)
    spec = Spec.parse(subject) if subject else None
    begun = time.perf_counter()
    if quantity is not None or looks_like_curve(Path(path)):
        fitted = fit_curve_to_torso(path, spec or Spec(), posture, tell, rate=rate, quantity=quantity, column=column,
                                    invert=invert, tidal=tidal)  # fmt: skip
    else:
        found = read_marker_breath(path, mapping=mapping, rate=rate, unit=unit)
        try:
            fitted = fit_markers_to_torso(found, spec, posture, tell)
        except InputError as error:
            raise InputError(error.message, file=path, place=error.place) from None
    return fitted, {"file": Path(path).name, **fitted.report, "fit_s": round(time.perf_counter() - begun, 2)}


def breathe(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    breaths: int = BREATHS,
    video: bool = True,
    progress: Progress | None = None,
    **reading: Any,
) -> dict[str, Any]:
    """`risorius breathe FILE -o DIR`: fit a recorded breath and write the take of a torso that breathes it.

    Args:
        reading: as for `fit_file`.

    Returns: the figures, which run.json holds as `fit`.
    """
    from risorius.io.take import writable

    tell = progress or (lambda _name, _part: None)
    if not 1 <= breaths <= MOST:
        raise InputError(f"expected 1 to {MOST} breaths, got {breaths}", place="--breaths")
    writable(folder)
    fitted, report = fit_file(path, progress=tell, **reading)
    write_fitted(folder, fitted, report, breaths, video, tell)
    return report


def write_fitted(
    folder: str | PathLike[str], fitted: Fitted, report: dict[str, Any], breaths: int, video: bool, progress: Progress
) -> Path:
    """Simulate the fitted breath a few times over and write its take, the virtual markers (markers.trc) in it."""
    from risorius.app.perform import simulate
    from risorius.app.take import write_take
    from risorius.inverse.breath.drive import ONSET
    from risorius.io.control_file import control_text
    from risorius.io.markers_out import write_trc
    from risorius.io.take import Take
    from risorius.view.breath_fit import fit_section

    control = replace(fitted.control((breaths + ONSET) * fitted.period), posture=fitted.posture)
    torso, record, phases = simulate(control, fitted.spec, progress=progress)
    run = {
        "command": f"breathe {report['file']}",
        "subject": str(fitted.spec),
        "seed": 0,
        "posture": control.posture,
        "step_s": phases.pop("step"),
        "simulated_s": control.seconds,
        "real_time_factor": round(control.seconds / phases["simulate"], 2),
        "phases_s": {"fit": report["fit_s"], **phases},
        "fit": report,
    }

    def write_markers(place: Path, take: Take, _progress: Callable[[float], None]) -> None:
        assert fitted.placed is not None
        places = fitted.placed.places
        write_trc(place / "markers.trc", places.names, places.on(take.skin), FRAMES)

    more = [("markers", 0.1, write_markers)] if fitted.placed is not None else []
    section = fit_section(torso, report, PAPER, fitted.recorded, fitted.seen, fitted.shape, fitted.period)
    return write_take(folder, torso, record, run=run, control_xml=control_text(control), progress=progress, video=video,
                      section=section, more=more)  # fmt: skip
