"""Laughs searched call by call, and the searches compared with each other and with following (DiLorenzo 2009, fig. 6.8)."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from risorius.app.clock import Clock
from risorius.app.follow import (
    FRAME_RATE,
    Followed,
    drawn,
    followed_channels,
    followed_of,
    subject_of,
)
from risorius.app.laugh import METHODS, clip_of, heard_in, opening_of
from risorius.control.control import Channel, Control
from risorius.core.errors import InputError
from risorius.core.hearing import Heard
from risorius.core.spec import Spec

if TYPE_CHECKING:
    from risorius.inverse.calls import Stage
    from risorius.inverse.search.problem import Executor

Progress = Callable[[str, float], None]
BUDGETS: Final = (8, 100_000)


@contextlib.contextmanager
def executor_of(workers: int | None, cluster: str | None) -> Iterator[Executor]:
    """Who computes the costs: a Dask cluster by its scheduler's address, or so many processes of this machine."""
    from risorius.inverse.search.executors import Dask, Processes, Serial

    if workers is not None and workers < 1:
        raise InputError(f"expected at least one, got {workers}", place="workers")
    if cluster is not None:
        try:
            dask = Dask(cluster)
        except ImportError:
            raise InputError(
                "expected the package distributed: pip install 'risorius[cluster]'", place="cluster"
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"no scheduler answers at {cluster}: {error}", place="cluster") from None
        with dask:
            yield dask
    elif workers == 1:
        yield Serial()
    else:
        with Processes(workers) as processes:
            yield processes


def stage_of(
    found: Heard, spec: Spec, besides: tuple[Channel, ...], clock: Clock, progress: Progress | None
) -> tuple[Any, Stage]:
    """A subject on a stage, and its model."""
    from risorius.control.bind import bind
    from risorius.inverse.calls import Stage

    model, simulation = subject_of(spec, "upright", "mouth", clock, progress)
    bend = bind(Control(besides, found.seconds), model).bend if besides else None
    return model, Stage(simulation, str(spec), found, opening_of(found), bend, FRAME_RATE)


def checked_budget(budget: int | None) -> None:
    if budget is not None and not BUDGETS[0] <= budget <= BUDGETS[1]:
        raise InputError(f"expected {BUDGETS[0]} to {BUDGETS[1]} evaluations, got {budget}", place="budget")


