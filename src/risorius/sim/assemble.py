"""From the frozen model to the kernel's arrays."""

from __future__ import annotations

import math

import numpy as np

from risorius.core.model import LungTable, Model
from risorius.core.torso import Surface, Torso
from risorius.core.units import ATMOSPHERE, GRAVITY
from risorius.mechanics import muscles
from risorius.mechanics.contact import Contact
from risorius.mechanics.joints import JointLaws
from risorius.mechanics.lines import Lines, Struts
from risorius.mechanics.sheet import Fibres, Tissue
from risorius.mechanics.tree import Tree, tree_of
from risorius.respiration.lung import Lung
from risorius.sim.system import Cavity, Points, System

LAWS = {"passive": muscles.PASSIVE, "spring": muscles.SPRING, "hill": muscles.HILL, "hill-paper": muscles.HILL_D}
DOWN = {"upright": (0.0, -1.0, 0.0), "supine": (-1.0, 0.0, 0.0)}
ANCHOR_SECTIONS = ("pelvis", "l4_l5", "l1_l3", "t9_t12", "t5_t8")


def system_of(model: Model, posture: str = "upright", route: str = "mouth") -> System:
    """All constant arrays of a subject; nothing is preloaded yet (see `sim.rest`). The wall of the belly has tone while one
    stands, and none in one who lies."""
    torso = model.torso
    tree = tree_of(torso.bodies)
    down = np.array(DOWN[posture])
    pairs, lines, struts = pairs_and_springs(model)
    first, dof, sign = paths(tree, pairs)
    points = surface_points(torso.surface, model.softness["abdomen_mass"])
    edges, fibres = fibre_arrays(model)
    centre = torso.surface.points[np.unique(torso.surface.abdomen)].mean(axis=0)
    cavity = Cavity(
        integers(torso.surface.abdomen),
        integers(torso.surface.trunk),
        centre,
        model.softness["abdomen_bulk"],
        1.0,
        model.softness["abdomen_density"] * GRAVITY * down,
        model.softness["abdomen_least"],
    )
    return System(
        tree,
        joint_laws(model, tree),
        lines,
        struts,
        pairs,
        first,
        dof,
        sign,
        points,
        fibres,
        edges,
        tissue_arrays(model, points, model.softness["tissue_edge_tone"] if posture == "upright" else 0.0),
        contact_arrays(model, points),
        cavity,
        lung_constants(model.lung, route),
        GRAVITY * down,
    )


def integers(values: object) -> np.ndarray:
    """Indices as the kernels take them."""
    return np.array(values, dtype=np.int64, order="C")


def element_parameters(model: Model, group: int, area: float, length: float) -> tuple[int, np.ndarray]:
    """Law and parameters of one element from its group's material, cross-section [m²] and length at rest [m]."""
    material = model.materials[model.torso.groups[group]]
    law = LAWS[material.law]
    rest = length / material.stretch
    strength = material.force or material.stress * area
    if law == muscles.PASSIVE:
        stiffness = strength / rest
        return law, np.array([0.0, rest, 1.0, 1.0, stiffness, material.damping * stiffness])
    passive, damping = material.passive * strength, material.damping * strength
    if law == muscles.SPRING:
        strength, passive, damping = strength / rest, passive / rest, damping / rest
    return law, np.array([strength, rest, material.width, material.speed, passive, damping])


