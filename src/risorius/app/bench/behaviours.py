"""Speed of every behaviour: a subject's preloaded torso, all muscles and two-way lungs, at the default step, on one core.

Times real time by the wall clock and by the processor's own time; the second is what an otherwise idle core would give.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

MOST_SECONDS: Final = 10.0
"""Longest run of a behaviour [s]."""


def measure(progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Times real time of each behaviour, and the slowest of them."""
    from risorius.anatomy import build
    from risorius.control.behaviours import behaviour, lasting, names
    from risorius.control.bind import bind
    from risorius.core.spec import Spec
    from risorius.sim.run import STEP, Simulation

    progress("behaviours", 0.0)
    model = build(Spec())
    ready = Simulation.of(model)
    ready.copy().perform(bind(behaviour("rest", 0.1), model), 25.0)
    found: dict[str, Any] = {}
    every = names()
    for number, name in enumerate(every):
        control = behaviour(name, min(lasting(name), MOST_SECONDS))
        fresh, bound = ready.copy(), bind(control, model)
        wall, own = time.perf_counter(), time.process_time()
        fresh.perform(bound, control.frames)
        wall, own = time.perf_counter() - wall, time.process_time() - own
        found[name] = {
            "times_real_time": round(control.seconds / wall, 2),
            "times_real_time_by_processor_time": round(control.seconds / own, 2),
        }
        progress("behaviours", (number + 1) / len(every))
    slowest = min(found, key=lambda name: found[name]["times_real_time_by_processor_time"])
    return {"step_ms": 1e3 * STEP, "slowest": {"behaviour": slowest, **found[slowest]}, **found}
