"""Preload: what holds the built torso still at the end of a quiet expiration.

Real tissue is under tension at rest, unevenly, and nobody can measure it all. The built shape is taken as the upright
equilibrium of relaxed muscles with the glottis open, lung recoil at FRC and the abdomen's resting pressure; the smallest
set of joint neutral angles, strut offsets and tissue pushes that balances it is solved for once. Every other state, any
other posture included, is then an equilibrium or a motion that the model finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from risorius.core.model import Model
from risorius.core.units import CMH2O, GRAVITY
from risorius.maths.polyhedron import volume
from risorius.mechanics.muscles import HILL, REST, STIFFNESS, STRENGTH, WIDTH
from risorius.mechanics.tree import joint_loads
from risorius.sim.assemble import system_of
from risorius.sim.step import Drive, Room, Scheme, State, look, rest_state, room_for, steps
from risorius.sim.system import System, Work

APPOSED_WITHIN = 0.006
"""A point nearer than this [m] to the inside of the ribs lies on them at rest."""
TENSION_UNIT = 0.02
"""Prior resting tension of a fibre as a part of its greatest force (passive elements: strain)."""
SLACK_UNIT = 0.01
"""The same of the diaphragm, which hangs slack while one stands (relaxed Pdi is nought: physiology survey section 6)."""
TENSION_LOW, TENSION_HIGH, TENSION_PRIOR, TENSION_ROUNDS = 0.1, 12.0, 0.02, 400
"""Bounds of the tension in that unit, weight of the prior [N²], rounds of the search."""

ON_THE_BED = ("l1", "l4", "t1", "t5", "t9", "c1", "c4", "skull", "girdle", "upper_arm", "lower_arm")
"""Bodies (by the beginnings of their names) that a bed carries."""
HELD_BY_TONE = ("girdle", "upper_arm")
"""Bodies that hang by the resting tension of the muscles on them."""
TONE_UNIT, TONE_MOST = 0.02, 0.5
"""Prior and greatest resting activation of a muscle of the shoulder."""
TONE_LEVER = 0.1
"""Lever arm [m] that weighs a moment against a force there."""

UNSHARED, SHARED, SHARED_MORE = (
    ("scalene", "levator_costae"), ("intercostal_external",), ("pectoralis_minor", "serratus_superior"),
)  # fmt: skip
"""Groups that lift the ribs: those with all their drive, those that it is shared out over, those of the deepest breath."""
CHEST_PRESSURE, MORE = 30.0 * CMH2O, 1.5
"""Pressure [Pa] over the chest that they hold (pleural -25 to -40 cmH2O at total capacity), and how much more in all."""
RANGE = (1.35, 0.9)
"""How far rib 1 and rib 10 turn against the mean: the range falls steadily to about half (Beyer 2016)."""
SHARE_PRIOR = 0.02
"""Weight [N² m²] of the mechanical advantage as prior."""
MATCHED = {"intercostal_external": -1.0, "parasternal": -1.0, "intercostal_internal": 1.0, "triangularis": 1.0}
"""Groups driven by mechanical advantage: -1 where shortening on inflation earns drive, +1 where lengthening does."""
MATCH_VOLUME, MATCH_FULL = 0.15, 0.6
"""Gas let in, as a part of the gas at rest; the quantile of advantage, among those that help, that gets the full command."""
SETTLE_STEP, SETTLE_COUNT, SETTLE_RAMP = 0.01, 100, 40
"""Step [s] and number of Euler steps in which a relaxed chest settles; in so many of them gas is let in."""
LYING_DOWN = 1000
"""Such steps in which one who has lain down comes to rest."""


def preloaded(model: Model, posture: str = "upright", route: str = "mouth") -> tuple[System, State]:
    """The system with its preload, and the state of rest in which it was found (upright)."""
    system = system_of(model, "upright", route)
    groups = len(model.torso.groups)
    room, quiet = room_for(system, groups), relaxed(model, system)
    work = room.work
    points = system.points.rest
    abdomen = volume(points, system.cavity.abdomen)
    space = volume(points, system.cavity.trunk) - abdomen - system.lung.tissue
    content = abdomen * (1.0 + model.lung.abdomen / system.cavity.bulk)
    system = system._replace(cavity=system.cavity._replace(content=content))
    still = rest_state(system, groups, space)

    def forces(current: System) -> np.ndarray:
        look(current, still, quiet, room)
        return work.force.copy()

    m = len(system.tree.owner)
    papers = (
        model.torso.spec.muscles == "papers"
    )  # table 8.1 as it stands: nothing tightened, every element driven alike
    system = rest_on_ribs(system, work, forces)
    if not papers:
        system = tighten(model, system, forces(system)[m:].reshape(-1, 3))
    push = -forces(system)[m:].reshape(-1, 3)
    system = system._replace(tissue=system.tissue._replace(push=push))
    system = tone(model.torso.bodies.names, system, work, forces(system)[:m])
    system = hold_joints(system, work, forces(system)[:m])
    if not papers:
        share = matched(model, system, rest_state(system, groups, space))
        look(system, still, quiet, room)  # pose and volume gradients of rest
        system = coordinate(model, system._replace(lines=system.lines._replace(share=share)), work)
    if posture != "upright":
        other = system_of(model, posture)
        cavity = system.cavity._replace(heaviness=other.cavity.heaviness)
        tissue = system.tissue._replace(stiffness=other.tissue.stiffness)
        lines = system.lines._replace(tone=np.zeros_like(system.lines.tone))
        system = system._replace(gravity=other.gravity, cavity=cavity, tissue=tissue, lines=lines)
    return system, rest_state(system, groups, space)


def rest_on_ribs(system: System, work: Work, forces: Callable[[System], np.ndarray]) -> System:
    """Let the ribs carry what presses the apposed diaphragm outward at rest, by the depth at which each point meets them."""
    contact, m = system.contact, len(system.tree.owner)
    away = np.full(len(contact.point), np.inf)
    load = forces(system._replace(contact=contact._replace(level=away)))[m:].reshape(-1, 3)
    everywhere = contact._replace(level=np.full(len(away), -1.0), damping=np.zeros(len(away)))
    forces(system._replace(contact=everywhere))
    near = (work.foot >= 0) & (np.abs(work.depth) < APPOSED_WITHIN)
    normal = work.direction * near[:, None]
    outward = np.maximum(np.einsum("ij,ij->i", load[system.points.slot[contact.point]], normal), 0.0)
    k, soft = contact.stiffness, contact.softness
    gap = np.where(outward > k * soft, outward / k, 2.0 * np.sqrt(outward * soft / k) - soft)
    level = np.where(near, work.depth - gap, np.minimum(0.0, away))
    return system._replace(contact=contact._replace(level=level))


def tighten(model: Model, system: System, load: np.ndarray) -> System:
    """Give fibres the resting tension that best balances the load (p, 3) on their points: bounded least squares.

    A muscle's passive coefficient, or a passive element's slack length, is set so that it holds this tension at rest.
    """
    fibres, points = system.fibres, system.points
    first, second = points.rest[fibres.ends[:, 0]], points.rest[fibres.ends[:, 1]]
    length = np.linalg.norm(second - first, axis=1)
    direction = (second - first) / length[:, None]
    parameters = fibres.parameters.copy()
    muscle = fibres.law >= HILL
    stretch = length / parameters[:, REST]
    shape = np.exp(10.0 * (stretch - 1.0) - 5.0)
    passive = np.where(
        muscle, parameters[:, STIFFNESS] * shape, parameters[:, STIFFNESS] * (length - parameters[:, REST])
    )
    scale = np.where(muscle, parameters[:, STRENGTH], parameters[:, STIFFNESS] * parameters[:, REST])
    pull = np.zeros((len(load), 3, len(length)))
    number = np.arange(len(length))
    for end, sign in ((0, 1.0), (1, -1.0)):
        slot = points.slot[fibres.ends[:, end]]
        free = slot >= 0
        pull[slot[free], :, number[free]] += sign * direction[free]
    matrix = pull.reshape(-1, len(length))
    target = matrix @ passive - load.ravel()  # the load was measured with the passive tension in it
    slack = fibres.group == model.torso.groups.index("diaphragm")
    unit = np.where(slack, SLACK_UNIT, TENSION_UNIT) * scale
    tension = bounded(matrix * unit, target, TENSION_LOW, TENSION_HIGH, TENSION_PRIOR) * unit
    parameters[:, STIFFNESS] = np.where(muscle, tension / shape, parameters[:, STIFFNESS])
    parameters[:, REST] = np.where(muscle, parameters[:, REST], length - tension / parameters[:, STIFFNESS])
    return system._replace(fibres=fibres._replace(parameters=parameters))


def tone(names: tuple[str, ...], system: System, work: Work, load: np.ndarray) -> System:
    """Give the muscles of shoulder and arm the resting activation that best balances the joint loads (m) there and on the
    sternum, by bounded least squares: the shoulders hang on the neck (trapezius, levator), not on the ribs."""
    tree, lines = system.tree, system.lines
    held = np.array([name.startswith(HELD_BY_TONE) for name in names])
    hung = np.flatnonzero(held[lines.body].any(axis=1) & (lines.law >= HILL))
    kept = held[tree.owner] | np.array([names[body] == "sternum" for body in tree.owner])
    first, second = lines.point[hung, 0], lines.point[hung, 1]
    length = np.linalg.norm(second - first, axis=1)
    direction = (second - first) / length[:, None]
    matrix = np.zeros((len(load), len(hung)))
    for k, line in enumerate(np.concatenate([np.cross(first, direction), direction], axis=1)):
        wrench = np.zeros((len(tree.parent), 6))
        wrench[lines.body[hung[k], 0]] += line
        wrench[lines.body[hung[k], 1]] -= line
        joint_loads(tree, work.pose.column, wrench, matrix[:, k])
    parameters = lines.parameters[hung]
    lever = np.where(np.arange(len(load)) - tree.first[tree.owner] < 3, TONE_LEVER, 1.0)[kept]
    stretch = (length / parameters[:, REST] - 1.0) / parameters[:, WIDTH]
    rows = matrix[kept] / lever[:, None] * (parameters[:, STRENGTH] * np.maximum(1.0 - stretch**2, 0.0) * TONE_UNIT)
    activation = TONE_UNIT * bounded(rows, -load[kept] / lever, 0.0, TONE_MOST / TONE_UNIT, TENSION_PRIOR)
    resting = lines.tone.copy()
    resting[hung] = activation
    return system._replace(lines=lines._replace(tone=resting))


def matched(model: Model, system: System, state: State) -> np.ndarray:
    """Share (n) of its group's drive that each line gets; a lung that is read off the motion cannot be filled to find out,
    so there the same subject's two-way lung is."""
    if model.lung.two_way:
        return match_drive(model, system, state)
    return preloaded(replace(model, lung=replace(model.lung, two_way=True)))[0].lines.share


