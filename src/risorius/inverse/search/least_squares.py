"""Least squares where one answer costs a simulation: Gauss-Newton with a prior, bounds, and all runs of a round at once.

    minimise  |r(x)|² + λ |r(x₀)|² Σ ((x − u)/s)²   within bounds,

u the usual values, s their spread. λ is relative to the misfit where a round begins, so that the prior decides only about
what the data leave open: it fades as the fit gets better. Slopes are forward differences; between rounds the same ones
serve as long as they predict well (Broyden's update).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PRIOR: Final = 0.02
"""Part of the misfit that one spread of one parameter is worth."""
TRIES: Final = (1.0, 0.4)
"""Parts of a step that are tried at once."""
TRUSTED: Final = 0.6
"""A step that gains this part of what was promised keeps its slopes for another."""


class Answers(Protocol):
    """Computes several answers, in their order."""

    def answers(self, function: Callable[[Any], Any], questions: Sequence[Any]) -> list[Any]: ...


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What is looked for: (n,) bounds, where each usually is, its spread, and the step of its differences."""

    low: Floats
    high: Floats
    usual: Floats
    spread: Floats
    step: Floats


@dataclass(frozen=True, eq=False)
class Solved:
    """Where it ended.

    Args:
        values: (n,); residual: (m,) there; slope: (m, n) of the residual; cost: its square.
        runs: answers asked for; history: cost after each round.
    """

    values: Floats
    residual: Floats
    slope: Floats
    runs: int
    history: tuple[float, ...]

    @property
    def cost(self) -> float:
        return float(self.residual @ self.residual)


def solve(
    function: Callable[[Floats], Floats],
    start: Floats,
    unknowns: Unknowns,
    executor: Answers,
    *,
    rounds: int = 4,
    settled: float = 2e-3,
    prior: float = PRIOR,
    progress: Callable[[float], None] | None = None,
) -> Solved:
    """Minimise; `function` gives the residual (m,) and has to be picklable where processes are to share the work.

    Args:
        rounds: most sets of slopes that are computed.
        settled: relative gain under which a round is the last.
    """
    tell = progress or (lambda _part: None)
    values = np.clip(start, unknowns.low, unknowns.high)
    residual = executor.answers(function, [values])[0]
    runs, history = 1, [float(residual @ residual)]
    slope = np.empty((len(residual), len(values)))
    for number in range(rounds):
        steps = np.where(values + unknowns.step > unknowns.high, -unknowns.step, unknowns.step)
        tell(number / rounds)
        answers = executor.answers(function, [values + row for row in np.diag(steps)])
        runs += len(answers)
        slope = (np.array(answers) - residual).T / steps
        begun = history[-1]
        while True:
            change = step_of(residual, slope, values, unknowns, prior * history[-1])
            tried = [np.clip(values + part * change, unknowns.low, unknowns.high) for part in TRIES]
            answers = executor.answers(function, tried)
            runs += len(answers)
            costs = [float(answer @ answer) for answer in answers]
            best = int(np.argmin(costs))
            taken = tried[best] - values
            promised = history[-1] - float(np.square(residual + slope @ taken).sum())
            gained = history[-1] - costs[best]
            if gained <= 0.0:
                break
            slope = slope + np.outer(answers[best] - residual - slope @ taken, taken) / max(
                float(taken @ taken), 1e-300
            )
            values, residual = tried[best], answers[best]
            history.append(costs[best])
            if gained < TRUSTED * promised or gained < 0.1 * begun:
                break
        if begun - history[-1] < settled * begun:
            break
    tell(1.0)
    return Solved(values, residual, slope, runs, tuple(history))


def step_of(residual: Floats, slope: Floats, values: Floats, unknowns: Unknowns, prior: float) -> Floats:
    """The best change of the values where the residual is straight, within bounds."""
    weight = np.sqrt(prior) / unknowns.spread
    matrix = np.concatenate([slope, np.diag(weight)])
    goal = np.concatenate([-residual, weight * (unknowns.usual - values)])
    low, high = unknowns.low - values, unknowns.high - values
    # lsq_linear wants room between the bounds and unknowns of one size
    scale = unknowns.spread
    found = lsq_linear(matrix * scale, goal, (np.minimum(low, -1e-12) / scale, np.maximum(high, 1e-12) / scale))
    return np.asarray(found.x * scale)


def spread_of(solved: Solved, unknowns: Unknowns, noise: float, prior: float) -> Floats:
    """(n,) standard errors of the values: √diag((JᵀJ/σ² + prior)⁻¹), σ the residual's size by `noise`."""
    weight = np.sqrt(prior) / unknowns.spread
    normal = solved.slope.T @ solved.slope + np.diag(weight**2)
    return np.asarray(noise * np.sqrt(np.diag(np.linalg.inv(normal))))
