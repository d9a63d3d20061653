"""Growing and shaping muscles: the paper's formulas on any surface (paper 001, chapter 3)."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.app.muscle import grow as grow_file
from risorius.core.errors import InputError
from risorius.io.mesh import read_mesh, write_mesh
from risorius.io.muscle_file import read_muscles
from risorius.maths.bspline import clamped_knots, closed_knots, greville, matrix
from risorius.maths.closest import Patchwork, weights_at
from risorius.maths.triangle_tree import TriangleTree
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.mirror import mirrored, other_side
from risorius.skin.muscle.report import length, report, touching, volume
from risorius.skin.muscle.shape import contracted, control_points, profile
from risorius.skin.muscle.surface import Surface
from skins import cut_up, cylinder, drawn_at, plane, sphere

MADE = {"plane": plane(), "cylinder": cylinder(), "sphere": sphere()}
SURFACES = {name: Surface(mesh) for name, mesh in MADE.items()}
PLACES = {"plane": (0, 0, 0), "cylinder": (1, 0.2, 0), "sphere": (0.6, 0.5, 0.5)}


def muscle_on(name, **options):
    surface = SURFACES[name]
    options = {"skin_thickness": 0.03, "muscle_thickness": 0.07, **options}
    return grow(surface, Sketch("m_l", drawn_at(surface, PLACES[name], 0.8), **options))


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("degree, patches", [(1, (3, 5)), (2, (1, 1)), (3, (2, 4)), (5, (2, 3))])
def test_the_basis_lies_at_the_asked_depth_of_the_true_surface(name, degree, patches):
    growth = muscle_on(name, degree=degree, patches=patches)
    basis = growth.muscle.basis
    true = {
        "plane": lambda p: -p[..., 1],
        "cylinder": lambda p: 1 - np.hypot(p[..., 0], p[..., 2]),
        "sphere": lambda p: 1 - np.linalg.norm(p, axis=-1),
    }[name](basis)
    assert growth.normals == "surface" and basis.shape == (degree + patches[0], degree + patches[1], 3)
    assert np.abs(true - 0.1).max() < 0.02 * 0.1 and growth.depth_error < 0.02
    assert np.allclose(np.linalg.norm(growth.muscle.normals, axis=2), 1, atol=1e-12)


def test_a_sphere_keeps_its_depth_as_the_mesh_gets_finer():
    errors = []
    for rings in (30, 60, 120):
        surface = Surface(sphere(rings))
        muscle = grow(surface, Sketch("m", drawn_at(surface, PLACES["sphere"], 0.8), 0.03, 0.07)).muscle
        errors.append(np.abs(1 - np.linalg.norm(muscle.basis, axis=2) - 0.1).max())
    assert errors[1] < 0.5 * errors[0] and errors[2] < 0.5 * errors[1]


@pytest.mark.parametrize("file, place, size", [
    ("rough/dino.off", (0.6, 0.5, 0.0), 0.4), ("rough/head.off", (5, 8, 2), 3.0), ("rough/man.off", (0.1, 0.1, 0.15), 0.1),
    ("rough/beast.obj", (0, 120, 60), 25.0), ("makehuman/base.obj", (0.5, 4.0, 1.2), 0.8),
    ("face/generic_neutral_mesh.obj", (6.0, -3.0, 7.0), 3.0),
])  # fmt: skip
def test_real_meshes_get_muscles_at_depth(shared_data, file, place, size):
    surface = Surface(read_mesh(shared_data / "skins" / file))
    growth = grow(surface, Sketch("m_l", drawn_at(surface, place, size), 0.02 * size, 0.05 * size))
    found = report(growth.muscle, growth.surface)
    assert found["depth_error"] == pytest.approx(growth.depth_error, abs=1e-5) or growth.normals == "drawn"
    assert found["depth_error_along_normal"] < 0.05 and found["depth_error_median"] < 0.05
    assert not found["breaks_skin"] and found["length"] == pytest.approx(size, rel=0.4) and found["volume"] > 0


def by_hand(muscle, c):
    """Section 3.2.1 word by word."""
    out = np.empty_like(muscle.basis)
    for k in range(out.shape[0]):
        p = muscle.basis[k]
        t = [0.0]
        for j in range(1, len(p)):
            t.append(t[-1] + np.linalg.norm(p[j] - p[j - 1]))
        t = np.array(t) / t[-1]
        for j in range(len(p)):
            s = max(0.01, 1 - c) * t[j]
            a = 0 if j == 0 else next(m for m in range(len(p) - 1) if t[m] < s <= t[m + 1] or m == len(p) - 2)
            out[k, j] = p[a] + (p[a + 1] - p[a]) * (s - t[a]) / (t[a + 1] - t[a])
    return out


def place_on(line, point):
    """Distance of a point from a polyline and the arc length there."""
    best, at, done = np.inf, 0.0, 0.0
    for a, b in pairwise(line):
        edge = b - a
        size = np.linalg.norm(edge)
        s = np.clip((point - a) @ edge / size**2, 0, 1)
        gap = np.linalg.norm(a + s * edge - point)
        if gap < best:
            best, at = gap, done + s * size
        done += size
    return best, at


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("c", [1e-9, 0.1, 0.25, 0.6, 0.99, 1.0])
def test_contraction_slides_along_the_rest_polyline(name, c):
    muscle = muscle_on(name).muscle
    found = contracted(muscle, c)
    assert np.abs(found - by_hand(muscle, c)).max() < 1e-12
    for k in range(muscle.shape[0]):
        steps = np.linalg.norm(np.diff(muscle.basis[k], axis=0), axis=1)
        rest = np.concatenate([[0], np.cumsum(steps)])
        for j in range(muscle.shape[1]):
            off, at = place_on(muscle.basis[k], found[k, j])
            assert off < 1e-12 and abs(at - max(0.01, 1 - c) * rest[j]) < 1e-9 * rest[-1]


def test_rest_is_rest_to_the_last_bit():
    muscle = muscle_on("sphere").muscle
    assert np.array_equal(contracted(muscle, 0.0), muscle.basis)
    assert np.array_equal(control_points(muscle, 0.0, 55.0), control_points(muscle))  # g(0, b) = 1
    assert np.array_equal(control_points(muscle, -1.0), control_points(muscle))


def test_thickness_and_bulge_follow_the_formulas():
    muscle = muscle_on("plane", muscle_thickness=0.07, bulge=1.5).muscle
    rows, columns = muscle.shape
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    f = (1 - (2 * i / (rows - 1) - 1) ** 2) * (1 - (2 * j / (columns - 1) - 1) ** 2)
    assert np.array_equal(profile(rows, columns), f)
    for c, b in ((0.0, None), (0.4, None), (1.0, None), (1e-3, 400.0), (0.7, 0.0)):
        height = ((control_points(muscle, c, b) - contracted(muscle, c)) * muscle.normals).sum(axis=2)
        assert np.abs(height - 0.07 * f * (1 + (1.5 if b is None else b) * c)).max() < 1e-12


def test_a_muscle_without_thickness_does_not_bulge():
    muscle = muscle_on("plane", muscle_thickness=0.0).muscle
    assert np.array_equal(control_points(muscle, 0.5, 9.0), contracted(muscle, 0.5))


def test_thickness_and_bulge_may_vary_over_the_muscle():
    muscle = muscle_on("plane", muscle_thickness=[[0.02, 0.06]], bulge=[[1.0], [3.0]], patches=(2, 5)).muscle
    assert np.allclose(muscle.muscle_thickness, np.linspace(0.02, 0.06, 8)[None].repeat(5, 0))
    assert np.allclose(muscle.bulge, np.linspace(1, 3, 5)[:, None].repeat(8, 1))


def ring(radius, count=24, height=0.0):
    turn = np.arange(count) * 2 * np.pi / count
    return np.stack([radius * np.cos(turn), np.full(count, height), radius * np.sin(turn)], axis=1)


def test_a_sphincter_draws_together_to_its_centre():
    growth = grow(SURFACES["plane"], Sketch("o", (ring(0.5), ring(0.2)), 0.02, 0.05, patches=(2, 8), closed=True))
    muscle = growth.muscle
    centre = muscle.basis.reshape(-1, 3).mean(axis=0)
    assert np.abs(centre[[0, 2]]).max() < 1e-3 and growth.depth_error < 1e-9
    for c in (0.3, 1.0):
        wanted = centre + max(0.01, 1 - c) * (muscle.basis - centre)
        assert np.abs(contracted(muscle, c) - wanted).max() < 1e-15
    given = replace(muscle, centre=np.array([[0.1, -0.07, 0.0]]))
    assert np.allclose(contracted(given, 0.5), 0.5 * (muscle.basis + given.centre))
    line = replace(muscle, centre=np.array([[-0.6, -0.07, 0.0], [0.6, -0.07, 0.0]]))
    shut = contracted(line, 1.0)
    assert np.allclose(shut[..., 0], muscle.basis[..., 0]) and np.abs(shut[..., 2]).max() < 0.006


def test_a_ring_is_smooth_where_it_closes():
    muscle = grow(
        SURFACES["plane"], Sketch("o", (ring(0.5), ring(0.2)), 0.02, 0.05, patches=(1, 6), closed=True)
    ).muscle
    sheet = Patchwork.of(control_points(muscle), 3, True)
    step = 1e-5
    a, b, c = (sheet.at(np.array([0.5]), np.array([v]))[0, 0] for v in (1 - step, 0.0, step))
    assert np.linalg.norm((c - b) - (b - a)) < 1e-8


def test_jagged_surfaces_take_the_drawn_normals():
    """Figure 3.6: the drawn points lie even, their surroundings point anywhere."""
    flat = plane(61)
    grid = np.arange(61 * 61).reshape(61, 61)
    curves = (grid[20, 10:51:2], grid[40, 10:51:2])
    height = 0.05 * np.random.default_rng(5).normal(size=len(flat.vertices))
    height[np.concatenate(curves)] = 0.0
    surface = Surface(flat.moved(flat.vertices + height[:, None] * [0.0, 1.0, 0.0]))
    growth = grow(surface, Sketch("m", curves, 0.1, 0.2, patches=(2, 18)))
    assert growth.normals == "drawn" and growth.roughness > 0.45
    forced = grow(surface, Sketch("m", curves, 0.1, 0.2, patches=(2, 18), normals="surface"))
    tilt = [np.arccos(np.clip(g.muscle.normals[[0, -1], :, 1], -1, 1)) for g in (growth, forced)]
    assert tilt[0].max() < 1e-7 and tilt[1].mean() > 0.2


def test_soup_and_reversed_winding_grow_the_same_muscle():
    whole = muscle_on("sphere").muscle
    for other in (cut_up(MADE["sphere"]), of_reversed(MADE["sphere"])):
        surface = Surface(other)
        sketch = Sketch("m_l", drawn_at(SURFACES["sphere"], PLACES["sphere"], 0.8), 0.03, 0.07)
        assert np.abs(grow(surface, sketch).muscle.basis - whole.basis).max() < 1e-9


def of_reversed(mesh):
    from risorius.core.mesh import of_triangles

    return of_triangles(mesh.vertices, mesh.indices.reshape(-1, 3)[:, ::-1])


def test_curves_may_name_mesh_points():
    mesh = MADE["plane"]
    grid = np.arange(41 * 41).reshape(41, 41)
    named = grow(SURFACES["plane"], Sketch("m", (grid[10, 10:31], grid[20, 10:31]), 0.03, 0.07)).muscle
    curves = tuple(mesh.vertices[grid[k, 10:31]] for k in (10, 20))
    assert np.array_equal(named.basis, grow(SURFACES["plane"], Sketch("m", curves, 0.03, 0.07)).muscle.basis)


def test_a_mirror_image_is_its_own_inverse():
    muscle = muscle_on("sphere").muscle
    other = mirrored(muscle, 0, 0.25)
    assert other.name == "m_r" and other_side("brow.left") == "brow.right" and other_side("chin") == "chin_mirrored"
    assert np.array_equal(other.basis[..., 1:], muscle.basis[..., 1:])
    assert np.allclose(other.basis[..., 0], 0.5 - muscle.basis[..., 0], atol=1e-15)
    assert np.allclose(mirrored(other, 0, 0.25).basis, muscle.basis, atol=1e-15)
    assert volume(other) == pytest.approx(volume(muscle)) and length(other) == pytest.approx(length(muscle))


def test_volume_converges_to_the_integral_of_the_thickness():
    """On a plane the height is Σ N N x, whose integral each basis function's support gives."""
    muscle = muscle_on("plane", patches=(3, 4)).muscle
    ku, kv = clamped_knots(3, 3), clamped_knots(3, 4)
    iu = np.array([(ku[i + 4] - ku[i]) / 4 for i in range(6)])
    iv = np.array([(kv[i + 4] - kv[i]) / 4 for i in range(7)])
    u, v = np.meshgrid(0.4 * greville(ku, 3), 0.8 * greville(kv, 3), indexing="ij")
    even = np.stack([u, v, np.zeros((6, 7))], -1)
    flat = replace(muscle, basis=even[..., [0, 2, 1]], normals=np.broadcast_to([0.0, 1.0, 0.0], (6, 7, 3)))
    exact = 2 * 0.32 * iu @ (0.07 * profile(6, 7)) @ iv
    assert volume(flat) == pytest.approx(exact, rel=0.02)


