"""A binding for hosts that know only four joints a point: bones, and helper joints on the belly wall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.maths.rotations import quaternions
from risorius.skin.binding import Binding, frames_of, motion
from risorius.skin.frames import PointFrames

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
HELPERS: Final = 40
CANDIDATES: Final = 10
SAMPLES: Final = 48
STAY: Final = 1e-7
"""[m²] pull of the weights towards the binding's own where the motion leaves them open."""


@dataclass(frozen=True, eq=False)
class JointSkin:
    """Four joints a point.

    Args:
        helpers: (h,) surface points that carry a helper joint; joint index = number of bodies + place in here.
        joint: (n, 4) and weight: (n, 4), sums one.
        error: largest distance from the bound skin over the sampled frames [m].
    """

    helpers: Ints
    joint: Ints
    weight: Floats
    error: float


def helper_points(torso: Torso, wanted: int = HELPERS) -> Ints:
    """Free points of the belly wall spread evenly: each next one is the farthest from those taken."""
    surface = torso.surface
    names = np.array(surface.regions)[np.asarray(surface.region)]
    free = np.flatnonzero((names == "wall") & (np.asarray(surface.body) < 0))
    if len(free) <= wanted:
        return free.astype(np.int32)
    points = np.asarray(surface.points)[free]
    taken = [int(np.abs(points - points.mean(axis=0)).sum(axis=1).argmin())]
    far = np.linalg.norm(points - points[taken[0]], axis=1)
    while len(taken) < wanted:
        taken.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(points - points[taken[-1]], axis=1))
    return np.sort(free[taken]).astype(np.int32)


def helper_poses(torso: Torso, record: Record, helpers: Ints) -> tuple[Floats, Floats]:
    """Positions (f, h, 3) [m] and rotations (f, h, 4) of the helper joints."""
    frames = PointFrames(torso.surface)
    turned = np.empty((len(record.time), len(helpers), 3, 3))
    for frame in range(0, len(record.time), 64):
        part = slice(frame, frame + 64)
        turned[part] = frames.turns(record.points[part])[:, helpers]
    return record.points[:, helpers], quaternions(turned + np.eye(3))


def four_joints(binding: Binding, vertices: Floats, torso: Torso, record: Record) -> JointSkin:
    """The four joints and weights a point that come nearest to the bound skin in sampled frames (least squares)."""
    helpers = helper_points(torso)
    chosen = np.unique(np.linspace(0, len(record.time) - 1, min(len(record.time), SAMPLES)).round().astype(int))
    piece = Record(record.time[chosen], record.position[chosen], record.rotation[chosen], record.points[chosen])
    spin, constant = motion(torso, piece, frames_of(binding, torso))
    bodies = len(torso.bodies.names)
    world = binding.placement.to_world(vertices)
    target = bound(binding, world, spin, constant)  # (f, n, 3) displacements
    start = started(binding, torso, helpers)
    turned, _ = motion(torso, piece, PointFrames(torso.surface))
    joints = np.concatenate([np.arange(bodies), bodies + helpers])
    rest = np.asarray(torso.surface.points)[helpers]
    shift = piece.points[:, helpers] - rest - np.einsum("fhij,hj->fhi", turned[:, bodies + helpers], rest)
    offset = np.concatenate([piece.position, shift], axis=1)
    joint = np.argsort(-start, axis=1, kind="stable")[:, : min(CANDIDATES, start.shape[1])]
    for keep in (joint.shape[1], 4):
        first = np.take_along_axis(start, joint, axis=1)
        weight = simplex_fit(turned[:, joints], offset, world, target, joint, first)
        best = np.argsort(-weight, axis=1, kind="stable")[:, : min(keep, 4)]
        joint, weight = np.take_along_axis(joint, best, axis=1), np.take_along_axis(weight, best, axis=1)
    moved = moves(turned[:, joints], offset, world, joint)
    missed = np.einsum("nkfx,nk->fnx", moved, weight) - target
    error = float(np.sqrt((missed**2).sum(axis=2).max()))
    return JointSkin(helpers, *padded(joint, weight), error)


