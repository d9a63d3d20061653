"""Recorded breathing read: markers on a trunk, or a single curve of a belt or a spirometer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.markers import Curve, Markers

if TYPE_CHECKING:  # a file that cannot be read is refused before scipy is loaded
    from risorius.inverse.markers.breaths import Breaths
    from risorius.inverse.markers.layout import Layout

Floats = NDArray[np.float64]

QUANTITIES: Final = ("belt", "volume", "flow")
MM, LITRE = 1e3, 1e3
SMOOTHING: Final = 4.0
"""Markers are smoothed with this low-pass [Hz]: a breath has nothing faster, cameras' noise has."""


@dataclass(frozen=True, eq=False)
class MarkerBreath:
    """What a fit to markers needs, in the body's own axes (forward, up, right) [m].

    Args:
        names: of the n used markers.
        layout: where they sit.
        aligned: (f, n, 3) with sway taken out, gaps filled and noise smoothed; (0, 0, 0) is their mean place.
        mean: (100, n, 3) the average breath; deviation: (100, n, 3) its spread over breaths.
        breaths: the breaths found.
        hull: (f,) volume inside the markers [m³].
        rate: frames a second [Hz].
        harmonics: of the average breath that stand out from noise; the others are taken out of it.
    """

    names: tuple[str, ...]
    layout: Layout
    aligned: Floats
    mean: Floats
    deviation: Floats
    breaths: Breaths
    hull: Floats
    rate: float
    harmonics: int

    @property
    def period(self) -> float:
        """Length of the average breath [s]."""
        from risorius.inverse.markers.breaths import alike

        return float(np.diff(self.breaths.starts)[alike(self.breaths)].mean())

    def only(self, kept: NDArray[np.bool_]) -> MarkerBreath:
        """The same of some of the markers, sway taken out anew by these."""
        from risorius.inverse.markers.rigid import without_sway

        layout = replace(
            self.layout,
            used=tuple(np.array(self.layout.used)[kept].tolist()),
            landmark=tuple(np.array(self.layout.landmark)[kept].tolist()),
            front=self.layout.front[kept],
            back=self.layout.back[kept],
            column=self.layout.column[kept],
        )
        names = tuple(name for name, keep in zip(self.names, kept, strict=True) if keep)
        aligned, mean = (without_sway(points[:, kept])[0] for points in (self.aligned, self.mean))
        return replace(self, names=names, layout=layout, aligned=aligned, mean=mean, deviation=self.deviation[:, kept])

    def still_errors(self, which: NDArray[np.bool_] | None = None) -> tuple[float, float]:
        """error_p [m] and error_v [m/s] of a body that does not move, over the average breath."""
        from risorius.inverse.misfit import error_p, error_v

        chosen = self.mean if which is None else self.mean[:, which]
        still = np.broadcast_to(chosen.mean(axis=0), chosen.shape)
        return error_p(still, chosen), error_v(still, chosen, len(chosen) / self.period, cyclic=True)


def read_marker_breath(
    path: str | PathLike[str],
    *,
    mapping: str | PathLike[str] | None = None,
    rate: float | None = None,
    unit: str | None = None,
) -> MarkerBreath:
    """Read a marker file, take sway out, find breaths and average them; `InputError` where there are none."""
    from risorius.io.marker_map import read_marker_map
    from risorius.io.markers import read_markers

    markers = read_markers(path, rate=rate, unit=unit)
    if markers.rate is None:
        raise InputError("expected --rate: the file does not say how many frames there are a second", file=path)
    from risorius.inverse.markers.layout import MarkerMap, landmarks, lay_out

    said = MarkerMap()
    if mapping is not None:
        said = MarkerMap(*read_marker_map(mapping, set(landmarks())))
    try:
        return marker_breath(markers, lay_out(markers, said))
    except InputError as error:
        raise InputError(error.message, file=path, place=error.place) from None


def marker_breath(markers: Markers, layout: Layout) -> MarkerBreath:
    """The average breath of markers that have been laid out."""
    from risorius.inverse.markers.breaths import alike, average_breath, find_breaths, harmonics_of, idealised
    from risorius.inverse.markers.hull import hull_volume
    from risorius.inverse.markers.rigid import filled, without_sway
    from risorius.maths.signals import low_pass

    assert markers.rate is not None
    own = markers.points[:, list(layout.used)] @ layout.axes.T
    if int(np.isfinite(own[..., 0]).sum(axis=1).max()) < 3:
        raise InputError("expected frames in which at least three markers are seen")
    aligned, shape = without_sway(own)
    aligned = low_pass(filled(aligned), markers.rate, SMOOTHING, order=2, both_ways=True) - shape.mean(axis=0)
    hull = hull_volume(aligned)
    breaths = find_breaths(hull, markers.rate)
    mean, deviation = average_breath(aligned, markers.rate, breaths)
    harmonics = harmonics_of(mean, float(np.diff(breaths.starts)[alike(breaths)].mean()))
    mean = idealised(mean, harmonics)
    names = tuple(markers.names[number] for number in layout.used)
    return MarkerBreath(names, layout, aligned, mean, deviation, breaths, hull, markers.rate, harmonics)


