"""Hand and forearm as a `StrandModel`: bodies with flesh, joints with springs and limits, 54 strands in their rings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.skeleton import FIXED, HandSkeleton, build_skeleton
from risorius.anatomy.hand.units import Unit, build_units, lengths
from risorius.anatomy.tables import MM, table
from risorius.core.strands import Attachment, Body, Joint, Law, Link, Slide, Strand, StrandModel, Tissue
from risorius.core.torso import Floats
from risorius.maths.splines import design

NEAR: Final = (4.5e-3, 6e-3)
FAR: Final = 28e-3
REACH: Final = 12e-3
"""[m] least and widest distance of control points in the hand, distance in the forearm where nothing bends the strand,
and how far off a ring asks for close points: strands slide."""
FLESHY: Final = (0.6, 6e-3)
"""Drawn radius of a belly over that of its cross-section, and its most [m]: bellies are flat and lie side by side."""


@dataclass(frozen=True, eq=False)
class HandModel:
    """A hand ready to be simulated.

    Args:
        skeleton: bones and joints.
        units: routes at rest, in the order of the strands.
        strands: the description that the simulator takes.
        relaxed: (t,) [rad] joint angles of the relaxed hand.
    """

    skeleton: HandSkeleton
    units: tuple[Unit, ...]
    strands: StrandModel
    relaxed: Floats


def joint_figures(name: str) -> dict[str, float]:
    """Stiffness, damping, rest of a turn: `mcp3_flexion` goes by `mcp_flexion`."""
    figures: dict[str, Any] = table("hand_units")["joints"]
    plain = "".join(letter for letter in name if not letter.isdigit())
    return figures[name] if name in figures else figures[plain]


def relaxed_angles(skeleton: HandSkeleton) -> Floats:
    """(t,) [rad] the posture of a relaxed hand, in which the slack lengths of its muscles are set."""
    figures = [joint_figures(name) for name in skeleton.turn_names]
    return np.radians([entry.get("posture", entry["rest"]) for entry in figures])


def bodies_of(skeleton: HandSkeleton) -> tuple[Body, ...]:
    """Every segment as a bar of flesh along its bone."""
    figures = table("hand_units")["bodies"]
    scale = skeleton.scale
    found = []
    for k, name in enumerate(skeleton.names):
        vertices = np.asarray(skeleton.meshes[k].vertices)
        centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        _, _, axes = np.linalg.svd(vertices - vertices.mean(axis=0), full_matrices=False)
        along = axes[0]
        reach = float(np.ptp(vertices @ along))
        plain = name.rstrip("0123456789")
        if name in figures["mass"]:
            mass = figures["mass"][name] * scale**3
            radius = np.sqrt(mass / (np.pi * reach * figures["density"]))
        else:
            radius = figures["radius"].get(name, figures["radius"].get(plain)) * MM * scale
            mass = figures["density"] * np.pi * radius**2 * reach
        inertia = mass * ((radius**2 / 4 + reach**2 / 12) * (np.eye(3) - np.outer(along, along))
                          + radius**2 / 2 * np.outer(along, along))  # fmt: skip
        found.append(Body(name, mass, centre, inertia, skeleton.meshes[k]))
    return tuple(found)


def joints_of(skeleton: HandSkeleton) -> tuple[Joint, ...]:
    """The first body is fixed to the world; turns become hinges and universal joints."""
    size = (skeleton.scale / reference_scale()) ** 3  # torques of larger hands: force times arm
    found = []
    for k, name in enumerate(skeleton.names):
        turns = [turn for turn in skeleton.turns if turn.body == k]
        parent = skeleton.names[skeleton.parent[k]] if skeleton.parent[k] >= 0 else ""
        if not turns:
            found.append(Joint(name, parent, "fixed"))
            continue
        figures = [joint_figures(turn.name) for turn in turns]
        found.append(
            Joint(
                name,
                parent,
                "hinge" if len(turns) == 1 else "universal",
                axes=np.array([turn.axis for turn in turns]),
                points=skeleton.joint[k],
                stiffness=np.array([entry["stiffness"] for entry in figures]) * size,
                damping=np.array([entry["damping"] for entry in figures]) * size,
                rest=np.radians([entry["rest"] for entry in figures]),
                low=np.array([turn.low for turn in turns]),
                high=np.array([turn.high for turn in turns]),
                limit_stiffness=4.0 * size,
            )
        )
    return tuple(found)


def reference_scale() -> float:
    """Scale of the man for whom forces and torques of the tables hold."""
    data = table("hand_bones")
    return data["hand_length"]["male"] / data["reference_length"]


def curve_weights(parameters: Floats, count: int) -> Floats:
    """(m, n) weights of the control points at parameters 0 … 1 along a strand."""
    return design(count, np.clip(np.asarray(parameters, dtype=np.float64), 0.0, 1.0) * (count - 1))


def drawn(unit: Unit, near_body: set[int], scale: float) -> tuple[Floats, Floats]:
    """Control points (n, 3) whose curve meets every route point, and the parameters (k,) where it does.

    In the hand, and for an excursion's length before it, points stand as close as the route's rings there but no closer
    than `NEAR[0]` and no wider than `NEAR[1]`; `FAR` apart further back. The curve is the one nearest to the route's
    straight pieces of all that meet its points (linear least squares with constraints).
    """
    gap = np.linalg.norm(np.diff(unit.point, axis=0), axis=1)
    arc = np.concatenate([[0.0], np.cumsum(gap)])
    inside = np.array([body in near_body for body in unit.body])
    first = arc[int(inside.argmax())] if inside.any() else arc[-1]
    fine = np.linspace(0.0, arc[-1], 2001)
    middle = 0.5 * (arc[1:] + arc[:-1])
    reach = np.abs(fine[:, None] - middle) - 0.5 * gap < REACH * scale
    tight = np.where(reach, gap, np.inf).min(axis=1)
    spacing = np.clip(tight, NEAR[0] * scale, NEAR[1] * scale)
    spacing = np.where(fine < first - 75e-3 * scale, FAR * scale, spacing)
    density = np.concatenate([[0.0], np.cumsum(np.diff(fine) / (0.5 * (spacing[1:] + spacing[:-1])))])
    count = max(6, int(np.ceil(float(density[-1]))) + 1)
    at = density / density[-1]
    parameters = np.interp(arc, fine, at)
    places = np.interp(np.linspace(0, 1, count), at, fine)
    straight = np.stack([np.interp(places, arc, unit.point[:, k]) for k in range(3)], axis=1)
    basis = curve_weights(parameters, count)
    # between its points the curve should not wander: second differences weigh a little
    bend = np.diff(np.eye(count), n=2, axis=0)
    kkt = np.block([[np.eye(count) + 0.3 * bend.T @ bend, basis.T], [basis, np.zeros((len(arc), len(arc)))]])
    right = np.concatenate([straight, unit.point])
    solved = np.linalg.lstsq(kkt, right, rcond=None)[0]
    return solved[:count], parameters


def strand_of(unit: Unit, points: Floats, slack: float, belly: float, scale: float) -> Strand:
    """The strand of a unit: tendon and one belly that begins at its origin, `belly` being the belly's end."""
    figures = table("hand_units")["passive"]
    cross = unit.strength / 30e4 / (scale / reference_scale()) ** 0  # [m²] at 30 N/cm²
    fat = min(max(FLESHY[0] * float(np.sqrt(cross / np.pi)), unit.radius), FLESHY[1] * scale)
    at = np.linspace(0.0, 1.0, len(points)) / belly
    swell = np.where(at < 1.0, np.sin(np.pi * np.clip(0.12 + 0.88 * at, 0, 1)) ** 0.6, 0.0)
    radius = unit.radius + (fat - unit.radius) * swell
    muscle = Tissue(figures["muscle"] * unit.strength, unit.strength, 0.0, belly, slack, law=toe_law())
    stiff = unit.strength / figures["tendon_strain"]
    tissues = (muscle, Tissue(stiff, 0.0, belly, 1.0, compression=1.0)) if belly < 1.0 else (muscle,)
    return Strand(unit.name, points, radius, tissues, mass_damping=100.0, group=unit.group)


