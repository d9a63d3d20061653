"""What the torso is made of: reads the tables of `data/` into the model."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from risorius.anatomy.volumes import predicted
from risorius.core.model import JointMaterial, LungTable, Material, Softness
from risorius.core.spec import Spec, reference
from risorius.core.torso import Torso
from risorius.core.units import ATMOSPHERE, CMH2O, LITRE


def table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a data file."""
    return csv.DictReader(files("risorius.anatomy").joinpath("data", name).read_text().splitlines())


POWER: Final = {"N/m": 1, "N s/m": 1, "m": 1, "kg": 3, "N m/rad": 3}
"""How a quantity of each unit grows with length in bodies of one shape, tissue and pressure; damping as stiffness does."""


def length(spec: Spec) -> float:
    """Length of a subject's chest over the reference man's: the cube root of their predicted total capacities."""
    return float((predicted("TLC", spec) / predicted("TLC", reference("male"))) ** (1.0 / 3.0))


@cache
def calibrated(sex: str) -> dict[str, float]:
    """What a sex was calibrated to beside its size: factors by name, all 1 for the man, on whom the tables were."""
    return {row["name"]: float(row[sex]) for row in table("sexes.csv")}


def materials(groups: tuple[str, ...], spec: Spec) -> dict[str, Material]:
    """A material for every group; the row `*` stands for groups that have none of their own."""
    rows = {row["group"]: row for row in table("materials.csv")}
    if spec.muscles == "papers":
        return papers_materials(groups, {"*": rows["*"], **rows})
    made = {}
    for group in groups:
        row = rows.get(group, rows["*"])
        numbers = ("stress_Pa", "stretch", "width", "speed_per_s", "passive", "damping_s", "rise_s", "fall_s")
        made[group] = Material(row["law"], *(float(row[key]) for key in numbers))
    return made


def papers_materials(groups: tuple[str, ...], own: dict[str, dict[str, str]]) -> dict[str, Material]:
    """Table 8.1 of DiLorenzo 2009: one F_max for every element of a group, k_PE and b_PE beside it, in units of force of
    the table's own (row `unit`); no activation dynamics. Passive sheets stay as they are."""
    rows = {row["group"]: row for row in table("materials_papers.csv")}
    unit = float(rows.pop("unit")["F_max"])
    made = {}
    for group in groups:
        if own.get(group, own["*"])["law"] == "passive":
            made[group] = materials((group,), Spec())[group]
            continue
        row = rows.get(group, rows["*"])
        force, speed, passive, damping = (float(row[key]) for key in ("F_max", "v_max", "k_PE", "b_PE"))
        made[group] = Material(
            "hill-paper", 0.0, 1.0, 0.5, speed, passive / force, damping / force, 0.0, 0.0, force=force * unit
        )
    return made


def joints(names: tuple[str, ...], spec: Spec) -> tuple[JointMaterial, ...]:
    """The joint of every body, by the first family whose pattern fits its name; those of a variant come first. A rib's hinge
    is as soft as the chest of the sex."""
    found = json.loads(files("risorius.anatomy").joinpath("data/joints.json").read_text())
    families = found["variants"].get(spec.ribs, []) + found["families"]
    made, size, factors = [], length(spec) ** POWER["N m/rad"], calibrated(spec.sex)
    for name in names:
        family = next(family for family in families if re.fullmatch(family["match"], name))
        hinge = size * (factors["cage"] if name.startswith("rib") else 1.0)
        neck, across, along = family["stiffness"]
        low, high = zip(*([math.radians(end) for end in ends] for ends in family["limit"]))
        made.append(
            JointMaterial(
                (hinge * neck, hinge * across, hinge * along),
                tuple(size * value for value in family["damping"]),
                low,
                high,
                size * family["limit_stiffness"],
                size * family["limit_damping"],
            )
        )
    return tuple(made)


def softness(spec: Spec) -> Softness:
    """Struts, tissue, contact and content, by the subject's size and sex."""
    rows = [*table("softness.csv"), *(table("softness_papers.csv") if spec.muscles == "papers" else ())]
    size, factors = length(spec), calibrated(spec.sex)
    values = {row["name"]: size ** POWER.get(row["unit"], 0) * float(row["value"]) for row in rows}
    return Softness({name: factor_of(name, factors) * value for name, value in values.items()})


def factor_of(name: str, factors: dict[str, float]) -> float:
    """The factor of a sex on what is soft: by its own name, or the cage's on its struts."""
    return factors.get(name, factors["cage"] if name.startswith("strut_stiffness") else 1.0)


def lung(spec: Spec, torso: Torso, soft: Softness) -> LungTable:
    """The subject's lung: predicted volumes, geometry's tissue volume, tables for recoil and airway."""
    factors = calibrated(spec.sex)
    row = {item["name"]: float(item["value"]) for item in table("lung.csv")}
    row = {name: value * factors.get(name, 1.0) for name, value in row.items()}
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
        two_way=spec.lungs == "two-way",
        transmural=row["transmural"] * CMH2O / LITRE,
        turbulence=row["turbulence"] * ATMOSPHERE / LITRE**2,
        filled=row["filled"],
    )