def test_muscles_that_cut_each_other_are_named():
    first = muscle_on("plane").muscle
    crossing = replace(first, name="x", basis=first.basis[..., [2, 1, 0]] + [0, 0.02, 0])
    apart = replace(first, name="far", basis=first.basis + np.array([5.0, 0, 0]))
    assert touching(first, [crossing, apart]) == ["x"]


@pytest.mark.parametrize("degree, closed", [(1, False), (2, False), (3, False), (3, True), (6, False)])
def test_basis_functions_are_scipys(degree, closed):
    patches = 5
    knots = closed_knots(degree, patches) if closed else clamped_knots(degree, patches)
    x = np.linspace(0, 1, 57)
    place = np.stack([x, x], axis=1)
    values, first = weights_at(place, knots, knots, degree, patches, patches, degree + 1)
    full = np.zeros((len(x), patches + degree))
    for j in range(degree + 1):
        full[np.arange(len(x)), first[:, 0] + j] += values[:, 0, j]
    assert np.abs(full - matrix(knots, degree, x)).max() < 1e-12
    assert np.abs(full.sum(axis=1) - 1).max() < 1e-14


@given(st.integers(1, 4), st.booleans(), st.integers(0, 10_000))
def test_the_closest_point_is_no_farther_than_any_sample(degree, closed, seed):
    random = np.random.default_rng(seed)
    if closed:
        turn = np.arange(8) * np.pi / 4
        flat = np.stack([np.cos(turn), np.sin(turn)], -1)[None] * np.array([1.0, 1.5, 2, 2.5, 3])[:, None, None]
        grid = np.concatenate([flat, 0.2 * random.normal(size=(5, 8, 1))], axis=2)
    else:
        even = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 2, 7), indexing="ij"), -1)
        grid = np.concatenate([even, 0.1 * random.normal(size=(5, 7, 1))], axis=2)
    sheet = Patchwork.of(grid, degree, closed)
    points = random.uniform(-1, 2, size=(40, 3))
    place, distance = sheet.closest(points)
    here = np.array([sheet.at(place[k, :1], place[k, 1:])[0, 0] for k in range(len(points))])
    assert np.abs(np.linalg.norm(here - points, axis=1) - distance).max() < 1e-12
    fine = sheet.at(np.linspace(0, 1, 61), np.linspace(0, 1, 61)).reshape(-1, 3)
    nearest = np.linalg.norm(fine[None] - points[:, None], axis=2).min(axis=1)
    assert (distance <= nearest + 1e-3 * nearest).all() and ((distance <= nearest + 1e-12).mean() > 0.95)