def pairs_and_springs(model: Model) -> tuple[np.ndarray, Lines, Struts]:
    """Lines and struts, with the list of body pairs that they join."""
    source, torso = model.torso.lines, model.torso
    numbers: dict[tuple[int, int], int] = {}
    junctions, member = np.unique(torso.struts, axis=0, return_inverse=True)
    middle = torso.strut_points.mean(axis=1)
    places = np.stack([middle[member.ravel() == j].mean(axis=0) for j in range(len(junctions))])
    ends = [(int(pair[0]), int(pair[1])) for pair in (*source.body, *junctions)]
    index = np.array([numbers.setdefault(pair, len(numbers)) for pair in ends], dtype=np.int64)
    length = np.linalg.norm(source.point[:, 1] - source.point[:, 0], axis=1)
    made = [element_parameters(model, *item) for item in zip(source.group, source.area, length)]
    lines = Lines(
        integers([law for law, _ in made]),
        np.array([values for _, values in made]).reshape(-1, muscles.PARAMETER_COUNT),
        integers(source.group),
        integers(source.body).reshape(-1, 2),
        np.array(source.point, dtype=np.float64),
        index[: len(source.group)],
        np.ones(len(source.group)),
        np.zeros(len(source.group)),
    )
    count = len(junctions)
    soft = model.softness
    level = [
        [n.split("_")[0] for n in (torso.bodies.names[b] for b in pair) if n.startswith("rib")] for pair in junctions
    ]
    kinds = ["space" if len(names) > 1 else names[0] for names in level]
    stiffness, turning = (
        np.array([soft[f"strut_{kind}_{name}"] for name in kinds]) for kind in ("stiffness", "turning")
    )
    struts = Struts(
        integers(junctions),
        places,
        stiffness,
        turning,
        soft["strut_relaxation"] * stiffness,
        soft["strut_relaxation"] * turning,
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.full(count, soft["strut_reach"]),
        np.full(count, soft["strut_swing"]),
        index[len(source.group) :],
    )
    return integers(list(numbers)).reshape(-1, 2), lines, struts


def ancestry(tree: Tree, body: int) -> list[int]:
    """A body and its ancestors, itself first."""
    chain = []
    while body >= 0:
        chain.append(body)
        body = int(tree.parent[body])
    return chain


