"""Laws of the whole torso's step: convergence, a falling ball, forces that cancel, the stress set. One worker with the motion
tests, one compilation."""

from dataclasses import replace

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.control.behaviours import behaviour
from risorius.core.model import Softness
from risorius.core.spec import reference
from risorius.core.units import GRAVITY
from risorius.maths.rotations import matrices
from risorius.mechanics.lines import fill_lower, line_forces, strut_forces
from risorius.sim.run import Simulation
from risorius.sim.step import Scheme, look
from risorius.sim.system import ABDOMEN_VOLUME, TRUNK_VOLUME

pytestmark = pytest.mark.xdist_group("torso")


@pytest.fixture(scope="module")
def model():
    return build(reference("male"))


@pytest.fixture(scope="module")
def simulation(model):
    return Simulation.of(model)


def quiet(simulation, count):
    return np.zeros((count, len(simulation.state.activation))), np.ones(count)


def test_converged_steps_are_of_second_order(simulation):
    control = behaviour("calm", 1.0)
    groups = simulation.model.torso.groups

    def chest(h):
        fresh = simulation.copy()
        fresh.scheme = Scheme(iterations=80, tolerance=1e-12, least=4, passes=6, refactor=1)
        motion = fresh.run(lambda times: control.excitation(groups, times), control.glottis, 0.5, 10.0, h)
        return motion.scalar[:, TRUNK_VOLUME] - motion.scalar[:, ABDOMEN_VOLUME]

    exact = chest(0.000625)
    errors = [np.abs(chest(h) - exact).max() for h in (0.01, 0.005, 0.0025)]
    order = np.log2(errors[0] / errors[2]) / 2
    assert 1.7 < order < 2.3, errors


def test_a_ball_on_the_belly_squeezes_out_less_than_half_a_per_cent(model):
    """D §3.2.1, figure 3.6: 5 kg from half a metre onto the belly of a lying man."""
    torso, simulation = model.torso, Simulation.of(model, "supine")
    h, radius = 0.0025, 0.1
    simulation.advance(*quiet(simulation, 600), 0.005)
    look(simulation.system, simulation.state, simulation.drive, simulation.room)
    spot = np.argmin(((torso.surface.points - torso.landmarks["umbilicus_surface_point"]) ** 2).sum(axis=1))
    belly = simulation.room.work.point[spot].copy()
    before = simulation.room.work.scalar[ABDOMEN_VOLUME]
    simulation.drive.ball[:] = radius, 5.0
    simulation.state.ball[:3] = belly[0] + radius + 0.5, belly[1], belly[2]
    heights, error = [], 0.0
    for _ in range(round(0.6 / h)):
        simulation.advance(*quiet(simulation, 1), h)
        heights.append(simulation.state.ball[0] - belly[0] - radius)
        error = max(error, abs(simulation.room.work.scalar[ABDOMEN_VOLUME] / before - 1.0))
    time = h * (1 + np.arange(len(heights)))
    falling = time < 0.25
    assert np.array(heights)[falling] == pytest.approx(0.5 - 0.5 * GRAVITY * time[falling] ** 2, abs=5e-3)
    assert error < 0.005
    lowest = int(np.argmin(heights))
    assert -0.08 < heights[lowest] < 0.0  # it sinks in, and is thrown back
    assert max(heights[lowest:]) > heights[lowest] + 0.02
    assert np.isfinite(simulation.state.place).all()


@pytest.mark.parametrize("seed", range(3))
def test_muscles_and_cartilages_push_nothing_as_a_whole(simulation, seed):
    """Wrenches about one point cancel over all bodies at any pose: momentum of the unheld whole is kept."""
    rng = np.random.default_rng(seed)
    system, work = simulation.system, simulation.copy().room.work
    count = len(system.tree.parent)
    turn = rng.normal(size=(count, 4)) * 0.1 + [1, 0, 0, 0]
    work.pose.rotation[:] = matrices(turn / np.linalg.norm(turn, axis=1, keepdims=True))
    work.pose.origin[:] = rng.normal(size=(count, 3)) * 0.02
    twist = rng.normal(size=(count, 6)) * 0.3
    active = rng.random(len(simulation.state.activation))
    for parts in ("lines", "struts"):
        wrench, weight = np.zeros((count, 6)), np.zeros((len(system.pair), 6, 6))
        if parts == "lines":
            lines = len(system.lines.law)
            line_forces(
                system.lines, work.pose, system.tree, twist, active, np.zeros(len(active)), 0.003, wrench, weight,
                np.zeros(count), np.zeros(lines), np.zeros(lines),
            )  # fmt: skip
        else:
            strut_forces(system.struts, work.pose, twist, 0.003, wrench, weight)
        fill_lower(weight)
        assert np.abs(wrench).max() > 1.0
        # a line's ends feel one line of action; a strut's force acts where the second body holds it
        assert np.abs(wrench.sum(axis=0)).max() < 1e-9 * np.abs(wrench).sum()
        assert min(np.linalg.eigvalsh(block)[0] for block in weight) > -1e-9 * np.abs(weight).max()


STRESSES = {
    "stiff belly": ({"tissue_edge_wall": 50.0}, 1.0),
    "damped": ({"tissue_edge_damping": 25.0, "tissue_hold_damping": 25.0}, 1.0),
    "strong": ({}, 10.0),
    "light": ({"abdomen_mass": 0.1}, 1.0),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", STRESSES)
def test_the_stress_set_stays_whole(model, name):
    """`mechanics.md`: stiffness of the belly x 50, damping x 25, greatest force x 10, points ten times lighter."""
    factors, strength = STRESSES[name]
    soft = {key: value * factors.get(key, 1.0) for key, value in model.softness.values.items()}
    materials = {key: replace(value, stress=value.stress * strength) for key, value in model.materials.items()}
    simulation = Simulation.of(replace(model, softness=Softness(soft), materials=materials))
    rng = np.random.default_rng(1)
    for h in (0.002, 0.005):
        fresh = simulation.copy()
        count = round(1.0 / h)
        phase, rate = rng.uniform(0, 6.28, (2, len(fresh.state.activation)))
        drive = 0.5 + 0.5 * np.sin(rate * np.arange(count)[:, None] * h + phase)
        fresh.advance(drive, np.ones(count), h)
        assert all(np.isfinite(array).all() for array in fresh.state)
        assert np.abs(fresh.state.place).max() < 1.5
