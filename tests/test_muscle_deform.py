"""Deformation: the paper's pseudocode on any mesh (paper 001, chapter 4), and the documents that play it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import NdBSpline

from risorius.app.muscle import deform
from risorius.core.errors import InputError
from risorius.io.mesh import read_mesh, write_mesh
from risorius.io.muscle_file import read_keys, write_muscles
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.falloff import falloff
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.mirror import mirrored
from risorius.skin.muscle.model import FALLOFFS
from risorius.skin.muscle.rig import Rig, played
from risorius.skin.muscle.sets import with_connected_set
from risorius.skin.muscle.shape import control_points, patchwork
from risorius.skin.muscle.surface import Surface
from skins import cut_up, drawn_at, plane, sphere

BALL = sphere(30)
SURFACE = Surface(BALL)
PLACES = {"a": (0.6, 0.5, 0.5), "b": (0.5, 0.6, 0.6), "c": (-0.7, 0.2, 0.3)}


def muscles_of(surface, places, size=0.8, **options):
    made = []
    for name, place in places.items():
        sketch = Sketch(name, drawn_at(surface, place, size), 0.03 * size, 0.07 * size, **options)
        made.append(grow(surface, sketch).muscle)
    return made


MUSCLES = muscles_of(SURFACE, PLACES)


def at(deformer, **contraction):
    now = deformer.settings()
    for name, value in contraction.items():
        now.contraction[deformer.names.index(name)] = value
    return now


def psi_by_hand(d, full, none, kind):
    if d >= none:
        return 0.0
    if d <= full:
        return 1.0
    x = (d - none) / (full - none)
    return {"linear": x, "quadratic": x**2, "cubic": x**3, "cosine": (1 - np.cos(np.pi * x)) / 2}[kind]


def pseudocode(vertices, muscle, c, b=None):
    """Figure 4.4 point by point, with scipy's splines and a search of its own; displacements (n, 3)."""
    sheet = patchwork(muscle)
    knots = (sheet.knots_u, sheet.knots_v)
    now = patchwork(muscle, c, b)
    rest_spline, now_spline = (NdBSpline(knots, grid, muscle.degree) for grid in (sheet.grid, now.grid))
    fine = np.linspace(0, 1, 60)
    samples = rest_spline(np.stack(np.meshgrid(fine, fine, indexing="ij"), -1)).reshape(-1, 3)
    from scipy.optimize import minimize
    from scipy.spatial import cKDTree

    chosen = range(len(vertices)) if muscle.points is None else muscle.points
    weight = np.ones(len(chosen)) if muscle.weights is None else muscle.weights
    out = np.zeros_like(vertices)
    _, near = cKDTree(samples).query(vertices)
    for w, i in zip(weight, chosen):
        s = vertices[i]
        if np.linalg.norm(samples[near[i]] - s) > muscle.d_none + 0.1:
            continue
        boxes = [((0, 1), (0, 1))]
        if muscle.degree == 1:  # creases: every patch by itself
            boxes = [((a, b), (c, d)) for a, b in zip(sheet.knots_u[1:], sheet.knots_u[2:-1])
                     for c, d in zip(sheet.knots_v[1:], sheet.knots_v[2:-1])]  # fmt: skip

        def gap(x, s=s):
            r = rest_spline(x[None])[0] - s
            slopes = [rest_spline(x[None], nu=nu)[0] @ r for nu in ((1, 0), (0, 1))]
            return 0.5 * r @ r, np.array(slopes)

        start = np.array([fine[near[i] // 60], fine[near[i] % 60]])
        found = [minimize(gap, np.clip(start, *np.transpose(box)), jac=True, bounds=box, method="L-BFGS-B",
                          options={"ftol": 1e-30, "gtol": 1e-14, "maxiter": 300}) for box in boxes]  # fmt: skip
        x = min(found, key=lambda one: one.fun).x
        p0, p1 = rest_spline(x[None])[0], now_spline(x[None])[0]
        psi = psi_by_hand(np.linalg.norm(s - p0), muscle.d_full, muscle.d_none, muscle.falloff)
        out[i] = w * muscle.envelope * psi * (p1 - p0)
    return out


def test_rest_is_the_skin_to_the_last_bit():
    for dtype in (np.float64, np.float32):
        moving = Deformer(BALL.vertices, MUSCLES, dtype=dtype)
        moving.frame(at(moving, a=0.7, b=0.3))
        assert moving.frame(at(moving)).tobytes() == BALL.vertices.astype(dtype).tobytes()


@pytest.mark.parametrize("degree, patches", [(1, (3, 4)), (2, (2, 3)), (3, (2, 4)), (5, (1, 2))])
def test_a_frame_is_the_pseudocode(degree, patches):
    muscles = muscles_of(SURFACE, {"a": PLACES["a"], "b": PLACES["b"]}, degree=degree, patches=patches)
    moving = Deformer(BALL.vertices, muscles)
    some = np.random.default_rng(1).permutation(len(BALL.vertices))
    near = np.array([i for i in some if np.linalg.norm(BALL.vertices[i] - [0.6, 0.5, 0.6]) < 0.7])[
        : 60 if degree in (2, 3) else 25
    ]
    found = moving.frame(at(moving, a=0.6, b=0.35))[near]
    wanted = BALL.vertices[near] + sum(
        pseudocode(BALL.vertices[near], muscle, c) for muscle, c in zip(muscles, (0.6, 0.35))
    )
    assert np.abs(found - wanted).max() < 1e-6
    assert np.abs(found - BALL.vertices[near]).max() > 0.05


@pytest.mark.parametrize("file, place, size", [
    ("rough/dino.off", (0.6, 0.5, 0.0), 0.4), ("rough/head.off", (5, 8, 2), 3.0), ("rough/man.off", (0.1, 0.1, 0.15), 0.1),
    ("rough/beast.obj", (0, 120, 60), 25.0), ("makehuman/base.obj", (0.5, 4.0, 1.2), 0.8),
    ("gltf/Fox.glb", (8, 50, 10), 12.0), ("face/generic_neutral_mesh.obj", (6.0, -3.0, 7.0), 3.0),
])  # fmt: skip
def test_real_meshes_follow_the_pseudocode(shared_data, file, place, size):
    mesh = read_mesh(shared_data / "skins" / file)
    muscle = muscles_of(Surface(mesh), {"m": place}, size)[0]
    moving = Deformer(mesh.vertices, [muscle])
    near = np.random.default_rng(1).permutation(moving.active)[:20]
    found = moving.frame(at(moving, m=0.5))[near] - mesh.vertices[near]
    wanted = pseudocode(mesh.vertices[near], muscle, 0.5)
    assert len(near) > 10 and np.abs(found - wanted).max() < 1e-6 * max(size, 1.0)


def test_muscles_commute_and_leave_no_history():
    moving, turned = Deformer(BALL.vertices, MUSCLES), Deformer(BALL.vertices, MUSCLES[::-1])
    first = moving.frame(at(moving, a=0.4, b=0.7, c=1.0))
    assert first.tobytes() == turned.frame(at(turned, a=0.4, b=0.7, c=1.0)).tobytes()
    for c in (0.0, 1.0, 0.2):
        moving.frame(at(moving, a=c, c=1 - c))
    now = at(moving, a=0.4)
    now.d_none *= 0.7
    now.falloff[:] = 1
    moving.frame(now)
    assert first.tobytes() == moving.frame(at(moving, a=0.4, b=0.7, c=1.0)).tobytes()


def test_several_muscles_add_up():
    together = Deformer(BALL.vertices, MUSCLES)
    moves = together.frame(at(together, a=0.5, b=0.5, c=0.5)) - BALL.vertices
    single = 0
    for muscle in MUSCLES:
        alone = Deformer(BALL.vertices, [muscle])
        single = single + alone.frame(at(alone, **{muscle.name: 0.5})) - BALL.vertices
    assert np.abs(moves - single).max() < 1e-14


def test_topology_has_no_part_in_it():
    soup = cut_up(BALL)
    whole, parts = (Deformer(mesh.vertices, MUSCLES) for mesh in (BALL, soup))
    settings = at(whole, a=0.6, b=0.2)
    assert np.array_equal(parts.frame(settings), whole.frame(settings)[BALL.indices])


def test_single_precision_and_both_cores_agree():
    settings = at(Deformer(BALL.vertices, MUSCLES), a=0.6, b=0.2, c=0.8)
    exact = Deformer(BALL.vertices, MUSCLES).frame(settings)
    single = Deformer(BALL.vertices, MUSCLES, dtype=np.float32).frame(settings)
    assert np.abs(exact - single).max() < 2e-6
    fine = plane(90, 0.1)
    muscles = muscles_of(Surface(fine), {"a": (0, 0, 0), "b": (0.4, 0, 0.4)})
    one, two = (Deformer(fine.vertices, muscles, threads=threads) for threads in (1, 2))
    assert one.frame(at(one, a=0.5, b=0.9)).tobytes() == two.frame(at(two, a=0.5, b=0.9)).tobytes()


@pytest.mark.parametrize("kind", FALLOFFS)
def test_falloffs(kind):
    d = np.linspace(0, 3, 301)
    assert np.allclose(falloff(d, 0.8, 2.1, kind), [psi_by_hand(x, 0.8, 2.1, kind) for x in d], atol=1e-15)
    assert np.array_equal(falloff(d, 1.0, 1.0, kind), (d < 1.0).astype(float))
    moving = Deformer(BALL.vertices, [replace(MUSCLES[0], falloff=kind)])
    keyed = Deformer(BALL.vertices, [MUSCLES[0]])
    now = at(keyed, a=0.5)
    now.falloff[:] = FALLOFFS.index(kind)
    assert np.array_equal(keyed.frame(now), moving.frame(at(moving, a=0.5)))


def test_point_sets_weights_and_envelope_scale_the_move():
    moving = Deformer(BALL.vertices, [MUSCLES[0]])
    move = moving.frame(at(moving, a=0.5)) - BALL.vertices
    chosen = moving.active[::3]
    weight = np.linspace(-1, 2, len(chosen))
    part = Deformer(BALL.vertices, [replace(MUSCLES[0], points=chosen, weights=weight, envelope=0.5)])
    found = part.frame(at(part, a=0.5)) - BALL.vertices
    wanted = np.zeros_like(move)
    wanted[chosen] = 0.5 * weight[:, None] * move[chosen]
    assert np.abs(found - wanted).max() < 1e-14


def test_a_pair_moves_in_mirror_image():
    ball = sphere(40)
    muscle = muscles_of(Surface(ball), {"a_l": PLACES["a"]})[0]
    other = mirrored(muscle, 0, 0.0)
    left, right = Deformer(ball.vertices, [muscle]), Deformer(ball.vertices * [-1, 1, 1], [other])
    a = left.frame(at(left, a_l=0.6))
    assert np.abs(a * [-1, 1, 1] - right.frame(at(right, a_r=0.6))).max() < 1e-9


def slit(gap=0.0):
    """A flat face with a mouth: two lips that touch along a slit inside one connected mesh."""
    mesh = plane(41)
    grid = np.arange(41 * 41).reshape(41, 41)
    points = np.concatenate([mesh.vertices, mesh.vertices[grid[10:31, 20]] - [0, 0, gap]])
    faces = mesh.indices.reshape(-1, 4).copy()
    lower = {int(old): 41 * 41 + k for k, old in enumerate(grid[10:31, 20]) if 0 < k < 20}
    behind = mesh.vertices[faces].mean(axis=1)[:, 2] < 0
    inner = np.vectorize(lambda k: lower.get(int(k), int(k)))
    faces[behind] = inner(faces[behind])
    depth, count = 0.4, len(points)  # the inside of the mouth: it makes the lips' edges inner ones
    inside = points[grid[10:31, 20]] - [0, depth, 0] * np.sin(np.linspace(0, np.pi, 21))[:, None]
    points, lining = np.concatenate([points, inside]), []
    for k in range(20):
        a, b, c, d = int(grid[10 + k, 20]), int(grid[11 + k, 20]), count + k + 1, count + k
        lining += [[a, b, c, d], [d, c, lower.get(b, b), lower.get(a, a)]]
    from risorius.core.mesh import of_triangles

    return of_triangles(points, np.concatenate([faces, np.array(lining)])), grid, lower


def test_an_upper_lip_leaves_the_lower_lip_alone():
    mesh, grid, lower = slit()
    flat = mesh.vertices
    curves = tuple(np.stack([np.full(5, x), np.zeros(5), np.linspace(0.5, 0.06, 5)], 1) for x in (-0.06, 0.06))
    surface = Surface(mesh)
    plain = grow(surface, Sketch("lip", curves, 0.01, 0.04, d_none=0.12)).muscle
    sets = with_connected_set(plain, surface)
    moves = []
    for muscle in (plain, sets):
        moving = Deformer(flat, [muscle])
        moves.append(np.linalg.norm(moving.frame(at(moving, lip=0.5)) - flat, axis=1))
    upper_lip, lower_lip = int(grid[20, 20]), lower[int(grid[20, 20])]
    assert np.array_equal(flat[upper_lip], flat[lower_lip])  # they touch
    assert moves[0][lower_lip] == moves[0][upper_lip] > 0.01
    assert moves[1][upper_lip] > 0.01 and moves[1][lower_lip] < 1e-12
    a, b = mesh.edges().T
    length = np.linalg.norm(flat[a] - flat[b], axis=1)
    a, b = a[length > 0], b[length > 0]
    flat_edge = (flat[a, 1] == 0) & (flat[b, 1] == 0)
    rise, plain_rise = (np.abs(move[a] - move[b])[flat_edge] for move in (moves[1], moves[0]))
    assert rise.max() <= 1.01 * plain_rise.max()  # the set's edge tears nothing


def documents(tmp_path, mesh=BALL, ending=".ply"):
    write_mesh(tmp_path / f"skin{ending}", mesh)
    write_muscles(tmp_path / "m.json", Rig(tuple(MUSCLES)))
    keys = {"version": 1, "rate": 20, "keys": [
        {"time": 0.0, "muscles": {"a": {"contraction": 0.0, "bulge": 2.0}}},
        {"time": 0.5, "muscles": {"a": {"contraction": 0.8}, "c": {"contraction": 0.2, "d_none": 0.2}}},
        {"time": 1.0, "muscles": {"a": {"contraction": 0.4, "bulge": 4.0}, "c": {"falloff": "linear"}}}]}  # fmt: skip
    (tmp_path / "k.json").write_text(json.dumps(keys))
    return tmp_path / f"skin{ending}", tmp_path / "m.json", tmp_path / "k.json"


def test_keys_are_linear_between_and_held_outside(tmp_path):
    _, _, keys = documents(tmp_path)
    rig = Rig(tuple(MUSCLES))
    found = read_keys(keys, rig)
    times = found.times()
    assert np.allclose(times, np.arange(21) / 20)
    settings = played(rig, ["a", "b", "c"], times, found)
    assert settings[5].contraction[0] == pytest.approx(0.4) and settings[15].contraction[0] == pytest.approx(0.6)
    assert settings[5].bulge[0] == pytest.approx(2.5) and np.isnan(settings[5].bulge[1])
    assert settings[0].contraction[2] == 0.2 and settings[20].d_none[2] == pytest.approx(max(0.2, MUSCLES[2].d_full))
    assert FALLOFFS[settings[20].falloff[2]] == "linear"


@pytest.mark.parametrize("ending", [".obj", ".off", ".ply", ".glb", ".usdc"])
def test_every_format_goes_in_and_out(tmp_path, ending):
    mesh, muscles, keys = documents(tmp_path, ending=ending)
    skin = read_mesh(mesh)
    moving = Deformer(skin.vertices, MUSCLES, reach=np.full(3, 1.0))
    now = at(moving, a=0.4, c=0.2)
    now.bulge[0], now.d_none[2], now.falloff[2] = 4.0, max(0.2, MUSCLES[2].d_full), 0
    last = moving.frame(now)
    deform(mesh, muscles, keys, tmp_path / "out.obj")
    assert np.abs(read_mesh(tmp_path / "out.obj").vertices - last).max() < 1e-12
    assert np.array_equal(read_mesh(tmp_path / "out.obj").indices, skin.indices)


def test_the_glb_moves_as_the_cache_does(tmp_path):
    import pygltflib
    from pxr import Usd, UsdGeom

    mesh, muscles, keys = documents(tmp_path)
    figures = deform(mesh, muscles, keys, tmp_path / "out.glb")
    deform(mesh, muscles, keys, tmp_path / "out.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "out.usdc"))
    prim = UsdGeom.Mesh(stage.GetDefaultPrim())
    cache = np.array([np.array(prim.GetPointsAttr().Get(t)) for t in range(21)])
    asset = pygltflib.GLTF2().load(str(tmp_path / "out.glb"))
    from risorius.io.mesh_gltf import Scene

    scene = Scene(tmp_path / "out.glb")
    primitive = asset.meshes[0].primitives[0]
    rest = scene.accessor(primitive.attributes.POSITION)
    shapes = np.array([scene.accessor(target["POSITION"]) for target in primitive.targets])
    weights = scene.accessor(asset.animations[0].samplers[0].output).reshape(21, -1)
    moved = rest + np.einsum("fk,kni->fni", weights, shapes)
    assert np.abs(moved - cache).max() < 2.5e-5 and figures["shapes"] == len(shapes)
    assert np.abs(np.array(asset.nodes[0].matrix).reshape(4, 4) - np.eye(4)).max() < 1e-12


@pytest.mark.parametrize("change, words", [
    ({"keys": []}, "list of 1"), ({"rate": 0}, "number from 0.001"),
    ({"keys": [{"time": 1}, {"time": 0}]}, "times that rise"),
    ({"keys": [{"time": 0, "muscles": {"nobody": {}}}]}, "no muscle is called"),
    ({"keys": [{"time": 0, "muscles": {"a": {"contraction": 2}}}]}, "number from 0 to 1"),
    ({"keys": [{"time": 0, "muscles": {"a": {"speed": 2}}}]}, "unknown key"),
    ({"keys": [{"time": 0}, {"time": 1e9}]}, "at most 36000 frames"), ({"version": 2}, "whole number from 1 to 1"),
])  # fmt: skip
def test_mistakes_in_keys_are_named(tmp_path, change, words):
    mesh, muscles, keys = documents(tmp_path)
    keys.write_text(json.dumps(json.loads(keys.read_text()) | change))
    with pytest.raises(InputError, match=words) as caught:
        deform(mesh, muscles, keys, tmp_path / "out.obj")
    assert str(keys) in str(caught.value) and not (tmp_path / "out.obj").exists()


def test_control_points_follow_from_the_basis():
    muscle = MUSCLES[0]
    assert np.allclose(patchwork(muscle).grid, control_points(muscle))
