"""video.mp4: off-screen frames of skeleton, cavity and skin side by side, with the sound (ledger K3).

Left: skeleton and diaphragm under a clear skin; middle: the abdominal cavity; right: the skin. Polyscope draws through
EGL, no window.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import written
from risorius.io.layers import Layers, ball_mesh, bone_colour, face_keys, layer_colours, rate_of
from risorius.io.take import Take
from risorius.maths.rotations import matrices

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
SIZE: Final = (1280, 720)
RATE_MOST: Final = 30
GROUND: Final = (0.105, 0.125, 0.15)
EGL_NEEDED: Final = (
    "off-screen drawing needs EGL, which this machine lacks: on Debian or Ubuntu, sudo apt-get install libegl1 "
    "libgl1-mesa-dri; then risorius render TAKE -o VIDEO.mp4"
)
PANEL: Final = 426
"""Width of one of the three panels [pixels]."""
GLASS: Final = 84
"""How much of the skin is seen over the bones, of 256."""
LOOK: Final = np.array([-1.0, -0.12, -0.62])
"""Direction in which the camera looks (world): from the front, the subject's right and slightly above."""


@dataclass(frozen=True)
class Clip:
    """Which part of a take is drawn.

    Args:
        frames: numbers of the take's frames, one a picture.
        rate: pictures a second.
    """

    frames: NDArray[np.int64]
    rate: Fraction


def clip_of(take: Take, *, seconds: float | None = None) -> Clip:
    """Every frame, or every second, third … where there are more than 30 a second; up to `seconds` from the start."""
    rate = rate_of(take.record)
    step = max(1, int(np.ceil(rate / RATE_MOST - 1e-9)))
    count = len(take.record.time) if seconds is None else min(len(take.record.time), round(seconds * rate) + 1)
    return Clip(np.arange(0, count, step), Fraction(rate / step).limit_denominator(1000))


def write_video(
    path: str | PathLike[str], take: Take, *, seconds: float | None = None, progress: Progress | None = None
) -> dict[str, float]:
    """Draw a take and write the video, whole or not at all.

    Args:
        seconds: length to draw at most; the whole take where not given.

    Returns: `frames` and `seconds` drawn.
    """
    clip = clip_of(take, seconds=seconds)
    with written(path) as temporary:
        encode(temporary, pictures(take, clip.frames), clip, take.sound, progress or (lambda _part: None))
    return {"frames": len(clip.frames), "seconds": float(len(clip.frames) / clip.rate)}


def pictures(take: Take, frames: NDArray[np.int64]) -> Iterator[NDArray[np.uint8]]:
    """Pictures (720, 1280, 3) of the frames asked for."""
    stage = Stage(take)
    try:
        strip = Strip(take)
        for frame in frames.tolist():
            stage.move(frame)
            picture = stage.picture()
            strip.draw(picture, frame)
            yield picture
    finally:
        stage.close()


def drawing() -> Any:
    """Polyscope, started off-screen; `InputError` says what to install where that is impossible."""
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        raise InputError(EGL_NEEDED) from None
    import polyscope

    try:
        polyscope.set_verbosity(0)
        polyscope.set_allow_headless_backends(True)
        polyscope.set_use_prefs_file(False)
        polyscope.set_window_size(*SIZE)
        polyscope.init("openGL3_egl")
    except (RuntimeError, ValueError) as error:
        raise InputError(f"{EGL_NEEDED} ({error})") from None
    return polyscope


