"""A control bound to a torso: what each sample of time asks of every group, element, joint and body.

Angles of joints come as the servos take them: radians about the axes of `core.torso.Bodies`, in the order of the joints'
degrees of freedom. Positive for people: flexion forward, bending to the right, rotation to the left, shoulders up and
forward, arms forward and out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import SYRINGE, Ball, Channel, Control
from risorius.core.model import Model
from risorius.core.torso import Joint
from risorius.core.units import LITRE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FREEDOM: Final = {Joint.FIXED: 0, Joint.HINGE: 1, Joint.UNIVERSAL: 2, Joint.BALL: 3, Joint.FREE: 6}
SPINE: Final = ("l4_l5", "l1_l3", "t9_t12", "t5_t8", "t1_t4", "c4_c7", "c1_c3", "skull")
TRUNK, NECK = SPINE[:5], SPINE[5:]
REGIONS: Final[dict[str, tuple[str, ...]]] = {"spine": SPINE, "trunk": TRUNK, "neck": NECK}
"""Parts of the spine over which one bend is shared out."""
SPINE_AXES: Final = {"flexion": (2, -1.0), "bending": (0, 1.0), "rotation": (1, 1.0)}
GIRDLE_AXES: Final = {"elevation": (0, -1.0), "protraction": (1, 1.0)}
ARM_AXES: Final = {"flexion": (2, 1.0), "abduction": (0, -1.0), "rotation": (1, 1.0)}
ELBOW_AXES: Final = {"flexion": (0, 1.0)}
MIRRORED: Final = {"elevation", "protraction", "abduction", "rotation"}
"""Motions of a limb whose sign turns round on the left side."""
PAIRS: Final = {"shoulders": "girdle", "arms": "upper_arm", "elbows": "lower_arm"}
"""Both sides by one name."""


class Axis(NamedTuple):
    """One joint axis that a motion turns: body, axis number, sign, and the part of the angle that it takes."""

    body: str
    axis: int
    sign: float
    regional: bool


def motions() -> dict[str, tuple[Axis, ...]]:
    """Every joint motion that can be driven: `t5_t8.flexion`, `spine.flexion`, `girdle_r.elevation`, `arms.abduction` …"""
    found: dict[str, tuple[Axis, ...]] = {}
    for body in SPINE:
        for motion, (axis, sign) in SPINE_AXES.items():
            found[f"{body}.{motion}"] = (Axis(body, axis, sign, False),)
    for region, members in REGIONS.items():
        for motion, (axis, sign) in SPINE_AXES.items():
            found[f"{region}.{motion}"] = tuple(Axis(body, axis, sign, True) for body in members)
    for stem, axes in (("girdle", GIRDLE_AXES), ("upper_arm", ARM_AXES), ("lower_arm", ELBOW_AXES)):
        both = next(name for name, member in PAIRS.items() if member == stem)
        for motion, (axis, sign) in axes.items():
            turned = -sign if motion in MIRRORED else sign
            if stem == "lower_arm":
                turned = -sign
            right, left = Axis(f"{stem}_r", axis, sign, False), Axis(f"{stem}_l", axis, turned, False)
            found[f"{stem}_r.{motion}"] = (right,)
            found[f"{stem}_l.{motion}"] = (left,)
            found[f"{both}.{motion}"] = (right, left)
    return found


MOTIONS: Final = motions()


@dataclass(eq=False)
class Bound:
    """A control as arrays of time; see `bind`.

    Args:
        lines, fibres: indices of the single elements that are driven (lines first, then fibres, in `single`).
        rise, fall: (k) [s] time constants of their activation.
        bodies, dofs: how many there are.
    """

    control: Control
    groups: tuple[str, ...]
    lines: Ints
    fibres: Ints
    rise: Floats
    fall: Floats
    bodies: int
    dofs: int
    balls: tuple[Ball, ...]
    bends: list[tuple[Channel, Ints, Floats, Floats, Floats]] = field(default_factory=list)
    singles: list[tuple[Channel, Ints]] = field(default_factory=list)
    pushes: list[tuple[int, Floats, float, float]] = field(default_factory=list)

    def excitation(self, times: Floats) -> Floats:
        """(n, groups) 0…1."""
        return self.control.excitation(self.groups, times)

    def opening(self, times: Floats) -> Floats:
        """(n) of the airway, glottis and lips together, 0…1."""
        return self.control.opening(times)

    def bend(self, times: Floats) -> Floats:
        """(n, dofs) [rad] asked of the servos, within the joints' limits; (0, dofs) where nothing bends."""
        if not self.bends:
            return np.zeros((0, self.dofs))
        asked = np.zeros((len(times), self.dofs))
        low, high = np.full(self.dofs, -np.inf), np.full(self.dofs, np.inf)
        for channel, dof, share, least, most in self.bends:
            angle = np.radians(channel(times))
            part = np.where(angle[:, None] < 0.0, share[0], share[1])
            asked[:, dof] += angle[:, None] * part
            low[dof], high[dof] = least, most
        return np.clip(asked, low, high)

    def single(self, times: Floats) -> Floats:
        """(n, k) excitation of single elements, 0…1."""
        value = np.zeros((len(times), len(self.lines) + len(self.fibres)))
        for channel, where in self.singles:
            value[:, where] += channel(times)[:, None]
        return np.clip(value, 0.0, 1.0)

    def push(self, times: Floats) -> Floats:
        """(n, bodies, 3) [N] on centres of mass."""
        force = np.zeros((len(times), self.bodies, 3))
        for body, size, start, end in self.pushes:
            force[(times >= start) & (times < end), body] += size
        return force

    def syringe(self, times: Floats) -> Floats:
        """(n) [m³/s] pushed into the lung below the glottis."""
        value = np.zeros(len(times))
        for channel in self.control.channels:
            if channel.target == SYRINGE:
                value += LITRE * channel(times)
        return value

    @property
    def stepwise(self) -> bool:
        """Whether something has to be set between steps."""
        return bool(self.singles or self.pushes or self.balls or SYRINGE in self.control.targets())


