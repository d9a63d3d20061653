"""What each style measures: the figures of a run that the bars of breathing, laughing and coughing are about.

Everything is read off the columns of `signals.csv`, as a laboratory would; `risorius lab styles` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.control.behaviours import Knobs, behaviour, lasting, names, scores, styles
from risorius.control.control import Control
from risorius.core.spec import Spec
from risorius.maths.rotations import matrices
from risorius.maths.signals import low_pass

Floats = NDArray[np.float64]
Signals = dict[str, Floats]
FRAME_RATE = 100.0
"""Frames a second: peaks of a cough's flow last 30 ms."""
BREATHING = 30.0
"""Seconds of breathing that a style is measured over."""


def breaths(signals: Signals, after: float) -> tuple[Floats, Floats]:
    """Times [s] at which breaths are half in, and the volumes [l] of whole ones, after some seconds of settling."""
    time, volume = signals["time_s"], signals["lung_volume_l"]
    rate = 1.0 / (time[1] - time[0])
    smooth = low_pass(volume, rate, 4.0, both_ways=True)
    late = time >= after
    middle = 0.5 * (smooth[late].max() + smooth[late].min())
    room = 0.25 * np.ptp(smooth[late])
    starts: list[float] = []
    depth: list[float] = []
    low, high = -1, int(np.argmax(late))
    rising = bool(smooth[high] > middle - room)
    for k in np.flatnonzero(late).tolist():
        if rising:
            high = k if smooth[k] > smooth[high] else high
            if smooth[k] < middle - room:
                depth.append(volume[high] - volume[low] if low >= 0 else np.nan)
                rising, low = False, k
        elif smooth[k] > middle + room:
            starts.append(time[k])
            rising, high = True, k
        elif low >= 0:
            low = k if smooth[k] < smooth[low] else low
    found = np.array(depth)
    return np.array(starts), found[np.isfinite(found)]


def breathing(signals: Signals) -> dict[str, float]:
    """Rate, tidal and minute volume, what moves where."""
    starts, depth = breaths(signals, 6.0)
    settled = signals["time_s"] >= 6.0
    late = {name: values[settled] for name, values in signals.items()}
    volume = late["lung_volume_l"]
    gap = float(np.diff(starts).mean()) if len(starts) > 1 else np.nan
    tidal = float(depth.mean()) if len(depth) else np.nan
    slope = np.polyfit(volume, late["umbilicus_ap_mm"], 1)[0]
    return {
        "rate_per_min": 60.0 / gap,
        "tidal_l": tidal,
        "minute_l": tidal * 60.0 / gap,
        "lowest_l": float(volume.min()),
        "highest_l": float(volume.max()),
        "ribcage_share": float(np.polyfit(volume, late["ribcage_volume_l"], 1)[0]),
        "sternum_ap_mm": float(np.ptp(late["sternum_ap_mm"])),
        "umbilicus_ap_mm": float(np.ptp(late["umbilicus_ap_mm"])),
        "umbilicus_mm_per_l": float(slope),
        "dome_mm": float(np.ptp(late["diaphragm_height_mm"])),
        "pleural_swing_cmH2O": float(np.ptp(late["pleural_pressure_cmH2O"])),
        "abdominal_swing_cmH2O": float(np.ptp(late["abdominal_pressure_cmH2O"])),
    }


def laughing(signals: Signals, control: Control) -> dict[str, float]:
    """Beat of the lung pressure, its size, fall of volume, tilt of the sternum, over the first bout."""
    time = signals["time_s"]
    valve = control.glottis(time)
    bout = (valve < 0.99) & (time < time[np.flatnonzero(valve < 0.99)[0] :][0] + 20.0)
    ends = np.flatnonzero(np.diff(bout.astype(int)) == -1)
    if len(ends):
        bout &= np.arange(len(time)) <= ends[0]
    pressure = signals["lung_pressure_cmH2O"][bout]
    rate = 1.0 / (time[1] - time[0])
    power = np.abs(np.fft.rfft((pressure - pressure.mean()) * np.hanning(len(pressure)), 8192)) ** 2
    frequency = np.fft.rfftfreq(8192, 1.0 / rate)
    band = (frequency > 2.0) & (frequency < 12.0)
    volume = signals["lung_volume_l"]
    before = volume[np.flatnonzero(bout)[0]]
    return {
        "beat_hz": float(frequency[band][np.argmax(power[band])]),
        "pressure_peak_cmH2O": float(pressure.max()),
        "pressure_beat_cmH2O": float(2.83 * np.std(pressure - low_pass(pressure, rate, 2.5, both_ways=True))),
        "volume_fall_l": float(before - volume[bout].min()),
        "bout_s": float(bout.sum() / rate),
        "flow_peak_lps": float(-signals["flow_lps"][bout].min()),
        "abdominal_peak_cmH2O": float(signals["abdominal_pressure_cmH2O"][bout].max()),
        "pga_less_pes_cmH2O": float(
            np.percentile((signals["abdominal_pressure_cmH2O"] - signals["pleural_pressure_cmH2O"])[bout], 98)
        ),
        "umbilicus_mm": float(np.ptp(signals["umbilicus_ap_mm"][bout])),
        "sternum_mm": float(np.ptp(signals["sternum_ap_mm"][bout])),
"sternum_tilt_deg": float(np.ptp(signals["sternum_tilt_deg"][bout])),
    }  # fmt: skip


