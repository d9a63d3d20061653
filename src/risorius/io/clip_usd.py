"""USD in: the first UsdSkel skeleton with its animation, or where there is none, a tree of moving Xforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from risorius.core.clip import FRAME_LIMIT, Clip
from risorius.core.errors import InputError
from risorius.io.files import read_bytes


def read(file: Path, _animation: str | None = None) -> Clip:
    """Read joints from a stage; its unit is the stage's."""
    from pxr import Tf, Usd, UsdGeom, UsdSkel

    if not read_bytes(file):
        raise InputError("expected a USD stage, got nothing", file=file)
    try:
        stage = Usd.Stage.Open(str(file))
    except Tf.ErrorException:
        raise InputError("expected a USD stage", file=file) from None
    unit = float(UsdGeom.GetStageMetersPerUnit(stage))
    rate = float(stage.GetTimeCodesPerSecond()) or 24.0
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            return of_skeleton(UsdSkel.Skeleton(prim), file, unit, rate)
    return of_xforms(stage, file, unit, rate)


def split(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shift (…, 3) and turn (…, 3, 3) of USD's row matrices (…, 4, 4); scale and shear are taken out (SVD)."""
    u, _, vt = np.linalg.svd(np.swapaxes(matrices[..., :3, :3], -1, -2))
    sign = np.sign(np.linalg.det(u @ vt))
    u[..., :, 2] *= sign[..., None]
    return matrices[..., 3, :3], u @ vt


def of_skeleton(skeleton: Any, file: Path, unit: float, rate: float) -> Clip:
    """A skeleton by its cache query: joint transforms in skeleton space, then by its own place in the world."""
    from pxr import Usd, UsdGeom, UsdSkel

    root = skeleton.GetPrim()
    while root.GetParent().IsValid() and not root.IsA(UsdSkel.Root) and not root.GetParent().IsPseudoRoot():
        root = root.GetParent()
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(root), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skeleton)
    place = str(skeleton.GetPath())
    if not query:
        raise InputError("expected a skeleton with joints", file=file, place=place)
    topology = query.GetTopology()
    joints = [str(name) for name in query.GetJointOrder()]
    parent = np.array(list(topology.GetParentIndices()), np.int32)
    if len(joints) == 0 or not (parent < np.arange(len(parent))).all():
        raise InputError("expected joints with parents before their children", file=file, place=place)
    animation = query.GetAnimQuery()
    times = list(animation.GetJointTransformTimeSamples()) if animation else []
    codes = np.arange(times[0], times[-1] + 0.5) if times else np.zeros(1)
    codes = codes[:FRAME_LIMIT]
    rows = []
    for code in codes:
        local = query.ComputeJointSkelTransforms(Usd.TimeCode(float(code)))
        world = np.array(UsdGeom.Imageable(skeleton.GetPrim()).ComputeLocalToWorldTransform(Usd.TimeCode(float(code))))
        if not local:
            raise InputError("expected joint transforms that can be computed", file=file, place=f"{place}: {code:g}")
        rows.append(np.array([np.array(matrix) for matrix in local]) @ world)
    position, rotation = split(np.array(rows))
    rest = query.ComputeJointSkelTransforms(Usd.TimeCode.Default(), True) or rows[0]
    rest_position, rest_rotation = split(np.array([np.array(matrix) for matrix in rest]))
    names = tuple(name.rsplit("/", 1)[-1] for name in joints)
    return Clip(names, parent, (codes - codes[0]) / rate, position, rotation, rest_position, rest_rotation, {}, unit,
                str(file))  # fmt: skip


def of_xforms(stage: Any, file: Path, unit: float, rate: float) -> Clip:
    """Every Xform of the stage as a joint."""
    from pxr import Usd, UsdGeom

    prims = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Xform)]
    if not prims:
        raise InputError("expected a UsdSkel skeleton or moving Xforms", file=file)
    number = {prim.GetPath(): k for k, prim in enumerate(prims)}
    parent = np.array([number.get(prim.GetParent().GetPath(), -1) for prim in prims], np.int32)
    moving = any(UsdGeom.Xformable(prim).TransformMightBeTimeVarying() for prim in prims)
    codes = np.arange(stage.GetStartTimeCode(), stage.GetEndTimeCode() + 0.5) if moving else np.zeros(1)
    rows = []
    for code in codes[:FRAME_LIMIT]:
        cache = UsdGeom.XformCache(Usd.TimeCode(float(code)))
        rows.append([np.array(cache.GetLocalToWorldTransform(prim)) for prim in prims])
    position, rotation = split(np.array(rows).reshape(len(rows), len(prims), 4, 4))
    still = UsdGeom.XformCache(Usd.TimeCode.Default())
    rest, rest_turn = split(np.array([np.array(still.GetLocalToWorldTransform(prim)) for prim in prims]))
    names = tuple(prim.GetName() for prim in prims)
    time = np.arange(len(rows)) / rate
    return Clip(names, parent, time, position, rotation, rest, rest_turn, {}, unit, str(file))
