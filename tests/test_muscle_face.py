"""A face from a few feature points, on a real head."""

import json
from dataclasses import replace

import numpy as np
import pytest

from risorius.app.muscle import deform
from risorius.app.muscle import face as face_file
from risorius.core.errors import InputError
from risorius.io.mesh import read_mesh
from risorius.io.muscle_file import read_muscles
from risorius.skin.muscle.face import face_rig, feature_names
from risorius.skin.muscle.play import frames
from risorius.skin.muscle.rig import Key, Keys, Rig, played
from risorius.skin.muscle.surface import Surface
from risorius.skin.muscle.unfold import folds, unfolded

MARKED = {  # set by hand on the ICT face, centimetres
    "nose_tip": [0, 0.1, 13.09], "lips": [0, -3.32, 11.2], "chin": [0, -6.4, 11.05],
    "eye_inner_l": [2.1, 3.35, 9.15], "eye_outer_l": [4.5, 3.45, 8.65], "mouth_l": [2.45, -3.5, 10.2],
    "brow_l": [3.2, 5.7, 10.0],
}  # fmt: skip
POINTS = {name: np.array(value, dtype=float) for name, value in MARKED.items()}
POINTS |= {name[:-1] + "r": value * [-1, 1, 1] for name, value in POINTS.items() if name.endswith("_l")}
PART = slice(14062, 24591)
"""Points of gums, tongue, teeth and eyes in this mesh."""


@pytest.fixture(scope="module")
def head(shared_data):
    mesh = read_mesh(shared_data / "skins" / "face" / "generic_neutral_mesh.obj")
    surface = Surface(mesh)
    return mesh, surface, face_rig(surface, POINTS)


def posed(head, **controls):
    mesh, _, rig = head
    keys = Keys(60.0, (Key(0.0, {("control", name): value for name, value in controls.items()}),))
    names = sorted(muscle.name for muscle in rig.muscles)
    return frames(mesh.vertices, rig, played(rig, names, np.zeros(1), keys))[0]


def at(head, points, place, radius=0.6):
    """Mean move of the skin near a place."""
    near = np.linalg.norm(head[0].vertices - place, axis=1) < radius
    return (points - head[0].vertices)[near].mean(axis=0)


def seen_eye(head, points):
    """The share of a patch in front of each eye through which its ball (or the film on it) is seen past the lashes."""
    mesh, _, _ = head
    number = np.arange(len(mesh.vertices))
    lashes, ball = number >= 25351, ((number >= 21451) & (number < 24591)) | ((number >= 25047) & (number < 25351))
    moved = Surface(mesh.moved(points))
    x, y = np.meshgrid(np.linspace(2.5, 4.2, 40), np.linspace(2.6, 4.2, 60))
    out = []
    for side in (1, -1):
        base = np.stack([side * x.ravel(), y.ravel(), np.full(x.size, 30.0)], axis=1)
        left, seen = np.ones(len(base), dtype=bool), np.zeros(len(base), dtype=bool)
        for _ in range(8):
            t, triangle = moved.tree.rays(base, np.broadcast_to([0.0, 0, -1], base.shape), 1e-6)
            corner = moved.faces[triangle, 0]
            seen |= left & np.isfinite(t) & ball[corner]
            left &= np.isfinite(t) & lashes[corner]
            base = base - np.where(np.isfinite(t), t, 0)[:, None] * [0, 0, 1]
        out.append(seen.mean())
    return np.array(out)


def test_at_most_twelve_points_are_asked_for():
    assert set(feature_names()) == set(POINTS) and len(POINTS) <= 12


def test_every_muscle_fits(head):
    _, surface, rig = head
    assert len(rig.muscles) >= 35 and {"zygomaticus_major_l", "orbicularis_oris", "lid_upper_r"} <= {
        muscle.name for muscle in rig.muscles
    }
    from risorius.skin.muscle.report import report

    thin = ("lid", "nasalis", "incisivus", "orbicularis_oris")  # the skin's other side is nearer than their depth
    for muscle in rig.muscles:
        if not muscle.name.startswith(thin):
            assert report(muscle, surface)["depth_error_median"] < 0.05, muscle.name


