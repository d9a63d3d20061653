"""The bars of a credible breather, 1 to 25 of the physiology survey's section 10, measured from what runs leave behind.

Nothing here knows a parameter of the model: only signals, poses and meshes, as a laboratory would have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.styles import breaths, bursting, laughing, spirometry
from risorius.control.control import Control
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.maths.rotations import matrices

Floats = NDArray[np.float64]
SETTLED: Final = 6.0
"""Breaths count from here [s]."""


@dataclass(eq=False)
class Run:
    """A recorded run: torso, record, control; `s` are its signals."""

    torso: Torso
    record: Record
    control: Control

    @property
    def s(self) -> dict[str, Floats]:
        return self.record.signals


@dataclass
class Bar:
    """One bar: what was measured, the range of each figure, and whether all lie in it."""

    number: int
    name: str
    measured: dict[str, float] = field(default_factory=dict)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, name: str, value: float, low: float, high: float) -> None:
        self.measured[name] = float(value)
        self.ranges[name] = (low, high)

    def true(self, name: str, value: object) -> None:
        self.add(name, float(bool(value)), 1.0, 1.0)

    @property
    def passed(self) -> bool:
        return bool(self.measured) and all(
            self.ranges[name][0] <= value <= self.ranges[name][1] for name, value in self.measured.items()
        )


def late(run: Run, after: float = SETTLED) -> dict[str, Floats]:
    """Signals after some seconds."""
    keep = run.s["time_s"] >= after
    return {name: values[keep] for name, values in run.s.items()}


def swing(signals: dict[str, Floats], name: str) -> float:
    """Change from the least to the greatest lung volume."""
    top, bottom = signals["lung_volume_l"].argmax(), signals["lung_volume_l"].argmin()
    return float(signals[name][top] - signals[name][bottom])


def share(signals: dict[str, Floats], name: str) -> float:
    """Part [%] of the volume change at the wall that a compartment takes."""
    return 100.0 * swing(signals, name) / (swing(signals, "ribcage_volume_l") + swing(signals, "abdomen_volume_l"))


def phase(signals: dict[str, Floats]) -> float:
    """Angle [deg] between the motions of rib cage and abdomen, from the width of their loop (Agostoni & Mogroni 1966)."""
    cage, belly = (signals[name] - signals[name].mean() for name in ("ribcage_volume_l", "abdomen_volume_l"))
    cosine = float((cage * belly).mean() / (cage.std() * belly.std()))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def turned(signals: dict[str, Floats], rib: int, start: int, end: int) -> tuple[float, float]:
    """Pump-handle and bucket-handle turn [deg] of a rib between two frames."""
    return tuple(float(signals[f"rib{rib}_{kind}_deg"][end] - signals[f"rib{rib}_{kind}_deg"][start])
                 for kind in ("pump", "bucket"))  # type: ignore[return-value]  # fmt: skip


def marker(run: Run, rib: int, frame: int) -> Floats:
    """Place [m] of the right rib's front end in a frame."""
    body = run.torso.bodies.index(f"rib{rib}_r")
    mesh = run.torso.bodies.meshes[body].vertices
    front = [run.torso.bodies.names[other].startswith(("cartilage", "sternum")) for other in run.torso.struts[:, 1]]
    here = (run.torso.struts[:, 0] == body) & front
    ends = run.torso.strut_points[here].mean(axis=1)
    rest = ends.mean(axis=0) if len(ends) else mesh[mesh[:, 0].argmax()]
    return matrices(run.record.rotation[frame, body][None])[0] @ rest + run.record.position[frame, body]


def inspiration(run: Run, after: float = SETTLED) -> tuple[int, int]:
    """Frames at the start and the end of the deepest inspiration after some seconds."""
    volume = np.where(run.s["time_s"] >= after, run.s["lung_volume_l"], np.nan)
    end = int(np.nanargmax(volume))
    start = int(np.nanargmin(np.where(run.s["time_s"] < run.s["time_s"][end], volume, np.nan)))
    return start, end


def vital(run: Run) -> tuple[int, int, int]:
    """Frames of a slow vital capacity: relaxed at the start, at residual volume before the top, at the top."""
    volume = run.s["lung_volume_l"]
    top = int(volume.argmax())
    return 0, int(volume[: top + 1].argmin()), top


