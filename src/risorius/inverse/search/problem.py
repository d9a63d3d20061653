"""What is searched: named parameters within bounds, and the driver that lets an algorithm ask for costs.

An algorithm is a generator: it yields points of the unit cube (k, n) to be tried at once and receives their costs (k,).
It sees nothing else, so that the same seed asks for the same points whoever computes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError

Floats = NDArray[np.float64]
Objective = Callable[[Floats], float]
Algorithm = Generator[Floats, Floats, None]

WORST: Final = 1e300
"""Cost of a point where the objective is no number."""


@dataclass(frozen=True)
class Parameter:
    """One number that is searched: its name, bounds, and where the search begins (the middle where not given)."""

    name: str
    low: float
    high: float
    start: float | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                f"expected a low bound under the high one, got {self.low} and {self.high}", place=self.name
            )
        if self.start is not None and not self.low <= self.start <= self.high:
            raise InputError(f"expected a start within {self.low} to {self.high}, got {self.start}", place=self.name)


@dataclass(frozen=True)
class Problem:
    """An objective over parameters.

    Args:
        objective: parameter values (n,) -> cost, lower is better; to be picklable where processes compute it.
    """

    parameters: tuple[Parameter, ...]
    objective: Objective

    def values(self, unit: Floats) -> Floats:
        """Parameter values of points in the unit cube; what lies outside is folded back at the walls."""
        low = np.array([parameter.low for parameter in self.parameters])
        high = np.array([parameter.high for parameter in self.parameters])
        return low + (high - low) * folded(unit)

    def start(self) -> Floats:
        """Where the search begins, in the unit cube."""
        return np.array(
            [0.5 if p.start is None else (p.start - p.low) / (p.high - p.low) for p in self.parameters],
            dtype=np.float64,
        )


def folded(unit: Floats) -> Floats:
    """Points mirrored at the walls until they lie in the unit cube: keeps a simplex from collapsing onto a wall."""
    return np.asarray(1.0 - np.abs(np.mod(unit, 2.0) - 1.0))


class Executor(Protocol):
    """Computes the costs of several points, in their order."""

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]: ...


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a search.

    Args:
        values: best parameter values (n,), by `names`.
        cost: there.
        tried: (e, n) all values in the order in which they were asked for, and
        costs: (e,) their costs.
        computed: how many of them were computed now, not read from an archive.
    """

    names: tuple[str, ...]
    values: Floats
    cost: float
    tried: Floats
    costs: Floats
    computed: int

    @property
    def best_so_far(self) -> Floats:
        """(e,) least cost up to each evaluation: the curve of DiLorenzo 2009, fig. 6.8."""
        return np.minimum.accumulate(self.costs)


def minimise(
    problem: Problem,
    algorithm: Algorithm,
    executor: Executor,
    *,
    budget: int,
    goal: float = -np.inf,
    archive: Path | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Found:
    """Run an algorithm until it ends, the budget of evaluations is spent, or a cost reaches the goal.

    Args:
        archive: a file that keeps every cost as it is computed; a search that was broken off and is started again with
            the same problem and seed goes on where it stopped.
        progress: told (part of the budget, best cost).
    """
    if budget < 1:
        raise InputError(f"expected a budget of at least one evaluation, got {budget}")
    known = read_archive(archive, len(problem.parameters)) if archive else {}
    tried: list[Floats] = []
    costs: list[float] = []
    computed = 0
    asked = next(algorithm)
    while True:
        asked = np.atleast_2d(asked)[: budget - len(costs)]
        points = [problem.values(point) for point in asked]
        new = [point for point in points if point.tobytes() not in known]
        answers = executor.map(problem.objective, new)
        for point, cost in zip(new, answers, strict=True):
            known[point.tobytes()] = float(cost) if np.isfinite(cost) else WORST
        if archive and new:
            append(archive, new, known)
        computed += len(new)
        batch = [known[point.tobytes()] for point in points]
        tried.extend(points)
        costs.extend(batch)
        if progress is not None:
            progress(len(costs) / budget, min(costs))
        if len(costs) >= budget or min(costs) <= goal:
            break
        try:
            asked = algorithm.send(np.array(batch))
        except StopIteration:
            break
    best = int(np.argmin(costs))
    names = tuple(parameter.name for parameter in problem.parameters)
    return Found(names, tried[best], costs[best], np.array(tried), np.array(costs), computed)


def read_archive(path: Path, count: int) -> dict[bytes, float]:
    """Costs by the exact bytes of their parameter values; a last line that was cut off is left out."""
    known: dict[bytes, float] = {}
    if not path.exists():
        return known
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            values = np.array([float.fromhex(word) for word in entry["values"]])
            cost = float.fromhex(entry["cost"])
        except (ValueError, KeyError, TypeError):
            if number == len(lines):
                break
            raise InputError("expected a line of an archive of costs", file=path, line=number) from None
        if len(values) != count:
            raise InputError(f"expected {count} values, got {len(values)}: another problem's archive", file=path,
                             line=number)  # fmt: skip
        known[values.tobytes()] = cost
    return known


def append(path: Path, points: list[Floats], known: dict[bytes, float]) -> None:
    """Add costs to an archive, numbers exactly; a line that was cut off before is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"values": [float(v).hex() for v in point], "cost": known[point.tobytes()].hex()})
        for point in points
    ]
    cut_off = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    if cut_off:
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")
