"""Laws that strands and bodies obey: catenary, pulley, momentum, order of the step, drift, moment arms; the whole KKT."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

from risorius.core.errors import InputError
from risorius.core.strand_shapes import cuboid, mirrored, rod, strand_through, surface_around, tube
from risorius.core.strands import Attachment, Joint, Link, Strand, StrandModel, Tissue
from risorius.maths import splines
from risorius.strands import analysis, direct, examples, step
from risorius.strands.laws import hill
from risorius.strands.motions import rotation_matrix, rotation_vector
from risorius.strands.stepper import Stepper, lengths, now_of, tensions
from risorius.strands.surfaces import assemble_surfaces, closest, surface_point
from risorius.strands.system import assemble

H = 1 / 120


def settled(model, seconds, activation=0.0, h=H):
    stepper = Stepper(assemble(model))
    state = stepper.rest()
    for _ in range(round(seconds / h)):
        stepper.advance(state, h, activation)
    return stepper, state


def test_splines_are_pinned_smooth_and_reproduce_lines():
    s = np.linspace(0, 6, 61)
    points = np.random.default_rng(0).normal(size=(7, 3))
    curve = splines.evaluate(points, s)
    assert curve[0] == pytest.approx(points[0]) and curve[-1] == pytest.approx(points[-1])
    assert splines.design(7, s).sum(axis=1) == pytest.approx(np.ones(61))
    line = np.linspace([0.0, 1, 2], [3.0, -1, 5], 7)
    assert splines.evaluate(line, s) == pytest.approx(np.linspace([0.0, 1, 2], [3.0, -1, 5], 61))
    slope = (splines.evaluate(points, s[1:-1] + 1e-6) - splines.evaluate(points, s[1:-1] - 1e-6)) / 2e-6
    assert splines.evaluate(points, s[1:-1], 1) == pytest.approx(slope, abs=1e-6)
    assert splines.evaluate(splines.interpolate(points), np.arange(7.0)) == pytest.approx(points)
    assert splines.nearest(points, splines.evaluate(points, np.array([3.3]))[0]) == pytest.approx(3.3, abs=1e-6)


def test_mass_matrix_is_consistent():
    strand = strand_through("s", [[0, 0, 0], [0.3, 0, 0]], 2e-3, count=9)
    system = assemble(StrandModel(strands=(strand,)))
    total = np.pi * 2e-3**2 * 0.3 * strand.density
    assert system.threads.weight.sum() == pytest.approx(total, rel=1e-12)
    # kinetic energy of a turn about the start: m l² / 3 ω² / 2, exact for cubics
    velocity = strand.points[:, 0] * 2.0
    band = system.threads.mass
    matrix = sum(np.diag(band[k:, 3 - k], -k) for k in range(4))
    matrix = matrix + np.tril(matrix, -1).T
    assert 0.5 * velocity @ matrix @ velocity == pytest.approx(0.5 * total * 0.3**2 / 3 * 4.0, rel=1e-12)


def test_hanging_strand_is_a_catenary():
    errors = []
    for count in (11, 21, 41):
        model = examples.catenary(count=count)
        stepper, state = settled(model, 8.0)
        a = brentq(lambda a: 2 * a * np.sinh(0.4 / a) - 1.0, 0.1, 1.0)
        curve = splines.evaluate(state.points, np.linspace(0, count - 1, 400))
        exact = a * (np.cosh((curve[:, 0] - 0.4) / a) - np.cosh(0.4 / a))
        errors.append(np.abs(curve[:, 1] - exact).max())
        weight = np.pi * (3e-3) ** 2 * 1060.0 * 9.80665
        horizontal = tensions(stepper.system, state)[count // 2 - 1 : count // 2].mean()
        assert horizontal == pytest.approx(weight * a, rel=0.02)
    assert errors[2] < 5e-4 and errors[0] > 2.5 * errors[1] > 5 * errors[2]


@pytest.mark.parametrize("stiffness", [100.0, 2000.0])
def test_smooth_cylinder_passes_tension_on(stiffness):
    """A rope from a wall over half a cylinder to a weight: it has slid by its stretch, and pulls the same on both sides."""
    model = examples.pulley(stiffness=stiffness)
    tied = replace(model, bodies=model.bodies[1:], attachments=(Attachment("rope", 0.0), model.attachments[1]))
    stepper, state = settled(tied, 5.0)
    force = tensions(stepper.system, state)
    fifth = len(force) // 5
    assert force[2:fifth].mean() == pytest.approx(force[-fifth:-2].mean(), rel=0.01)
    assert force[-fifth:].mean() == pytest.approx(0.2 * 9.80665, rel=0.01)


@pytest.mark.parametrize("angle", [10.0, 20.0, 30.0, 60.0, 90.0, 120.0])
def test_slide_passes_tension_on(angle):
    stepper, state = settled(examples.bend(angle), 6.0)
    force = tensions(stepper.system, state)
    third = len(force) // 3
    assert force[2:third].mean() == pytest.approx(force[-third:-2].mean(), rel=0.01)


def test_unequal_weights_fall_as_in_atwood():
    """Acceleration (m2 − m1) g / (m1 + m2 + rope), over a tenth of a second of sliding on the cylinder."""
    stepper, state = settled(examples.pulley(masses=(0.2, 0.25), stiffness=2e3), 0.15, h=5e-4)
    start = state.momentum[:, 4] / stepper.system.tree.mass
    for _ in range(200):
        stepper.advance(state, 5e-4)
    gained = (state.momentum[:, 4] / stepper.system.tree.mass - start) / 0.1
    expected = 9.80665 * 0.05 / (0.45 + stepper.system.threads.weight.sum())
    assert 0.5 * (gained[0] - gained[1]) == pytest.approx(expected, rel=0.05)


def free_pair():
    """Two free bodies tied by a stretched strand, no gravity."""
    bodies = (cuboid("a", [-0.1, 0, 0], [0.02, 0.03, 0.04]), cuboid("b", [0.1, 0.02, 0], [0.03, 0.02, 0.02]))
    strand = strand_through("s", [[-0.1, 0.015, 0], [0.1, 0.01, 0]], 2e-3, count=8, mass_damping=0.0,
                            tissues=(Tissue(20.0, slack=0.9),))  # fmt: skip
    ends = (Attachment("s", 0.0, "a"), Attachment("s", 1.0, "b"))
    return StrandModel("pair", bodies, (), (strand,), ends, gravity=np.zeros(3))


def momenta(stepper, state):
    tree, threads = stepper.system.tree, stepper.system.threads
    band = threads.mass
    matrix = sum(np.diag(band[k:, 3 - k], -k) for k in range(4))
    matrix = matrix + np.tril(matrix, -1).T
    strand = matrix @ state.velocities
    centre = np.einsum("bij,bj->bi", state.rotation, tree.centre) + state.place
    linear = state.momentum[:, 3:].sum(axis=0) + strand.sum(axis=0)
    turning = (state.momentum[:, :3] + np.cross(centre, state.momentum[:, 3:])).sum(axis=0)
    return linear, turning + np.cross(state.points, strand).sum(axis=0)


def test_momentum_is_kept():
    drift = []
    for h in (1e-3, 5e-4):
        stepper = Stepper(assemble(free_pair()))
        state = stepper.rest()
        state.momentum[0] = [2e-5, -1e-5, 3e-5, 4e-3, 1e-3, 2e-3]
        state.momentum[1] = [-1e-5, 1e-5, 3e-5, -2e-3, 3e-3, 1e-3]
        linear, turning = momenta(stepper, state)
        for _ in range(round(0.1 / h)):
            stepper.advance(state, h)
        after = momenta(stepper, state)
        assert after[0] == pytest.approx(linear, abs=1e-12)
        drift.append(np.abs(after[1] - turning).max() / np.abs(turning).max())
    assert drift[1] < 0.02 and drift[1] < 0.7 * drift[0]


def test_free_body_keeps_its_momenta_exactly():
    stepper = Stepper(assemble(replace(free_pair(), strands=(), attachments=())))
    state = stepper.rest()
    state.momentum[:] = [[3e-5, -2e-5, 1e-5, 1e-3, 0, 0], [1e-6, 2e-5, 1e-5, 0, 1e-3, 0]]
    before = state.momentum.copy()
    for _ in range(500):
        stepper.advance(state, 1e-3)
    assert state.momentum == pytest.approx(before, rel=1e-10, abs=1e-15)


def chain():
    """A double pendulum of a hinge and a universal joint."""
    bodies = (rod("upper", [0, 0, 0], [0.2, 0, 0], 0.01), rod("lower", [0.2, 0, 0], [0.2, 0, 0.15], 0.01))
    joints = (Joint("upper", axes=[0, 0, 1]), Joint("lower", "upper", "universal", [[0, 1, 0], [1, 0, 0]], [0.2, 0, 0]))
    return StrandModel("chain", bodies, joints)


def test_joints_fall_as_in_mujoco():
    xml = """<mujoco><option gravity="0 -9.80665 0" timestep="1e-4" integrator="RK4"/><worldbody>
    <body><joint type="hinge" axis="0 0 1"/><inertial pos="0.1 0 0" mass="{m0}" diaginertia="{i0}"/>
    <body><joint type="hinge" axis="0 1 0" pos="0.2 0 0"/><joint type="hinge" axis="1 0 0" pos="0.2 0 0"/>
    <inertial pos="0.2 0 0.075" mass="{m1}" diaginertia="{i1}"/></body></body></worldbody></mujoco>"""
    model = chain()
    words = {f"m{k}": repr(body.mass) for k, body in enumerate(model.bodies)}
    words |= {f"i{k}": " ".join(map(repr, np.diag(body.inertia).tolist())) for k, body in enumerate(model.bodies)}
    reference = mujoco.MjModel.from_xml_string(xml.format(**words))
    data = mujoco.MjData(reference)
    while data.time < 0.3 - 1e-9:
        mujoco.mj_step(reference, data)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        _, state = settled(model, 0.3, h=h)
        errors.append(np.abs(state.angle - data.qpos).max())
    assert errors[2] < 0.02
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.2)


def test_step_is_of_first_order():
    """A stretched strand's end swings: halving the step halves the error against a much finer one."""
    ends = []
    for h in (5e-4, 2.5e-4, 1.25e-4, 1e-5):
        stepper = Stepper(assemble(free_pair()))
        state = stepper.rest()
        for _ in range(round(0.05 / h)):
            stepper.advance(state, h)
        ends.append(state.place[0, 0])
    errors = np.abs(np.array(ends[:3]) - ends[3])
    slope = np.log2(errors[:-1] / errors[1:])
    assert slope == pytest.approx([1.0, 1.0], abs=0.25)


