"""The whole KKT system of one step, written out in maximal coordinates and solved by sparse LU: slow, and the reference.

Every body has six velocities, every joint its dropped rows of the adjoint as constraints (H §3.1), every strand its
control points, every hold its rows; nothing is eliminated. It shares no kernel with the block-arrow elimination but reads
the same system and state. `solve` returns joint speeds and control point velocities of one step.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from risorius.core.strands import FREEDOM, Attachment, Contact, Floats, Joint, Slide
from risorius.maths import splines
from risorius.strands.arrow import SOFT
from risorius.strands.holds import ASIDE, HAIRPIN
from risorius.strands.motions import rotation_vector
from risorius.strands.step import GREATEST_CORRECTION
from risorius.strands.stepper import Stepper
from risorius.strands.surfaces import surface_point
from risorius.strands.system import State, System
from risorius.strands.threads import mass_band


def cross(v: Floats) -> Floats:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class Equations:
    """Triplets of the matrix, right-hand side, and constraint rows as they are added."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.matrix = np.zeros((size, size))
        self.right = np.zeros(size)
        self.rows: list[Floats] = []
        self.values: list[float] = []

    def constrain(self, row: Floats, value: float) -> None:
        self.rows.append(row)
        self.values.append(value)

    def solve(self, soft: float) -> tuple[Floats, Floats]:
        g = np.array(self.rows).reshape(-1, self.size)
        whole = np.block([[self.matrix, g.T], [g, -soft * np.eye(len(g))]])
        solution = splu(coo_matrix(whole).tocsc()).solve(np.concatenate([self.right, self.values]))
        return solution[: self.size], solution[self.size :]


def solve(stepper: Stepper, state: State, h: float, activation: Floats) -> tuple[Floats, Floats]:
    """Joint speeds (m) and control point velocities (n, 3) after a step of h [s]; linear laws. One-sided
    contacts as `state.engaged` says, drag as the state says: both are the gathered step's. The state carries no
    multipliers (their geometric stiffness is left out)."""
    system = stepper.system
    bodies = len(system.names)
    equations = Equations(6 * bodies + 3 * len(state.points))
    add_bodies(system, state, h, equations)
    columns = stepper.room.column
    for body, joint in enumerate(joints_in_order(system)):
        add_joint(system, state, h, body, joint, columns, equations)
    for t in range(system.shape.strands):
        add_strand(system, state, h, t, float(activation[t]), equations)
    add_holds(system, state, h, equations)
    add_links(system, state, h, equations)
    velocity, _ = equations.solve(SOFT)
    twists = np.zeros((bodies, 6))
    for body in range(bodies):
        omega, v = velocity[6 * body : 6 * body + 3], velocity[6 * body + 3 : 6 * body + 6]
        twists[body] = np.concatenate([omega, v - np.cross(omega, centre_of(system, state, body))])
    speeds = np.zeros(system.shape.speeds)
    for body in range(bodies):
        own = np.flatnonzero(system.tree.owner == body)
        above = system.tree.parent[body]
        relative = twists[body] - (twists[above] if above >= 0 else 0.0)
        if len(own):
            speeds[own] = np.linalg.pinv(columns[own].T) @ relative
    return speeds, velocity[6 * bodies :].reshape(-1, 3)


def joints_in_order(system: System) -> list[Joint]:
    first: dict[str, Joint] = {}
    for joint in system.model.joints:
        first.setdefault(joint.body, joint)
    return [first.get(name) or Joint(name, "", "free") for name in system.names]


def centre_of(system: System, state: State, body: int) -> Floats:
    centre: Floats = state.rotation[body] @ system.tree.centre[body] + state.place[body]
    return centre


def twist_rows(system: System, state: State, body: int, size: int) -> Floats:
    """(6, size) rows that give the spatial velocity of a body about the world's origin; zero for the world."""
    rows = np.zeros((6, size))
    if body >= 0:
        k = 6 * body
        rows[:3, k : k + 3] = np.eye(3)
        rows[3:, k + 3 : k + 6] = np.eye(3)
        rows[3:, k : k + 3] = cross(centre_of(system, state, body))
    return rows


