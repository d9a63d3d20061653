"""Controls that move the torso: joints bend the way they are asked to, single elements, pushes, a ball, a syringe."""

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.control.behaviours import behaviour
from risorius.control.bind import MOTIONS, bind
from risorius.control.control import Ball, Channel, Control, Push
from risorius.control.curves import Curve, Linear
from risorius.core.errors import InputError
from risorius.core.spec import reference
from risorius.core.units import ATMOSPHERE, CMH2O, LITRE
from risorius.io.control_file import control_text, read_control
from risorius.sim.run import Simulation
from risorius.sim.signals import record_of

pytestmark = pytest.mark.xdist_group("torso")


@pytest.fixture(scope="module")
def model():
    return build(reference("male"))


@pytest.fixture(scope="module")
def simulation(model):
    return Simulation.of(model)


def perform(simulation, control, frame_rate=25.0):
    fresh = simulation.copy()
    return record_of(fresh.model, fresh.perform(bind(control, fresh.model), frame_rate))


def ramp(value, over=0.4):
    return Linear(points=((0.0, 0.0), (over, value)))


ARROWS = [  # motion, the point that shows it, the world axis along which it goes
    ("spine.flexion", "skull", "sternum_mid", (1.0, 0.0, 0.0)),
    ("spine.bending", "t1_t4", "jugular_notch", (0.0, 0.0, 1.0)),
    ("girdle_r.elevation", "girdle_r", "acromioclavicular_r", (0.0, 1.0, 0.0)),
    ("girdle_l.elevation", "girdle_l", "acromioclavicular_l", (0.0, 1.0, 0.0)),
    ("girdle_r.protraction", "girdle_r", "acromioclavicular_r", (1.0, 0.0, 0.0)),
    ("girdle_l.protraction", "girdle_l", "acromioclavicular_l", (1.0, 0.0, 0.0)),
    ("upper_arm_r.flexion", "upper_arm_r", "elbow_r", (1.0, 0.0, 0.0)),
    ("upper_arm_l.flexion", "upper_arm_l", "elbow_l", (1.0, 0.0, 0.0)),
    ("upper_arm_r.abduction", "upper_arm_r", "elbow_r", (0.0, 0.0, 1.0)),
    ("upper_arm_l.abduction", "upper_arm_l", "elbow_l", (0.0, 0.0, -1.0)),
    ("lower_arm_r.flexion", "lower_arm_r", "wrist_r", (1.0, 0.0, 0.0)),
    ("lower_arm_l.flexion", "lower_arm_l", "wrist_l", (1.0, 0.0, 0.0)),
]


@pytest.mark.parametrize("motion, _body, landmark, way", ARROWS)
def test_a_positive_angle_goes_where_its_name_says(model, motion, _body, landmark, way):
    bodies = model.torso.bodies
    for axis in MOTIONS[motion]:
        body = bodies.index(axis.body)
        point = model.torso.landmarks[landmark]
        if motion.startswith("spine"):
            point = bodies.joint_point[body] + np.array([0.0, 0.1, 0.0])
        turn = axis.sign * bodies.joint_axes[body][axis.axis]
        assert np.cross(turn, point - bodies.joint_point[body]) @ np.array(way) > 0.0, axis


def test_a_bend_of_the_spine_is_shared_out_and_reached(simulation, model):
    rows = bind(Control.of(2.5, spine__flexion=ramp(20.0, 1.0)), model).bend(np.array([2.0]))[0]
    assert rows.sum() == pytest.approx(-np.radians(20.0)) and (rows <= 0.0).all()
    most = bind(Control.of(1.0, spine__flexion=Curve(500.0)), model).bend(np.array([0.5]))[0]
    assert np.degrees(-most.sum()) == pytest.approx(10 + 19 + 34 + 8 + 10.5 + 23.5 + 30 + 24.5)  # D table 3.1
    fresh = simulation.copy()
    motion = fresh.perform(bind(Control.of(2.5, trunk__flexion=ramp(15.0, 1.0)), model), 25.0)
    w, x, y, z = motion.rotation[-1, model.torso.bodies.index("t1_t4")]
    leaned = np.degrees(np.arctan2(-2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z)))
    assert leaned == pytest.approx(15.0, rel=0.2)  # servos give way to gravity and the belly wall a little


