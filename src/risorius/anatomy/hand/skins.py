"""A user's hand mesh on the anatomical bones: by its own rig where it has one, else by the nearest bones."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from risorius.anatomy.hand.retarget import chains, retarget
from risorius.anatomy.hand.rigs import Rig
from risorius.anatomy.hand.skeleton import FINGERS, FIXED, HandSkeleton
from risorius.core.clip import Clip
from risorius.core.torso import Floats, Ints

NEAREST: Final = 4
PARTS: Final = (("mcp", "proximal"), ("pip", "middle"), ("dip", "distal"), ("tip", "distal"))
BODY_OF: Final = {
    "wrist": "hand",
    "forearm": "radius",
    "cmc1": "metacarpal1",
    "mp1": "proximal1",
    "ip1": "distal1",
    "tip1": "distal1",
    **{f"{role}{k}": f"{body}{k}" for k in FINGERS for role, body in PARTS},
}


def bodies_of_joints(skeleton: HandSkeleton, clip: Clip, rig: Rig) -> Ints:
    """(n,) the body that carries each joint of a rig: its own, else that of its nearest ancestor, else the hand."""
    own = {number: skeleton.index(BODY_OF[role]) for role, number in rig.joint.items()}
    hand = skeleton.index("hand")
    out = np.full(len(clip.names), hand, np.int32)
    for number in range(len(clip.names)):
        here = number
        while here >= 0 and here not in own:
            here = int(clip.parent[here])
        out[number] = own.get(here, hand)
    return out


def by_rig(
    skeleton: HandSkeleton, rest: Clip, rig: Rig, vertices: Floats, joint: Ints, weight: Floats
) -> tuple[Floats, Ints, Floats]:
    """Vertices [m] brought to this hand's rest, with bodies and weights (v, k).

    The rig's rest pose is retargeted: each of its segments then lies along one of ours. A segment's vertices follow it, drawn
    out along it to our bone's length, so that joints fall on joints; weights blend between segments as in the rig.

    Args:
        rest: the rig at the pose in which `vertices` stand, one frame.
        joint, weight: (v, k) joints of the clip and their weights.
    """
    motion = retarget(skeleton, rest, rig)
    scale = motion.report["metres_per_unit"]
    spin, shift = skeleton.poses(motion.angles)
    # world poses of the bodies at the rig's rest
    turn = np.einsum("ij,bjk->bik", motion.root_rotation[0], spin[0])
    place = shift[0] @ motion.root_rotation[0].T + motion.root_position[0]
    carrier = bodies_of_joints(skeleton, rest, rig)
    points = np.asarray(vertices) * scale
    out = np.zeros_like(points)
    moves: dict[int, tuple[Floats, Floats, Floats, float]] = {}
    for body in set(carrier.tolist()):
        moves[body] = segment_fit(skeleton, rest, rig, body, turn[body], place[body], scale)
    bodies = carrier[joint]
    for k in range(joint.shape[1]):
        for body, (origin, target, along, stretch) in moves.items():
            mine = bodies[:, k] == body
            local = (points[mine] - origin) @ turn[body]  # in the body's rest axes
            local = local + (local @ along)[:, None] * along * (stretch - 1.0)
            out[mine] += weight[mine, k, None] * (target + local)
    return out, bodies.astype(np.int32), np.asarray(weight, dtype=np.float64)


def segment_fit(
    skeleton: HandSkeleton, rest: Clip, rig: Rig, body: int, turn: Floats, place: Floats, scale: float
) -> tuple[Floats, Floats, Floats, float]:
    """Where a rig's segment begins [m, world], where ours does at rest, its direction there, how much longer ours is."""
    name = skeleton.names[body]
    j = rig.joint
    for digit, chain in chains(skeleton).items():
        for n, (own, start, end) in enumerate(chain):
            if own != name or start not in j:
                continue
            origin = rest.position[0, j[start]] * scale
            begin = skeleton.joint[body]
            last = n + 1 == len(chain)
            far = skeleton.tips[digit] if last else skeleton.joint[skeleton.index(chain[n + 1][0])]
            along = (far - begin) / np.linalg.norm(far - begin)
            if end not in j or last:
                return origin, begin, along, 1.0
            length = float(np.linalg.norm(rest.position[0, j[end]] - rest.position[0, j[start]])) * scale
            return origin, begin, along, float(np.linalg.norm(far - begin)) / max(length, 1e-6)
    origin = skeleton.joint[body] @ turn.T + place
    return origin, skeleton.joint[body], np.array([1.0, 0.0, 0.0]), 1.0


def by_nearness(skeleton: HandSkeleton, vertices: Floats) -> tuple[Ints, Floats]:
    """Bodies and weights (v, 4) of vertices [m] at the hand's rest: inverse fourth power of the distance to bones."""
    points, owner = [], []
    for k, name in enumerate(skeleton.names):
        if name in FIXED[:1]:
            continue
        points.append(np.asarray(skeleton.meshes[k].vertices))
        owner.append(np.full(len(points[-1]), k))
    cloud, whose = np.concatenate(points), np.concatenate(owner)
    distance = np.full((len(vertices), len(skeleton.names)), np.inf)
    for k in np.unique(whose).tolist():
        distance[:, k] = cKDTree(cloud[whose == k]).query(vertices)[0]
    body = np.argsort(distance, axis=1)[:, :NEAREST]
    near = np.take_along_axis(distance, body, axis=1)
    weight = 1.0 / np.maximum(near, 1e-4) ** 4
    return body.astype(np.int32), weight / weight.sum(axis=1, keepdims=True)


def dorsal_paint(skeleton: HandSkeleton, normal: Floats, body: Ints, weight: Floats) -> Floats:
    """(v,) weights where nobody painted any: the back of hand, fingers and thumb, and all round the wrist.

    The palm's thick skin and aponeurosis hide what lies beneath.
    """
    dorsal = np.zeros((len(skeleton.names), 3))
    for k, name in enumerate(skeleton.names):
        own = [turn for turn in skeleton.turns if turn.body == k]
        digit = int(name[-1]) if name[-1].isdigit() else 3
        ahead = skeleton.tips[digit] if name[-1].isdigit() else skeleton.joint[skeleton.index("proximal3")]
        if own and name != "radius":
            way = np.cross(
                ahead - skeleton.joint[k], own[0].axis
            )  # holds for both sides: a mirrored axis turns the other way
            dorsal[k] = way / np.linalg.norm(way)
    facing = np.einsum("vk,vki,vi->v", weight, dorsal[body], normal)
    free = np.einsum("vk,vk->v", weight, (np.linalg.norm(dorsal, axis=1) < 0.5)[body].astype(float))
    return np.clip(np.clip((facing + 0.15) / 0.5, 0.0, 1.0) + free, 0.0, 1.0)