def quiet(runs: dict[str, Run], female: bool) -> list[Bar]:
    """Bars 1, 2, 4 to 8, 12, 13, 16: quiet breathing upright and lying."""
    calm, lying = late(runs["calm"]), late(runs["calm supine"])
    starts, depth = breaths(runs["calm"].s, SETTLED)
    rate, tidal = 60.0 / np.diff(starts).mean(), depth.mean()
    one = Bar(1, "tidal volume, rate, minute volume")
    one.add("tidal_ml", 1e3 * tidal, 400, 700)
    one.add("rate_per_min", rate, 10, 18)
    one.add("minute_l", tidal * rate, 5, 8)
    two = Bar(2, "duty and wall against lung")
    two.add("ti_over_ttot", (calm["flow_lps"] > 0).mean(), 0.35, 0.45)
    wall = swing(calm, "ribcage_volume_l") + swing(calm, "abdomen_volume_l")
    two.add("wall_over_lung", wall / swing(calm, "lung_volume_l"), 0.95, 1.05)
    four = Bar(4, "share of the rib cage")
    upright, flat = share(calm, "ribcage_volume_l"), share(lying, "ribcage_volume_l")
    _, low, top = vital(runs["vital-capacity"])
    slow = runs["vital-capacity"].s
    whole = 100.0 * (slow["ribcage_volume_l"][top] - slow["ribcage_volume_l"][low])
    whole /= slow["lung_volume_l"][top] - slow["lung_volume_l"][low]
    four.add("upright_pct", upright, 50, 80)
    four.add("supine_less_upright_points", flat - upright, -45, -10)
    four.add("vital_capacity_less_quiet_points", whole - upright, 3, 20)
    five = Bar(5, "compartments lying")
    five.add("abdomen_pct", share(lying, "abdomen_volume_l"), 52, 75)
    five.add("pulmonary_ribcage_pct", share(lying, "ribcage_pulmonary_volume_l"), 14, 33)
    five.add("abdominal_ribcage_pct", share(lying, "ribcage_abdominal_volume_l"), 10, 17)
    sides = share(lying, "ribcage_right_volume_l") - share(lying, "ribcage_left_volume_l")
    five.add("right_less_left_pct", abs(sides), 0, 10)
    six = Bar(6, "phase of rib cage and abdomen")
    six.add("quiet_deg", phase(calm), 0, 25)
    six.add("paradox_deg", phase(late(runs["paradox"])), 150, 180)
    seven = Bar(7, "markers of the chest, seated")
    start, end = inspiration(runs["calm"])
    moved = np.mean([1e3 * (marker(runs["calm"], rib, end) - marker(runs["calm"], rib, start)) for rib in (3, 4, 5)], 0)
    seven.add("ventral_mm", moved[0], 2, 6)
    seven.add("cranial_mm", moved[1], 2, 6)
    seven.add("lateral_mm", moved[2], 0.5, 3)
    torso = runs["calm"].torso
    spot = int(np.argmin(((torso.surface.points - torso.landmarks["umbilicus_surface_point"]) ** 2).sum(axis=1)))
    navel = runs["calm"].record.points[end, spot] - runs["calm"].record.points[start, spot]
    seven.add("umbilicus_ventral_part", abs(navel[0]) / np.linalg.norm(navel), 0.85, 1.0)
    eight = Bar(8, "marker travel quiet over deep")
    spots = range(2, 9)
    little = np.mean(
        [np.linalg.norm(marker(runs["calm"], rib, end) - marker(runs["calm"], rib, start)) for rib in spots]
    )
    still, _, full = vital(runs["vital-capacity"])
    much = np.mean([
        np.linalg.norm(marker(runs["vital-capacity"], rib, full) - marker(runs["vital-capacity"], rib, still))
        for rib in spots
    ])  # fmt: skip
    eight.add("ratio", little / much, 0.0, 0.33)
    twelve = Bar(12, "excursion of the right dome")
    dome = slow["diaphragm_height_mm"]
    twelve.add("quiet_cm", 0.1 * np.ptp(calm["diaphragm_height_mm"]), *((0.9, 2.4) if female else (1.0, 2.6)))
    twelve.add("deep_cm", 0.1 * (dome[still] - dome[full]), *((3.6, 7.7) if female else (4.7, 9.2)))
    thirteen = Bar(13, "excursion for volume, lying")
    flat_run = runs["vital-capacity supine"]
    base, _, peak = vital(flat_run)
    part = slice(int(flat_run.s["lung_volume_l"][:peak].argmin()), peak)
    volume, height = flat_run.s["lung_volume_l"][part], flat_run.s["diaphragm_height_mm"][part]
    relaxed = flat_run.s["lung_volume_l"][base]
    room = flat_run.s["lung_volume_l"][peak] - relaxed
    inside = (volume > relaxed + 0.15 * room) & (volume < relaxed + 0.87 * room)
    if inside.sum() > 3:
        thirteen.add("cm_per_l", -0.1 * np.polyfit(volume[inside], height[inside], 1)[0], 1.2, 2.1)
        thirteen.add("r", -np.corrcoef(volume[inside], height[inside])[0, 1], 0.97, 1.0)
    sixteen = Bar(16, "swings of pressure, quiet")
    rest = {name: values[calm["lung_volume_l"].argmin()] for name, values in calm.items()}
    sixteen.add("pleural_cmH2O", calm["pleural_pressure_cmH2O"].min() - rest["pleural_pressure_cmH2O"], -6, -3)
    sixteen.add("gastric_cmH2O", calm["abdominal_pressure_cmH2O"].max() - rest["abdominal_pressure_cmH2O"], 1, 6)
    pdi = "transdiaphragmatic_pressure_cmH2O"
    sixteen.add("transdiaphragmatic_cmH2O", calm[pdi].max() - rest[pdi], 5, 12)
    return [one, two, four, five, six, seven, eight, twelve, thirteen, sixteen]


