"""Finding the weights of a binding: the papers' four nearest, and a smooth default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, identity
from scipy.spatial import cKDTree

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.core.torso import Mesh, Torso
from risorius.skin.binding import METHODS, Binding, Method, Placement

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass(frozen=True)
class Smoothness:
    """How the smooth weights spread; lengths in metres. Chosen by eye on the generated skin and two user meshes.

    Args:
        reach_least, reach_most, reach_slope: a handle at distance d counts by exp(−((d − d₀)/ℓ)²), d₀ the nearest
            handle's distance, ℓ = reach_slope · d₀ within the two bounds: thick tissue spreads wider.
        blur: length over which weights are evened out along the mesh.
        passes_most: bound on the passes of that.
        kept: handles kept for a mesh point.
        far: beyond this distance from every handle (legs, hands, hair) weights are carried on along the mesh.
        behind: what counts of a handle that lies outward of the skin (an arm beside the chest).
    """

    reach_least: float = 0.010
    reach_most: float = 0.050
    reach_slope: float = 0.5
    blur: float = 0.020
    passes_most: int = 60
    kept: int = 12
    behind: float = 0.002
    far: float = 0.10


SMOOTH: Final = Smoothness()
FAR: Final = 1.0
"""A mesh of which no point comes this near [m] to the torso was given in another unit or place."""


def bind(mesh: PolyMesh, torso: Torso, *, method: Method = "smooth", placement: Placement | None = None) -> Binding:
    """Bind a mesh, as it stands, to the torso's rest pose.

    Args:
        placement: mesh units -> world; metres in the torso's own axes where none is given.
    """
    placement = placement or Placement()
    world = placement.to_world(mesh.vertices)
    refuse_far(world, torso)
    if method == "nearest4":
        handle, weight = nearest_four(world, torso)
    elif method == "smooth":
        handle, weight = smooth(mesh, world, torso, SMOOTH)
    else:
        raise InputError(f"expected one of {', '.join(METHODS)}, got {method!r}", place="method")
    return assembled(handle, weight, method, torso, placement)


def skin_of(torso: Torso) -> PolyMesh:
    """The torso's generated skin as a polygon mesh, in world axes."""
    from risorius.core.mesh import of_triangles

    return of_triangles(torso.skin.vertices, torso.skin.faces)


def assembled(handle: Ints, weight: Floats, method: Method, torso: Torso, placement: Placement) -> Binding:
    """Rows (n, k) of handles and weights -> a binding: empty entries dropped, each row's sum one, handles ascending."""
    order = np.argsort(handle, axis=1, kind="stable")
    handle, weight = np.take_along_axis(handle, order, 1), np.take_along_axis(weight, order, 1)
    weight = weight / weight.sum(axis=1, keepdims=True)
    used = weight > 0
    offsets = np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int32)
    return Binding(method, torso.bodies.names, len(torso.surface.points), offsets, handle[used].astype(np.int32),
                   weight[used], placement)  # fmt: skip


def refuse_far(world: Floats, torso: Torso) -> None:
    centre = np.asarray(torso.surface.points).mean(axis=0)
    size = np.ptp(world, axis=0).max()
    nearest = np.linalg.norm(world - centre, axis=1).min()
    if nearest > FAR or not 0.2 <= size <= 5.0:
        raise InputError(
            f"the mesh is {size:.3g} m across and {nearest:.3g} m from the torso when read in metres, x forward, y up: "
            "scale and move it onto the rest pose, or bind with --fit",
            place="mesh",
        )


