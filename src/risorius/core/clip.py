"""An animation as joints of any rig in the world, frame by frame: what files bring in, before it is retargeted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

FRAME_LIMIT = 200_000
JOINT_LIMIT = 5_000


@dataclass(frozen=True, eq=False)
class Clip:
    """Joints in motion.

    Args:
        names: of the joints as the file has them.
        parent: (n,) number of the parent joint, -1 for none; parents come first.
        time: (f,) [s] from 0.
        position: (f, n, 3) joint origins in the world, in the file's unit.
        rotation: (f, n, 3, 3) joint axes in the world.
        rest_position, rest_rotation: (n, 3), (n, 3, 3) the same at the rig's rest pose.
        ends: joint -> (3,) the end of a joint without children, in the joint's axes, where the file knows it.
        unit: metres in one unit of length where the file says so, else None.
        file: where it came from, for messages.
        extra: what a format carries besides (joint angles of our own documents).
    """

    names: tuple[str, ...]
    parent: Ints
    time: Floats
    position: Floats
    rotation: Floats
    rest_position: Floats
    rest_rotation: Floats
    ends: dict[int, Floats] = field(default_factory=dict)
    unit: float | None = None
    file: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Frames a second; 0 for a single frame."""
        return 0.0 if len(self.time) < 2 else (len(self.time) - 1) / float(self.time[-1] - self.time[0])


def checked(clip: Clip) -> Clip:
    """The clip, or `InputError` where it is empty, not finite, too long, or its time runs backwards."""
    frames, joints = len(clip.time), len(clip.names)
    if frames == 0 or joints == 0:
        raise InputError(f"expected joints in motion, got {joints} joints and {frames} frames", file=clip.file)
    if frames > FRAME_LIMIT or joints > JOINT_LIMIT:
        raise InputError(f"expected at most {FRAME_LIMIT} frames and {JOINT_LIMIT} joints, got {frames} and {joints}",
                         file=clip.file)  # fmt: skip
    for values in (clip.position, clip.rotation.reshape(frames, joints, 9)):
        bad = ~(np.abs(values) < 1e7).all(axis=2)
        if bad.any():
            frame, joint = np.argwhere(bad)[0].tolist()
            raise InputError("expected finite keys", file=clip.file, place=f"joint {clip.names[joint]}, frame {frame}")
    if not np.isfinite(clip.time).all() or (np.diff(clip.time) <= 0).any():
        raise InputError("expected times that grow from frame to frame", file=clip.file, place="time")
    return clip


def chained(parent: Ints, local_position: Floats, local_rotation: Floats) -> tuple[Floats, Floats]:
    """World positions (f, n, 3) and rotations (f, n, 3, 3) from those in the parent's axes."""
    position, rotation = np.array(local_position, dtype=np.float64), np.array(local_rotation, dtype=np.float64)
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            turned = np.einsum("fij,fj->fi", rotation[:, above], local_position[:, k])
            position[:, k] = position[:, above] + turned
            rotation[:, k] = rotation[:, above] @ local_rotation[:, k]
    return position, rotation
