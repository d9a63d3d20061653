"""The controller, runs and the strand document: planted activations found again, exact QPs, H against differences."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.cli.main import main
from risorius.core import xml
from risorius.core.errors import InputError
from risorius.core.strands import Joint, Motion, PointTarget, PoseTarget
from risorius.io.strand_file import StrandDocument, parse_strands, read_strands, to_element, write_strands
from risorius.sim.strands import Settings, run
from risorius.strands import examples
from risorius.strands.control import Controller, Weights, box_minimum
from risorius.strands.laws import hill
from risorius.strands.motions import rotation_matrix
from risorius.strands.stepper import Stepper
from risorius.strands.system import assemble

H = 1 / 120


def rehearsed(model, seconds, waves):
    """Targets that a model can reach: what it does under `waves` (time -> activations)."""
    stepper = Stepper(assemble(model))
    state = stepper.rest()
    times, rotations, places = [0.0], [state.rotation.copy()], [state.place.copy()]
    for _ in range(round(seconds / H)):
        stepper.advance(state, H, waves(state.time))
        times.append(state.time)
        rotations.append(state.rotation.copy())
        places.append(state.place.copy())
    times, rotations, places = np.array(times), np.array(rotations), np.array(places)
    names = stepper.system.names
    return [PoseTarget(Motion(name, times, rotations[:, k], places[:, k])) for k, name in enumerate(names)]


def flexing(angles, times=(0.0, 1.0, 2.0)):
    rotations = np.array([rotation_matrix(np.array([0.0, 0.0, -angle])) for angle in angles])
    return Motion("proximal", np.array(times), rotations, np.zeros((len(times), 3)))


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_box_minimum_meets_the_optimality_conditions(seed, count):
    chance = np.random.default_rng(seed)
    factor = chance.normal(size=(count, max(1, count // 2))) * 10.0 ** chance.uniform(-2, 2)
    matrix = factor @ factor.T + 1e-2 * np.eye(count)
    vector = chance.normal(size=count) * 10.0 ** chance.uniform(-2, 2)
    low = chance.uniform(0, 0.3, count)
    high = low + chance.uniform(0, 0.7, count)
    a = box_minimum(matrix, vector, low, high)
    slope = matrix @ a + vector
    scale = 1e-6 * (np.abs(vector).max() + np.abs(matrix).max())
    assert (a >= low).all() and (a <= high).all()
    assert (slope[a > low + 1e-9] <= scale).all() and (slope[a < high - 1e-9] >= -scale).all()


def test_h_matrix_against_finite_differences():
    """H a + v_f are the speeds after the step, for any a; and to first order of the step that uses a throughout."""
    stepper = Stepper(assemble(examples.finger()))
    state = stepper.rest()
    for _ in range(60):
        stepper.advance(state, H, [0.1, 0.12])
    base = np.array([0.1, 0.12])
    stepper.gather(state.copy(), H, base)
    response, free = (part.copy() for part in stepper.respond())
    for chosen in (base, np.array([0.12, 0.1])):
        after = state.copy()
        stepper.gather(after, H, base)
        stepper.finish(after, chosen)
        assert free + response @ chosen == pytest.approx(after.speed, abs=1e-9)
    h, width = 1e-3, 1e-4
    stepper.gather(state.copy(), h, base)
    response = stepper.respond()[0].copy()
    for k in range(2):
        step = width * np.eye(2)[k]
        ahead = stepper.advance(state.copy(), h, base + step).speed
        behind = stepper.advance(state.copy(), h, base - step).speed
        assert (ahead - behind) / (2 * width) == pytest.approx(
            response[:, k], rel=0.03, abs=0.02 * np.abs(response).max()
        )


def test_planted_motion_of_a_whole_hand_is_followed():
    """Mean error under a tenth, worst under one millimetre and a half; activations within 0.2 a frame."""
    model = examples.mechanical_hand()
    chance = np.random.default_rng(0)
    rate, size = chance.uniform(0.3, 1.0, 54), chance.uniform(0.0, 0.2, 54)
    targets = rehearsed(model, 1.5, lambda time: 0.01 + size * (0.5 - 0.5 * np.cos(2 * np.pi * rate * time)))
    result = run(model, 1.5, targets=targets, settings=Settings(settle=0.0))
    assert 1e3 * result.distance[1:].mean() < 0.3
    assert 1e3 * result.distance.max() < 2.0
    assert np.abs(np.diff(result.activations, axis=0)).max() <= 0.2 + 1e-9
    assert not result.shortfalls


def test_tone_is_a_floor_and_a_cut_strand_does_nothing():
    targets = [PoseTarget(flexing((0.0, 0.6, 0.6)))]
    model = examples.finger()
    result = run(model, 1.5, targets=targets, settings=Settings(tone=0.05))
    assert result.activations.min() >= 0.05 - 1e-12
    cut = run(model, 1.5, targets=targets, settings=Settings(tone=0.05, strength=[0.0, 1.0]))
    assert cut.activations[:, 0].max() == 0.0
    assert cut.distance[-1, 0] > 3 * result.distance[-1, 0]


def test_stiffness_of_tone():
    """Muscle tone stiffens: the same push moves a co-contracted finger less."""
    moved = []
    for tone in (0.02, 0.3):
        stepper = Stepper(assemble(examples.finger()))
        state = stepper.rest()
        for _ in range(240):
            stepper.advance(state, H, tone)
        before = state.angle.copy()
        state.momentum[2, 4] += 2e-3
        peak = 0.0
        for _ in range(30):
            stepper.advance(state, H, tone)
            peak = max(peak, np.abs(state.angle - before).max())
        moved.append(peak)
    assert moved[1] < 0.7 * moved[0]


def test_point_target_is_reached():
    model = examples.finger()
    stepper = Stepper(assemble(model))
    state = stepper.rest()
    for _ in range(360):
        stepper.advance(state, H, [0.06, 0.05])
    tip = model.bodies[2].centre
    goal = state.rotation[2] @ tip + state.place[2]
    times = np.array([0.0, 1.0])
    target = PointTarget("distal", tip, times, np.array([tip, goal]))
    result = run(model, 3.0, targets=[target])
    assert 1e3 * result.distance[-1, 0] < 1.0


def test_targets_out_of_reach_are_named_with_how_far():
    """Beyond the joint's limit: the closest motion, and a report of where and by how much."""
    result = run(examples.finger(), 2.5, targets=[PoseTarget(flexing((0.0, -1.2, -1.2)))])
    worst = max(result.shortfalls, key=lambda item: item.angle)
    assert worst.body == "proximal" and worst.angle > 0.5 and "proximal" in worst.joints
    assert "mm" in str(worst) and "at the limit" in str(worst)
    assert result.angles[-1, 0] == pytest.approx(-0.3, abs=0.15)


