"""The whole torso in motion: rest, a calm breath, volume, determinism, robustness. One worker, one compilation."""

from itertools import pairwise

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.control.behaviours import behaviour, styles
from risorius.core.spec import Spec, reference
from risorius.sim.run import Simulation
from risorius.sim.signals import record_of
from risorius.sim.step import copy_state

pytestmark = pytest.mark.xdist_group("torso")


@pytest.fixture(scope="module")
def model():
    return build(reference("male"))


@pytest.fixture(scope="module")
def simulation(model):
    return Simulation.of(model)


def perform(simulation, control, frame_rate=25.0, h=0.005):
    fresh = simulation.copy()
    groups = fresh.model.torso.groups
    motion = fresh.run(lambda times: control.excitation(groups, times), control.glottis, control.seconds, frame_rate, h)
    return record_of(fresh.model, motion).signals


@pytest.fixture(scope="module")
def calm(simulation):
    return perform(simulation, behaviour("calm", 30.0))


def breaths(signals):
    """Volume at the start, and range, of each whole breath after the first second (by the period of the command)."""
    volume, time = signals["lung_volume_l"], signals["time_s"]
    period = 60.0 / styles()["calm"]["rate"]
    edges = np.arange(0.0, time[-1], period)
    parts = [volume[(time >= a) & (time <= b)] for a, b in pairwise(edges)]
    return np.array([np.ptp(part) for part in parts])


def test_at_rest_nothing_moves(simulation):
    signals = perform(simulation, behaviour("rest", 7.0))
    late = signals["time_s"] >= 5.0
    drift = np.abs(np.gradient(signals["lung_volume_l"], signals["time_s"])[late]).max()
    assert drift < 1e-4  # l/s


def test_relaxed_volume_is_the_predicted_one(simulation):
    signals = perform(simulation, behaviour("rest", 6.0))
    predicted = simulation.model.lung.functional * 1e3
    assert signals["lung_volume_l"][-1] == pytest.approx(predicted, rel=0.25)
    recoil = signals["lung_pressure_cmH2O"][-1] - signals["pleural_pressure_cmH2O"][-1]
    assert 1.5 <= recoil <= 6.0


def test_a_calm_breath_is_a_human_one(calm):
    settled = {name: values[calm["time_s"] > 10] for name, values in calm.items()}
    tidal = breaths(calm)[2:]
    assert ((tidal > 0.4) & (tidal < 0.7)).all()
    assert np.ptp(tidal) < 0.03 * tidal.mean()
    share = np.ptp(settled["ribcage_volume_l"]) / np.ptp(settled["lung_volume_l"])
    assert 0.40 <= share <= 0.80
    assert 10 <= np.ptp(settled["diaphragm_height_mm"]) <= 26
    assert 1 <= np.ptp(settled["sternum_ap_mm"]) <= 8
    deepest, highest = settled["pleural_pressure_cmH2O"].argmin(), settled["abdominal_pressure_cmH2O"]
    assert highest[deepest] > highest.min() + 0.5  # gastric pressure is up when pleural is down
    assert np.abs(calm["cavity_volume_error_pct"]).max() < 2.0


def test_compartments_add_up_to_the_lung(calm):
    wall = calm["ribcage_volume_l"] + calm["abdomen_volume_l"]
    assert np.ptp(wall) == pytest.approx(np.ptp(calm["lung_volume_l"]), rel=0.05)


def test_the_same_run_gives_the_same_bytes(simulation):
    one, other = (perform(simulation, behaviour("calm", 1.0)) for _ in range(2))
    for name, values in one.items():
        assert values.tobytes() == other[name].tobytes(), name


def test_a_finer_step_gives_the_same_breath(simulation):
    coarse, fine = (perform(simulation, behaviour("calm", 3.0), h=h)["lung_volume_l"] for h in (0.005, 0.0005))
    assert np.sqrt(np.mean((coarse - fine) ** 2)) < 0.01 * np.ptp(fine)


def spine_and_ribs(simulation):
    """Largest excess of a spine joint past its limits [deg], largest turn of a rib and of a girdle [deg]."""
    bodies, state, tree = simulation.model.torso.bodies, simulation.state, simulation.system.tree
    turn = np.where(state.turn[:, :1] < 0, -state.turn, state.turn)
    angle = 2 * np.arctan2(np.linalg.norm(turn[:, 1:], axis=1), turn[:, 0])
    ribs = max(np.degrees(angle[i]) for i, name in enumerate(bodies.names) if name.startswith("rib"))
    girdles = max(np.degrees(angle[i]) for i, name in enumerate(bodies.names) if name.startswith("girdle"))
    past = 0.0
    for i, name in enumerate(bodies.names):
        if name in ("l4_l5", "l1_l3", "t9_t12", "t5_t8", "t1_t4", "c4_c7", "c1_c3", "skull"):
            d = tree.first[i]
            size = np.linalg.norm(turn[i, 1:])
            vector = bodies.joint_axes[i] @ turn[i, 1:] * (angle[i] / max(size, 1e-12))
            low, high = simulation.system.joints.low[d : d + 3], simulation.system.joints.high[d : d + 3]
            past = max(past, np.degrees(np.maximum(vector - high, low - vector).max()))
    return past, ribs, girdles


def random_drive(rng, groups, count, h):
    """Smooth, stepped or chattering excitation of all groups."""
    kind = rng.integers(3)
    if kind == 0:
        times = np.arange(count) * h
        rate, phase = rng.uniform(0.2, 8, groups), rng.uniform(0, 2 * np.pi, groups)
        return 0.5 + 0.5 * np.sin(2 * np.pi * rate * times[:, None] + phase)
    hold = max(1, round((0.25 if kind == 1 else 0.01) / h))
    return np.repeat(rng.random((count // hold + 1, groups)), hold, axis=0)[:count]


def survive(simulation, seed, seconds=1.0):
    rng = np.random.default_rng(seed)
    simulation = simulation.copy()
    h = rng.uniform(0.0005, 0.005)
    count = round(seconds / h)
    drive = random_drive(rng, len(simulation.state.activation), count, h)
    simulation.advance(drive, (rng.random() < 0.8) * np.ones(count), h)
    assert all(np.isfinite(array).all() for array in simulation.state)
    past, ribs, girdles = spine_and_ribs(simulation)
    assert past < 5.0, f"spine {past:.1f} deg past its limits"
    assert ribs < 25.0, f"rib {ribs:.1f} deg from rest"
    assert girdles < 40.0, f"girdle {girdles:.1f} deg from rest"


@pytest.mark.parametrize("seed", range(3))
def test_any_drive_leaves_the_torso_whole(simulation, seed):
    survive(simulation, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("posture", ["upright", "supine"])
@pytest.mark.parametrize(
    "spec", [reference("male"), reference("female"), Spec("male", 1.95, 130.0, 60.0)], ids=["man", "woman", "big"]
)
def test_three_hundred_random_drives_leave_three_subjects_whole(spec, posture):
    simulation = Simulation.of(build(spec), posture)
    for seed in range(50):
        survive(simulation, seed)


def test_a_supine_torso_settles(model):
    simulation = Simulation.of(model, "supine")
    before = copy_state(simulation.state)
    quiet = np.zeros((1200, len(before.activation)))
    simulation.advance(quiet, np.ones(1200), 0.005)
    assert all(np.isfinite(array).all() for array in simulation.state)
    assert np.abs(simulation.state.z).max() < 0.02
