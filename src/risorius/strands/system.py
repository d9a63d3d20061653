"""A strand model as flat arrays for kernels: `assemble(model) -> System`, and the state that a step advances.

Order of unknowns in the border, onto which every strand is eliminated: three multipliers a link, joint speeds u, rows of
loop joints.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np

from risorius.core.errors import InputError
from risorius.core.strands import FREEDOM, Floats, Joint, StrandModel
from risorius.strands.laws import Tables, tables
from risorius.strands.threads import Threads, assemble_threads

KIND: Final = {"fixed": 0, "hinge": 1, "universal": 2, "ball": 3, "free": 6, "driven": 7}


class Tree(NamedTuple):
    """Bodies (b), parents first: parent or -1, kind of joint, first joint speed; path_first (b + 1) and path_dof list the
    speeds that move each body; per speed (m): axis, point (3) rest world, law (7): stiffness, damping, rest, low, high,
    limit stiffness, limit damping; mass [kg], centre [m], inertia [kg m²] at rest."""

    parent: np.ndarray
    kind: np.ndarray
    first: np.ndarray
    path_first: np.ndarray
    path_dof: np.ndarray
    owner: np.ndarray
    axis: np.ndarray
    point: np.ndarray
    law: np.ndarray
    mass: np.ndarray
    centre: np.ndarray
    inertia: np.ndarray


class Loops(NamedTuple):
    """Joints beyond the tree (l): body, parent or -1, kind, axis (l, 2, 3), point (l, 3), first row (l + 1)."""

    body: np.ndarray
    parent: np.ndarray
    kind: np.ndarray
    axis: np.ndarray
    point: np.ndarray
    row: np.ndarray


class Shape(NamedTuple):
    """Where things stand in the border: links, joint speeds, loop rows, all; strands."""

    links: int
    speeds: int
    loops: int
    border: int
    strands: int


@dataclass(frozen=True, eq=False)
class System:
    """What kernels need; `names` of bodies in tree order (the model's order may differ)."""

    model: StrandModel
    names: tuple[str, ...]
    strand_names: tuple[str, ...]
    tree: Tree
    loops: Loops
    threads: Threads
    laws: Tables
    shape: Shape
    gravity: Floats

    def body(self, name: str) -> int:
        """Index of a body in the arrays of this system."""
        if name not in self.names:
            raise InputError(f"expected the name of a body, got {name!r}", place="body")
        return self.names.index(name)

    def strand(self, name: str) -> int:
        if name not in self.strand_names:
            raise InputError(f"expected the name of a strand, got {name!r}", place="strand")
        return self.strand_names.index(name)

    def speeds_of(self, name: str) -> slice:
        """The joint speeds of a body's own joint."""
        body = self.body(name)
        count = min(int(self.tree.kind[body]), 6) if self.tree.kind[body] != KIND["driven"] else 0
        return slice(int(self.tree.first[body]), int(self.tree.first[body]) + count)


@dataclass(eq=False)
class State:
    """What a step advances; SI.

    Args:
        time: [s].
        angle: (m,) joint coordinates [rad]; of a ball the rotation vector along its axes; of a free body unused.
        turn, shift: (b, 3, 3), (b, 3) motion of each body relative to its parent, from rest.
        rotation, place: (b, 3, 3), (b, 3) [m] poses: x = rotation · x_rest + place.
        momentum: (b, 6) angular about the own centre of mass [kg m²/s], linear [kg m/s].
        speed: (m,) joint speeds of the last step.
        points, velocities: (n, 3) [m], [m/s] control points of all strands.
        place_on_strand: (c,) s of each hold; place_on_surface (c, 2).
        engaged: (c,) whether a one-sided contact touches.
        multiplier: (rows,) constraint impulses over the step [N] (force on strand: minus the row times it).
        link_force: (links, 3) [N]. activation: (strands,).
        drag: (strands,) [1/s] what holds back strands that would turn too far in one step.
    """

    time: float
    angle: Floats
    turn: Floats
    shift: Floats
    rotation: Floats
    place: Floats
    momentum: Floats
    speed: Floats
    points: Floats
    velocities: Floats
    place_on_strand: Floats
    place_on_surface: Floats
    engaged: np.ndarray
    multiplier: Floats
    link_force: Floats
    activation: Floats
    drag: Floats

    def copy(self) -> State:
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        copies: dict[str, Any] = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        return State(**copies)


def assemble(model: StrandModel, samples_per_span: int = 1) -> System:
    """Flatten a model; `samples_per_span`: Gauss points of the elastic energy on each span of a strand."""
    order, hung, extra = spanning_tree(model)
    names = tuple(model.bodies[k].name for k in order)
    tree = assemble_tree(model, order, hung)
    loops = assemble_loops(extra, names)
    laws = list(dict.fromkeys(tissue.law for strand in model.strands for tissue in strand.tissues))
    threads = assemble_threads(model, names, tree.path_first, tree.path_dof, laws, samples_per_span)
    links, speeds, rows = 3 * len(model.links), len(tree.axis), int(loops.row[-1])
    shape = Shape(links, speeds, rows, links + speeds + rows, len(model.strands))
    gravity = np.array(model.gravity)
    return System(
        model, names, tuple(s.name for s in model.strands), tree, loops, threads, tables(laws), shape, gravity
    )


def spanning_tree(model: StrandModel) -> tuple[list[int], list[Joint], list[Joint]]:
    """Bodies in an order with parents first, the joint that each hangs on, and the joints that close loops."""
    index = {body.name: k for k, body in enumerate(model.bodies)}
    first: dict[str, Joint] = {}
    extra: list[Joint] = []
    for joint in model.joints:
        if joint.body in first:
            extra.append(joint)
        else:
            first[joint.body] = joint
    order: list[int] = []
    for body in model.bodies:
        chain: list[str] = []
        name = body.name
        while name and index[name] not in order:
            if name in chain:
                raise InputError(f"expected a tree of parents, got a ring through {name!r}: hang one body of it on "
                                 "the world or on another body first", place=f"joint of {name!r}")  # fmt: skip
            chain.append(name)
            name = first[name].parent if name in first else ""
        order.extend(index[name] for name in reversed(chain))
    hung = [first.get(model.bodies[k].name) or Joint(model.bodies[k].name, "", "free") for k in order]
    return order, hung, extra


def assemble_tree(model: StrandModel, order: list[int], hung: list[Joint]) -> Tree:
    """Arrays of the bodies."""
    number = {model.bodies[k].name: position for position, k in enumerate(order)}
    parent = np.array([number[joint.parent] if joint.parent else -1 for joint in hung], dtype=np.int64)
    first: list[int] = []
    axes: list[Floats] = []
    points: list[Floats] = []
    law: list[list[float]] = []
    owner: list[int] = []
    paths: list[list[int]] = []
    for position, joint in enumerate(hung):
        count = FREEDOM[joint.kind]
        first.append(len(law))
        own = list(range(len(law), len(law) + count))
        paths.append((paths[parent[position]] if parent[position] >= 0 else []) + own)
        for k in range(count):
            free = joint.kind == "free"
            axes.append(np.eye(3)[k % 3] if free else joint.axes[k])
            points.append(np.zeros(3) if free else joint.points[min(k, len(joint.points) - 1)])
            law.append([joint.stiffness[k], joint.damping[k], joint.rest[k], joint.low[k], joint.high[k],
                        joint.limit_stiffness, joint.limit_damping])  # fmt: skip
            owner.append(position)
    bodies = [model.bodies[k] for k in order]
    return Tree(
        parent,
        np.array([KIND[joint.kind] for joint in hung], dtype=np.int64),
        np.array(first, dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64),
        np.array([dof for path in paths for dof in path], dtype=np.int64),
        np.array(owner, dtype=np.int64),
        np.array(axes, dtype=np.float64).reshape(-1, 3),
        np.array(points, dtype=np.float64).reshape(-1, 3),
        np.array(law, dtype=np.float64).reshape(-1, 7),
        np.array([body.mass for body in bodies], dtype=np.float64),
        np.array([body.centre for body in bodies], dtype=np.float64).reshape(-1, 3),
        np.array([body.inertia for body in bodies], dtype=np.float64).reshape(-1, 3, 3),
    )


def assemble_loops(extra: list[Joint], names: tuple[str, ...]) -> Loops:
    """Arrays of the joints that close loops; they hold without springs or limits."""
    axis = np.zeros((len(extra), 2, 3))
    point = np.zeros((len(extra), 3))
    for k, joint in enumerate(extra):
        place = f"joint of {joint.body!r}"
        if joint.kind in ("free", "driven"):
            raise InputError(f"expected one joint for a body whose joint is {joint.kind}", place=place)
        if joint.stiffness.any() or np.isfinite(joint.low).any() or np.isfinite(joint.high).any():
            raise InputError("expected no springs and limits in a joint that closes a loop", place=place)
        if joint.kind == "universal" and not np.allclose(joint.points[0], joint.points[1]):
            raise InputError("expected axes that meet in a universal joint that closes a loop", place=place)
        axis[k, : min(len(joint.axes), 2)] = joint.axes[:2]
        point[k] = joint.points[0] if len(joint.points) else 0.0
    rows = [6 - FREEDOM[joint.kind] for joint in extra]
    return Loops(
        np.array([names.index(joint.body) for joint in extra], dtype=np.int64),
        np.array([names.index(joint.parent) if joint.parent else -1 for joint in extra], dtype=np.int64),
        np.array([KIND[joint.kind] for joint in extra], dtype=np.int64),
        axis,
        point,
        np.concatenate([[0], np.cumsum(rows)]).astype(np.int64),
    )


def rest_state(system: System) -> State:
    """Everything as drawn, at rest."""
    count, holds = len(system.names), len(system.threads.hold_strand)
    return State(
        time=0.0,
        angle=np.zeros(system.shape.speeds),
        turn=np.tile(np.eye(3), (count, 1, 1)),
        shift=np.zeros((count, 3)),
        rotation=np.tile(np.eye(3), (count, 1, 1)),
        place=np.zeros((count, 3)),
        momentum=np.zeros((count, 6)),
        speed=np.zeros(system.shape.speeds),
        points=system.threads.rest.copy(),
        velocities=np.zeros_like(system.threads.rest),
        place_on_strand=system.threads.hold_start.copy(),
        place_on_surface=system.threads.hold_surface_start.copy(),
        engaged=np.ones(holds, dtype=np.bool_),
        multiplier=np.zeros(int(system.threads.row_first[-1])),
        link_force=np.zeros((system.shape.links // 3, 3)),
        activation=np.zeros(system.shape.strands),
        drag=np.zeros(system.shape.strands),
    )