def match_drive(model: Model, system: System, state: State) -> np.ndarray:
    """Drive each intercostal in proportion to its mechanical advantage, as measured in man: spaces and parts of a space
    where a muscle shortens most as the relaxed chest fills (external, parasternal) or lengthens most (internal) get the
    most drive (De Troyer, Kirkwood & Wilson 2005; Hudson, Butler & Gandevia 2011, "neuromechanical matching").

    The advantage is the strain of each element when MATCH_VOLUME of gas is let into the closed, relaxed chest.
    """
    room, drive = room_for(system, len(model.torso.groups)), relaxed(model, system, opening=0.0)
    settle = Scheme(iterations=12, second_order=False)
    steps(system, state, drive, SETTLE_STEP, 2, settle, room)
    before = room.work.line_length.copy()
    more = MATCH_VOLUME * state.gas[0] / SETTLE_RAMP
    for _ in range(SETTLE_RAMP):
        state.gas[:] += more
        steps(system, state, drive, SETTLE_STEP, 1, settle, room)
    steps(system, state, drive, SETTLE_STEP, SETTLE_COUNT - SETTLE_RAMP, settle, room)
    strain = room.work.line_length / before - 1.0
    share = system.lines.share.copy()
    for group, sign in MATCHED.items():
        if group in model.torso.groups:
            members = system.lines.group == model.torso.groups.index(group)
            advantage = np.maximum(sign * strain[members], 0.0)
            share[members] = np.minimum(advantage / np.quantile(advantage[advantage > 0.0], MATCH_FULL), 1.0)
    return share


