"""The hand: bones and units, animations in, tracking, the take, the skin by strands; published experiments."""

import json
from dataclasses import replace

import numpy as np
import pytest

from risorius.anatomy.hand.model import build_hand
from risorius.anatomy.hand.motions import motion, motion_names
from risorius.anatomy.hand.retarget import HandMotion, retarget
from risorius.anatomy.hand.rigs import find_rig, mirrored, sided
from risorius.anatomy.hand.skeleton import build_skeleton
from risorius.anatomy.hand.units import build_units, lengths, string_arms
from risorius.app import hand_truth
from risorius.app.hand import hand, read_motion
from risorius.cli.main import main
from risorius.core.clip import Clip
from risorius.core.errors import InputError
from risorius.core.hand import vertex_errors
from risorius.io.clip import read_clip
from risorius.io.clip_xml import write_clip
from risorius.io.signals import read_signals
from risorius.sim.hand import track
from risorius.skin.strands import HandBinding, Lift, carried, lifted

MODEL = build_hand()
SKELETON = MODEL.skeleton
TURNS = SKELETON.turn_names
UNITS = {"FDP2", "FDS3", "EDC4", "EPL", "APL_a", "APL_b", "DI1_deep", "DI1_hood", "FPL", "EIP", "EDM_a", "EDM_b", "LUM1",
         "PI3", "APB", "OP", "ADM", "FDM", "ODM", "PT", "PQ", "SUP", "BR", "ECU", "FCR", "PL"}  # fmt: skip


def clip_of(skeleton, angles, names=None, spin=None, shift=0.0, scale=1.0):
    """Joints of a hand in a pose, as a file would bring them."""
    spin = np.eye(3) if spin is None else spin
    turn, place = skeleton.poses(angles)
    origin = np.einsum("fbij,bj->fbi", turn, skeleton.joint) + place
    still = np.tile(np.eye(3), (len(skeleton.names), 1, 1))
    return Clip(tuple(names or skeleton.names), skeleton.parent, np.arange(len(angles)) / 60.0,
                (origin @ spin.T + shift) * scale, spin @ turn, np.asarray(skeleton.joint), still)  # fmt: skip


def planted(count, seed=3):
    """Random poses within the middle of every range, fingers apart from their limits."""
    low, high = SKELETON.limits.T
    share = np.random.default_rng(seed).uniform(0.25, 0.75, (count, len(TURNS)))
    angles = low + share * (high - low)
    for name in ("pronation", "wrist_flexion", "wrist_deviation", "cmc4_flexion", "cmc5_flexion"):
        angles[:, TURNS.index(name)] = 0.0
    return angles


def test_a_hand_has_54_units_on_the_contracts_bodies():
    units = build_units(SKELETON)
    names = [unit.name for unit in units]
    assert len(names) == len(set(names)) == 54 and set(names) >= UNITS
    wanted = {"radius", "hand", "metacarpal1", "metacarpal4", "metacarpal5", "proximal1", "distal1"}
    wanted |= {f"{bone}{k}" for bone in ("proximal", "middle", "distal") for k in (2, 3, 4, 5)}
    assert wanted <= set(SKELETON.names)
    assert all((np.linalg.norm(np.diff(unit.point, axis=0), axis=1) > 1e-4).all() for unit in units)


def test_the_left_hand_is_the_mirror_image_in_every_pose():
    left = build_skeleton("left")
    angles = np.random.default_rng(1).uniform(*SKELETON.limits.T, (4, len(TURNS)))
    ours = lengths(SKELETON, build_units(SKELETON), angles)
    assert np.abs(lengths(left, build_units(left), angles) - ours).max() < 1e-12


def test_a_hand_scales_with_its_length():
    small = build_skeleton("right", 0.5 * SKELETON.length)
    arms = string_arms(SKELETON, build_units(SKELETON), np.zeros(len(TURNS)))
    assert np.allclose(string_arms(small, build_units(small), np.zeros(len(TURNS))), 0.5 * arms, atol=1e-7)
    with pytest.raises(InputError, match=r"expected 0\.08 to 0\.3"):
        build_skeleton("right", 3.0)


