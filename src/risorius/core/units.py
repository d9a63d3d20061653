"""Units at the border: inside everything is SI (metres, kilograms, seconds, pascals, radians)."""

from __future__ import annotations

from typing import Final

CMH2O: Final = 98.0665
"""Pascals in a centimetre of water at 4 °C (conventional)."""
LITRE: Final = 1e-3
"""Cubic metres in a litre."""
MM: Final = 1e-3
"""Metres in a millimetre."""
ATMOSPHERE: Final = 101325.0
"""Standard atmosphere [Pa]."""
GRAVITY: Final = 9.80665
"""Standard gravity [m/s²]."""
