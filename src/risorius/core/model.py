"""The frozen model of a subject: geometry, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

from risorius.core.torso import Torso


@dataclass(frozen=True)
class Material:
    """What the elements of one muscle group are made of.

    Args:
        law: "hill", "hill-paper", "spring" or "passive".
        stress: greatest active stress [Pa]; passive elements: modulus [Pa].
        stretch: length at rest over the length of greatest force, l/l0.
        width: half width of the force-length parabola.
        speed: greatest speed of shortening [l0/s].
        passive: k_pe as a part of the greatest force.
        damping: b_pe as a part of the greatest force [s].
        rise, fall: time constants of activation [s].
        force: greatest force of every element [N], instead of stress by area; 0: by area.
    """

    law: str
    stress: float
    stretch: float
    width: float
    speed: float
    passive: float
    damping: float
    rise: float
    fall: float
    force: float = 0.0


@dataclass(frozen=True)
class JointMaterial:
    """A joint's springs along its three axes: stiffness [N m/rad], damping [N m s/rad], limits [rad] low and high, and how
    stiff [N m/rad] and damped [N m s/rad] it is past them."""

    stiffness: tuple[float, float, float]
    damping: tuple[float, float, float]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    limit_stiffness: float
    limit_damping: float


@dataclass(frozen=True)
class Softness:
    """What is soft besides muscle: numbers of the data file, SI, by name."""

    values: dict[str, float]

    def __getitem__(self, name: str) -> float:
        return self.values[name]


@dataclass(frozen=True)
class LungTable:
    """The lung of a subject.

    Args:
        total, functional, residual: TLC, FRC, RV [m³], gas.
        tissue: tissue, blood, heart and mediastinum beside the gas [m³].
        recoil: P_L at FRC [Pa].
        full: P_L at TLC [Pa].
        curvature: K of Salazar and Knowles [1/Pa].
        linear, quadratic: Rohrer's K1 [Pa s/m³] and K2 [Pa s²/m⁶], by mouth.
        nasal_linear, nasal_quadratic: what the nose adds to them.
        upstream: resistance up to the equal-pressure point [Pa s/m³].
        peak: greatest flow that the trachea lets pass [m³/s].
        glottis: area of the open glottis [m²].
        abdomen: abdominal pressure at rest, mid-abdomen, upright [Pa].
        two_way: whether the lung presses back on the chest; else it is read off the motion with the next three.
        transmural: slope of P_tm with lung volume [Pa/m³].
        turbulence: k of the turbulent flow sqrt(|ΔP|/k) [Pa s²/m⁶].
        filled: lung volume at the start as a part of the chest's.
    """

    total: float
    functional: float
    residual: float
    tissue: float
    recoil: float
    full: float
    curvature: float
    linear: float
    quadratic: float
    nasal_linear: float
    nasal_quadratic: float
    upstream: float
    peak: float
    glottis: float
    abdomen: float
    two_way: bool
    transmural: float
    turbulence: float
    filled: float


@dataclass(frozen=True, eq=False)
class Model:
    """A subject, ready to be simulated.

    Args:
        torso: geometry.
        materials: by muscle group.
        joints: one a body.
        softness: struts, tissue, contact, content.
        lung: volumes, recoil, airway.
    """

    torso: Torso
    materials: dict[str, Material]
    joints: tuple[JointMaterial, ...]
    softness: Softness
    lung: LungTable
