"""Searches on problems whose answer is known."""

import numpy as np
import pytest

from risorius.core.errors import InputError
from risorius.inverse.breath.drive import breath_control, knobs
from risorius.inverse.misfit import correlation, error_p, error_v, normalised_rms
from risorius.inverse.parameters import call_parameters, hump, laugh_control
from risorius.inverse.search.anneal import annealing
from risorius.inverse.search.direct import direct_search, regular_simplex
from risorius.inverse.search.evolution import evolution
from risorius.inverse.search.executors import Processes, Serial
from risorius.inverse.search.problem import Parameter, Problem, folded, minimise

ALGORITHMS = {"direct": direct_search, "anneal": annealing, "evolution": evolution}


def bowl(values):
    """A tilted, stretched bowl with its bottom 0.5 at (1, -2, 0.3)."""
    a, b, c = np.asarray(values) - [1.0, -2.0, 0.3]
    return 0.5 + (a + 0.5 * b) ** 2 + 3.0 * (b - c) ** 2 + 0.5 * c**2


def rosenbrock(values):
    x, y = values
    return (1 - x) ** 2 + 20 * (y - x * x) ** 2


BOWL = Problem((Parameter("a", -3, 3), Parameter("b", -4, 4), Parameter("c", 0, 1, 0.9)), bowl)
VALLEY = Problem((Parameter("x", -2, 2, -1.0), Parameter("y", -1, 3)), rosenbrock)
CALL = call_parameters(0.4, 0.6)
TRUE_CALL = np.array([0.45, 0.7, 0.38, 5.5, 0.12, 0.35, 4.0])


def pressure(values):
    """A stand-in for a torso with a closed form: humps low-passed by nothing, added up with signs."""
    control = laugh_control([np.asarray(values)], 1.0)
    time = np.arange(0, 1, 0.005)
    return sum(
        {"intercostal_internal": 12.0, "abdomen": 30.0, "diaphragm": -15.0}[channel.target] * channel.curves[0](time)
        for channel in control.channels
    )


def call_cost(values):
    return normalised_rms(pressure(values), pressure(TRUE_CALL))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_search_finds_the_bottom_of_a_bowl(name):
    found = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=1), Serial(), budget=1800)
    assert found.cost == pytest.approx(0.5, abs=0.02)  # of 70 at the corners; a simplex creeps along the slant
    assert np.abs(found.values - [1, -2, 0.3]).max() < 0.3
    assert (np.diff(found.best_so_far) <= 0).all() and found.best_so_far[-1] == found.cost


@pytest.mark.parametrize("name", ["direct", "evolution"])
def test_the_curved_valley(name):
    found = minimise(VALLEY, ALGORITHMS[name](VALLEY.start(), seed=3), Serial(), budget=2500)
    assert found.cost < 1e-3 and np.abs(found.values - 1).max() < 0.05


@pytest.mark.parametrize("name, bar", [("direct", 0.18), ("anneal", 0.18), ("evolution", 0.1)])
def test_a_planted_call_is_found_again(name, bar):
    """The papers' searches end at 0.18 and 0.16 of the rms of zero pressure."""
    problem = Problem(CALL, call_cost)
    found = minimise(problem, ALGORITHMS[name](problem.start(), seed=2), Serial(), budget=1800)
    assert found.cost < bar


def test_planted_breath_amplitudes_are_found_again():
    rng, time = np.random.default_rng(0), np.arange(0, 8, 0.04)
    four = ("intercostal_external", "diaphragm", "intercostal_internal", "abdomen")
    response = rng.normal(size=(4, 12))

    def motion(values):
        table = ["rectus_upper" if group == "abdomen" else group for group in four]
        return breath_control(dict(zip(four, values)), 4.0, 8.0).excitation(table, time) @ response

    planted = np.array([0.3, 0.12, 0.05, 0.2])
    parameters = tuple(knobs()[name] for name in four)
    problem = Problem(parameters, lambda values: normalised_rms(motion(values), motion(planted)))
    found = minimise(problem, direct_search(problem.start(), seed=0), Serial(), budget=1500)
    assert np.abs(found.values - planted).max() < 0.01


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_seed_asks_for_the_same_points(name):
    runs = [minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=7), Serial(), budget=200) for _ in range(2)]
    other = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=8), Serial(), budget=200)
    assert np.array_equal(runs[0].tried, runs[1].tried) and not np.array_equal(runs[0].tried, other.tried)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_points_stay_within_their_bounds_and_the_budget_is_kept(name):
    found = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=5), Serial(), budget=333)
    low, high = np.array([(p.low, p.high) for p in BOWL.parameters]).T
    assert (found.tried >= low).all() and (found.tried <= high).all() and len(found.costs) <= 333


def test_processes_give_what_one_process_gives():
    alone = minimise(BOWL, direct_search(BOWL.start(), seed=4), Serial(), budget=120)
    with Processes(2) as executor:
        spread = minimise(BOWL, direct_search(BOWL.start(), seed=4), executor, budget=120)
    assert np.array_equal(alone.tried, spread.tried) and np.array_equal(alone.costs, spread.costs)