@pytest.mark.parametrize("angles", [(0.0, 3.0, -3.0), (np.pi, np.pi, 0.0), (0.0, 1e-9, 1.0)])
def test_jumping_targets_stay_bounded(angles):
    motion = flexing(angles, (0.0, 1e-4, 1.0))
    result = run(examples.finger(), 1.5, targets=[PoseTarget(motion)])
    assert np.isfinite(result.points).all() and np.abs(result.points).max() < 0.5
    assert np.abs(result.angles).max() < 2.5
    assert np.abs(np.diff(result.activations, axis=0)).max() <= 0.2 + 1e-9


def test_far_away_targets_stay_bounded():
    still = Motion("distal", np.array([0.0]), np.eye(3)[None], np.array([[5.0, 80.0, -3.0]]))
    result = run(examples.finger(), 1.0, targets=[PoseTarget(still)])
    assert np.isfinite(result.points).all() and np.abs(result.points).max() < 0.5


def test_driven_base_carries_the_model():
    """The whole finger on a base that the animation moves: strands stay whole, joints stay where they are."""
    model = examples.finger()
    base = replace(model.bodies[0], name="base", centre=np.array([-0.05, 0.0, 0.0]), mesh=None)
    joints = (Joint("base", kind="driven"), replace(model.joints[0], parent="base"), *model.joints[1:])
    moved = replace(
        model, bodies=(base, *model.bodies), joints=joints,
        attachments=tuple(replace(x, body=x.body or "base") for x in model.attachments),
        slides=tuple(replace(x, body=x.body or "base") for x in model.slides),
    )  # fmt: skip
    turns = np.array([rotation_matrix(np.array([0.0, angle, 0.0])) for angle in (0.4, 0.4, 1.2)])
    motion = Motion("base", np.array([0.0, 0.2, 1.0]), turns, np.array([[0, 0.1, 0], [0, 0.1, 0], [0.2, 0.3, 0]]))
    result = run(moved, 1.2, driven=[motion], activation=0.05)
    last = result.motion("base")
    assert last.rotations[-1] == pytest.approx(turns[-1]) and last.translations[-1] == pytest.approx([0.2, 0.3, 0])
    assert np.abs(result.angles).max() < 1.7 and np.isfinite(result.points).all()