def strands_of(
    skeleton: HandSkeleton, units: tuple[Unit, ...], relaxed: Floats
) -> tuple[list[Strand], list[Attachment], list[Slide], list[Link]]:
    """Strands with their origins, insertions, rings and links.

    Slack lengths are those at which every belly just begins to pull when the hand is relaxed: string lengths say how much
    longer or shorter a route is there than as drawn.
    """
    rest = lengths(skeleton, units, np.stack([np.zeros_like(relaxed), relaxed]))
    strands: list[Strand] = []
    attachments: list[Attachment] = []
    slides: list[Slide] = []
    links: list[Link] = []
    near = {k for k, name in enumerate(skeleton.names) if name not in (*FIXED, "radius")}
    known: dict[str, Floats] = {}
    for number, unit in enumerate(units):
        points, parameters = drawn(unit, near, skeleton.scale)
        known[unit.name] = parameters
        total = float(rest[0, number])
        belly = min(unit.fibre / total, 0.85)
        slack = 1.0 + (rest[1, number] - rest[0, number]) / (belly * total)
        belly_end = belly_parameter(points, belly)
        strands.append(strand_of(unit, points, float(np.clip(slack, 0.6, 1.6)), belly_end, skeleton.scale))
        names = [skeleton.names[body] for body in unit.body]
        if unit.link[0]:
            other, before = unit.link
            span = known[other]
            part = link_part(units, other, before, unit.point[0])
            links.append(Link(unit.name, 0.0, other, float(span[before] + part * (span[before + 1] - span[before]))))
        else:
            attachments.append(Attachment(unit.name, 0.0, names[0], unit.point[0]))
        attachments.append(Attachment(unit.name, 1.0, names[-1], unit.point[-1]))
        slides += [
            Slide(unit.name, float(parameters[k]), names[k], unit.point[k]) for k in range(1, len(unit.point) - 1)
        ]
    return strands, attachments, slides, links


