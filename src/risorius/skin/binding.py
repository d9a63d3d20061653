"""A skin bound to bones and cavity points: each mesh point follows a few of them by weights (ledger K1, K2).

A handle is a body or a point of the cavity surface. Body handles come first (index = body), point handles after them
(index = number of bodies + surface point).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Surface, Torso
from risorius.maths.compiled import kernel
from risorius.maths.rotations import matrices
from risorius.skin.frames import PointFrames

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
Method = Literal["nearest4", "smooth"]
METHODS: Final = ("smooth", "nearest4")
FRAMES_AT_ONCE: Final = 16


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the mesh stands in the torso's world: x_world = scale · rotation · x_mesh + translation.

    Args:
        scale: metres in one unit of the mesh.
        rotation: (3, 3) mesh axes -> world axes.
        translation: (3,) [m].
    """

    scale: float = 1.0
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    translation: Floats = field(default_factory=lambda: np.zeros(3))

    def to_world(self, points: Floats) -> Floats:
        """(n, 3) mesh units -> (n, 3) [m]."""
        return self.scale * (points @ self.rotation.T) + self.translation

    def vectors_to_mesh(self, vectors: Floats) -> Floats:
        """(…, 3) world displacements [m] -> mesh units and axes."""
        return (vectors @ self.rotation) / self.scale


@dataclass(frozen=True, eq=False)
class Binding:
    """Which handles move which mesh point, and by how much.

    Args:
        method: how the weights were found; with "nearest4" points only translate, with "smooth" they turn too.
        bodies: names of the bodies, in the order of the torso.
        point_count: points of the torso's cavity surface.
        offsets: (n + 1,) mesh point i has the entries offsets[i]:offsets[i + 1] of `handle` and `weight`.
        handle, weight: (k,); weights of a mesh point sum to one.
        placement: mesh units -> world.
    """

    method: Method
    bodies: tuple[str, ...]
    point_count: int
    offsets: Ints
    handle: Ints
    weight: Floats
    placement: Placement = field(default_factory=Placement)

    @property
    def vertex_count(self) -> int:
        return len(self.offsets) - 1

    @property
    def handle_count(self) -> int:
        return len(self.bodies) + self.point_count

    def matrix(self):
        """Weights as a sparse (n, handles) matrix."""
        from scipy.sparse import csr_matrix

        shape = (self.vertex_count, self.handle_count)
        return csr_matrix((self.weight, self.handle, self.offsets), shape=shape)


def motion(torso: Torso, record: Record, frames: PointFrames | None) -> tuple[Floats, Floats]:
    """Displacement fields of all handles: u(x) = (D) x + c for a rest-world point x.

    Bodies: D = R − I, c = p. Points that turn: D = R_i − I, c = x_i − x_i⁰ − D x_i⁰ with R_i the turn of the surface
    about the point; points that only translate (paper 000, section 8.2): D = 0, c = x_i − x_i⁰. All are zero at rest.

    Args:
        frames: how points turn; None where they only translate.

    Returns: D (f, handles, 3, 3), c (f, handles, 3).
    """
    rest = torso.surface.points
    bodies = np.asarray(record.rotation)
    # I − 2(…) minus I, built from the vector part alone: exactly zero for the identity
    spin = turns(bodies)
    shift = record.points - rest
    if frames is not None:
        turned = frames.turns(record.points)
        carried = torso.surface.body >= 0
        turned[:, carried] = spin[:, torso.surface.body[carried]]
    else:
        turned = np.zeros((*shift.shape[:2], 3, 3))
    constant = shift - np.einsum("fpij,pj->fpi", turned, rest)
    return np.concatenate([spin, turned], axis=1), np.concatenate([record.position, constant], axis=1)


def frames_of(binding: Binding, torso: Torso) -> PointFrames | None:
    """How the points of a binding turn; None where its method lets them only translate."""
    return point_frames(torso.surface) if binding.method == "smooth" else None


@lru_cache(maxsize=4)
def point_frames(surface: Surface) -> PointFrames:
    """How the points of a surface turn, found out once."""
    return PointFrames(surface)


def turns(quaternions: Floats) -> Floats:
    """R − I (…, 3, 3) of unit quaternions (…, 4)."""
    return matrices(quaternions) - np.eye(3)


def apply(binding: Binding, vertices: Floats, torso: Torso, record: Record) -> NDArray[np.float32]:
    """The mesh in every frame: x' = x + Σ_j w_j u_j(x) (equation 8.1 of paper 000, as displacements).

    Args:
        vertices: (n, 3) rest mesh in its own unit and axes.

    Returns: (f, n, 3) in the mesh's unit and axes, single precision.
    """
    frames = len(record.time)
    out = np.empty((frames, len(vertices), 3), dtype=np.float32)
    for start, moved in blocks(binding, vertices, torso, record):
        out[start : start + len(moved)] = moved
    return out


def apply_exact(binding: Binding, vertices: Floats, torso: Torso, record: Record) -> Floats:
    """As `apply`, in double precision."""
    return np.concatenate([moved for _, moved in blocks(binding, vertices, torso, record)])


def blocks(binding: Binding, vertices: Floats, torso: Torso, record: Record):
    """(first frame, moved points (b, n, 3)) for blocks of frames."""
    check(binding, vertices, torso)
    world = binding.placement.to_world(np.asarray(vertices, dtype=np.float64))
    frames = frames_of(binding, torso)
    for start in range(0, len(record.time), FRAMES_AT_ONCE):
        part = slice(start, start + FRAMES_AT_ONCE)
        piece = Record(record.time[part], record.position[part], record.rotation[part], record.points[part])
        spin, constant = motion(torso, piece, frames)
        fields = np.concatenate([spin.reshape(*spin.shape[:2], 9), constant], axis=2)
        shift = np.empty((len(piece.time), len(world), 3))
        displace(binding.offsets, binding.handle, binding.weight, fields, world, shift)
        yield start, vertices + binding.placement.vectors_to_mesh(shift)


@kernel
def displace(offsets, handle, weight, fields, world, out):
    """u(x) = (Σ w D) x + Σ w c for every frame and mesh point, into out (f, n, 3).

    fields (f, handles, 12): nine numbers of D, row by row, then three of c; world (n, 3).
    """
    for frame in range(fields.shape[0]):
        for i in range(world.shape[0]):
            total = np.zeros(12)
            for k in range(offsets[i], offsets[i + 1]):
                field = fields[frame, handle[k]]
                for j in range(12):
                    total[j] += weight[k] * field[j]
            for row in range(3):
                out[frame, i, row] = (
                    total[3 * row] * world[i, 0]
                    + total[3 * row + 1] * world[i, 1]
                    + total[3 * row + 2] * world[i, 2]
                    + total[9 + row]
                )


def check(binding: Binding, vertices: Floats, torso: Torso) -> None:
    """Refuse a binding that belongs to another mesh or torso."""
    from risorius.core.errors import InputError

    if len(vertices) != binding.vertex_count:
        raise InputError(
            f"the binding was made for a mesh of {binding.vertex_count} points, this one has {len(vertices)}",
            place="binding",
        )
    if binding.bodies != torso.bodies.names or binding.point_count != len(torso.surface.points):
        raise InputError(
            f"the binding was made for {len(binding.bodies)} bodies and {binding.point_count} cavity points, the "
            f"story has {len(torso.bodies.names)} and {len(torso.surface.points)}, or other names",
            place="binding",
        )