@pytest.mark.parametrize("control", ["smile", "frown", "purse", "eyes_closed", "brow", "sneer", "lip_down", "squint"])
def test_eyes_and_teeth_stay_and_nothing_tears(head, control):
    mesh, surface, _ = head
    points = posed(head, **{control: 1.0})
    assert np.array_equal(points[PART], mesh.vertices[PART])
    assert 2.0 < 10 * np.linalg.norm(points - mesh.vertices, axis=1).max() < 18.0  # millimetres
    a, b = mesh.edges().T
    rest, now = (np.linalg.norm(p[a] - p[b], axis=1) for p in (mesh.vertices, points))
    assert (now - rest).max() < 0.45  # no edge opens by more than 4.5 mm
    seams = np.flatnonzero(surface.seams != np.arange(len(mesh.vertices)))
    both = surface.piece[seams] == surface.piece[surface.seams[seams]]
    gap = np.linalg.norm(points[seams] - points[surface.seams[seams]], axis=1)[both]
    assert gap.size == 0 or gap.max() < 1e-6


SETTINGS = ["smile", "frown", "purse", "eyes_closed", "brow", "brow_inner", "sneer", "lip_down", "chin", "cheek", "squint",
            "clench"]  # fmt: skip


@pytest.mark.parametrize("control", SETTINGS)
def test_no_triangle_of_the_skin_turns_over_at_any_setting(head, control):
    surface = head[1]
    skin = surface.only((surface.faces < PART.start).all(axis=1))
    for value in (0.25, 0.5, 0.75, 1.0):
        turned = folds(skin, posed(head, **{control: value}), steep=0.0)
        assert not turned.any(), f"{turned.sum()} triangles at {value}"


def cut(head, points):
    """How many edges of the skin run through gums or teeth."""
    mesh = head[0]
    edges = mesh.edges()
    skin = edges[(edges < PART.start).all(axis=1) & (points[edges[:, 0]] @ [0, 1, 0] < -1.5)]
    inner = Surface(mesh.moved(points))
    inner = inner.only((inner.faces >= PART.start).all(axis=1) & (inner.faces < 21451).all(axis=1))
    t, _ = inner.tree.rays(points[skin[:, 0]], points[skin[:, 1]] - points[skin[:, 0]], 0.0, 1.0)
    return int(np.isfinite(t).sum())


def test_pursed_lips_do_not_meet_the_teeth(head):
    rest = cut(head, head[0].vertices)
    assert all(cut(head, posed(head, purse=value)) <= rest for value in (0.25, 0.5, 0.75, 1.0))


def test_weights_are_smoothed_until_a_steep_pull_folds_nothing():
    """A muscle that pulls farther than its weights fade over turns skin over; smoothed weights do not."""
    from risorius.skin.muscle.grow import Sketch, grow
    from risorius.skin.muscle.rig import Control
    from skins import plane

    mesh = plane(61)
    surface = Surface(mesh)
    x, z = mesh.vertices[:, 0], mesh.vertices[:, 2]
    curves = [np.array([[s * 0.3, 0, -0.1], [s * 0.3, 0, 0.5]]) for s in (-1, 1)]
    muscle = grow(surface, Sketch("pull", (curves[0], curves[1]), 0.02, 0.0, d_full=0.3, d_none=0.9)).muscle
    muscle = replace(muscle, points=np.arange(len(x)), weights=((z > 0.2) & (np.abs(x) < 0.5)).astype(float))
    control = Control("all", (("pull", "contraction", 0.3),))
    pose = played(Rig((muscle,), (control,)), ["pull"], np.zeros(1), Keys(1.0, (Key(0.0, {("control", "all"): 1.0}),)))
    before = frames(mesh.vertices, Rig((muscle,), (control,)), pose)[0]
    smooth = unfolded(surface, [muscle], [control])[0]
    after = frames(mesh.vertices, Rig((smooth,), (control,)), pose)[0]
    assert folds(surface, before, steep=0.0).any() and not folds(surface, after, steep=0.0).any()
    far = np.abs(z - 0.2) > 0.5
    assert np.array_equal(before[far & (np.abs(x) > 0.9)], after[far & (np.abs(x) > 0.9)])
    assert unfolded(surface, [smooth], [control])[0] is smooth  # nothing left to do