def test_strands_meet_their_rings():
    """The drawn curves pass through every ring of their route."""
    from risorius.anatomy.hand.model import curve_weights

    for slide in MODEL.strands.slides:
        strand = MODEL.strands.strand(slide.strand)
        place = curve_weights(np.array([slide.parameter]), len(strand.points)) @ strand.points
        assert np.linalg.norm(place[0] - slide.point) < 1e-6, slide.strand


@pytest.mark.parametrize("scale, seed", [(1.0, 0), (100.0, 1)])
def test_retargeting_finds_planted_angles_in_any_place_and_unit(scale, seed):
    angles = planted(5)
    random = np.random.default_rng(seed)
    spin = np.linalg.qr(random.normal(size=(3, 3)))[0]
    spin *= np.sign(np.linalg.det(spin))
    clip = clip_of(SKELETON, angles, spin=spin, shift=random.normal(size=3), scale=scale)
    found = retarget(SKELETON, clip, find_rig(clip))
    assert np.degrees(np.abs(found.angles - angles)).max() < 0.3
    assert found.report["direction_error_worst_deg"] < 0.2 and found.report["joint_error_worst_mm"] < 0.3


def test_retargeting_stays_within_the_limits():
    angles = planted(3)
    angles[:, TURNS.index("pip2_flexion")] = np.radians(150)
    clip = clip_of(SKELETON, angles)
    found = retarget(SKELETON, clip, find_rig(clip))
    assert (found.angles >= SKELETON.limits[:, 0] - 1e-9).all() and (found.angles <= SKELETON.limits[:, 1] + 1e-9).all()
    assert found.report["direction_error_worst_deg"] > 5


def test_the_side_is_seen_and_left_handed_axes_are_mirrored():
    angles = planted(4)
    for name in ("mcp", "pip", "dip"):
        for k in (2, 3, 4, 5):
            angles[:, TURNS.index(f"{name}{k}_flexion")] = 0.6
    clip = clip_of(SKELETON, angles)
    assert sided(clip, find_rig(clip))[1] == "right"
    assert sided(mirrored(clip), find_rig(clip))[1] == "left"
    again, side, warnings = sided(mirrored(clip), find_rig(clip), "right")
    assert side == "right" and warnings and np.allclose(again.position, clip.position)


@pytest.mark.parametrize(
    "rig, side", [("mixamo", "left"), ("rigify", "right"), ("makehuman", "left"), ("webxr", None), ("capture-17", None)]
)
def test_rigs_are_known_by_their_names(rig, side):
    from risorius.anatomy.tables import table

    entry = next(entry for entry in table("hand_rigs")["rigs"] if entry["name"] == rig)
    names = [name.format(side=entry.get("sides", {}).get(side, "")) for name in entry["joints"].values()]
    names = [
        f"Armature|mixamorig:{name}" if rig == "mixamo" else f"DEF-{name}" if rig == "rigify" else name
        for name in names
    ]
    zero = np.zeros((1, len(names), 3))
    clip = Clip(
        tuple(names),
        np.full(len(names), -1, np.int32),
        np.zeros(1),
        zero,
        np.zeros((1, len(names), 3, 3)),
        zero[0],
        np.zeros((len(names), 3, 3)),
    )
    found = find_rig(clip, side)
    assert found.name == rig and found.side == side and set(found.joint) == set(entry["joints"])
    with pytest.raises(InputError, match="lacks"):
        find_rig(replace(clip, names=("a",) * len(names)))


def test_keyframes_in_xml_come_back(tmp_path):
    clip = clip_of(SKELETON, planted(13))
    clip = replace(clip, time=np.arange(13) / 120.0)
    write_clip(tmp_path / "a.xml", clip)
    again = read_clip(tmp_path / "a.xml")
    assert again.names == clip.names and np.allclose(again.time, clip.time)
    assert np.abs(again.position - clip.position).max() < 1e-6 and np.abs(again.rotation - clip.rotation).max() < 1e-6


BVH = """HIERARCHY
ROOT a
{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
 JOINT b
 {
  OFFSET 0 2 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  End Site
  {
   OFFSET 0 1 0
  }
 }
}
MOTION
Frames: 2
Frame Time: 0.5
1 2 3 0 0 0 0 0 0
1 2 3 90 0 0 0 0 0
"""