def document():
    model = examples.mechanical_hand()
    law = hill()
    first = replace(
        model.strands[0], tissues=tuple(replace(t, law=law) for t in model.strands[0].tissues), group="flexor"
    )
    model = replace(model, strands=(first, *model.strands[1:]))
    motion = Motion("hand", np.array([0.0, 0.3]), np.array([np.eye(3), rotation_matrix(np.array([0.1, 0.2, 1 / 3]))]),
                    np.array([[0.0, 0, 0], [0.1, 1 / 3, 0]]))  # fmt: skip
    point = PointTarget("distal2", np.array([0.1, 0, 0.02]), np.array([0.0]), np.array([[0.1, 1e-17, 0.02]]), 2.0)
    return StrandDocument(model, (PoseTarget(motion), point), (replace(motion, body="radius"),))


def test_document_is_exact_both_ways(tmp_path):
    write_strands(tmp_path / "one.xml", document())
    again = read_strands(tmp_path / "one.xml")
    write_strands(tmp_path / "two.xml", again)
    assert (tmp_path / "one.xml").read_bytes() == (tmp_path / "two.xml").read_bytes()
    mine, theirs = document().model, again.model
    for one, other in zip(mine.strands, theirs.strands):
        assert (one.points == other.points).all() and (one.radius == other.radius).all()
    assert (theirs.strands[0].tissues[0].law.active == mine.strands[0].tissues[0].law.active).all()
    assert (mine.joints[1].low == theirs.joints[1].low).all() and mine.joints[1].kind == theirs.joints[1].kind
    stepper, other = Stepper(assemble(mine)), Stepper(assemble(theirs))
    assert (stepper.advance(stepper.rest(), H, 0.1).points == other.advance(other.rest(), H, 0.1).points).all()


def test_document_runs_from_the_command_line(tmp_path, capsys):
    motion = flexing((0.0, 0.3, 0.3), (0.0, 0.5, 0.6))
    write_strands(tmp_path / "finger.xml", StrandDocument(examples.finger(), (PoseTarget(motion),)))
    assert main(["strands", str(tmp_path / "finger.xml"), "-o", str(tmp_path / "out.xml"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["frames"] == 37 and figures["error_worst_mm"] < 5.0
    moved = read_strands(tmp_path / "out.xml")
    assert moved.track is not None and moved.track.activations.shape == (37, 2)
    assert {motion.body for motion in moved.simulated} == {"proximal", "middle", "distal"}
    assert np.isfinite(moved.track.points[0]).all()


@pytest.mark.parametrize("change, words", [
    (("mass=", "weight="), "weight"),
    (('kind="hinge"', 'kind="screw"'), "screw"),
    (('body="distal"', 'body="nobody"'), "nobody"),
    (("<points>", "<points>nan "), "nan"),
    (("<points>", "<points>1.0 "), "rows of 3"),
    (('parameter="0.0"', 'parameter="7"'), "0…1"),
    (('version="1"', 'version="9"'), "version 1"),
    (('stiffness="300.0"', 'stiffness="-1"'), "stiffness"),
    (("<strands ", "<!DOCTYPE x><strands "), "document types"),
])  # fmt: skip
def test_documents_that_say_something_else_are_refused(tmp_path, capsys, change, words):
    text = xml.write(to_element(StrandDocument(examples.finger())))
    assert change[0] in text
    (tmp_path / "bad.xml").write_text(text.replace(*change, 1))
    assert main(["strands", str(tmp_path / "bad.xml"), "-o", str(tmp_path / "out.xml")]) == 2
    complaint = capsys.readouterr().err
    assert words in complaint and "bad.xml" in complaint and complaint.count("\n") == 1
    assert not (tmp_path / "out.xml").exists()


@given(st.data())
def test_damaged_documents_are_refused_or_read(data):
    """Any byte changed, cut or doubled: a message or a model, never a traceback."""
    text = bytearray(xml.write(to_element(StrandDocument(examples.crank()))).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        change = data.draw(st.sampled_from(["set", "cut", "double"]))
        if change == "set":
            text[at] = data.draw(st.integers(0, 255))
        elif change == "cut":
            del text[at : at + data.draw(st.integers(1, 40))]
        else:
            text[at:at] = text[at : at + 30]
        if not text:
            text = bytearray(b"<")
    try:
        parse_strands(bytes(text))
    except InputError as error:
        assert "\n" not in str(error)


def test_settings_that_cannot_be_are_refused():
    for build in (lambda: Weights(activation=-1.0), lambda: Weights(target=np.nan), lambda: Weights(rate=0.0),
                  lambda: run(examples.finger(), 0.0), lambda: run(examples.finger(), np.nan),
                  lambda: run(examples.finger(), 1.0, activation=2.0),
                  lambda: Controller(assemble(examples.finger()), [], tone=-0.1)):  # fmt: skip
        with pytest.raises(InputError):
            build()
