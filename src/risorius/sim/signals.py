"""Signals read off a motion: what a laboratory would measure, from geometry and pressures alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from risorius.core.model import Model
from risorius.core.record import BALL, Record
from risorius.core.torso import Torso
from risorius.core.units import ATMOSPHERE, CMH2O, LITRE, MM
from risorius.maths.rotations import conjugate, matrices, product
from risorius.respiration.boyle import Boyle
from risorius.sim.run import Motion
from risorius.sim.system import (
    ABDOMEN_PRESSURE,
    ABDOMEN_VOLUME,
    ALVEOLAR_PRESSURE,
    FLOW,
    PLEURAL_PRESSURE,
    TRUNK_VOLUME,
)

Floats = NDArray[np.float64]
TAPE_ANGLES = 72
"""Points of the tape that measures a circumference."""


def record_of(model: Model, motion: Motion) -> Record:
    """The record with all signals of the contract, in column order."""
    torso = model.torso
    start = motion.relaxed or still(torso)
    abdomen, trunk = motion.scalar[:, ABDOMEN_VOLUME], motion.scalar[:, TRUNK_VOLUME]
    top = highest(start.points[0], right_dome(torso))
    cage, right, pulmonary = cage_volumes(torso, motion.points, start.points[0, top, 1])
    sternum = moved(torso, motion, start, "sternum", torso.landmarks["sternum_mid"])
    navel = nearest(torso, torso.landmarks["umbilicus_surface_point"])
    shift = motion.points - start.points
    volume, alveolar, pleural, flow = lung_of(model, motion)
    signals = {
        "time_s": motion.time,
        "lung_volume_l": volume / LITRE,
        "flow_lps": flow / LITRE,
        "lung_pressure_cmH2O": alveolar / CMH2O,
        "pleural_pressure_cmH2O": pleural / CMH2O,
        "abdominal_pressure_cmH2O": motion.scalar[:, ABDOMEN_PRESSURE] / CMH2O,
        "ribcage_volume_l": cage / LITRE,
        "abdomen_volume_l": (trunk - cage) / LITRE,
        "sternum_ap_mm": sternum[:, 0] / MM,
        "sternum_height_mm": sternum[:, 1] / MM,
        "diaphragm_height_mm": shift[:, top, 1] / MM,
        "umbilicus_ap_mm": shift[:, navel, 0] / MM,
        "chest_circumference_upper_mm": circumference(torso, motion, torso.landmarks["level_rib4"][1]) / MM,
        "chest_circumference_lower_mm": circumference(torso, motion, torso.landmarks["level_xiphoid"][1]) / MM,
        "cavity_volume_error_pct": 100.0 * (abdomen / trunk_rest(torso) - 1.0),
    }
    for number, group in enumerate(torso.groups):
        signals[f"act_{group}"] = motion.activation[:, number]
    for rib in range(1, 11):
        body = torso.bodies.index(f"rib{rib}_r")
        parent = torso.bodies.parent[body]
        turn = rotation_vectors(turned(motion, start, body, parent))
        signals[f"rib{rib}_pump_deg"] = np.degrees(turn[:, 2])
        signals[f"rib{rib}_bucket_deg"] = -np.degrees(turn[:, 0])  # forward axis x: the right side sinks when it turns
    difference = motion.scalar[:, ABDOMEN_PRESSURE] - pleural
    signals["transdiaphragmatic_pressure_cmH2O"] = difference / CMH2O
    signals["ribcage_pulmonary_volume_l"] = pulmonary / LITRE
    signals["ribcage_abdominal_volume_l"] = (cage - pulmonary) / LITRE
    signals["ribcage_left_volume_l"] = (cage - right) / LITRE
    signals["ribcage_right_volume_l"] = right / LITRE
    signals["glottis_area_cm2"] = motion.glottis * model.lung.glottis * 1e4
    if motion.ball[:, 3].any():
        for number, name in enumerate(BALL):
            signals[name] = motion.ball[:, number] / MM
    return Record(motion.time, motion.position, motion.rotation, motion.points, signals)


def lung_of(model: Model, motion: Motion) -> tuple[Floats, Floats, Floats, Floats]:
    """Gas in the lung [m³], alveolar and pleural pressure [Pa], flow into it [m³/s]: the run's own, or read off its chest."""
    table, scalar = model.lung, motion.scalar
    chest = scalar[:, TRUNK_VOLUME] - scalar[:, ABDOMEN_VOLUME]
    if table.two_way:
        return chest - table.tissue, scalar[:, ALVEOLAR_PRESSURE], scalar[:, PLEURAL_PRESSURE], scalar[:, FLOW]
    lung = Boyle(table.transmural, table.recoil, table.turbulence, table.filled, ATMOSPHERE)
    return lung.read_off(motion.time, chest, motion.opening)