@pytest.mark.nightly
def test_a_dask_cluster_gives_what_one_process_gives():
    from risorius.inverse.search.executors import Dask

    alone = minimise(BOWL, direct_search(BOWL.start(), seed=4), Serial(), budget=60)
    with Dask(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as executor:
        spread = minimise(BOWL, direct_search(BOWL.start(), seed=4), executor, budget=60)
    assert np.array_equal(alone.costs, spread.costs)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_search_broken_off_goes_on_where_it_stopped(name, tmp_path):
    archive = tmp_path / "costs.jsonl"
    whole = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=6), Serial(), budget=300)
    minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=6), Serial(), budget=110, archive=archive)
    archive.write_bytes(archive.read_bytes()[:-9])  # cut off while writing
    again = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=6), Serial(), budget=300, archive=archive)
    assert np.array_equal(again.tried, whole.tried) and np.array_equal(again.costs, whole.costs)
    assert again.computed <= 300 - 109
    third = minimise(BOWL, ALGORITHMS[name](BOWL.start(), seed=6), Serial(), budget=300, archive=archive)
    assert third.computed == 0 and np.array_equal(third.costs, whole.costs)


def test_an_archive_of_another_problem_is_refused(tmp_path):
    archive = tmp_path / "costs.jsonl"
    minimise(BOWL, direct_search(BOWL.start()), Serial(), budget=20, archive=archive)
    with pytest.raises(InputError, match=r"costs\.jsonl:1: expected 2 values, got 3"):
        minimise(VALLEY, direct_search(VALLEY.start()), Serial(), budget=20, archive=archive)
    archive.write_text("rubbish\n" + archive.read_text())
    with pytest.raises(InputError, match=r"costs\.jsonl:1"):
        minimise(BOWL, direct_search(BOWL.start()), Serial(), budget=20, archive=archive)


def test_a_cost_that_is_no_number_is_the_worst():
    problem = Problem((Parameter("x", 0.0, 1.0),), lambda v: float("nan") if v[0] < 0.5 else (v[0] - 0.7) ** 2)
    found = minimise(problem, direct_search(problem.start(), seed=0), Serial(), budget=200)
    assert found.values[0] == pytest.approx(0.7, abs=1e-3)


def test_the_goal_ends_a_search():
    assert len(minimise(BOWL, direct_search(BOWL.start()), Serial(), budget=5000, goal=0.6).costs) < 400


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_simplex_is_regular(count):
    vertices = regular_simplex(count, np.random.default_rng(count))
    gaps = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)[~np.eye(count + 1, dtype=bool)]
    assert np.allclose(gaps, 1.0) and np.allclose(vertices[0], 0.0)


def test_folding_mirrors_at_the_walls():
    assert np.allclose(folded(np.array([-0.2, 0.3, 1.3, 2.4, -1.0])), [0.2, 0.3, 0.7, 0.4, 1.0])


@pytest.mark.parametrize("low, high, start", [(1.0, 1.0, None), (2.0, 1.0, None), (0.0, 1.0, 3.0)])
def test_bounds_that_cannot_be_are_refused(low, high, start):
    with pytest.raises(InputError, match="force"):
        Parameter("force", low, high, start)


def test_a_hump_is_one_period_from_zero_to_zero():
    wave = hump(0.8, 0.3, 5.0)
    time = np.linspace(0, 1, 2001)
    value = wave(time)
    assert value.max() == pytest.approx(0.8, abs=1e-6) and time[value.argmax()] == pytest.approx(0.4, abs=1e-3)
    assert np.abs(value[(time < 0.3) | (time > 0.501)]).max() == 0.0
    assert np.trapezoid(value, time) == pytest.approx(0.8 * 0.5 * 0.2, rel=1e-3)


def test_the_papers_errors_in_closed_form():
    target = np.sin(np.linspace(0, 7, 500))
    assert normalised_rms(np.zeros(500), target) == 1.0 and normalised_rms(target, target) == 0.0
    assert normalised_rms(1.1 * target, target) == pytest.approx(0.1)
    assert normalised_rms(np.ones(3), np.zeros(3)) == np.inf and normalised_rms(np.zeros(3), np.zeros(3)) == 0.0
    assert correlation(3 * target + 1, target) == pytest.approx(1.0) and correlation(np.ones(500), target) == 0.0
    turns = np.arange(400) / 400
    moving = np.zeros((400, 2, 3))
    moving[:, 0, 0] = 0.01 * np.sin(2 * np.pi * turns)
    assert error_p(np.zeros_like(moving), moving) == pytest.approx(0.01 * 2 / np.pi / 2, rel=1e-3)
    speed = 2 * np.pi * 0.01 * 0.25  # a breath of 4 s, 100 frames a second
    assert error_v(np.zeros_like(moving), moving, 100.0, cyclic=True) == pytest.approx(speed * 2 / np.pi / 2, rel=1e-3)
    gap = moving.copy()
    gap[:, 1] = np.nan
    assert error_p(np.zeros_like(moving), gap) == pytest.approx(0.01 * 2 / np.pi, rel=1e-3)
