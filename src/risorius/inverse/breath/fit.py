"""A breath fitted to markers or to a volume: the paper's four amplitudes first, then everything that `drive` knows.

The paper let a search choose four amplitudes against the sagittal column of markers only (DiLorenzo 2009, §5.3.2). Here
that fit is the first stage; the second goes on from it with all markers and lets timing, the mix of chest and belly and the
posture follow too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.control.behaviours import styles
from risorius.inverse.breath.answer import Answer
from risorius.inverse.breath.drive import FOUR, knobs, usual
from risorius.inverse.markers.hull import hull_volume
from risorius.inverse.misfit import error_p, error_v, velocity
from risorius.inverse.search.least_squares import PRIOR, Answers, Solved, Unknowns, solve

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[str, float], None]

DEPTH: Final = "depth"
"""One factor on everything that drives a calm breath: all that a single curve can tell."""
CURVE: Final = (DEPTH, "lead", "rise", "fall", "rise_bulge", "fall_bulge")
SEVERAL: Final = (*FOUR, "lead", "rise", "fall", "out_late", "out_rise", "out_fall")
"""The paper's four with their timing: what is found first with all markers, lest finer things take their part."""
ENOUGH, POOR, WORTH = 0.004, 0.10, 0.6
"""A misfit below the first (of a still body's 1) is noise: nothing more is asked. Above the second everything is let go.
Between them accessory muscles, posture and bulges are believed where they bring the misfit below this part of what it was:
they can imitate the four, and of two explanations the simpler one is taken."""
HULL: Final = 0.5
"""Weight of the volume between the markers beside their places and velocities."""
WITNESS: Final = 12
"""Numbers that one marker tells independently of each other: three coordinates of about four harmonics each."""


def spread_out(names: Sequence[str], values: Floats, base: Mapping[str, float]) -> dict[str, float]:
    """Parameter values by name; `depth` becomes what drives a calm breath, times it."""
    given = {**base, **dict(zip(names, map(float, values), strict=True))}
    depth = given.pop(DEPTH, None)
    if depth is not None:
        calm = styles()["calm"]
        given |= {
            name: min(depth * calm[f"drive_{name}"], knob.high)
            for name, knob in knobs().items()
            if f"drive_{name}" in calm
        }
    return given


def unknowns_of(names: Sequence[str], base: Mapping[str, float]) -> Unknowns:
    """Bounds, usual values and steps of parameters; timing is expected near `base`."""
    rows = []
    for name in names:
        if name == DEPTH:
            rows.append((0.02, 8.0, 1.0, 2.0, 0.1))
            continue
        knob = knobs()[name]
        expected = base[name] if knob.role == "time" else knob.usual
        rows.append((knob.low, knob.high, expected, knob.spread, knob.step))
    return Unknowns(*(np.array(column) for column in zip(*rows, strict=True)))


@dataclass(frozen=True, eq=False)
class Misfit:
    """Residual of a breath's parameters; its square is about 1 for a body that does not move.

    Args:
        answer: the torso.
        names: of the parameters; base: values of all others.
        recorded: (phases, n, 3) [m] markers about their mean places, in the torso's axes, or (phases, 1) [l] a volume.
        rate: phases a second [Hz].
        chosen: (n,) markers that count.
        shape: (n, 3) [m] mean places of recorded markers in the torso's axes, for the volume between them.
    """

    answer: Answer
    names: tuple[str, ...]
    base: Mapping[str, float]
    recorded: Floats
    rate: float
    chosen: Flags | None = None
    shape: Floats | None = None

    def seen(self, values: Floats) -> Floats:
        """What is seen of these values, where the recorded things are counted from."""
        found = self.answer(spread_out(self.names, values, self.base))
        return found - found.mean(axis=0)

    @cached_property
    def scales(self) -> tuple[float, float]:
        """Sizes of the motion and of its velocity: what a still body misses."""
        counted = self.recorded if self.chosen is None else self.recorded[:, self.chosen]
        speed = velocity(counted, self.rate, cyclic=True)
        return float(np.sqrt(2.0 * np.square(counted).sum())), float(np.sqrt(2.0 * np.square(speed).sum()))

    def __call__(self, values: Floats) -> Floats:
        return self.residual(self.seen(values))

    def residual(self, seen: Floats) -> Floats:
        """Places, then velocities, marker by marker, then the volume between the markers."""
        error = seen - self.recorded
        if self.chosen is not None:
            error = error[:, self.chosen]
        by_marker = np.moveaxis(error, 0, -1)
        speed = np.moveaxis(velocity(error, self.rate, cyclic=True), 0, -1)
        parts = [np.concatenate([by_marker / self.scales[0], speed / self.scales[1]], axis=-1).ravel()]
        if self.shape is not None and self.chosen is None:
            goal = hull_volume(self.shape + self.recorded)
            found = hull_volume(self.shape + seen)
            goal, found = goal - goal.mean(), found - found.mean()
            parts.append(HULL * (found - goal) / np.sqrt(np.square(goal).sum()))
        return np.concatenate(parts)

    def errors(self, seen: Floats, which: Flags | None = None) -> tuple[float, float]:
        """error_p [m] and error_v [m/s] as the paper defines them."""
        found, goal = (seen, self.recorded) if which is None else (seen[:, which], self.recorded[:, which])
        return error_p(found, goal), error_v(found, goal, self.rate, cyclic=True)


