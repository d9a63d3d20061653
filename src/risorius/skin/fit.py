"""Putting a person's mesh on the subject: which way is up and forward, how large, where (`skin bind --fit`)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.core.torso import Torso
from risorius.skin.binding import Placement

Floats = NDArray[np.float64]
SLICES: Final = 120
NECK_RANGE: Final = (0.78, 0.93)
"""Part of the standing height in which a neck is looked for."""
FEET: Final = 0.05
"""Part of the standing height that belongs to the feet."""
CHEST_RANGE: Final = (0.70, 0.80)
"""Part of the standing height in which a chest is broader than deep."""
CROTCH_RANGE: Final = (0.30, 0.60)


@dataclass(frozen=True)
class Fit:
    """A placement and how well it sits.

    Args:
        placement: mesh units -> world.
        height: standing height of the placed mesh [m].
        near_median, near_most: distance from the generated skin's trunk to the mesh [m]: half of it is nearer than the
            first, 95 % nearer than the second.
    """

    placement: Placement
    height: float
    near_median: float
    near_most: float

    def report(self) -> str:
        place = self.placement
        moved = ", ".join(f"{x * 1000:.0f}" for x in place.translation)
        return (
            f"one mesh unit is {place.scale:.5g} m; moved by ({moved}) mm; stands {self.height:.2f} m tall; the mesh "
            f"lies within {self.near_median * 1000:.0f} mm of the torso's own skin for half of the trunk and within "
            f"{self.near_most * 1000:.0f} mm for 95 % of it"
        )


def fit(mesh: PolyMesh, torso: Torso) -> Fit:
    """Scale, turn and move a standing person so that crotch, neck and trunk meet the subject's.

    Up is the file's own up axis or the longest side; a chest is broader than deep; toes point forward. Heights of
    crotch and neck give the first scale; nearest points of the trunk refine scale and place.
    """
    body = largest_part(mesh)
    points = mesh.vertices[body]
    axes = own_axes(points, mesh.up)  # rows: forward, up, right in mesh axes
    turned = points @ axes.T
    crotch, neck = person_heights(turned)
    low, high = subject_heights(torso)
    scale = (high - low) / (neck - crotch)
    skin = np.asarray(torso.skin.vertices)
    trunk = skin[(skin[:, 1] > low + 0.05) & (skin[:, 1] < high - 0.08) & (np.abs(skin[:, 2]) < trunk_half(torso))]
    inside = (turned[:, 1] > crotch) & (turned[:, 1] < neck)
    middle = inside & (np.abs(turned[:, 2] - np.median(turned[:, 2])) * scale < trunk_half(torso))
    centre = 0.5 * (turned[middle].min(axis=0) + turned[middle].max(axis=0))
    target = 0.5 * (trunk.min(axis=0) + trunk.max(axis=0))
    shift = target - scale * centre
    shift[1] = low - scale * crotch
    scale, shift, distance = refined(turned, scale, shift, trunk)
    height = float(scale * np.ptp(turned[:, 1]))
    return Fit(Placement(scale, axes, shift), height, *np.percentile(distance, [50, 95]))


def refined(points: Floats, scale: float, shift: Floats, trunk: Floats) -> tuple[float, Floats, Floats]:
    """Nearest-point refinement of scale and place (no turn), the worst fifth of the pairs left out."""
    tree = cKDTree(points)
    distance = np.zeros(len(trunk))
    for _ in range(30):
        distance, index = tree.query((trunk - shift) / scale)
        good = distance <= np.percentile(distance, 80)
        ours, theirs = trunk[good], points[index[good]]
        a, b = theirs - theirs.mean(axis=0), ours - ours.mean(axis=0)
        wanted = float(np.einsum("ij,ij->", a, b) / np.einsum("ij,ij->", a, a))
        scale *= float(np.clip(wanted / scale, 0.98, 1.02))
        shift = ours.mean(axis=0) - scale * theirs.mean(axis=0)
    return scale, shift, tree.query((trunk - shift) / scale)[0] * scale


def largest_part(mesh: PolyMesh) -> NDArray[np.int64]:
    """Mesh points of the connected part that is longest (of such, has most area): the body, not helpers or clothes."""
    edges = mesh.edges()
    count = len(mesh.vertices)
    graph = csr_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    triangles, _ = mesh.triangles()
    corners = mesh.vertices[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    total = np.bincount(label[triangles[:, 0]], area, minlength=label.max() + 1)
    low, high = np.full((len(total), 3), np.inf), np.full((len(total), 3), -np.inf)
    np.minimum.at(low, label, mesh.vertices)
    np.maximum.at(high, label, mesh.vertices)
    longest = (high - low).max(axis=1)
    total[longest < 0.97 * longest.max()] = 0.0
    return np.flatnonzero(label == total.argmax())


def own_axes(points: Floats, up: str | None) -> Floats:
    """Rows forward, up, right: unit vectors along the mesh's own axes, right-handed."""
    size = np.ptp(points, axis=0)
    vertical = "xyz".index(up) if up else int(size.argmax())
    others = [axis for axis in range(3) if axis != vertical]
    height = (points[:, vertical] - points[:, vertical].min()) / size[vertical]
    chest = points[(height > CHEST_RANGE[0]) & (height < CHEST_RANGE[1])]
    if len(chest) < 8:
        raise InputError("no chest found: fit by hand and bind without --fit", place="mesh")
    breadth = np.ptp(chest, axis=0)
    front, side = sorted(others, key=lambda axis: breadth[axis])
    feet, ankles = height < FEET, (height >= FEET) & (height < 2 * FEET)
    if not feet.any() or not ankles.any():
        raise InputError("no feet found: fit by hand and bind without --fit", place="mesh")
    reach = 0.5 * (points[feet, front].min() + points[feet, front].max())
    sign = 1.0 if reach >= points[ankles, front].mean() else -1.0
    axes = np.zeros((3, 3))
    axes[0, front] = sign
    axes[1, vertical] = 1.0
    axes[2] = np.cross(axes[0], axes[1])
    assert abs(axes[2, side]) == 1.0
    return axes


