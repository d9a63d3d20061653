"""The papers' one-way lung: read off the motion of the chest, without pressing back on it (DiLorenzo 2009, §6.3.1).

    P_lung = P_pl + P_tm                    P_tm = P_0 + s (V_lung − V_0), linear in lung volume             (6.1)
    P_pl (V_cw − V_lung) = constant         Boyle's law for the pleural space                                (6.2)
    V_lung ← V_lung + Q dt                                                                                   (6.3)
    Q = −sign(ΔP) sqrt(|ΔP|/k)              ΔP = P_lung − P_atm, turbulent flow in the trachea               (6.4)

As printed, (6.4) would let pressure above the atmosphere's fill the lung; flow goes the other way. Two passes a step, as
in the paper: pressures from the chest's new and the lung's old volume, then flow, volume and pressures again. An opening
of the glottis a < 1, which the paper lacks, takes k/a² for k.

Explicit steps of a square root ring about ΔP = 0 by (dt (P_pl/V_pl + s))²/4k: 0.6 cmH2O at the paper's 1 ms, nothing to
speak of at the fiftieth of that, which is taken here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.compiled import kernel

Floats = NDArray[np.float64]
STEP: Final = 2e-5
"""Longest step [s] of the two passes."""
LEAST_SPACE: Final = 1e-6
"""Least pleural space [m³]: a chest smaller than its lung is as good as closed."""
SHUT: Final = 1e-6
"""Opening of the glottis below which nothing flows."""


@dataclass(frozen=True)
class Boyle:
    """Constants of the one-way lung.

    Args:
        transmural: s, slope of P_tm with lung volume [Pa/m³].
        recoil: P_0, P_tm at the start [Pa].
        turbulence: k [Pa s²/m⁶].
        filled: lung volume at the start as a part of the chest's.
        atmosphere: pressure at the mouth [Pa].
    """

    transmural: float
    recoil: float
    turbulence: float
    filled: float
    atmosphere: float

    def read_off(self, time: Floats, chest: Floats, opening: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Lung volume [m³], lung pressure and pleural pressure [Pa, relative to the mouth] and flow into the lung [m³/s].

        Args:
            time: (n,) [s], rising evenly.
            chest: (n,) volume of the chest cavity [m³]; a cubic spline between them.
            opening: (n,) of the glottis, 0…1; straight between them.
        """
        if len(time) < 2:
            volume = self.filled * chest
            return volume, np.zeros(1), np.full(1, -self.recoil), np.zeros(1)
        from scipy.interpolate import CubicSpline

        every = max(1, math.ceil((time[1] - time[0]) / STEP))
        fine = np.interp(np.arange((len(time) - 1) * every + 1) / every, np.arange(len(time)), time)
        spline = CubicSpline(time, chest)
        out = np.zeros((4, len(time)))
        passes(spline(fine), np.interp(fine, time, opening), float(fine[1] - fine[0]), every, *self.constants(), out)
        return out[0], out[1] - self.atmosphere, out[2] - self.atmosphere, out[3]

    def constants(self) -> tuple[float, ...]:
        """Numbers in the order of `passes`."""
        return self.transmural, self.recoil, self.turbulence, self.filled, self.atmosphere


@kernel
def passes(chest, opening, dt, every, slope, recoil, turbulence, filled, atmosphere, out):
    """Two passes a step through `chest` (n) [m³]; volume, lung and pleural pressure [Pa, absolute] and flow [m³/s] of every
    so many steps into out (4, ·)."""
    first = filled * chest[0]
    lung = first
    pleural = atmosphere - recoil
    content = pleural * (chest[0] - lung)
    out[0, 0], out[1, 0], out[2, 0], out[3, 0] = lung, atmosphere, pleural, 0.0
    for i in range(1, chest.size):
        pleural = content / max(chest[i] - lung, LEAST_SPACE)
        excess = pleural + recoil + slope * (lung - first) - atmosphere
        flow = 0.0
        if opening[i] > SHUT:
            flow = opening[i] * math.sqrt(abs(excess) / turbulence)
            if excess > 0.0:
                flow = -flow
        lung = max(lung + flow * dt, 0.0)
        pleural = content / max(chest[i] - lung, LEAST_SPACE)
        if i % every == 0:
            k = i // every
            out[0, k], out[1, k], out[2, k], out[3, k] = lung, pleural + recoil + slope * (lung - first), pleural, flow
