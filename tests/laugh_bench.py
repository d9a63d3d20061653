"""How closely the torso laughs recorded laughs: a table over real clips, for developers; measured from outside.

    python tests/laugh_bench.py FOLDER [EVERY]

For every clip (or every EVERY-th) of FOLDER a torso follows it, and its signals are written as a take's. Then, from the clip
and signals.csv alone: bouts are where the target is positive; `correlation` is that of lung_pressure_cmH2O with the rectified
sound after a fixed first-order Butterworth low-pass of 10 Hz, `prompt` the same with that filter run both ways, `error` the
rms difference from target_pressure_cmH2O over its rms.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile
from scipy import signal


def measured(clip: Path, table: Path) -> tuple[float, float, float]:
    """Correlation, prompt correlation and error, from files."""
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    column = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    instants, pressure, target = (column[name] for name in ("time_s", "lung_pressure_cmH2O", "target_pressure_cmH2O"))
    samples, rate = soundfile.read(clip, always_2d=True)
    rectified = np.abs(samples.mean(axis=1))
    numerator, denominator = signal.butter(1, 10.0, fs=rate)
    clock = np.arange(len(rectified)) / rate
    inside = target > 0.0
    shapes = (
        signal.lfilter(numerator, denominator, rectified),
        signal.filtfilt(numerator, denominator, rectified),
    )
    causal, prompt = (
        float(np.corrcoef(np.interp(instants, clock, shape)[inside], pressure[inside])[0, 1]) for shape in shapes
    )
    error = np.sqrt(np.sum((pressure - target)[inside] ** 2) / np.sum(target[inside] ** 2))
    return causal, prompt, float(error)


def main(arguments: list[str]) -> None:
    from risorius.app.clock import Clock
    from risorius.app.follow import followed_of, subject_of
    from risorius.app.laugh import clip_of, heard_in, opening_of
    from risorius.control.bind import bind
    from risorius.control.control import Control
    from risorius.core.errors import InputError
    from risorius.core.spec import Spec
    from risorius.inverse.secondary import secondary
    from risorius.inverse.track import track
    from risorius.io.signals import write_signals

    files = sorted(Path(arguments[0]).iterdir())[:: int(arguments[1]) if len(arguments) > 1 else 1]
    model, simulation = subject_of(Spec(), "upright", "mouth", Clock(), None)
    print(f"{'':28}{'correlation':>12}{'prompt':>8}{'error':>8}{'processor/length':>18}", flush=True)
    table = []
    for clip in files:
        begun = time.process_time()
        try:
            found = heard_in(clip, clip_of(clip))
        except InputError as error:
            print(f"{clip.name:28} {error}")
            continue
        if found.kind != "laugh":
            print(f"{clip.name:28}   taken for {found.kind}")
            continue
        bend = bind(Control(secondary(found.kind, found.target), found.seconds), model).bend
        motion, _, _ = track(simulation.copy(), found.target.at, opening_of(found), found.seconds, 50.0, bend=bend)
        followed = followed_of(model, motion, found.target.at, Control((), found.seconds), Clock())
        spent = (time.process_time() - begun) / found.seconds
        with tempfile.TemporaryDirectory() as folder:
            write_signals(Path(folder) / "signals.csv", followed.record.signals)
            row = (*measured(clip, Path(folder) / "signals.csv"), spent)
        table.append(row)
        print(f"{clip.name:28}{row[0]:12.3f}{row[1]:8.3f}{row[2]:8.3f}{row[3]:18.2f}", flush=True)
    numbers = np.array(table)
    for name, values in (("median", np.median(numbers, axis=0)), ("tenth from below", np.quantile(numbers, 0.1, axis=0)),
                         ("least", numbers.min(axis=0)), ("greatest", numbers.max(axis=0))):  # fmt: skip
        print(f"{name:28}{values[0]:12.3f}{values[1]:8.3f}{values[2]:8.3f}{values[3]:18.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