def trunk_rest(torso: Torso) -> float:
    """Volume [m³] of the abdominal cavity as built."""
    return float(closed_volume(torso.surface.points[None], torso.surface.abdomen)[0])


def closed_volume(points: Floats, faces: NDArray[np.integer]) -> Floats:
    """Volumes (f,) [m³] of a closed surface in every frame (f, n, 3)."""
    a, b, c = (points[:, faces[:, k]] - points[:, :1] for k in range(3))
    return np.einsum("fij,fij->f", a, np.cross(b, c)) / 6.0


def rotation_vectors(turn: Floats) -> Floats:
    """Rotation vectors (f, 3) [rad] of unit quaternions (f, 4)."""
    turn = np.where(turn[:, :1] < 0.0, -turn, turn)
    size = np.linalg.norm(turn[:, 1:], axis=1)
    factor = np.where(size > 1e-9, 2.0 * np.arctan2(size, turn[:, 0]) / np.maximum(size, 1e-12), 2.0)
    return turn[:, 1:] * factor[:, None]


def turned(motion: Motion, start: Motion, body: int, parent: int) -> Floats:
    """Unit quaternions (f, 4) by which a body has turned on its parent from its relaxed pose, in the parent's frame."""
    here, there = (product(conjugate(m.rotation[:, parent]), m.rotation[:, body]) for m in (motion, start))
    return product(here, np.repeat(conjugate(there), len(here), axis=0))


def still(torso: Torso) -> Motion:
    """One frame of the torso as built."""
    bodies = len(torso.bodies.names)
    one, empty = np.zeros(1), np.zeros((1, 0))
    spin = np.tile(np.eye(3), (1, bodies, 1, 1))
    return Motion(
        one, np.zeros((1, bodies, 3)), spin, torso.surface.points[None], empty, empty, one, one, np.zeros((1, 4))
    )


def moved(torso: Torso, motion: Motion, start: Motion, body: str, point: Floats) -> Floats:
    """How far (f, 3) [m] a rest point of a body has moved from its relaxed place."""
    number = torso.bodies.index(body)
    here, there = (matrices(m.rotation[:, number]) @ point + m.position[:, number] for m in (motion, start))
    return here - there


def nearest(torso: Torso, point: Floats) -> int:
    """The surface point nearest to a place at rest."""
    return int(np.argmin(((torso.surface.points - point) ** 2).sum(axis=1)))


def highest(points: Floats, chosen: NDArray[np.intp]) -> int:
    """The highest of some points (n, 3)."""
    return int(chosen[np.argmax(points[chosen, 1])])


def right_dome(torso: Torso) -> NDArray[np.intp]:
    """Free points of the right half of the diaphragm."""
    names = np.array(torso.surface.regions)[torso.surface.region]
    return np.flatnonzero(np.isin(names, ("dome", "tendon")) & (torso.surface.points[:, 2] > 0.0))