def settle(system: System, state: State, drive: Drive, room: Room) -> None:
    """Let a relaxed subject find its rest, and stop it there; time starts anew."""
    steps(system, state, drive, SETTLE_STEP, LYING_DOWN, Scheme(iterations=12, second_order=False), room)
    for array in (state.z, state.z_past, state.increment, state.clock):
        array.fill(0.0)
    state.gas[1] = state.gas[0]


def coordinate(model: Model, system: System, work: Work) -> System:
    """Share the drive of the external intercostals, and of the accessory muscles, out so that all ribs rise together.

    A sheet that pulls evenly on every rib lifts the lowest and drags the second down; people drive it most behind and
    above (De Troyer, Kirkwood & Wilson 2005) and the cage moves as one (Wilson 1987). Bounded least squares on the moments
    about the necks of ribs 1 to 10: with scalenes and levatores at their full force they hold CHEST_PRESSURE over the cage,
    and the accessory muscles MORE times as much; what is nearest to the mechanical advantage is taken.
    """
    tree, lines, groups = system.tree, system.lines, model.torso.groups
    hinge = np.array(
        [tree.first[model.torso.bodies.index(f"rib{rib}_{side}")] for rib in range(1, 11) for side in "rl"]
    )
    first, second = lines.point[:, 0], lines.point[:, 1]
    length = np.linalg.norm(second - first, axis=1)
    direction = (second - first) / length[:, None]
    stretch = (length / lines.parameters[:, REST] - 1.0) / lines.parameters[:, WIDTH]
    force = lines.parameters[:, STRENGTH] * np.maximum(1.0 - stretch**2, 0.0)
    moment = np.zeros((len(hinge), len(lines.law)))
    load = np.zeros(len(tree.owner))
    for k, line in enumerate(np.concatenate([np.cross(first, direction), direction], axis=1)):
        wrench = np.zeros((len(tree.parent), 6))
        wrench[lines.body[k, 0]] += force[k] * line
        wrench[lines.body[k, 1]] -= force[k] * line
        load.fill(0.0)
        joint_loads(tree, work.pose.column, wrench, load)
        moment[:, k] = load[hinge]
    asked = CHEST_PRESSURE * np.repeat(np.linspace(*RANGE, 10), 2) * work.gradient[1][hinge]
    member = {name: np.flatnonzero(lines.group == number) for number, name in enumerate(groups)}
    share = lines.share.copy()
    held = moment[:, np.concatenate([member[name] for name in UNSHARED])].sum(axis=1)
    for names, part in ((SHARED, 1.0), (SHARED_MORE, MORE)):
        chosen = np.concatenate([member[name] for name in names])
        share[chosen] = bounded(moment[:, chosen], part * asked - held, 0.0, 1.0, SHARE_PRIOR, share[chosen])
        held = held + moment[:, chosen] @ share[chosen]
    return system._replace(lines=lines._replace(share=share))


