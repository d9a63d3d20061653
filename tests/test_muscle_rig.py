"""Controls, drivers and skeletons in motion; the same frames in an array library."""

import json
from dataclasses import replace

import numpy as np
import pytest

from risorius.app.muscle import deform, limbs
from risorius.core.errors import InputError
from risorius.io import muscle_file, rig_file
from risorius.io.mesh import read_mesh, write_mesh
from risorius.io.mesh_gltf import packed
from risorius.io.motion import read_motion
from risorius.io.muscle_file import read_muscles, write_muscles
from risorius.skin.muscle.array_backend import ArrayDeformer
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.rig import PARAMETERS, Control, Driver, Key, Keys, Rig, played
from risorius.skin.muscle.surface import Surface
from skins import cylinder, drawn_at, sphere

BALL = sphere(24)
SURFACE = Surface(BALL)
PAIR = tuple(
    grow(SURFACE, Sketch(name, drawn_at(SURFACE, place, 0.8), 0.02, 0.06)).muscle
    for name, place in (("cheek_l", (0.6, 0.5, 0.5)), ("cheek_r", (-0.6, 0.5, 0.5)))
)
SMILE = Control("smile", (("cheek_l", "contraction", 0.6), ("cheek_r", "contraction", 0.4), ("cheek_r", "bulge", 1.0)))
JAW = Driver(("control", "smile"), "angle", ("jaw",), (1.0, 0.0, 0.0), ((0.0, 0.0), (30.0, 1.0)))
FAR = Driver(("cheek_l", "contraction"), "distance", ("head", "jaw"), None, ((1.0, 0.0), (2.0, 0.5)))


def settings_at(value, rig):
    keys = Keys(10.0, (Key(0.0, {("control", "smile"): value}),))
    return played(rig, ["cheek_l", "cheek_r"], np.zeros(1), keys)[0]


def test_a_control_moves_all_its_muscles():
    rig = Rig(PAIR, (SMILE,))
    half = settings_at(0.5, rig)
    assert half.contraction.tolist() == [0.3, 0.2] and np.isnan(half.bulge[0]) and half.bulge[1] == 2.5
    assert settings_at(7.0, rig).contraction.tolist() == [0.6, 0.4]  # the knob's end
    both = (replace(SMILE, name="a"), replace(SMILE, name="b"))
    added = played(Rig(PAIR, both), ["cheek_l", "cheek_r"], np.zeros(1),
                   Keys(1.0, (Key(0.0, {("control", "a"): 1.0, ("control", "b"): 1.0}),)))[0]  # fmt: skip
    assert added.contraction.tolist() == [1.0, 0.8]