def loop():
    """Four bars closed by a hinge: a parallelogram."""
    axis = [0.0, 0.0, 1.0]
    bodies = (rod("left", [0, 0, 0], [0, -0.1, 0], 5e-3), rod("right", [0.2, 0, 0], [0.2, -0.1, 0], 5e-3),
              rod("bottom", [0, -0.1, 0], [0.2, -0.1, 0], 5e-3))  # fmt: skip
    joints = (Joint("left", axes=axis, points=[0, 0, 0], damping=1e-4), Joint("right", axes=axis, points=[0.2, 0, 0]),
              Joint("bottom", "left", axes=axis, points=[0, -0.1, 0]),
              Joint("bottom", "right", axes=axis, points=[0.2, -0.1, 0]))  # fmt: skip
    return StrandModel("loop", bodies, joints)


def test_closed_loop_stays_a_parallelogram():
    stepper = Stepper(assemble(loop()))
    state = stepper.rest()
    state.angle[:2], state.angle[2] = 0.6, -0.6
    stepper.settle(state)
    for _ in range(600):
        stepper.advance(state, 2e-3)
    left, right, bottom = (stepper.system.speeds_of(name).start for name in ("left", "right", "bottom"))
    assert state.angle[left] == pytest.approx(state.angle[right], abs=1e-4)
    assert state.angle[bottom] == pytest.approx(-state.angle[left], abs=1e-4)
    assert np.abs(stepper.room.loop_gap).max() < 1e-4