def capped(points: Floats, faces: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Close open faces (m, 3) by a fan about the middle of their rim: points (f, n + 1, 3) and faces."""
    edges = {(int(f[k]), int(f[(k + 1) % 3])) for f in faces for k in range(3)}
    rim = sorted(edge for edge in edges if (edge[1], edge[0]) not in edges)
    middle = points[:, [p for p, _ in rim]].mean(axis=1, keepdims=True)
    fan = np.array([(q, p, points.shape[1]) for p, q in rim], dtype=np.int64)
    return np.concatenate([points, middle], axis=1), np.concatenate([faces, fan])


def cage_volumes(torso: Torso, points: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Volumes (f,) [m³] inside the rib cage above the lower costal margin: all of it, its right half, and what lies above
    a level [m]."""
    surface = torso.surface
    shared = {frozenset(face) for face in surface.abdomen.tolist()}
    upper = np.array([face for face in surface.trunk.tolist() if frozenset(face) not in shared], dtype=np.int64)
    extended, faces = capped(points, upper)
    rest = capped(surface.points[None], upper)[0][0]
    on_right = rest[faces].mean(axis=1)[:, 2] > 0.0
    middle = extended[:, -1:]  # on the midplane: faces of one half and this point enclose that half
    a, b, c = (extended[:, faces[:, k]] - middle for k in range(3))
    by_face = np.einsum("fij,fij->fi", a, np.cross(b, c)) / 6.0
    return by_face.sum(axis=1), by_face[:, on_right].sum(axis=1), volume_above(points, upper, level)


def volume_above(points: Floats, faces: NDArray[np.int64], level: float) -> Floats:
    """Volumes (f,) [m³] above a level, of a surface that is closed there: ∫ max(y − level, 0) n_y dA, exact on triangles."""
    a, b, c = (points[:, faces[:, k]] for k in range(3))
    upward = 0.5 * ((b - a)[..., 2] * (c - a)[..., 0] - (b - a)[..., 0] * (c - a)[..., 2])
    low, middle, high = np.sort(np.stack([a, b, c])[..., 1] - level, axis=0)
    mean = (low + middle + high) / 3.0
    tiny = np.finfo(float).tiny
    tip = np.maximum(high, 0.0) ** 3 / (3.0 * np.maximum((high - low) * (high - middle), tiny))
    cut = mean - np.minimum(low, 0.0) ** 3 / (3.0 * np.maximum((middle - low) * (high - low), tiny))
    depth = np.where(low >= 0.0, mean, np.where(middle >= 0.0, cut, np.where(high > 0.0, tip, 0.0)))
    return (upward * depth).sum(axis=1)


def circumference(torso: Torso, motion: Motion, level: float) -> Floats:
    """Length (f,) [m] of a tape round the chest at a height [m] at rest.

    The tape lies on skin over bone: by angle, the outermost vertex of ribs, cartilages, sternum and spine near the
    level, moved out to the skin; each tape point rides on its body.
    """
    names = torso.bodies.names
    bony = [b for b, n in enumerate(names) if n.startswith(("rib", "cartilage", "sternum", "t1", "t5", "t9"))]
    owner = np.concatenate([np.full(len(torso.bodies.meshes[b].vertices), b) for b in bony])
    place = np.concatenate([torso.bodies.meshes[b].vertices for b in bony])
    near = np.abs(place[:, 1] - level) < 0.02
    owner, place = owner[near], place[near]
    middle = 0.5 * (place.min(axis=0) + place.max(axis=0))
    flat = (place - middle)[:, [0, 2]]
    bins = np.floor((np.arctan2(flat[:, 1], flat[:, 0]) / (2 * np.pi) + 0.5) * TAPE_ANGLES).astype(int) % TAPE_ANGLES
    reach = np.linalg.norm(flat, axis=1)
    chosen = [
        int(np.flatnonzero(bins == b)[np.argmax(reach[bins == b])]) for b in range(TAPE_ANGLES) if (bins == b).any()
    ]
    hull = ConvexHull(flat[chosen])
    chosen = [chosen[vertex] for vertex in hull.vertices]
    direction = flat[chosen] / reach[chosen][:, None]
    depth = skin_depth(torso, place[chosen], direction)
    rest = place[chosen] + depth[:, None] * np.stack([direction[:, 0], np.zeros(len(chosen)), direction[:, 1]], axis=1)
    number = owner[chosen]
    rotation = matrices(motion.rotation[:, number])
    tape = np.einsum("fnij,nj->fni", rotation, rest) + motion.position[:, number]
    flat_tape = tape[:, :, [0, 2]]
    return np.linalg.norm(flat_tape - np.roll(flat_tape, 1, axis=1), axis=2).sum(axis=1)


def skin_depth(torso: Torso, place: Floats, direction: Floats) -> Floats:
    """Distance (n,) [m] from bone to skin outward in the horizontal plane; the median guards against the arms."""
    skin = torso.skin.vertices
    depths = []
    for point, way in zip(place, direction):
        offset = skin - point
        along = offset[:, 0] * way[0] + offset[:, 2] * way[1]
        across = np.linalg.norm(offset - along[:, None] * np.array([way[0], 0.0, way[1]]), axis=1)
        near = np.flatnonzero((across < 0.015) & (along > 0.0))
        depths.append(along[near].min() if len(near) else np.nan)
    depth = np.array(depths)
    typical = np.nanmedian(depth)
    return np.where(np.isfinite(depth), np.minimum(depth, 2.0 * typical), typical)
