"""Preload: what holds the built torso still at the end of a quiet expiration.

Real tissue is under tension at rest, unevenly, and nobody can measure it all. The built shape is taken as the upright
equilibrium of relaxed muscles with the glottis open, lung recoil at FRC and the abdomen's resting pressure; the smallest
set of joint neutral angles, strut offsets and tissue pushes that balances it is solved for once. Every other state, any
other posture included, is then an equilibrium or a motion that the model finds.
"""

from __future__ import annotations

import numpy as np

from risorius.core.model import Model
from risorius.mechanics.tree import joint_loads, place
from risorius.sim.assemble import system_of
from risorius.sim.step import Drive, State, rest_state
from risorius.sim.system import System, Work, carry_points, evaluate, volumes, workspace


def preloaded(model: Model, posture: str = "upright") -> tuple[System, State]:
    """The system with its preload, and the state of rest in which it was found (upright)."""
    system = system_of(model, "upright")
    work = workspace(system)
    place(system.tree, work.pose)
    carry_points(system.points, work.pose, system.points.rest[system.points.free], work.point)
    abdomen, trunk = volumes(system, work)
    content = abdomen * (1.0 + model.lung.abdomen / system.cavity.bulk)
    system = system._replace(cavity=system.cavity._replace(content=content))
    space = trunk - abdomen - system.lung.tissue
    groups = len(model.torso.groups)
    quiet = np.zeros(groups)
    still = np.zeros(len(system.tree.owner) + 3 * len(system.points.free))

    def forces(current: System) -> np.ndarray:
        evaluate(current, work, still, quiet, quiet, 1e-6, space, 1.0)
        return work.force.copy()

    m = len(system.tree.owner)
    push = system.tissue.push - forces(system)[m:].reshape(-1, 3)
    system = system._replace(tissue=system.tissue._replace(push=push))
    system = hold_joints(system, work, forces(system)[:m])
    if posture != "upright":
        other = system_of(model, posture)
        cavity = system.cavity._replace(heaviness=other.cavity.heaviness)
        system = system._replace(gravity=other.gravity, cavity=cavity)
    return system, rest_state(system, groups, space)


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


def relaxed(model: Model, opening: float = 1.0) -> Drive:
    """All muscles silent."""
    groups = model.torso.groups
    rise = np.array([model.materials[group].rise for group in groups])
    fall = np.array([model.materials[group].fall for group in groups])
    return Drive(np.zeros(len(groups)), np.zeros(len(groups)), opening, rise, fall)


