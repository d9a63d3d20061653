"""Who is simulated: a few numbers that a person knows about themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

from risorius.core.errors import InputError

Sex = Literal["male", "female"]
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "ribs": ("axis", "ball", "hinges"),
    "lungs": ("two-way", "boyle"),
    "inertia": ("geometry", "boxes"),
    "muscles": ("own", "papers"),
}
"""Variants of the model, its own first; see `Spec`."""
PRESETS: Final[dict[str, dict[str, str]]] = {
    "papers": {"ribs": "ball", "lungs": "boyle", "inertia": "boxes", "muscles": "papers"},
    "hinges": {"ribs": "hinges", "lungs": "boyle", "inertia": "boxes"},
}
"""Variants by one name: `papers` is DiLorenzo 2009 with its table 8.1, `hinges` the joints of Veltkamp & Piest 2009."""

STATURE_RANGE: Final = (1.50, 2.00)
AGE_RANGE: Final = (18.0, 80.0)
BMI_RANGE: Final = (17.0, 38.0)


@dataclass(frozen=True)
class Spec:
    """A subject.

    Args:
        sex: "male" or "female".
        stature: [m], 1.50 to 2.00.
        mass: [kg]; body-mass index 17 to 38.
        age: [years], 18 to 80.
        ribs: how a rib turns on the spine: about the axis through head and tubercle, nearly ("axis"); on a ball joint with
            friction ("ball", DiLorenzo 2009); on a pump-handle and a bucket-handle hinge ("hinges", Veltkamp & Piest 2009).
        lungs: "two-way": gas, recoil and airway press back on the chest; "boyle": read off the motion (DiLorenzo §6.3.1).
        inertia: of the bones' own shape ("geometry") or of their bounding boxes ("boxes", DiLorenzo ch. 8).
        muscles: calibrated in SI ("own"), or DiLorenzo's table 8.1 with his curves, no activation dynamics ("papers").
    """

    sex: Sex = "male"
    stature: float = 1.75
    mass: float = 75.0
    age: float = 30.0
    ribs: str = "axis"
    lungs: str = "two-way"
    inertia: str = "geometry"
    muscles: str = "own"

    def __post_init__(self) -> None:
        if self.sex not in ("male", "female"):
            raise InputError(f"expected male or female, got {self.sex!r}", place="subject: sex")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"expected one of {', '.join(allowed)}, got {getattr(self, name)!r}", place=f"subject: {name}"
                )
        check("stature", self.stature, STATURE_RANGE, "m")
        check("age", self.age, AGE_RANGE, "years")
        if not (math.isfinite(self.mass) and self.mass > 0):
            raise InputError(f"expected a positive number of kilograms, got {self.mass}", place="subject: mass")
        low, high = (self.stature**2 * index for index in BMI_RANGE)
        if not low <= self.mass <= high:
            raise InputError(
                f"expected {low:.0f} to {high:.0f} kg at a stature of {self.stature} m "
                f"(body-mass index {BMI_RANGE[0]:.0f} to {BMI_RANGE[1]:.0f}), got {self.mass}",
                place="subject: mass",
            )

    @property
    def bmi(self) -> float:
        """Body-mass index [kg/m²]."""
        return self.mass / self.stature**2

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read `male`, `female`, `sex=female,stature=1.65,mass=60,age=30`; rest as the reference. Words and pairs may be
        mixed: `female,ribs=ball`, `papers`, `sex=female,preset=papers`."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not words:
            raise InputError("expected male, female or key=value pairs, got nothing", place="subject")
        numeric = ("stature", "mass", "age")
        known = ("sex", *numeric, *CHOICES, "preset")
        given: dict[str, str] = {}
        for word in words:
            key, equals, value = (part.strip() for part in word.partition("="))
            if not equals and key in ("male", "female"):
                key, value = "sex", key
            elif not equals and key in PRESETS:
                key, value = "preset", key
            if not value or key not in known or key in given:
                words_known = ", ".join(("male", "female", *PRESETS))
                pairs_known = ", ".join(f"{name}=" for name in known)
                raise InputError(f"expected {words_known} or {pairs_known} at most once, got {word!r}", place="subject")
            given[key] = value
        base = reference(given.pop("sex", "male"))
        preset = given.pop("preset", None)
        if preset is not None and preset not in PRESETS:
            raise InputError(f"expected one of {', '.join(PRESETS)}, got {preset!r}", place="subject: preset")
        numbers: dict[str, float] = {}
        for key in numeric:
            if key in given:
                try:
                    numbers[key] = float(given.pop(key))
                except ValueError as error:
                    raise InputError(f"expected a number: {error}", place=f"subject: {key}") from None
        if "stature" in numbers and "mass" not in numbers and numbers["stature"] > 0:
            numbers["mass"] = base.bmi * numbers["stature"] ** 2
        return replace(base, **numbers, **{**PRESETS.get(preset or "", {}), **given})  # type: ignore[arg-type]

    @property
    def variants(self) -> dict[str, str]:
        """Variants that are not the model's own."""
        return {name: getattr(self, name) for name, allowed in CHOICES.items() if getattr(self, name) != allowed[0]}

    def __str__(self) -> str:
        more = "".join(f",{name}={value}" for name, value in self.variants.items())
        return f"sex={self.sex},stature={self.stature:g},mass={self.mass:g},age={self.age:g}{more}"


def check(name: str, value: float, allowed: tuple[float, float], unit: str) -> None:
    """Refuse a number outside its range, NaN included."""
    if not allowed[0] <= value <= allowed[1]:
        raise InputError(f"expected {allowed[0]:g} to {allowed[1]:g} {unit}, got {value:g}", place=f"subject: {name}")


def reference(sex: str) -> Spec:
    """The reference man (1.75 m, 75 kg, 30 years) or woman (1.65 m, 60 kg, 30 years)."""
    if sex == "male":
        return Spec("male", 1.75, 75.0, 30.0)
    if sex == "female":
        return Spec("female", 1.65, 60.0, 30.0)
    raise InputError(f"expected male, female or key=value pairs, got {sex!r}", place="subject")