@pytest.mark.parametrize("name", ["catenary", "pulley", "crank", "bend", "drum", "finger", "neck", "mechanical_hand"])
def test_elimination_solves_the_whole_kkt_system(name):
    stepper, state = settled(getattr(examples, name)(), 0.1, 0.1)
    system = stepper.system
    state.multiplier[:] = 0.0
    activation = np.full(system.shape.strands, 0.15)
    stepper.gather(state, H, activation)
    step.solve(system.threads, now_of(state), stepper.room, H, activation, system.shape.links)
    links = system.shape.links
    speeds, velocities = direct.solve(stepper, state, H, activation)
    assert stepper.room.trial == pytest.approx(velocities, abs=2e-6 * np.abs(velocities).max())
    assert stepper.room.solved[links:] == pytest.approx(speeds, abs=1e-6 * max(np.abs(speeds).max(initial=0), 1e-3))


def test_constraints_do_not_drift():
    model = examples.finger()
    stepper = Stepper(assemble(model))
    state = stepper.rest()
    worst = 0.0
    for k in range(1200):
        wave = 0.5 - 0.5 * np.cos(2 * np.pi * k / 120)
        stepper.advance(state, H, [0.02 + 0.05 * wave, 0.07 - 0.05 * wave])
        if k > 10:
            worst = max(worst, np.abs(analysis.gaps(stepper, state)).max())
    assert worst < 1e-4
    assert np.isfinite(state.points).all()