def samples(mesh: Mesh, spacing: float = 0.008) -> Floats:
    """Points on a bone's surface: its vertices and, on large triangles, a grid of inner points."""
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if len(faces) == 0:
        return vertices
    corners = vertices[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    found = [vertices]
    for parts in range(2, 9):
        wanted = np.clip(np.ceil(longest / spacing), 1, 8) == parts
        if wanted.any():
            grid = [(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)]
            found.append(np.einsum("gc,tcx->tgx", np.array(grid) / parts, corners[wanted]).reshape(-1, 3))
    return np.concatenate(found)


def nearest_four(world: Floats, torso: Torso) -> tuple[Ints, Floats]:
    """The four nearest bones (by their surface) or cavity points, a quarter each (paper 000, section 8.2)."""
    bodies = len(torso.bodies.names)
    distance = np.stack([cKDTree(samples(mesh)).query(world)[0] for mesh in torso.bodies.meshes], axis=1)
    few = min(4, len(torso.surface.points))
    near, which = cKDTree(np.asarray(torso.surface.points)).query(world, k=few)
    all_distances = np.concatenate([distance, near.reshape(len(world), few)], axis=1)
    number = np.broadcast_to(np.arange(bodies), (len(world), bodies))
    handles = np.concatenate([number, bodies + which.reshape(len(world), few)], axis=1)
    best = np.argsort(all_distances, axis=1, kind="stable")[:, :4]
    handle = np.take_along_axis(handles, best, axis=1).astype(np.int32)
    return handle, np.full(handle.shape, 0.25)


def smooth(mesh: PolyMesh, world: Floats, torso: Torso, how: Smoothness) -> tuple[Ints, Floats]:
    """Weights that fall off smoothly from the nearest bone or belly wall and are evened out along the mesh."""
    bodies = len(torso.bodies.names)
    weld = welded(world)
    graph = neighbours(mesh, weld)
    points = np.zeros((graph.shape[0], 3))
    points[weld] = world
    outward = normals(mesh, weld, points)
    distance = np.empty((len(points), bodies + 1))
    facing = np.empty_like(distance)
    for column, bone in enumerate(torso.bodies.meshes):
        found = samples(bone)
        distance[:, column], index = cKDTree(found).query(points)
        facing[:, column] = faced(found[index] - points, outward, how.behind)
    wall, corner, share = wall_samples(torso)
    distance[:, bodies], index = cKDTree(wall).query(points) if len(wall) else (np.inf, None)
    facing[:, bodies] = faced(wall[index] - points, outward, how.behind) if len(wall) else 0.0
    weights = falloff(distance, facing, how)
    weights = evened(weights, graph, points, how)
    weights = carried_on(weights, (distance / np.sqrt(facing)).min(axis=1) > how.far, graph, points)
    spread = wall_shares(points, wall, corner, share, len(torso.surface.points))
    full = csr_matrix(weights[:, :bodies])
    from scipy.sparse import hstack

    full = hstack([full, diags(weights[:, bodies]) @ spread]).tocsr()
    return pruned(full[weld], how.kept)


def falloff(distance: Floats, facing: Floats, how: Smoothness) -> Floats:
    """exp(−((d − d₀)/ℓ)²), times how far the handle lies on the inner side of the skin; rows sum to one.

    A handle on the outer side is treated as farther away, so that d₀ belongs to the inner side wherever there is one.
    """
    seen = distance / np.sqrt(facing)
    nearest = seen.min(axis=1, keepdims=True)
    reach = np.clip(how.reach_slope * nearest, how.reach_least, how.reach_most)
    weights = np.exp(-(((seen - nearest) / reach) ** 2))
    return weights / weights.sum(axis=1, keepdims=True)


def faced(direction: Floats, outward: Floats, behind: float) -> Floats:
    """1 for handles straight under the skin, `behind` for those outward of it; 1 where no normal is known."""
    length = np.linalg.norm(direction, axis=1)
    cosine = -np.einsum("ij,ij->i", direction, outward) / np.where(length > 1e-9, length, 1.0)
    rise = np.clip((cosine + 0.5) / 0.7, 0.0, 1.0)
    known = (np.abs(outward).max(axis=1) > 0.5) & (length > 1e-9)
    return np.where(known, behind + (1 - behind) * rise * rise * (3 - 2 * rise), 1.0)


def welded(world: Floats) -> Ints:
    """(n,) for each mesh point the number of the place it stands at: points of a seam share one."""
    grain = max(np.ptp(world, axis=0).max() * 1e-7, 1e-12)
    _, number = np.unique(np.round(world / grain).astype(np.int64), axis=0, return_inverse=True)
    return number.reshape(-1).astype(np.int32)


def neighbours(mesh: PolyMesh, weld: Ints) -> csr_matrix:
    """Adjacency of the places along polygon edges, ones."""
    edges = weld[mesh.edges()]
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    count = int(weld.max()) + 1
    both = np.concatenate([edges, edges[:, ::-1]])
    return csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(count, count))


def normals(mesh: PolyMesh, weld: Ints, points: Floats) -> Floats:
    """Outward unit normals by place; zero where faces give none or the mesh has no clear inside."""
    triangles = weld[mesh.triangles()[0]]
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    found = np.zeros_like(points)
    for corner in range(3):
        np.add.at(found, triangles[:, corner], area)
    volume = np.einsum("ij,ij->", corners[:, 0] - points.mean(axis=0), area)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.sign(volume) * found / np.where(length > 0, length, 1.0)


