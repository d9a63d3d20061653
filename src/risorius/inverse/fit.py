"""Controls fitted to a sound by search (row I3), for any simulation that answers a control; breaths: `inverse.breath`.

A simulation is a function: (control, times [s]) -> lung pressure [cmH2O] at those times. It has to be picklable where
processes are to share the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import Channel, Control
from risorius.core.hearing import Call, Target
from risorius.inverse.misfit import normalised_rms
from risorius.inverse.parameters import call_channels, call_parameters
from risorius.inverse.search.anneal import annealing
from risorius.inverse.search.direct import direct_search
from risorius.inverse.search.evolution import evolution
from risorius.inverse.search.problem import Algorithm, Executor, Found, Problem, minimise

Floats = NDArray[np.float64]
Simulation = Callable[[Control, Floats], Floats]
Method = Literal["search", "anneal", "cma"]

TICK: Final = 0.005
"""Pressures are compared this often [s]."""
BUDGETS: Final[dict[str, int]] = {"search": 400, "anneal": 1800, "cma": 400}
"""Evaluations a call: those after which DiLorenzo's searches ended (fig. 6.8)."""
CHAINS: Final = 4
"""Walks of annealing side by side: they keep so many processors busy, and do not depend on how many there are."""
AFTER: Final = 0.03
"""A call's cost is taken until this long after its end [s], where its pressure ebbs away."""


def algorithm(method: Method, start: Floats, budget: int, seed: int) -> Algorithm:
    """The search of that name, begun at a point of the unit cube."""
    if method == "search":
        return direct_search(start, seed=seed)
    if method == "anneal":
        return annealing(start, seed=seed, steps=budget, chains=CHAINS)
    return evolution(start, seed=seed)


@dataclass(frozen=True, eq=False)
class CallObjective:
    """Cost of one call's seven numbers: the pressure's normalised rms error over the call.

    Args:
        simulate: see above.
        before: channels of the calls already fitted.
        target: the pressure to follow.
        start, end: of the stretch that is compared [s].
    """

    simulate: Simulation
    before: tuple[Channel, ...]
    target: Target
    start: float
    end: float

    def __call__(self, values: Floats) -> float:
        times = np.arange(self.start, self.end, TICK)
        control = Control((*self.before, *call_channels(values)), self.end, name="laugh")
        return normalised_rms(self.simulate(control, times), self.target.at(times))


def fit_call(
    simulate: Simulation,
    target: Target,
    call: Call,
    executor: Executor,
    *,
    method: Method = "search",
    budget: int | None = None,
    seed: int = 0,
    before: tuple[Channel, ...] = (),
    earliest: float = -np.inf,
    archive: Path | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Found:
    """Search one call's seven numbers, the calls before it as they are.

    Args:
        earliest: no muscle begins before [s].
        progress: told (part of the budget, best cost).
    """
    budget = budget or BUDGETS[method]
    objective = CallObjective(simulate, before, target, call.start, call.end + AFTER)
    problem = Problem(call_parameters(call.start, call.end, earliest), objective)
    found = algorithm(method, problem.start(), budget, seed)
    return minimise(problem, found, executor, budget=budget, archive=archive, progress=progress)
