"""The muscle studio's workings, without any page: draw, grow, turn knobs, mirror, undo, save."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.muscle import start_thickness
from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh, of_triangles
from risorius.io.files import write_bytes
from risorius.io.muscle_file import write_muscles
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.mirror import mirrored, other_side
from risorius.skin.muscle.model import Muscle
from risorius.skin.muscle.report import report
from risorius.skin.muscle.rig import Rig
from risorius.skin.muscle.shape import patchwork
from risorius.skin.muscle.surface import Surface

Floats = NDArray[np.float64]
DEPTH: Final = 100
"""Steps that undo remembers."""
KNOBS: Final = ("contraction", "bulge", "envelope", "d_full", "d_none")


@dataclass(frozen=True)
class Moment:
    """All that undo brings back.

    Args:
        curves: the two that are being drawn, tuples of points.
        sketches: what each muscle grew from, by its name.
        values: contraction of each muscle by its name.
    """

    curves: tuple[tuple[tuple[float, float, float], ...], ...] = ((), ())
    drawing: int = 0
    muscles: tuple[Muscle, ...] = ()
    sketches: tuple[tuple[str, Sketch], ...] = ()
    values: tuple[tuple[str, float], ...] = ()


@dataclass
class Studio:
    """A mesh, what was drawn on it and the muscles that came of it.

    Args:
        mesh: the skin.
        out: where `save` writes the muscles; the curves go beside it, named *.curves.json.
    """

    mesh: PolyMesh
    out: Path
    now: Moment = field(default_factory=Moment)
    past: list[Moment] = field(default_factory=list)
    selected: str | None = None
    thickness: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.surface = Surface(self.mesh)
        self.moving = Deformer(self.surface.vertices, [], dtype=np.float32)
        self.thickness = start_thickness(self.mesh)

    def warm(self) -> None:
        """Have every kernel ready before the first muscle needs it: grow and move one on a scrap of skin."""
        x, z = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5), indexing="ij")
        k = np.arange(25).reshape(5, 5)
        quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)
        scrap = of_triangles(np.stack([x, 0 * x, z], axis=-1).reshape(-1, 3), quads)
        curves = (np.array([[-0.3, 0, -0.5], [-0.3, 0, 0.5]]), np.array([[0.3, 0, -0.5], [0.3, 0, 0.5]]))
        muscle = grow(Surface(scrap), Sketch("warm", curves, 0.05, 0.1)).muscle
        moving = Deformer(scrap.vertices, [muscle], dtype=np.float32)
        now = moving.settings()
        now.contraction[:] = 0.5
        moving.frame(now)

    def _step(self, **changes: Any) -> None:
        self.past = [*self.past, self.now][-DEPTH:]
        self.now = replace(self.now, **changes)

    def click(self, origin: Floats, direction: Floats) -> bool:
        """A ray into the scene puts a point on the curve being drawn; False where it misses the skin."""
        t = picked(np.asarray(origin), np.asarray(direction), self.surface.vertices[self.surface.faces])
        if not np.isfinite(t):
            return False
        x, y, z = (np.asarray(origin) + t * np.asarray(direction)).tolist()
        curves = list(self.now.curves)
        curves[self.now.drawing] = (*curves[self.now.drawing], (x, y, z))
        self._step(curves=tuple(curves))
        return True

    def next_curve(self) -> None:
        """The other one of the two curves is drawn on."""
        self._step(drawing=1 - self.now.drawing)

    def clear(self) -> None:
        """Take the drawn curves away."""
        self._step(curves=((), ()), drawing=0)

    def grow(self, name: str, *, closed: bool = False, connected: bool = False) -> Muscle:
        """Grow a muscle from the two curves; `InputError` says what they lack."""
        if any(name == muscle.name for muscle in self.now.muscles):
            raise InputError(f"there is a muscle called {name!r} already")
        first, second = (np.array(curve, dtype=np.float64).reshape(-1, 3) for curve in self.now.curves)
        sketch = Sketch(name, (first, second), self.thickness["skin_thickness"], self.thickness["muscle_thickness"],
                        closed=closed, only_connected=connected)  # fmt: skip
        muscle = grow(self.surface, sketch).muscle
        self._step(curves=((), ()), drawing=0, muscles=(*self.now.muscles, muscle),
                   sketches=(*self.now.sketches, (name, sketch)))  # fmt: skip
        self.selected = name
        self._attach()
        return muscle

    def mirror(self, axis: int = 0) -> Muscle:
        """The selected muscle's mirror image across the middle of the mesh's axis."""
        muscle = self.muscle()
        at = 0.5 * float(self.surface.vertices[:, axis].min() + self.surface.vertices[:, axis].max())
        if any(other_side(muscle.name) == other.name for other in self.now.muscles):
            raise InputError(f"there is a muscle called {other_side(muscle.name)!r} already")
        other = mirrored(muscle, axis, at, self.surface.vertices)
        self._step(muscles=(*self.now.muscles, other))
        self._attach()
        return other

    def muscle(self) -> Muscle:
        """The selected one."""
        found = next((muscle for muscle in self.now.muscles if muscle.name == self.selected), None)
        if found is None:
            raise InputError("there is no muscle yet: draw two curves and grow one")
        return found

    def turn(self, knob: str, value: float | str) -> None:
        """Set a parameter of the selected muscle; turning one knob on is one step for undo."""
        muscle = self.muscle()
        if knob == "contraction":
            values = {**dict(self.now.values), muscle.name: float(value)}
            self._turned(muscle, knob, values=tuple(values.items()))
            return
        change: dict[str, Any] = {knob: value if knob == "falloff" else float(value)}
        if knob == "bulge":
            change = {"bulge": np.full(muscle.shape, float(value))}
        elif knob == "d_full":
            change["d_none"] = max(muscle.d_none, float(value))
        elif knob == "d_none":
            change["d_full"] = min(muscle.d_full, float(value))
        changed = replace(muscle, **change)
        all_of_them = tuple(changed if other.name == muscle.name else other for other in self.now.muscles)
        self._turned(muscle, knob, muscles=all_of_them)
        if knob in ("d_none", "d_full", "falloff", "bulge", "envelope"):
            self._attach()

    def _turned(self, muscle: Muscle, knob: str, **changes: Any) -> None:
        if self._last == (muscle.name, knob) and self.past:
            self.now = replace(self.now, **changes)
        else:
            self._step(**changes)
        self._last = (muscle.name, knob)

    _last: tuple[str, str] | None = None

    def undo(self) -> bool:
        """Back to before the last step; False where there is none."""
        self._last = None
        if not self.past:
            return False
        before, self.now = self.now, self.past.pop()
        names = [muscle.name for muscle in self.now.muscles]
        if self.selected not in names:
            self.selected = names[-1] if names else None
        if before.muscles is not self.now.muscles:
            self._attach()
        return True

    def _attach(self) -> None:
        self._last = None if self._last and self._last[1] == "contraction" else self._last
        self.moving = Deformer(self.surface.vertices, list(self.now.muscles), dtype=np.float32)

    def skin(self) -> NDArray[np.float32]:
        """(n, 3) the skin as it is now."""
        now = self.moving.settings()
        for name, value in self.now.values:
            if name in self.moving.names:
                now.contraction[self.moving.names.index(name)] = value
        return self.moving.frame(now)

    def sheet(self, muscle: Muscle) -> tuple[Floats, NDArray[np.int64]]:
        """Points and triangles of a muscle as it is now."""
        from risorius.skin.muscle.report import triangles

        value = dict(self.now.values).get(muscle.name, 0.0)
        _, _, points = patchwork(muscle, value).samples(4)
        return points.reshape(-1, 3), triangles(points)

    def figures(self) -> dict[str, Any]:
        """The report of the selected muscle."""
        muscle = self.muscle()
        return report(muscle, self.surface, list(self.now.muscles))

    def save(self) -> Path:
        """Write muscles and the curves that they grew from."""
        write_muscles(self.out, Rig(self.now.muscles))
        curves = [
            {"name": name, "curves": [curve.tolist() for curve in sketch.curves], "degree": sketch.degree,
             "skin_thickness": sketch.skin_thickness, "muscle_thickness": sketch.muscle_thickness,
             "patches": list(sketch.patches), "closed": sketch.closed,
             "set": "connected" if sketch.only_connected else "all"}
            for name, sketch in self.now.sketches
        ]  # fmt: skip
        if curves:
            text = json.dumps({"version": 1, "muscles": curves}) + "\n"
            write_bytes(self.out.with_suffix(".curves.json"), text.encode())
        return self.out


def picked(origin: Floats, direction: Floats, corners: Floats) -> float:
    """How far along a ray the first of some triangles (m, 3, 3) is; inf where it meets none.

    All triangles at once, without a compiled kernel: a first click has nothing to wait for.
    """
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(direction, b)
    det = np.einsum("ij,ij->i", a, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = origin - corners[:, 0]
        s = np.einsum("ij,ij->i", r, p) / det
        q = np.cross(r, a)
        t = q @ direction / det
        far = np.einsum("ij,ij->i", b, q) / det
        hit = (s >= 0) & (t >= 0) & (s + t <= 1) & (far > 0)
    return float(far[hit].min()) if hit.any() else np.inf
