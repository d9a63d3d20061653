"""OpenSim motion (.mot): joint angles of every moving body, degrees; shifts of free joints, metres."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Joint, Torso
from risorius.io.bvh import local_motion
from risorius.io.files import write_bytes

Floats = NDArray[np.float64]


def write_mot(path: str | PathLike[str], torso: Torso, record: Record) -> None:
    """Write columns `time`, then `<body>_rx, _ry, _rz` (body-fixed X, Y, Z; x forward, y up, z right, relative to the
    parent) and `<body>_tx, _ty, _tz` for bodies on free joints."""
    shift, turn = local_motion(torso, record)
    angles = xyz_degrees(turn)
    names, columns = ["time"], [np.asarray(record.time)]
    for k, name in enumerate(torso.bodies.names):
        joint = int(torso.bodies.joint[k])
        if joint == Joint.FIXED:
            continue
        names += [f"{name}_r{axis}" for axis in "xyz"]
        columns += list(angles[:, k].T)
        if joint == Joint.FREE:
            names += [f"{name}_t{axis}" for axis in "xyz"]
            columns += list(shift[:, k].T)
    table = np.stack(columns, axis=1) + 0.0
    head = [Path(path).stem, "version=1", f"nRows={len(table)}", f"nColumns={len(names)}", "inDegrees=yes", "endheader"]
    rows = ["\t".join(f"{value:.9g}" for value in row) for row in table.tolist()]
    write_bytes(path, ("\n".join([*head, "\t".join(names), *rows]) + "\n").encode())


def xyz_degrees(turn: Floats) -> Floats:
    """(…, 3) angles x, y, z [deg] with R = Rx·Ry·Rz."""
    y = np.arcsin(np.clip(turn[..., 0, 2], -1, 1))
    x = np.arctan2(-turn[..., 1, 2], turn[..., 2, 2])
    z = np.arctan2(-turn[..., 0, 1], turn[..., 0, 0])
    return np.degrees(np.stack([x, y, z], axis=-1))
