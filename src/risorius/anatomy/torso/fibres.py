"""Muscle fibres along the surface: diaphragm, tendon, abdominal wall, and the sheet that ties the net together."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from risorius.anatomy.tables import MM, table
from risorius.anatomy.torso.cage import Row
from risorius.anatomy.torso.diaphragm import Diaphragm
from risorius.anatomy.torso.wall import Wall
from risorius.core.spec import Spec
from risorius.core.torso import Fibres, Floats, Ints


@dataclass
class Chains:
    """Elements gathered chain by chain; those between two carried points of the same kind are left out by `pack`."""

    group: list[str] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    chain: list[int] = field(default_factory=list)
    area: list[float] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, group: str, row: Row, area: float | list[float], label: str, free: Ints) -> None:
        """One chain along a row of points; elements with no free end are left out."""
        areas = [area] * (len(row) - 1) if isinstance(area, float) else area
        used = False
        for a, b, size in zip(row[:-1], row[1:], areas):
            if a == b or not (free[a] or free[b]):
                continue
            self.group.append(group)
            self.ends.append((a, b))
            self.chain.append(self.count)
            self.area.append(size)
            self.label.append(label)
            used = True
        self.count += used


def widths(points: Floats, ring: Row) -> Floats:
    """Width [m] of surface that belongs to each point of a closed ring."""
    p = points[ring]
    step = np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)
    return (step + np.roll(step, 1)) / 2


def diaphragm_fibres(chains: Chains, diaphragm: Diaphragm, points: Floats, free: Ints) -> None:
    """Meridians from insertion to tendon; hoops as passive sheet; the tendon's own net."""
    t = table("fibres")
    thick = t["thickness_mm"]
    rings = diaphragm.rings
    n = len(rings[0])
    breadth = widths(points, rings[diaphragm.apposed])
    crural = n // 2 - np.array(t["crural_columns"])
    for c in range(n):
        mirrored = min(c, n - c)
        name = "crural" if mirrored >= crural.min() else "costal" if mirrored > t["sternal_columns"] - 1 else "sternal"
        chains.add(
            "diaphragm",
            [ring[c] for ring in rings],
            float(breadth[c] * thick["diaphragm"] * MM),
            f"{name} diaphragm {c}",
            free,
        )
    for k, ring in enumerate(rings[1:-1], 1):
        high = np.linalg.norm(points[rings[k + 1]] - points[rings[k - 1]], axis=1).mean() / 2
        chains.add("fascia", [*ring, ring[0]], float(high * thick["fascia"] * MM), f"diaphragm hoop {k}", free)
    rows = [rings[-1], *diaphragm.tendon]
    width = float(np.sqrt(t["tendon_cell_cm2"]) * 1e-2 * thick["tendon"] * MM)
    seen: set[tuple[int, int]] = set()
    for outer, inner in pairwise(rows):
        stride = len(outer) // max(len(inner), 1)
        for i in range(len(outer)):
            edge = (outer[i], outer[(i + 1) % len(outer)])
            chains.add("central_tendon", list(edge), width, "central tendon hoop", free)
            j = i // stride if len(inner) > 1 else 0
            for k in {j, j + (1 if i % stride else 0)}:
                pair = (outer[i], inner[k % len(inner)])
                if pair not in seen:
                    seen.add(pair)
                    chains.add("central_tendon", list(pair), width, "central tendon", free)
            if stride == 1 and len(inner) > 1:
                chains.add("central_tendon", [outer[i], inner[(j + 1) % len(inner)]], width, "central tendon", free)


def wall_fibres(chains: Chains, wall: Wall, points: Floats, free: Ints, spec: Spec) -> None:
    """Rectus down the front, transversus round, obliques along both diagonals, and the sheet's remaining edges."""
    thick = {k: v[spec.sex] for k, v in table("fibres")["wall_thickness_mm"].items()}
    n = len(wall.rows[0])
    rows = wall.rows
    last = wall.free
    rectus = table("fibres")["rectus_columns"]
    columns = [*range(-(last - 1), last)]
    high = [np.linalg.norm(points[rows[k + 1]] - points[rows[k - 1]], axis=1) / 2 for k in range(1, len(rows) - 1)]
    broad = np.mean([widths(points, row) for row in rows[1:-1]], axis=0)
    band = table("fibres")["rectus_bands"]
    for c in columns:
        side = "right" if c >= 0 else "left"
        column = [row[c % n] for row in rows]
        if abs(c) <= rectus:
            share = 0.5 if c == 0 else 1.0
            for name, (low, up) in band.items():
                part = column[low : up + 1]
                chains.add(
                    f"rectus_{name}",
                    part,
                    float(broad[c % n] * share * thick["rectus"] * MM),
                    f"rectus {name} {side} {abs(c)}",
                    free,
                )
        else:
            chains.add(
                "fascia",
                column,
                float(broad[c % n] * table("fibres")["thickness_mm"]["fascia"] * MM),
                f"wall {side} {abs(c)}",
                free,
            )
    for k in range(1, len(rows) - 1):
        for side, step in (("right", 1), ("left", -1)):
            row = [rows[k][(step * c) % n] for c in range(last + 1)]
            size = float(high[k - 1][:last].mean() * thick["transversus"] * MM)
            chains.add("transversus", row, size, f"transversus {side} {k}", free)
    steps = len(rows) - 1
    for side, sign in (("right", 1), ("left", -1)):
        for start in range(-(steps - 1), last + steps):
            for name, direction in (("external", -1), ("internal", 1)):
                # external: down and towards the midline; internal: down and away from it (up and towards it)
                path = [(k, start + direction * k) for k in range(steps + 1)]
                row = [rows[k][(sign * c) % n] for k, c in path if 0 <= c <= last]
                if len(row) < 2:
                    continue
                size = float(broad[:last].mean() * 0.7 * thick[f"{name}_oblique"] * MM)
                chains.add("oblique", row, size, f"{name} oblique {side} {start}", free)


def pack(chains: Chains, groups: list[str]) -> Fibres:
    """The elements as arrays."""
    return Fibres(
        np.array([groups.index(g) for g in chains.group], np.int32),
        np.array(chains.ends, np.int32),
        np.array(chains.chain, np.int32),
        np.array(chains.area),
        tuple(chains.label),
    )