def bind(control: Control, model: Model) -> Bound:
    """Resolve every name of a control on a subject; `InputError` names the line of the file it came from."""
    torso = model.torso
    first = [0, *accumulate(FREEDOM[Joint(kind)] for kind in torso.bodies.joint.tolist())]
    index: dict[str, list[int]] = {}
    for number, label in enumerate((*torso.lines.label, *torso.fibres.label)):
        index.setdefault(label, []).append(number)
    wanted: dict[int, int] = {}
    bends, singles = [], []
    for channel in control.channels:
        if channel.target in MOTIONS:
            bends.append(bend_of(channel, model, first))
        elif channel.label is not None:
            if channel.label not in index:
                raise control.refusal(f"expected the label of an element, got {channel.label!r}{near(channel.label, index)}",
                                      channel)  # fmt: skip
            members = index[channel.label]
            for number in members:
                wanted.setdefault(number, 0)
            singles.append((channel, members))
    order = sorted(wanted)
    place = {number: slot for slot, number in enumerate(order)}
    count = len(torso.lines.group)
    group = [int(torso.lines.group[n] if n < count else torso.fibres.group[n - count]) for n in order]
    material = [model.materials[torso.groups[g]] for g in group]
    control.check(torso.groups)
    pushes = []
    for push in control.pushes:
        if push.body not in torso.bodies.names:
            raise control.refusal(f"expected a body, got {push.body!r}; one of {', '.join(torso.bodies.names)}", push)
        pushes.append((torso.bodies.index(push.body), np.array(push.force), push.start, push.end))
    return Bound(
        control,
        torso.groups,
        np.array([n for n in order if n < count], dtype=np.int64),
        np.array([n - count for n in order if n >= count], dtype=np.int64),
        np.array([m.rise for m in material]),
        np.array([m.fall for m in material]),
        len(torso.bodies.names),
        first[-1],
        tuple(sorted((placed(ball, model, control.posture) for ball in control.balls), key=lambda ball: ball.time)),
        bends,
        [(channel, np.array([place[n] for n in members], dtype=np.int64)) for channel, members in singles],
        pushes,
    )


def bend_of(channel: Channel, model: Model, first: Sequence[int]) -> tuple[Channel, Ints, Floats, Floats, Floats]:
    """Degrees of freedom of a motion, with signed shares (2, k) for negative and positive angles, and their limits [rad].

    A bend of a region is shared out in proportion to what each joint can turn that way (D §6.2: "distributing the overall
    desired bend along the length of the spine").
    """
    axes = MOTIONS[channel.target]
    dof, sign, low, high = [], [], [], []
    for axis in axes:
        body = model.torso.bodies.index(axis.body)
        joint = model.joints[body]
        dof.append(first[body] + axis.axis)
        sign.append(axis.sign)
        low.append(joint.low[axis.axis])
        high.append(joint.high[axis.axis])
    signs, least, most = np.array(sign), np.array(low), np.array(high)
    up = np.where(signs > 0.0, most, -least)
    down = np.where(signs > 0.0, -least, most)
    share = np.ones((2, len(dof)))
    if axes[0].regional:
        share = np.stack([down / down.sum(), up / up.sum()])
    return channel, np.array(dof, dtype=np.int64), share * signs, least, most


def placed(ball: Ball, model: Model, posture: str) -> Ball:
    """A ball without a place hangs its height over (upright: before) the navel."""
    if ball.place is not None:
        return ball
    navel = model.torso.landmarks["umbilicus_surface_point"]
    reach = ball.radius + ball.height
    return ball.at((float(navel[0]) + reach, float(navel[1]), float(navel[2])))


def near(label: str, known: dict[str, list[int]]) -> str:
    """A hint: the nearest label."""
    from difflib import get_close_matches

    close = get_close_matches(label, known, 1, 0.3)
    return f"; did you mean {close[0]!r}?" if close else ""
