"""The muscle studio's page: a viser scene and its knobs, on this machine's loopback address alone."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import numpy as np

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh

HOST: Final = "127.0.0.1"
SKIN, FLESH = (222, 171, 143), (178, 54, 48)
PENS = ((30, 120, 255), (255, 150, 0))


class Page:
    """Shows a mesh at once, and a studio (`app.muscle_studio.Studio`) as soon as `work_with` gives it one.

    Args:
        port: 0 for any free one; `url` tells which.
        thickness: what the two sliders of thickness start with.
    """

    def __init__(self, mesh: PolyMesh, port: int, falloffs: tuple[str, ...], thickness: dict[str, float]) -> None:
        import viser

        self.held: Any = None
        self.ready = threading.Event()
        self.touched = threading.Event()
        self.thickness = thickness
        self.lock = threading.RLock()
        vertices = np.asarray(mesh.vertices)
        self.size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        self.server = viser.ViserServer(host=HOST, port=port or free_port(), label="Muscles", verbose=False)
        self.url = f"http://{HOST}:{self.server.get_port()}"
        size, centre = self.size, 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        self.server.scene.set_up_direction("+z" if mesh.up == "z" else "+y")
        camera = self.server.initial_camera
        camera.look_at = tuple(centre)
        camera.position = tuple(centre + size * np.array([0.0, -0.9, 0.2] if mesh.up == "z" else [0.2, 0.1, 0.9]))
        camera.near, camera.far = 1e-3 * size, 20.0 * size
        faces = np.asarray(mesh.triangles()[0])
        self.skin = self.server.scene.add_mesh_simple(
            "/skin", vertices.astype(np.float32), faces, color=SKIN, side="double"
        )
        self.drawn: dict[str, Any] = {}
        self.sheets: dict[str, Any] = {}
        self.build(falloffs)
        self.server.scene.on_click()(self.clicked)

    @property
    def studio(self) -> Any:
        """The workings; a first click may wait for them a moment."""
        self.ready.wait()
        return self.held

    def work_with(self, studio: Any) -> None:
        """Clicks and knobs act on this studio from now on."""
        self.held = studio
        studio.thickness = self.thickness
        self.ready.set()

    def build(self, falloffs: tuple[str, ...]) -> None:
        gui, size = self.server.gui, self.size
        self.message = gui.add_markdown("Draw: click along the first curve.")
        self.draw = gui.add_checkbox("Draw", True, hint="clicks on the skin put points on the curve")
        self.button("Next curve", lambda: self.studio.next_curve())
        self.name: Any = gui.add_text("Name", "muscle_l")
        self.closed = gui.add_checkbox("Closed (sphincter)", False)
        self.connected = gui.add_checkbox("Only skin that hangs together", False)
        for knob in ("skin_thickness", "muscle_thickness"):
            label = knob.replace("_", " ").capitalize()
            start = self.thickness[knob]
            slider = gui.add_slider(label, 0.0, 0.05 * size, 0.0005 * size, min(start, 0.05 * size))
            slider.on_update(self.thickness_setter(knob))
        self.button("Grow muscle", self.grow)
        self.chosen: Any = gui.add_dropdown("Muscle", ("none",))
        self.chosen.on_update(lambda _: self.select())
        self.knobs: dict[str, Any] = {}
        reach = {"contraction": 1.0, "bulge": 10.0, "envelope": 2.0, "d_full": 0.2 * size, "d_none": 0.4 * size}
        for knob, most in reach.items():
            slider = gui.add_slider(knob.replace("_", " ").capitalize(), 0.0, most, most / 200.0, 0.0)
            slider.on_update(self.turner(knob))
            self.knobs[knob] = slider
        self.falloff: Any = gui.add_dropdown("Falloff", falloffs)
        self.falloff.on_update(lambda event: self.turned("falloff", event.target.value))
        self.button("Mirror", lambda: self.studio.mirror())
        self.button("Undo", lambda: self.studio.undo())
        self.button("Clear curves", lambda: self.studio.clear())
        self.button("Save", self.save)

    def thickness_setter(self, knob: str) -> Any:
        return lambda event: self.thickness.update({knob: float(event.target.value)})

    def turner(self, knob: str) -> Any:
        return lambda event: self.turned(knob, event.target.value)

    def button(self, label: str, action: Any) -> None:
        handle = self.server.gui.add_button(label)

        def pressed(_: Any) -> None:
            with self.lock:
                try:
                    said = action()
                    self.tell(said if isinstance(said, str) else "")
                except (InputError, OSError) as error:
                    self.tell(f"**{error}**")
                self.refresh()

        handle.on_click(pressed)

    def tell(self, text: str) -> None:
        first, second = (len(curve) for curve in self.studio.now.curves)
        state = (
            f"Curve {self.studio.now.drawing + 1}: {first} and {second} points. {len(self.studio.now.muscles)} muscles."
        )
        self.message.content = f"{text}\n\n{state}" if text else state

    def clicked(self, event: Any) -> None:
        with self.lock:
            if self.draw.value and self.studio.click(np.array(event.ray_origin), np.array(event.ray_direction)):
                self.tell("")
                self.curves()
                self.touched.set()

    def grow(self) -> str:
        muscle = self.studio.grow(self.name.value, closed=self.closed.value, connected=self.connected.value)
        found = self.studio.figures()
        self.name.value = f"muscle{len(self.studio.now.muscles) + 1}_l"
        return (f"Grew {muscle.name}: length {found['length']:.4g}, depth within {100 * found['depth_error']:.1f} %"
                + (", breaks the skin" if found["breaks_skin"] else ""))  # fmt: skip

    def save(self) -> str:
        return f"Saved {self.studio.save()}"

    def select(self) -> None:
        with self.lock:
            if self.chosen.value != "none" and self.chosen.value != self.studio.selected:
                self.studio.selected = self.chosen.value
                self.show_values()

    def turned(self, knob: str, value: Any) -> None:
        """A slider that moves: the skin follows at once."""
        with self.lock:
            if not self.ready.is_set() or self.studio.selected is None or self.value_of(knob) == value:
                return
            self.studio.turn(knob, value)
            self.skin.vertices = self.studio.skin()
            self.shapes()

    def value_of(self, knob: str) -> Any:
        muscle = self.studio.muscle()
        if knob == "contraction":
            return dict(self.studio.now.values).get(muscle.name, 0.0)
        value = getattr(muscle, knob)
        return float(np.mean(value)) if knob == "bulge" else value

    def show_values(self) -> None:
        for knob, slider in self.knobs.items():
            value = self.value_of(knob) if self.studio.selected else 0.0
            if slider.value != value:
                slider.value = min(max(value, slider.min), slider.max)
        if self.studio.selected:
            self.falloff.value = self.studio.muscle().falloff

    def refresh(self) -> None:
        """Everything as the studio has it."""
        names = tuple(muscle.name for muscle in self.studio.now.muscles) or ("none",)
        if self.chosen.options != names:
            self.chosen.options = names
        if self.studio.selected and self.chosen.value != self.studio.selected:
            self.chosen.value = self.studio.selected
        self.show_values()
        self.curves()
        self.shapes()
        self.skin.vertices = self.studio.skin()

    def curves(self) -> None:
        for k, curve in enumerate(self.studio.now.curves):
            for kind in ("points", "line"):
                old = self.drawn.pop(f"{kind}{k}", None)
                if old is not None:
                    old.remove()
            points = np.array(curve, dtype=np.float32).reshape(-1, 3)
            size = self.size
            if len(points):
                self.drawn[f"points{k}"] = self.server.scene.add_point_cloud(
                    f"/points{k}", points, PENS[k], point_size=0.006 * size, point_shape="circle", precision="float32"
                )
            if len(points) > 1:
                self.drawn[f"line{k}"] = self.server.scene.add_line_segments(
                    f"/line{k}", np.stack([points[:-1], points[1:]], axis=1), PENS[k], thickness=0.002 * size
                )

    def shapes(self) -> None:
        wanted = {muscle.name: muscle for muscle in self.studio.now.muscles}
        for name in [name for name in self.sheets if name not in wanted]:
            self.sheets.pop(name).remove()
        for name, muscle in wanted.items():
            if name in self.sheets and name != self.studio.selected:
                continue
            points, faces = self.studio.sheet(muscle)
            if name in self.sheets:
                self.sheets[name].vertices = points.astype(np.float32)
            else:
                self.sheets[name] = self.server.scene.add_mesh_simple(
                    f"/muscles/{len(self.sheets)}_{name}", points.astype(np.float32), faces, color=FLESH, side="double"
                )

    def serve(self) -> None:
        """Until interrupted."""
        try:
            while True:
                time.sleep(3600)
        finally:
            self.server.stop()


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    import socket

    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