class Stage:
    """The scene: skeleton and diaphragm, cavity, skin, side by side, seen along parallel lines.

    Parallel lines of sight make the right panel's skin, shifted by a panel, the very skin that covers the others: one
    opaque drawing gives all three, and the glass over the first two costs no second drawing.
    """

    def __init__(self, take: Take) -> None:
        self.take, self.ps = take, drawing()
        self.close()
        torso = take.torso
        right = np.cross(LOOK, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        upward = np.cross(right, LOOK / np.linalg.norm(LOOK))
        shown = np.concatenate(
            [np.asarray(mesh.vertices) for mesh in torso.bodies.meshes] + [np.asarray(torso.skin.vertices)]
        )
        across, along = shown @ right, shown @ upward
        panel = PANEL / SIZE[1]
        height = max(float(np.ptp(along)) * 1.20, float(np.ptp(across)) * 1.04 / panel)
        middle = 0.5 * (shown.min(axis=0) + shown.max(axis=0))
        centre = middle + right * (0.5 * (across.min() + across.max()) - middle @ right)
        centre = centre + upward * (0.5 * (along.min() + along.max()) - 0.05 * height - centre @ upward)
        self.middle, self.right, self.panel = centre, right, panel * height
        self.aside = [side * self.panel * right for side in (-1, 0, 1)]
        self.light(centre, height)
        self.build(torso)

    def light(self, centre: Floats, height: float) -> None:
        """Camera and plain drawing: no floor, no shadows, no window; `height` metres fill the picture."""
        ps = self.ps
        ps.set_ground_plane_mode("none")
        ps.set_SSAA_factor(1)
        ps.set_transparency_mode("none")
        ps.set_automatically_compute_scene_extents(False)
        angle = 30.0
        ps.set_length_scale(height / (4 * np.tan(np.radians(angle / 2))))  # polyscope's own rule for parallel views
        ps.set_bounding_box(centre - 2 * height, centre + 2 * height)
        ps.set_view_projection_mode("orthographic")
        ps.set_vertical_fov_degrees(angle)
        ps.look_at_dir(centre - 3 * height * LOOK / np.linalg.norm(LOOK), centre, (0.0, 1.0, 0.0))
        shade = np.linspace(1.25, 0.75, SIZE[1])[:, None, None] * np.array(GROUND) * 255
        self.ground = np.ascontiguousarray(np.broadcast_to(shade, (SIZE[1], SIZE[0], 3)), dtype=np.uint8)

    def build(self, torso: Any) -> None:
        colours = layer_colours()
        left, middle, right = self.aside
        self.bones = [
            self.add(f"bone {name}", mesh.vertices + left, mesh.faces, bone_colour(name))
            for name, mesh in zip(torso.bodies.names, torso.bodies.meshes)
        ]
        layers = Layers(torso)
        abdomen = np.asarray(torso.surface.abdomen)
        wall = abdomen[~np.isin(face_keys(abdomen), face_keys(layers.diaphragm))]
        self.surfaces = []
        for name, faces, colour, aside in (
            ("diaphragm", layers.diaphragm, colours["Diaphragm"], left),
            ("cavity wall", wall, colours["Cavity"], middle),
            ("cavity diaphragm", layers.diaphragm, colours["Diaphragm"], middle),
        ):
            used, corners = np.unique(faces, return_inverse=True)
            rest = np.asarray(torso.surface.points)[used]
            self.surfaces.append((self.add(name, rest + aside, corners.reshape(-1, 3), colour), used, aside))
        self.skin = self.add("skin", torso.skin.vertices + right, torso.skin.faces, colours["Skin"])
        self.balls = []
        if self.take.record.ball is not None:
            ball = ball_mesh()
            self.balls = [self.add(f"ball {k}", *ball, colours["Ball"]) for k in range(len(self.aside))]

    def add(self, name: str, points: NDArray, faces: NDArray, colour: tuple[float, ...]) -> Any:
        mesh = self.ps.register_surface_mesh(name, np.asarray(points), np.asarray(faces), smooth_shade=True)
        mesh.set_color(colour[:3])
        mesh.set_material("clay")
        mesh.set_back_face_policy("identical")
        return mesh

    def move(self, frame: int) -> None:
        """Put everything where it is in a frame of the record."""
        record = self.take.record
        spin = matrices(record.rotation[frame])
        pose, left = np.eye(4), self.aside[0]
        for k, bone in enumerate(self.bones):
            pose[:3, :3] = spin[k]
            # the copy stands aside: x + left -> R x + p + left
            pose[:3, 3] = record.position[frame, k] + left - spin[k] @ left
            bone.set_transform(pose)
        for mesh, used, aside in self.surfaces:
            mesh.update_vertex_positions(record.points[frame, used] + aside)
        self.skin.update_vertex_positions(self.take.skin[frame] + self.aside[2])
        for ball, aside in zip(self.balls, self.aside):
            x, y, z, radius = record.ball[frame]  # type: ignore[index]
            centre = np.array([x, y, z])
            apart = abs((centre - self.middle) @ self.right) + radius
            ball.set_enabled(bool(radius > 0.0 and apart < 0.5 * self.panel))  # not in another one's panel
            place = np.diag([radius, radius, radius, 1.0])
            place[:3, 3] = aside + centre
            ball.set_transform(place)

    def picture(self) -> NDArray[np.uint8]:
        """(720, 1280, 3) the drawing over its background, with the skin as glass over the first two panels."""
        shot = self.ps.screenshot_to_buffer(transparent_bg=True)
        first = SIZE[0] // 2 - 3 * PANEL // 2
        panels = [slice(first + k * PANEL, first + (k + 1) * PANEL) for k in range(3)]
        drawn = shot[..., 3:] > 0
        out = self.ground.copy()
        np.copyto(out, shot[..., :3], where=drawn)
        glass = np.where(drawn[:, panels[2]], GLASS, 0).astype(np.uint16)
        tint = shot[:, panels[2], :3] * glass
        for panel in panels[:2]:
            out[:, panel] = (out[:, panel] * (256 - glass) + tint) >> 8
        return out

    def close(self) -> None:
        self.ps.remove_all_structures()


class Strip:
    """The lung's volume along the foot of the picture, with a mark that moves."""

    def __init__(self, take: Take, column: str = "lung_volume_l") -> None:
        self.values = take.record.signals.get(column)
        if self.values is None or len(self.values) < 2 or not np.ptp(self.values) > 1e-9:
            self.values = None
            return
        width, height = SIZE
        self.top, self.bottom = height - 86, height - 26
        self.left, self.right = 60, width - 60
        self.x = np.linspace(self.left, self.right, len(self.values))
        share = (self.values - self.values.min()) / np.ptp(self.values)
        self.y = self.bottom - share * (self.bottom - self.top)
        columns = np.arange(self.left, self.right + 1)
        heights = np.interp(columns, self.x, self.y)
        before = np.concatenate([heights[:1], heights[:-1]])
        rows = np.arange(height)[:, None]
        low, high = np.minimum(heights, before) - 0.9, np.maximum(heights, before) + 0.9
        self.line = (np.clip(1 + np.minimum(rows - low, high - rows), 0, 1) * 0.75)[:, :, None]
        self.columns = slice(self.left, self.right + 1)

    def draw(self, picture: NDArray[np.uint8], frame: int) -> None:
        if self.values is None:
            return
        colour = np.array([124, 196, 255], dtype=np.float64)
        part = slice(self.top - 6, self.bottom + 7)
        line = self.line[part]
        region = picture[part, self.columns]
        region[:] = (region * (1 - line) + colour * line).astype(np.uint8)
        x, y = round(float(self.x[frame])), round(float(self.y[frame]))
        rows, columns = np.mgrid[y - 7 : y + 8, x - 7 : x + 8]
        dot = np.clip(6.0 - np.hypot(rows - self.y[frame], columns - self.x[frame]), 0, 1)[:, :, None]
        spot = picture[y - 7 : y + 8, x - 7 : x + 8]
        spot[:] = (spot * (1 - dot) + np.array([255, 176, 92]) * dot).astype(np.uint8)


def encode(path: Path, frames: Iterator[NDArray[np.uint8]], clip: Clip, sound: Path | None, progress: Progress) -> None:
    """H.264 in yuv420p, and AAC where there is a sound."""
    import av

    try:
        with av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as out:
            video = out.add_stream("libx264", rate=clip.rate)
            video.width, video.height = SIZE
            video.pix_fmt = "yuv420p"
            video.options = {"crf": "20", "preset": "veryfast", "threads": "1"}
            heard = out.add_stream("aac", rate=48000) if sound is not None else None
            for number, picture in enumerate(frames):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts = number
                out.mux(video.encode(frame))
                progress((number + 1) / len(clip.frames))
            out.mux(video.encode())
            if heard is not None and sound is not None:
                add_sound(out, heard, sound, float(len(clip.frames) / clip.rate))
    except av.error.FFmpegError as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise InputError(f"the video could not be made: {error}", file=sound) from None


def add_sound(out: Any, stream: Any, sound: Path, seconds: float) -> None:
    """Encode a sound, cut at the end of the pictures."""
    import av

    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=48000)
    with av.open(str(sound)) as source:
        done = 0
        for frame in source.decode(audio=0):
            for piece in resampler.resample(frame):
                if done > seconds * 48000:
                    break
                piece.pts = done
                done += piece.samples
                out.mux(stream.encode(piece))
        out.mux(stream.encode())
