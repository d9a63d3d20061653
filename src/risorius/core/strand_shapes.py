"""Small helpers for whoever writes a strand model: simple bodies, strands along a path, surfaces round a bone, mirrors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from risorius.core.strands import Body, Floats, Joint, Motion, Strand, StrandModel, Surface, require
from risorius.core.torso import Mesh, frozen
from risorius.maths import splines


def cuboid(name: str, centre: ArrayLike, size: ArrayLike, density: float = 1000.0, mass: float | None = None) -> Body:
    """A box along the world's axes: size (3,) [m]."""
    centre, size = np.asarray(centre, dtype=np.float64), np.asarray(size, dtype=np.float64)
    mass = float(density * size.prod()) if mass is None else mass
    inertia = mass / 12.0 * np.diag((size**2).sum() - size**2)
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size + centre
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                      [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], dtype=np.int32)  # fmt: skip
    return Body(name, mass, centre, inertia, frozen(Mesh(corners, faces)))


def rod(name: str, start: ArrayLike, end: ArrayLike, radius: float, density: float = 1000.0, mass: float | None = None,
        sides: int = 16) -> Body:  # fmt: skip
    """A solid cylinder from start to end (3,) [m]; a bone in its simplest form."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    require(length > 0 and radius > 0, "expected a rod longer and thicker than zero", f"body {name!r}")
    axis, side, up = frame_along(end - start)
    mass = float(density * np.pi * radius**2 * length) if mass is None else mass
    along, across = mass * radius**2 / 2.0, mass * (3.0 * radius**2 + length**2) / 12.0
    inertia = across * np.eye(3) + (along - across) * np.outer(axis, axis)
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = radius * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up)
    vertices = np.concatenate([start + ring, end + ring, [start, end]])
    k, m = np.arange(sides), np.roll(np.arange(sides), -1)
    wall = [np.stack([k, m, sides + m], 1), np.stack([k, sides + m, sides + k], 1)]
    caps = [np.stack([m, k, 0 * k + 2 * sides], 1), np.stack([sides + k, sides + m, 0 * k + 2 * sides + 1], 1)]
    faces = np.concatenate([*wall, *caps]).astype(np.int32)
    return Body(name, mass, 0.5 * (start + end), inertia, frozen(Mesh(vertices, faces)))


def frame_along(direction: Floats) -> tuple[Floats, Floats, Floats]:
    """Unit axis along a direction and two across it, right-handed (axis, side, up)."""
    axis = direction / np.linalg.norm(direction)
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    side = np.cross(axis, helper)
    side /= np.linalg.norm(side)
    return axis, side, np.cross(axis, side)


def strand_through(name: str, path: ArrayLike, radius: Any, count: int | None = None, spacing: float | None = None,
                   **rest: Any) -> Strand:  # fmt: skip
    """A strand along a path (m, 3) [m] of m >= 2 points.

    Without `count` or `spacing`, one control point a path point (4 at least). With them, control points are laid along
    the path at equal distances (spacing [m] is the greatest distance wanted).
    """
    points = np.asarray(path, dtype=np.float64)
    place = f"strand {name!r}"
    require(points.ndim == 2 and points.shape[1:] == (3,) and len(points) >= 2, "expected a path of two points", place)
    require(bool(np.isfinite(points).all()), "expected finite points", place)
    step = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.concatenate([[True], step > 1e-12])]
    step = step[step > 1e-12]
    require(len(points) >= 2, "expected a path longer than zero", place)
    length = np.concatenate([[0.0], np.cumsum(step)])
    if spacing is not None:
        count = int(np.ceil(length[-1] / spacing)) + 1
    if count is not None or len(points) < 4:
        count = max(4, count or 4)
        curve = splines.interpolate(points) if len(points) >= 4 else None
        places = np.interp(np.linspace(0.0, length[-1], count), length, np.arange(len(points), dtype=np.float64))
        if curve is not None:
            points = splines.evaluate(curve, places)
        else:
            whole = np.minimum(places.astype(int), len(points) - 2)
            part = (places - whole)[:, None]
            points = points[whole] * (1 - part) + points[whole + 1] * part
    return Strand(name, splines.interpolate(points), radius, **rest)


def parameter_near(strand: Strand, point: ArrayLike) -> float:
    """Parameter 0…1 of the point of a strand at rest that is nearest to a point (3,)."""
    return splines.nearest(strand.points, np.asarray(point, dtype=np.float64)) / (len(strand.points) - 1)


def point_of(strand: Strand, parameter: float) -> Floats:
    """Where a parameter 0…1 of a strand is at rest, (3,) [m]."""
    return splines.evaluate(strand.points, np.array([parameter * (len(strand.points) - 1)]))[0]


def tube(
    name: str, body: str, start: ArrayLike, end: ArrayLike, radius: float, around: int = 16, along: int = 6
) -> Surface:
    """A round surface from start to end (3,) [m]: radius [m] met to 1e-5 of itself with 16 points around."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    _axis, side, up = frame_along(end - start)
    angle = 2.0 * np.pi * np.arange(around) / around
    # a uniform closed B-spline through a circle of control points has the mean radius r (2 + cos δ)/3 at knots
    scale = radius / ((2.0 + np.cos(2.0 * np.pi / around)) / 3.0)
    ring = scale * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up)
    places = start + np.linspace(0.0, 1.0, along)[:, None] * (end - start)
    points = ring[:, None, :] + places[None, :, :]
    return Surface(name, body, points, closed=True)