def lungs(runs: dict[str, Run], predicted: Callable[[str], float]) -> list[Bar]:
    """Bars 3, 9, 10, 11, 14, 15, 17: volumes, circumferences, rib rotations, compliances, resistance."""
    slow, flat = runs["vital-capacity"], runs["vital-capacity supine"]
    still, low, top = vital(slow)
    volume = slow.s["lung_volume_l"]
    rest = float(runs["rest"].s["lung_volume_l"][-1])
    three = Bar(3, "static volumes against GLI-2021")
    for name, value in (("TLC", volume[top]), ("FRC", rest), ("RV", volume[low])):
        three.add(f"{name.lower()}_over_predicted", value / predicted(name), 0.8, 1.2)
    three.add("frc_over_tlc", rest / volume[top], 0.42, 0.55)
    nine = Bar(9, "circumferences, greatest expiration to inspiration")
    nine.add("upper_cm", 0.1 * np.ptp(slow.s["chest_circumference_upper_mm"][: top + 1]), 3, 8)
    nine.add("lower_cm", 0.1 * np.ptp(slow.s["chest_circumference_lower_mm"][: top + 1]), 3.5, 9)
    ten = Bar(10, "rib rotations from FRC to TLC, lying")
    begun, _, peak = vital(flat)
    turns = {rib: turned(flat.s, rib, begun, peak) for rib in range(1, 11)}
    size = {rib: float(np.hypot(*turn)) for rib, turn in turns.items()}
    for rib, pump, bucket in ((3, 11, 13), (7, 7, 10)):
        ten.add(f"rib{rib}_pump_deg", turns[rib][0], pump - 4, pump + 4)
        ten.add(f"rib{rib}_bucket_deg", turns[rib][1], bucket - 4, bucket + 4)
    ten.true("falls_from_3_to_7", all(size[rib] >= size[rib + 1] for rib in range(3, 7)))
    axes = [np.degrees(np.arctan2(abs(turns[rib][0]), abs(turns[rib][1]))) for rib in range(3, 8)]
    ten.add("axis_to_midplane_deg", float(np.mean(axes)), 23, 47)
    eleven = Bar(11, "more rotation in the first half of the inspiratory capacity")
    half = still + int(np.argmax(volume[low:top] > 0.5 * (volume[still] + volume[top]))) + low - still
    start = low + int(np.argmax(volume[low:top] > volume[still]))
    first = np.mean([np.hypot(*turned(slow.s, rib, start, half)) for rib in range(2, 9)])
    second = np.mean([np.hypot(*turned(slow.s, rib, half, top)) for rib in range(2, 9)])
    eleven.add("first_over_second", float(first / max(second, 1e-9)), 1.2, 10)
    spread = [
        float(np.hypot(*turned(slow.s, rib, still, top))) for rib in range(1, 11)
    ]  # from the relaxed chest (Beyer 2016)
    eleven.true("falls_from_1_to_10", all(a >= b for a, b in pairwise(spread)))
    fourteen = Bar(14, "compliances, relaxed")
    curve = runs["relaxed-curve"].s
    near = (curve["lung_volume_l"] > rest) & (curve["lung_volume_l"] < rest + 0.6)
    near &= np.abs(np.gradient(curve["lung_volume_l"], curve["time_s"])) > 1e-3
    near &= curve["time_s"] > 0.3 * curve["time_s"][-1]
    if near.sum() > 3:
        gas = curve["lung_volume_l"][near]
        whole = np.polyfit(gas, curve["lung_pressure_cmH2O"][near], 1)[0]
        wall = np.polyfit(gas, curve["pleural_pressure_cmH2O"][near], 1)[0]
        lung = np.polyfit(gas, (curve["lung_pressure_cmH2O"] - curve["pleural_pressure_cmH2O"])[near], 1)[0]
        fourteen.add("lung_l_per_cmH2O", 1 / lung, 0.15, 0.30)
        fourteen.add("chest_wall_l_per_cmH2O", 1 / wall, 0.15, 0.30)
        fourteen.add("both_l_per_cmH2O", 1 / whole, 0.08, 0.13)
        fourteen.add("series_law", whole / (lung + wall), 0.97, 1.03)
    fifteen = Bar(15, "recoil at relaxation")
    end = {name: float(values[-1]) for name, values in runs["rest"].s.items()}
    fifteen.add("recoil_cmH2O", end["lung_pressure_cmH2O"] - end["pleural_pressure_cmH2O"], 1.5, 6)
    fifteen.add("both_cmH2O", end["lung_pressure_cmH2O"], -0.5, 0.5)
    seventeen = Bar(17, "airway resistance")
    mouth, nose = (resistance(late(runs[name])) for name in ("deep", "deep nose"))
    seventeen.add("mouth_cmH2O_s_per_l", mouth, 1.0, 2.0)
    seventeen.add("nasal_share", 1.0 - mouth / nose, 0.5, 0.75)
    return [three, nine, ten, eleven, fourteen, fifteen, seventeen]


