"""What the search of a laugh looks for: a call's seven numbers, and the control that they stand for."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.control.control import Channel, Control
from risorius.control.curves import Sine
from risorius.inverse.search.problem import Parameter

Floats = NDArray[np.float64]

FREQUENCIES: Final = (2.5, 10.0)
"""Of one call's activations [Hz]: a call lasts 0.1 to 0.4 s."""
EARLY: Final = 0.10
"""Muscles may begin this long before their call [s]: activation lags behind excitation."""
LEAD: Final = 0.03
"""Where their search begins [s]."""


def call_parameters(start: float, end: float, earliest: float = -np.inf) -> tuple[Parameter, ...]:
    """Seven parameters of one call (DiLorenzo 2009, §6.3.2), begun at a hump that lasts as long as the call.

    Args:
        earliest: no muscle begins before [s].
    """
    length = max(end - start, 0.05)
    frequency = float(np.clip(1.0 / length, *FREQUENCIES))
    low, high = max(start - EARLY, earliest), start + 0.5 * length
    usual = max(start - LEAD, low)
    return (
        Parameter("intercostal_internal_amplitude", 0.0, 1.0, 0.3),
        Parameter("abdomen_amplitude", 0.0, 1.0, 0.3),
        Parameter("expiratory_start", low, high, usual),
        Parameter("expiratory_frequency", *FREQUENCIES, frequency),
        Parameter("diaphragm_amplitude", 0.0, 1.0, 0.05),
        Parameter("diaphragm_start", low, high, usual),
        Parameter("diaphragm_frequency", *FREQUENCIES, frequency),
    )


def call_channels(values: Floats) -> tuple[Channel, ...]:
    """Channels of one call: each muscle one period of a sine, from trough to trough, so that it rises from zero."""
    internal, abdomen, start, frequency, diaphragm, diaphragm_start, diaphragm_frequency = (float(v) for v in values)
    return (
        Channel("intercostal_internal", (hump(internal, start, frequency),)),
        Channel("abdomen", (hump(abdomen, start, frequency),)),
        Channel("diaphragm", (hump(diaphragm, diaphragm_start, diaphragm_frequency),)),
    )


def hump(amplitude: float, start: float, frequency: float) -> Sine:
    """One period: amplitude · (1 − cos 2πf(t − start))/2 from `start` to `start` + 1/f [s]."""
    half = 0.5 * amplitude
    return Sine(level=half, start=start, end=start + 1.0 / frequency, amplitude=half, frequency=frequency, phase=-0.25)


def laugh_control(calls: list[Floats], seconds: float) -> Control:
    """A whole laugh from its calls' seven numbers each."""
    channels = tuple(channel for values in calls for channel in call_channels(values))
    return Control(channels, seconds, name="laugh")
