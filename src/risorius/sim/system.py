"""The whole torso as one system of forces: what every part feels at a pose, and the operator that the solver needs.

Unknowns are stacked in one vector z (m + 3p): joint speeds u (m), then the speeds of the free points (p, 3). With γ the
implicit weight of a step (h for Euler, 2h/3 for BDF2) the operator is A = M + γ C + γ² K, positive parts only, with the
pressures of both cavities as exact terms of rank one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from risorius.maths.compiled import inner
from risorius.mechanics.ball import RADIUS, apply_ball, ball_forces
from risorius.mechanics.contact import Contact, apply_contacts, find_contacts
from risorius.mechanics.joints import JointLaws, joint_forces
from risorius.mechanics.lines import Lines, Struts, apply_pairs, fill_lower, line_forces, strut_forces
from risorius.mechanics.sheet import (
    Fibres,
    Tissue,
    anchor_places,
    apply_edges,
    apply_tissue,
    fibre_forces,
    relative_speed,
    tissue_forces,
)
from risorius.mechanics.surface import fluid_weight, volume_gradient, volume_inside
from risorius.mechanics.tree import Pose, Tree, bias_wrench, joint_loads, twists
from risorius.respiration.lung import Lung, lung_pressure, recoil


class Points(NamedTuple):
    """Surface points (n): carrying body or -1, rest place (n, 3) [m], slot among the free points or -1; free (p) their
    surface indices, mass (p) [kg]."""

    body: np.ndarray
    rest: np.ndarray
    slot: np.ndarray
    free: np.ndarray
    mass: np.ndarray


class Cavity(NamedTuple):
    """Closed surfaces of both cavities and what fills them: faces (·, 3) `abdomen` and `trunk`; centre (3) [m], where the
    abdominal pressure is meant; bulk modulus κ [Pa] and content [m³] of the abdomen: P = κ(V0/V − 1) (D eq. 3.2);
    heaviness (3) [N/m³], the weight of its content; least [Pa], what the pressure does not fall below (D §3.2.1: never
    negative)."""

    abdomen: np.ndarray
    trunk: np.ndarray
    centre: np.ndarray
    bulk: float
    content: float
    heaviness: np.ndarray
    least: float


class System(NamedTuple):
    """All constant parts; gravity (3) [m/s²]; pair (k, 2) bodies that lines or struts join, with the joints between them in
    path_first (k + 1), path_dof, path_sign (+1 on the first body's side)."""

    tree: Tree
    joints: JointLaws
    lines: Lines
    struts: Struts
    pair: np.ndarray
    path_first: np.ndarray
    path_dof: np.ndarray
    path_sign: np.ndarray
    points: Points
    fibres: Fibres
    edge: np.ndarray
    tissue: Tissue
    contact: Contact
    cavity: Cavity
    lung: Lung
    gravity: np.ndarray


class Work(NamedTuple):
    """Room for one evaluation, and its results; names and shapes in `workspace`."""

    pose: Pose
    twist: np.ndarray
    room: np.ndarray
    wrench: np.ndarray
    weight: np.ndarray
    steady: np.ndarray
    joint_slope: np.ndarray
    joint_damping: np.ndarray
    point: np.ndarray
    point_speed: np.ndarray
    point_force: np.ndarray
    block: np.ndarray
    anchor: np.ndarray
    relative: np.ndarray
    tissue_force: np.ndarray
    free_speed: np.ndarray
    free_place: np.ndarray
    normal: np.ndarray
    foot: np.ndarray
    share: np.ndarray
    direction: np.ndarray
    slope: np.ndarray
    depth: np.ndarray
    ball_normal: np.ndarray
    ball_slope: np.ndarray
    abdomen_gradient: np.ndarray
    trunk_gradient: np.ndarray
    gradient: np.ndarray
    line_force: np.ndarray
    line_length: np.ndarray
    fibre_force: np.ndarray
    fibre_length: np.ndarray
    force: np.ndarray
    scalar: np.ndarray


# entries of Work.scalar
ABDOMEN_VOLUME, TRUNK_VOLUME, ABDOMEN_PRESSURE, ALVEOLAR_PRESSURE, PLEURAL_PRESSURE = 0, 1, 2, 3, 4
FLOW, GAS, ABDOMEN_SLOPE, CHEST_SLOPE, TOUCHING = 5, 6, 7, 8, 9
SCALAR_COUNT = 10
LEAST_SLOPE = 1.0
"""Slope [Pa/m³] of a pressure that volume does not change: next to nothing (1e8 is usual), but the solver divides by it."""


def workspace(system: System) -> Work:
    """Room for a system."""
    n, m = len(system.tree.parent), len(system.tree.owner)
    points, free, candidates = len(system.points.body), len(system.points.free), len(system.contact.point)
    size = m + 3 * free
    turn = np.zeros((n, 4))
    turn[:, 0] = 1
    pose = Pose(
        turn,
        np.zeros(m),
        np.zeros((n, 3)),
        np.zeros((n, 3, 3)),
        np.zeros((n, 3)),
        np.zeros((m, 6)),
        np.zeros((n, 6, 6)),
    )
    return Work(
        pose=pose,
        twist=np.zeros((n, 6)),
        room=np.zeros((n, 6)),
        wrench=np.zeros((n, 6)),
        weight=np.zeros((len(system.pair), 6, 6)),
        steady=np.zeros(n),
        joint_slope=np.zeros(m),
        joint_damping=np.zeros(m),
        point=np.zeros((points, 3)),
        point_speed=np.zeros((points, 3)),
        point_force=np.zeros((points, 3)),
        block=np.zeros((len(system.edge), 6)),
        anchor=np.zeros((free, 2, 3)),
        relative=np.zeros((free, 3)),
        tissue_force=np.zeros((free, 3)),
        free_speed=np.zeros((free, 3)),
        free_place=np.zeros((free, 3)),
        normal=np.zeros((len(system.contact.touched), 3)),
        foot=np.full(candidates, -1, dtype=np.int64),
        share=np.zeros((candidates, 3)),
        direction=np.zeros((candidates, 3)),
        slope=np.zeros(candidates),
        depth=np.zeros(candidates),
        ball_normal=np.zeros((free, 4)),
        ball_slope=np.zeros(free),
        abdomen_gradient=np.zeros((points, 3)),
        trunk_gradient=np.zeros((points, 3)),
        gradient=np.zeros((2, size)),
        line_force=np.zeros(len(system.lines.law)),
        line_length=np.zeros(len(system.lines.law)),
        fibre_force=np.zeros(len(system.fibres.law)),
        fibre_length=np.zeros(len(system.fibres.law)),
        force=np.zeros(size),
        scalar=np.zeros(SCALAR_COUNT),
    )


@inner
def carry_points(points, pose, free_place, out):
    """All surface points (n, 3): free ones as given (p, 3), the others where their bodies carry them."""
    for i in range(points.body.size):
        b = points.body[i]
        if b < 0:
            s = points.slot[i]
            out[i, 0], out[i, 1], out[i, 2] = free_place[s, 0], free_place[s, 1], free_place[s, 2]
        else:
            R, X = pose.rotation[b], points.rest[i]
            for a in range(3):
                out[i, a] = R[a, 0] * X[0] + R[a, 1] * X[1] + R[a, 2] * X[2] + pose.origin[b, a]


@inner
def carry_speeds(points, twist, place, z, m, out):
    """Speeds of all surface points (n, 3) from the twists and the free part of z."""
    for i in range(points.body.size):
        b = points.body[i]
        if b < 0:
            s = m + 3 * points.slot[i]
            out[i, 0], out[i, 1], out[i, 2] = z[s], z[s + 1], z[s + 2]
        else:
            V, x = twist[b], place[i]
            out[i, 0] = V[3] + V[1] * x[2] - V[2] * x[1]
            out[i, 1] = V[4] + V[2] * x[0] - V[0] * x[2]
            out[i, 2] = V[5] + V[0] * x[1] - V[1] * x[0]


@inner
def collect(points, place, force, m, out, wrench):
    """Forces on surface points (n, 3): free ones add to out (m + 3p), the others to their bodies' wrenches."""
    for i in range(points.body.size):
        b = points.body[i]
        f0, f1, f2 = force[i, 0], force[i, 1], force[i, 2]
        if b < 0:
            s = m + 3 * points.slot[i]
            out[s] += f0
            out[s + 1] += f1
            out[s + 2] += f2
        else:
            x, W = place[i], wrench[b]
            W[0] += x[1] * f2 - x[2] * f1
            W[1] += x[2] * f0 - x[0] * f2
            W[2] += x[0] * f1 - x[1] * f0
            W[3] += f0
            W[4] += f1
            W[5] += f2


@inner
def weigh(tree, pose, gravity, push, wrench):
    """Add every body's weight and the push (bodies, 3) [N] on its centre of mass."""
    for i in range(1, tree.parent.size):
        R, X, o = pose.rotation[i], tree.centre[i], pose.origin[i]
        c0 = R[0, 0] * X[0] + R[0, 1] * X[1] + R[0, 2] * X[2] + o[0]
        c1 = R[1, 0] * X[0] + R[1, 1] * X[1] + R[1, 2] * X[2] + o[1]
        c2 = R[2, 0] * X[0] + R[2, 1] * X[1] + R[2, 2] * X[2] + o[2]
        f0 = tree.mass[i] * gravity[0] + push[i, 0]
        f1 = tree.mass[i] * gravity[1] + push[i, 1]
        f2 = tree.mass[i] * gravity[2] + push[i, 2]
        wrench[i, 0] += c1 * f2 - c2 * f1
        wrench[i, 1] += c2 * f0 - c0 * f2
        wrench[i, 2] += c0 * f1 - c1 * f0
        wrench[i, 3] += f0
        wrench[i, 4] += f1
        wrench[i, 5] += f2


@inner
def volumes(system, work):
    """Volumes of both closed surfaces [m³], from work.point."""
    cavity = system.cavity
    abdomen = volume_inside(work.point, cavity.abdomen, cavity.centre)
    trunk = volume_inside(work.point, cavity.trunk, cavity.centre)
    work.scalar[ABDOMEN_VOLUME] = abdomen
    work.scalar[TRUNK_VOLUME] = trunk
    return abdomen, trunk


@inner
def volume_gradients(system, work):
    """The same with their gradients by point."""
    work.abdomen_gradient.fill(0.0)
    work.trunk_gradient.fill(0.0)
    cavity = system.cavity
    abdomen = volume_gradient(work.point, cavity.abdomen, cavity.centre, work.abdomen_gradient)
    trunk = volume_gradient(work.point, cavity.trunk, cavity.centre, work.trunk_gradient)
    work.scalar[ABDOMEN_VOLUME] = abdomen
    work.scalar[TRUNK_VOLUME] = trunk
    return abdomen, trunk


@inner
def pressures(system, work, abdomen, trunk, gamma, gas_past, opening):
    """Pressures of both cavities and their slopes, into work.scalar; gauge at the abdomen's centre."""
    cavity, lung, scalar = system.cavity, system.lung, work.scalar
    scalar[ABDOMEN_PRESSURE] = cavity.bulk * (cavity.content / abdomen - 1.0)
    scalar[ABDOMEN_SLOPE] = cavity.bulk * cavity.content / (abdomen * abdomen)
    if scalar[ABDOMEN_PRESSURE] < cavity.least:
        scalar[ABDOMEN_PRESSURE] = cavity.least
        scalar[ABDOMEN_SLOPE] = LEAST_SLOPE
    if lung.coupled == 0.0:
        scalar[ALVEOLAR_PRESSURE] = 0.0
        scalar[PLEURAL_PRESSURE] = 0.0
        scalar[CHEST_SLOPE] = LEAST_SLOPE
        scalar[FLOW] = 0.0
        scalar[GAS] = gas_past
        return
    space = max(trunk - abdomen - lung.tissue, 0.05 * lung.largest)
    alveolar, slope, gas, flow = lung_pressure(lung, gas_past, gamma, space, opening)
    elastic, stiffness = recoil(lung, space)
    scalar[ALVEOLAR_PRESSURE] = alveolar
    scalar[PLEURAL_PRESSURE] = alveolar - elastic
    scalar[CHEST_SLOPE] = stiffness - slope
    scalar[FLOW] = flow
    scalar[GAS] = gas


@inner
def evaluate(system, work, z, activation, drive, course, gamma, gas_past):
    """Forces at work.pose (placed) and work.point (carried) with speeds z and the ball on its `course`, into work.force;
    slopes into the rest."""
    tree, points = system.tree, system.points
    ratio, opening = drive.ratio, drive.opening[0]
    m = tree.owner.size
    work.force.fill(0.0)
    work.wrench.fill(0.0)
    work.weight.fill(0.0)
    work.steady.fill(0.0)
    work.block.fill(0.0)
    work.point_force.fill(0.0)
    work.tissue_force.fill(0.0)
    twists(tree, work.pose.column, z, work.twist)
    bias_wrench(tree, work.pose, z, work.twist, work.room, work.wrench)
    for i in range(tree.parent.size):
        for a in range(6):
            work.wrench[i, a] = -work.wrench[i, a]
    weigh(tree, work.pose, system.gravity, drive.push, work.wrench)
    line_forces(
        system.lines, work.pose, tree, work.twist, activation, ratio, gamma, work.wrench, work.weight, work.steady,
        work.line_force, work.line_length,
    )  # fmt: skip
    strut_forces(system.struts, work.pose, work.twist, gamma, work.wrench, work.weight)
    fill_lower(work.weight)
    carry_speeds(points, work.twist, work.point, z, m, work.point_speed)
    fibre_forces(
        system.fibres, work.point, work.point_speed, activation, ratio, gamma, work.point_force, work.block,
        work.fibre_force, work.fibre_length,
    )  # fmt: skip
    work.scalar[TOUCHING] = find_contacts(
        system.contact, work.point, work.point_speed, gamma, work.normal, work.point_force, work.foot, work.share,
        work.direction, work.slope, work.depth,
    )  # fmt: skip
    if drive.ball[RADIUS] > 0.0:
        ball_forces(
            drive.ball, course, work.point, work.point_speed, points.free, gamma, work.point_force, work.ball_normal,
            work.ball_slope,
        )  # fmt: skip
    abdomen, trunk = volume_gradients(system, work)
    pressures(system, work, abdomen, trunk, gamma, gas_past, opening)
    inner, pleural = work.scalar[ABDOMEN_PRESSURE], work.scalar[PLEURAL_PRESSURE]
    for i in range(points.body.size):
        for a in range(3):
            work.point_force[i, a] += (inner - pleural) * work.abdomen_gradient[i, a]
            work.point_force[i, a] += pleural * work.trunk_gradient[i, a]
            work.trunk_gradient[i, a] -= work.abdomen_gradient[i, a]  # from here on: gradient of the chest's volume
    fluid_weight(work.point, system.cavity.abdomen, system.cavity.centre, system.cavity.heaviness, work.point_force)
    anchor_places(system.tissue, work.pose, work.anchor)
    for i in range(points.free.size):
        for a in range(3):
            work.free_speed[i, a] = z[m + 3 * i + a]
            work.free_place[i, a] = work.point[points.free[i], a]
    relative_speed(system.tissue, work.twist, work.anchor, work.free_speed, work.relative)
    tissue_forces(system.tissue, work.pose, work.anchor, work.free_place, work.relative, work.tissue_force, work.wrench)
    for i in range(points.free.size):
        for a in range(3):
            work.force[m + 3 * i + a] += work.tissue_force[i, a]
    collect(points, work.point, work.point_force, m, work.force, work.wrench)
    joint_loads(tree, work.pose.column, work.wrench, work.force)
    joint_forces(tree, work.pose, system.joints, drive.bend, z, work.force, work.joint_slope, work.joint_damping)
    for k in range(m):
        if k - tree.first[tree.owner[k]] < 3:
            work.joint_slope[k] += work.steady[tree.owner[k]]
    for v in range(2):
        work.gradient[v].fill(0.0)
        work.wrench.fill(0.0)
        by_point = work.abdomen_gradient if v == 0 else work.trunk_gradient
        collect(points, work.point, by_point, m, work.gradient[v], work.wrench)
        joint_loads(tree, work.pose.column, work.wrench, work.gradient[v])


@inner
def apply_mass(system, work, z, out):
    """out = M z."""
    tree = system.tree
    m = tree.owner.size
    work.wrench.fill(0.0)
    for k in range(m):
        out[k] = 0.0
    twists(tree, work.pose.column, z, work.twist)
    for i in range(tree.parent.size):
        G, V, W = work.pose.spatial[i], work.twist[i], work.wrench[i]
        for a in range(6):
            value = 0.0
            for b in range(6):
                value += G[a, b] * V[b]
            W[a] = value
    joint_loads(tree, work.pose.column, work.wrench, out)
    for i in range(system.points.free.size):
        for a in range(3):
            out[m + 3 * i + a] = system.points.mass[i] * z[m + 3 * i + a]


@inner
def apply_operator(system, work, z, gamma, out):
    """out = A z, with the slopes of the last evaluation."""
    tree, points = system.tree, system.points
    m = tree.owner.size
    work.wrench.fill(0.0)
    work.point_force.fill(0.0)
    twists(tree, work.pose.column, z, work.twist)
    for i in range(tree.parent.size):
        G, V, W = work.pose.spatial[i], work.twist[i], work.wrench[i]
        for a in range(6):
            value = 0.0
            for b in range(6):
                value += G[a, b] * V[b]
            W[a] = value
    apply_pairs(system.pair, work.weight, work.twist, work.wrench)
    carry_speeds(points, work.twist, work.point, z, m, work.point_speed)
    apply_edges(system.edge, work.block, work.point_speed, work.point_force)
    apply_contacts(
        system.contact, work.foot, work.share, work.direction, work.slope, work.point_speed, work.point_force
    )
    apply_ball(points.free, work.ball_normal, work.ball_slope, work.point_speed, work.point_force)
    for i in range(points.free.size):
        for a in range(3):
            work.free_speed[i, a] = z[m + 3 * i + a]
            work.tissue_force[i, a] = points.mass[i] * work.free_speed[i, a]
    relative_speed(system.tissue, work.twist, work.anchor, work.free_speed, work.relative)
    apply_tissue(system.tissue, work.anchor, work.relative, gamma, work.tissue_force, work.wrench)
    for k in range(m):
        out[k] = (gamma * work.joint_damping[k] + gamma * gamma * work.joint_slope[k]) * z[k]
    for i in range(points.free.size):
        for a in range(3):
            out[m + 3 * i + a] = work.tissue_force[i, a]
    collect(points, work.point, work.point_force, m, out, work.wrench)
    joint_loads(tree, work.pose.column, work.wrench, out)
    for v in range(2):
        g = work.gradient[v]
        dot = 0.0
        for k in range(z.size):
            dot += g[k] * z[k]
        dot *= gamma * gamma * work.scalar[ABDOMEN_SLOPE + v]
        for k in range(z.size):
            out[k] += dot * g[k]