def bursting(signals: Signals, control: Control) -> dict[str, Any]:
    """A cough, a sneeze, a forced breath: shut glottis, peak flow, peak pressures and their order."""
    time, flow = signals["time_s"], signals["flow_lps"]
    shut = control.glottis(time) < 0.05
    pressure, abdomen = signals["lung_pressure_cmH2O"], signals["abdominal_pressure_cmH2O"]
    ends = np.flatnonzero(np.diff(shut.astype(int)) == -1)
    first = ends[-1] if len(ends) else 0
    strongest = int(np.argmin(flow))
    if len(ends):
        first = int(max((e for e in ends if e <= strongest), default=ends[0]))
    begun = first
    while begun > 0 and shut[begun]:
        begun -= 1
    window = slice(begun, min(first + 60, len(time)))
    volume = signals["lung_volume_l"]
    return {
        "shut_s": float(time[first] - time[begun]),
        "peak_flow_lps": float(-flow.min()),
        "peak_flow_after_opening_s": float(time[strongest] - time[first]),
        "lung_peak_cmH2O": float(pressure[window].max()),
        "abdominal_peak_cmH2O": float(abdomen[window].max()),
        "flow_before_abdominal_peak_s": float(time[window][np.argmax(abdomen[window])] - time[strongest]),
        "inspired_l": float(volume.max() - volume[0]),
        "lowest_l": float(volume.min()),
        "highest_l": float(volume.max()),
        "pleural_least_cmH2O": float(signals["pleural_pressure_cmH2O"].min()),
        "pdi_peak_cmH2O": float(signals["transdiaphragmatic_pressure_cmH2O"].max()),
    }


def spirometry(signals: Signals) -> dict[str, float]:
    """FEV1, FVC, peak and mid flow of a forced expiration."""
    time, volume, flow = signals["time_s"], signals["lung_volume_l"], signals["flow_lps"]
    top = int(np.argmax(volume))
    out = np.cumsum(np.maximum(-flow[top:], 0.0)) * (time[1] - time[0])
    vital = out[-1]
    second = np.interp(1.0, time[top:] - time[top + int(np.argmax(out > 0.01 * vital))], out)
    half = np.interp(0.5 * vital, out, -flow[top:])
    return {
        "fvc_l": float(vital),
        "fev1_part": float(second / vital),
        "fef50_per_s": float(half / vital),
        "peak_flow_lps": float(-flow.min()),
    }


def figures(name: str, signals: Signals, control: Control) -> dict[str, Any]:
    """The figures that a style is judged by."""
    style = styles().get(name, {})
    if "call_rate" in style:
        return laughing(signals, control)
    if name == "forced-expiration":
        return spirometry(signals)
    if name in scores():
        return bursting(signals, control)
    return breathing(signals)


def measured_styles(
    chosen: Sequence[str] = (),
    spec: Spec | None = None,
    posture: str = "upright",
    progress: Callable[[str, float], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run styles on one subject and measure them."""
    from risorius.anatomy import build
    from risorius.control.bind import bind
    from risorius.sim.run import Simulation
    from risorius.sim.signals import record_of

    spec = spec or Spec()
    model = build(spec)
    ready = Simulation.of(model, posture)
    wanted = chosen or [name for name in names() if name not in ("rest", "relaxed-curve")]
    found = {}
    for number, name in enumerate(wanted):
        if progress is not None:
            progress(name, number / len(wanted))
        control = behaviour(name, min(lasting(name), BREATHING), posture, knobs=Knobs(), sex=spec.sex)
        motion = ready.copy().perform(bind(control, model), FRAME_RATE)
        record = record_of(model, motion)
        forward = matrices(record.rotation[:, model.torso.bodies.index("sternum")])
        tilt = np.degrees(np.arctan2(forward[:, 1, 0], forward[:, 0, 0]))
        measured = figures(name, {**record.signals, "sternum_tilt_deg": tilt}, control)
        found[name] = {key: value if np.isfinite(value) else None for key, value in measured.items()}
    return found