def test_moment_arm_of_a_straight_line():
    angles = np.linspace(-0.4, 0.8, 7)
    lever = analysis.leverage(Stepper(assemble(examples.crank())), "muscle", 0, angles)
    origin = np.array([-0.1, 0.03])
    end = np.stack([0.04 * np.cos(angles) - 0.01 * np.sin(angles), 0.04 * np.sin(angles) + 0.01 * np.cos(angles)], 1)
    line = origin - end
    exact = (end[:, 0] * line[:, 1] - end[:, 1] * line[:, 0]) / np.linalg.norm(line, axis=1)
    assert lever.arm == pytest.approx(exact, rel=0.01, abs=2e-5)
    assert lever.work == pytest.approx(lever.excursion, rel=0.01)


def test_moment_arm_of_a_drum_is_its_radius():
    stepper = Stepper(assemble(examples.drum()))
    lever = analysis.leverage(stepper, "muscle", 0, np.linspace(-0.6, 0.6, 5), still=0.3)
    assert lever.arm == pytest.approx(np.full(5, 0.01), rel=0.01)
    assert lever.work == pytest.approx(lever.excursion, rel=0.01)


def test_virtual_work_under_pulleys():
    stepper = Stepper(assemble(examples.mechanical_hand()))
    joint = stepper.system.speeds_of("proximal2").start
    lever = analysis.leverage(stepper, "FDP2", joint, np.linspace(0, 0.8, 5), still=0.3)
    assert (lever.arm > 8e-3).all()
    assert lever.work == pytest.approx(lever.excursion, rel=0.02)


def test_joint_springs_limits_and_any_stiffness():
    """A bar held by its spring sags to where its weight balances; past a limit the stop holds it; 1e6 N m/rad is stable."""
    bar = rod("bar", [0, 0, 0], [0.2, 0, 0], 0.01)
    torque = bar.mass * 9.80665 * 0.1
    for stiffness in (5.0, 1e6):
        joint = Joint("bar", axes=[0, 0, 1], stiffness=stiffness, damping=0.05)
        _, state = settled(StrandModel("bar", (bar,), (joint,)), 3.0)
        angle = brentq(lambda q, k=stiffness: -k * q - torque * np.cos(q), -1.5, 0.1)
        assert state.angle[0] == pytest.approx(angle, abs=1e-6)
    stop = Joint("bar", axes=[0, 0, 1], damping=0.01, low=-0.5, limit_stiffness=100.0, limit_damping=0.1)
    _, state = settled(StrandModel("bar", (bar,), (stop,)), 4.0)
    assert -0.5 - 1.2 * torque / 100.0 < state.angle[0] < -0.5
    ball = Joint("bar", kind="ball", stiffness=5.0, damping=0.05)
    _, state = settled(StrandModel("bar", (bar,), (ball,)), 3.0)
    assert state.angle[2] == pytest.approx(brentq(lambda q: -5 * q - torque * np.cos(q), -1.5, 0.1), abs=1e-6)


