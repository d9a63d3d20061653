"""Bodies, joints and strands as a description: what a rigger writes down and `risorius.strands` simulates. SI, rest world.

**Rest world.** Every number is given in the world as it stands at rest. A body's pose is the rigid motion that takes
rest-world points to where they are now, x = R·x_rest + p; at rest all poses are the identity, so that a point of a body
is simply where it is in the rest world: nobody needs local frames. World: x forward, y up, z right; gravity is a
vector of the model.

**Strands** are cubic B-splines pinned at their ends: uniform knots, with the phantom points 2·q_0 − q_1 and
2·q_{n−1} − q_{n−2}, so that the curve begins at its first control point and ends at its last (USD's
`BasisCurves`, type cubic, basis bspline, wrap pinned, is the same curve). Places on a strand are **parameters** from 0
(first control point) to 1 (last); control point i of n sits near i/(n − 1). Space control points as densely as the route
needs it: about two between neighbouring pulleys.

**A hand**, for example, is a `StrandModel` of
- `bodies`: `radius`, `hand`, `metacarpal1`, …, `distal5` with mass, centre, inertia and mesh as they stand in the rest pose;
- `joints`: the forearm's first body hangs on the world (`parent=""`) by "fixed" or "driven" (its motion comes from
  the animation), pronation and finger joints are "hinge"s, wrist, knuckles and the saddle of the thumb "universal"s: two
  axes that need not meet nor be square, the first fixed in the parent, the second in the child;
- `strands`: one a musculotendon unit, control points along its route from origin to insertion, with `tissues`:
  tendon – muscle – tendon, each a range of the strand with stiffness [N per unit strain], strength [N], slack;
- `attachments`: origin (parameter 0) and insertion (parameter 1) on bodies;
- `slides`: pulleys A1–A5, retinacula, compartments: the strand passes through a point of a body, any of its material;
- `surfaces` wrapped round bones and `contacts` of strands on them: where a tendon lies on a knuckle and may shift sideways;
- `links`: lumbricals on FDP tendons, lateral bands on EDC: a point of a strand on a point of another.
Left hands are mirror images (`mirrored`). Animation enters as `Motion`s of bodies (`PoseTarget`, `PointTarget`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from risorius.core.errors import InputError
from risorius.core.torso import Mesh
from risorius.core.units import GRAVITY

Floats = NDArray[np.float64]
JointKind = Literal["fixed", "hinge", "universal", "ball", "free", "driven"]
FREEDOM: Final[dict[str, int]] = {"fixed": 0, "hinge": 1, "universal": 2, "ball": 3, "free": 6, "driven": 0}
"""Free directions by kind of joint."""
DOWN: Final = (0.0, -GRAVITY, 0.0)


def array(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """A read-only float array of the shape (-1: any length), finite, or `InputError`."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"expected numbers of shape {shape}", place=what) from None
    if result.ndim != len(shape) or any(want not in (-1, got) for want, got in zip(shape, result.shape)):
        raise InputError(f"expected shape {tuple('n' if n < 0 else n for n in shape)}, got {result.shape}", place=what)
    if not np.isfinite(result).all():
        raise InputError("expected finite numbers", place=what)
    result.setflags(write=False)
    return result