@dataclass(frozen=True, eq=False)
class BreathFit:
    """A fitted breath.

    Args:
        values: all parameters by name.
        names: of the fitted ones; error: (n,) one standard error of each.
        solved: how it ended; misfit: the residual it minimised.
    """

    values: dict[str, float]
    names: tuple[str, ...]
    error: Floats
    solved: Solved
    misfit: Misfit


def fitted(misfit: Misfit, start: Floats, executor: Answers, rounds: int, progress: Progress, name: str) -> BreathFit:
    """Fit the parameters of a misfit."""
    unknowns = unknowns_of(misfit.names, misfit.base)
    solved = solve(misfit, start, unknowns, executor, rounds=rounds, progress=lambda part: progress(name, part))
    values = spread_out(misfit.names, solved.values, misfit.base)
    return BreathFit(values, misfit.names, standard_errors(misfit, solved, unknowns), solved, misfit)


def standard_errors(misfit: Misfit, solved: Solved, unknowns: Unknowns) -> Floats:
    """(n,) standard errors that take each marker for one witness: what it misses at one moment it misses at the next, too.

    The sandwich H⁻¹ (Σ gₖ gₖᵀ) H⁻¹ with gₖ = Jₖᵀ rₖ of marker k and H = JᵀJ and the prior (White 1980; Liang & Zeger 1986),
    made larger for the parameters that were fitted.
    """
    phases = len(misfit.recorded)
    size = 2 * phases * (misfit.recorded.shape[2] if misfit.recorded.ndim == 3 else 1)
    prior = np.diag(PRIOR * solved.cost / unknowns.spread**2)
    inverse = np.linalg.inv(solved.slope.T @ solved.slope + prior)
    count = len(solved.residual) // size
    middle = np.zeros_like(inverse)
    for first in range(0, count * size, size):
        pull = solved.slope[first : first + size].T @ solved.residual[first : first + size]
        middle += np.outer(pull, pull)
    if count < 2:  # one curve: nothing to compare it with, each harmonic is a witness
        middle = solved.slope.T @ solved.slope * solved.cost / WITNESS
    told = max(count * WITNESS - len(unknowns.low), 1)
    return np.asarray(np.sqrt(np.diag(inverse @ middle @ inverse) * count * WITNESS / told))


def timing(duty: float) -> dict[str, float]:
    """Where a breath's times are expected: inspiratory effort as long as volume rises, falling over 0.4 of the rest."""
    low, high = knobs()["rise"].low, knobs()["rise"].high
    rise = float(np.clip(duty + 0.02, low, high))
    rest = 1.0 - rise
    return {**usual(), "rise": rise, "fall": 0.4 * rest, "out_late": 0.1 * rest, "out_rise": 0.4 * rest,
            "out_fall": 0.4 * rest}  # fmt: skip


def fit_markers(
    answer: Answer,
    recorded: Floats,
    shape: Floats,
    column: Flags,
    duty: float,
    executor: Answers,
    progress: Progress,
) -> tuple[BreathFit, BreathFit]:
    """The paper's fit (four amplitudes, sagittal column), and the fit to all markers: of the four with their timing, and of
    everything where that is needed.

    Args:
        recorded: (phases, n, 3) [m] the average breath about its mean places; shape: (n, 3) [m] those; both in the
            torso's axes.
        column: (n,) markers of the front's sagittal line.
        duty: part of the breath that goes in.
    """
    rate = len(recorded) / answer.period
    base = timing(duty)
    chosen = column if column.any() else None
    first = Misfit(answer, FOUR, base, recorded, rate, chosen)
    start = np.array([0.5 * knobs()[name].spread for name in FOUR])
    four = fitted(first, start, executor, 2, progress, "the paper's four amplitudes")
    several = Misfit(answer, SEVERAL, base, recorded, rate, None, shape)
    begun = np.array([four.values[name] for name in SEVERAL])
    rough = fitted(several, begun, executor, 4, progress, "all markers: amplitudes and timing")
    if rough.solved.cost < ENOUGH:
        return four, rough
    every = Misfit(answer, tuple(knobs()), base, recorded, rate, None, shape)
    begun = np.array([rough.values[name] for name in knobs()])
    found = fitted(every, begun, executor, 4, progress, "all markers: everything")
    worth = rough.solved.cost > POOR or found.solved.cost < WORTH * rough.solved.cost
    return four, found if worth else rough


def fit_volume(answer: Answer, recorded: Floats, duty: float, executor: Answers, progress: Progress) -> BreathFit:
    """Depth and timing of a calm breath against a volume (phases, 1) [l] about its mean."""
    base = timing(duty)
    misfit = Misfit(answer, CURVE, base, recorded, len(recorded) / answer.period)
    start = np.array([1.0 if name == DEPTH else base[name] for name in CURVE])
    return fitted(misfit, start, executor, 4, progress, "fitting the breath")
