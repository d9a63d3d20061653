"""The controller: activations whose step comes closest to the targets (H §4).

    minimise  wa |a|² + wx |e(a)|² + wd |a − a0|²,   e = h (J (v_f + H a) − v_x),   low <= a <= high       (eq. 18)

e is what the targets will be missed by at the end of the step [mm]; rotations count by the body's radius of gyration.
v_x leads from where a body is to where the animation will be, by the matrix logarithm. low is the muscle tone, and both
bounds keep the change of activation within `rate`. The box QP is solved exactly (daqp); H and v_f come from the factors of
the step itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import daqp
import numpy as np
from numpy.typing import ArrayLike

from risorius.core.errors import InputError
from risorius.core.strands import Floats, Target
from risorius.strands.stepper import Stepper, activations
from risorius.strands.system import State, System
from risorius.strands.targets import assemble_goals, goal_miss, goal_system, quadratic

MM = 1e3


@dataclass(frozen=True)
class Weights:
    """What the controller weighs (H eq. 18; the paper's weights are the defaults, with errors in millimetres).

    Args:
        activation: wa. target: wx [1/mm²]. damping: wd.
        rate: [1/s] greatest change of an activation: 12 is 0.2 in a frame of 1/60 s. Infinite: none.
        response: [s] time in which errors are to be closed; 0: within the step (the paper's).
        speed: [m/s] greatest speed at which an error is closed, so that jumping targets are approached.
    """

    activation: float = 1.0
    target: float = 1.0
    damping: float = 0.01
    rate: float = 12.0
    response: float = 0.03
    speed: float = 3.0

    def __post_init__(self) -> None:
        values = (self.activation, self.target, self.damping, self.response)
        if not (all(np.isfinite(values)) and min(values) >= 0 and self.rate > 0 and self.speed > 0):
            raise InputError("expected weights of 0 or more, rate and speed above zero", place="weights")


@dataclass(eq=False)
class Miss:
    """How far targets were missed at the end of a step: distance [m] and angle [rad] of each (angle 0 for points)."""

    distance: Floats
    angle: Floats


@dataclass(eq=False)
class Controller:
    """Chooses activations for a stepper.

    Args:
        system: what is controlled. targets: 6D and 3D targets. weights: see there.
        tone: floor of the activations, one number or (strands,).
        strength: ceiling of the activations, one number or (strands,): zero cuts a strand.
    """

    system: System
    targets: Sequence[Target]
    weights: Weights = field(default_factory=Weights)
    tone: ArrayLike = 0.0
    strength: ArrayLike = 1.0

    def __post_init__(self) -> None:
        count, rows = self.system.shape.strands, 6 * len(self.targets)
        self.low, self.high = activations(self.tone, count), activations(self.strength, count)
        self.low = np.minimum(self.low, self.high)
        self.goals = assemble_goals(self.system, self.targets)
        self.jacobian = np.zeros((rows, self.system.shape.speeds))
        self.wanted, self.weight = np.zeros(rows), np.zeros(rows)
        self.matrix, self.vector = np.zeros((count, count)), np.zeros(count)

    def rows(self, stepper: Stepper, state: State, h: float) -> tuple[Floats, Floats, Floats]:
        """J (6 k, m), v_x (6 k) and weights (6 k) of all targets for a step of h [s]; rotations in metres."""
        room, w = stepper.room, self.weights
        goal_system(self.system.tree, self.goals, state.rotation, state.place, room.column, room.base, state.time, h,
                    max(w.response, h), w.speed, self.jacobian, self.wanted, self.weight)  # fmt: skip
        return self.jacobian, self.wanted, self.weight

    def step(self, stepper: Stepper, state: State, h: float, poses: dict | None = None) -> Floats:
        """One controlled step in place; returns the activations."""
        stepper.gather(state, h, np.clip(state.activation, self.low, self.high), poses)
        chosen = self.choose(stepper, state, h)
        stepper.finish(state, chosen)
        return chosen

    def choose(self, stepper: Stepper, state: State, h: float) -> Floats:
        """Solve eq. 18 for the step that `stepper` has gathered."""
        response, free = stepper.respond()
        self.rows(stepper, state, h)
        w = self.weights
        total = max(w.activation + w.damping, 1e-9)
        quadratic(self.jacobian, self.wanted, self.weight * (w.target * (h * MM) ** 2), response, free,
                  state.activation, w.damping, total, self.matrix, self.vector)  # fmt: skip
        change = w.rate * h
        low = np.clip(state.activation - change, self.low, self.high)
        high = np.clip(state.activation + change, self.low, self.high)
        return box_minimum(self.matrix, self.vector, low, high)

    def miss(self, state: State) -> Miss:
        """How far the targets are missed at the state's time."""
        distance, angle = np.zeros(len(self.targets)), np.zeros(len(self.targets))
        goal_miss(self.goals, state.rotation, state.place, state.time, distance, angle)
        return Miss(distance, angle)


def box_minimum(matrix: Floats, vector: Floats, low: Floats, high: Floats) -> Floats:
    """argmin ½ aᵀ M a + vᵀ a over low <= a <= high, exactly, for positive definite M (n, n)."""
    count = len(vector)
    if count == 0:
        return np.zeros(0)
    # scaled to a unit diagonal: targets and activations differ by orders of magnitude
    scale = 1.0 / np.sqrt(np.diag(matrix))
    scaled = matrix * np.outer(scale, scale)
    result, _value, flag, _info = daqp.solve(
        np.ascontiguousarray(0.5 * (scaled + scaled.T)), vector * scale, np.zeros((0, count)), high / scale,
        low / scale, np.zeros(count, dtype=np.int32),
    )  # fmt: skip
    if flag < 1:
        raise RuntimeError(f"the box QP was not solved (daqp: {flag})")
    return np.clip(np.asarray(result) * scale, low, high)
