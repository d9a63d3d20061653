"""Who is simulated: a few numbers that a person knows about themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

from risorius.core.errors import InputError

Sex = Literal["male", "female"]

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
    """

    sex: Sex = "male"
    stature: float = 1.75
    mass: float = 75.0
    age: float = 30.0

    def __post_init__(self) -> None:
        if self.sex not in ("male", "female"):
            raise InputError(f"expected male or female, got {self.sex!r}", place="subject: sex")
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
        """Read `male`, `female` or `sex=female,stature=1.65,mass=60,age=30`; rest as the reference."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not words:
            raise InputError("expected male, female or key=value pairs, got nothing", place="subject")
        if len(words) == 1 and "=" not in words[0]:
            return reference(words[0])
        given: dict[str, str] = {}
        for word in words:
            key, equals, value = (part.strip() for part in word.partition("="))
            if not equals or key not in ("sex", "stature", "mass", "age") or key in given:
                raise InputError(
                    f"expected each of sex=, stature=, mass=, age= at most once, got {word!r}", place="subject"
                )
            given[key] = value
        base = reference(given.pop("sex", "male"))
        numbers: dict[str, float] = {}
        for key, value in given.items():
            try:
                numbers[key] = float(value)
            except ValueError:
                raise InputError(f"expected a number, got {value!r}", place=f"subject: {key}") from None
        if "stature" in numbers and "mass" not in numbers and numbers["stature"] > 0:
            numbers["mass"] = base.bmi * numbers["stature"] ** 2
        return replace(base, **numbers)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"sex={self.sex},stature={self.stature:g},mass={self.mass:g},age={self.age:g}"


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