def test_driven_bodies_carry_strands():
    model = StrandModel("driven", (rod("hand", [0, 0, 0], [0.1, 0, 0], 0.01),), (Joint("hand", kind="driven"),),
                        (strand_through("s", [[0, 0.01, 0], [0.1, 0.01, 0]], 1e-3, count=5, tissues=(Tissue(1e3),)),),
                        (Attachment("s", 0.0, "hand"), Attachment("s", 1.0, "hand")))  # fmt: skip
    stepper = Stepper(assemble(model))
    state = stepper.rest()
    for k in range(120):
        angle = np.array([0.0, 0.0, 1.2 * (k + 1) / 120])
        stepper.advance(state, H, poses={"hand": (rotation_matrix(angle), np.array([0.1 * (k + 1) / 120, 0, 0]))})
    expected = model.strands[0].points[[0, -1]] @ rotation_matrix(np.array([0, 0, 1.2])).T + [0.1, 0, 0]
    assert state.points[[0, -1]] == pytest.approx(expected, abs=1e-4)


def test_links_branch_a_strand():
    """A weight on a branch: the stem carries it, and both sides of the branch together."""
    ropes = (strand_through("stem", [[0, 0, 0], [0, -0.2, 0]], 1e-3, count=8, tissues=(Tissue(1e3),)),
             strand_through("branch", [[0, -0.1, 0], [0.1, -0.2, 0]], 1e-3, count=6, tissues=(Tissue(1e3),)))  # fmt: skip
    weight = cuboid("weight", [0.1, -0.2, 0], [0.02, 0.02, 0.02], mass=0.1)
    model = StrandModel("branch", (weight,), (), ropes, (Attachment("stem", 0.0), Attachment("branch", 1.0, "weight")),
                        links=(Link("branch", 0.0, "stem", 3 / 7),))  # fmt: skip
    stepper, state = settled(model, 12.0)
    force = tensions(stepper.system, state)
    first = stepper.system.threads.sample_first
    mass = stepper.system.threads.weight.sum()
    assert force[0] == pytest.approx((0.1 + mass) * 9.80665, rel=0.02)
    assert force[first[1]] == pytest.approx(0.1 * 9.80665, rel=0.03)
    joined = splines.evaluate(state.points[:8], np.array([3.0]))[0] - state.points[8]
    assert np.abs(joined).max() < 1e-5


def test_surfaces_are_round_and_wrapped_round_a_mesh():
    body = rod("bone", [0, 0, 0], [0.1, 0, 0], 0.01, sides=64)
    for surface in (
        tube("t", "bone", [0, 0, 0], [0.1, 0, 0], 0.01),
        surface_around("w", body, [0.01, 0, 0], [0.09, 0, 0]),
    ):
        flat = assemble_surfaces((surface,), ("bone",))
        uv = np.array([1.3, 2.2])
        target = np.array([0.05, 0.02, 0.015])
        closest(flat, 0, target, uv, 60)
        point, normal = surface_point(flat, 0, uv)
        assert np.hypot(point[1], point[2]) == pytest.approx(0.01, rel=5e-3)
        assert np.cross(normal, (target - point) / np.linalg.norm(target - point)) == pytest.approx(
            np.zeros(3), abs=2e-3
        )
        assert normal @ (target - point) > 0


def test_hill_muscle_pulls_by_its_curves():
    """An isometric strand of Hill tissue at a stretch gives strength × active + stiffness × passive."""
    law = hill()
    for stretch in (0.8, 1.0, 1.3):
        strand = strand_through("m", [[0, 0, 0], [0.1, 0, 0]], 2e-3, count=6,
                                tissues=(Tissue(30.0, 50.0, slack=1 / stretch, law=law),))  # fmt: skip
        model = StrandModel("iso", strands=(strand,), attachments=(Attachment("m", 0.0), Attachment("m", 1.0)),
                            gravity=np.zeros(3))  # fmt: skip
        stepper, state = settled(model, 1.0, 0.6)
        passive = np.interp(stretch, *law.passive.T)
        active = np.interp(stretch, *law.active.T)
        expected = 0.6 * 50.0 * active + 30.0 * passive
        assert tensions(stepper.system, state) == pytest.approx(np.full(5, expected), rel=5e-3)


