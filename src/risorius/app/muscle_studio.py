"""The muscle studio's workings, without any page: draw, grow, turn knobs, mirror, undo, save."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.muscle import start_thickness
from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh, of_triangles
from risorius.io.json_file import Node
from risorius.io.muscle_file import Drawing, read_curves, read_muscles, write_curves, write_muscles
from risorius.skin.muscle.deform import Deformer
from risorius.skin.muscle.grow import Sketch, grow
from risorius.skin.muscle.mirror import mirrored, other_side
from risorius.skin.muscle.model import FALLOFFS, Muscle, Settings
from risorius.skin.muscle.report import report
from risorius.skin.muscle.rig import Control, Driver, Key, Keys, Rig, played
from risorius.skin.muscle.sheets import Sheets
from risorius.skin.muscle.surface import Surface

Floats = NDArray[np.float64]
DEPTH: Final = 100
"""Steps that undo remembers."""
KNOBS: Final = ("contraction", "bulge", "envelope", "d_full", "d_none")
CURVES_ALONE: Final = ("click", "next", "pen", "clear", "select")
"""What leaves the skin and the muscles as they are."""


@dataclass(frozen=True)
class Moment:
    """All that undo brings back.

    Args:
        curves: the two that are being drawn, tuples of points.
        drawings: what muscles grew from.
        values: contraction of each muscle by its name; controls: value of each control.
    """

    curves: tuple[tuple[tuple[float, float, float], ...], ...] = ((), ())
    drawing: int = 0
    muscles: tuple[Muscle, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    controls: tuple[tuple[str, float], ...] = ()


@dataclass
class Studio:
    """A mesh, what was drawn on it and the muscles that came of it.

    Args:
        mesh: the skin.
        out: where `save` writes the muscles, and what is opened again where it is there already; the curves go beside
            it, named *.curves.json.
    """

    mesh: PolyMesh
    out: Path | None
    now: Moment = field(default_factory=Moment)
    past: list[Moment] = field(default_factory=list)
    selected: str | None = None
    thickness: dict[str, float] = field(default_factory=dict)
    controls: tuple[Control, ...] = ()
    drivers: tuple[Driver, ...] = ()
    _last: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        self.surface = Surface(self.mesh)
        self.thickness = start_thickness(self.mesh)
        if self.out and self.out.exists():
            self._open(self.out)
        self._attach()

    def _open(self, path: Path) -> None:
        rig = read_muscles(path, len(self.surface.vertices))
        beside = path.with_suffix(".curves.json")
        drawings = tuple(read_curves(beside)) if beside.exists() else ()
        self.now = Moment(muscles=rig.muscles, drawings=drawings)
        self.controls, self.drivers = rig.controls, rig.drivers
        self.selected = rig.muscles[0].name if rig.muscles else None

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

    def act(self, request: dict[str, Any]) -> str | None:
        """Do what a page asks: {"do": one of the methods' names, and what it takes}; what there is to say of it."""
        asked = Node(request, Path("page"))
        what = asked.object(tuple(request) if isinstance(request, dict) else (), ("do",))
        done = what["do"].text(
            "state", "click", "next", "pen", "clear", "grow", "select", "turn", "control", "mirror", "delete",
            "relax", "undo", "save",
        )  # fmt: skip
        if done == "click":
            self.click(what["point"].array(3), joined=what["joined"].flag())
        elif done == "pen":
            self._step(drawing=what["curve"].whole(0, 1))
        elif done == "next":
            self.next_curve()
        elif done == "grow":
            for knob in ("skin_thickness", "muscle_thickness"):
                self.thickness[knob] = what[knob].number(0.0)
            self.grow(what["name"].text(), closed=what["closed"].flag(), connected=what["connected"].flag())
            return self.fit()
        elif done == "select":
            name = what["name"].text()
            self.selected = name if any(muscle.name == name for muscle in self.now.muscles) else self.selected
        elif done == "turn":
            knob = what["knob"].text(*KNOBS, "falloff")
            self.turn(knob, what["value"].text(*FALLOFFS) if knob == "falloff" else what["value"].number(0.0))
            return None
        elif done == "control":
            self.control(what["name"].text(), what["value"].number())
            return None
        elif done == "mirror":
            return f"Made {self.mirror().name}."
        elif done == "delete":
            return f"Took {self.delete().name} away."
        elif done == "undo":
            return self.told() if self.undo() else "There is nothing to undo."
        elif done == "save":
            return f"Saved {self.save()}"
        elif done != "state":
            getattr(self, done)()
        return self.told()

    def told(self) -> str:
        """Where the drawing stands."""
        first, second = (len(curve) for curve in self.now.curves)
        if not first and not second:
            many = len(self.now.muscles)
            return "Click along the first curve." + (f" {many} muscle{'s' * (many > 1)}." if many else "")
        if min(first, second) < 2:
            return f"Click along the {'second' if self.now.drawing else 'first'} curve, two points or more."
        return "Both curves are there: grow the muscle, or go on."

    def fit(self) -> str:
        """The selected muscle's report in a sentence."""
        found, muscle = self.figures(), self.muscle()
        words = f"Grew {muscle.name}: length {found['length']:.4g}, depth within {100 * found['depth_error']:.1f} %"
        if found["breaks_skin"]:
            words += "; it breaks through the skin"
        if found["touches"]:
            words += f"; it cuts {', '.join(found['touches'])}"
        return words + "."

    def shown(self, done: str) -> tuple[dict[str, Any], NDArray[np.float32] | None, list[tuple[str, Floats]]]:
        """What a page shows after an act: words and numbers, the skin (None: as before) and muscles' sheets (a, b, 3)."""
        knobs: dict[str, Any] = {}
        if self.selected:
            muscle = self.muscle()
            knobs = {"contraction": dict(self.now.values).get(muscle.name, 0.0), "bulge": float(muscle.bulge.mean()),
                     **{name: getattr(muscle, name) for name in ("envelope", "d_full", "d_none", "falloff")}}  # fmt: skip
        state: dict[str, Any] = {"knobs": knobs}
        if done not in ("turn", "control"):
            now = dict(self.now.controls)
            state |= {
                "curves": self.now.curves, "drawing": self.now.drawing, "selected": self.selected,
                "muscles": self.moving.names, "undo": bool(self.past), "suggested": self._suggested(done),
                "controls": [[one.name, one.low, one.high, now.get(one.name, one.rest)] for one in self.controls],
            }  # fmt: skip
        if done in CURVES_ALONE:
            return state, None, []
        settings = self.settings()
        sheets = list(zip(self.moving.names, self.sheets.at(settings))) if self.sheets else []
        if done == "turn":
            sheets = [sheet for sheet in sheets if sheet[0] == self.selected]
        return state, self.moving.frame(settings), sheets

    def _suggested(self, done: str) -> str | None:
        """A name for the next muscle, where the last one was just used."""
        if done not in ("grow", "state"):
            return None
        taken = {muscle.name for muscle in self.now.muscles}
        return next(name for k in range(1, len(taken) + 2) if (name := f"muscle{k if k > 1 else ''}_l") not in taken)

    def _step(self, **changes: Any) -> None:
        self.past = [*self.past, self.now][-DEPTH:]
        self.now = replace(self.now, **changes)
        self._last = None

    def click(self, point: Floats, *, joined: bool = False) -> None:
        """Put a point of the skin at rest on the curve being drawn.

        Args:
            joined: the point belongs to a stroke: one step for undo with the one before it.
        """
        x, y, z = np.asarray(point, dtype=np.float64).tolist()
        curves = list(self.now.curves)
        curves[self.now.drawing] = (*curves[self.now.drawing], (x, y, z))
        if joined and self._last == ("", "stroke"):
            self.now = replace(self.now, curves=tuple(curves))
        else:
            self._step(curves=tuple(curves))
        self._last = ("", "stroke")

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
                   drawings=(*self.now.drawings, Drawing(sketch)))  # fmt: skip
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
        drawings = tuple(replace(one, mirror=(axis, at)) if one.sketch.name == muscle.name else one
                         for one in self.now.drawings)  # fmt: skip
        self._step(muscles=(*self.now.muscles, other), drawings=drawings)
        self._attach()
        return other

    def delete(self) -> Muscle:
        """Take the selected muscle away."""
        muscle = self.muscle()
        left = tuple(other for other in self.now.muscles if other.name != muscle.name)
        mirror_gone = tuple(replace(one, mirror=None) if other_side(one.sketch.name) == muscle.name else one
                            for one in self.now.drawings if one.sketch.name != muscle.name)  # fmt: skip
        self._step(muscles=left, drawings=mirror_gone)
        self.selected = left[-1].name if left else None
        self._attach()
        return muscle

    def relax(self) -> None:
        """All muscles and controls at rest."""
        self._step(values=(), controls=())

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
            values = {**dict(self.now.values), muscle.name: min(float(value), 1.0)}
            self._turned(muscle.name, knob, values=tuple(values.items()))
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
        self._turned(muscle.name, knob, muscles=all_of_them)
        self._attach(changed.name)

    def control(self, name: str, value: float) -> None:
        """Set a named control of the rig that was opened."""
        if all(name != control.name for control in self.controls):
            raise InputError(f"no control is called {name[:40]!r}")
        self._turned(name, "control", controls=tuple({**dict(self.now.controls), name: value}.items()))

    def _turned(self, name: str, knob: str, **changes: Any) -> None:
        if self._last == (name, knob) and self.past:
            self.now = replace(self.now, **changes)
        else:
            self._step(**changes)
        self._last = (name, knob)

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

    def _attach(self, changed: str | None = None) -> None:
        """Bind the skin to the muscles; where one alone changed, the others keep their closest places."""
        muscles = list(self.now.muscles)
        known = {} if changed is None else self.moving.attached(but=changed)
        self.moving: Deformer = Deformer(self.surface.vertices, muscles, dtype=np.float32, known=known)
        self.sheets = Sheets(self.moving.muscles) if muscles else None

    def settings(self) -> Settings:
        """What the knobs and the controls say now."""
        values: dict[tuple[str, str], float | str] = {
            (name, "contraction"): value for name, value in self.now.values if name in self.moving.names
        }
        values |= {("control", name): value for name, value in self.now.controls}
        return played(self._rig(), self.moving.names, np.zeros(1), Keys(1.0, (Key(0.0, values),)))[0]

    def _rig(self) -> Rig:
        """The muscles, and what of the opened controls and drivers still has its muscle."""
        names = {muscle.name for muscle in self.now.muscles}
        controls = [
            replace(one, amounts=tuple(part for part in one.amounts if part[0] in names)) for one in self.controls
        ]
        kept = tuple(one for one in controls if one.amounts)
        targets = names | {one.name for one in kept}
        drivers = tuple(one for one in self.drivers if one.target[one.target[0] == "control"] in targets)
        return Rig(self.now.muscles, kept, drivers)

    def skin(self) -> NDArray[np.float32]:
        """(n, 3) the skin as it is now."""
        return self.moving.frame(self.settings())

    def figures(self) -> dict[str, Any]:
        """The report of the selected muscle."""
        return report(self.muscle(), self.surface, list(self.now.muscles))

    def save(self) -> Path:
        """Write muscles and the curves that they grew from, with what was turned since."""
        if self.out is None:
            raise InputError("this studio was opened without a file to save to")
        write_muscles(self.out, self._rig())
        by_name = {muscle.name: muscle for muscle in self.now.muscles}
        kept = []
        for one in self.now.drawings:
            muscle = by_name.get(one.sketch.name)
            if muscle is not None:
                turned = {name: getattr(muscle, name) for name in ("bulge", "d_full", "d_none", "falloff")}
                kept.append(replace(one, sketch=replace(one.sketch, **turned)))
        beside = self.out.with_suffix(".curves.json")
        if kept:
            write_curves(beside, kept)
        else:
            beside.unlink(missing_ok=True)
        return self.out
