"""A rig's motion on anatomical joints: the angles within their limits that come closest, and how close that is.

Bone directions count, not lengths: Σ |direction of the model's segment − direction of the rig's|² is least in every frame
(damped Gauss-Newton with bounds, all frames at once). Where a rig has no fingertip, the last joint's own turn gives the
direction of the last segment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from risorius.anatomy.hand.rigs import Rig
from risorius.anatomy.hand.skeleton import FINGERS, HandSkeleton
from risorius.core.clip import Clip
from risorius.core.errors import InputError
from risorius.core.torso import Floats

ITERATIONS: Final = 25
PRIOR: Final = 2e-3
"""Weight of staying near the rest pose, against singular poses."""


@dataclass(frozen=True, eq=False)
class HandMotion:
    """An animation of the anatomical hand.

    Args:
        time: (f,) [s] from 0.
        angles: (f, t) [rad] in the order of the skeleton's turns.
        root_rotation, root_position: (f, 3, 3), (f, 3) [m] pose of the forearm (its rest is the identity).
        report: how well it follows its source: angles [deg] and places [mm] of joints missed, mean and worst.
        warnings: what a user should know.
    """

    time: Floats
    angles: Floats
    root_rotation: Floats
    root_position: Floats
    report: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def chains(skeleton: HandSkeleton) -> dict[int, list[tuple[str, str, str]]]:
    """Digit -> segments as (body, role where it begins, role where it ends)."""
    found = {1: [("metacarpal1", "cmc1", "mp1"), ("proximal1", "mp1", "ip1"), ("distal1", "ip1", "tip1")]}
    for k in FINGERS:
        names = ("proximal", "middle", "distal")
        roles = (f"mcp{k}", f"pip{k}", f"dip{k}", f"tip{k}")
        found[k] = [(f"{name}{k}", roles[n], roles[n + 1]) for n, name in enumerate(names)]
    return found


def rest_directions(skeleton: HandSkeleton) -> dict[str, Floats]:
    """Body -> unit direction from its joint to the next joint or the tip, at rest."""
    out = {}
    for digit, chain in chains(skeleton).items():
        for n, (body, _, _) in enumerate(chain):
            start = skeleton.joint[skeleton.index(body)]
            last = n + 1 == len(chain)
            end = skeleton.tips[digit] if last else skeleton.joint[skeleton.index(chain[n + 1][0])]
            out[body] = (end - start) / np.linalg.norm(end - start)
    return out


def followed(skeleton: HandSkeleton, by_turn: set[tuple[str, str]]) -> dict[str, Floats]:
    """The direction in each body that its rig's direction stands for: its own, or by turn that of the body before it."""
    rest = rest_directions(skeleton)
    out = dict(rest)
    for chain in chains(skeleton).values():
        for n, (body, start, end) in enumerate(chain):
            if (start, end) in by_turn and n:
                out[body] = rest[chain[n - 1][0]]
    return out


def source_directions(clip: Clip, rig: Rig) -> tuple[dict[tuple[str, str], Floats], set[tuple[str, str]]]:
    """(start role, end role) -> (f, 3) unit directions in the world, by places, else by the joint's turn; and which by turn.

    By turn, the direction is that of the segment before at rest, turned as the joint has turned since.
    """
    found, turned = {}, set()
    pairs = [("cmc1", "mp1", ""), ("mp1", "ip1", "cmc1"), ("ip1", "tip1", "mp1")]
    for k in FINGERS:
        pairs += [(f"mcp{k}", f"pip{k}", ""), (f"pip{k}", f"dip{k}", f"mcp{k}"), (f"dip{k}", f"tip{k}", f"pip{k}")]
    j = rig.joint
    for start, end, before in pairs:
        if start not in j:
            continue
        if end in j and np.linalg.norm(clip.position[:, j[end]] - clip.position[:, j[start]], axis=1).min() > 1e-9:
            way = clip.position[:, j[end]] - clip.position[:, j[start]]
        elif j[start] in clip.ends:
            way = np.einsum("fij,j->fi", clip.rotation[:, j[start]], clip.ends[j[start]])
        elif before in j:
            rest = clip.rest_position[j[start]] - clip.rest_position[j[before]]
            local = clip.rest_rotation[j[start]].T @ rest
            way = np.einsum("fij,j->fi", clip.rotation[:, j[start]], local)
            turned.add((start, end))
        else:
            continue
        size = np.linalg.norm(way, axis=1, keepdims=True)
        if (size < 1e-12).any():
            raise InputError(f"expected {start} and {end} apart", file=clip.file, place="joints")
        found[start, end] = way / size
    return found, turned


