"""A rig: muscles, named controls that group them, drivers that read a skeleton, keys over time (ledger M6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.skin.muscle.model import FALLOFFS, Muscle, Settings

Floats = NDArray[np.float64]
PARAMETERS: Final = ("contraction", "bulge", "envelope", "d_full", "d_none")


@dataclass(frozen=True)
class Control:
    """A named knob: each unit of it adds `amount` to a parameter of some muscles.

    Args:
        amounts: (muscle, parameter, amount).
        low, high, rest: its range and the value that it has when nobody turns it.
    """

    name: str
    amounts: tuple[tuple[str, str, float], ...]
    low: float = 0.0
    high: float = 1.0
    rest: float = 0.0


@dataclass(frozen=True)
class Driver:
    """Reads a skeleton and turns what it finds into the value of a control or of a muscle's parameter.

    Args:
        target: ("control", name), or (muscle, parameter).
        kind: "angle" of `joints[0]` [deg] from its rest pose, or "distance" between `joints`, in the mesh's unit.
        axis: the angle is that about this axis of the joint's rest frame; none: the whole angle.
        table: (k, 2) input and output, inputs rising; linear between, constant beyond.
    """

    target: tuple[str, str]
    kind: str
    joints: tuple[str, ...]
    axis: tuple[float, float, float] | None
    table: tuple[tuple[float, float], ...]


class Pose(Protocol):
    """What drivers ask of a skeleton in motion."""

    def angle(self, joint: str, axis: tuple[float, float, float] | None) -> Floats:
        """(f,) [deg]"""

    def distance(self, first: str, second: str) -> Floats:
        """(f,) in the mesh's unit."""


@dataclass(frozen=True, eq=False)
class Rig:
    """All that one document describes."""

    muscles: tuple[Muscle, ...]
    controls: tuple[Control, ...] = ()
    drivers: tuple[Driver, ...] = ()


@dataclass(frozen=True)
class Key:
    """Values at a time [s]: (muscle, parameter) or ("control", name) -> number, or the name of a falloff."""

    time: float
    values: dict[tuple[str, str], float | str]


@dataclass(frozen=True)
class Keys:
    """Keys in rising order of time, and the frames a second that they are played at."""

    rate: float
    keys: tuple[Key, ...]

    def times(self) -> Floats:
        """(f,) [s] from the first key to the last."""
        first, last = self.keys[0].time, self.keys[-1].time
        return first + np.arange(int(np.floor((last - first) * self.rate * (1 + 1e-12) + 1e-9)) + 1) / self.rate

    def track(self, target: tuple[str, str], times: Floats) -> Floats | None:
        """(f,) a parameter over time: linear between the keys that name it, held before and after them."""
        given = [(key.time, key.values[target]) for key in self.keys if target in key.values]
        if not given:
            return None
        at = np.array([time for time, _ in given])
        if isinstance(given[0][1], str):
            which = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 1)
            return np.array([FALLOFFS.index(str(value)) for _, value in given], dtype=np.float64)[which]
        return np.interp(times, at, np.array([float(value) for _, value in given]))


def played(rig: Rig, order: list[str], times: Floats, keys: Keys | None, pose: Pose | None = None) -> list[Settings]:
    """Settings of every frame, muscles in the given order.

    Keyed parameters replace a muscle's own; drivers and controls add to them, in this order. Contraction ends in 0…1.

    Args:
        pose: a skeleton in motion, sampled at `times`; without one the drivers are silent.
    """
    frames = len(times)
    by_name = {muscle.name: muscle for muscle in rig.muscles}
    rest = Settings.of([by_name[name] for name in order])
    tracks = {name: np.tile(getattr(rest, name).astype(np.float64), (frames, 1)) for name in (*PARAMETERS, "falloff")}
    place = {name: k for k, name in enumerate(order)}
    knobs = {control.name: np.full(frames, control.rest) for control in rig.controls}
    if keys:
        for target in {target for key in keys.keys for target in key.values}:
            track = keys.track(target, times)
            if track is None:
                continue
            if target[0] == "control":
                knobs[target[1]] = track
            else:
                tracks[target[1]][:, place[target[0]]] = track
    for driver in rig.drivers if pose else ():
        assert pose is not None
        value = driven(driver, pose)
        if driver.target[0] == "control":
            knobs[driver.target[1]] = knobs[driver.target[1]] + value
        else:
            add(tracks, by_name, place, driver.target, value)
    for control in rig.controls:
        value = np.clip(knobs[control.name], control.low, control.high)
        for muscle, parameter, amount in control.amounts:
            add(tracks, by_name, place, (muscle, parameter), amount * value)
    tracks["contraction"] = np.clip(tracks["contraction"], 0.0, 1.0)
    for name in ("d_full", "d_none"):
        tracks[name] = np.maximum(tracks[name], 0.0)
    tracks["d_none"] = np.maximum(tracks["d_none"], tracks["d_full"])
    return [
        Settings(**{name: tracks[name][f].copy() for name in PARAMETERS}, falloff=tracks["falloff"][f].astype(np.int64))
        for f in range(frames)
    ]  # fmt: skip


def add(tracks: dict[str, Floats], muscles: dict[str, Muscle], place: dict[str, int], target: tuple[str, str],
        value: Floats) -> None:  # fmt: skip
    column = tracks[target[1]][:, place[target[0]]]
    if target[1] == "bulge":  # NaN stands for the muscle's own
        column = np.where(np.isnan(column), float(muscles[target[0]].bulge.mean()), column)
    tracks[target[1]][:, place[target[0]]] = column + value


def driven(driver: Driver, pose: Pose) -> Floats:
    """(f,) output of a driver."""
    try:
        if driver.kind == "angle":
            found = pose.angle(driver.joints[0], driver.axis)
        else:
            found = pose.distance(driver.joints[0], driver.joints[1])
    except KeyError as error:
        raise InputError(f"the animation has no joint {error.args[0]!r}", place="drivers") from None
    table = np.array(driver.table)
    return np.interp(found, table[:, 0], table[:, 1])
