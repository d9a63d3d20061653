"""The muscle laboratory against closed forms, and against what the dissertation saw."""

import json
import subprocess
import sys

import numpy as np
import pytest

from risorius.app.muscle_lab import (
    DAMPING,
    LAWS,
    MASS,
    REST,
    STEP,
    STIFFNESS,
    hang,
    quick_release,
    rest_full_rest,
    resting_place,
)
from risorius.core.units import GRAVITY
from risorius.mechanics import muscles
from risorius.view.muscle_lab import laws


@pytest.fixture(scope="module")
def pulled():
    return rest_full_rest()


@pytest.fixture(scope="module")
def released():
    return quick_release()


def test_what_hangs_at_rest_stays(pulled):
    for name, trace in pulled.items():
        before = trace.time < 1.0
        assert np.abs(trace.place[before] - resting_place(name)).max() < 1e-6
        assert trace.force[before] == pytest.approx(MASS * GRAVITY, rel=1e-5)


def test_every_element_carries_the_weight_when_it_has_settled(pulled):
    for name, trace in pulled.items():
        for moment, activation in ((4.99, 1.0), (9.0, 0.0)):
            if name == "spring" and activation:
                continue  # swings about a point a fifth of a metre below the upper particle for longer than that
            k = int(np.searchsorted(trace.time, moment)) - 1
            assert trace.place[k] == pytest.approx(resting_place(name, activation), abs=0.02), name


def test_a_spring_is_a_damped_oscillator():
    start = resting_place("spring") + 0.05
    trace = hang("spring", lambda _: 0.0, 1.5, start=start)
    decay = DAMPING / (2.0 * MASS)
    beat = np.sqrt(STIFFNESS / MASS - decay**2)
    exact = 0.05 * np.exp(-decay * trace.time) * (np.cos(beat * trace.time) + decay / beat * np.sin(beat * trace.time))
    assert np.abs(trace.place - resting_place("spring") - exact).max() < 5e-4 * 0.05 / STEP * 1e-3


def test_smaller_steps_come_closer_in_proportion():
    def last(step):
        return hang("hill", lambda _: 0.6, 0.3, start=1.0, step=step).place[-1]

    fine = last(1e-5)
    assert abs(last(4e-4) - fine) / abs(last(1e-4) - fine) == pytest.approx(4.3, rel=0.25)


def test_the_spring_overshoots_the_upper_particle_and_the_muscle_does_not(pulled):
    assert pulled["spring"].place.min() < 0.0  # D fig. 4.3: in frame 3 the lower particle is above the upper one
    assert pulled["hill"].place.min() > 0.5 * REST  # D §4.3: no less than half its length


def test_a_released_muscle_drops_its_force_by_its_speed_not_its_length(released):
    for name, trace in released.items():
        held = trace.time < 0.5
        at = int(np.searchsorted(trace.time, 0.5))
        assert np.ptp(trace.force[held]) == 0.0 and np.ptp(trace.place[held]) == 0.0
        drop = trace.force[at] - trace.force[at + 25]  # 50 ms later
        assert drop > 0.0, name
        if name == "spring":
            continue
        stretch = trace.place[at + 25] / REST
        by_length = 0.5 * LAWS[name][1][0] * (1.0 - ((stretch - 1.0) / 0.5) ** 2)
        assert trace.force[at + 25] < 0.75 * by_length  # what is missing is force-velocity


def test_the_drawn_laws_are_those_that_are_simulated():
    speed = np.linspace(-1.2, 1.2, 97)
    drawn = laws(speed)
    assert drawn["hill"] == pytest.approx([muscles.force_velocity(v)[0] for v in speed])
    assert drawn["hill-paper"] == pytest.approx([muscles.force_velocity_paper(v)[0] for v in speed])


def test_the_command_writes_tables_and_pictures(tmp_path):
    words = [sys.executable, "-m", "risorius", "lab", "muscle", "-o", str(tmp_path / "lab"), "--json"]
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert set(json.loads(result.stdout)) == {"rest-full-rest", "quick-release", "folder"}
    names = {path.name for path in (tmp_path / "lab").iterdir()}
    assert names == {
        "rest-full-rest.csv", "rest-full-rest.png", "rest-full-rest-film.png", "quick-release.csv", "quick-release.png",
        "quick-release-film.png", "laws.png",
    }  # fmt: skip
