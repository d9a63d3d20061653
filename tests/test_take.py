"""Takes: the files read back, pass their official validators, and appear whole or not at all."""

import json
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from risorius.core.errors import InputError, OutputError
from risorius.io.bvh import write_bvh, zxy_degrees
from risorius.io.gltf import write_glb
from risorius.io.layers import Layers
from risorius.io.mot import write_mot, xyz_degrees
from risorius.io.rest import flattened
from risorius.io.signals import LEADING, read_signals, write_signals
from risorius.io.story import read_story, skin_motion, write_story
from risorius.io.take import folder_written, read_take, write_take
from risorius.maths.lowrank import compress
from risorius.maths.rotations import matrices
from risorius.skin.binding import apply
from risorius.skin.weights import bind, skin_of
from simple_torso import make_record, make_torso

ROOT = Path(__file__).resolve().parent.parent
TORSO = make_torso()
RECORD = make_record(TORSO, seconds=2.0)


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    folder = tmp_path_factory.mktemp("takes") / "one"
    return write_take(folder, TORSO, RECORD, run={"command": "perform calm", "seed": 0}, control_xml="<control/>\n")


def test_the_story_gives_torso_and_record_back(take):
    torso, record = read_story(take / "story.usdc")
    ours, theirs = flattened(TORSO), flattened(torso)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        same = np.array_equal(value, theirs[name]) if isinstance(value, np.ndarray) else value == theirs[name]
        assert same, name
    assert np.array_equal(record.time, RECORD.time)
    assert np.abs(record.position - RECORD.position).max() < 1e-11
    assert np.abs(matrices(record.rotation) - matrices(RECORD.rotation)).max() < 1e-11
    assert np.abs(record.points - RECORD.points).max() < 1e-7  # USD keeps points in single precision


def test_the_story_alone_is_enough_for_the_skin(take):
    torso, record = read_story(take / "story.usdc")
    mesh = skin_of(torso)
    again = apply(bind(mesh, torso), mesh.vertices, torso, record)
    assert np.abs(again - read_take(take).skin).max() < 1e-6


def usd_problems(path):
    from pxr import Usd, UsdValidation

    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 20
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    return [f"{error.GetName()}: {error.GetMessage()}" for error in errors]


def test_the_story_passes_every_usd_validator(take):
    assert usd_problems(take / "story.usdc") == []


def test_the_usd_validators_can_fail(tmp_path):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "bad.usda"))
    UsdGeom.Mesh.Define(stage, "/A")
    stage.GetRootLayer().Save()
    assert usd_problems(tmp_path / "bad.usda")


def test_the_story_has_the_contracts_prims_and_one_sample_a_frame(take):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(take / "story.usdc"))
    assert stage.GetDefaultPrim().GetPath() == "/Torso"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1 and UsdGeom.GetStageUpAxis(stage) == "Y"
    assert stage.GetTimeCodesPerSecond() == 25 and stage.GetEndTimeCode() == len(RECORD.time) - 1
    for name in TORSO.bodies.names:
        prim = stage.GetPrimAtPath(f"/Torso/Bones/{name}")
        assert prim.IsA(UsdGeom.Xform) and UsdGeom.Mesh(prim.GetChildren()[0])
        for op in UsdGeom.Xformable(prim).GetOrderedXformOps():
            assert op.GetNumTimeSamples() == len(RECORD.time)
    for name in ("Cavity", "Diaphragm", "ChestWall", "Skin"):
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/Torso/{name}"))
        assert mesh and mesh.GetPointsAttr().GetNumTimeSamples() == len(RECORD.time)
    for group in TORSO.groups:
        assert UsdGeom.BasisCurves(stage.GetPrimAtPath(f"/Torso/Muscles/{group}"))


def test_a_bone_of_the_story_is_where_the_record_has_it(take):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(take / "story.usdc"))
    k, frame = TORSO.bodies.names.index("rib7_r"), 30
    mesh = stage.GetPrimAtPath("/Torso/Bones/rib7_r/rib7_r")
    matrix = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(mesh))
    points = np.array(UsdGeom.Mesh(mesh).GetPointsAttr().Get(), dtype=float) @ matrix[:3, :3] + matrix[3, :3]
    wanted = TORSO.bodies.meshes[k].vertices @ matrices(RECORD.rotation[frame, k]).T + RECORD.position[frame, k]
    assert np.abs(points - wanted).max() < 1e-7


