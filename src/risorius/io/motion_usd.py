"""Skeletons (UsdSkel) and moving Xforms of a USD stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import readable
from risorius.io.motion import Motion, frame_times

Floats = NDArray[np.float64]
XFORM_LIMIT = 10_000


def read(file: Path, rate: float) -> Motion:
    """Joints of all skeletons and all moving Xforms, by the last part of their paths; rest is a skeleton's rest pose,
    for an Xform where it stands first."""
    from pxr import Tf, Usd, UsdGeom, UsdSkel

    readable(file)
    try:
        stage = Usd.Stage.Open(str(file))
    except Tf.ErrorException:
        raise InputError("expected a USD stage", file=file) from None
    start, per_second = stage.GetStartTimeCode(), stage.GetTimeCodesPerSecond()
    time = frame_times((stage.GetEndTimeCode() - start) / per_second, rate, file)
    names: list[str] = []
    local: list[Floats] = []
    world: list[Floats] = []
    rest_local: list[Floats] = []
    rest_world: list[Floats] = []
    cache = UsdSkel.Cache()
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
            if not query:
                continue
            here = skeleton(query, prim, start + time * per_second)
            for k, path in enumerate(query.GetJointOrder()):
                names.append(str(path).split("/")[-1])
                for target, values in zip((local, world, rest_local, rest_world), here):
                    target.append(values[..., k, :, :])
        elif prim.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
            if len(names) >= XFORM_LIMIT:
                raise InputError(f"expected at most {XFORM_LIMIT} moving prims", file=file)
            shape = UsdGeom.Xformable(prim)
            codes = [Usd.TimeCode(start + t * per_second) for t in time]
            moves = np.stack([matrix(shape.GetLocalTransformation(code)) for code in codes])
            whole = np.stack([matrix(shape.ComputeLocalToWorldTransform(code)) for code in codes])
            names.append(prim.GetName())
            local.append(moves)
            world.append(whole)
            rest_local.append(moves[0])
            rest_world.append(whole[0])
    if not names:
        raise InputError("expected a skeleton or moving prims", file=file)
    frames = (np.stack(local, axis=1), np.stack(world, axis=1))
    return Motion(tuple(names), time, *frames, np.stack(rest_local), np.stack(rest_world))


def skeleton(query: Any, prim: Any, codes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Local and world matrices of a skeleton's joints over time, and at rest."""
    from pxr import Usd, UsdGeom

    def table(values: Any) -> Floats:
        return np.array(values, dtype=np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)

    rest = table(query.ComputeJointLocalTransforms(Usd.TimeCode.Default(), True))
    rest_whole = table(query.ComputeJointSkelTransforms(Usd.TimeCode.Default(), True))
    local, world = [], []
    for code in codes:
        at = Usd.TimeCode(code)
        place = matrix(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(at))
        local.append(table(query.ComputeJointLocalTransforms(at)))
        world.append(place @ table(query.ComputeJointSkelTransforms(at)))
    place = matrix(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default()))
    return np.stack(local), np.stack(world), rest, place @ rest_whole


def matrix(values: Any) -> Floats:
    """A USD matrix (rows times matrix) as columns are used here."""
    return np.array(values, dtype=np.float64).T