def jaw_glb(path, degrees, lift=1.0, kind="LINEAR"):
    """A head joint and, at some distance below it, a jaw that turns about x from 0 to `degrees` in one second."""
    half = np.radians(degrees) / 2
    turn = np.array([[0, 0, 0, 1], [np.sin(half), 0, 0, np.cos(half)]], dtype="<f4")
    place = np.array([[0, -1, 0], [0, -lift, 0]], dtype="<f4")
    if kind == "CUBICSPLINE":
        turn, place = (np.stack([0 * v, v, 0 * v], axis=1).reshape(-1, v.shape[1]).astype("<f4") for v in (turn, place))
    time = np.array([0.0, 1.0], dtype="<f4")
    blobs = [time.tobytes(), turn.tobytes(), place.tobytes()]
    starts = np.cumsum([0] + [len(blob) for blob in blobs])
    counts = (2, len(turn), len(place))
    asset = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "head", "children": [1]}, {"name": "jaw", "translation": [0, -1, 0]}],
        "buffers": [{"byteLength": int(starts[-1])}],
        "bufferViews": [{"buffer": 0, "byteOffset": int(starts[k]), "byteLength": len(blobs[k])} for k in range(3)],
        "accessors": [{"bufferView": k, "componentType": 5126, "count": counts[k], "type": t}
                      for k, t in enumerate(("SCALAR", "VEC4", "VEC3"))],
        "animations": [{"samplers": [{"input": 0, "output": 1, "interpolation": kind},
                                     {"input": 0, "output": 2, "interpolation": kind}],
                        "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                                     {"sampler": 1, "target": {"node": 1, "path": "translation"}}]}],
    }  # fmt: skip
    path.write_bytes(packed(asset, b"".join(blobs)))
    return path


def jaw_usda(path, degrees, skeleton):
    """The same as moving Xforms, or as a UsdSkel skeleton."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.CreateNew(str(path))
    stage.SetTimeCodesPerSecond(10)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(10)
    if skeleton:
        UsdSkel.Root.Define(stage, "/Root")
        skel = UsdSkel.Skeleton.Define(stage, "/Root/Skel")
        skel.CreateJointsAttr(["head", "head/jaw"])
        pose = [Gf.Matrix4d(1.0), Gf.Matrix4d().SetTranslate((0, -1, 0))]
        skel.CreateBindTransformsAttr(pose)
        skel.CreateRestTransformsAttr(pose)
        motion = UsdSkel.Animation.Define(stage, "/Root/Skel/Motion")
        motion.CreateJointsAttr(["head", "head/jaw"])
        motion.CreateTranslationsAttr([(0, 0, 0), (0, -1, 0)])
        motion.CreateScalesAttr([(1, 1, 1), (1, 1, 1)])
        turns = motion.CreateRotationsAttr()
        for frame in range(11):
            half = np.radians(degrees * frame / 10) / 2
            turns.Set([Gf.Quatf(1), Gf.Quatf(float(np.cos(half)), float(np.sin(half)), 0, 0)], frame)
        UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([motion.GetPath()])
    else:
        head = UsdGeom.Xform.Define(stage, "/head")
        head.AddTranslateOp().Set((0, 0, 0), 0)
        head.GetOrderedXformOps()[0].Set((0.0, 0.5, 0.0), 10)
        jaw = UsdGeom.Xform.Define(stage, "/head/jaw")
        jaw.AddTranslateOp().Set((0, -1, 0))
        turn = jaw.AddRotateXOp()
        for frame in range(11):
            turn.Set(degrees * frame / 10, frame)
    stage.GetRootLayer().Save()
    return path


@pytest.mark.parametrize("make", [
    lambda folder: jaw_glb(folder / "a.glb", 24.0), lambda folder: jaw_usda(folder / "a.usda", 24.0, True),
    lambda folder: jaw_usda(folder / "a.usda", 24.0, False),
])  # fmt: skip
def test_an_animated_jaw_is_read_and_drives_the_cheeks(tmp_path, make):
    pose = read_motion(make(tmp_path), 10.0)
    assert np.allclose(pose.angle("jaw", (1.0, 0, 0)), np.arange(11) * 2.4, atol=1e-4)
    assert np.allclose(pose.angle("jaw", None), np.arange(11) * 2.4, atol=1e-4)
    assert np.allclose(pose.angle("jaw", (0, 1.0, 0)), 0, atol=1e-4)
    assert np.allclose(pose.distance("head", "jaw"), 1.0)
    settings = played(Rig(PAIR, (SMILE,), (JAW,)), ["cheek_l", "cheek_r"], pose.time, None, pose)
    assert np.allclose([now.contraction[0] for now in settings], 0.6 * np.arange(11) * 2.4 / 30, atol=1e-6)
    with pytest.raises(InputError, match="no joint 'tail'"):
        played(Rig(PAIR, (), (replace(FAR, joints=("head", "tail")),)), ["cheek_l", "cheek_r"], pose.time, None, pose)


@pytest.mark.parametrize("kind", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_interpolations_are_gltfs(tmp_path, kind):
    pose = read_motion(jaw_glb(tmp_path / "a.glb", 40.0, lift=2.0, kind=kind), 20.0)
    s = np.arange(21) / 20
    blend = {"LINEAR": s, "STEP": (s >= 1).astype(float), "CUBICSPLINE": 3 * s**2 - 2 * s**3}[kind]
    assert np.allclose(pose.distance("head", "jaw"), 1 + blend, atol=1e-6)
    if kind != "CUBICSPLINE":  # whose rotations are normalised, not turned evenly
        assert np.allclose(pose.angle("jaw", None), 40 * blend, atol=1e-4)
    settings = played(Rig(PAIR, (), (FAR,)), ["cheek_l", "cheek_r"], pose.time, None, pose)
    assert np.allclose([now.contraction[0] for now in settings], 0.5 * blend, atol=1e-6)


def test_the_document_holds_the_whole_rig(tmp_path):
    rig = Rig(PAIR, (SMILE,), (JAW, FAR))
    write_muscles(tmp_path / "m.json", rig)
    again = read_muscles(tmp_path / "m.json", len(BALL.vertices))
    assert again.controls == rig.controls and again.drivers == rig.drivers
    write_mesh(tmp_path / "s.ply", BALL)
    jaw_glb(tmp_path / "a.glb", 30.0)
    deform(tmp_path / "s.ply", tmp_path / "m.json", None, tmp_path / "o.obj", tmp_path / "a.glb")
    moving = Deformer(BALL.vertices, list(PAIR))
    now = moving.settings()
    now.contraction[:] = 0.6, 0.4
    now.bulge[1] = 3.0
    assert np.abs(read_mesh(tmp_path / "o.obj").vertices - moving.frame(now)).max() < 1e-6


@pytest.mark.parametrize("change, words", [
    ({"controls": {"smile": {"muscles": {"nose": {}}}}}, "no muscle is called"),
    ({"controls": {"smile": {"muscles": {"cheek_l": {"colour": 1}}}}}, "unknown key"),
    ({"controls": {"smile": {"muscles": {}, "range": [1, 0]}}}, "lowest, highest"),
    ({"drivers": [{"muscle": "cheek_l", "map": [[0, 0]]}]}, "one angle or one distance"),
    ({"drivers": [{"muscle": "x", "angle": {"joint": "j"}, "map": [[0, 0]]}]}, "nothing is called"),
    ({"drivers": [{"muscle": "cheek_l", "angle": {"joint": "j"}, "map": [[1, 0], [1, 1]]}]}, "inputs rising"),
])  # fmt: skip
def test_mistakes_in_a_rig_are_named(tmp_path, change, words):
    write_muscles(tmp_path / "m.json", Rig(PAIR))
    table = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(table | change))
    with pytest.raises(InputError, match=words):
        read_muscles(tmp_path / "m.json")


def test_the_schema_knows_the_keys_that_the_reader_knows():
    schema = rig_file.schema()
    muscle = schema["$defs"]["muscle"]
    assert set(muscle["properties"]) == set(muscle_file.MUSCLE_KEYS) and not muscle["additionalProperties"]
    assert set(schema["properties"]) == {"version", "muscles", "controls", "drivers"}
    assert set(schema["$defs"]["parameters"]["properties"]) == set(PARAMETERS)
    assert set(schema["$defs"]["curve_entry"]["properties"]) == set(muscle_file.CURVE_KEYS)
    assert set(schema["$defs"]["keyed"]["properties"]) == set(muscle_file.KEYED)


@pytest.mark.parametrize("name, forward", [("CesiumMan", "z"), ("Fox", "z")])
def test_muscles_along_the_bones_of_a_figure(shared_data, tmp_path, name, forward):
    mesh = shared_data / "skins" / "gltf" / f"{name}.glb"
    figures = limbs(mesh, tmp_path / "m.json", forward)
    names = list(figures["muscles"])
    assert len(names) >= 12 and sum(n.endswith("_flexor") for n in names) == len(names) // 2
    skin = read_mesh(mesh)
    size = np.ptp(skin.vertices, axis=0).max()
    deform(mesh, tmp_path / "m.json", None, tmp_path / "o.usdc", mesh)
    write_muscles(tmp_path / "none.json", Rig(()))
    deform(mesh, tmp_path / "none.json", None, tmp_path / "plain.usdc", mesh)
    from pxr import Usd, UsdGeom

    moved, plain = [], []
    for out, file in ((moved, "o.usdc"), (plain, "plain.usdc")):
        stage = Usd.Stage.Open(str(tmp_path / file))
        prim = UsdGeom.Mesh(stage.GetDefaultPrim())
        out += [np.array(prim.GetPointsAttr().Get(frame)) for frame in range(int(stage.GetEndTimeCode()) + 1)]
    assert np.abs(np.array(plain) - plain[0]).max() > 0.05 * size  # it walks
    bulge = np.linalg.norm(np.array(moved) - np.array(plain), axis=2)
    assert 0.002 * size < bulge.max() < 0.1 * size  # and its muscles swell as its joints bend


def test_each_limb_muscle_answers_to_bending_towards_its_own_side():
    """Turned about a driver's axis, the joint's rest frame as given, the next bone moves towards the driven muscle."""
    from scipy.spatial.transform import Rotation

    from risorius.skin.muscle.limbs import Bone, limb_rig

    tube = cylinder(60, 30)  # along y
    turn = Rotation.from_euler("xyz", [0.4, -0.9, 2.0]).as_matrix()
    bone = Bone("arm", "elbow", np.array([0, 1.5, 0]), np.array([0, -1.5, 0]), turn)
    rig = limb_rig(Surface(tube), [bone], np.array([1.0, 0.2, 0.1]))
    assert [muscle.name for muscle in rig.muscles] == ["arm_flexor", "arm_extensor"]
    along = (bone.end - bone.start) / np.linalg.norm(bone.end - bone.start)
    for muscle, driver in zip(rig.muscles, rig.drivers):
        assert driver.target == (muscle.name, "contraction") and driver.joints == ("elbow",)
        local = Rotation.from_rotvec(np.radians(30.0) * np.array(driver.axis)).as_matrix()
        moved = turn @ local @ turn.T @ along  # the joint's own turn from its rest
        side = muscle.basis.reshape(-1, 3).mean(axis=0) * [1, 0, 1]
        assert moved @ side / np.linalg.norm(side) == pytest.approx(0.5, abs=0.01)


def test_a_skin_is_carried_as_gltf_says(shared_data):
    """Against a sum over joints, vertex by vertex, with matrices multiplied out from the node tree here."""
    from risorius.io.mesh_gltf import Scene

    file = shared_data / "skins" / "gltf" / "CesiumMan.glb"
    pose = read_motion(file, 24.0)
    mesh = read_mesh(file)
    points = pose.carry(np.repeat(mesh.vertices[None], len(pose.time), axis=0))
    scene = Scene(file)
    node = next(node for node in scene.asset["nodes"] if "skin" in node)
    skin = scene.asset["skins"][node["skin"]]
    attributes = scene.asset["meshes"][node["mesh"]]["primitives"][0]["attributes"]
    bind = scene.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    flat, which, weight = (scene.accessor(attributes[key]) for key in ("POSITION", "JOINTS_0", "WEIGHTS_0"))
    names = [scene.asset["nodes"][joint]["name"] for joint in skin["joints"]]
    for frame in (0, 11, len(pose.time) - 1):
        for vertex in range(0, len(flat), 211):
            total = np.zeros(4)
            for joint, share in zip(which[vertex], weight[vertex]):
                world = pose.world[frame, pose.number(names[joint])]
                total += share * (world @ bind[joint] @ np.append(flat[vertex], 1.0))
            assert np.abs(points[frame, vertex] - total[:3]).max() < 1e-5


@pytest.mark.parametrize("library", ["numpy", "torch", "cupy"])
def test_an_array_library_gives_the_same_frames(library):
    moving = Deformer(BALL.vertices, list(PAIR))
    try:
        other = ArrayDeformer(moving, library)
    except InputError as error:
        assert library != "numpy" and "not installed" in str(error)
        return
    for c in (0.0, 0.3, 1.0):
        now = moving.settings()
        now.contraction[:] = c, 1 - c
        found = other.frame(now)
        found = found.get() if hasattr(found, "get") else np.asarray(found)
        assert np.abs(found - moving.frame(now)).max() < 1e-12
    assert ArrayDeformer(Deformer(BALL.vertices, []), "numpy").frame(now).tobytes() == BALL.vertices.tobytes()
