"""CMA-ES (Hansen & Ostermeier 2001), through the package `cma`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risorius.inverse.search.problem import Algorithm

Floats = NDArray[np.float64]


def evolution(start: Floats, *, seed: int = 0, width: float = 0.25, population: int | None = None) -> Algorithm:
    """Evolution of a normal distribution, begun at `start` (n,) in the unit cube with standard deviation `width`."""
    import cma

    options = {"seed": seed + 1, "bounds": [0.0, 1.0], "verbose": -9, "verb_log": 0, "tolfun": 1e-12, "tolx": 1e-9}
    if population is not None:
        options["popsize"] = population
    strategy = cma.CMAEvolutionStrategy(list(np.clip(start, 0.02, 0.98)), width, options)
    while not strategy.stop():
        asked = strategy.ask()
        costs = yield np.array(asked)
        if len(costs) < len(asked):
            return
        strategy.tell(asked, list(costs))