def test_a_smile_draws_the_corners_up_and_out(head):
    points = posed(head, smile=1.0)
    for side, name in ((1, "mouth_l"), (-1, "mouth_r")):
        move = at(head, points, POINTS[name])
        assert move[0] * side > 0.2 and move[1] > 0.3
    one = posed(head, smile_l=1.0)
    assert at(head, one, POINTS["mouth_l"])[1] > 0.3 > 0.02 > np.abs(at(head, one, POINTS["mouth_r"])).max()


def test_a_frown_lowers_corners_and_brows(head):
    points = posed(head, frown=1.0)
    for side, name in ((1, "l"), (-1, "r")):
        assert at(head, points, POINTS[f"mouth_{name}"])[1] < -0.2
        brow = at(head, points, POINTS[f"brow_{name}"] - [side * 0.6, 0.4, 0], 0.8)
        assert brow[1] < -0.05 and brow[0] * side < -0.02
    assert at(head, posed(head, brow=1.0), POINTS["brow_l"])[1] > 0.3


def test_a_purse_narrows_the_mouth_and_brings_the_lips_forward(head):
    points = posed(head, purse=1.0)
    assert at(head, points, POINTS["mouth_l"])[0] < -0.25 and at(head, points, POINTS["mouth_r"])[0] > 0.25
    assert at(head, points, np.array([0.9, -3.0, 11.0]), 0.5)[2] > 0.03


def test_closed_eyes_are_closed(head):
    rest, shut = seen_eye(head, head[0].vertices), seen_eye(head, posed(head, eyes_closed=1.0))
    assert (rest > 0.35).all() and (shut < 0.02 * rest).all()
    half = seen_eye(head, posed(head, blink_l=1.0))
    assert half[0] < 0.02 * rest[0] and half[1] == pytest.approx(rest[1])


def test_the_face_is_symmetric_as_the_head_is(head):
    from scipy.spatial import cKDTree

    points = posed(head, smile=1.0, eyes_closed=0.5)
    vertices = head[0].vertices
    skin = np.arange(14062)
    gap, other = cKDTree(vertices[skin] * [-1, 1, 1]).query(vertices[skin])
    move = (points - vertices)[skin]
    even = gap < 1e-4
    assert even.mean() > 0.9 and np.quantile(np.abs(move - move[other] * [-1, 1, 1])[even], 0.99) < 0.05


def test_the_document_plays_with_controls(head, tmp_path, shared_data):
    mesh = shared_data / "skins" / "face" / "generic_neutral_mesh.obj"
    (tmp_path / "f.json").write_text(json.dumps({"version": 1, "points": {k: v.tolist() for k, v in POINTS.items()}}))
    figures = face_file(mesh, tmp_path / "f.json", tmp_path / "m.json")
    assert "smile" in figures["controls"] and read_muscles(tmp_path / "m.json", len(head[0].vertices)).controls
    keys = {
        "version": 1,
        "rate": 10,
        "keys": [{"time": 0, "controls": {"smile": 0}}, {"time": 1, "controls": {"smile": 1}}],
    }
    (tmp_path / "k.json").write_text(json.dumps(keys))
    deform(mesh, tmp_path / "m.json", tmp_path / "k.json", tmp_path / "o.obj")
    assert np.abs(read_mesh(tmp_path / "o.obj").vertices - posed(head, smile=1.0)).max() < 1e-9


