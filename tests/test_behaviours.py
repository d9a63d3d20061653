"""Behaviours as controls: knobs do what they say, whatever the style; no simulation here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risorius.anatomy.torso.build import GROUPS
from risorius.control.behaviours import Knobs, behaviour, lasting, names, styles, variation
from risorius.control.bind import MOTIONS
from risorius.core.errors import InputError
from risorius.io.control_file import control_text, read_control

TIMES = np.arange(0.0, 30.0, 0.01)
CONTRACT = {
    "calm", "deep", "pant", "forced-exhale", "abdominal", "chest", "combined", "giggle", "laugh", "belly-laugh", "cough",
    "sneeze", "paradox", "rest", "vital-capacity", "forced-expiration", "sniff", "max-effort", "diaphragm-only",
    "relaxed-curve",
}  # fmt: skip


def test_every_behaviour_of_the_contract_is_there():
    assert set(names()) >= CONTRACT


@pytest.mark.parametrize("name", names())
def test_every_behaviour_is_written_and_read_back(name, tmp_path):
    control = behaviour(name, 20.0, "supine", "nose", Knobs(irregularity=1.0, seed=3))
    path = tmp_path / "control.xml"
    path.write_text(control_text(control))
    assert read_control(path) == control
    value = control.excitation(GROUPS, TIMES)
    assert value.min() >= 0.0 and value.max() <= 1.0
    assert control.targets() <= set(GROUPS) | set(MOTIONS) | {
        "glottis",
        "lips",
        "syringe",
        "abdomen",
        "inspiratory",
        "accessory",
        "expiratory",
    }
    assert 0.0 < lasting(name) <= 60.0


@settings(max_examples=60)
@given(
    name=st.sampled_from(names()), rate=st.none() | st.floats(0.5, 120.0), depth=st.floats(0.0, 5.0), mix=st.floats(0, 1),
    calls=st.none() | st.integers(1, 20), bouts=st.none() | st.integers(1, 5), effort=st.floats(0.0, 5.0),
    irregularity=st.floats(0.0, 3.0), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_knobs_give_a_control_within_its_range(name, **turned):
    control = behaviour(name, 10.0, knobs=Knobs(**turned))
    times = TIMES[TIMES < 10.0]
    value, valve = control.excitation(GROUPS, times), control.glottis(times)
    assert np.isfinite(value).all() and value.min() >= 0.0 and value.max() <= 1.0
    assert valve.min() >= 0.0 and valve.max() <= 1.0


def humps(signal):
    """How often a signal rises through half its height."""
    above = signal > 0.5 * signal.max()
    return int((~above[:-1] & above[1:]).sum())


def test_rate_is_a_rate():
    for name in ("calm", "pant", "combined"):
        control = behaviour(name, 30.0, knobs=Knobs(rate=24.0))
        assert humps(control.excitation(GROUPS, TIMES)[:, GROUPS.index("diaphragm")]) == 12


def test_calls_and_bouts_are_counted():
    control = behaviour("laugh", 30.0, knobs=Knobs(calls=7, bouts=2, rate=4.0))
    wall = control.excitation(GROUPS, TIMES)[:, GROUPS.index("transversus")]
    beats = np.flatnonzero((np.diff(wall)[:-1] > 0) & (np.diff(wall)[1:] <= 0))
    assert len(beats) == 14
    gaps = np.diff(TIMES[beats])
    assert np.median(gaps) == pytest.approx(0.25, abs=0.011)


def test_mix_moves_effort_from_the_chest_to_the_belly():
    chest, even, belly = (
        behaviour("calm", 30.0, knobs=Knobs(mix=mix)).excitation(GROUPS, TIMES) for mix in (0, 0.5, 1)
    )
    d, r = GROUPS.index("diaphragm"), GROUPS.index("parasternal")
    assert chest[:, d].max() == 0.0 and np.array_equal(chest[:, r], even[:, r])
    assert belly[:, r].max() == 0.0 and np.array_equal(belly[:, d], even[:, d])


def test_depth_scales_what_breathes_in_and_effort_everything():
    base, deeper, harder = (
        behaviour("deep", 30.0, knobs=knobs).excitation(GROUPS, TIMES)
        for knobs in (Knobs(), Knobs(depth=1.2), Knobs(effort=1.2))
    )
    d, t = GROUPS.index("diaphragm"), GROUPS.index("transversus")
    assert np.allclose(deeper[:, d], 1.2 * base[:, d]) and np.array_equal(deeper[:, t], base[:, t])
    assert np.allclose(harder[:, [d, t]], 1.2 * base[:, [d, t]])


def test_natural_variation_is_a_persons_and_its_seed_decides():
    def depths(seed, irregularity=1.0):
        following = variation(Knobs(irregularity=irregularity, seed=seed))
        return np.array([following() for _ in range(4000)])

    drawn = depths(1)
    depth, time = drawn.std(axis=0) / drawn.mean(axis=0)
    assert 0.15 <= depth <= 0.30 and 0.1 <= time <= 0.2
    assert drawn.mean(axis=0) == pytest.approx(1.0, abs=0.03)
    assert np.corrcoef(drawn[1:, 0], drawn[:-1, 0])[0, 1] > 0.2  # not one by one at random
    assert np.array_equal(depths(1), drawn) and not np.array_equal(depths(2), drawn)
    assert (depths(1, 0.0) == 1.0).all()


def test_paradox_is_the_calm_breath_with_the_abdomen_against_it():
    calm, paradox = styles()["calm"], styles()["paradox"]
    assert {key: value for key, value in paradox.items() if key != "drive_abdomen"} == calm


@pytest.mark.parametrize("knob", [{"rate": 0.0}, {"mix": 1.5}, {"calls": 0}, {"effort": -1.0}, {"irregularity": 9.0}])
def test_knobs_out_of_range_are_refused(knob):
    with pytest.raises(InputError, match=next(iter(knob))):
        Knobs(**knob)


def test_an_unknown_behaviour_names_those_there_are():
    with pytest.raises(InputError, match="belly-laugh"):
        behaviour("dance", 1.0)


def test_a_behaviour_goes_over_another_and_into_another(monkeypatch, tmp_path):
    from risorius.app import perform as module
    from risorius.control.control import added, blended

    made = {}
    monkeypatch.setattr(module, "perform", lambda control, folder, **_: made.update(control=control))
    module.perform_behaviour("calm", tmp_path, seconds=20.0, over="laugh", at=8.0)
    assert made["control"] == added(behaviour("calm", 20.0), behaviour("laugh", 12.0).shifted(8.0))
    path = tmp_path / "deep.xml"
    path.write_text(control_text(behaviour("deep", 20.0)))
    module.perform_behaviour("calm", tmp_path, seconds=20.0, into=path, between=(5.0, 9.0))
    assert made["control"] == blended(behaviour("calm", 20.0), behaviour("deep", 20.0), 5.0, 9.0)


@pytest.mark.parametrize(
    "wrong",
    [{"over": "cat"}, {"over": "laugh", "at": 30.0}, {"over": "laugh", "at": -1.0}, {"into": "deep"},
     {"between": (1.0, 2.0)}, {"into": "deep", "between": (5.0, 2.0)}],
)  # fmt: skip
def test_impossible_mixtures_are_refused(wrong, tmp_path):
    from risorius.app.perform import perform_behaviour

    with pytest.raises(InputError):
        perform_behaviour("calm", tmp_path / "take", seconds=20.0, **wrong)