def resistance(signals: dict[str, Floats]) -> float:
    """Alveolar pressure over flow [cmH2O s/l] at 0.5 l/s, in inspiration."""
    near = np.abs(signals["flow_lps"] - 0.5) < 0.1
    if not near.any():
        return float("nan")
    return float(np.median(-signals["lung_pressure_cmH2O"][near] / signals["flow_lps"][near]))


def efforts(runs: dict[str, Run], female: bool) -> list[Bar]:
    """Bars 18 to 24: styles and greatest efforts."""
    belly = late(runs["abdominal"])
    eighteen = Bar(18, "abdominal breath with a still sternum")
    front, navel = np.ptp(belly["sternum_ap_mm"]), np.ptp(belly["umbilicus_ap_mm"])
    eighteen.add("sternum_mm", front, 0, 2)
    eighteen.add("sternum_over_navel", front / navel, 0, 0.15)
    eighteen.add("navel_mm", navel, 8, 100)
    alone = late(runs["diaphragm-only"])
    nineteen = Bar(19, "diaphragm alone")
    nineteen.true("pleural_falls", swing(alone, "pleural_pressure_cmH2O") < 0)
    nineteen.true("gastric_rises", swing(alone, "abdominal_pressure_cmH2O") > 0)
    nineteen.true("belly_out", swing(alone, "umbilicus_ap_mm") > 0)
    upper = [swing(alone, f"rib{rib}_{kind}_deg") for rib in (2, 3) for kind in ("pump", "bucket")]
    nineteen.true("upper_ribs_not_out", np.mean(upper) <= 0.1)
    _, calm = breaths(runs["calm"].s, SETTLED)
    _, less = breaths(runs["paradox"].s, SETTLED)
    odd = late(runs["paradox"])
    twenty = Bar(20, "paradox")
    twenty.add("volume_ratio", less.mean() / calm.mean(), 0.4, 0.6)
    twenty.true("belly_inward", np.polyfit(odd["lung_volume_l"], odd["umbilicus_ap_mm"], 1)[0] < 0)
    strongest = bursting(runs["max-effort"].s, runs["max-effort"].control)
    one = Bar(21, "greatest transdiaphragmatic pressure")
    rest = float(runs["rest"].s["transdiaphragmatic_pressure_cmH2O"][-1])
    one.add("pdi_cmH2O", strongest["pdi_peak_cmH2O"] - rest, 120, 220)
    low, high = (runs[name].s["transdiaphragmatic_pressure_cmH2O"].max() - rest for name in ("sniff-low", "sniff-high"))
    one.add("sniff_near_tlc_over_rv", high / low, 0.30, 0.55)
    cough = bursting(runs["cough"].s, runs["cough"].control)
    two = Bar(22, "cough")
    two.add("compression_s", cough["shut_s"], 0.1, 0.35)
    two.add("gastric_cmH2O", cough["abdominal_peak_cmH2O"], *((95, 235) if female else (130, 300)))
    two.add("peak_flow_lps", cough["peak_flow_lps"], 5, 11)
    two.true("flow_before_pressure", cough["flow_before_abdominal_peak_s"] > 0)
    laugh = laughing({**runs["laugh"].s, "sternum_tilt_deg": runs["laugh"].s["sternum_ap_mm"]}, runs["laugh"].control)
    three = Bar(23, "laughter")
    three.add("rate_hz", laugh["beat_hz"], 3.5, 5.7)
    three.add("fall_l", laugh["volume_fall_l"], 1.15, 1.95)
    three.add("seconds", laugh["bout_s"], 1.5, 6)
    pdi = runs["laugh"].s["transdiaphragmatic_pressure_cmH2O"]
    three.add("gastric_less_pleural_cmH2O", laugh["pga_less_pes_cmH2O"] - float(pdi[0]), 20, 34)
    forced = spirometry(runs["forced-expiration"].s)
    half = 0.5 * (
        runs["forced-expiration"].s["lung_volume_l"].max() + runs["forced-expiration"].s["lung_volume_l"].min()
    )
    four = Bar(24, "forced expiration")
    four.add("fev1_over_fvc", forced["fev1_part"], 0.75, 0.88)
    four.add("fef50_over_fvc_per_s", forced["fef50_per_s"], 0.59, 1.26)
    flows = [flow_at_half(runs[name].s, half) for name in ("forced-expiration", "forced-expiration gentler")]
    four.add("flow_change_with_effort_pct", 100 * abs(flows[0] / flows[1] - 1), 0, 10)
    return [eighteen, nineteen, twenty, one, two, three, four]