def test_the_triangle_tree_is_brute_force(seed=3):
    random = np.random.default_rng(seed)
    vertices, faces = random.normal(size=(60, 3)), random.integers(0, 60, size=(200, 3))
    points = random.normal(size=(100, 3))
    tree = TriangleTree(vertices, faces)
    distance, place, triangle, share = tree.closest(points)
    assert np.allclose(np.einsum("kc,kci->ki", share, vertices[faces[triangle]]), place)
    parts = [(i / 30, j / 30) for i in range(31) for j in range(31 - i)]
    dense = np.concatenate([vertices[f][0] * (1 - a - b) + vertices[f][1] * a + vertices[f][2] * b
                            for f in faces for a, b in parts]).reshape(-1, 3)  # fmt: skip
    from scipy.spatial import cKDTree

    rough = cKDTree(dense).query(points)[0]
    assert (distance <= rough + 1e-12).all() and (rough - distance).max() < 0.1
    t, hit = tree.rays(points, random.normal(size=(100, 3)), 0.0)
    assert np.isfinite(t).any() and (hit[np.isfinite(t)] >= 0).all()


def test_documents_round_trip_to_the_last_bit(tmp_path):
    write_mesh(tmp_path / "ball.obj", MADE["sphere"])
    curves = [curve.tolist() for curve in drawn_at(SURFACES["sphere"], PLACES["sphere"], 0.8)]
    entry = {"name": "m_l", "curves": curves, "skin_thickness": 0.03, "muscle_thickness": 0.07, "degree": 3,
             "patches": [2, 4], "mirror": {"axis": "x"}, "set": "connected"}  # fmt: skip
    (tmp_path / "c.json").write_text(json.dumps({"version": 1, "muscles": [entry]}))
    figures = grow_file(tmp_path / "ball.obj", tmp_path / "c.json", tmp_path / "m.json")
    assert list(figures["muscles"]) == ["m_l", "m_r"]
    rig = read_muscles(tmp_path / "m.json", len(MADE["sphere"].vertices))
    table = json.loads((tmp_path / "m.json").read_text())["muscles"]
    for muscle, entry in zip(rig.muscles, table):
        assert muscle.basis.tolist() == entry["basis"] and muscle.normals.tolist() == entry["normals"]
        assert control_points(muscle).tolist() == entry["control_points"] and muscle.points.tolist() == entry["points"]