def surface_around(name: str, body: Body, start: ArrayLike, end: ArrayLike, around: int = 16, along: int = 8,
                   offset: float = 0.0) -> Surface:  # fmt: skip
    """A closed surface wrapped round a body's mesh about the axis start … end (3,) [m], by rays from the axis outward.

    Rays that meet nothing take the mean radius of their ring; `offset` [m] is added to every radius.
    """
    require(body.mesh is not None, "expected a body with a mesh", f"surface {name!r}")
    mesh = body.mesh
    assert mesh is not None
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    _axis, side, up = frame_along(end - start)
    angle = 2.0 * np.pi * np.arange(around) / around
    directions = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up
    corner = mesh.vertices[mesh.faces]
    edge1, edge2 = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    radii = np.full((around, along), np.nan)
    places = start + np.linspace(0.0, 1.0, along)[:, None] * (end - start)
    for k, direction in enumerate(directions):
        across = np.cross(direction, edge2)
        base = (edge1 * across).sum(axis=1)
        usable = np.abs(base) > 1e-18
        inverse = np.where(usable, 1.0 / np.where(usable, base, 1.0), 0.0)
        for m, origin in enumerate(places):
            arm = origin - corner[:, 0]
            u = (arm * across).sum(axis=1) * inverse
            turn = np.cross(arm, edge1)
            v = (turn @ direction) * inverse
            distance = (edge2 * turn).sum(axis=1) * inverse
            hit = usable & (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (distance > 0)
            if hit.any():
                radii[k, m] = distance[hit].max()
    require(bool(np.isfinite(radii).any()), "expected rays from the axis to meet the mesh", f"surface {name!r}")
    for m in range(along):
        column = radii[:, m]
        fill = np.nanmean(column) if np.isfinite(column).any() else np.nanmean(radii)
        column[~np.isfinite(column)] = fill
    radii = radii + offset
    # control radii from a circulant: the surface runs through the rays' hits at its knots along u, nearly along v
    ring = (4.0 * np.eye(around) + np.roll(np.eye(around), 1, axis=1) + np.roll(np.eye(around), -1, axis=1)) / 6.0
    target = places[None, :, :] + radii[:, :, None] * directions[:, None, :]
    control = np.linalg.solve(ring, target.reshape(around, -1)).reshape(around, along, 3)
    control = splines.interpolate(control.transpose(1, 0, 2).reshape(along, -1)).reshape(along, around, 3)
    return Surface(name, body.name, control.transpose(1, 0, 2), closed=True)


def mirrored(model: StrandModel, axis: int = 2) -> StrandModel:
    """The model reflected through the plane where coordinate `axis` is zero: a left hand from a right one.

    Axes of rotation are reflected as pseudovectors, so that angles and limits keep their meaning.
    """
    flip = np.ones(3)
    flip[axis] = -1.0
    mirror = np.diag(flip)

    def shape(mesh: Mesh | None) -> Mesh | None:
        return None if mesh is None else frozen(Mesh(mesh.vertices * flip, mesh.faces[:, ::-1].copy()))

    def at(point: Floats | None) -> Floats | None:
        return None if point is None else point * flip

    return replace(
        model,
        bodies=tuple(
            replace(body, centre=body.centre * flip, inertia=mirror @ body.inertia @ mirror, mesh=shape(body.mesh))
            for body in model.bodies
        ),
        joints=tuple(mirrored_joint(joint, flip) for joint in model.joints),
        strands=tuple(replace(strand, points=strand.points * flip) for strand in model.strands),
        attachments=tuple(replace(item, point=at(item.point)) for item in model.attachments),
        slides=tuple(replace(item, point=at(item.point)) for item in model.slides),
        surfaces=tuple(replace(item, points=(item.points * flip)[::-1].copy()) for item in model.surfaces),
        gravity=model.gravity * flip,
    )


def mirrored_joint(joint: Joint, flip: Floats) -> Joint:
    if joint.kind in ("fixed", "free", "driven"):
        return joint
    return replace(joint, axes=-joint.axes * flip, points=joint.points * flip)


def mirrored_motion(motion: Motion, axis: int = 2) -> Motion:
    """The same motion of the mirrored body."""
    flip = np.ones(3)
    flip[axis] = -1.0
    mirror = np.diag(flip)
    return Motion(motion.body, motion.times, mirror @ motion.rotations @ mirror, motion.translations * flip)
