"""Simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983), with which DiLorenzo 2009 (fig. 6.8) compares direct search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risorius.inverse.search.problem import Algorithm

Floats = NDArray[np.float64]

WARM_UP = 20
"""First points, from whose spread in cost the first temperature is taken."""


def annealing(
    start: Floats, *, seed: int = 0, steps: int = 1800, width: float = 0.35, coldest: float = 1e-4, chains: int = 1
) -> Algorithm:
    """Walk that takes a worse point with probability exp(−Δ/T) while T falls geometrically to `coldest` of its first value.

    Steps are Cauchy distributed, and shorter as it gets colder: few long jumps among many short ones.

    Args:
        start: (n,) in the unit cube.
        steps: evaluations in all.
        width: size of the first steps.
        chains: walks side by side, for as many processors; each begins at `start`.
    """
    random = np.random.default_rng(seed)
    here = np.tile(np.asarray(start, dtype=np.float64), (chains, 1))
    cost = np.full(chains, float((yield here[:1])[0]))
    first = random.random((WARM_UP, len(start)))
    seen = np.asarray((yield first))
    hot = max(float(np.percentile(seen, 60) - np.percentile(seen, 10)), 1e-12)
    for chain in range(chains):  # the best of the first points, where one is better than the start
        best = int(np.argsort(seen)[chain % len(seen)])
        if seen[best] < cost[chain]:
            here[chain], cost[chain] = first[best], seen[best]
    rounds = max(1, (steps - 1 - WARM_UP) // chains)
    for number in range(rounds):
        cold = coldest ** (number / rounds)
        jump = np.clip(random.standard_cauchy(here.shape), -3.0, 3.0)
        moving = random.random(here.shape) < max(0.4, 1.0 / here.shape[1])
        moving[~moving.any(axis=1), random.integers(here.shape[1])] = True
        tried = here + width * cold**0.5 * jump * moving
        tried = 1.0 - np.abs(np.mod(tried, 2.0) - 1.0)
        answer = np.asarray((yield tried))
        if len(answer) < chains:
            return
        taken = random.random(chains) < np.exp(-np.maximum(answer - cost, 0.0) / (hot * cold))
        here[taken], cost[taken] = tried[taken], answer[taken]