def add_bodies(system: System, state: State, h: float, equations: Equations) -> None:
    for body in range(len(system.names)):
        k, mass, rotation = 6 * body, system.tree.mass[body], state.rotation[body]
        equations.matrix[k : k + 3, k : k + 3] += rotation @ system.tree.inertia[body] @ rotation.T
        equations.matrix[k + 3 : k + 6, k + 3 : k + 6] += mass * np.eye(3)
        equations.right[k : k + 6] += state.momentum[body]
        equations.right[k + 3 : k + 6] += h * mass * system.gravity


def add_joint(system: System, state: State, h: float, body: int, joint: Joint, columns: Floats,
              equations: Equations) -> None:  # fmt: skip
    """Dropped rows as constraints, springs and limits along the kept ones."""
    own = np.flatnonzero(system.tree.owner == body)
    kept = columns[own].T
    size = equations.size
    relative = twist_rows(system, state, body, size) - twist_rows(system, state, int(system.tree.parent[body]), size)
    for row in null_space(kept.T).T if FREEDOM[joint.kind] else np.eye(6):
        equations.constrain(row @ relative, 0.0)
    if joint.kind in ("free", "fixed", "driven"):
        return
    read = np.linalg.pinv(kept) @ relative
    if joint.kind == "ball":
        vector = rotation_vector(state.turn[body])
        angle = joint.axes @ vector
    else:
        angle = state.angle[own]
    beyond = np.maximum(angle - joint.high, 0.0) + np.minimum(angle - joint.low, 0.0)
    torque = -joint.stiffness * (angle - joint.rest) - joint.limit_stiffness * beyond
    stiffness = joint.stiffness + joint.limit_stiffness * (beyond != 0)
    damping = joint.damping + joint.limit_damping * (beyond != 0)
    if joint.kind == "ball":
        size_of = float(np.linalg.norm(vector))
        c = 1 / 12 if size_of < 1e-4 else 1 / size_of**2 - (1 + np.cos(size_of)) / (2 * size_of * np.sin(size_of))
        inverse = np.eye(3) - 0.5 * cross(vector) + c * cross(vector) @ cross(vector)
        torque = joint.axes @ (inverse.T @ (joint.axes.T @ torque))
    equations.matrix += read.T @ np.diag(h * h * stiffness + h * damping) @ read
    equations.right += h * read.T @ torque


def add_strand(system: System, state: State, h: float, t: int, activation: float, equations: Equations) -> None:
    """Mass, tension, damping, gravity of one strand, linear law."""
    strand, threads = system.model.strands[t], system.threads
    count, first = len(strand.points), int(threads.first[t])
    base = 6 * len(system.names) + 3 * first
    points, velocities = state.points[first : first + count], state.velocities[first : first + count]
    band, weight = mass_band(strand)
    mass = sum(np.diag(band[back:, 3 - back], -back) for back in range(4))
    mass = np.kron(mass + np.tril(mass, -1).T, np.eye(3))
    alpha, beta = strand.mass_damping + state.drag[t], strand.stiffness_damping
    matrix = (1 + h * alpha) * mass
    right = mass @ velocities.ravel() + h * np.kron(weight, system.gravity)
    samples = slice(int(threads.sample_first[t]), int(threads.sample_first[t + 1]))
    places = (np.arange(count - 1, dtype=np.float64) + 0.5) if samples.stop - samples.start == count - 1 else None
    assert places is not None, "written for one sample a span"
    derivative = splines.design(count, places, 1)
    for g, row in zip(range(samples.start, samples.stop), derivative):
        slope, rate = row @ points, row @ velocities
        size = np.linalg.norm(slope)
        tangent = slope / size
        metric = threads.metric[g]
        strain, strain_rate = size / metric - 1.0, tangent @ rate / metric
        part = 1.0 if strain > -1e-6 else threads.compression[g]
        speed = min(max(1.0 + strain_rate / 10.0, 0.0), 1.4)
        active = threads.strength[g] * speed
        lag = activation * threads.strength[g] * (0.1 if 0 < speed < 1.4 else 0.0)
        rise = threads.stiffness[g] * part
        tension = rise * strain + activation * active
        along = ((h * h + h * beta) * rise + h * lag) / metric
        aside = h * h * max(tension, 0.0) / size
        block = along * np.outer(tangent, tangent) + aside * (np.eye(3) - np.outer(tangent, tangent))
        matrix += np.kron(np.outer(row, row), block)
        right -= h * np.kron(row, (tension - lag * strain_rate) * tangent)
    equations.matrix[base : base + 3 * count, base : base + 3 * count] += matrix
    equations.right[base : base + 3 * count] += right