def padded(joint: Ints, weight: Floats) -> tuple[Ints, Floats]:
    """Four columns; unused entries have weight 0 and joint 0, as glTF asks."""
    missing = 4 - joint.shape[1]
    joint = np.pad(joint, ((0, 0), (0, missing)))
    weight = np.pad(np.where(weight < 1e-4, 0.0, weight), ((0, 0), (0, missing)))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.where(weight > 0, joint, 0).astype(np.int32), weight


def bound(binding: Binding, world: Floats, spin: Floats, constant: Floats) -> Floats:
    """Displacements (f, n, 3) by the binding itself."""
    weights = binding.matrix()
    out = np.empty((len(spin), len(world), 3))
    for frame in range(len(spin)):
        fields = np.concatenate([spin[frame].reshape(-1, 9), constant[frame]], axis=1)
        blended = weights @ fields
        out[frame] = np.einsum("nij,nj->ni", blended[:, :9].reshape(-1, 3, 3), world) + blended[:, 9:]
    return out


def started(binding: Binding, torso: Torso, helpers: Ints) -> Floats:
    """(n, joints) weights with each cavity point's share handed to the nearest helpers."""
    bodies = len(torso.bodies.names)
    full = binding.matrix()
    points = np.asarray(torso.surface.points)
    share = np.zeros((len(points), bodies + len(helpers)))
    carried = np.asarray(torso.surface.body)
    share[np.flatnonzero(carried >= 0), carried[carried >= 0]] = 1.0
    free = np.flatnonzero(carried < 0)
    if len(helpers):
        distance = np.linalg.norm(points[free][:, None] - points[helpers][None], axis=2)
        near = np.exp(-((distance - distance.min(axis=1, keepdims=True)) / 0.03))
        share[free, bodies:] = near / near.sum(axis=1, keepdims=True)
    else:
        share[free, 0] = 1.0
    start = np.zeros((binding.vertex_count, bodies + len(helpers)))
    start[:, :bodies] = full[:, :bodies].toarray()
    return start + full[:, bodies:] @ share


def moves(turned: Floats, offset: Floats, world: Floats, joint: Ints) -> Floats:
    """(n, k, f, 3) displacement of each point as each of its joints would move it."""
    out = np.empty((*joint.shape, len(turned), 3))
    for frame in range(len(turned)):
        out[:, :, frame] = np.einsum("nkij,nj->nki", turned[frame][joint], world) + offset[frame][joint]
    return out


def simplex_fit(turned: Floats, offset: Floats, world: Floats, target: Floats, joint: Ints, first: Floats) -> Floats:
    """Weights ≥ 0 with sum one that minimise Σ_f |Σ_k w_k u_k − u|² + ε|w − w⁰|² (accelerated projected gradient)."""
    out = np.empty(joint.shape)
    for start in range(0, len(world), 1024):
        part = slice(start, start + 1024)
        moved = moves(turned, offset, world[part], joint[part]).reshape(*joint[part].shape, -1)
        aim = target[:, part].transpose(1, 0, 2).reshape(moved.shape[0], -1)
        w0 = first[part] / np.maximum(first[part].sum(axis=1, keepdims=True), 1e-12)
        frames = len(turned)
        H = np.einsum("nkf,nlf->nkl", moved, moved) / frames + STAY * np.eye(moved.shape[1])
        g = np.einsum("nkf,nf->nk", moved, aim) / frames + STAY * w0
        step = 1.0 / np.trace(H, axis1=1, axis2=2)[:, None]
        w, y, t = w0, w0, 1.0
        for _ in range(150):
            new = onto_simplex(y - step * (np.einsum("nkl,nl->nk", H, y) - g))
            faster = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
            y, w, t = new + (t - 1) / faster * (new - w), new, faster
        out[part] = w
    return out


def onto_simplex(points: Floats) -> Floats:
    """Nearest points with entries ≥ 0 and sum one (n, k)."""
    ordered = -np.sort(-points, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    rank = np.arange(1, points.shape[1] + 1)
    last = (ordered - excess / rank > 0).sum(axis=1) - 1
    level = excess[np.arange(len(points)), last] / (last + 1)
    return np.maximum(points - level[:, None], 0.0)