def search_laugh(
    found: Heard,
    spec: Spec,
    method: Any,
    *,
    besides: tuple[Channel, ...] = (),
    seed: int = 0,
    budget: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> tuple[Followed, dict[str, Any]]:
    """A laugh by a search of every call's seven numbers; also what it cost."""
    from risorius.inverse.calls import fit_calls

    checked_budget(budget)
    if not found.calls:
        raise InputError(f"expected calls to search, heard {found.kind} without any; --method track follows it")
    clock = clock or Clock()
    model, stage = stage_of(found, spec, besides, clock, progress)
    with executor_of(workers, cluster) as executor:
        fit = fit_calls(stage, found, executor, method=method, budget=budget, seed=seed, progress=progress)
    clock.lap("simulate")
    gate = Channel("glottis", (drawn(stage.times, stage.opened),))
    channels = (*fit.channels, *followed_channels(fit.times, fit.commands), gate, *besides)
    control = Control(channels, found.seconds, name=found.kind, frames=FRAME_RATE)
    evaluations = [len(search.costs) for search in fit.searches]
    cost = {
        "evaluations": sum(evaluations),
        "evaluations_a_call": evaluations,
        "seconds_a_call": round(clock.phases["simulate"] / max(len(evaluations), 1), 2),
        "costs": [round(search.cost, 4) for search in fit.searches],
        "parameters": [dict(zip(search.names, np.round(search.values, 5).tolist())) for search in fit.searches],
    }
    return followed_of(model, fit.motion, found.target.at, control, clock), cost


def compare(
    clip: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    call: int | None = None,
    intensity: float = 1.0,
    secondary: float = 1.0,
    kind: str | None = None,
    force: bool = False,
    subject: str = "male",
    seed: int = 0,
    budget: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """`risorius laugh CLIP --compare -o DIR`: every method on one and the same call, from one and the same state.

    Writes searches.json and searches.png.

    Args:
        call: its number from 1; the loudest where not given.
    """
    from risorius.inverse.calls import AFTER
    from risorius.inverse.fit import TICK
    from risorius.inverse.misfit import normalised_rms
    from risorius.inverse.secondary import secondary as secondary_motion
    from risorius.io.files import write_bytes
    from risorius.view.searches import draw_searches

    checked_budget(budget)
    spec = Spec.parse(subject)
    found = heard_in(clip, clip_of(clip, seed), intensity=intensity, kind=kind, force=force)
    if not found.calls or (call is not None and not 1 <= call <= len(found.calls)):
        raise InputError(f"expected a call from 1 to {len(found.calls)}, got {call}", file=clip, place="call")
    number = call - 1 if call is not None else int(np.argmax([each.level for each in found.calls]))
    chosen = found.calls[number]
    besides = secondary_motion(found.kind, found.target, secondary)
    _, stage = stage_of(found, spec, besides, Clock(), progress)
    stage.go_on(stage.beginning(chosen, found.calls[number - 1] if number else None), follow=True)
    times = np.arange(chosen.start, chosen.end + AFTER, TICK)
    wanted = found.target.at(times)
    shown = np.arange(stage.now * stage.tick, chosen.end + AFTER, TICK)
    curves, pressures = {}, {}
    results: dict[str, dict[str, Any]] = {}
    with executor_of(workers, cluster) as executor:
        trial = stage.trial(chosen.end + AFTER)
        executor.map(Still(trial, shown), [np.zeros(1)] * 4)  # every worker builds its torso before the clock runs
        for place, method in enumerate(METHODS[1:]):
            begun = time.perf_counter()

            def tell(part: float, best: float, place: int = place, method: str = method) -> None:
                if progress is not None:
                    progress(f"{method}: {best:.3f}", (place + part) / (len(METHODS) - 1))

            search = stage.search(chosen, executor, method=method, budget=budget, seed=seed, progress=tell)  # type: ignore[arg-type]
            curves[method], pressures[method] = search.best_so_far, answer(trial, search.values, shown)
            results[method] = {
                "error": round(search.cost, 4),
                "evaluations": len(search.costs),
                "seconds": round(time.perf_counter() - begun, 2),
                "parameters": dict(zip(search.names, np.round(search.values, 5).tolist())),
            }
    first, begun = stage.now, time.perf_counter()
    stage.go_on(chosen.end + AFTER, follow=True)
    spent = time.perf_counter() - begun
    ends = (np.arange(first, stage.now) + 1) * stage.tick
    followed = stage.pressure[first : stage.now]
    results["track"] = {
        "error": round(normalised_rms(np.interp(times, ends, followed), wanted), 4),
        "evaluations": 3,
        "seconds": round(spent, 3),
    }
    pressures["track"] = np.interp(shown, ends, followed)
    report = {"clip": str(clip), "call": number + 1, "start_s": round(chosen.start, 4), "end_s": round(chosen.end, 4),
              "methods": results}  # fmt: skip
    place_ = Path(folder)
    draw_searches(
        place_ / "searches.png", curves, known={"track": results["track"]["error"]}, time=shown,
        target=found.target.at(shown), found=pressures, window=(chosen.start, chosen.end + AFTER),
    )  # fmt: skip
    write_bytes(place_ / "searches.json", (json.dumps(report, indent=2) + "\n").encode())
    return report


def answer(trial: Any, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Pressure that a call's seven numbers make [cmH2O]."""
    from risorius.inverse.parameters import call_channels

    return np.asarray(trial(Control(call_channels(values), float(times[-1])), times))


class Still:
    """A trial without a call, as something to be computed anywhere."""

    def __init__(self, trial: Any, times: np.ndarray) -> None:
        self.trial, self.times = trial, times

    def __call__(self, _: np.ndarray) -> float:
        return float(self.trial(Control((), float(self.times[-1])), self.times)[-1])