def evened(weights: Floats, graph: csr_matrix, points: Floats, how: Smoothness) -> Floats:
    """Diffuse weights along the mesh over the length `blur`: w ← ½(w + mean of the neighbours')."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    rows, columns = graph.nonzero()
    if len(rows) == 0:
        return weights
    edge = float(np.median(np.linalg.norm(points[rows] - points[columns], axis=1)))
    passes = int(np.clip(round(2 * (how.blur / max(edge, 1e-6)) ** 2), 1, how.passes_most))
    mean = diags(1.0 / np.maximum(degree, 1.0)) @ graph
    alone = diags((degree == 0).astype(float))
    step = (0.5 * (identity(len(degree)) + mean + alone)).tocsr()
    for _ in range(passes):
        weights = step @ weights
    return weights


def carried_on(weights: Floats, far: NDArray[np.bool_], graph: csr_matrix, points: Floats) -> Floats:
    """Weights of far points by harmonic extension along the mesh: legs follow the hip, not the hand nearby.

    Solves (D − A + ε I) w = A w_near + ε w⁰ on the far points; w⁰, the weights of the nearest near point in space,
    decides only for parts of the mesh that have no near point at all.
    """
    from scipy.sparse.linalg import splu

    if not far.any() or far.all():
        return weights
    near = np.flatnonzero(~far)
    nearest = weights[near[cKDTree(points[near]).query(points[far])[1]]]
    slack = 1e-7
    degree = np.asarray(graph.sum(axis=1)).ravel()[far]
    matrix = (diags(degree + slack) - graph[far][:, far]).tocsc()
    out = weights.copy()
    out[far] = splu(matrix).solve(graph[far][:, near] @ weights[near] + slack * nearest)
    return np.maximum(out, 0.0)


def wall_samples(torso: Torso) -> tuple[Floats, Ints, Floats]:
    """Points on the free belly wall: positions (s, 3), corners (s, 3) of their triangle, the corners' shares."""
    surface = torso.surface
    names = np.array(surface.regions)[np.asarray(surface.region)]
    faces = np.asarray(surface.abdomen)
    on_wall = (names[faces] == "wall").any(axis=1) & ~np.isin(names[faces], ["dome", "tendon", "apposed"]).any(axis=1)
    faces = faces[on_wall]
    parts = 6
    inner = [(i + 1 / 3, j + 1 / 3) for i in range(parts) for j in range(parts - i)]
    share = np.array([(a / parts, b / parts, 1 - (a + b) / parts) for a, b in inner])
    corners = np.asarray(surface.points)[faces]
    place = np.einsum("gc,tcx->tgx", share, corners).reshape(-1, 3)
    return place, np.repeat(faces, len(share), axis=0), np.tile(share, (len(faces), 1))


def wall_shares(points: Floats, wall: Floats, corner: Ints, share: Floats, count: int) -> csr_matrix:
    """(places, surface points) how the belly wall's part of the weight is divided over its points; rows sum to one."""
    if len(wall) == 0:
        return csr_matrix((len(points), count))
    few = min(24, len(wall))
    distance, which = cKDTree(wall).query(points, k=few)
    distance, which = distance.reshape(len(points), few), which.reshape(len(points), few)
    spread = np.maximum(distance[:, -1:], 1e-9)
    near = np.maximum(1 - (distance / spread) ** 2, 0.0) ** 2 + 1e-9
    near /= near.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(points)), few * 3)
    columns = corner[which].reshape(-1)
    values = (near[:, :, None] * share[which]).reshape(-1)
    return csr_matrix((values, (rows, columns)), shape=(len(points), count))


def pruned(weights: csr_matrix, kept: int) -> tuple[Ints, Floats]:
    """The largest `kept` weights of each row; what is cut off falls away gently, not at a step."""
    dense_handle = np.zeros((weights.shape[0], kept), dtype=np.int32)
    dense_weight = np.zeros((weights.shape[0], kept))
    weights.sum_duplicates()
    starts = weights.indptr
    for row in range(weights.shape[0]):
        part = slice(starts[row], starts[row + 1])
        values, handles = weights.data[part], weights.indices[part]
        best = np.lexsort((handles, -values))[: kept + 1]
        cut = values[best[kept]] if len(best) > kept else 0.0
        best = best[:kept]
        dense_handle[row, : len(best)] = handles[best]
        left = values[best] - cut
        dense_weight[row, : len(best)] = left if left.sum() > 0 else values[best]
    return dense_handle, dense_weight
