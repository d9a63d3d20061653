"""The lung and its airway, two-way: gas, recoil and flow follow the chest, and press back on it.

Gas obeys Boyle's law at body temperature: an amount measured as the volume G it would fill at atmospheric pressure, in a
space V, has pressure P = P_atm (G/V − 1) relative to the mouth. Recoil follows Salazar and Knowles (1964),
V = V_max − B e^{−K P_L}, so P_L = −ln((V_max − V)/B)/K. The airway is Rohrer's: ΔP = K1 Q + K2 Q|Q|.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from risorius.maths.compiled import kernel


class Lung(NamedTuple):
    """tissue [m³]: tissue, blood, heart and mediastinum beside the gas; V_max [m³], B [m³], K [1/Pa] of the recoil;
    K1 [Pa s/m³] and K2 [Pa s²/m⁶] of the airway; lung tissue's own resistance [Pa s/m³]; atmosphere [Pa]."""

    tissue: float
    largest: float
    span: float
    curvature: float
    linear: float
    quadratic: float
    viscosity: float
    atmosphere: float


RESERVE = 0.03
"""Nearest approach to V_max, as a part of B, at which the recoil curve goes on as its tangent."""


@kernel
def recoil(lung, volume):
    """Recoil pressure P_L [Pa] of a lung at a gas volume [m³], and its slope [Pa/m³]."""
    room = (lung.largest - volume) / lung.span
    edge = RESERVE
    if room < edge:
        slope = 1.0 / (lung.curvature * lung.span * edge)
        return -math.log(edge) / lung.curvature + slope * lung.span * (edge - room), slope
    return -math.log(room) / lung.curvature, 1.0 / (lung.curvature * lung.span * room)


@kernel
def airway_flow(lung, pressure, opening):
    """Flow into the lung [m³/s] for alveolar pressure [Pa] relative to the mouth, and −∂Q/∂P; opening 0 (shut) to 1."""
    if opening <= 0.0:
        return 0.0, 0.0
    size = abs(pressure)
    k1, k2 = lung.linear / opening, lung.quadratic / (opening * opening)
    flow = 2.0 * size / (k1 + math.sqrt(k1 * k1 + 4.0 * k2 * size))
    slope = 1.0 / (k1 + 2.0 * k2 * flow)
    return (-flow if pressure > 0.0 else flow), slope


@kernel
def lung_pressure(lung, gas_past, gamma, volume, opening):
    """Alveolar pressure at the end of an implicit step, G = gas_past + γ Q(P), for a gas space of `volume` [m³].

    Returns P [Pa], ∂P/∂V [Pa/m³] (negative), the gas amount G [m³] and the flow into the lung [m³/s].
    """
    atmosphere = lung.atmosphere
    gas = gas_past
    for _ in range(30):
        pressure = atmosphere * (gas / volume - 1.0)
        flow, slope = airway_flow(lung, pressure, opening)
        error = gas - gas_past - gamma * flow
        gain = 1.0 + gamma * slope * atmosphere / volume
        change = error / gain
        gas -= change
        if abs(change) <= 1e-15 + 1e-13 * gas:
            break
    pressure = atmosphere * (gas / volume - 1.0)
    flow, slope = airway_flow(lung, pressure, opening)
    gain = 1.0 + gamma * slope * atmosphere / volume
    return pressure, -atmosphere * gas / (volume * volume) / gain, gas, flow
