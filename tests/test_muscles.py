"""Each muscle curve against its formula, slopes against differences, and the property that makes motion stable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.mechanics import muscles

LAWS = [muscles.PASSIVE, muscles.SPRING, muscles.HILL, muscles.HILL_D]
parameters = np.array([50.0, 0.1, 0.5, 8.0, 20.0, 0.4])
lengths = st.floats(0.04, 0.19)
speeds = st.floats(-1.2, 1.2)
activations = st.floats(0, 1)


@given(st.floats(0.3, 1.8))
def test_force_length_is_the_papers_parabola(stretch):
    value, _ = muscles.force_length(stretch, 0.5)
    assert value == pytest.approx(min(1, max(0, 1 - ((stretch - 1) / 0.5) ** 2)), abs=1e-15)


@given(st.floats(-1.5, 1.5))
def test_papers_force_velocity_is_its_formula(speed):
    value, _ = muscles.force_velocity_paper(speed)
    a = b = 0.25
    assert value == pytest.approx(min(1, max(0, (b - a * abs(speed)) / (b + abs(speed)))), abs=1e-15)


@given(st.floats(-1.5, 0))
def test_both_force_velocity_laws_agree_while_shortening(speed):
    assert muscles.force_velocity(speed)[0] == pytest.approx(muscles.force_velocity_paper(speed)[0], abs=1e-15)


def test_lengthening_branch_is_smooth_at_rest_and_ends_at_its_plateau():
    below, above = muscles.force_velocity(-1e-12), muscles.force_velocity(1e-12)
    assert below[0] == pytest.approx(above[0]) == 1.0
    assert below[1] == pytest.approx(above[1])
    assert muscles.force_velocity(1e9)[0] == pytest.approx(muscles.ECCENTRIC)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_the_default_law_never_pushes_energy_in(one, other):
    low, high = sorted((one, other))
    assert muscles.force_velocity(low)[0] <= muscles.force_velocity(high)[0]


@pytest.mark.parametrize("law", LAWS)
@given(length=lengths, speed=speeds, activation=activations, ratio=st.floats(0, 1))
def test_muscles_only_pull_and_slopes_are_derivatives(law, length, speed, activation, ratio):
    force, by_length, by_speed = muscles.tension(law, parameters, length, speed, activation, ratio)
    assert force >= 0
    step = 1e-7
    for value, base in ((by_length, "length"), (by_speed, "speed")):
        dl, dv = (step, 0) if base == "length" else (0, step)
        before = muscles.tension(law, parameters, length - dl, speed - dv, activation, ratio)
        after = muscles.tension(law, parameters, length + dl, speed + dv, activation, ratio)
        same_branch = all(abs(before[k] - after[k]) < 2e-5 * (1 + abs(value)) for k in (1, 2))
        if same_branch:
            scale = abs(before[0]) + abs(after[0]) + abs(value) + 1
            assert (after[0] - before[0]) / (2 * step) == pytest.approx(value, abs=2e-5 * scale)


@given(length=lengths, speed=speeds, activation=activations)
def test_hill_element_is_the_sum_of_its_printed_terms(length, speed, activation):
    strength, rest, width, top, stiffness, damping = parameters
    passive = max(0, stiffness * np.exp(10 * (length / rest - 1)) / np.exp(5) + damping * speed / rest)
    fl = max(0, 1 - ((length / rest - 1) / width) ** 2)
    nu = speed / rest / top
    fv = min(1, max(0, (0.25 - 0.25 * abs(nu)) / (0.25 + abs(nu))))
    expected = passive + activation * fl * fv * strength
    assert muscles.tension(muscles.HILL_D, parameters, length, speed, activation, 1.0)[0] == pytest.approx(expected)


@given(length=lengths, speed=speeds, activation=activations, ratio=st.floats(0, 1))
def test_spring_element_is_its_printed_formula(length, speed, activation, ratio):
    strength, rest, _, _, stiffness, damping = parameters
    expected = max(0, activation * strength * (length - ratio * rest) + stiffness * (length - rest) + damping * speed)
    assert muscles.tension(muscles.SPRING, parameters, length, speed, activation, ratio)[0] == pytest.approx(expected)
