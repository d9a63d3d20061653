"""The muscle laboratory: the two experiments of DiLorenzo 2009, section 4.3, on one element between two particles.

The upper particle is held, the lower one hangs from it by the element, in one dimension: m ÿ = m g − F(|y|, d|y|/dt) sgn y
with y downward. First the element goes from rest to full activation at 1 s and back at 5 s; then it is held at its rest
length at half strength and let go at 0.5 s with no load (quick release). A spring's command is the ratio r of the length
that it strives for, a Hill muscle's its activation a: r = 1 − a. The laws are the simulator's own (`mechanics.muscles`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.units import GRAVITY
from risorius.mechanics import muscles

Floats = NDArray[np.float64]

STIFFNESS, DAMPING = 50.0, 5.0
"""Spring [N/m, N s/m] (D §4.3)."""
PASSIVE, PASSIVE_DAMPING, STRONGEST = 50.0, 10.0, 50.0
"""Hill: k_PE [N], b_PE [N s], F_max [N], as far as D §4.3 can be read in our copy."""
QUICKEST, MASS, REST = 2.0, 1.0, 1.0
"""v_max [l0/s], mass of the particle [kg], rest length [m]: not readable there; ours, so that the spring shoots past the
upper particle and the muscle slows down before it settles, as D §4.3 describes."""
WIDTH = 0.5
"""Half width of the force-length parabola (D §4.2)."""
STEP: Final = 2e-4
SAMPLE: Final = 0.002
LAWS: Final[dict[str, tuple[int, tuple[float, ...]]]] = {
    "spring": (muscles.SPRING, (STIFFNESS, REST, 1.0, 1.0, 0.0, DAMPING)),
    "hill": (muscles.HILL, (STRONGEST, REST, WIDTH, QUICKEST, PASSIVE, PASSIVE_DAMPING)),
    "hill-paper": (muscles.HILL_D, (STRONGEST, REST, WIDTH, QUICKEST, PASSIVE, PASSIVE_DAMPING)),
}


@dataclass(frozen=True, eq=False)
class Trace:
    """One element in one experiment: time (n) [s], place (n) of the lower particle under the upper one [m], force (n) [N],
    activation (n)."""

    time: Floats
    place: Floats
    force: Floats
    activation: Floats


def pull(law: int, parameters: Floats, length: float, speed: float, activation: float) -> float:
    """Tension [N] under a command 0…1; a spring's is on throughout and strives for (1 − a) of its length."""
    if law == muscles.SPRING:
        return float(muscles.tension(law, parameters, length, speed, 1.0, 1.0 - activation)[0])
    return float(muscles.tension(law, parameters, length, speed, activation, 0.0)[0])


def hang(
    name: str,
    command: Callable[[float], float],
    seconds: float,
    *,
    start: float,
    gravity: float = GRAVITY,
    held_until: float = 0.0,
    step: float = STEP,
) -> Trace:
    """Let a particle hang from an element; held in place until a time [s]. Symplectic Euler steps."""
    law, values = LAWS[name]
    parameters = np.array(values)
    count, every = round(seconds / step), round(SAMPLE / step)
    y, v = start, 0.0
    rows = []
    for k in range(count + 1):
        time = k * step
        activation = command(time)
        side = 1.0 if y >= 0.0 else -1.0
        force = pull(law, parameters, abs(y), side * v, activation)
        if k % every == 0:
            rows.append((time, y, force, activation))
        if time >= held_until:
            v += step * (gravity - side * force / MASS)
            y += step * v
    return Trace(*np.array(rows).T)


def resting_place(name: str, activation: float = 0.0) -> float:
    """Length [m] at which an element carries the particle's weight: closed forms for the spring and the passive muscle.

    Spring: (1 − a) l0 + m g/k. Relaxed muscle: l0 (1 + (5 + ln(m g/k_PE))/10).
    """
    weight = MASS * GRAVITY
    if name == "spring":
        return (1.0 - activation) * REST + weight / STIFFNESS
    if activation == 0.0:
        return REST * (1.0 + (5.0 + float(np.log(weight / PASSIVE))) / 10.0)
    law, values = LAWS[name]
    low, high = 0.3, 2.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        if pull(law, np.array(values), middle, 0.0, activation) < weight:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def rest_full_rest(seconds: float = 9.0) -> dict[str, Trace]:
    """From rest to full activation at 1 s and back at 5 s, by law."""

    def command(time: float) -> float:
        return 1.0 if 1.0 <= time < 5.0 else 0.0

    return {name: hang(name, command, seconds, start=resting_place(name)) for name in LAWS}


def quick_release(seconds: float = 1.1) -> dict[str, Trace]:
    """Held at rest length at half strength, let go at 0.5 s without a load, by law."""
    return {name: hang(name, lambda _: 0.5, seconds, start=REST, gravity=0.0, held_until=0.5) for name in LAWS}


def muscle_laboratory(
    out: str | PathLike[str], progress: Callable[[str, float], None] | None = None
) -> dict[str, object]:
    """Do both experiments; writes tables (CSV) and pictures (PNG) into a folder and gives figures."""
    from risorius.io.signals import write_table
    from risorius.view.muscle_lab import draw_film, draw_forces, draw_laws

    folder = Path(out)
    tell = progress or (lambda _name, _part: None)
    figures: dict[str, object] = {}
    experiments = (
        ("rest-full-rest", rest_full_rest, (0.9, 1.1, 1.25, 1.5, 2.0, 4.9, 5.1, 5.3, 5.6, 6.5, 8.9)),
        ("quick-release", quick_release, (0.4, 0.52, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0)),
    )
    for number, (title, experiment, moments) in enumerate(experiments):
        tell(title, number / 3.0)
        traces = experiment()
        columns = {"time_s": traces["spring"].time}
        for name, trace in traces.items():
            columns |= {f"place_{name}_m": trace.place, f"force_{name}_N": trace.force}
        write_table(folder / f"{title}.csv", columns)
        draw_forces(folder / f"{title}.png", title, traces)
        draw_film(folder / f"{title}-film.png", title, traces, moments)
        figures[title] = {
            name: {
                "peak_force_N": round(float(trace.force.max()), 3),
                "last_force_N": round(float(trace.force[-1]), 4),
                "highest_m": round(float(trace.place.min()), 4),
                "last_place_m": round(float(trace.place[-1]), 4),
            }
            for name, trace in traces.items()
        }
    tell("laws", 2.0 / 3.0)
    draw_laws(folder / "laws.png")
    figures["folder"] = str(folder)
    return figures