def test_mirrored_model_moves_as_the_mirror_image():
    model = examples.neck()
    activation = np.random.default_rng(2).uniform(0.0, 0.3, 8)
    right, state = settled(model, 0.3, activation)
    left, other = settled(mirrored(model), 0.3, activation)
    flip = np.array([1.0, 1.0, -1.0])
    assert np.abs(state.angle).max() > 0.05
    assert other.angle == pytest.approx(state.angle, abs=1e-7)
    assert other.points == pytest.approx(state.points * flip, abs=1e-7)
    assert lengths(left.system, other) == pytest.approx(lengths(right.system, state), abs=1e-7)


def test_same_run_same_bits():
    _, first = settled(examples.finger(), 0.3, 0.2)
    _, second = settled(examples.finger(), 0.3, 0.2)
    assert (first.points == second.points).all() and (first.angle == second.angle).all()


def test_rotation_logarithm_and_exponential():
    chance = np.random.default_rng(3)
    for size in (1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-7):
        vector = chance.normal(size=3)
        vector *= size / np.linalg.norm(vector)
        assert rotation_vector(rotation_matrix(vector)) == pytest.approx(vector, abs=1e-7)


@pytest.mark.parametrize("build, words", [
    (lambda: Strand("s", np.zeros((4, 3)), 1e-3), "length above zero"),
    (lambda: Strand("s", np.zeros((3, 3)), 1e-3), "four control points"),
    (lambda: strand_through("s", [[0, 0, 0], [0, 0, 0]], 1e-3), "longer than zero"),
    (lambda: Strand("s", [[0, 0, 0], [1, 0, 0], [np.nan, 0, 0], [3, 0, 0]], 1e-3), "finite"),
    (lambda: cuboid("b", [0, 0, 0], [1, 1, 1], mass=-1.0), "mass above zero"),
    (lambda: StrandModel(attachments=(Attachment("x", 0.0),)), "name of a strand"),
    (lambda: Joint("b", axes=[0, 0, 0]), "longer than zero"),
    (lambda: assemble(StrandModel(strands=(Strand("s", [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], 1e-3),))),
     "length above zero everywhere"),
    (lambda: assemble(replace(loop(), joints=(Joint("left", "right", axes=[0, 0, 1]),
                                              Joint("right", "left", axes=[0, 0, 1])))),
     "ring"),
])  # fmt: skip
def test_what_cannot_be_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()


@pytest.mark.parametrize("activation", [0.0, 0.3, 1.0])
def test_any_activation_at_once_stays_bounded(activation):
    """A whole hand from slack to full co-contraction in one step: nothing flies off."""
    stepper, state = settled(examples.mechanical_hand(), 0.5, activation)
    assert np.isfinite(state.points).all() and np.isfinite(state.angle).all()
    assert np.abs(state.points).max() < 0.5 and np.abs(state.angle).max() < 2.5
    assert np.abs(analysis.gaps(stepper, state)).max() < 1e-3


def test_two_strands_on_one_spot_and_doubled_constraints():
    model = examples.finger()
    twin = replace(model.strands[0], name="twin")
    ends = tuple(replace(x, strand="twin") for x in model.attachments if x.strand == "flexor")
    rings = tuple(replace(x, strand="twin") for x in model.slides if x.strand == "flexor")
    doubled = replace(model, strands=(*model.strands, twin), attachments=model.attachments + ends,
                      slides=(*model.slides, *rings, *rings))  # fmt: skip
    stepper, state = settled(doubled, 1.0, 0.1)
    assert np.isfinite(state.points).all() and np.abs(state.angle).max() < 2.0
    first = stepper.system.threads.first
    assert state.points[first[2] :] == pytest.approx(state.points[: first[1]], abs=1e-5)