def strand_rows(system: System, state: State, t: int, s: float, size: int) -> tuple[Floats, Floats, Floats]:
    """Rows (3, size) that give the velocity of a strand's point, the point and d/ds there."""
    first, count = int(system.threads.first[t]), len(system.model.strands[t].points)
    basis = splines.design(count, np.array([s]))[0]
    rows = np.zeros((3, size))
    base = 6 * len(system.names) + 3 * first
    rows[:, base : base + 3 * count] = np.kron(basis, np.eye(3))
    points = state.points[first : first + count]
    return rows, basis @ points, splines.design(count, np.array([s]), 1)[0] @ points


def way(system: System, state: State, c: int, tangent: Floats) -> Floats:
    """The way on which a strand slides through ring c (3,): mean direction three spans before and behind; see `holds`."""
    threads = system.threads
    t = int(threads.hold_strand[c])
    first, count = int(threads.first[t]), len(system.model.strands[t].points)
    mine, s = range(int(threads.hold_first[t]), int(threads.hold_first[t + 1])), state.place_on_strand
    reach = min([ASIDE, *(0.5 * abs(s[k] - s[c]) for k in (c - 1, c + 1) if k in mine)])
    places = np.clip([s[c] - reach, s[c] + reach], 0.0, count - 1.0)
    slopes = splines.design(count, places, 1) @ state.points[first : first + count]
    mean = (slopes / np.linalg.norm(slopes, axis=1, keepdims=True)).sum(axis=0)
    part = float(np.clip(reach - ASIDE + 1.0, 0.0, 1.0)) if np.linalg.norm(mean) >= HAIRPIN else 0.0
    found: Floats = part * mean / max(np.linalg.norm(mean), 1e-12) + (1.0 - part) * tangent / np.linalg.norm(tangent)
    return found


def add_holds(system: System, state: State, h: float, equations: Equations) -> None:
    model, threads, size = system.model, system.threads, equations.size
    holds: list[Attachment | Slide | Contact] = [*model.attachments, *model.slides, *model.contacts]
    holds.sort(key=lambda hold: (system.strand(hold.strand), hold.parameter))
    for c in range(len(holds)):
        body = int(threads.hold_body[c])
        rotation = state.rotation[body] if body >= 0 else np.eye(3)
        place = state.place[body] if body >= 0 else np.zeros(3)
        rows, point, tangent = strand_rows(system, state, int(threads.hold_strand[c]), state.place_on_strand[c], size)
        kind, height = int(threads.hold_kind[c]), 0.0
        local = threads.hold_point[c]
        directions = np.eye(3)
        if not state.engaged[c]:
            continue
        if kind == 1:
            directions = null_space(way(system, state, c, tangent)[None, :]).T
        elif kind >= 2:
            local, normal = surface_point(threads.surfaces, int(threads.hold_surface[c]), state.place_on_surface[c])
            directions, height = (rotation @ normal)[None, :], threads.hold_height[c]
        x = rotation @ local + place
        twist = twist_rows(system, state, body, size)
        body_rows = twist[3:] - cross(x) @ twist[:3]
        for direction in directions:
            gap = direction @ (point - x) - height
            equations.constrain(
                direction @ (rows - body_rows), -np.clip(gap, -GREATEST_CORRECTION, GREATEST_CORRECTION) / h
            )


def add_links(system: System, state: State, h: float, equations: Equations) -> None:
    threads = system.threads
    for (one, other), (s, r) in zip(threads.link, threads.link_place):
        rows, point, _ = strand_rows(system, state, int(one), s, equations.size)
        other_rows, other_point, _ = strand_rows(system, state, int(other), r, equations.size)
        for k in range(3):
            equations.constrain((rows - other_rows)[k], -(point - other_point)[k] / h)
