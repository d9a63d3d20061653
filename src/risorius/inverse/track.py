"""One knob: a torso that follows a curve of lung pressure in one forward pass (DiLorenzo 2009, ch. 9).

A signed command c in −1…1 drives expiratory groups with max(c, 0) and inspiratory ones with max(−c, 0). Every tick two
probes, copies of the torso, go one implicit step of the look-ahead with c held and with c + δ; the secant of their lung
pressures at its end gives the gain g, and

    c ← c + g e / (g² + λ²),  e = P_target(t + look-ahead) − P_probe,

within the command's range and largest rate. Pressure that the probes mispredict is taken off the next error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.units import CMH2O
from risorius.sim.run import STEP, Motion, Simulation
from risorius.sim.system import ALVEOLAR_PRESSURE

Floats = NDArray[np.float64]

EXPIRATORY: Final = {
    "rectus_upper": 0.6, "rectus_middle": 0.6, "rectus_lower": 0.8, "oblique": 1.0, "transversus": 1.0,
    "intercostal_internal": 0.8, "triangularis": 0.8,
}  # fmt: skip
"""Shares of the command: lateral wall before rectus (Hoit 1988; Abe 1996)."""
INSPIRATORY: Final = {
    "diaphragm": 0.6, "intercostal_external": 0.8, "parasternal": 1.0, "scalene": 1.0, "levator_costae": 0.8,
}  # fmt: skip


@dataclass(frozen=True)
class Tracker:
    """How to follow.

    Args:
        expiratory, inspiratory: group -> share of the command.
        ahead: look-ahead [s].
        nudge: δ of the secant.
        caution: λ [cmH2O for a full command].
        rate: greatest change of the command [1/s]; a muscle's own activation is no faster.
        trust: part of the last misprediction that is taken off.
    """

    expiratory: Mapping[str, float] = field(default_factory=lambda: EXPIRATORY)
    inspiratory: Mapping[str, float] = field(default_factory=lambda: INSPIRATORY)
    ahead: float = 0.015
    nudge: float = 0.04
    caution: float = 6.0
    rate: float = 40.0
    trust: float = 0.5


def shares(groups: tuple[str, ...], by_name: Mapping[str, float]) -> Floats:
    """Shares (groups) of a command."""
    return np.array([by_name.get(group, 0.0) for group in groups])


def track(
    simulation: Simulation,
    target: Callable[[Floats], Floats],
    opening: Callable[[Floats], Floats],
    seconds: float,
    frame_rate: float,
    tracker: Tracker | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Motion, Floats, Floats]:
    """Follow target(times) [cmH2O] for `seconds`; returns the motion, and the times and commands of every tick."""
    tracker = tracker or Tracker()
    groups = simulation.model.torso.groups
    push, pull = shares(groups, tracker.expiratory), shares(groups, tracker.inspiratory)
    per_frame = max(1, round(1.0 / (frame_rate * STEP)))
    tick = 1.0 / (frame_rate * per_frame)
    frames = round(seconds * frame_rate) + 1
    motion = simulation.blank(frames)
    probe = simulation.copy()
    times = np.asarray((np.arange((frames - 1) * per_frame) + 0.5) * tick, dtype=np.float64)
    wanted = CMH2O * np.asarray(target(times + tracker.ahead - 0.5 * tick), dtype=np.float64)
    opened = np.asarray(opening(times), dtype=np.float64)
    commands = np.zeros(len(times))

    def excite(command: float) -> Floats:
        return (max(command, 0.0) * push + max(-command, 0.0) * pull)[None, :]

    def foresee(command: float, gate: Floats) -> float:
        for copied, now in zip(probe.state, simulation.state):
            copied[...] = now
        probe.state.clock[1] = 0.0
        probe.advance(excite(command), gate, tracker.ahead)
        return float(probe.room.work.scalar[ALVEOLAR_PRESSURE])

    simulation.drive.opening[:] = opened[:1]
    simulation.look()
    simulation.note(motion, 0, 0.0)
    command, bias = 0.0, 0.0
    late = max(1, round(tracker.ahead / tick))
    foreseen: list[float] = []
    largest = tracker.rate * tick
    for k in range(len(times)):
        gate = opened[k : k + 1]
        first = foresee(command, gate)
        way = tracker.nudge if wanted[k] > first else -tracker.nudge
        gain = (foresee(command + way, gate) - first) / way
        error = wanted[k] - first - bias
        caution = tracker.caution * CMH2O
        change = gain * error / (gain * gain + caution * caution)
        command = float(np.clip(command + np.clip(change, -largest, largest), -1.0, 1.0))
        foreseen.append(first + gain * np.clip(change, -largest, largest))
        commands[k] = command
        simulation.advance(excite(command), gate, tick)
        if k >= late:
            missed = float(simulation.room.work.scalar[ALVEOLAR_PRESSURE]) - foreseen[k - late + 1]
            bias += tracker.trust * tick / tracker.ahead * (missed - bias)
        if (k + 1) % per_frame == 0:
            frame = (k + 1) // per_frame
            simulation.note(motion, frame, frame / frame_rate)
            if progress is not None:
                progress(frame / (frames - 1))
    motion.step = tick
    return motion, times, commands