def volume(points, faces):
    corners = points[faces]
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def test_chest_and_abdomen_fill_the_trunk():
    surface, layers = TORSO.surface, Layers(TORSO)
    points = np.asarray(surface.points)
    chest = volume(points, layers.chest)
    assert chest > 0 and chest == pytest.approx(
        volume(points, surface.trunk) - volume(points, surface.abdomen), rel=1e-12
    )
    edges = np.concatenate([layers.chest[:, [0, 1]], layers.chest[:, [1, 2]], layers.chest[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    assert len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


def gltf_report(path):
    """The Khronos validator's report; a missing validator fails the test."""
    result = subprocess.run(["node", ROOT / "tests" / "validate_gltf.js", path], capture_output=True, text=True)
    assert result.returncode == 0, f"gltf-validator did not run (start.py check installs it): {result.stderr[-300:]}"
    return json.loads(result.stdout)


def test_the_glb_passes_the_khronos_validator(take):
    report = gltf_report(take / "take.glb")
    assert report["issues"]["numErrors"] == 0 and report["issues"]["numWarnings"] == 0, report["issues"]["messages"]
    assert report["info"]["hasSkins"] and report["info"]["animationCount"] == 1


def test_the_gltf_validator_can_fail(tmp_path, take):
    data = (take / "take.glb").read_bytes().replace(b'"VEC3"', b'"VEC9"', 1)
    (tmp_path / "bad.glb").write_bytes(data)
    assert gltf_report(tmp_path / "bad.glb")["issues"]["numErrors"] > 0


def test_the_glb_faces_plus_z_with_left_at_plus_x(take):
    from risorius.io.mesh import read_mesh

    mesh = read_mesh(take / "take.glb")
    chosen = mesh.indices[np.repeat(mesh.face_group == mesh.groups.index("rib7_r"), 3)]
    centre = mesh.vertices[np.unique(chosen)].mean(axis=0)
    x, y, z = TORSO.bodies.meshes[TORSO.bodies.names.index("rib7_r")].vertices.mean(axis=0)
    assert np.abs(centre - [-z, y, x]).max() < 1e-6
    points, faces = mesh.vertices, mesh.triangles()[0][mesh.face_group == mesh.groups.index("skull")]
    assert volume(points, faces) > 0  # turned, not mirrored


def test_playing_the_glbs_nodes_puts_the_bones_where_the_record_has_them(take):
    from risorius.io.gltf_build import TO_GLTF
    from risorius.io.mesh_gltf import Scene

    scene = Scene(take / "take.glb")
    asset, frame = scene.asset, 33
    animation = asset["animations"][0]
    for channel in animation["channels"]:
        target = channel["target"]
        if target["path"] != "weights":
            values = scene.accessor(animation["samplers"][channel["sampler"]]["output"])
            asset["nodes"][target["node"]][target["path"]] = values[frame].astype(float).tolist()
    worlds = scene.worlds()
    for k, name in enumerate(TORSO.bodies.names):
        node = next(number for number, entry in enumerate(asset["nodes"]) if entry.get("name") == name)
        pivot = TORSO.bodies.joint_point[k]
        spin = matrices(RECORD.rotation[frame, k])
        assert np.abs(worlds[node][:3, 3] - TO_GLTF @ (spin @ pivot + RECORD.position[frame, k])).max() < 1e-6, name
        assert np.abs(worlds[node][:3, :3] - TO_GLTF @ spin @ TO_GLTF.T).max() < 1e-6, name


def test_signals_stand_in_the_contracts_order_and_read_back(tmp_path):
    signals = {"act_b": np.array([0.5, 1 / 3]), "rib2_bucket_deg": np.zeros(2), "other_mm": np.array([1e-12, -0.0]),
               "rib1_pump_deg": np.ones(2), "act_a": np.zeros(2), "flow_lps": np.array([1e9, -2.5]),
               "time_s": np.array([0, 0.04])}  # fmt: skip
    write_signals(tmp_path / "s.csv", signals)
    names = list(read_signals(tmp_path / "s.csv"))
    assert names == ["time_s", "flow_lps", "act_b", "act_a", "rib1_pump_deg", "rib2_bucket_deg", "other_mm"]
    again = read_signals(tmp_path / "s.csv")
    for name, values in signals.items():
        assert np.allclose(again[name], values, rtol=1e-9, atol=0)
    assert "-0," not in (tmp_path / "s.csv").read_text()
    assert len(set(LEADING)) == 15


@pytest.mark.parametrize("text, line", [("", 1), ("a,b\n", 1), ("time_s,a\n0,1\n0,x\n", 3), ("time_s,a\n0\n", 2)])
def test_broken_signals_name_their_line(tmp_path, text, line):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(InputError, match=f"s\\.csv:{line}: expected"):
        read_signals(tmp_path / "s.csv")


def test_a_take_reads_back(take):
    found = read_take(take)
    assert found.control == "<control/>\n" and found.run["command"] == "perform calm"
    assert found.run["phases_s"].keys() >= {"skin", "story", "glb"} and found.run["warnings"] == []
    assert list(found.record.signals)[:2] == ["time_s", "lung_volume_l"]


def test_the_same_record_gives_the_same_bytes(tmp_path, take):
    other = write_take(tmp_path / "again", TORSO, RECORD, run={}, control_xml="<control/>\n")
    for name in ("story.usdc", "signals.csv", "take.glb", "control.xml"):
        assert (other / name).read_bytes() == (take / name).read_bytes(), name


def test_a_take_is_replaced_only_when_the_new_one_is_whole(tmp_path):
    folder = tmp_path / "t"
    write_take(folder, TORSO, RECORD, run={"command": "first"})

    def fails(_folder, _take, _progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_take(folder, TORSO, RECORD, run={"command": "second"}, drawers=[("page", 1.0, fails)])
    assert read_take(folder).run["command"] == "first"
    write_take(folder, TORSO, RECORD, run={"command": "third"})
    assert read_take(folder).run["command"] == "third"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


def test_a_lacking_machine_leaves_a_warning_and_the_rest(tmp_path):
    def lacks(_folder, _take, _progress):
        raise InputError("off-screen drawing needs EGL")

    folder = write_take(tmp_path / "t", TORSO, RECORD, run={}, drawers=[("video", 1.0, lacks)])
    assert read_take(folder).run["warnings"] == ["video: off-screen drawing needs EGL"]


def test_foreign_folders_are_not_replaced(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="is no take"):
        write_take(tmp_path / "home", TORSO, RECORD, run={})
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="got a file"):
        write_take(tmp_path / "file", TORSO, RECORD, run={})
    with pytest.raises(InputError, match="cannot be written"):
        write_take(tmp_path / "file" / "t", TORSO, RECORD, run={})
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("limit", [2_000, 60_000, 300_000])
def test_a_full_disk_leaves_nothing(tmp_path, limit):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(OutputError, match="could not be written"):
            write_take(tmp_path / "t", TORSO, RECORD, run={})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("phase", ["skin", "signals", "story", "glb", "page"])
def test_an_interrupt_leaves_nothing(tmp_path, phase):
    """Ctrl-C sent to another process while it stands in the midst of a phase: after its first progress, before its end."""
    code = (
        "import signal, sys, time; sys.path.insert(0, sys.argv[1])\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from simple_torso import make_record, make_torso\n"
        "from risorius.io.take import write_take\n"
        "def wait(name, part):\n"
        "    if name == sys.argv[3]: print('here', flush=True); time.sleep(600)\n"
        "def page(folder, take, part):\n"
        "    (folder / 'report.html').write_text('half'); part(0.5)\n"
        "torso = make_torso(); record = make_record(torso, seconds=1.0)\n"
        "write_take(sys.argv[2], torso, record, run={}, drawers=[('page', 1.0, page)], progress=wait)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code, ROOT / "tests", tmp_path / "t", phase],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout.readline() == "here\n"
    assert [entry.name.endswith(".part") for entry in tmp_path.iterdir()] == [True]
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode != 0
    assert not list(tmp_path.iterdir())


def test_a_block_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), folder_written(tmp_path / "t") as folder:
        (folder / "half").write_text("x")
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["truncate", "empty", "missing", "signals", "other"])
def test_broken_takes_are_refused_in_one_line(tmp_path, take, damage):
    import shutil

    folder = Path(shutil.copytree(take, tmp_path / "t"))
    story = folder / "story.usdc"
    if damage == "truncate":
        story.write_bytes(story.read_bytes()[: story.stat().st_size // 2])
    elif damage == "empty":
        story.write_bytes(b"")
    elif damage == "missing":
        story.unlink()
    elif damage == "signals":
        lines = (folder / "signals.csv").read_text().splitlines()[:-3]
        (folder / "signals.csv").write_text("\n".join(lines) + "\n")
    else:
        from pxr import Usd

        story.unlink()
        stage = Usd.Stage.CreateNew(str(story))
        stage.DefinePrim("/Torso")
        stage.GetRootLayer().Save()
        del stage
    with pytest.raises(InputError) as caught:
        read_take(folder)
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)


def test_euler_angles_give_the_rotation_back():
    random = np.random.default_rng(2)
    q = random.normal(size=(50, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    turn = matrices(q)

    def about(axis, degrees):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        out = np.tile(np.eye(3), (len(degrees), 1, 1))
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        out[:, i, i], out[:, j, j], out[:, i, j], out[:, j, i] = c, c, -s, s
        return out

    z, x, y = zxy_degrees(turn).T
    assert np.abs(about(2, z) @ about(0, x) @ about(1, y) - turn).max() < 1e-12
    x, y, z = xyz_degrees(turn).T
    assert np.abs(about(0, x) @ about(1, y) @ about(2, z) - turn).max() < 1e-12


def test_bvh_plays_the_skeleton_back(tmp_path):
    """A reader of our own walks the hierarchy and puts every joint where the record has it."""
    write_bvh(tmp_path / "a.bvh", TORSO, RECORD)
    words = iter((tmp_path / "a.bvh").read_text().split())
    stack, joints, last = [], {}, None
    for word in words:
        if word in ("ROOT", "JOINT"):
            last = next(words)
            joints[last] = stack[-1] if stack else None
        elif word == "End":
            next(words)
            last = "end"
        elif word == "{":
            stack.append(last)
        elif word == "}":
            stack.pop()
        elif word == "Time:":
            break
    next(words)
    table = np.array([float(word) for word in words]).reshape(len(RECORD.time), len(joints), 6)
    frame, worlds = 40, {}
    for k, (name, parent) in enumerate(joints.items()):
        shift, (z, x, y) = table[frame, k, :3], np.radians(table[frame, k, 3:])
        rz = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
        rx = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
        ry = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = rz @ rx @ ry, shift
        worlds[name] = worlds[parent] @ local if parent else local
    for k, name in enumerate(TORSO.bodies.names):
        x, y, z = matrices(RECORD.rotation[frame, k]) @ TORSO.bodies.joint_point[k] + RECORD.position[frame, k]
        assert np.abs(worlds[name][:3, 3] / 100 - [-z, y, x]).max() < 1e-6, name


def test_mot_has_as_many_rows_and_columns_as_it_says(tmp_path):
    write_mot(tmp_path / "a.mot", TORSO, RECORD)
    lines = (tmp_path / "a.mot").read_text().splitlines()
    end = lines.index("endheader")
    head = dict(line.split("=") for line in lines[1:end])
    names, rows = lines[end + 1].split("\t"), lines[end + 2 :]
    assert int(head["nRows"]) == len(rows) == len(RECORD.time)
    assert int(head["nColumns"]) == len(names) == len(rows[0].split("\t"))
    assert "rib7_r_rz" in names and head["inDegrees"] == "yes"


def test_few_shapes_keep_their_promise():
    random = np.random.default_rng(8)
    shapes, amounts = random.normal(size=(3, 50, 3)), np.cumsum(random.normal(size=(400, 3)), axis=0) / 20
    rest = random.normal(size=(50, 3))
    points = rest + np.einsum("fk,kni->fni", amounts, shapes)
    found = compress(rest, points, tolerance=1e-9)
    assert len(found.shapes) == 3 and found.error <= 1e-9
    again = rest + np.einsum("fk,kni->fni", found.amounts, found.shapes)
    assert np.abs(again - points).max() < 1e-9
    rough = compress(rest, points, tolerance=0.5 * np.abs(points - rest).max())
    assert len(rough.shapes) < 3


def morphed(path, name, frame):
    """Vertices of a node's mesh with its morph targets as the animation has them in a frame, and all weights."""
    from risorius.io.mesh_gltf import Scene

    scene = Scene(path)
    asset = scene.asset
    animation = asset["animations"][0]
    for channel in animation["channels"]:
        node = asset["nodes"][channel["target"]["node"]]
        if channel["target"]["path"] == "weights" and node["name"] == name:
            primitive = asset["meshes"][node["mesh"]]["primitives"][0]
            targets = [scene.accessor(target["POSITION"]) for target in primitive["targets"]]
            weights = scene.accessor(animation["samplers"][channel["sampler"]]["output"]).reshape(-1, len(targets))
            base = scene.accessor(primitive["attributes"]["POSITION"])
            return base + np.tensordot(weights[frame].astype(float), np.array(targets, dtype=float), 1), weights
    raise AssertionError(f"{name} has no moving weights")


def test_morph_targets_stay_within_what_hosts_play(tmp_path):
    """Blender cuts weights off at 0 and 1; within these the diaphragm, and a skin of one's own, go where they should."""
    from risorius.io.gltf import write_morphed_glb
    from risorius.io.gltf_build import TO_GLTF

    error = 1e-3 * write_glb(tmp_path / "a.glb", TORSO, RECORD)["diaphragm_error_mm"]
    frame = 40
    found, weights = morphed(tmp_path / "a.glb", "Diaphragm", frame)
    assert weights.min() >= 0.0 and weights.max() <= 1.0
    used = np.unique(Layers(TORSO).diaphragm)
    assert np.abs(found - RECORD.points[frame, used] @ TO_GLTF.T).max() < error + 1e-6
    mesh = skin_of(TORSO)
    points = skin_motion(TORSO, RECORD)
    few, _ = write_morphed_glb(tmp_path / "b.glb", mesh, points, RECORD.time, to_metres=np.eye(4), tolerance=1e-4)
    found, weights = morphed(tmp_path / "b.glb", "mesh", frame)
    assert weights.min() >= 0.0 and weights.max() <= 1.0
    assert np.abs(found - points[frame]).max() < few.error + 1e-6


def test_every_part_of_the_diaphragm_moves_with_the_record(tmp_path):
    figures = write_glb(tmp_path / "a.glb", TORSO, RECORD)
    assert figures["diaphragm_error_mm"] < 0.3
    write_story(tmp_path / "a.usdc", TORSO, RECORD, skin_motion(TORSO, RECORD))
    _, record = read_story(tmp_path / "a.usdc")
    assert np.ptp(record.points[..., 1], axis=0).max() > 0.02


def test_a_ball_stands_in_the_story_and_the_take(tmp_path):
    from pxr import Usd, UsdGeom

    from risorius.core.record import BALL

    frames = len(RECORD.time)
    course = np.stack([300.0 - np.arange(frames), np.full(frames, 90.0), np.zeros(frames), np.full(frames, 80.0)])
    course[:, :10] = 0.0
    with_ball = replace(RECORD, signals={**RECORD.signals, **dict(zip(BALL, course))})
    folder = write_take(tmp_path / "ball", TORSO, with_ball, run={})
    assert usd_problems(folder / "story.usdc") == []
    stage = Usd.Stage.Open(str(folder / "story.usdc"))
    ball = UsdGeom.Sphere(stage.GetPrimAtPath("/Torso/Ball"))
    assert ball.GetRadiusAttr().Get() == pytest.approx(0.08)
    assert ball.ComputeVisibility(9) == "invisible" and ball.ComputeVisibility(10) == "inherited"
    place = ball.ComputeLocalToWorldTransform(20).ExtractTranslation()
    assert tuple(place) == pytest.approx((0.280, 0.090, 0.0))
    assert read_take(folder).record.ball == pytest.approx(1e-3 * course.T)
    assert read_take(folder).record.ball is not None and RECORD.ball is None


def test_a_story_within_a_tolerance_is_smaller_and_keeps_to_it(tmp_path, take):
    from risorius.io.story import key_frames, read_skin

    skin = skin_motion(TORSO, RECORD)
    write_story(tmp_path / "small.usdc", TORSO, RECORD, skin, tolerance=2e-4)
    frames = len(RECORD.time)
    kept = key_frames(skin, 2e-4)
    assert kept[0] == 0 and kept[-1] == frames - 1 and len(kept) < 0.5 * frames
    assert (tmp_path / "small.usdc").stat().st_size < 0.8 * (take / "story.usdc").stat().st_size
    missed = np.linalg.norm(read_skin(tmp_path / "small.usdc", TORSO, frames) - skin, axis=2)
    assert 0.0 < missed.max() <= 2.01e-4
    assert usd_problems(tmp_path / "small.usdc") == []
    _, record = read_story(tmp_path / "small.usdc")
    assert np.abs(record.points - RECORD.points).max() < 1e-7  # what a skin is made from keeps every frame
