"""Speed of a hand: 54 strands under the controller at 120 steps a second, on one core; and where the time goes.

The motion to follow is the hand's own under smooth activations, so that it can be followed. `real_time_factor_cpu` counts
processor time alone: what the factor is when nothing else runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from risorius.anatomy.hand.model import build_hand
from risorius.core.strands import Motion, PoseTarget, StrandModel
from risorius.strands.control import Controller, Weights
from risorius.strands.stepper import Stepper
from risorius.strands.system import System, assemble

RATE = 120.0
SECONDS = 4.0


def measure(progress: Callable[[str, float], None], model: StrandModel | None = None) -> dict[str, Any]:
    """Figures of one hand: real-time factor with the controller, its parts, tracking error."""
    progress("hand: kernels", 0.0)
    model = model or build_hand().strands
    system = assemble(model)
    stepper = Stepper(system)
    targets = rehearse(system, stepper, progress)
    controller = Controller(system, targets, Weights(), tone=0.01)
    figures: dict[str, Any] = {
        "model": model.name,
        "bodies": len(system.names),
        "joint_speeds": system.shape.speeds,
        "strands": system.shape.strands,
        "unknowns": int(3 * len(system.threads.rest) + system.threads.row_first[-1] + system.shape.border),
        "steps_per_second": RATE,
    }
    best = best_cpu = np.inf
    for repeat in range(3):
        state, h = stepper.rest(), 1.0 / RATE
        controller.step(stepper, state.copy(), h)
        errors, jumps = [], 0.0
        begin, begin_cpu = time.perf_counter(), time.process_time()
        for _ in range(round(SECONDS * RATE)):
            before = state.activation.copy()
            controller.step(stepper, state, h)
            jumps = max(jumps, float(np.abs(state.activation - before).max()))
            errors.append(controller.miss(state).distance)
        best, best_cpu = min(best, time.perf_counter() - begin), min(best_cpu, time.process_time() - begin_cpu)
        progress("hand: following", (repeat + 1) / 3)
    figures["real_time_factor"] = round(SECONDS / best, 2)
    figures["real_time_factor_cpu"] = round(SECONDS / best_cpu, 2)
    figures["step_us"] = round(1e6 * best / (SECONDS * RATE), 1)
    figures["parts_us"] = parts(stepper, controller)
    figures["error_mean_mm"] = round(1e3 * float(np.mean(errors)), 4)
    figures["error_worst_mm"] = round(1e3 * float(np.max(errors)), 4)
    figures["greatest_jump_per_step"] = round(jumps, 4)
    return figures


def rehearse(system: System, stepper: Stepper, progress: Callable[[str, float], None]) -> list[PoseTarget]:
    """Targets: what the hand does under smooth activations, one frequency a strand."""
    chance = np.random.default_rng(1)
    rate, start = chance.uniform(0.3, 1.0, system.shape.strands), chance.uniform(0.0, 0.2, system.shape.strands)
    state, count = stepper.rest(), round(SECONDS * RATE)
    rotations, places = [state.rotation.copy()], [state.place.copy()]
    for k in range(count):
        wave = 0.5 - 0.5 * np.cos(2 * np.pi * rate * (k + 1) / RATE)
        stepper.advance(state, 1.0 / RATE, 0.01 + start * wave)
        rotations.append(state.rotation.copy())
        places.append(state.place.copy())
        if k % 60 == 0:
            progress("hand: rehearsal", k / count)
    times = np.arange(count + 1) / RATE
    return [
        PoseTarget(Motion(name, times, np.array([r[k] for r in rotations]), np.array([p[k] for p in places])))
        for k, name in enumerate(system.names)
    ]


def parts(stepper: Stepper, controller: Controller, repeats: int = 50) -> dict[str, float]:
    """Best time [µs] of each part of a step, at rest under light tone."""
    state, h = stepper.rest(), 1.0 / RATE
    for _ in range(10):
        stepper.advance(state, h, 0.05)
    tone = state.activation.copy()

    def best(work: Callable[[], Any]) -> float:
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return round(1e6 * min(times), 1)

    gather = best(lambda: stepper.gather(state, h, tone))
    respond = best(stepper.respond)
    choose = best(lambda: controller.choose(stepper, state, h))
    finish = best(lambda: stepper.finish(state.copy(), tone))
    return {"gather": gather, "respond": respond, "choose_with_respond": choose, "finish": finish}