def test_bvh_is_read_by_its_channels(tmp_path):
    (tmp_path / "a.bvh").write_text(BVH)
    clip = read_clip(tmp_path / "a.bvh")
    assert np.allclose(clip.position[:, 1], [[1, 4, 3], [-1, 2, 3]]) and np.allclose(clip.ends[1], [0, 1, 0])
    assert clip.rate == 2


@pytest.mark.parametrize("old, new, message", [
    ("Frames: 2", "Frames: 0", "at least one frame"), ("90 0", "nan 0", "a.bvh:20: expected 9 finite"),
    ("Frame Time: 0.5", "Frame Time: -1", "above 0 s"), ("Frames: 2", "Frames: 3", "expected 3 rows"),
    ("JOINT b", "JOINTS b", "a.bvh:6: expected JOINT"), ("OFFSET 0 2 0", "OFFSET 0 2 x", "a.bvh:8"),
    ("1 2 3 90 0", "1 2 3 90", "expected 9"),
])  # fmt: skip
def test_broken_bvh_is_refused_with_its_line(tmp_path, old, new, message):
    (tmp_path / "a.bvh").write_text(BVH.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_clip(tmp_path / "a.bvh")


def test_a_file_without_a_hand_says_what_is_missing(tmp_path, capsys):
    (tmp_path / "a.bvh").write_text(BVH)
    assert main(["hand", str(tmp_path / "a.bvh"), "-o", str(tmp_path / "t")]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and "mapping file" in shown and not (tmp_path / "t").exists()
    assert main(["hand", "nothing", "-o", str(tmp_path / "t")]) == 2
    assert main(["hand", "fist", "-o", str(tmp_path / "t"), "--start", "99"]) == 2


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    return hand("pointing", tmp_path_factory.mktemp("hands") / "pointing", video=False)


def test_pointing_is_tracked_within_the_papers_errors(take):
    run = json.loads((take / "run.json").read_text())
    assert run["tracking_error_mean_mm"] <= 1 and run["tracking_error_worst_mm"] <= 5
    signals = read_signals(take / "signals.csv")
    activation = np.stack([values for name, values in signals.items() if name.startswith("act_")])
    assert activation.shape[0] == 54 and activation.min() >= 0 and activation.max() <= 1
    assert np.abs(np.diff(activation, axis=1)).max() <= 0.2 and np.allclose(np.diff(signals["time_s"]), 1 / 60)


def test_the_take_passes_the_official_validators(take):
    from test_take import gltf_report, usd_problems

    assert usd_problems(take / "hand.usdc") == []
    report = gltf_report(take / "hand.glb")
    assert report["issues"]["numErrors"] == 0 and report["issues"]["numWarnings"] == 0


def test_the_take_has_the_contracts_prims(take):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(take / "hand.usdc"))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1 and UsdGeom.GetStageUpAxis(stage) == "Y"
    for name in SKELETON.names:
        assert stage.GetPrimAtPath(f"/Hand/Bones/{name}") and stage.GetPrimAtPath(f"/Hand/Target/{name}")
    for unit in MODEL.units:
        curves = UsdGeom.BasisCurves(stage.GetPrimAtPath(f"/Hand/Strands/{unit.name}"))
        assert len(curves.GetWidthsAttr().Get()) == len(curves.GetPointsAttr().Get(0))


@pytest.mark.parametrize("name", ["hand.usdc", "hand.glb", "hand.xml"])
def test_a_take_is_an_animation_again(take, name):
    """What was written is read back as an animation and gives the same angles."""
    _, found, told = read_motion(take / name, side=None, length="male", mapping=None, start=0.0, seconds=None)
    wanted = motion(SKELETON, "pointing")
    times = found.time
    angles = np.stack([np.interp(times, wanted.time, column) for column in wanted.angles.T], axis=1)
    fingers = [k for k, turn in enumerate(TURNS) if turn.startswith(("mcp", "pip"))]
    assert told["rig"] == "risorius"
    assert np.degrees(np.abs(found.angles - angles)[:, fingers]).mean() < 2


def test_targets_that_jump_or_leave_the_limits_give_a_bounded_motion():
    wild = motion(SKELETON, "wave")
    angles = np.where(
        (np.arange(len(wild.time)) // 20 % 2)[:, None] == 0, SKELETON.limits[:, 0] - 1, SKELETON.limits[:, 1] + 1
    )
    still = replace(
        wild,
        time=wild.time[:100],
        angles=angles[:100],
        root_rotation=wild.root_rotation[:100],
        root_position=wild.root_position[:100],
    )
    record, result = track(MODEL, still, smooth=None)
    assert np.isfinite(record.points).all() and np.abs(record.points).max() < 1.5
    assert result.smooth <= 0.2
    held = HandMotion(np.zeros(1), wild.angles[:1], wild.root_rotation[:1], wild.root_position[:1])
    record, _ = track(MODEL, held)
    assert len(record.time) > 10 and vertex_errors(record)[1] < 5


def test_equation_19_over_a_straight_strand():
    """A flat skin over a straight strand at depth e: the lift is w a (c − e) exp(−x²/2b²)."""
    x = np.linspace(-6e-3, 6e-3, 25)
    points = np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=1)
    normal = np.tile([0.0, 1.0, 0.0], (25, 1))
    strand = np.stack([np.zeros(2001), np.full(2001, -2e-3), np.linspace(-0.05, 0.05, 2001)], axis=1)
    lift, paint = Lift(0.8, 1.5e-3, 5e-3), np.linspace(0, 1, 25)
    moved, rise = lifted(points, normal, strand, paint, lift)
    assert np.allclose(rise, paint * 0.8 * 3e-3 * np.exp(-(x**2) / (2 * 1.5e-3**2)), atol=1e-12)
    assert np.allclose(moved - points, rise[:, None] * normal)
    assert (lifted(points, normal, strand - [0, 5e-3, 0], paint, lift)[1] == 0).all()


def test_a_skin_moves_with_its_only_bone():
    points = np.random.default_rng(0).normal(size=(20, 3))
    body, weight = np.zeros((20, 4), np.int32), np.tile([1.0, 0, 0, 0], (20, 1))
    binding = HandBinding(points, body, weight, np.zeros((0, 3), np.int32), np.ones(20))
    spin = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert np.allclose(carried(binding, spin[None], np.ones((1, 3))), points @ spin.T + 1)


def test_moment_arms_and_excursions_are_those_of_published_fingers():
    assert hand_truth.bar26(MODEL)["passed"]
    found = hand_truth.bar27(MODEL)
    assert (
        found["passed"]
        and abs(found["fdp_virtual_work_error_pct"]) < 2
        and abs(found["fds_virtual_work_error_pct"]) < 2
    )


@pytest.mark.nightly
@pytest.mark.parametrize("bar", [hand_truth.bar29, hand_truth.bar30])
def test_published_experiments(bar):
    assert bar(MODEL)["passed"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", motion_names())
def test_examples_are_tracked(name):
    record, result = track(MODEL, motion(SKELETON, name))
    mean, worst = vertex_errors(record)
    assert mean <= 1 and worst <= 5 and result.smooth <= 0.2


@pytest.mark.nightly
def test_captured_hands_are_read_and_retargeted(shared_data):
    for file in sorted((shared_data / "hands").glob("*.bvh")):
        model, found, told = read_motion(file, side=None, length="male", mapping=None, start=1.0, seconds=2.0)
        assert model.skeleton.side in file.stem.lower() and told["rig"] == "capture-17"
        assert found.report["direction_error_mean_deg"] < 8


def test_webxr_hands_get_a_skin_and_recorded_poses_are_read(shared_data):
    from risorius.app.hand import bind
    from risorius.io.mesh import read_mesh

    for side in ("left", "right"):
        file = shared_data / "skins" / "webxr_hand" / "generic-hand" / f"{side}.glb"
        model = build_hand(side)
        given = read_mesh(file)
        binding = bind(model, given, file, None)
        assert np.allclose(binding.weight.sum(axis=1), 1)
        tip = model.skeleton.tips[3]
        assert np.linalg.norm(binding.points - tip, axis=1).min() < 8e-3  # the skin reaches round the fingertip
    clip = read_clip(shared_data / "hands" / "poses" / "iwer" / "point.js")
    clip, side, _ = sided(clip, find_rig(clip))
    found = retarget(build_skeleton(side), clip, find_rig(clip))
    angles = dict(zip(TURNS, np.degrees(found.angles[0])))
    assert angles["pip2_flexion"] < 30 < angles["pip3_flexion"]
