"""Controls and drivers of a muscle document."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from risorius.core.errors import InputError
from risorius.io.json_file import Node
from risorius.skin.muscle.rig import PARAMETERS, Control, Driver, Rig


def read_controls(node: Node, muscles: list[str]) -> tuple[Control, ...]:
    """Named knobs: {"smile": {"muscles": {"cheek_l": {"contraction": 0.5}}, "range": [0, 1], "rest": 0}}."""
    found = []
    for name, entry in node.members():
        fields = entry.object(("muscles", "range", "rest"), ("muscles",))
        amounts = []
        for muscle, parameters in fields["muscles"].members():
            if muscle not in muscles:
                raise InputError(f"no muscle is called {muscle[:40]!r}", file=node.file, place=parameters.place)
            amounts += [(muscle, what, value.number()) for what, value in parameters.object(PARAMETERS).items()]
        low, high = fields["range"].array(2).tolist() if "range" in fields else (0.0, 1.0)
        if high <= low:
            fields["range"].refuse("[lowest, highest]")
        rest = fields["rest"].number(low, high) if "rest" in fields else min(max(0.0, low), high)
        found.append(Control(name, tuple(amounts), low, high, rest))
    return tuple(found)


def read_drivers(node: Node, muscles: list[str], controls: tuple[Control, ...]) -> tuple[Driver, ...]:
    """[{"control": "cheeks", "angle": {"joint": "jaw", "axis": [1, 0, 0]}, "map": [[0, 0], [25, 1]]}]"""
    names = {control.name for control in controls}
    found = []
    for entry in node.items():
        fields = entry.object(("control", "muscle", "parameter", "angle", "distance", "map"), ("map",))
        if ("control" in fields) == ("muscle" in fields) or ("angle" in fields) == ("distance" in fields):
            entry.refuse("a driver of one control or one muscle by one angle or one distance")
        if "control" in fields:
            target = ("control", fields["control"].text())
            known = target[1] in names
        else:
            what = fields["parameter"].text(*PARAMETERS) if "parameter" in fields else "contraction"
            target = (fields["muscle"].text(), what)
            known = target[0] in muscles
        if not known:
            raise InputError(f"nothing is called {(target[1] if 'control' in fields else target[0])[:40]!r}",
                             file=node.file, place=entry.place)  # fmt: skip
        axis = None
        if "angle" in fields:
            parts = fields["angle"].object(("joint", "axis"), ("joint",))
            joints: tuple[str, ...] = (parts["joint"].text(),)
            if "axis" in parts:
                vector = parts["axis"].array(3)
                if np.linalg.norm(vector) < 1e-9:
                    parts["axis"].refuse("an axis that has a length")
                x, y, z = (vector / np.linalg.norm(vector)).tolist()
                axis = (x, y, z)
        else:
            parts = fields["distance"].object(("from", "to"), ("from", "to"))
            joints = (parts["from"].text(), parts["to"].text())
        table = fields["map"].array(None, 2)
        if len(table) < 1 or (np.diff(table[:, 0]) <= 0).any():
            fields["map"].refuse("pairs [input, output], inputs rising")
        rows = tuple((float(a), float(b)) for a, b in table)
        found.append(Driver(target, "angle" if "angle" in fields else "distance", joints, axis, rows))
    return tuple(found)


def rig_table(rig: Rig) -> dict[str, Any]:
    """Controls and drivers as JSON; nothing where there are none."""
    table: dict[str, Any] = {}
    if rig.controls:
        table["controls"] = {}
        for control in rig.controls:
            entry: dict[str, Any] = {"muscles": {}, "range": [control.low, control.high], "rest": control.rest}
            for muscle, parameter, amount in control.amounts:
                entry["muscles"].setdefault(muscle, {})[parameter] = amount
            table["controls"][control.name] = entry
    if rig.drivers:
        table["drivers"] = [driver_table(driver) for driver in rig.drivers]
    return table


def driver_table(driver: Driver) -> dict[str, Any]:
    if driver.target[0] == "control":
        table: dict[str, Any] = {"control": driver.target[1]}
    else:
        table = {"muscle": driver.target[0], "parameter": driver.target[1]}
    if driver.kind == "angle":
        table["angle"] = {"joint": driver.joints[0]}
        if driver.axis:
            table["angle"]["axis"] = list(driver.axis)
    else:
        table["distance"] = {"from": driver.joints[0], "to": driver.joints[1]}
    return {**table, "map": [list(row) for row in driver.table]}


def schema() -> dict[str, Any]:
    """The JSON schema of muscle documents that ships with the package."""
    return json.loads((files("risorius.io") / "data" / "muscles.schema.json").read_text())