def paths(tree: Tree, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Degrees of freedom between the bodies of each pair; those of common ancestors cancel."""
    first, dof, sign = [0], [], []
    for a, b in pairs:
        one, other = ancestry(tree, int(a)), ancestry(tree, int(b))
        for chain, value, rest in ((one, 1.0, other), (other, -1.0, one)):
            for body in chain:
                if body not in rest:
                    for k in range(tree.first[body], tree.first[body + 1]):
                        dof.append(k)
                        sign.append(value)
        first.append(len(dof))
    return integers(first), integers(dof), np.array(sign)


def joint_laws(model: Model, tree: Tree) -> JointLaws:
    """Joint springs by degree of freedom."""
    columns: list[list[float]] = [[], [], [], [], [], [], []]
    for body, joint in enumerate(model.joints):
        for k in range(tree.first[body + 1] - tree.first[body]):
            if k < 3:
                row = (
                    joint.stiffness[k], joint.damping[k], 0.0, joint.low[k], joint.high[k], joint.limit_stiffness,
                    joint.limit_damping,
                )  # fmt: skip
            else:
                row = (0.0, 0.0, 0.0, -math.inf, math.inf, 0.0, 0.0)
            for column, value in zip(columns, row):
                column.append(value)
    return JointLaws(*(np.array(column) for column in columns))


def surface_points(surface: Surface, mass: float) -> Points:
    """Points of the cavities; the wall's mass is shared by the area that each free point stands for (D §3.2)."""
    free = np.flatnonzero(surface.body < 0)
    slot = np.full(len(surface.body), -1)
    slot[free] = np.arange(len(free))
    corners = surface.points[surface.abdomen]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    share = np.bincount(surface.abdomen.ravel(), np.repeat(area / 3.0, 3), len(surface.body))[free]
    share = np.maximum(share, 0.8 * share.mean())
    return Points(
        integers(surface.body), np.array(surface.points), integers(slot), integers(free), mass * share / share.sum()
    )


def fibre_arrays(model: Model) -> tuple[np.ndarray, Fibres]:
    """Fibres, and the distinct pairs of points that they join."""
    source = model.torso.fibres
    points = model.torso.surface.points
    numbers: dict[tuple[int, int], int] = {}
    edge = [numbers.setdefault((min(p, q), max(p, q)), len(numbers)) for p, q in source.ends.tolist()]
    length = np.linalg.norm(points[source.ends[:, 1]] - points[source.ends[:, 0]], axis=1)
    made = [element_parameters(model, *item) for item in zip(source.group, source.area, length)]
    fibres = Fibres(
        integers([law for law, _ in made]),
        np.array([values for _, values in made]).reshape(-1, muscles.PARAMETER_COUNT),
        integers(source.group),
        integers(source.ends),
        integers(edge),
        np.zeros(len(made)),
    )
    return integers(list(numbers)), fibres


def tissue_arrays(model: Model, points: Points, tone: float) -> Tissue:
    """Tissue around the free points: anchored on the spine by height, joined along the edges of the cavity's faces.

    Args:
        tone: what tone adds to the stiffness of the wall's edges [N/m].
    """
    torso, soft = model.torso, model.softness
    bodies = [torso.bodies.index(name) for name in ANCHOR_SECTIONS]
    heights = torso.bodies.centre[bodies, 1]
    place = torso.surface.points[points.free]
    upper = np.clip(np.searchsorted(heights, place[:, 1]), 1, len(bodies) - 1)
    share = np.clip((place[:, 1] - heights[upper - 1]) / (heights[upper] - heights[upper - 1]), 0.0, 1.0)
    low, high = np.array(bodies)[upper - 1], np.array(bodies)[upper]
    swap = share > 0.5  # the first body's frame carries the preload
    body = np.where(swap[:, None], np.stack([high, low], 1), np.stack([low, high], 1))
    weight = np.where(swap[:, None], np.stack([share, 1 - share], 1), np.stack([1 - share, share], 1))
    faces = torso.surface.abdomen
    sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    sides = np.unique(points.slot[sides], axis=0)
    sides = sides[(sides >= 0).all(axis=1)]
    wall = np.array(torso.surface.regions)[torso.surface.region[points.free]] == "wall"
    count = len(place)
    return Tissue(
        integers(body),
        weight,
        place,
        np.full(count, soft["tissue_hold"]),
        np.full(count, soft["tissue_hold_damping"]),
        np.zeros((count, 3)),
        integers(sides),
        np.where(wall[sides].any(axis=1), soft["tissue_edge_wall"] + tone, soft["tissue_edge_diaphragm"]),
        np.full(len(sides), soft["tissue_edge_damping"]),
    )


def contact_arrays(model: Model, points: Points) -> Contact:
    """Free points of the diaphragm against the inside of the rib cage."""
    surface, soft = model.torso.surface, model.softness
    face = integers(surface.cage)
    touched, corner = np.unique(face, return_inverse=True)
    sides: dict[tuple[int, int], tuple[int, int]] = {}
    neighbour = np.full(face.shape, -1)
    for f, triangle in enumerate(face.tolist()):
        for k in range(3):
            p, q = triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            other = sides.pop((q, p), None)
            if other is None:
                sides[p, q] = (f, k)
            else:
                neighbour[f, k], neighbour[other] = other[0], f
    inside = [name in ("apposed", "dome") for name in surface.regions]
    candidates = np.flatnonzero((surface.body < 0) & np.array(inside)[surface.region])
    middles = surface.points[face].mean(axis=1)
    start = np.array([np.argmin(((middles - surface.points[p]) ** 2).sum(axis=1)) for p in candidates], dtype=np.int64)
    count = len(candidates)
    return Contact(
        integers(candidates),
        start,
        face,
        integers(neighbour),
        integers(corner.reshape(face.shape)),
        integers(touched),
        np.full(count, soft["contact_stiffness"]),
        np.full(count, soft["contact_damping"]),
        np.full(count, soft["contact_softness"]),
        np.zeros(count),
    )


def lung_constants(table: LungTable, route: str) -> Lung:
    """Salazar and Knowles through (FRC, P_FRC) and (TLC, P_TLC) with the given K; airways close at residual volume."""
    fall = math.exp(-table.curvature * (table.full - table.recoil))
    room = (table.total - table.functional) / (1.0 - fall)
    span = room * math.exp(table.curvature * table.recoil)
    nose = 1.0 if route == "nose" else 0.0
    return Lung(
        table.tissue,
        table.functional + room,
        span,
        table.curvature,
        table.linear + nose * table.nasal_linear,
        table.quadratic,
        nose * table.nasal_quadratic,
        table.upstream,
        -math.log((table.functional + room - table.residual) / span) / table.curvature,
        table.peak,
        ATMOSPHERE,
        1.0 if table.two_way else 0.0,
    )


def torso_groups(torso: Torso) -> dict[str, int]:
    """Index of each muscle group."""
    return {name: number for number, name in enumerate(torso.groups)}
