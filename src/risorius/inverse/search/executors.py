"""Who computes costs: this process, several processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.inverse.search.problem import Objective

Floats = NDArray[np.float64]


class Serial:
    """One after another, here."""

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        return [float(function(point)) for point in points]


class Processes:
    """Spread over processes; use as a context manager. The function must be picklable."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.pool = ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("spawn"))

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        return [float(cost) for cost in self.pool.map(function, points)]

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)


class Dask:
    """Spread over a Dask cluster (`risorius[cluster]`), by its scheduler's address, or a local one where none is given."""

    def __init__(self, address: str | None = None, **local: Any) -> None:
        from distributed import Client

        self.client = Client(address) if address else Client(**local)

    def map(self, function: Objective, points: Sequence[Floats]) -> list[float]:
        # the same point asked for twice is computed once: functions here have no chance in them
        return [float(cost) for cost in self.client.gather(self.client.map(function, list(points)))]

    def __enter__(self) -> Dask:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
