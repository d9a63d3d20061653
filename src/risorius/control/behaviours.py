"""Behaviours as styles: a few knobs in, a control out. Numbers come from `data/styles.csv` and `data/scores.csv`; those that
DiLorenzo 2009 gives for his own muscles (tables 6.1 and 7.1) from `styles_papers.csv` and `scores_papers.csv` beside them;
what was calibrated on a woman, from `styles_female.csv`.

A style is of one of three kinds: breathing (one breath, repeated), laughing (bouts of calls) or a score (curves by time,
played once or repeated). The knobs mean the same for all of them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

from risorius.control.control import FAMILIES, GLOTTIS, SYRINGE, VALVES, Channel, Control, added
from risorius.control.curves import Curve, Linear, Sine
from risorius.core.errors import InputError

RAMP = 12
"""Straight pieces that draw one rise or fall of effort."""
CHEST: Final = {
    "intercostal_external", "intercostal_internal", "parasternal", "scalene", "sternocleidomastoid", "levator_costae",
    "triangularis", "intercostals", "shoulders.elevation", *FAMILIES["accessory"],
}  # fmt: skip
BELLY: Final = {"diaphragm", "abdomen", *FAMILIES["abdomen"]}
VARIATION: Final = {"depth": 0.22, "time": 0.15, "memory": 0.35}
"""Natural variation at irregularity 1: coefficients of variation of depth (tidal volume 15 to 30 %) and of duration, and
the correlation of neighbouring breaths (physiology survey §1: CV of VT, non-random; Tobin 1988)."""
SUDDEN, BEATING = 100.0, 50.0
"""Frames a second of scores (the peak flow of a cough lasts 30 ms) and of laughter (5 calls a second)."""
RELAXED: Final = {"suck": 6.0, "fill": 30.0, "settle": 1.0}
"""Seconds in which the relaxed chest is emptied to RV, filled to TLC, and left alone in between."""


@dataclass(frozen=True)
class Knobs:
    """What an animator turns.

    Args:
        rate: breaths, coughs … a minute; of a laugh calls a second. The style's own where not given.
        depth: factor on what breathes in.
        mix: 0 chest alone … 0.5 as the style has it … 1 belly alone.
        calls: calls in a bout of laughter, or how often a score is played.
        bouts: bouts of laughter; as many as the time holds where not given.
        effort: factor on everything.
        irregularity: 0 every breath alike … 1 as people vary; by `seed`.
    """

    rate: float | None = None
    depth: float = 1.0
    mix: float = 0.5
    calls: int | None = None
    bouts: int | None = None
    effort: float = 1.0
    irregularity: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        ranges = {
            "rate": (0.1, 200.0), "depth": (0.0, 5.0), "mix": (0.0, 1.0), "calls": (1, 100), "bouts": (1, 1000),
            "effort": (0.0, 5.0), "irregularity": (0.0, 3.0), "seed": (0, 2**63),
        }  # fmt: skip
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(f"expected {low:g} to {high:g}, got {value:g}", place=name)

    def share(self, target: str) -> float:
        """Factor that the mix puts on a target."""
        if target in CHEST:
            return min(1.0, 2.0 * (1.0 - self.mix))
        return min(1.0, 2.0 * self.mix) if target in BELLY else 1.0


class Part(NamedTuple):
    """One line of a score: target, what it does (in, out, pose, valve), and its points (s, value)."""

    target: str
    role: str
    points: tuple[tuple[float, float], ...]


@cache
def styles(papers: bool = False, sex: str = "male") -> dict[str, dict[str, float]]:
    """Style -> knob -> value; with `papers` those of the papers in the place of ours. A woman's are the man's but for the
    knobs that were calibrated on her."""
    if papers:
        return {**styles(), **style_table("styles_papers")}
    table = style_table("styles")
    if sex == "female":
        return table | {name: table[name] | own for name, own in style_table("styles_female").items()}
    return table


def style_table(name: str) -> dict[str, dict[str, float]]:
    """Style -> knob -> value of one data file."""
    table: dict[str, dict[str, float]] = {}
    for row in rows(name):
        table.setdefault(row["style"], {})[row["knob"]] = float(row["value"])
    return table


@cache
def scores(papers: bool = False) -> dict[str, tuple[Part, ...]]:
    """Style -> its score; with `papers` those of the papers in the place of ours."""
    table: dict[str, tuple[Part, ...]] = {}
    for row in rows("scores_papers" if papers else "scores"):
        pairs = (word.split(":") for word in row["points"].split())
        points = tuple((float(time), float(value)) for time, value in pairs)
        table[row["style"]] = (*table.get(row["style"], ()), Part(row["target"], row["role"], points))
    return {**scores(), **table} if papers else table


def rows(name: str) -> list[dict[str, str]]:
    """A table of this room."""
    text = files("risorius.control").joinpath(f"data/{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def names() -> tuple[str, ...]:
    """Every behaviour."""
    return tuple(dict.fromkeys(("rest", *styles(), *scores(), "relaxed-curve")))


def behaviour(
    name: str,
    seconds: float,
    posture: str = "upright",
    route: str = "mouth",
    knobs: Knobs | None = None,
    volumes: tuple[float, float, float] | None = None,
    papers: bool = False,
    sex: str = "male",
) -> Control:
    """The control of a named behaviour.

    Args:
        volumes: RV, FRC and TLC [l] that the relaxed curve goes through.
        papers: with the activations of DiLorenzo 2009, for a subject with his muscles.
        sex: whose drives, where a style was calibrated on both.
    """
    knobs = knobs or Knobs()
    if name not in names():
        raise InputError(f"expected one of {', '.join(names())}, got {name!r}", place="behaviour")
    style = styles(papers, sex).get(name, {})
    channels: tuple[Channel, ...] = ()
    if name == "relaxed-curve":
        channels = relaxed_curve(*(volumes or (1.4, 3.2, 6.4)))
    elif name in scores():
        channels = score_channels(scores(papers)[name], style, seconds, knobs)
    elif "call_rate" in style:
        channels = laugh_channels(style, seconds, knobs)
    elif style:
        channels = breath_channels(style, seconds, knobs, posture)
    frames = SUDDEN if name in scores() else BEATING if "call_rate" in style else Control.frames
    control = Control(channels, seconds, posture, route, name, frames=frames)
    if style.get("over_calm"):
        steady = Knobs(irregularity=knobs.irregularity, seed=knobs.seed)
        calm = behaviour("calm", seconds, posture, route, steady, papers=papers, sex=sex)
        control = replace(added(calm, control), name=name)
    return control


def parts(style: dict[str, float], kind: str) -> Iterator[tuple[str, float]]:
    """Targets and values of one kind of knob (`drive_diaphragm` …)."""
    for key, value in style.items():
        if key.startswith(f"{kind}_"):
            yield key.removeprefix(f"{kind}_"), value


def variation(knobs: Knobs) -> Callable[[], tuple[float, float]]:
    """A source of (depth factor, time factor) of one breath or call after the other: lognormal, each remembering the last."""
    random = np.random.default_rng(knobs.seed)
    last = np.zeros(2)
    spread = knobs.irregularity * np.array([VARIATION["depth"], VARIATION["time"]])
    memory = VARIATION["memory"]

    def following() -> tuple[float, float]:
        nonlocal last
        if knobs.irregularity == 0.0:
            return 1.0, 1.0
        last = memory * last + np.sqrt(1.0 - memory * memory) * random.standard_normal(2)
        depth, time = np.exp(spread * last - 0.5 * spread * spread)
        return float(depth), float(time)

    return following


# --- breathing ---------------------------------------------------------------------------------------------------------


def breath(period: float, inspiration: float, brake: float) -> Linear:
    """Inspiratory effort of one breath, repeating: a rounded rise over `inspiration` [s], then a fall over `brake` [s].

    Inspiratory muscles hold on into expiration and brake its first part (physiology survey §6).
    """
    return Linear(points=inward(period, inspiration, brake), period=period)


def inward(period: float, inspiration: float, brake: float) -> tuple[tuple[float, float], ...]:
    """Points of one inspiratory effort."""
    up = np.linspace(0.0, 1.0, RAMP + 1)
    rise = [(inspiration * x, float(np.sin(0.5 * np.pi * x))) for x in up]
    fall = [(min(inspiration + brake * x, period), float(0.5 * (1.0 + np.cos(np.pi * x)))) for x in up[1:]]
    return (*rise, *fall, (period, 0.0))


def outward(period: float, inspiration: float, late: float) -> tuple[tuple[float, float], ...]:
    """Points of one expiratory effort: a bell over what is left of the period after a pause of `late` [s]."""
    begun = inspiration + late
    bell = [(begun + (period - begun) * x, float(np.sin(np.pi * x) ** 2)) for x in np.linspace(0.0, 1.0, 2 * RAMP + 1)]
    return ((0.0, 0.0), *bell)


def breath_channels(style: dict[str, float], seconds: float, knobs: Knobs, posture: str) -> tuple[Channel, ...]:
    """Breathing: what drives inspiration, what pushes expiration, what is held.

    Who lies drives the rib cage less and the diaphragm more (Druz & Sharp 1981): factors `lying_…` of the style.
    """
    lying = dict(parts(style, "lying")) if posture == "supine" else {}
    period = 60.0 / (knobs.rate or style["rate"])
    shapes = {}
    for kind, shape, stay in (("drive", inward, style["brake"]), ("push", outward, style.get("late", 0.1))):
        duty = style["duty"]

        def one(length: float, shape=shape, stay=stay, duty=duty) -> tuple[tuple[float, float], ...]:
            return shape(length, duty * length, stay * (1.0 - duty) * length)

        shapes[kind] = train(one, period, seconds, knobs)
    channels = []
    for kind, curve in shapes.items():
        factor = knobs.effort * deepness(style, 60.0 / period) * (knobs.depth if kind == "drive" else 1.0)
        channels += [
            Channel(target, (curve,), gain * factor * knobs.share(target) * lying.get(target, 1.0))
            for target, gain in parts(style, kind)
        ]
    channels += [Channel(target, (Curve(value),), knobs.effort) for target, value in parts(style, "hold")]
    return tuple(channels)


def deepness(style: dict[str, float], rate: float) -> float:
    """How deep a style is at a rate [1/min]: by its knobs `at_<rate>`, between which it is interpolated."""
    known = sorted((float(rate), value) for rate, value in parts(style, "at"))
    if not known:
        return 1.0
    rates, values = zip(*known)
    return float(np.interp(rate, rates, values))


def train(
    one: Callable[[float], tuple[tuple[float, float], ...]], period: float, seconds: float, knobs: Knobs
) -> Linear:
    """One breath repeated for ever, or breaths that vary one after the other."""
    if knobs.irregularity == 0.0:
        return Linear(points=one(period), period=period)
    points: list[tuple[float, float]] = []
    begun, following = 0.0, variation(knobs)
    while begun < seconds:
        depth, time = following()
        points += [(begun + t, depth * value) for t, value in one(period * time)]
        begun = points[-1][0]
    return Linear(points=tuple(points))


# --- laughing ----------------------------------------------------------------------------------------------------------


def laugh_channels(style: dict[str, float], seconds: float, knobs: Knobs) -> tuple[Channel, ...]:
    """Bouts of calls with a breath between them (D §6.2): the abdomen beats, internal intercostals with it, external ones
    against it, the diaphragm holds; the glottis is narrow while there is a bout."""
    rate = knobs.rate or style["call_rate"]
    calls = knobs.calls or round(style["calls"])
    curves: dict[tuple[str, str], list[Curve]] = {}
    following = variation(knobs)
    begun, bout = style["lead"], 0
    while begun < seconds and (knobs.bouts is None or bout < knobs.bouts):
        onsets = [begun]
        for call in range(calls):
            depth, time = following()
            fade = 1.0 + (style["decay"] - 1.0) * call / max(calls - 1, 1)
            half, start, end = 0.5 * depth * fade, onsets[-1], onsets[-1] + time / rate
            for kind, phase in (("pulse", -0.25), ("counter", 0.25)):
                beat = Sine(half, start, end, half, rate / time, phase)
                for target, _ in parts(style, kind):
                    curves.setdefault((kind, target), []).append(beat)
            onsets.append(end)
        end = onsets[-1]
        inhaled = end + style["inhale"]
        for target, _ in parts(style, "tonic"):
            points = ((0.0, 0.0), (end - begun, 1.0), (end - begun + style["release"], 0.0))
            curves.setdefault(("tonic", target), []).append(Linear(points=points, start=begun, end=inhaled))
        for target, _ in parts(style, "hold"):
            curves.setdefault(("hold", target), []).append(Curve(1.0, begun, end))
        length = 1.4 * style["inhale"]
        for target, _ in parts(style, "inhale"):
            shape = Linear(points=inward(length, style["inhale"], 0.4 * style["inhale"]), start=end, end=end + length)
            curves.setdefault(("inhale", target), []).append(shape)
        curves.setdefault(("shut", GLOTTIS), []).append(Curve(style["glottis"] - 1.0, begun, end))
        begun, bout = inhaled + style["pause"], bout + 1
    channels = [Channel(GLOTTIS, (Curve(1.0), *curves.pop(("shut", GLOTTIS), [])))]
    for (kind, target), shapes in curves.items():
        factor = knobs.effort * knobs.share(target) * (knobs.depth if kind == "inhale" else 1.0)
        channels.append(Channel(target, tuple(shapes), factor * style[f"{kind}_{target}"]))
    return tuple(channels)


# --- scores ------------------------------------------------------------------------------------------------------------


def score_channels(
    score: tuple[Part, ...], style: dict[str, float], seconds: float, knobs: Knobs
) -> tuple[Channel, ...]:
    """A score, played once, or again and again where the style or a knob gives a rate."""
    length = max(part.points[-1][0] for part in score)
    rate = knobs.rate or style.get("rate")
    following = variation(knobs)
    begun = style.get("lead", 0.0)
    starts: list[float] = []
    factors: list[float] = []
    while begun < seconds and len(starts) < (knobs.calls or (1 if rate is None else 10_000)):
        depth, time = following()
        starts.append(begun)
        factors.append(depth)
        begun += max(length, 60.0 / rate * time if rate else 0.0)
    channels = []
    for part in score:
        factor = 1.0
        if part.role != "valve":
            factor = knobs.effort * knobs.share(part.target) * (knobs.depth if part.role == "in" else 1.0)
        curves = []
        for start, depth in zip(starts, factors):
            size = 1.0 if part.role == "valve" else depth
            points = tuple((time, size * value) for time, value in part.points)
            curves.append(Linear(points=points, start=start, end=start + length))
        if part.target in VALVES:  # a valve's score says how far it shuts
            channels.append(Channel(part.target, (Curve(1.0), *(negative(curve) for curve in curves))))
        else:
            channels.append(Channel(part.target, tuple(curves), factor))
    return tuple(channels)


def negative(curve: Linear) -> Linear:
    """The curve turned upside down."""
    return replace(curve, points=tuple((time, -value) for time, value in curve.points))


def relaxed_curve(residual: float, functional: float, total: float) -> tuple[Channel, ...]:
    """Gas drawn from and pushed into the lung of a relaxed person behind a shut glottis, by a syringe [l/s]: to RV, to TLC,
    slowly; the lung pressure is then the relaxation pressure of the whole system (Rahn 1946)."""
    suck, fill, settle = RELAXED["suck"], RELAXED["fill"], RELAXED["settle"]
    first, second = settle + suck, 2 * settle + suck
    curves = (
        Curve((residual - functional) / suck, settle, first),
        Curve((total - residual) / fill, second, second + fill),
    )
    return Channel(GLOTTIS, (Curve(0.0),)), Channel(SYRINGE, curves)


def lasting(name: str) -> float:
    """Seconds that a behaviour takes where nobody says: a minute of breathing, 20 s of laughing, a score twice."""
    if name == "relaxed-curve":
        return RELAXED["suck"] + RELAXED["fill"] + 3.0 * RELAXED["settle"]
    style = styles().get(name, {})
    if name in scores() and not style.get("over_calm"):
        once = style.get("lead", 0.0) + max(part.points[-1][0] for part in scores()[name])
        return once + (60.0 / style["rate"] if "rate" in style else 0.0)
    return 20.0 if "call_rate" in style else 60.0
