"""A rig's settings, frame by frame, as a moving skin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.model import Settings
from risorius.skin.muscle.rig import Rig

Floats = NDArray[np.float64]
NUMBERS: Final = 1 << 30
"""Most coordinates of a moving skin that are held at once."""


def deformer(vertices: Floats, rig: Rig, settings: list[Settings], **options) -> Deformer:
    """A deformer that reaches as far as any of the settings asks."""
    names = sorted(muscle.name for muscle in rig.muscles)
    most = np.max([now.d_none for now in settings], axis=0) if settings else np.zeros(len(names))
    by_name = dict(zip(names, most))
    reach = np.array([max(by_name.get(muscle.name, 0.0), muscle.d_none) for muscle in rig.muscles])
    return Deformer(vertices, list(rig.muscles), reach=reach, **options)


def frames(
    vertices: Floats, rig: Rig, settings: list[Settings], progress: Callable[[str, float], None] | None = None
) -> Floats:
    """(f, n, 3) the skin under each of the settings (muscles in the order of their names)."""
    tell = progress or (lambda _phase, _part: None)
    tell("attaching", 0.0)
    count = len(settings) * np.size(vertices)
    if count > NUMBERS:
        most = max(NUMBERS // max(np.size(vertices), 1), 1)
        raise InputError(f"expected at most {most} frames of this mesh, got {len(settings)}", place="keys")
    moving = deformer(vertices, rig, settings)
    out = np.empty((len(settings), *np.shape(vertices)))
    for number, now in enumerate(settings):
        moving.frame(now, out[number])
        tell("frames", 0.2 + 0.5 * number / len(settings))
    return out
