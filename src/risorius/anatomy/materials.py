"""What the torso is made of: reads the tables of `data/` into the model."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from importlib.resources import files

from risorius.anatomy.volumes import predicted
from risorius.core.model import JointMaterial, LungTable, Material, Softness
from risorius.core.spec import Spec
from risorius.core.torso import Torso
from risorius.core.units import CMH2O, LITRE


def table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a data file."""
    return csv.DictReader(files("risorius.anatomy").joinpath("data", name).read_text().splitlines())


def materials(groups: tuple[str, ...]) -> dict[str, Material]:
    """A material for every group; the row `*` stands for groups that have none of their own."""
    rows = {row["group"]: row for row in table("materials.csv")}
    made = {}
    for group in groups:
        row = rows.get(group, rows["*"])
        numbers = ("stress_Pa", "stretch", "width", "speed_per_s", "passive", "damping_s", "rise_s", "fall_s")
        made[group] = Material(row["law"], *(float(row[key]) for key in numbers))
    return made


def joints(names: tuple[str, ...]) -> tuple[JointMaterial, ...]:
    """The joint of every body, by the first family whose pattern fits its name."""
    families = json.loads(files("risorius.anatomy").joinpath("data/joints.json").read_text())["families"]
    made = []
    for name in names:
        family = next(family for family in families if re.fullmatch(family["match"], name))
        low, high = zip(*([math.radians(end) for end in ends] for ends in family["limit"]))
        made.append(
            JointMaterial(
                tuple(family["stiffness"]),
                tuple(family["damping"]),
                low,
                high,
                family["limit_stiffness"],
                family["limit_damping"],
            )
        )
    return tuple(made)


def softness() -> Softness:
    """Struts, tissue, contact and content."""
    return Softness({row["name"]: float(row["value"]) for row in table("softness.csv")})


def lung(spec: Spec, torso: Torso, soft: Softness) -> LungTable:
    """The subject's lung: predicted volumes, geometry's tissue volume, tables for recoil and airway."""
    row = {item["name"]: float(item["value"]) for item in table("lung.csv")}
    total, residual = predicted("TLC", spec), predicted("RV", spec)
    return LungTable(
        total=total,
        functional=predicted("FRC", spec),
        residual=residual,
        tissue=float(torso.landmarks["tissue_volume"]),
        recoil=row["recoil"] * CMH2O,
        full=row["full"] * CMH2O,
        curvature=row["curvature"] / CMH2O,
        linear=row["linear"] * CMH2O / LITRE,
        quadratic=row["quadratic"] * CMH2O / LITRE**2,
        nasal_linear=row["nasal_linear"] * CMH2O / LITRE,
        nasal_quadratic=row["nasal_quadratic"] * CMH2O / LITRE**2,
        upstream=row["upstream"] * CMH2O / (total - residual),
        peak=row["peak"] * total,
        glottis=row["glottis"] * 1e-4,
        abdomen=soft["abdomen_pressure"],
    )
