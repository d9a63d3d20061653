"""Skeletons in motion, from glTF and USD animations: what drives muscles, and what carries a skin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.maths.rotations import quaternions

Floats = NDArray[np.float64]
LONGEST: Final = 36000
"""Most frames of an animation."""


@dataclass(frozen=True, eq=False)
class Carried:
    """A stretch of a mesh's points that hang on joints.

    Args:
        start: number of its first point in the mesh.
        joint: (n, k) numbers of joints; weight: (n, k); bind: (j, 4, 4) inverse bind matrices, by joint.
    """

    start: int
    joint: NDArray[np.int64]
    weight: Floats
    bind: Floats

    def matrices(self, world: Floats) -> Floats:
        """(n, 4, 4) blended matrices for joints (j, 4, 4)."""
        return np.einsum("nk,nkij->nij", self.weight, (world @ self.bind)[self.joint])


@dataclass(frozen=True, eq=False)
class Motion:
    """A skeleton over time; lengths in the file's unit.

    Args:
        names: of the joints. time: (f,) [s], from zero.
        local, world: (f, j, 4, 4); rest_local, rest_world: (j, 4, 4).
        carried: the skins of a glTF file.
    """

    names: tuple[str, ...]
    time: Floats
    local: Floats
    world: Floats
    rest_local: Floats
    rest_world: Floats
    carried: tuple[Carried, ...] = field(default=())

    def last(self) -> Motion:
        """The last frame alone."""
        return replace(self, time=self.time[-1:], local=self.local[-1:], world=self.world[-1:])

    def number(self, joint: str) -> int:
        if joint not in self.names:
            raise KeyError(joint)
        return self.names.index(joint)

    def angle(self, joint: str, axis: tuple[float, float, float] | None) -> Floats:
        """(f,) [deg] how far a joint is turned from its rest pose against its parent: in all, or about an axis."""
        k = self.number(joint)
        turn = np.einsum("ji,fjk->fik", unscaled(self.rest_local[k]), unscaled(self.local[:, k]))
        q = quaternions(turn)
        q = q * np.where(q[:, :1] < 0, -1.0, 1.0)
        along = np.linalg.norm(q[:, 1:], axis=1) if axis is None else q[:, 1:] @ np.array(axis)
        return np.degrees(2.0 * np.arctan2(along, q[:, 0]))

    def distance(self, first: str, second: str) -> Floats:
        """(f,) between two joints."""
        a, b = (self.world[:, self.number(name), :3, 3] for name in (first, second))
        return np.linalg.norm(a - b, axis=1)

    def carry(self, points: Floats) -> Floats:
        """(f, n, 3) points that stand at the rest pose, as the joints move them."""
        out = np.array(points, dtype=np.float64)
        for skin in self.carried:
            part = slice(skin.start, skin.start + len(skin.joint))
            rest = skin.matrices(self.rest_world)
            if not (np.abs(np.linalg.det(rest)) > 0).all():
                raise InputError("expected joints of some size at rest, one is scaled to nothing", place="skin")
            back = np.linalg.inv(rest)
            for f in range(len(out)):
                move = skin.matrices(self.world[f]) @ back
                out[f, part] = np.einsum("nij,nj->ni", move[:, :3, :3], points[f, part]) + move[:, :3, 3]
        return out


def unscaled(matrix: Floats) -> Floats:
    """(…, 3, 3) the turn in (…, 4, 4) matrices: the nearest rotation."""
    u, _, v = np.linalg.svd(matrix[..., :3, :3])
    turn = u @ v
    return turn * np.where(np.linalg.det(turn) < 0, -1.0, 1.0)[..., None, None]


def read_motion(path: str | PathLike[str], rate: float) -> Motion:
    """Read the first animation of a glTF file, or a USD stage's, at `rate` frames a second."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending in (".glb", ".gltf"):
        from risorius.io.motion_gltf import read

        return read(file, rate)
    if ending in (".usd", ".usda", ".usdc", ".usdz"):
        from risorius.io.motion_usd import read as read_usd

        return read_usd(file, rate)
    raise InputError("expected an animation ending in .glb, .gltf, .usd, .usda or .usdc", file=file)


def frame_times(seconds: float, rate: float, file: Path) -> Floats:
    """(f,) [s] from zero to the animation's end."""
    if not 0 <= seconds * rate <= LONGEST:
        raise InputError(f"expected at most {LONGEST} frames, got {seconds * rate:.4g}", file=file)
    return np.arange(int(np.floor(seconds * rate + 1e-6)) + 1) / rate


def composed(local: Any, parent: list[int]) -> Floats:
    """World matrices (…, j, 4, 4) of local ones, parents first."""
    world = np.array(local, dtype=np.float64)
    for k, above in enumerate(parent):
        if above >= 0:
            world[..., k, :, :] = world[..., above, :, :] @ local[..., k, :, :]
    return world