def require(condition: bool, message: str, place: str) -> None:
    if not condition:
        raise InputError(message, place=place)


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body as it stands at rest.

    Args:
        name: unique, not empty.
        mass: [kg] > 0.
        centre: (3,) [m] centre of mass.
        inertia: (3, 3) [kg m²] about the centre of mass, world axes, positive definite.
        mesh: its surface, for pictures and surfaces.
    """

    name: str
    mass: float
    centre: Floats
    inertia: Floats
    mesh: Mesh | None = None

    def __post_init__(self) -> None:
        place = f"body {self.name!r}"
        require(bool(self.name), "expected a name", "body")
        object.__setattr__(self, "mass", float(self.mass))
        require(np.isfinite(self.mass) and self.mass > 0, f"expected a mass above zero, got {self.mass}", place)
        object.__setattr__(self, "centre", array(self.centre, (3,), f"{place}, centre"))
        inertia = array(self.inertia, (3, 3), f"{place}, inertia")
        object.__setattr__(self, "inertia", inertia)
        symmetric = np.allclose(inertia, inertia.T, rtol=1e-6, atol=0.0)
        require(symmetric and np.linalg.eigvalsh(inertia)[0] > 0, "expected a positive definite inertia", place)


@dataclass(frozen=True, eq=False)
class Joint:
    """How a body hangs on its parent, and what resists its motion. Torques are implicit: any stiffness is stable.

    Along each free direction k the joint pulls with −stiffness·(q − rest) − damping·q̇, and past its limits with
    −limit_stiffness·(q − limit) − limit_damping·q̇ besides. q is the turn [rad] from the rest pose about
    axis k (hinge, universal: in that order, the first axis fixed in the parent, the last in the child), or for a ball
    component k of the rotation vector along its axes.

    Args:
        body: the child.
        parent: a body, or "" for the world.
        kind: fixed, hinge, universal, ball, free, or driven (its motion is given: see `Motion`).
        axes: (k, 3) unit directions, any length > 0: hinge 1, universal 2, ball 3 (orthogonal; default x, y, z).
        points: (3,) or (k, 3) [m] a point on each axis: universal axes need not meet. Ball: its centre.
        stiffness: [N m/rad] one number or (k,), >= 0.
        damping: [N m s/rad] one number or (k,), >= 0.
        rest: [rad] where its own spring holds it, one number or (k,).
        low, high: [rad] limits, one number or (k,); infinite: none.
        limit_stiffness: [N m/rad] past a limit. limit_damping: [N m s/rad] past a limit.
    """

    body: str
    parent: str = ""
    kind: JointKind = "hinge"
    axes: Any = field(default_factory=lambda: np.zeros((0, 3)))
    points: Any = field(default_factory=lambda: np.zeros(3))
    stiffness: Any = field(default_factory=lambda: np.zeros(()))
    damping: Any = field(default_factory=lambda: np.zeros(()))
    rest: Any = field(default_factory=lambda: np.zeros(()))
    low: Any = field(default_factory=lambda: np.array(-np.inf))
    high: Any = field(default_factory=lambda: np.array(np.inf))
    limit_stiffness: float = 5.0
    limit_damping: float = 0.02

    def __post_init__(self) -> None:
        place = f"joint of {self.body!r}"
        require(self.kind in get_args(JointKind), f"expected a kind of {', '.join(FREEDOM)}, got {self.kind!r}", place)
        freedom = FREEDOM[self.kind]
        turning = freedom if self.kind != "free" else 0
        axes = np.eye(3) if self.kind == "ball" and np.size(self.axes) == 0 else self.axes
        axes = array(np.atleast_2d(np.asarray(axes, dtype=np.float64)) if turning else np.zeros((0, 3)), (turning, 3),
                     f"{place}, axes")  # fmt: skip
        length = np.linalg.norm(axes, axis=1)
        require(bool((length > 1e-12).all()), "expected axes longer than zero", place)
        # a direction that is of unit length already keeps its digits, so that documents come back exactly
        axes = np.where(np.abs(length[:, None] - 1.0) < 1e-14, axes, axes / length[:, None]) if turning else axes
        if self.kind == "ball":
            require(np.allclose(axes @ axes.T, np.eye(3), atol=1e-6), "expected orthogonal axes", place)
        points = np.asarray(self.points, dtype=np.float64)
        rows = turning if self.kind != "ball" else 1
        points = np.broadcast_to(points, (rows, 3)) if rows and points.ndim == 1 else points.reshape(-1, 3)[:rows]
        object.__setattr__(self, "axes", array(axes, (turning, 3), f"{place}, axes"))
        object.__setattr__(self, "points", array(points, (rows, 3), f"{place}, points"))
        for name in ("stiffness", "damping", "rest", "low", "high"):
            value = np.asarray(getattr(self, name), dtype=np.float64)
            require(value.ndim == 0 or value.shape == (freedom,), f"expected one {name} or {freedom}", place)
            value = np.broadcast_to(value, (freedom,)).copy()
            require(not np.isnan(value).any(), f"expected numbers in {name}", place)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        finite = np.isfinite(self.stiffness).all() and np.isfinite(self.damping).all() and np.isfinite(self.rest).all()
        require(bool(finite), "expected finite stiffness, damping and rest", place)
        bounds = (self.stiffness >= 0).all() and (self.damping >= 0).all() and (self.low <= self.high).all()
        require(bool(bounds), "expected stiffness and damping of 0 or more and low <= high", place)
        require(self.limit_stiffness >= 0 and self.limit_damping >= 0, "expected limits of 0 or more", place)


@dataclass(frozen=True, eq=False)
class Law:
    """Force-length and force-velocity curves of a tissue, sampled; between samples monotone cubic, outside constant slope.

        T = stiffness · passive(λ) + a · strength · active(λ) · velocity(λ̇)

    with λ = length / slack length and λ̇ [1/s] (lengthening positive). `None` is the linear default: passive = λ − 1 (and
    `compression` times that where slack), active = 1 (fading below half the slack length to 0 at 0.3), velocity =
    1 + λ̇/10 s⁻¹ within 0…1.4: a muscle at rest pulls with a · strength, and none shortens faster than muscle can.
    Hill curves come from `risorius.strands.laws.hill`; any other from `risorius.strands.laws.sampled`.

    Args:
        name: for people and documents.
        passive, active, velocity: (m, 2) columns x ascending and value, m >= 2, or None.
    """

    name: str = "linear"
    passive: Floats | None = None
    active: Floats | None = None
    velocity: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("passive", "active", "velocity"):
            value = getattr(self, name)
            if value is not None:
                value = array(value, (-1, 2), f"law {self.name!r}, {name}")
                ascending = len(value) >= 2 and bool((np.diff(value[:, 0]) > 0).all())
                require(ascending, "expected two samples or more with ascending x", f"law {self.name!r}, {name}")
                object.__setattr__(self, name, value)


LINEAR: Final = Law()


@dataclass(frozen=True, eq=False)
class Tissue:
    """What a strand is made of between two parameters.

    Args:
        start, end: range of parameters, 0 <= start < end <= 1.
        stiffness: [N] passive force per unit strain (Young's modulus times area).
        strength: [N] active force at activation 1 (0: tendon).
        slack: slack length over the length as drawn at rest: below 1 the strand is stretched at rest, above 1 loose.
        compression: part of the stiffness that resists shortening below slack; 0: goes slack (default).
        law: curves; the default is linear.
    """

    stiffness: float
    strength: float = 0.0
    start: float = 0.0
    end: float = 1.0
    slack: float = 1.0
    compression: float = 0.0
    law: Law = LINEAR

    def __post_init__(self) -> None:
        values = (self.stiffness, self.strength, self.start, self.end, self.slack, self.compression)
        require(bool(np.isfinite(values).all()), "expected finite numbers", "tissue")
        require(
            0 <= self.start < self.end <= 1, f"expected 0 <= start < end <= 1, got {self.start}, {self.end}", "tissue"
        )
        require(self.stiffness >= 0 and self.strength >= 0, "expected stiffness and strength of 0 or more", "tissue")
        require(self.slack > 0 and 0 <= self.compression <= 1, "expected slack > 0, compression in 0…1", "tissue")


@dataclass(frozen=True, eq=False)
class Strand:
    """A tendon, a muscle, both in one, a rope: a cubic B-spline with mass, tension and damping.

    Rayleigh damping is (mass_damping·M + stiffness_damping·K) q̇ with K the stiffness along the strand.

    Args:
        name: unique, not empty.
        points: (n, 3) [m] control points at rest, n >= 4.
        radius: [m] one number or (n,): for mass (π r² a length) and for drawing.
        density: [kg/m³].
        tissues: ranges that cover 0…1; where none covers, the strand pulls nothing.
        mass_damping: α [1/s]. stiffness_damping: β [s].
        group: for people: `flexor`, `extensor`, …
    """

    name: str
    points: Floats
    radius: Any
    tissues: tuple[Tissue, ...] = ()
    density: float = 1060.0
    mass_damping: float = 10.0
    stiffness_damping: float = 5e-3
    group: str = ""

    def __post_init__(self) -> None:
        place = f"strand {self.name!r}"
        require(bool(self.name), "expected a name", "strand")
        points = array(self.points, (-1, 3), f"{place}, points")
        require(len(points) >= 4, f"expected four control points or more, got {len(points)}", place)
        require(
            bool(np.ptp(points, axis=0).max() > 1e-9),
            "expected a length above zero: all control points coincide",
            place,
        )
        object.__setattr__(self, "points", points)
        radius = np.asarray(self.radius, dtype=np.float64)
        require(radius.ndim == 0 or radius.shape == (len(points),), f"expected one radius or {len(points)}", place)
        radius = array(np.broadcast_to(radius, (len(points),)), (len(points),), f"{place}, radius")
        require(bool((radius > 0).all()) and self.density > 0, "expected radius and density above zero", place)
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "tissues", tuple(self.tissues))
        damping = self.mass_damping >= 0 and self.stiffness_damping >= 0
        require(damping and np.isfinite(self.density), "expected damping of 0 or more", place)

    @property
    def strength(self) -> float:
        """Greatest active force [N]."""
        return max((tissue.strength for tissue in self.tissues), default=0.0)


@dataclass(frozen=True, eq=False)
class Attachment:
    """A point of a strand stays on a point of a body (S3 fixed, equation 10): origins, insertions.

    Args:
        strand: name. parameter: 0…1. body: name, or "" for the world.
        point: (3,) [m] on the body, rest world; None: where the strand is at rest.
    """

    strand: str
    parameter: float
    body: str = ""
    point: Floats | None = None


@dataclass(frozen=True, eq=False)
class Slide:
    """A strand passes through a point of a body, along itself only (S3 sliding, equation 12): pulleys, retinacula.

    Args:
        strand: name. parameter: 0…1 the material that is there at rest (the search for it starts here).
        body: name, or "". point: (3,) [m] rest world; None: where the strand is at rest.
    """

    strand: str
    parameter: float
    body: str = ""
    point: Floats | None = None


@dataclass(frozen=True, eq=False)
class Surface:
    """A cubic tensor-product surface that a body carries, for strands to lie on.

    Args:
        name: unique. body: name, or "".
        points: (u, v, 3) [m] control points at rest, u, v >= 4; ∂u × ∂v points outward.
        closed: whether u runs round (the surface closes on itself); v is pinned at its ends as strands are.
    """

    name: str
    body: str
    points: Floats
    closed: bool = True

    def __post_init__(self) -> None:
        points = array(self.points, (-1, -1, 3), f"surface {self.name!r}, points")
        require(min(points.shape[:2]) >= 4, "expected 4 by 4 control points or more", f"surface {self.name!r}")
        object.__setattr__(self, "points", points)


@dataclass(frozen=True, eq=False)
class Contact:
    """A point of a strand stays on a surface and slides on it in both directions (S3 surface, equation 11).

    Args:
        strand: name. parameter: 0…1, material, fixed. surface: name.
        height: [m] distance above the surface; None: as drawn at rest.
        one_sided: the strand may lift off (the surface pushes, never pulls).
    """

    strand: str
    parameter: float
    surface: str
    height: float | None = 0.0
    one_sided: bool = False


@dataclass(frozen=True, eq=False)
class Link:
    """A point of one strand stays on a point of another (branching): lumbricals, lateral bands, junctures.

    Args:
        strand, other: names. parameter, other_parameter: 0…1.
    """

    strand: str
    parameter: float
    other: str
    other_parameter: float


@dataclass(frozen=True, eq=False)
class Motion:
    """Keyframes of a body's pose: x = R·x_rest + p. Between keys shortest-arc rotation and linear translation.

    Args:
        body: name.
        times: (t,) [s] ascending. rotations: (t, 3, 3). translations: (t, 3) [m].
    """

    body: str
    times: Floats
    rotations: Floats
    translations: Floats

    def __post_init__(self) -> None:
        place = f"motion of {self.body!r}"
        times = array(self.times, (-1,), f"{place}, times")
        require(len(times) >= 1, "expected one key or more", place)
        require(bool((np.diff(times) > 0).all()), "expected ascending times", place)
        rotations = array(self.rotations, (len(times), 3, 3), f"{place}, rotations")
        product = rotations @ rotations.transpose(0, 2, 1)
        proper = np.allclose(product, np.eye(3), atol=1e-5) and bool((np.linalg.det(rotations) > 0).all())
        require(proper, "expected rotation matrices", place)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "rotations", rotations)
        object.__setattr__(self, "translations", array(self.translations, (len(times), 3), f"{place}, translations"))


@dataclass(frozen=True, eq=False)
class PoseTarget:
    """A 6D target: the body should follow the motion. `weight` >= 0 multiplies its share of the cost."""

    motion: Motion
    weight: float = 1.0

    @property
    def body(self) -> str:
        return self.motion.body


@dataclass(frozen=True, eq=False)
class PointTarget:
    """A 3D target: a point of a body should be at a place.

    Args:
        body: name. point: (3,) [m] on the body, rest world.
        times: (t,) [s] ascending. positions: (t, 3) [m] world; linear between keys.
        weight: >= 0.
    """

    body: str
    point: Floats
    times: Floats
    positions: Floats
    weight: float = 1.0

    def __post_init__(self) -> None:
        place = f"point target of {self.body!r}"
        times = array(self.times, (-1,), f"{place}, times")
        require(len(times) >= 1 and bool((np.diff(times) > 0).all()), "expected ascending times", place)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "point", array(self.point, (3,), f"{place}, point"))
        object.__setattr__(self, "positions", array(self.positions, (len(times), 3), f"{place}, positions"))


Target = PoseTarget | PointTarget


@dataclass(frozen=True, eq=False)
class StrandModel:
    """Bodies and strands, ready to be simulated (`risorius.strands.System`) or written (`risorius.io.strand_file`).

    Bodies without a joint are free. More than one joint of a body closes a loop. Names are checked here.

    Args:
        gravity: (3,) [m/s²].
    """

    name: str = "model"
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    strands: tuple[Strand, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    slides: tuple[Slide, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    contacts: tuple[Contact, ...] = ()
    links: tuple[Link, ...] = ()
    gravity: Floats = field(default_factory=lambda: np.array(DOWN))

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", array(self.gravity, (3,), "gravity"))
        for name in ("bodies", "joints", "strands", "attachments", "slides", "surfaces", "contacts", "links"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        bodies = unique(self.bodies, "body")
        strands = unique(self.strands, "strand")
        surfaces = unique(self.surfaces, "surface")
        for joint in self.joints:
            known(joint.body, bodies, "body", f"joint of {joint.body!r}")
            known(joint.parent, bodies | {""}, "body", f"joint of {joint.body!r}, parent")
            require(joint.body != joint.parent, "expected two bodies", f"joint of {joint.body!r}")
        for surface in self.surfaces:
            known(surface.body, bodies | {""}, "body", f"surface {surface.name!r}")
        placed: tuple[Attachment | Slide | Contact | Link, ...]
        placed = (*self.attachments, *self.slides, *self.contacts, *self.links)
        for item in placed:
            place = f"{type(item).__name__.lower()} of {item.strand!r}"
            known(item.strand, strands, "strand", place)
            require(0 <= item.parameter <= 1, f"expected a parameter in 0…1, got {item.parameter}", place)
            if isinstance(item, Attachment | Slide):
                known(item.body, bodies | {""}, "body", place)
                if item.point is not None:
                    object.__setattr__(item, "point", array(item.point, (3,), f"{place}, point"))
            elif isinstance(item, Contact):
                known(item.surface, surfaces, "surface", place)
            else:
                known(item.other, strands, "strand", place)
                require(0 <= item.other_parameter <= 1, "expected a parameter in 0…1", place)
                require(item.other != item.strand, "expected another strand", place)

    def body(self, name: str) -> Body:
        return self.bodies[[body.name for body in self.bodies].index(name)]

    def strand(self, name: str) -> Strand:
        return self.strands[[strand.name for strand in self.strands].index(name)]


def unique(items: Sequence[Any], kind: str) -> set[str]:
    names = [item.name for item in items]
    for name in names:
        require(names.count(name) == 1, f"expected each name once, got {name!r} {names.count(name)} times", kind)
    return set(names)


def known(name: str, names: set[str], kind: str, place: str) -> None:
    if name not in names:
        listed = ", ".join(sorted(names - {""})[:8]) or "none"
        raise InputError(f"expected the name of a {kind} ({listed}, …), got {name!r}", place=place)
