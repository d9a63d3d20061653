"""A torso that follows sound as it comes: the ear, the follower, and what gives when the machine cannot keep up.

Time is the stream's: sample n stands for the moment n / rate. Every tick that the body has taken is compared with the moment
at which its sound was in the air; the difference is the latency. What has come while the body was busy is taken in longer
steps (two or four ticks at once); of more than `BACKLOG` ticks the oldest are left out: the body stands still for so long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.units import CMH2O
from risorius.inverse.sound.live import LiveEar
from risorius.inverse.sound.tables import pressures
from risorius.inverse.sound.target import RATE
from risorius.inverse.track import Follower
from risorius.sim.run import Simulation
from risorius.sim.system import ALVEOLAR_PRESSURE

Floats = NDArray[np.float64]

TICK: Final = 1.0 / RATE
"""The ear gives a pressure, and the body takes a step, so often [s]."""
BACKLOG: Final = 10
"""Most ticks that are made up for: 50 ms of sound, in three steps."""
GLOTTIS: Final = 0.03
"""The glottis opens and shuts in 20 to 40 ms [s] (physiology survey section 4.2)."""
BREATHED: Final = -0.05
"""Pressure [cmH2O] below which air is drawn in, through a wide glottis."""
KEPT: Final = 200_000
"""Latest latencies that are kept."""


class LiveBody:
    """Hears blocks of sound and moves a torso.

    Args:
        simulation: moves on.
        rate: of the sound [Hz].
        clock: seconds since the stream began, as the sound is in the air.
    """

    def __init__(
        self, simulation: Simulation, rate: float, clock: Callable[[], float], *, intensity: float = 1.0
    ) -> None:
        self.simulation, self.clock = simulation, clock
        self.ear = LiveEar(rate, intensity)
        self.follower = Follower(simulation, TICK)
        self.slit = pressures()["laugh"]["opening"]
        self.opening = np.ones(1)
        self.wanted = 0.0
        self.time = 0.0
        self.latencies: list[float] = []
        self.left_out = 0
        self.hurried = 0

    @property
    def pressure(self) -> float:
        """In the lung, now [cmH2O]."""
        return float(self.simulation.room.work.scalar[ALVEOLAR_PRESSURE]) / CMH2O

    def hear(self, block: Floats) -> None:
        """Move on by all samples of the stream that have come since."""
        times, wanted = self.ear.hear(block)
        k = max(0, len(times) - BACKLOG)
        self.left_out += k
        while k < len(times):
            left = len(times) - k
            many = 1 if left <= 2 else 2 if left <= 4 else 4
            self.step(float(wanted[k : k + many].mean()), many)
            self.time = float(times[k + many - 1])
            self.hurried += many if many > 1 else 0
            done = self.clock()
            self.latencies.extend(done - float(moment) for moment in times[k : k + many])
            k += many
        del self.latencies[:-KEPT]

    def step(self, wanted: float, ticks: int) -> None:
        """So many ticks at once towards a pressure [cmH2O]."""
        length = ticks * TICK
        if self.follower.tick != length:
            self.follower.change_tick(length)
        aim = self.slit if wanted > 0.0 or (wanted > BREATHED and self.opening[0] < 0.5 * (1.0 + self.slit)) else 1.0
        most = length / GLOTTIS * (1.0 - self.slit)
        self.opening[0] += np.clip(aim - self.opening[0], -most, most)
        self.wanted = wanted
        self.follower.advance(wanted, self.opening)

    def report(self) -> dict[str, float]:
        """Latency from sound to pose [ms], and what could not be kept up with."""
        found = 1e3 * np.array(self.latencies) if self.latencies else np.zeros(1)
        heard = self.ear.ticks
        return {
            "ticks": heard,
            "latency_median_ms": round(float(np.median(found)), 1),
            "latency_95_ms": round(float(np.percentile(found, 95)), 1),
            "latency_99_ms": round(float(np.percentile(found, 99)), 1),
            "latency_worst_ms": round(float(found.max()), 1),
            "within_100_ms_pct": round(100.0 * float((found < 100.0).sum()) / max(heard, 1), 2),
            "hurried_pct": round(100.0 * self.hurried / max(heard, 1), 2),
            "left_out_pct": round(100.0 * self.left_out / max(heard, 1), 2),
        }