def test_another_head_in_another_pose_smiles(shared_data):
    """The man of the MakeHuman base: other unit, other topology; the frame comes from the points alone."""
    mesh = read_mesh(shared_data / "skins" / "makehuman" / "base.obj")
    from risorius.core.mesh import PolyMesh

    keep = np.flatnonzero(mesh.face_group == mesh.groups.index("body"))
    indices = np.concatenate([mesh.face(int(k)) for k in keep]).astype(np.int32)
    body = PolyMesh(mesh.vertices, indices, np.arange(0, 4 * len(keep) + 1, 4, dtype=np.int32))
    spots = {"nose_tip": [0, 7.30, 1.9], "lips": [0, 7.0, 1.6], "chin": [0, 6.65, 1.6],
             "eye_inner_l": [0.16, 7.6, 1.3], "eye_outer_l": [0.46, 7.6, 1.2], "mouth_l": [0.25, 7.0, 1.4],
             "brow_l": [0.33, 7.8, 1.5]}  # fmt: skip
    surface = Surface(body)
    points = {name: surface.on(np.array([value], dtype=float))[1][0] for name, value in spots.items()}
    points |= {name[:-1] + "r": value * [-1, 1, 1] for name, value in points.items() if name.endswith("_l")}
    rig = face_rig(surface, points)
    names = sorted(muscle.name for muscle in rig.muscles)
    keys = Keys(60.0, (Key(0.0, {("control", "smile"): 1.0}),))
    moved = frames(body.vertices, rig, played(rig, names, np.zeros(1), keys))[0]
    near = np.linalg.norm(body.vertices - points["mouth_l"], axis=1) < 0.08
    move = (moved - body.vertices)[near].mean(axis=0)
    assert move[1] > 0.02 and move[0] > 0.01


def test_a_head_of_a_shop_window_that_looks_along_minus_x(shared_data):
    """Coarse, open, without eyes or an open mouth: it smiles, purses and raises its brows, and no triangle turns over."""
    mesh = read_mesh(shared_data / "skins" / "rough" / "head.off")
    surface = Surface(mesh)
    spots = {"nose_tip": [-7.29, 11.07, 0], "lips": [-6.74, 9.4, 0], "chin": [-6.51, 7.3, 0],
             "eye_inner_l": [-4.3, 13.45, 1.25], "eye_outer_l": [-3.53, 13.55, 3.1], "mouth_l": [-5.29, 9.4, 1.9],
             "brow_l": [-3.86, 14.5, 2.1]}  # fmt: skip
    points = {name: np.array(value, dtype=float) for name, value in spots.items()}
    points |= {name[:-1] + "r": value * [1, 1, -1] for name, value in points.items() if name.endswith("_l")}
    rig = face_rig(surface, points)
    other = mesh, surface, rig
    for control in ("smile", "frown", "purse", "brow", "sneer"):
        moved = posed(other, **{control: 1.0})
        assert not folds(surface, moved, steep=0.0).any()
        for side, name in ((1, "mouth_l"), (-1, "mouth_r")):
            move = at(other, moved, points[name], 0.5)
            assert control != "smile" or (move[1] > 0.2 and side * move[2] > 0.1)
            assert control != "purse" or (side * move[2] < -0.1)
            assert control != "frown" or move[1] < -0.15
        assert control != "brow" or at(other, moved, points["brow_l"], 0.5)[1] > 0.2


def test_missing_and_misplaced_points_are_named(head):
    _, surface, _ = head
    with pytest.raises(InputError, match="chin"):
        face_rig(surface, {name: value for name, value in POINTS.items() if name != "chin"})
    with pytest.raises(InputError, match=r"features\.brow_l"):
        face_rig(surface, POINTS | {"brow_l": np.array([40.0, 0, 0])})
