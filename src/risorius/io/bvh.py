"""BVH: the skeleton as a hierarchy of joints; centimetres, Y up, the subject faces +Z, its left is +X."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import write_bytes
from risorius.io.gltf_build import TO_GLTF
from risorius.maths.rotations import matrices

Floats = NDArray[np.float64]
CENTIMETRES = 100.0


def local_motion(torso: Torso, record: Record) -> tuple[Floats, Floats]:
    """Each body's joint in its parent's rest axes: shift (f, b, 3) [m] of the joint point, turn (f, b, 3, 3)."""
    spin = matrices(record.rotation)
    pivot = np.asarray(torso.bodies.joint_point)
    place = np.einsum("fbij,bj->fbi", spin, pivot) + record.position
    shift, turn = place.copy(), spin.copy()
    for k, parent in enumerate(torso.bodies.parent.tolist()):
        if parent >= 0:
            back = spin[:, parent].transpose(0, 2, 1)
            shift[:, k] = np.einsum("fij,fj->fi", back, place[:, k] - place[:, parent])
            turn[:, k] = back @ spin[:, k]
    return shift, turn


def write_bvh(path: str | PathLike[str], torso: Torso, record: Record) -> None:
    """Write the skeleton's motion; every joint has its shift and its turn (Z, X, Y), for ribs do both."""
    bodies = torso.bodies
    pivot = np.asarray(bodies.joint_point) @ TO_GLTF.T
    children: list[list[int]] = [[] for _ in bodies.names]
    for k, parent in enumerate(bodies.parent.tolist()):
        if parent >= 0:
            children[parent].append(k)
    order: list[int] = []
    lines = ["HIERARCHY"]

    def emit(k: int, depth: int) -> None:
        order.append(k)
        parent = int(bodies.parent[k])
        offset = pivot[k] - (pivot[parent] if parent >= 0 else 0.0)
        pad = "  " * depth
        lines.append(f"{pad}{'JOINT' if parent >= 0 else 'ROOT'} {bodies.names[k]}")
        lines.append(pad + "{")
        lines.append(f"{pad}  OFFSET " + numbers(offset * CENTIMETRES))
        lines.append(f"{pad}  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation")
        for child in children[k]:
            emit(child, depth + 1)
        if not children[k]:
            far = np.asarray(bodies.meshes[k].vertices) @ TO_GLTF.T - pivot[k]
            end = far[np.linalg.norm(far, axis=1).argmax()]
            lines.extend(
                [f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET " + numbers(end * CENTIMETRES), f"{pad}  }}"]
            )
        lines.append(pad + "}")

    emit(0, 0)
    shift, turn = local_motion(torso, record)
    shift = shift @ TO_GLTF.T * CENTIMETRES
    angles = zxy_degrees(TO_GLTF @ turn @ TO_GLTF.T)
    step = (record.time[-1] - record.time[0]) / max(len(record.time) - 1, 1)
    lines += ["MOTION", f"Frames: {len(record.time)}", f"Frame Time: {step:.9g}"]
    table = np.concatenate([shift[:, order], angles[:, order]], axis=2).reshape(len(record.time), -1)
    lines += [numbers(row) for row in table]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def zxy_degrees(turn: Floats) -> Floats:
    """(…, 3) angles z, x, y [deg] with R = Rz·Rx·Ry."""
    x = np.arcsin(np.clip(turn[..., 2, 1], -1, 1))
    z = np.arctan2(-turn[..., 0, 1], turn[..., 1, 1])
    y = np.arctan2(-turn[..., 2, 0], turn[..., 2, 2])
    return np.degrees(np.stack([z, x, y], axis=-1))


def numbers(values: Floats) -> str:
    return " ".join(f"{value:.6f}" for value in (np.round(values, 6) + 0.0).tolist())