def unit_length(skeleton: HandSkeleton, clip: Clip, rig: Rig) -> float:
    """Metres of the model in a unit of the file: phalanges and the row of knuckles, by the median of their ratios."""
    j = rig.joint
    pairs = [(f"mcp{k}", f"pip{k}", f"proximal{k}", f"middle{k}") for k in FINGERS]
    pairs += [(f"pip{k}", f"dip{k}", f"middle{k}", f"distal{k}") for k in FINGERS if f"dip{k}" in j]
    pairs += [("mcp2", "mcp4", "proximal2", "proximal4"), ("mcp3", "mcp5", "proximal3", "proximal5")]
    ratios = []
    for start, end, one, other in pairs:
        length = float(np.median(np.linalg.norm(clip.position[:, j[end]] - clip.position[:, j[start]], axis=1)))
        if length < 1e-9:
            raise InputError(f"expected {start} and {end} apart", file=clip.file, place="joints")
        own = skeleton.joint[skeleton.index(other)] - skeleton.joint[skeleton.index(one)]
        ratios.append(float(np.linalg.norm(own)) / length)
    return float(np.median(ratios))


def palm(skeleton: HandSkeleton, clip: Clip, rig: Rig) -> tuple[Floats, Floats, float]:
    """The hand body's pose in every frame, and metres in a unit of the file: wrist and knuckles laid on the rig's.

    Rigs put the wrist anywhere between carpus and forearm: it counts by its direction from the knuckles alone.
    """
    j = rig.joint
    scale = unit_length(skeleton, clip, rig)
    knuckles = clip.position[:, [j[f"mcp{k}"] for k in FINGERS]] * scale
    own = np.stack([skeleton.joint[skeleton.index(f"proximal{k}")] for k in FINGERS])
    wrist = skeleton.joint[skeleton.index("hand")]
    middle = knuckles.mean(axis=1)
    way = clip.position[:, j["wrist"]] * scale - middle
    size = np.linalg.norm(way, axis=1, keepdims=True)
    if (size < 1e-9).any():
        raise InputError("expected wrist and knuckles apart", file=clip.file, place=f"frame {int(size.argmin())}")
    reach = float(np.linalg.norm(wrist - own.mean(axis=0)))
    source = np.concatenate([(middle + way / size * reach)[:, None], knuckles], axis=1)
    model = np.concatenate([wrist[None], own])
    a, b = model - model.mean(axis=0), source - source.mean(axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(np.einsum("fki,kj->fij", b, a))
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    spin = u @ vt
    return spin, source.mean(axis=1) - np.einsum("fij,j->fi", spin, model.mean(axis=0)), scale


def retarget(skeleton: HandSkeleton, clip: Clip, rig: Rig) -> HandMotion:
    """Anatomical angles of a rig's motion, and the errors."""
    spin, place, scale = palm(skeleton, clip, rig)
    world, by_turn = source_directions(clip, rig)
    rest = followed(skeleton, by_turn)
    inverse = spin.transpose(0, 2, 1)
    wanted = {pair: np.einsum("fij,fj->fi", inverse, way) for pair, way in world.items()}
    angles = np.zeros((len(clip.time), len(skeleton.turns)))
    angles = fit_digits(skeleton, wanted, angles, rest)
    warnings = []
    if "forearm" in rig.joint:
        angles = fit_wrist(skeleton, clip, rig, spin, angles)
    else:
        warnings.append("the animation has no forearm: it follows the hand with a straight wrist")
    hand = skeleton.index("hand")
    turned, moved = skeleton.poses(angles)
    root = spin @ turned[:, hand].transpose(0, 2, 1)
    root_place = place - np.einsum("fij,fj->fi", root, moved[:, hand])
    if clip.unit is None:
        warnings.append(
            f"the file names no unit of length: one unit is taken for {1e3 * scale:.3g} mm by the size of the palm"
        )
    report = errors(skeleton, clip, rig, angles, wanted, spin, place, scale, rest)
    return HandMotion(clip.time - clip.time[0], angles, root, root_place, report, tuple(warnings))


def fit_digits(
    skeleton: HandSkeleton, wanted: dict[tuple[str, str], Floats], angles: Floats, rest: dict[str, Floats]
) -> Floats:
    """Angles of all digits, in the hand's frame; digits do not touch one another, so each is its own small problem."""
    hand = skeleton.index("hand")
    digits = []
    for digit, chain in chains(skeleton).items():
        segments = [(skeleton.index(body), rest[body], wanted[start, end]) for body, start, end in chain
                    if (start, end) in wanted]  # fmt: skip
        inside = {skeleton.index(body) for body, _, _ in chain}
        turns = [k for k, turn in enumerate(skeleton.turns) if turn.body in inside]
        digits.append((digit, segments, turns))
    limits = skeleton.limits
    most = max(len(turns) for _, _, turns in digits)

    def misses(q: Floats) -> list[Floats]:
        turned, _ = skeleton.poses(q)
        back = turned[:, hand].transpose(0, 2, 1)
        out = []
        for _, segments, _ in digits:
            ways = [np.einsum("fij,fjk,k->fi", back, turned[:, body], way) - want for body, way, want in segments]
            out.append(np.concatenate(ways, axis=1))
        return out

    step, damping = 1e-5, np.full((len(angles), len(digits)), 1e-3)
    now = misses(angles)
    for _ in range(ITERATIONS):
        slopes = [np.zeros((*miss.shape, len(turns))) for miss, (_, _, turns) in zip(now, digits)]
        for n in range(most):
            nudged = angles.copy()
            for _, _, turns in digits:
                if n < len(turns):
                    nudged[:, turns[n]] += step
            for k, (miss, (_, _, turns)) in enumerate(zip(misses(nudged), digits)):
                if n < len(turns):
                    slopes[k][:, :, n] = (miss - now[k]) / step
        trial = angles.copy()
        for k, (_, _, turns) in enumerate(digits):
            trial[:, turns] = bounded_step(slopes[k], now[k], angles[:, turns], limits[turns], damping[:, k])
        after = misses(trial)
        moved = 0.0
        for k, (_, _, turns) in enumerate(digits):
            better = cost(after[k], trial[:, turns]) <= cost(now[k], angles[:, turns])
            moved = max(moved, float(np.abs(trial[:, turns] - angles[:, turns])[better].max(initial=0.0)))
            chosen = np.ix_(better, np.array(turns))
            angles[chosen] = trial[chosen]
            now[k] = np.where(better[:, None], after[k], now[k])
            damping[:, k] = np.clip(np.where(better, 0.3, 8.0) * damping[:, k], 1e-7, 1e3)
        if moved < 1e-6:
            break
    return angles


def cost(miss: Floats, angles: Floats) -> Floats:
    return (miss**2).sum(axis=1) + PRIOR**2 * (angles**2).sum(axis=1)


def bounded_step(slope: Floats, miss: Floats, q: Floats, limits: Floats, damping: Floats) -> Floats:
    """One Levenberg step in every frame, angles at a bound that the step would leave held there."""
    count = slope.shape[2]
    free = np.ones(q.shape, dtype=bool)
    step = np.zeros_like(q)
    for _ in range(2):
        used = slope * free[:, None, :]
        normal = np.einsum("fmi,fmj->fij", used, used)
        normal += np.eye(count) * (PRIOR**2 + damping[:, None, None])
        right = -np.einsum("fmi,fm->fi", used, miss) - PRIOR**2 * q * free
        step = np.linalg.solve(normal, right[..., None])[..., 0] * free
        beyond = ((q + step < limits[:, 0]) & (q <= limits[:, 0] + 1e-9)) | (
            (q + step > limits[:, 1]) & (q >= limits[:, 1] - 1e-9)
        )
        if not beyond.any():
            break
        free &= ~beyond
    return np.clip(q + step, limits[:, 0], limits[:, 1])


def fit_wrist(skeleton: HandSkeleton, clip: Clip, rig: Rig, spin: Floats, angles: Floats) -> Floats:
    """Wrist angles from the direction of the forearm, pronation from the hand's twist about it since the rest pose."""
    names = skeleton.turn_names
    j, angles = rig.joint, angles.copy()
    way = clip.position[:, j["wrist"]] - clip.position[:, j["forearm"]]
    size = np.linalg.norm(way, axis=1, keepdims=True)
    if (size < 1e-9).any():
        raise InputError("expected elbow and wrist apart", file=clip.file, place="forearm")
    hand, elbow = skeleton.index("hand"), skeleton.joint[skeleton.index("radius")]
    rest = skeleton.joint[hand] - elbow
    rest = rest / np.linalg.norm(rest)
    wanted = np.einsum("fji,fj->fi", spin, way / size)
    turns = [names.index("wrist_flexion"), names.index("wrist_deviation")]
    q, step = angles[:, turns], 1e-5
    damping = np.full(len(q), 1e-3)

    def miss(q: Floats) -> Floats:
        full = np.zeros_like(angles)
        full[:, turns] = q
        turned, _ = skeleton.poses(full)
        return np.einsum("fji,j->fi", turned[:, hand], rest) - wanted

    for _ in range(12):
        now = miss(q)
        slope = np.stack([(miss(q + step * np.eye(2)[n]) - now) / step for n in range(2)], axis=2)
        q = bounded_step(slope, now, q, skeleton.limits[turns], damping)
    angles[:, turns] = q
    relative = np.einsum("fji,fjk->fik", clip.rotation[:, j["forearm"]], clip.rotation[:, j["wrist"]])
    still = clip.rest_rotation[j["forearm"]].T @ clip.rest_rotation[j["wrist"]]
    since = relative @ still.T
    axis = clip.rest_rotation[j["forearm"]].T @ (clip.rest_position[j["wrist"]] - clip.rest_position[j["forearm"]])
    axis = axis / max(float(np.linalg.norm(axis)), 1e-12)
    from risorius.maths.rotations import quaternions

    quaternion = quaternions(since)
    twist = 2 * np.arctan2(quaternion[:, 1:] @ axis, quaternion[:, 0])
    twist = np.unwrap((twist + np.pi) % (2 * np.pi) - np.pi)
    number = names.index("pronation")
    turn = skeleton.turns[number]
    sense = float(np.sign(turn.axis @ rest))
    angles[:, number] = np.clip(sense * twist, turn.low, turn.high)
    return angles


def errors(skeleton, clip: Clip, rig: Rig, angles, wanted, spin, place, scale, rest) -> dict[str, float]:
    """Angles between segments [deg], and distances of joints [mm] when the rig is scaled to the palm."""
    hand = skeleton.index("hand")
    turned, moved = skeleton.poses(angles)
    back = turned[:, hand].transpose(0, 2, 1)
    off, far = [], []
    for chain in chains(skeleton).values():
        for body, start, end in chain:
            k = skeleton.index(body)
            if (start, end) in wanted:
                way = np.einsum("fij,fjk,k->fi", back, turned[:, k], rest[body])
                cosine = np.einsum("fi,fi->f", way, wanted[start, end])
                off.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
            if start in rig.joint:
                here = np.einsum("fij,j->fi", turned[:, k], skeleton.joint[k]) + moved[:, k]
                local = np.einsum("fij,fj->fi", back, here - moved[:, hand])
                world = np.einsum("fij,fj->fi", spin, local) + place
                far.append(1e3 * np.linalg.norm(world - scale * clip.position[:, rig.joint[start]], axis=1))
    angle, distance = np.concatenate(off), np.concatenate(far)
    return {
        "direction_error_mean_deg": round(float(angle.mean()), 3),
        "direction_error_worst_deg": round(float(angle.max()), 3),
        "joint_error_mean_mm": round(float(distance.mean()), 3),
        "joint_error_worst_mm": round(float(distance.max()), 3),
        "metres_per_unit": scale,
    }
