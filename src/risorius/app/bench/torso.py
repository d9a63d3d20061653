"""Speed and error of the torso: calm breathing and a cough-like burst, all muscles and two-way lungs included, one core.

Error is the rms difference in lung volume from a run at a step of 0.05 ms, in per cent of the range of that run.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from risorius.sim.run import Simulation

FINE_STEP = 5e-5
"""Step of the reference run [s]."""
FINE_SECONDS = 2.0
"""Length of the runs that are compared with it [s]."""
SECONDS = 20.0
"""Length of the runs that are timed [s]."""
REPEATS = 3
BURST_RATE = 5.0
"""Bursts a second of the cough-like drive; excitation goes on and off as squares, the glottis with it."""
FRAME_RATE = 25.0


def calm(simulation: Simulation) -> tuple[Callable, Callable]:
    """Excitation and glottis of calm breathing."""
    from risorius.control.behaviours import behaviour

    control = behaviour("calm", SECONDS)
    groups = simulation.model.torso.groups
    return lambda times: control.excitation(groups, times), control.glottis


def burst(simulation: Simulation) -> tuple[Callable, Callable]:
    """Abdominal wall and internal intercostals in hard bursts against a glottis that shuts before each."""
    import numpy as np

    groups = simulation.model.torso.groups
    driven = ("rectus_upper", "rectus_middle", "rectus_lower", "oblique", "transversus", "intercostal_internal")
    gain = np.array([0.5 if group in driven else 0.0 for group in groups])

    def excitation(times):
        return ((times * BURST_RATE) % 1.0 < 0.4)[:, None] * gain[None, :]

    def opening(times):
        return ((times * BURST_RATE) % 1.0 > 0.2).astype(float)

    return excitation, opening


def rms_error(simulation: Simulation, drive: tuple[Callable, Callable], h: float) -> float:
    """Error [% of range] at a step against the fine one."""
    import numpy as np

    from risorius.sim.system import ABDOMEN_VOLUME, TRUNK_VOLUME

    volumes = []
    for step in (h, FINE_STEP):
        motion = simulation.copy().run(*drive, FINE_SECONDS, 100.0, step)
        volumes.append(motion.scalar[:, TRUNK_VOLUME] - motion.scalar[:, ABDOMEN_VOLUME])
    coarse, fine = volumes
    return float(100.0 * np.sqrt(np.mean((coarse - fine) ** 2)) / np.ptp(fine))


def measure(progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Microseconds a step, nanoseconds a muscle element, times real time, error, memory."""
    from risorius.anatomy import build
    from risorius.core.spec import Spec
    from risorius.sim.run import STEP, Simulation

    progress("torso", 0.0)
    model = build(Spec())
    simulation = Simulation.of(model)
    elements = len(model.torso.lines.group) + len(model.torso.fibres.group)
    figures: dict[str, Any] = {
        "step_ms": 1e3 * STEP,
        "muscle_elements": elements,
        "free_points": len(simulation.system.points.free),
        "degrees_of_freedom": len(simulation.system.tree.owner),
    }
    for number, (name, drive_of) in enumerate((("calm", calm), ("burst", burst))):
        drive = drive_of(simulation)
        seconds = []
        for repeat in range(REPEATS):
            fresh = simulation.copy()
            start = time.perf_counter()
            fresh.run(*drive, SECONDS, FRAME_RATE)
            seconds.append(time.perf_counter() - start)
            progress("torso", (number + (repeat + 1) / (REPEATS + 1)) / 2)
        best = min(seconds)
        figures[name] = {
            "times_real_time": round(SECONDS / best, 2),
            "us_per_step": round(1e6 * best * STEP / SECONDS, 1),
            "ns_per_muscle": round(1e9 * best * STEP / SECONDS / elements, 1),
            "volume_error_pct": round(rms_error(simulation, drive, STEP), 3),
        }
        progress("torso", (number + 1) / 2)
    unit = 1 if sys.platform == "darwin" else 1024
    figures["memory_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20)
    return figures
