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
from risorius.core.units import ATMOSPHERE, CMH2O, LITRE


def table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a data file."""
    return csv.DictReader(files("risorius.anatomy").joinpath("data", name).read_text().splitlines())


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
    """The joint of every body, by the first family whose pattern fits its name; those of a variant come first."""
    found = json.loads(files("risorius.anatomy").joinpath("data/joints.json").read_text())
    families = found["variants"].get(spec.ribs, []) + found["families"]
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


def softness(spec: Spec) -> Softness:
    """Struts, tissue, contact and content."""
    rows = [*table("softness.csv"), *(table("softness_papers.csv") if spec.muscles == "papers" else ())]
    return Softness({row["name"]: float(row["value"]) for row in rows})


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
        two_way=spec.lungs == "two-way",
        transmural=row["transmural"] * CMH2O / LITRE,
        turbulence=row["turbulence"] * ATMOSPHERE / LITRE**2,
        filled=row["filled"],
    )
