"""Still pictures of a torso at rest, drawn off-screen: bones, muscles in colours, cavities, skin."""

from __future__ import annotations

import colorsys
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion

from risorius.core.record import Record
from risorius.core.torso import Floats, Torso
from risorius.io.layers import Layers
from risorius.maths.rotations import matrices

BONE, CARTILAGE, SKIN = (0.93, 0.89, 0.79), (0.62, 0.77, 0.86), (0.87, 0.67, 0.56)
WARM, DEEP = (0.95, 0.42, 0.08), (0.60, 0.05, 0.20)
ENLARGED = 3.0
PASSIVE = ("fascia", "central_tendon")
LIMBS = ("skull", "girdle", "upper_arm", "lower_arm", "c1", "c4")
FLESH, LINING = (0.80, 0.42, 0.36), (0.93, 0.72, 0.66)
VIEWS = {
    "front": (1.0, 0.0, 0.0),
    "side": (0.0, 0.0, 1.0),
    "back": (-1.0, 0.0, 0.0),
    "three-quarter": (0.72, 0.22, 0.66),
    "behind": (-0.72, 0.22, 0.66),
    "above": (0.55, 0.8, 0.3),
}


class Studio:
    """An off-screen stage; one at a time. Colours 0…1, lengths metres."""

    def __init__(self, width: int = 900, height: int = 1150) -> None:
        import polyscope as ps

        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:  # the library leaves a window layout where it starts
            os.chdir(folder)
            try:
                ps.set_use_prefs_file(False)
                ps.set_verbosity(0)
                ps.init("openGL3_egl")
            finally:
                os.chdir(here)
        ps.set_ground_plane_mode("none")
        ps.set_window_size(width, height)
        ps.set_SSAA_factor(3)
        ps.set_up_dir("y_up")
        self.stage: Any = ps
        self.height = height

    def clear(self) -> None:
        self.stage.remove_all_structures()

    def mesh(self, name: str, vertices: Floats, faces: Any, colour: Iterable[float], clear: float = 1.0) -> None:
        self.stage.register_surface_mesh(
            name, vertices, faces, color=tuple(colour), smooth_shade=True, transparency=clear, material="clay"
        )

    def tubes(self, name: str, segments: Floats, colour: Iterable[float], radius: float) -> None:
        points = segments.reshape(-1, 3)
        net = self.stage.register_curve_network(
            name, points, np.arange(len(points)).reshape(-1, 2), color=tuple(colour), material="clay"
        )
        net.set_radius(radius, relative=False)

    def shot(self, view: str, centre: Floats, reach: float) -> Floats:
        """One picture (height, width, 3); `reach` [m] is about half of what the frame shows."""
        direction = np.array(VIEWS[view])
        self.stage.look_at(centre + direction * reach * 2.6, centre)
        picture = np.asarray(self.stage.screenshot_to_buffer(transparent_bg=False, vertical_flip=True))
        return picture[:, :, :3].astype(float)


def bones(studio: Studio, torso: Torso, clear: float = 1.0, *, skip: tuple[str, ...] = ()) -> None:
    """The skeleton, cartilages in their own colour."""
    for name, mesh in zip(torso.bodies.names, torso.bodies.meshes):
        if not name.startswith(skip) or not skip:
            studio.mesh(name, mesh.vertices, mesh.faces, CARTILAGE if "cartilage" in name else BONE, clear)


def group_colours(torso: Torso) -> dict[str, tuple[float, float, float]]:
    """A colour of its own for every muscle group."""
    count = len(torso.groups)
    step = 7  # coprime to the count of groups: neighbours in the list get far hues
    return {
        name: colorsys.hsv_to_rgb((i * step % count) / count, 0.72, 0.55 + 0.35 * (i % 2))
        for i, name in enumerate(torso.groups)
    }


def muscles(studio: Studio, torso: Torso, *, passive: bool = False) -> None:
    """Every element as a thin tube in the colour of its group."""
    colours = group_colours(torso)
    for i, name in enumerate(torso.groups):
        if name in PASSIVE and not passive:
            continue
        lines = torso.lines.point[torso.lines.group == i]
        if len(lines):
            studio.tubes(f"{name} lines", lines, colours[name], 0.0011 if "intercostal" in name else 0.0019)
        chains = torso.surface.points[torso.fibres.ends[torso.fibres.group == i]]
        if len(chains):
            studio.tubes(f"{name} fibres", chains, colours[name], 0.0019)


def legend(torso: Torso, height: int) -> Floats:
    """Names of the drawn muscle groups beside their colours, as a picture (height, width, 3)."""
    from PIL import Image, ImageDraw, ImageFont

    drawn = set(torso.lines.group.tolist()) | set(torso.fibres.group.tolist())
    names = [name for i, name in enumerate(torso.groups) if i in drawn and name not in PASSIVE]
    picture = Image.new("RGB", (330, height), "white")
    pen, font, step = ImageDraw.Draw(picture), ImageFont.load_default(24), 36
    top = (height - step * len(names)) // 2
    for row, name in enumerate(names):
        y = top + step * row
        pen.rectangle((10, y + 4, 34, y + 28), tuple(round(255 * part) for part in group_colours(torso)[name]))
        pen.text((48, y + 2), name.replace("_", " "), "black", font)
    return np.asarray(picture, dtype=float)


