"""A control: everything that drives a run, as one object; `io.control_file` writes and reads it.

Channels name what they drive: a muscle group or a family of groups (0…1), `element:LABEL` for a single muscle element
(0…1), a joint motion of `control.bind.MOTIONS` such as `t5_t8.flexion` or `spine.flexion` [deg], `glottis` or `lips` (0
shut … 1 wide open) or `syringe` [l/s]. Several channels may drive the same thing; their curves add up, and the sum is kept
within its range. Disturbances stand beside the channels: balls that are let go, pushes on bodies.

    breath = Control.of(20.0, diaphragm=Sine(level=0.03, amplitude=0.03, frequency=0.2, phase=-0.25))
    laugh = Control.of(4.0, abdomen=Square(amplitude=0.5, frequency=5.0), spine__flexion=Linear(points=((0, 0), (1, 10))))
    both = added(breath, laugh.shifted(6.0))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.control.curves import Curve, Linear
from risorius.core.errors import InputError

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]

FAMILIES: dict[str, tuple[str, ...]] = {
    "abdomen": ("rectus_upper", "rectus_middle", "rectus_lower", "oblique", "transversus"),
    "intercostals": ("intercostal_external", "intercostal_internal", "parasternal"),
    "inspiratory": ("diaphragm", "intercostal_external", "parasternal", "scalene", "sternocleidomastoid", "levator_costae"),
    "accessory": ("serratus_superior", "pectoralis_minor", "clavicle_up"),
    "expiratory": (
        "rectus_upper", "rectus_middle", "rectus_lower", "oblique", "transversus", "intercostal_internal", "triangularis",
    ),
}  # fmt: skip
"""One value for several groups (DiLorenzo 2009, §3.2.3: the five regions of the abdomen). Accessory muscles of inspiration
act in the deepest breaths alone: the shoulders rise, and what hangs between them and the ribs lifts ribs 2 to 5."""
GLOTTIS: Final = "glottis"
LIPS: Final = "lips"
VALVES: Final = (GLOTTIS, LIPS)
"""Narrow places of the airway, open where nothing drives them."""
SYRINGE: Final = "syringe"
ELEMENT: Final = "element:"
POSTURES: Final = ("upright", "supine")
ROUTES: Final = ("mouth", "nose")


@dataclass(frozen=True)
class Channel:
    """What is driven, by which curves, times a gain.

    Args:
        target: see there.
        curves: added up.
        gain: factor on their sum.
        fades: curves that multiply it: how one control is blended into another.
        line: of the file it was read from, for messages.
    """

    target: str
    curves: tuple[Curve, ...]
    gain: float = 1.0
    fades: tuple[Linear, ...] = ()
    line: int | None = field(default=None, compare=False)

    @property
    def label(self) -> str | None:
        """Label of the single element it drives, if it does."""
        return self.target.removeprefix(ELEMENT) if self.target.startswith(ELEMENT) else None

    def __call__(self, times: Floats) -> Floats:
        """Value (n) at times [s]."""
        value = np.zeros(len(times))
        for curve in self.curves:
            value += self.gain * curve(times)
        for fade in self.fades:
            value *= fade(times)
        return value

    def shifted(self, late: float) -> Channel:
        """The same, later by some seconds."""
        curves = tuple(later(curve, late) for curve in self.curves)
        fades = tuple(later(fade, late) for fade in self.fades)
        return replace(self, curves=curves, fades=fades)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Push:
    """A force [N] on a body's centre of mass, in the world's axes, from `start` to `end` [s] (D ch. 8; MuJoCo's perturb)."""

    body: str
    force: Vector
    start: float
    end: float
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Ball:
    """A heavy ball that is let go (D fig. 3.6).

    Args:
        time: when [s].
        mass: [kg].
        radius: [m].
        height: gap [m] between the ball and the navel where no place is given, over it when supine, before it upright.
        place: centre [m], or nothing.
        velocity: [m/s].
    """

    time: float
    mass: float
    radius: float
    height: float = 0.1
    place: Vector | None = None
    velocity: Vector = (0.0, 0.0, 0.0)
    line: int | None = field(default=None, compare=False)

    def at(self, place: Vector) -> Ball:
        """The same, at a place."""
        return replace(self, place=place)


@dataclass(frozen=True)
class Control:
    """A whole run's control.

    Args:
        channels: see there; glottis and lips are open where no channel names them.
        seconds: length of the run [s].
        posture: "upright" or "supine".
        route: "mouth" or "nose".
        name: what the behaviour is called.
        balls, pushes: disturbances.
        frames: recorded a second.
        file: it was read from, for messages.
    """

    channels: tuple[Channel, ...]
    seconds: float
    posture: str = "upright"
    route: str = "mouth"
    name: str = "control"
    balls: tuple[Ball, ...] = ()
    pushes: tuple[Push, ...] = ()
    frames: float = 25.0
    file: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, seconds: float, *, posture: str = "upright", route: str = "mouth", **targets: Curve) -> Control:
        """A control from curves by name; a double underscore stands for the dot of a joint motion (`spine__flexion`)."""
        channels = tuple(Channel(name.replace("__", "."), (curve,)) for name, curve in targets.items())
        return cls(channels, seconds, posture, route)

    def targets(self) -> set[str]:
        """Everything that is driven."""
        return {channel.target for channel in self.channels}

    def refusal(self, message: str, part: Channel | Push | Ball) -> InputError:
        """An error about a part, with the line of the file it came from."""
        place = f"<push body={part.body!r}>" if isinstance(part, Push) else "<ball>"
        if isinstance(part, Channel):
            place = f"<element label={part.label!r}>" if part.label is not None else f"<drive target={part.target!r}>"
        return InputError(message, file=self.file, line=part.line, place=place)

    def check(self, groups: Sequence[str]) -> None:
        """`InputError` for a target that no group, family, joint or valve is called."""
        from risorius.control.bind import MOTIONS

        for channel in self.channels:
            target = channel.target
            if channel.label is None and target not in MOTIONS and target not in (*VALVES, SYRINGE):
                if target in FAMILIES or target in groups:
                    continue
                known = ", ".join((*groups, *FAMILIES, *VALVES, SYRINGE))
                raise self.refusal(
                    f"expected a muscle group, got {target!r}; one of {known}, or a joint motion", channel
                )

    def excitation(self, groups: Sequence[str], times: Floats) -> Floats:
        """Excitation (times, groups) in 0…1."""
        self.check(groups)
        value = np.zeros((len(times), len(groups)))
        for channel in self.channels:
            driven = FAMILIES.get(channel.target, (channel.target,))
            columns = [number for number, group in enumerate(groups) if group in driven]
            if columns:
                value[:, columns] += channel(times)[:, None]
        return np.clip(value, 0.0, 1.0)

    def glottis(self, times: Floats) -> Floats:
        """Opening of the glottis (times) in 0…1."""
        return self.valve(GLOTTIS, times)

    def valve(self, name: str, times: Floats) -> Floats:
        """Opening of a narrow place of the airway (times) in 0…1."""
        driving = [channel for channel in self.channels if channel.target == name]
        if not driving:
            return np.ones(len(times))
        return np.clip(sum(channel(times) for channel in driving), 0.0, 1.0)

    def opening(self, times: Floats) -> Floats:
        """Opening of the whole airway (times) in 0…1, that of the glottis where the lips are open: orifices in series add up
        their resistances, which go with 1/a²."""
        glottis = self.glottis(times)
        if LIPS not in self.targets():
            return glottis
        lips = self.valve(LIPS, times)
        shut = (glottis <= 0.0) | (lips <= 0.0)
        inverse = np.where(shut, 1.0, glottis) ** -2.0 + np.where(shut, 1.0, lips) ** -2.0 - 1.0
        return np.where(shut, 0.0, inverse**-0.5)

    def shifted(self, late: float) -> Control:
        """The same, begun later by some seconds; where it moves glottis or lips, they are open before."""
        channels = tuple(channel.shifted(late) for channel in self.channels)
        if late > 0.0:
            channels += tuple(Channel(v, (Curve(1.0, 0.0, late),)) for v in VALVES if v in self.targets())
        balls = tuple(replace(ball, time=ball.time + late) for ball in self.balls)
        pushes = tuple(replace(push, start=push.start + late, end=push.end + late) for push in self.pushes)
        return replace(self, channels=channels, balls=balls, pushes=pushes, seconds=self.seconds + late)

    def lasting(self, seconds: float) -> Control:
        """The same with another length."""
        return replace(self, seconds=seconds)