def bounded(
    matrix: np.ndarray, target: np.ndarray, low: float, high: float, prior: float, near: np.ndarray | float = 1.0
) -> np.ndarray:
    """min |A x − b|² + prior |x − near|² with low ≤ x ≤ high, by accelerated projected gradients (Beck & Teboulle 2009)."""
    gram = matrix.T @ matrix
    pull = matrix.T @ target + prior * near
    rate = 1.0 / (np.linalg.norm(gram, 2) + prior)
    x = y = np.ones(matrix.shape[1])
    momentum = 1.0
    for _ in range(TENSION_ROUNDS):
        following = np.clip(y - rate * (gram @ y + prior * y - pull), low, high)
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        y = following + (momentum - 1.0) / faster * (following - x)
        x, momentum = following, faster
    return x


def hold_joints(system: System, work: Work, load: np.ndarray) -> System:
    """Neutral angles and strut offsets, the smallest in energy, that cancel the joint loads (m) at rest."""
    tree, struts = system.tree, system.struts
    m = len(tree.owner)
    columns, weights = [], []
    springs = np.flatnonzero(system.joints.stiffness > 0)
    for k in springs:
        column = np.zeros(m)
        column[k] = system.joints.stiffness[k]
        columns.append(column)
        weights.append(np.sqrt(system.joints.stiffness[k]))
    for s in range(len(struts.pair)):
        a, b = struts.body[s]
        x = struts.point[s]
        for axis in range(6):
            wrench = np.zeros((len(tree.parent), 6))
            f = np.zeros(6)
            if axis < 3:
                f[3 + axis] = struts.stiffness[s]
                f[:3] = np.cross(x, f[3:])
                weights.append(np.sqrt(struts.stiffness[s]))
            else:
                f[axis - 3] = struts.turning[s]
                weights.append(np.sqrt(struts.turning[s]))
            # an offset o makes the force on b +k o (it is pulled to where the offset says)
            wrench[b] += f
            wrench[a] -= f
            column = np.zeros(m)
            joint_loads(tree, work.pose.column, wrench, column)
            columns.append(column)
    matrix, scale = np.stack(columns, axis=1), np.array(weights)
    answer = np.linalg.lstsq(matrix / scale, -load, rcond=1e-12)[0] / scale
    neutral = system.joints.neutral.copy()
    neutral[springs] = answer[: len(springs)]
    offsets = answer[len(springs) :].reshape(-1, 6)
    return system._replace(
        joints=system.joints._replace(neutral=neutral),
        struts=struts._replace(offset=offsets[:, :3].copy(), bend=offsets[:, 3:].copy()),
    )


def relaxed(model: Model, system: System, opening: float = 1.0) -> Drive:
    """All muscles silent, nothing pushed, no ball."""
    groups = model.torso.groups
    rise = np.array([model.materials[group].rise for group in groups])
    fall = np.array([model.materials[group].fall for group in groups])
    return Drive(
        np.zeros(len(groups)), np.zeros(len(groups)), np.array([opening]), rise, fall, np.zeros(len(system.tree.owner)),
        bed(model, system), np.zeros(2),
    )  # fmt: skip


def bed(model: Model, system: System) -> np.ndarray:
    """Forces (bodies, 3) [N] by which a bed carries spine, head and arms of one who lies; the ribs hang free of it."""
    bodies = model.torso.bodies
    lying = abs(system.gravity[1]) < 0.5 * GRAVITY
    carried = np.array([lying and name.startswith(ON_THE_BED) for name in bodies.names])
    return -np.where(carried, bodies.mass, 0.0)[:, None] * system.gravity