def cavities(studio: Studio, torso: Torso) -> None:
    """Diaphragm and abdominal wall solid, tendon pale, inside of the chest as glass."""
    s = torso.surface
    tendon = (s.region[s.abdomen] == s.regions.index("tendon")).all(axis=1)
    studio.mesh("abdomen", s.points, s.abdomen[~tendon], FLESH)
    studio.mesh("tendon", s.points, s.abdomen[tendon], (0.86, 0.83, 0.62))
    studio.mesh("chest", s.points, s.cage, LINING, 0.25)


def breath_frames(record: Record) -> tuple[int, int]:
    """Frames of the end of expiration and of the end of the inspiration after it, once breathing is even."""
    volume = record.signals["lung_volume_l"]
    settled = len(volume) // 3
    empty = settled + int(np.argmin(volume[settled : max(2 * settled, settled + 1)]))
    return empty, empty + int(np.argmax(volume[empty:]))


def draw_breath(torso: Torso, record: Record, skin: NDArray[Any], path: Path) -> Path:
    """End of inspiration (outlined) over end of expiration, movement enlarged: bones and diaphragm, then the skin.

    Args:
        record: with the signal `lung_volume_l`.
        skin: (f, n, 3) [m] in every frame.
    """
    studio, centre, pictures = Studio(), np.array([-0.03, 0.22, 0.0]), []
    empty, full = breath_frames(record)
    spin = matrices(record.rotation[[empty, full]])
    parts = {}
    for k, (name, shape) in enumerate(zip(torso.bodies.names, torso.bodies.meshes)):
        if not name.startswith(LIMBS):
            here, there = (shape.vertices @ spin[i, k].T + record.position[f, k] for i, f in enumerate((empty, full)))
            parts[name] = (here, there, shape.faces, CARTILAGE if "cartilage" in name else BONE)
    dome = {"diaphragm": (record.points[empty], record.points[full], Layers(torso).diaphragm, FLESH)}
    cover = {"skin": (skin[empty], skin[full], torso.skin.faces, SKIN)}

    def shots(views: tuple[str, ...], things: dict[str, Any], enlarged: float) -> list[Floats]:
        for name, (here, there, faces, colour) in things.items():
            studio.mesh(name, here + enlarged * (there - here), faces, colour)
        found = [studio.shot(view, centre, 0.38) for view in views]
        studio.clear()
        return found

    for views, things, lined in (
        (("front", "side"), {**parts, **dome}, ((parts, WARM), (dome, DEEP))),
        (("side", "three-quarter"), cover, ((cover, WARM),)),
    ):
        below = shots(views, things, 0.0)
        for group, colour in lined:
            below = [outlined(*pair, colour) for pair in zip(below, shots(views, group, ENLARGED))]
        pictures += below
    sheet(pictures, path)
    return path


def outlined(below: Floats, above: Floats, colour: tuple[float, float, float]) -> Floats:
    """A picture with the outlines of what stands in another, as a line of three pixels."""
    ink = (np.abs(above - above[0, 0]) > 6).any(axis=-1)
    line = binary_dilation(ink) & ~binary_erosion(ink, iterations=2)
    return np.where(line[..., None], 255 * np.array(colour), below)


def sheet(pictures: list[Floats], target: Path, *, exact: bool = False) -> None:
    """Pictures side by side as one PNG, trimmed to what they show; `exact` keeps rare colours, and takes more room."""
    from PIL import Image

    cut = []
    for picture in pictures:
        ink = np.argwhere((np.abs(picture - picture[0, 0]) > 6).any(axis=-1))
        low, high = ink[:, 1].min(), ink[:, 1].max()
        cut.append(picture[:, max(low - 30, 0) : high + 30])
    whole = np.concatenate(cut, axis=1)
    ink = np.argwhere((np.abs(whole - whole[0, 0]) > 6).any(axis=-1))[:, 0]
    whole = whole[max(ink.min() - 30, 0) : ink.max() + 30]
    target.parent.mkdir(parents=True, exist_ok=True)
    shown: Any = Image.fromarray(whole.astype(np.uint8))
    if not exact:
        shown = shown.quantize(200, dither=Image.Dither.NONE)
    shown.save(target, optimize=True)


def stills(torsos: dict[str, Torso], folder: Path) -> list[Path]:
    """Pictures of the first torso's skeleton, muscles and cavities, and of every torso's skin.

    Args:
        torsos: by name.
        folder: where the PNG files go.
    """
    studio = Studio()
    first = next(iter(torsos.values()))
    whole, chest = np.array([-0.03, 0.27, 0.0]), np.array([-0.03, 0.22, 0.0])
    out = []

    def save(name: str, views: list[str], centre: Floats, reach: float, *more: Floats) -> None:
        out.append(folder / f"{name}.png")
        sheet([*(studio.shot(view, centre, reach) for view in views), *more], out[-1], exact=bool(more))
        studio.clear()

    bones(studio, first)
    save("skeleton", ["front", "side", "three-quarter", "behind"], whole, 0.5)
    bones(studio, first)
    muscles(studio, first)
    save("muscles", ["front", "side", "back"], whole, 0.5, legend(first, studio.height))
    cavities(studio, first)
    bones(studio, first, 0.35, skip=("skull", "girdle", "upper_arm", "lower_arm", "c1", "c4"))
    save("cavities", ["front", "side", "three-quarter"], chest, 0.36)
    for name, torso in torsos.items():
        studio.mesh("skin", torso.skin.vertices, torso.skin.faces, SKIN)
        save(f"skin-{name}", ["front", "side", "three-quarter", "back"], chest, 0.42)
    bones(studio, first)
    studio.mesh("skin", first.skin.vertices, first.skin.faces, SKIN, 0.35)
    save("inside", ["front", "side", "three-quarter"], whole, 0.5)
    return out