def later(curve: Curve, late: float) -> Curve:
    """A curve moved along time."""
    return replace(curve, start=curve.start + late, end=curve.end + late)


def added(one: Control, other: Control, name: str | None = None) -> Control:
    """One control on top of another, as a laugh over a breath: excitations and angles add up, and so do closures of the
    glottis and lips. Posture and route are the first's; it lasts as long as the longer of the two."""
    channels = [*one.channels, *other.channels]
    both = one.targets() & other.targets()
    channels += [Channel(valve, (Curve(-1.0),)) for valve in VALVES if valve in both]
    return replace(
        one,
        channels=tuple(channels),
        seconds=max(one.seconds, other.seconds),
        frames=max(one.frames, other.frames),
        name=name or f"{one.name}+{other.name}",
        balls=one.balls + other.balls,
        pushes=one.pushes + other.pushes,
        file=one.file or other.file,
    )


def blended(one: Control, other: Control, start: float, end: float, name: str | None = None) -> Control:
    """From one control into another between two times [s], by a smooth weight; both run on the same clock. Posture and
    route are the first's, the length the second's, disturbances of both happen."""
    if not 0.0 <= start < end:
        raise InputError(f"expected times 0 ≤ start < end, got {start:g} and {end:g}", place="blend")
    part = np.linspace(0.0, 1.0, 17)
    smooth = part * part * (3.0 - 2.0 * part)
    times = start + (end - start) * part
    rise = Linear(points=tuple((float(t), float(w)) for t, w in zip(times, smooth)))
    fall = Linear(points=tuple((float(t), float(1.0 - w)) for t, w in zip(times, smooth)))
    channels = []
    driven = one.targets() | other.targets()
    for control, fade in ((one, fall), (other, rise)):
        parts = control.channels
        parts += tuple(Channel(v, (Curve(1.0),)) for v in VALVES if v in driven - control.targets())
        channels += [replace(channel, fades=(*channel.fades, fade)) for channel in parts]
    return replace(
        one,
        channels=tuple(channels),
        seconds=other.seconds,
        frames=max(one.frames, other.frames),
        name=name or f"{one.name}-{other.name}",
        balls=one.balls + other.balls,
        pushes=one.pushes + other.pushes,
        file=one.file or other.file,
    )
