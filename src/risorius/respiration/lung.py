"""The lung and its airway, two-way: gas, recoil and flow follow the chest, and press back on it.

Gas obeys Boyle's law at body temperature: an amount measured as the volume G it would fill at atmospheric pressure, in a
space V, has pressure P = P_atm (G/V − 1) relative to the mouth. Recoil follows Salazar and Knowles (1964),
V = V_max − B e^{−K P_L}, so P_L = −ln((V_max − V)/B)/K. The airway is Rohrer's with the glottis as an orifice of
opening a (0…1): ΔP = K1 Q + K2 Q|Q|/a².

Forced expiration is limited: from the equal-pressure point on the airway is squeezed, and what drives flow up to there is
recoil alone, Q_max = (P_L − P_close)/R_s (Mead 1967; Pride 1967), no more than the trachea lets pass. P_close is the recoil
at residual volume, so flow ends there: airways close.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from risorius.maths.compiled import kernel


class Lung(NamedTuple):
    """tissue [m³]: tissue, blood, heart and mediastinum beside the gas; V_max [m³], B [m³], K [1/Pa] of the recoil;
    K1 [Pa s/m³], K2 [Pa s²/m⁶] of the airway, and what of K2 (nose) does not depend on the glottis; R_s [Pa s/m³], P_close
    [Pa] and greatest flow [m³/s] of a forced expiration; atmosphere [Pa]; coupled, 1, or 0 where the lung does not press back
    on the chest and is read off the motion instead (`respiration.boyle`)."""

    tissue: float
    largest: float
    span: float
    curvature: float
    linear: float
    quadratic: float
    nasal: float
    upstream: float
    closing: float
    peak: float
    atmosphere: float
    coupled: float


RESERVE = 0.03
"""Nearest approach to V_max, as a part of B, at which the recoil curve goes on as its tangent."""
SHARP = 8
"""How sharply flow bends into its limit: Q = (Q_free^-n + Q_max^-n)^(-1/n)."""
LEAST_FLOW = 1e-6
"""Flow [m³/s] that closed airways still leak."""


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
def largest_flow(lung, volume):
    """Greatest expiratory flow Q_max [m³/s] at a gas volume [m³], and its slope [1/s]."""
    elastic, stiffness = recoil(lung, volume)
    free = (elastic - lung.closing) / lung.upstream
    if free <= LEAST_FLOW:
        return LEAST_FLOW, 0.0
    part = (1.0 + (free / lung.peak) ** SHARP) ** (-1.0 / SHARP)
    return free * part, stiffness / lung.upstream * part ** (SHARP + 1)


@kernel
def airway_flow(lung, pressure, opening, limit):
    """Flow into the lung [m³/s] for alveolar pressure [Pa] relative to the mouth, −∂Q/∂P and ∂|Q|/∂limit; opening 0 (shut)
    to 1, limit [m³/s] of what leaves."""
    if opening <= 0.0:
        return 0.0, 0.0, 0.0
    size = abs(pressure)
    k1, k2 = lung.linear, lung.quadratic / (opening * opening) + lung.nasal
    flow = 2.0 * size / (k1 + math.sqrt(k1 * k1 + 4.0 * k2 * size))
    slope = 1.0 / (k1 + 2.0 * k2 * flow)
    if pressure <= 0.0:
        return flow, slope, 0.0
    part = (1.0 + (flow / limit) ** SHARP) ** (-1.0 / SHARP)
    steep = part ** (SHARP + 1)
    return -flow * part, slope * steep, steep * (flow / limit) ** (SHARP + 1)


@kernel
def lung_pressure(lung, gas_past, gamma, volume, opening):
    """Alveolar pressure at the end of an implicit step, G = gas_past + γ Q(P, V), for a gas space of `volume` [m³].

    Returns P [Pa], ∂P/∂V [Pa/m³] (negative), the gas amount G [m³] and the flow into the lung [m³/s].
    """
    atmosphere = lung.atmosphere
    limit, limit_slope = largest_flow(lung, volume)
    gas = gas_past
    for _ in range(60):
        pressure = atmosphere * (gas / volume - 1.0)
        flow, slope, _by_limit = airway_flow(lung, pressure, opening, limit)
        error = gas - gas_past - gamma * flow
        gain = 1.0 + gamma * slope * atmosphere / volume
        change = error / gain
        gas -= change
        if abs(change) <= 1e-15 + 1e-13 * gas:
            break
    pressure = atmosphere * (gas / volume - 1.0)
    flow, slope, by_limit = airway_flow(lung, pressure, opening, limit)
    gain = 1.0 + gamma * slope * atmosphere / volume
    leaving = gamma * by_limit * limit_slope
    return pressure, -atmosphere * (gas / volume + leaving) / volume / gain, gas, flow