def test_all_single_elements_together_are_their_group(simulation, model):
    torso = model.torso
    labels = sorted(
        {label for label, g in zip(torso.fibres.label, torso.fibres.group) if torso.groups[g] == "diaphragm"}
    )
    curve = ramp(0.2, 0.3)
    one = perform(simulation, Control((Channel("diaphragm", (curve,)),), 0.8))
    many = perform(simulation, Control(tuple(Channel(f"element:{label}", (curve,)) for label in labels), 0.8))
    volume, other = one.signals["lung_volume_l"], many.signals["lung_volume_l"]
    assert np.ptp(volume) > 0.1
    assert np.abs(volume - other).max() < 1e-6 * np.ptp(volume)
    assert many.signals["act_diaphragm"].max() == 0.0
    assert perform(simulation, behaviour("rest", 0.4)).signals["lung_volume_l"].tobytes() == (
        perform(simulation, Control((), 0.4)).signals["lung_volume_l"].tobytes()
    )


def test_a_single_element_pulls_on_its_own_side(simulation, model):
    label = next(label for label in model.torso.lines.label if label.startswith("trapezius") and label.endswith(" r"))
    record = perform(simulation, Control((Channel(f"element:{label}", (Curve(1.0),)),), 0.6))
    still = perform(simulation, Control((), 0.6))
    right, left = (model.torso.bodies.index(f"girdle_{side}") for side in "rl")
    moved = np.linalg.norm(record.position[-1] - still.position[-1], axis=1)
    assert moved[right] > 5.0 * moved[left]


def test_a_push_acts_while_it_lasts_and_mirrored_pushes_do_mirrored_things(simulation, model):
    def pushed(z):
        return perform(simulation, Control((), 1.0, pushes=(Push("sternum", (0.0, 0.0, z), 0.3, 0.5),)))

    right, left, still = pushed(60.0), pushed(-60.0), pushed(0.0)
    body = model.torso.bodies.index("sternum")
    before = right.time <= 0.3
    assert np.array_equal(right.position[before], still.position[before])
    there, back = (record.position[:, body, 2] - still.position[:, body, 2] for record in (right, left))
    assert there.max() > 1e-4 and np.allclose(there, -back, atol=0.02 * there.max())
    assert abs(there[-1]) < 0.3 * there.max()


def test_a_ball_on_the_belly_presses_and_rolls_off_or_rests(model):
    lying = Simulation.of(model, "supine")
    control = Control((), 1.0, "supine", balls=(Ball(0.2, 5.0, 0.1, 0.05),))
    hit, calm = perform(lying, control).signals, perform(lying, Control((), 1.0, "supine")).signals
    before = hit["time_s"] <= 0.2
    assert np.array_equal(hit["lung_volume_l"][before], calm["lung_volume_l"][before])
    rise = hit["abdominal_pressure_cmH2O"] - calm["abdominal_pressure_cmH2O"]
    assert rise.max() > 2.0
    assert (hit["umbilicus_ap_mm"] - calm["umbilicus_ap_mm"]).min() < -5.0


def test_a_syringe_obeys_boyle(simulation):
    control = Control((Channel("glottis", (Curve(0.0),)), Channel("syringe", (Curve(0.25, 0.2, 1.2),))), 2.0)
    signals = perform(simulation, control).signals
    gas = signals["lung_volume_l"] * LITRE * (ATMOSPHERE + CMH2O * signals["lung_pressure_cmH2O"]) / ATMOSPHERE
    assert (gas[-1] - gas[0]) / LITRE == pytest.approx(0.25, rel=1e-3)
    inside = (signals["time_s"] > 0.21) & (signals["time_s"] < 1.19)
    assert signals["flow_lps"][inside] == pytest.approx(0.25)
    assert signals["lung_pressure_cmH2O"][-1] > 1.0


def test_a_control_file_gives_the_same_signals(simulation, tmp_path):
    control = behaviour("cough", 1.6, "upright", "nose")
    path = tmp_path / "control.xml"
    path.write_text(control_text(control))
    one, other = (perform(simulation, each).signals for each in (control, read_control(path)))
    for name, values in one.items():
        assert values.tobytes() == other[name].tobytes(), name


def test_names_that_a_subject_does_not_have_are_refused_with_their_line(model, tmp_path):
    path = tmp_path / "control.xml"
    path.write_text(
        '<control seconds="1">\n<element label="external intercostal 4 at 9.9 r"><constant level="1"/></element>\n'
        '<push body="tail" start="0" end="1"/></control>'
    )
    control = read_control(path)
    with pytest.raises(InputError, match=r"control.xml:2: .*label.*did you mean"):
        bind(control, model)
    with pytest.raises(InputError, match=r"expected a body, got 'tail'"):
        bind(Control((), 1.0, pushes=(Push("tail", (0, 0, 0), 0, 1),)), model)