@pytest.mark.parametrize("change, words", [
    ({"degree": 0}, "whole number from 1"), ({"patches": [0, 3]}, "whole number from 1"), ({"colour": 1}, "unknown key"),
    ({"skin_thickness": -1}, "number from 0"), ({"curves": [[[0, 0, 0]]]}, "list of 2"), ({"name": ""}, "text"),
    ({"curves": [[[0, 0, 9], [1, 0, 9]], [[0, 0, 9], [1, 1, 9]]]}, "points on the surface"),
    ({"falloff": "steep"}, "one of linear"), ({"d_full": 2.0, "d_none": 1.0}, "d_none of at least"),
])  # fmt: skip
def test_mistakes_are_named(tmp_path, change, words):
    write_mesh(tmp_path / "flat.obj", MADE["plane"])
    curves = [curve.tolist() for curve in drawn_at(SURFACES["plane"], (0, 0, 0), 0.8)]
    entry = {"name": "m", "curves": curves, "skin_thickness": 0.03, "muscle_thickness": 0.07} | change
    (tmp_path / "c.json").write_text(json.dumps({"version": 1, "muscles": [entry]}))
    with pytest.raises(InputError, match=words) as caught:
        grow_file(tmp_path / "flat.obj", tmp_path / "c.json", tmp_path / "m.json")
    assert str(tmp_path / "c.json") in str(caught.value) and not (tmp_path / "m.json").exists()
