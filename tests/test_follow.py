"""One pressure knob: curves followed in one forward pass, a laugh from its sound, and the same again from its control."""

import json

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.app.follow import TARGET, larynx, perform_pressure
from risorius.cli.main import main
from risorius.core.errors import InputError
from risorius.core.hearing import Target
from risorius.core.spec import reference
from risorius.core.units import CMH2O
from risorius.inverse.secondary import secondary
from risorius.inverse.track import Tracker, track
from risorius.io.signals import read_signals
from risorius.sim.run import Simulation
from risorius.sim.system import ALVEOLAR_PRESSURE

pytestmark = pytest.mark.xdist_group("torso")


@pytest.fixture(scope="module")
def simulation():
    return Simulation.of(build(reference("male")))


def burst(time, start, end):
    """A rounded burst of height 1."""
    inside = (time >= start) & (time < end)
    return np.where(inside, 0.5 - 0.5 * np.cos(2 * np.pi * (time - start) / (end - start)), 0.0)


def breath(time):
    return -1.5 * np.sin(2 * np.pi * time / 4.0)


def laugh(time):
    heights = (10, 18, 20, 18, 16, 14, 12, 10)
    calls = sum(height * burst(time, 0.4 + 0.2 * k, 0.56 + 0.2 * k) for k, height in enumerate(heights))
    return calls - 4.0 * burst(time, 2.2, 3.0)


def cough(time):
    return -3.0 * burst(time, 0.3, 1.3) + 100.0 * burst(time, 1.5, 1.8)


@pytest.mark.parametrize("curve, opening, seconds", [(breath, 1.0, 5.0), (laugh, 0.1, 3.0), (cough, 0.15, 2.2)])
def test_curves_are_followed_within_three_per_cent_without_chatter(simulation, curve, opening, seconds):
    motion, times, commands = track(
        simulation.copy(), curve, lambda times: np.full(len(times), opening), seconds, 100.0
    )
    wanted = curve(motion.time)
    error = motion.scalar[:, ALVEOLAR_PRESSURE] / CMH2O - wanted
    assert np.sqrt(np.mean(error**2)) <= 0.03 * np.ptp(wanted)
    change = np.abs(np.diff(commands)) / np.diff(times)
    assert change.max() <= Tracker().rate + 1e-9
    turns = np.sum(np.diff(np.sign(np.diff(commands))) != 0)  # a smooth command turns about as often as its curve
    assert turns < 60 * seconds
    assert (np.abs(commands) <= 1.0).all()


def test_a_larynx_is_wide_in_breathing_and_a_slit_in_voice():
    assert larynx(np.array([0.0]))[0] == 1.0 and larynx(np.array([1.5]))[0] > 0.9 and larynx(np.array([30.0]))[0] < 0.1


def test_a_curve_becomes_a_take_and_its_control_gives_the_same_signals(tmp_path):
    time = np.arange(0.0, 1.51, 0.01)
    table = "\n".join(
        ["time_s,pressure_cmH2O", *(f"{t:.4f},{p:.6f}" for t, p in zip(time, 20 * burst(time, 0.4, 0.6)))]
    )
    (tmp_path / "curve.csv").write_text(table)
    take = perform_pressure(tmp_path / "curve.csv", tmp_path / "one", video=False)
    one = read_signals(take / "signals.csv")
    assert json.loads((take / "run.json").read_text())["tracking"]["correlation"] > 0.98
    assert TARGET in one and one[TARGET].max() == pytest.approx(20, rel=0.02)
    command = ["perform", "control", "--control", str(take / "control.xml"), "-o", str(tmp_path / "two"), "--no-video"]
    assert main(command) == 0
    two = read_signals(tmp_path / "two" / "signals.csv")
    assert len(two["time_s"]) == len(one["time_s"])
    for name, values in two.items():
        assert values == pytest.approx(one[name], abs=1e-6, rel=1e-6), name


@pytest.mark.parametrize("text", [
    "", "time_s\n0\n1", "time_s,pressure_cmH2O\n0,1\n0,2", "time_s,pressure_cmH2O\n0,1\n1,nan",
    "time_s,pressure_cmH2O\n0,1\n1,1e9", "time_s,pressure_cmH2O\n0,1\n90000,1", "a,b\n1,2", "time_s,pressure_cmH2O\n0,x",
])  # fmt: skip
def test_broken_curves_are_refused(tmp_path, text):
    (tmp_path / "curve.csv").write_text(text)
    with pytest.raises(InputError):
        perform_pressure(tmp_path / "curve.csv", tmp_path / "take", video=False)
    assert not (tmp_path / "take").exists()


@pytest.mark.nightly
def test_the_projects_own_laugh_becomes_a_laughing_torso(tmp_path):
    assert main(["laugh", "sample", "-o", str(tmp_path / "take"), "--no-video"]) == 0
    signals = read_signals(tmp_path / "take" / "signals.csv")
    assert np.corrcoef(signals[TARGET], signals["lung_pressure_cmH2O"])[0, 1] > 0.98
    assert np.ptp(signals["lung_volume_l"]) > 0.3 and np.ptp(signals["umbilicus_ap_mm"]) > 5
    assert (tmp_path / "take" / "sound.flac").is_file()


def test_secondary_motion_goes_with_the_strength_and_its_knob():
    time = np.arange(0.0, 4.0, 0.005)
    weak, strong = Target(time, laugh(time)), Target(time, 2.0 * laugh(time))
    assert secondary("laugh", weak, 0.0) == () and secondary("breathing", weak) == ()
    spine, shoulders = (
        next(channel for channel in secondary("laugh", weak) if channel.target == name)
        for name in ("spine.flexion", "shoulders.elevation")
    )
    for one, other in zip(secondary("laugh", weak, 2.0), secondary("laugh", strong)):
        assert one(time) == pytest.approx(other(time), abs=1e-9)  # twice the knob is twice the laugh
    inside = (time > 0.6) & (time < 1.8)
    assert spine(time)[inside].min() > 1.0  # the trunk is bent throughout the bout
    assert np.corrcoef(shoulders(time)[inside], weak.pressure[inside])[0, 1] > 0.95  # the shoulders go with the calls
    assert abs(spine(time)[-1]) < 0.3 and abs(shoulders(time)[-1]) < 0.01


def test_calls_searched_one_after_the_other_are_the_motion_of_their_control():
    from risorius.app.laugh import heard_in
    from risorius.app.perform import simulate
    from risorius.app.searches import search_laugh
    from risorius.respiration.utterances import LaughPlan
    from risorius.respiration.utterances import laugh as utter

    found = heard_in("x", utter(LaughPlan(bouts=(2,), lead=0.3), seed=5).sound, kind="laugh")
    one, cost = search_laugh(
        found, reference("male"), "search", besides=secondary("laugh", found.target), budget=20, workers=1
    )
    assert cost["evaluations_a_call"] == [20, 20] and len(cost["parameters"][0]) == 7
    _, again, _ = simulate(one.control, reference("male"))
    for name in ("lung_pressure_cmH2O", "lung_volume_l", "act_diaphragm", "sternum_ap_mm"):
        assert again.signals[name] == pytest.approx(one.record.signals[name], abs=1e-6), name
