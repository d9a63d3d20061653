"""Fits against bodies with a closed form: what was planted is found, call by call."""

from dataclasses import dataclass

import numpy as np

from risorius.control.control import Control
from risorius.core.hearing import Target
from risorius.inverse.fit import fit_call
from risorius.inverse.misfit import normalised_rms
from risorius.inverse.parameters import call_channels, laugh_control
from risorius.inverse.search.executors import Processes, Serial
from risorius.inverse.sound.hear import hear
from risorius.maths.signals import low_pass
from risorius.respiration.utterances import LaughPlan, laugh
from risorius.view.searches import draw_searches

GROUPS = ("intercostal_internal", "rectus_upper", "diaphragm", "intercostal_external")
HEARD = hear(laugh(LaughPlan(bouts=(3,), lead=0.4), seed=5).sound)


@dataclass(frozen=True)
class Bellows:
    """A first-order body: pressure = activations, weighted, through a low-pass of 8 Hz."""

    weights: tuple[float, ...] = (25.0, 60.0, -20.0, -10.0)

    def drive(self, control, times):
        fine = np.arange(0.0, max(float(times[-1]), 0.1) + 0.01, 0.0025)
        return fine, low_pass(control.excitation(GROUPS, fine), 400.0, 8.0)

    def pressure(self, control: Control, times):
        fine, active = self.drive(control, times)
        return np.interp(times, fine, active @ np.array(self.weights))


def test_every_method_follows_a_heard_call(tmp_path):
    call = HEARD.calls[1]
    curves = {}
    for method in ("search", "anneal", "cma"):
        found = fit_call(Bellows().pressure, HEARD.target, call, Serial(), method=method, seed=1)
        curves[method] = found.best_so_far
        assert found.cost < 0.25, method
    search, anneal, cma = (curve[-1] for curve in curves.values())
    assert abs(search - cma) < 0.03  # both walk down into the valley that they begin in
    assert anneal <= min(search, cma) + 0.01  # which need not be the deepest: a quick diaphragm may cut the call's end
    draw_searches(tmp_path / "searches.png", curves)
    assert (tmp_path / "searches.png").stat().st_size > 10_000


def test_a_planted_call_is_followed():
    truth = np.array([0.4, 0.3, 0.42, 5.0, 0.05, 0.4, 5.0])
    times = np.arange(0.0, 1.0, 0.005)
    pressure = Bellows().pressure(laugh_control([truth], 1.0), times)
    call = HEARD.calls[0]
    moved = call.__class__(0.42, 0.64, 0.42, 0.64, 0.53, 0.0, 20.0, 0.9, 300.0)
    found = fit_call(Bellows().pressure, Target(times, pressure), moved, Serial(), budget=1500, seed=3)
    assert found.cost < 0.03
    again = Bellows().pressure(Control(call_channels(found.values), 1.0), times)
    assert normalised_rms(again, pressure) < 0.06


def test_a_search_goes_on_where_it_was_broken_off(tmp_path):
    call, archive = HEARD.calls[1], tmp_path / "call.jsonl"
    first = fit_call(Bellows().pressure, HEARD.target, call, Serial(), budget=100, archive=archive)
    again = fit_call(Bellows().pressure, HEARD.target, call, Serial(), budget=150, archive=archive)
    assert again.computed <= 50 and again.cost <= first.cost
    assert np.array_equal(again.costs[:100], first.costs)


def test_processes_fit_as_one_process_does():
    call = HEARD.calls[0]
    alone = fit_call(Bellows().pressure, HEARD.target, call, Serial(), budget=60)
    with Processes(2) as executor:
        spread = fit_call(Bellows().pressure, HEARD.target, call, executor, budget=60)
    assert np.array_equal(alone.costs, spread.costs)
