"""Loudness of sounds that were recorded too loud: told from how much of the time they are cut off.

What is beyond full scale is lost, and with it how much louder the calls are than the valleys between them. But a wave of
Gaussian amplitude σ is cut off at c for the part f = 1 − erf(c / (σ√2)) of the time, so that f tells σ:

    σ = c / (√2 erf⁻¹(1 − f)).

(A sine of amplitude √2 σ is cut off for 1 − 2/π asin(c / (√2 σ)), nearly the same where f is not small.) The sound is
raised to σ where it is cut off; its spectrum stays as it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv

from risorius.core.sound import Sound
from risorius.maths.signals import low_pass

Floats = NDArray[np.float64]

TOP: Final = 0.999
"""Part of the samples that lie below the ceiling: single peaks, and the ringing of a codec, may pass it."""
NEAR: Final = 0.95
"""Samples beyond this part of the ceiling count as cut off: an amplifier bends before it cuts."""
CLIPPED: Final = 0.01
"""Sounds with a smaller part of their samples there were not cut off: of laughter as recorded well 0.1 to 0.4 % lie there."""
WINDOW: Final = 25.0
"""How quickly the part may change [Hz]: a pitch period has to be averaged over."""
BELIEVED: Final = (0.05, 0.15)
"""Part from which on the estimate is used, and from which on alone."""
MOST: Final = 0.93
"""Largest part that is believed: σ is 11 times the ceiling there."""


def unclipped(sound: Sound) -> Sound:
    """The sound with its loudness restored where it was cut off; itself where it was not."""
    size = np.abs(sound.samples - np.median(sound.samples))
    ceiling = NEAR * float(np.quantile(size, TOP))
    beyond = size >= ceiling
    if ceiling <= 0.0 or beyond.mean() < CLIPPED:
        return sound
    part = np.clip(low_pass(beyond.astype(np.float64), sound.rate, WINDOW, both_ways=True), 0.0, MOST)
    strength = np.sqrt(np.maximum(low_pass(size**2, sound.rate, WINDOW, both_ways=True), 1e-30))
    estimate = ceiling / (np.sqrt(2.0) * erfinv(1.0 - np.maximum(part, 1e-3)))
    trust = np.clip((part - BELIEVED[0]) / (BELIEVED[1] - BELIEVED[0]), 0.0, 1.0)
    gain = 1.0 + trust * (np.maximum(estimate / strength, 1.0) - 1.0)
    return Sound(sound.samples * gain, sound.rate)