def person_heights(points: Floats) -> tuple[float, float]:
    """Heights of crotch (lowest point between the legs) and neck (narrowest level under the head)."""
    low, height = points[:, 1].min(), np.ptp(points[:, 1])
    level = (points[:, 1] - low) / height
    middle = 0.5 * (points[:, 2].min() + points[:, 2].max())
    near_middle = np.abs(points[:, 2] - middle) < 0.012 * height
    between = near_middle & (level > CROTCH_RANGE[0]) & (level < CROTCH_RANGE[1])
    edges = np.linspace(*NECK_RANGE, SLICES // 4 + 1)
    widths = []
    for bottom, top in itertools.pairwise(edges):
        part = (level >= bottom) & (level < top)
        widths.append(np.ptp(points[part, 2]) if part.sum() >= 4 else np.inf)
    if not between.any() or not np.isfinite(min(widths)):
        raise InputError("no crotch or neck found: the mesh must be a whole standing person; else fit it by hand",
                         place="mesh")  # fmt: skip
    narrowest = int(np.argmin(widths))
    neck = low + height * 0.5 * (edges[narrowest] + edges[narrowest + 1])
    return float(points[between, 1].min()), float(neck)


def subject_heights(torso: Torso) -> tuple[float, float]:
    """Heights of the subject's crotch (lowest point of the pelvis) and neck (middle of C4-C7) [m]."""
    names = torso.bodies.names
    pelvis = torso.bodies.meshes[names.index("pelvis")].vertices
    neck = torso.bodies.meshes[names.index("c4_c7")].vertices
    return float(pelvis[:, 1].min()), float(0.5 * (neck[:, 1].min() + neck[:, 1].max()))


def trunk_half(torso: Torso) -> float:
    """Half the breadth of the trunk between the arms [m]: the rib cage's, and a third more for flesh."""
    ribs = [mesh.vertices for name, mesh in zip(torso.bodies.names, torso.bodies.meshes) if name.startswith("rib")]
    return 1.3 * float(np.abs(np.concatenate(ribs)[:, 2]).max())
