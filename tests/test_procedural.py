"""A laugh without physics: bones stay rigid and joined to their joints, sines keep the calls' time, silence is still."""

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.core.record import Record
from risorius.core.spec import reference
from risorius.inverse.procedural import procedural, waves
from risorius.inverse.sound.hear import hear
from risorius.maths.rotations import matrices
from risorius.respiration.utterances import LaughPlan, laugh

FOUND = hear(laugh(LaughPlan(bouts=(6, 5), lead=0.5), seed=4).sound, kind="laugh")
TIME = np.arange(0.0, FOUND.seconds, 0.02)


@pytest.fixture(scope="module")
def torso():
    return build(reference("male")).torso


def simulated(torso, swing):
    wave = swing * np.sin(2 * np.pi * 5.0 * TIME)
    frames, bodies = len(TIME), len(torso.bodies.names)
    rotation = np.zeros((frames, bodies, 4))
    rotation[..., 0] = 1.0
    points = np.repeat(np.asarray(torso.surface.points)[None], frames, axis=0)
    signals = {"time_s": TIME, "sternum_ap_mm": wave, "umbilicus_ap_mm": 2.0 * wave}
    return Record(TIME, np.zeros((frames, bodies, 3)), rotation, points, signals)


def test_the_belly_beats_with_the_calls_and_rests_between_bouts():
    ribs, belly = waves(FOUND, TIME)
    for bout in FOUND.bouts:
        inside = (bout.start + 0.1 < TIME) & (bout.end - 0.1 > TIME)
        crossings = np.sum(np.diff(np.sign(belly[inside])) != 0)
        rate = 0.5 * crossings / (TIME[inside][-1] - TIME[inside][0])
        assert rate == pytest.approx(FOUND.call_rate, rel=0.15)
    between = (FOUND.bouts[0].end + 0.1 < TIME) & (FOUND.bouts[1].start - 0.1 > TIME)
    assert between.any() and np.abs(ribs[between]).max() == 0.0 and np.abs(belly[between]).max() == 0.0


def test_ribs_turn_about_their_joints_and_both_shake_as_hard_as_the_simulated_one(torso):
    record = procedural(torso, FOUND, simulated(torso, 3.0))
    spin = matrices(record.rotation)
    for name in ("rib2_l", "rib7_r"):
        k = torso.bodies.index(name)
        pivot = np.asarray(torso.bodies.joint_point[k])
        assert np.abs(spin[:, k] @ pivot + record.position[:, k] - pivot).max() < 1e-12
    assert np.ptp(record.signals["sternum_ap_mm"]) == pytest.approx(6.0, rel=0.35)
    assert np.ptp(record.signals["umbilicus_ap_mm"]) == pytest.approx(12.0, rel=0.35)
    right, left = (record.rotation[:, torso.bodies.index(f"rib5_{side}")] for side in "rl")
    assert np.abs(right * [1, -1, -1, 1] - left).max() < 1e-6  # mirrored
    still = procedural(torso, FOUND, simulated(torso, 0.0))
    assert np.abs(still.points - np.asarray(torso.surface.points)).max() < 1e-9