def link_part(units: tuple[Unit, ...], name: str, before: int, point: Floats) -> float:
    """How far between two route points of another unit a point lies."""
    other = next(unit for unit in units if unit.name == name)
    a, b = other.point[before], other.point[before + 1]
    return float((point - a) @ (b - a) / ((b - a) @ (b - a)))


@cache
def toe_law() -> Law:
    """Passive force w·ln(1 + exp((λ − 1)/w)): λ − 1 where stretched, a little tone where not, lest tendons hang loose."""
    width = table("hand_units")["passive"]["toe"]
    stretch = np.concatenate([np.linspace(0.2, 0.7, 6), np.linspace(0.75, 1.4, 27), [1.6, 2.0]])
    return Law("toe", np.stack([stretch, width * np.logaddexp(0.0, (stretch - 1.0) / width)], axis=1))


def belly_parameter(points: Floats, part: float) -> float:
    """The parameter at a part of a strand's length."""
    fine = np.linspace(0.0, 1.0, 400)
    curve = curve_weights(fine, len(points)) @ points
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    return float(np.interp(part * arc[-1], arc, fine))


def build_hand(side: str = "right", length: str | float = "male") -> HandModel:
    """Hand and forearm with their 54 units.

    Args:
        side: "left" or "right".
        length: [m] hand length from wrist crease to fingertip, or "male", "female".
    """
    skeleton = build_skeleton(side, length)
    units = build_units(skeleton)
    relaxed = relaxed_angles(skeleton)
    strands, attachments, slides, links = strands_of(skeleton, units, relaxed)
    model = StrandModel(
        f"{side} hand", bodies_of(skeleton), joints_of(skeleton), tuple(strands), tuple(attachments), tuple(slides),
        links=tuple(links),
    )  # fmt: skip
    return HandModel(skeleton, units, model, relaxed)


def weightless(model: StrandModel) -> StrandModel:
    """The same without gravity."""
    return replace(model, gravity=np.zeros(3))
