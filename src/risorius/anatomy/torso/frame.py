"""From the man of 1.75 m in the tables to the subject: one smooth map of space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from risorius.anatomy.tables import metres, table
from risorius.core.spec import Spec
from risorius.core.torso import Floats


@dataclass(frozen=True)
class Frame:
    """x → depth·x, y → height·y, z → breadth(y)·z, breadth blending from pelvis to chest.

    Args:
        depth, height, chest, pelvis: factors of the subject to the man of the tables [-].
        blend: (2,) heights [m] in the tables where the pelvis' breadth ends and the chest's begins.
    """

    depth: float
    height: float
    chest: float
    pelvis: float
    blend: tuple[float, float]

    def breadth(self, y: Floats) -> Floats:
        """Factor of breadth at a height y [m] of the tables."""
        t = np.clip((y - self.blend[0]) / (self.blend[1] - self.blend[0]), 0.0, 1.0)
        return self.pelvis + (self.chest - self.pelvis) * t * t * (3 - 2 * t)

    def points(self, reference: Any) -> Floats:
        """Map points (…, 3) [m]."""
        p = np.asarray(reference, float)
        return np.stack([p[..., 0] * self.depth, p[..., 1] * self.height, p[..., 2] * self.breadth(p[..., 1])], -1)

    def table(self, point_mm: Any) -> Floats:
        """Map points of a table [mm] to the subject [m]."""
        return self.points(metres(point_mm))

    @property
    def scale(self) -> float:
        """Mean factor of length [-]."""
        return float((self.depth * self.height * self.chest) ** (1 / 3))


def subject_frame(spec: Spec) -> Frame:
    """Scale factors from sex, stature, body-mass index and age (`data/scaling.json`)."""
    t = table("scaling")
    sex = t["sex"][spec.sex]
    tall = spec.stature / t["reference_stature_m"]
    heavy = spec.bmi / sex["reference_bmi"]
    older = 1 + t["depth_per_year"] * (spec.age - t["reference_age"])
    power = t["power"]
    return Frame(
        depth=sex["depth"] * tall ** power["depth_of_stature"] * heavy ** power["depth_of_bmi"] * older,
        height=sex["height"] * tall,
        chest=sex["chest"] * tall ** power["breadth_of_stature"] * heavy ** power["breadth_of_bmi"],
        pelvis=sex["pelvis"] * tall ** power["breadth_of_stature"],
        blend=(t["blend_mm"][0] * 1e-3, t["blend_mm"][1] * 1e-3),
    )
