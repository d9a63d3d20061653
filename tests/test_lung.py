"""The lung's laws against their closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.respiration.lung import Lung, airway_flow, largest_flow, lung_pressure, recoil

LUNG = Lung(2.1e-3, 7e-3, 5e-3, 8e-4, 1.2e5, 3e7, 0.0, 1.8e5, -200.0, 1e-2, 101325.0, 1.0)
FREE = 1e3  # a limit of flow [m³/s] that nothing reaches
volumes = st.floats(2.5e-3, 6.8e-3)
pressures = st.floats(-2e4, 2e4)


@given(volumes)
def test_recoil_inverts_salazar_and_knowles(volume):
    pressure, slope = recoil(LUNG, volume)
    assert LUNG.largest - LUNG.span * math.exp(-LUNG.curvature * pressure) == pytest.approx(volume, rel=1e-12)
    assert slope == pytest.approx((recoil(LUNG, volume + 1e-9)[0] - recoil(LUNG, volume - 1e-9)[0]) / 2e-9, rel=1e-4)


def test_recoil_goes_on_smoothly_past_the_largest_volume():
    edge = LUNG.largest - 0.03 * LUNG.span
    below, above = recoil(LUNG, edge - 1e-12), recoil(LUNG, edge + 1e-12)
    assert below[0] == pytest.approx(above[0]) and below[1] == pytest.approx(above[1])
    assert recoil(LUNG, LUNG.largest * 1.1)[0] > recoil(LUNG, LUNG.largest)[0]


@given(pressures, st.floats(0.05, 1))
def test_flow_solves_rohrers_equation_and_leaves_from_pressure(pressure, opening):
    flow, slope, _ = airway_flow(LUNG, pressure, opening, FREE)
    drop = LUNG.linear * flow + LUNG.quadratic / opening**2 * flow * abs(flow)
    assert -drop == pytest.approx(pressure, rel=1e-9, abs=1e-9)
    assert slope > 0


def test_a_shut_glottis_lets_nothing_through():
    assert airway_flow(LUNG, 5000.0, 0.0, FREE) == (0.0, 0.0, 0.0)


@given(volumes, st.floats(-5e-5, 5e-5))
def test_shut_gas_obeys_boyle(volume, squeeze):
    gas = volume
    pressure, _, after, _ = lung_pressure(LUNG, gas, 1e-3, volume + squeeze, 0.0)
    assert after == gas
    assert (pressure + LUNG.atmosphere) * (volume + squeeze) == pytest.approx(LUNG.atmosphere * gas, rel=1e-12)


@given(volumes, st.floats(-3e-4, 3e-4), st.floats(1e-4, 1e-2))
def test_implicit_pressure_is_consistent_with_flow_and_its_slope_is_the_derivative(volume, excess, gamma):
    gas = volume + excess
    pressure, slope, after, flow = lung_pressure(LUNG, gas, gamma, volume, 1.0)
    assert after == pytest.approx(gas + gamma * flow, rel=1e-12)
    limit = largest_flow(LUNG, volume)[0]
    assert airway_flow(LUNG, pressure, 1.0, limit)[0] == pytest.approx(flow, rel=1e-9, abs=1e-15)
    step = 1e-9
    higher, lower = (lung_pressure(LUNG, gas, gamma, volume + sign * step, 1.0)[0] for sign in (1, -1))
    assert (higher - lower) / (2 * step) == pytest.approx(slope, rel=1e-3)


def test_emptying_follows_the_time_constant_of_resistance_and_compliance():
    linear = LUNG._replace(quadratic=1e-12, upstream=1e-6, peak=1e6)
    volume, gas, gamma = 4e-3, 4.1e-3, 1e-6
    start = lung_pressure(linear, gas, 0.0, volume, 1.0)[0]
    constant = linear.linear * volume / linear.atmosphere
    for _ in range(int(constant / gamma)):
        pressure, _, gas, _ = lung_pressure(linear, gas, gamma, volume, 1.0)
    assert pressure / start == pytest.approx(np.exp(-1), rel=0.01)


@given(st.floats(3.5e-3, 6.5e-3), st.floats(5e3, 3e4))
def test_forced_flow_does_not_depend_on_effort(volume, effort):
    limit, slope = largest_flow(LUNG, volume)
    once, twice = (-airway_flow(LUNG, push, 1.0, limit)[0] for push in (effort, 2 * effort))
    free = -airway_flow(LUNG, effort, 1.0, FREE)[0]
    if free > 1.5 * limit:
        assert once == pytest.approx(limit, rel=0.01) and twice == pytest.approx(limit, rel=0.01)
    assert once <= min(free, limit)
    step = 1e-9
    assert slope == pytest.approx((largest_flow(LUNG, volume + step)[0] - limit) / step, rel=1e-3)


def test_airways_close_where_recoil_reaches_the_closing_pressure():
    closed = LUNG.largest - LUNG.span * math.exp(-LUNG.curvature * LUNG.closing)
    assert largest_flow(LUNG, closed - 1e-6)[0] == pytest.approx(1e-6)
    assert largest_flow(LUNG, closed + 1e-4)[0] > 1e-5
    assert airway_flow(LUNG, -1000.0, 1.0, 1e-6)[0] > 1e-4  # breathing in opens them
