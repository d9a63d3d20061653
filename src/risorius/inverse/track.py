"""One knob: a torso that follows a curve of lung pressure in one forward pass (DiLorenzo 2009, ch. 9).

A signed command c in −1…1 drives expiratory groups with max(c, 0) and inspiratory ones with max(−c, 0). Every tick a
probe, a copy of the torso, goes one implicit step of the look-ahead with c held, and a second one with the command c₁ that
the last gain g suggests; the secant of the lung pressures P, P₁ at their ends renews the gain, and

    c₁ = c + g (P_target − P) / (g² + λ²),  g ← (P₁ − P) / (c₁ − c),  c ← c₁ + g (P_target − P₁) / (g² + λ²),

with the target at t + look-ahead, within the command's range and largest rate: a regularised secant search that goes on
from tick to tick. Pressure that the probes mispredict is taken off the next error.
"""

from __future__ import annotations

from collections import deque
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
        nudge: least c₁ − c.
        caution: λ [cmH2O for a full command].
        rate: greatest change of the command [1/s]; a muscle's own activation is no faster.
        trust: part of the last misprediction that is taken off.
    """

    expiratory: Mapping[str, float] = field(default_factory=lambda: EXPIRATORY)
    inspiratory: Mapping[str, float] = field(default_factory=lambda: INSPIRATORY)
    ahead: float = 0.01
    nudge: float = 0.01
    caution: float = 3.0
    rate: float = 80.0
    trust: float = 0.5


def shares(groups: tuple[str, ...], by_name: Mapping[str, float]) -> Floats:
    """Shares (groups) of a command."""
    return np.array([by_name.get(group, 0.0) for group in groups])


class Follower:
    """A torso that follows a pressure tick by tick; it needs to know the pressure wanted one look-ahead from now.

    Args:
        simulation: moves on with every tick.
        tick: [s].
    """

    def __init__(self, simulation: Simulation, tick: float, tracker: Tracker | None = None) -> None:
        self.simulation, self.tracker = simulation, tracker or Tracker()
        self.probe = simulation.copy()
        groups = simulation.model.torso.groups
        self.push, self.pull = shares(groups, self.tracker.expiratory), shares(groups, self.tracker.inspiratory)
        self.command, self.gain, self.bias = 0.0, 0.0, 0.0
        self.change_tick(tick)

    def change_tick(self, tick: float) -> None:
        """Go on in ticks of another length [s]."""
        self.tick = tick
        self.foreseen: deque[float] = deque(maxlen=max(1, round(self.tracker.ahead / tick)))

    def excitation(self, command: float, besides: Floats | None = None) -> Floats:
        """(1, groups) for a command and what is driven besides."""
        driven = (max(command, 0.0) * self.push + max(-command, 0.0) * self.pull)[None, :]
        return driven if besides is None else np.minimum(driven + besides, 1.0)

    def foresee(self, command: float, opening: Floats, bend: Floats | None, besides: Floats | None) -> float:
        """Lung pressure [Pa] one look-ahead from now if a command is held."""
        for copied, now in zip(self.probe.state, self.simulation.state):
            copied[...] = now
        self.probe.state.clock[1] = 0.0
        self.probe.advance(self.excitation(command, besides), opening, self.tracker.ahead, bend)
        return float(self.probe.room.work.scalar[ALVEOLAR_PRESSURE])

    def advance(
        self, wanted: float, opening: Floats, bend: Floats | None = None, besides: Floats | None = None
    ) -> float:
        """One tick towards a pressure; returns the command.

        Args:
            wanted: [cmH2O] one look-ahead from now.
            opening: (1) of the glottis.
            bend: (1, dofs) [rad] asked of the joints.
            besides: (1, groups) excitation that something else adds.
        """
        tracker = self.tracker
        largest, caution = tracker.rate * self.tick, tracker.caution * CMH2O
        low, high = max(self.command - largest, -1.0), min(self.command + largest, 1.0)
        goal = CMH2O * wanted - self.bias
        first = self.foresee(self.command, opening, bend, besides)
        guess = self.command + self.gain * (goal - first) / (self.gain**2 + caution**2)
        guess = min(max(guess, low), high)
        if abs(guess - self.command) < tracker.nudge:
            guess = self.command + (tracker.nudge if self.command + tracker.nudge < high else -tracker.nudge)
        second = self.foresee(guess, opening, bend, besides)
        self.gain = (second - first) / (guess - self.command)
        command = guess + self.gain * (goal - second) / (self.gain**2 + caution**2)
        self.command = min(max(command, low), high)
        self.foreseen.append(second + self.gain * (self.command - guess))
        self.simulation.advance(self.excitation(self.command, besides), opening, self.tick, bend)
        if len(self.foreseen) == self.foreseen.maxlen:  # the oldest was made for now
            missed = float(self.simulation.room.work.scalar[ALVEOLAR_PRESSURE]) - self.foreseen[0]
            self.bias += tracker.trust * self.tick / tracker.ahead * (missed - self.bias)
        return self.command


def track(
    simulation: Simulation,
    target: Callable[[Floats], Floats],
    opening: Callable[[Floats], Floats],
    seconds: float,
    frame_rate: float,
    tracker: Tracker | None = None,
    progress: Callable[[float], None] | None = None,
    bend: Callable[[Floats], Floats] | None = None,
) -> tuple[Motion, Floats, Floats]:
    """Follow target(times) [cmH2O] for `seconds`; returns the motion, and the times and commands of every tick.

    Args:
        opening: of the glottis at times.
        bend: (n, dofs) [rad] asked of the joints at times.
    """
    per_frame = max(1, round(1.0 / (frame_rate * STEP)))
    tick = 1.0 / (frame_rate * per_frame)
    frames = round(seconds * frame_rate) + 1
    motion = simulation.blank(frames)
    follower = Follower(simulation, tick, tracker)
    times = np.asarray((np.arange((frames - 1) * per_frame) + 0.5) * tick, dtype=np.float64)
    wanted = np.asarray(target(times + follower.tracker.ahead - 0.5 * tick), dtype=np.float64)
    opened = np.asarray(opening(times), dtype=np.float64)
    rows = bend(times) if bend is not None else np.zeros((0, 0))
    commands = np.zeros(len(times))
    simulation.drive.opening[:] = opened[:1]
    simulation.look()
    simulation.note(motion, 0, 0.0)
    for k in range(len(times)):
        row = rows[k : k + 1] if len(rows) else None
        commands[k] = follower.advance(float(wanted[k]), opened[k : k + 1], row)
        if (k + 1) % per_frame == 0:
            frame = (k + 1) // per_frame
            simulation.note(motion, frame, frame / frame_rate)
            if progress is not None:
                progress(frame / (frames - 1))
    motion.step = tick
    return motion, times, commands
