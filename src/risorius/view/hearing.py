"""A picture of what was heard: waveform, envelope with calls and bouts, and the pressure to follow."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.hearing import Heard
from risorius.core.sound import Sound
from risorius.io.files import written

Floats = NDArray[np.float64]

COLUMNS: Final = 3000
"""Points that a waveform is drawn with: the least and the greatest sample of each."""
BOUT, CALL, BREATH = "#f4d8c9", "#b3391d", "#3a78a8"


def outline(samples: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
    """Time [s] and least and greatest sample of short stretches: what a drawn waveform shows."""
    size = max(1, len(samples) // COLUMNS)
    count = len(samples) // size
    block = samples[: count * size].reshape(count, size)
    return np.arange(count) * size / rate, block.min(axis=1), block.max(axis=1)


def draw_hearing(path: str | PathLike[str], sound: Sound, found: Heard) -> None:
    """Write the picture as a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = float(np.clip(1.6 * found.seconds, 9.0, 26.0))
    figure = Figure(figsize=(width, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    wave, shape, drive = figure.subplots(3, 1, sharex=True)
    time, low, high = outline(sound.samples, sound.rate)
    wave.fill_between(time, low, high, color="#555555", linewidth=0.0)
    wave.set_ylabel("sound")
    wave.set_title(title(found), loc="left", fontsize=11)
    shape.plot(found.target.time, found.envelope, color="#333333", linewidth=1.0)
    shape.set_ylabel("envelope")
    shape.set_ylim(bottom=0.0)
    for number, bout in enumerate(found.bouts):
        for axes in (wave, shape, drive):
            axes.axvspan(bout.start, bout.end, color=BOUT, zorder=0, label="bout" if number == 0 else None)
    for number, call in enumerate(found.calls if found.bouts else ()):
        shape.axvline(call.peak, color=CALL, linewidth=0.8, label="call" if number == 0 else None)
        for cut in (call.start, call.end):
            shape.axvline(cut, color=CALL, linewidth=0.5, linestyle=":", alpha=0.6)
    for number, breath in enumerate(found.inhalations):
        drive.axvspan(breath.start, breath.end, color=BREATH, alpha=0.2, label="breath in" if number == 0 else None)
    for number, phase in enumerate(found.phases):
        colour = BREATH if phase.inward else CALL
        label = {0: "in" if phase.inward else "out"}.get(number)
        shape.axvspan(phase.start, phase.end, color=colour, alpha=0.18, label=label)
    drive.axhline(0.0, color="#999999", linewidth=0.6)
    drive.plot(found.target.time, found.target.pressure, color=CALL, linewidth=1.2)
    drive.set_ylabel("lung pressure [cmH2O]")
    drive.set_xlabel("time [s]")
    drive.set_xlim(0.0, found.seconds)
    for axes in (shape, drive):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper right", fontsize=8, framealpha=0.9)
    with written(Path(path)) as temporary:
        figure.savefig(temporary, dpi=110, metadata={"Software": None})


def title(found: Heard) -> str:
    """One line of what it is."""
    parts = [found.kind]
    if found.bouts:
        parts.append(f"{len(found.calls)} calls in {len(found.bouts)} bouts")
    if found.call_rate > 0.0:
        parts.append(f"{found.call_rate:.1f} calls a second")
    if found.breathing_rate > 0.0:
        parts.append(f"{found.breathing_rate:.1f} breaths a minute")
    if found.muddy:
        parts.append("muddy: stronger filter")
    return " · ".join(parts)
