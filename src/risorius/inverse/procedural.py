"""A laugh animated without physics, to compare with: rotations of the ribs, scalings of the belly (DiLorenzo 2008, §7).

One sine for the ribs and one for the belly in each bout, with the bout's rate of calls and its loudness; nothing answers to
anything else. How far they swing is taken from what the simulated motion does within its calls, so that both shake as hard.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.hearing import Heard
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.maths.rotations import matrices, quaternions
from risorius.maths.signals import low_pass

Floats = NDArray[np.float64]

TRUE_RIBS: Final = range(1, 8)
"""Their front ends carry the sternum."""
RISE: Final = 0.15
"""A bout's motion comes and goes over this long [s]."""
SLOWER: Final = 2.0
"""The ribs swing once in so many calls, the belly once a call: two sines with periods of their own."""
BREATHING: Final = 1.5
"""What is slower [Hz] is breath drawn and spent, not laughter."""
TILT: Final = 0.1
"""Turn [rad] at which the geometry is measured."""


def waves(found: Heard, time: Floats) -> tuple[Floats, Floats]:
    """Swing of the ribs and of the belly at times [s], about −1 … 1 for the loudest bout."""
    ribs, belly = np.zeros(len(time)), np.zeros(len(time))
    loud = [max((10.0 ** (call.level / 20.0) for call in found.calls[b.first : b.last + 1]), default=0.0)
            for b in found.bouts]  # fmt: skip
    most = max(loud, default=1.0)
    for bout, level in zip(found.bouts, loud, strict=True):
        steps = np.diff([call.peak for call in found.calls[bout.first : bout.last + 1]])
        rate = 1.0 / float(np.median(steps)) if len(steps) else max(found.call_rate, 1.0)
        first = found.calls[bout.first].peak
        fade = np.clip((time - bout.start) / RISE + 0.5, 0.0, 1.0) * np.clip((bout.end - time) / RISE + 0.5, 0.0, 1.0)
        turns = rate * (time - first)
        belly += level / most * fade * np.cos(2.0 * np.pi * turns)
        ribs += level / most * fade * np.cos(2.0 * np.pi * turns / SLOWER)
    return ribs, belly


def procedural(torso: Torso, found: Heard, simulated: Record) -> Record:
    """The animated motion at the simulated one's times, with the signals that geometry alone can give."""
    time = np.asarray(simulated.time)
    ribs, belly = waves(found, time)
    names, bodies = torso.bodies.names, torso.bodies
    ends = front_ends(torso)
    axes = {name: lifting_axis(torso, name, ends[name]) for name in ends}
    lift = np.mean([turned(TILT * axes[name], ends[name], bodies.joint_point[names.index(name)])[0]
                    for name in ends if int(name[3:-2]) in TRUE_RIBS], axis=0)  # fmt: skip
    sternum_range = 1e-3 * shake(simulated.signals["sternum_ap_mm"], time)
    angle = -TILT * ribs * 0.5 * sternum_range / max(abs(float(lift[0])), 1e-6)  # down and in while the call sounds
    rotation = np.zeros((len(time), len(names), 4))
    rotation[..., 0] = 1.0
    position = np.zeros((len(time), len(names), 3))
    shift = angle[:, None] / TILT * lift
    for k, name in enumerate(names):
        if name in ends:
            spin = spins(angle[:, None] * axes[name])
            rotation[:, k] = quaternions(spin)
            pivot = bodies.joint_point[k]
            position[:, k] = pivot - spin @ pivot
        elif name == "sternum" or name.startswith("cartilage"):
            position[:, k] = shift
    points = scaled(torso, belly, 1e-3 * shake(simulated.signals["umbilicus_ap_mm"], time))
    surface = torso.surface
    carried = np.flatnonzero(np.asarray(surface.body) >= 0)
    spin, body = matrices(rotation), np.asarray(surface.body)[carried]
    points[:, carried] = np.einsum("fpij,pj->fpi", spin[:, body], surface.points[carried]) + position[:, body]
    sternum, navel = names.index("sternum"), nearest(surface.points, torso.landmarks["umbilicus_surface_point"])
    signals = {
        "time_s": time,
        "sternum_ap_mm": 1e3 * position[:, sternum, 0],
        "umbilicus_ap_mm": 1e3 * (points[:, navel, 0] - surface.points[navel, 0]),
    }
    return Record(time, position, rotation, points, signals)


def shake(values: Floats, time: Floats) -> float:
    """How far a signal goes back and forth faster than it breathes."""
    rate = (len(time) - 1) / float(time[-1] - time[0])
    return float(np.ptp(values - low_pass(np.asarray(values), rate, BREATHING, order=2, both_ways=True)))


def front_ends(torso: Torso) -> dict[str, Floats]:
    """Rib -> the point of it that lies farthest from its joint [m]."""
    found = {}
    for k, name in enumerate(torso.bodies.names):
        if name.startswith("rib"):
            points = np.asarray(torso.bodies.meshes[k].vertices)
            far = np.linalg.norm(points - torso.bodies.joint_point[k], axis=1).argmax()
            found[name] = points[far]
    return found


def lifting_axis(torso: Torso, rib: str, end: Floats) -> Floats:
    """Unit axis through head and tubercle about which a positive turn raises the rib's front end."""
    k = torso.bodies.index(rib)
    axis = np.asarray(torso.bodies.joint_axes[k][0], dtype=np.float64)
    return axis if np.cross(axis, end - torso.bodies.joint_point[k])[1] > 0.0 else -axis


def spins(vectors: Floats) -> Floats:
    """Rotation matrices (f, 3, 3) of rotation vectors (f, 3) [rad]."""
    half = 0.5 * np.linalg.norm(vectors, axis=1)
    part = 0.5 * np.sinc(half / np.pi)
    return matrices(np.concatenate([np.cos(half)[:, None], part[:, None] * vectors], axis=1))


def turned(vector: Floats, point: Floats, pivot: Floats) -> Floats:
    """Displacements (1, 3) of a point that turns about a pivot."""
    return (spins(vector[None]) @ (point - pivot)) + pivot - point


def scaled(torso: Torso, belly: Floats, swing: float) -> Floats:
    """The cavity's points (f, n, 3), scaled about the line of its back: most half way up in front, not at all behind."""
    surface = torso.surface
    points = np.asarray(surface.points)
    inside = np.unique(surface.abdomen)
    low, high = points[inside, 1].min(), points[inside, 1].max()
    back = points[inside, 0].min()
    depth = np.ptp(points[inside, 0])
    height = np.clip((points[:, 1] - low) / (high - low), 0.0, 1.0)
    forward = np.clip((points[:, 0] - back) / depth, 0.0, 1.0)
    ratio = np.sin(np.pi * height) * forward
    navel = nearest(points, torso.landmarks["umbilicus_surface_point"])
    reach = max(float(ratio[navel] * (points[navel, 0] - back)), 1e-6)
    amount = -belly * 0.5 * swing / reach  # in while the call sounds
    moved = np.repeat(points[None], len(belly), axis=0)
    spread = points * np.array([1.0, 0.0, 1.0]) - np.array([back, 0.0, 0.0])
    moved[:, inside] += amount[:, None, None] * (ratio[:, None] * spread)[inside]
    return moved


def nearest(points: Floats, place: Floats) -> int:
    """Number of the point nearest to a place."""
    return int(np.linalg.norm(np.asarray(points) - place, axis=1).argmin())