def curve_breaths(curve: Curve, quantity: str = "belt", *, invert: bool = False) -> tuple[Floats, Breaths]:
    """The signal that is high when the lungs are full, and its breaths.

    Args:
        quantity: belt or volume, taken as they are; flow (positive into the lung) is integrated.
        invert: the signal is low when the lungs are full.
    """
    from risorius.inverse.markers.breaths import find_breaths, volume_of

    if quantity not in QUANTITIES:
        raise InputError(f"expected one of {', '.join(QUANTITIES)}, got {quantity!r}", place="--quantity")
    values = -curve.values if invert else curve.values
    full = volume_of(values, curve.rate) if quantity == "flow" else values
    return full, find_breaths(full, curve.rate)


def breath_report(breaths: Breaths, scale: float, unit: str) -> dict[str, Any]:
    """Figures of breaths, depth in a unit."""
    from risorius.inverse.markers.breaths import alike

    length = np.diff(breaths.starts)
    kept = alike(breaths)
    return {
        "breaths": breaths.count,
        "averaged": len(kept),
        "rate_per_minute": round(breaths.rate, 3),
        "period_s": round(60.0 / breaths.rate, 3),
        "period_spread_s": round(float(length.std()), 3),
        "inspiration_part": round(breaths.duty, 3),
        f"depth_{unit}": round(scale * float(np.median(breaths.depths)), 4),
        f"averaged_depth_{unit}": round(scale * float(np.median(breaths.depths[kept])), 4),
        "starts_s": [round(float(start), 3) for start in breaths.starts],
        f"depths_{unit}": [round(scale * float(depth), 4) for depth in breaths.depths],
    }


def analyse_markers(found: MarkerBreath, path: str | PathLike[str]) -> dict[str, Any]:
    """What markers tell, for people and programs."""
    layout = found.layout
    report: dict[str, Any] = {"file": str(path), "markers": len(found.names), "frames_per_second": found.rate}
    report |= breath_report(found.breaths, LITRE, "l")
    report |= {
        "hull_least_l": round(LITRE * float(found.hull.min()), 4),
        "hull_most_l": round(LITRE * float(found.hull.max()), 4),
        "up": [round(float(v), 3) for v in layout.axes[1]],
        "forward": [round(float(v), 3) for v in layout.axes[0]],
    }
    for name in ("front", "back", "column"):
        report[name] = sorted(n for n, flag in zip(found.names, getattr(layout, name), strict=True) if flag)
    for name, which in (("all", None), ("column", layout.column)):
        position, speed = found.still_errors(which)
        report[f"still_error_p_{name}_mm"] = round(MM * position, 3)
        report[f"still_error_v_{name}_mm_s"] = round(MM * speed, 3)
    return report


def analyse(
    path: str | PathLike[str],
    folder: str | PathLike[str] | None = None,
    *,
    mapping: str | PathLike[str] | None = None,
    rate: float | None = None,
    unit: str | None = None,
    quantity: str | None = None,
    column: str | None = None,
    invert: bool = False,
) -> dict[str, Any]:
    """`risorius breathe FILE --analyse`: read markers or a curve and, given a folder, write what was found.

    A curve is read where the file is .npy or a table without X, Y, Z, or where a quantity is named; markers else. The
    folder gets breath.json, breath.png and cycle.csv, the average breath (phase, then each marker's coordinates [mm], or
    the signal).
    """
    from risorius.io.curve import looks_like_curve

    as_curve = quantity is not None or looks_like_curve(Path(path))
    if as_curve:
        from risorius.inverse.markers.breaths import average_breath
        from risorius.io.curve import read_curve

        curve = read_curve(path, rate=rate, column=column)
        try:
            values, breaths = curve_breaths(curve, quantity or "belt", invert=invert)
        except InputError as error:
            raise InputError(error.message, file=path, place=error.place) from None
        report = {"file": str(path), "samples_per_second": curve.rate, **breath_report(breaths, 1.0, "own_unit")}
        mean, spread = average_breath(values, curve.rate, breaths)
        cycle = {"signal": mean, "spread": spread}
        label = "volume, own unit" if quantity == "flow" else quantity or "belt"
        signal, per_second = values, curve.rate
    else:
        found = read_marker_breath(path, mapping=mapping, rate=rate, unit=unit)
        report = analyse_markers(found, path)
        breaths, signal, per_second, label = found.breaths, LITRE * found.hull, found.rate, "volume in the hull [l]"
        cycle = {
            f"{name}_{axis}_mm": MM * found.mean[:, number, place]
            for number, name in enumerate(found.names)
            for place, axis in enumerate(("forward", "up", "right"))
        }
    if folder is not None:
        write_folder(Path(folder), report, cycle, signal, per_second, label, breaths, None if as_curve else found)
    return report


def write_folder(
    place: Path,
    report: dict[str, Any],
    cycle: dict[str, Floats],
    signal: Floats,
    rate: float,
    label: str,
    breaths: Breaths,
    found: MarkerBreath | None,
) -> None:
    """breath.json, breath.png and cycle.csv."""
    from risorius.inverse.markers.breaths import PHASES
    from risorius.io.files import write_bytes
    from risorius.io.signals import write_table
    from risorius.view.breathing import draw_breathing

    if place.exists() and not place.is_dir():
        raise InputError("expected a folder, got a file", file=place)
    write_table(place / "cycle.csv", {"phase": np.arange(PHASES) / PHASES, **cycle})
    cloud = None
    if found is not None:
        cloud = {"mean": found.mean, "front": found.layout.front, "column": found.layout.column}
    draw_breathing(place / "breath.png", signal, rate, label, breaths.starts, breaths.tops, breaths.rate, cloud)
    write_bytes(place / "breath.json", (json.dumps(report, indent=2) + "\n").encode())