def flow_at_half(signals: dict[str, Floats], half: float) -> float:
    """Flow out [l/s] where the gas in the lung falls through a volume [l]: efforts are compared at one lung volume, since the
    harder one also squeezes the gas (isovolume pressure-flow curves: physiology survey section 4.3)."""
    volume = signals["lung_volume_l"]
    top = int(volume.argmax())
    return float(-signals["flow_lps"][top + int(np.argmax(volume[top:] < half))])


def geometry(torso: Torso, reference: dict[int, float]) -> Bar:
    """Bar 25: arcs [mm] of the right ribs' centre lines, from the rings of their meshes."""
    bar = Bar(25, "length of ribs")
    arcs, spans = {}, {}
    for rib in range(2, 11):
        mesh = torso.bodies.meshes[torso.bodies.index(f"rib{rib}_r")].vertices
        rings = mesh[: len(mesh) // RING * RING].reshape(-1, RING, 3).mean(axis=1)
        step = np.linalg.norm(np.diff(rings, axis=0), axis=1)
        arcs[rib] = 1e3 * float(step[step < 0.05].sum())
        spans[rib] = 1e3 * float(np.linalg.norm(rings[-1] - rings[0]))
        bar.add(f"rib{rib}_over_published", arcs[rib] / reference[rib], 0.88, 1.12)
    bar.add("longest_arc", max(arcs, key=arcs.__getitem__), 5, 7)
    bar.add("longest_span", max(spans, key=spans.__getitem__), 7, 8)
    return bar


RING: Final = 10
"""Vertices round a rib's section."""


def table(bars: list[Bar]) -> list[dict[str, Any]]:
    """Bars as plain values."""
    return [
        {"bar": bar.number, "name": bar.name, "pass": bar.passed,
         "measured": {name: round(value, 4) if np.isfinite(value) else None for name, value in bar.measured.items()},
         "range": {name: list(limits) for name, limits in bar.ranges.items()}}
        for bar in sorted(bars, key=lambda bar: bar.number)
    ]  # fmt: skip
