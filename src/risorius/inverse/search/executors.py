"""Who computes costs: this process, several processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.inverse.search.problem import Objective

Floats = NDArray[np.float64]


ANSWER: Final = 10.0
"""Seconds in which a scheduler has to answer."""
WATCH: Final = 1.0
"""Seconds between looks whether the parent is still there."""


def follow(parent: int) -> None:
    """Let this process end with its parent, also where that was killed and could not say so."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Serial:
    """One after another, here."""

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        return [float(function(point)) for point in points]

    def answers(self, function: Callable[[Any], Any], questions: Sequence[Any]) -> list[Any]:
        """As `map`, for functions of anything that give anything."""
        return [function(question) for question in questions]

    def each(self, function: Objective, points: Sequence[Floats]) -> Iterator[tuple[int, float]]:
        """(index, cost) as they come."""
        for index, point in enumerate(points):
            yield index, float(function(point))


class Processes:
    """Spread over processes; use as a context manager. The function must be picklable."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.pool = ProcessPoolExecutor(
            self.workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=follow,
            initargs=(os.getpid(),),
        )

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        return [float(cost) for cost in self.pool.map(function, points)]

    def answers(self, function: Callable[[Any], Any], questions: Sequence[Any]) -> list[Any]:
        """As `map`, for functions of anything that give anything."""
        return list(self.pool.map(function, questions))

    def each(self, function: Objective, points: Sequence[Floats]) -> Iterator[tuple[int, float]]:
        """(index, cost) as they are finished."""
        waiting = {self.pool.submit(function, point): index for index, point in enumerate(points)}
        for future in as_completed(waiting):
            yield waiting[future], float(future.result())

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)


class Dask:
    """Spread over a Dask cluster (`risorius[cluster]`), by its scheduler's address, or a local one where none is given."""

    def __init__(self, address: str | None = None, **local: Any) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise InputError("expected the extra risorius[cluster], which brings Dask", place="cluster") from None
        try:
            self.client = Client(address, timeout=ANSWER) if address else Client(**local)
        except (OSError, ValueError) as error:
            found = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(
                f"expected the address of a Dask scheduler, got {address!r} ({found})", place="cluster"
            ) from None

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        # the same point asked for twice is computed once: functions here have no chance in them
        return [float(cost) for cost in self.client.gather(self.client.map(function, list(points)))]

    def each(self, function: Objective, points: Sequence[Floats]) -> Iterator[tuple[int, float]]:
        """(index, cost) as they are finished."""
        from distributed import as_completed as finished

        futures = self.client.map(function, list(points))
        waiting = {future.key: index for index, future in enumerate(futures)}
        for future in finished(futures):
            yield waiting[future.key], float(future.result())

    def __enter__(self) -> Dask:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
