"""Pictures of a hand: off-screen, from the back, the palm and the thumb's side; as video frames and as stills."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.hand import HandRecord
from risorius.io.files import written
from risorius.io.hand_tubes import centre_lines, tube_faces, tubes
from risorius.io.layers import activation_colour, layer_colours
from risorius.view.video import GROUND, SIZE, Clip, drawing, encode

Floats = NDArray[np.float64]
VIEWS: Final = {
    "back": (0.05, 0.0, 1.0),
    "palm": (0.05, 0.0, -1.0),
    "thumb": (1.0, 0.0, 0.25),
    "snuffbox": (0.85, 0.12, 0.75),
}
"""From where each view looks at a right hand that hangs; a left hand is seen from the mirrored places."""
RATE: Final = 30


class HandStage:
    """Bones, tubes and skin on an off-screen stage.

    Args:
        record: what to draw.
        reach: [m] about the height that the picture shows.
    """

    def __init__(self, record: HandRecord, *, left: bool = False, skin: float = 1.0, strands: bool = True,
                 size: tuple[int, int] = SIZE, supersample: int = 2) -> None:  # fmt: skip
        self.record, self.ps, self.left, self.size = record, drawing(), left, size
        self.close()
        ps = self.ps
        ps.set_window_size(*size)
        ps.set_ground_plane_mode("none")
        ps.set_SSAA_factor(supersample)
        ps.set_up_dir("y_up")
        ps.set_automatically_compute_scene_extents(False)
        ps.set_length_scale(0.3)
        ps.set_bounding_box(np.full(3, -1.0), np.full(3, 1.0))
        ps.set_view_projection_mode("perspective")
        ps.set_vertical_fov_degrees(24.0)
        ps.set_transparency_mode("pretty" if skin < 1.0 and record.skin is not None else "none")
        bone, flesh = layer_colours()["Bones"], layer_colours()["Skin"]
        inside = skin < 1.0 or record.skin is None
        shown = list(zip(record.names, record.meshes)) if inside else []
        self.bones = [self.add(f"bone {name}", mesh.vertices, mesh.faces, bone) for name, mesh in shown]
        self.strands: list[tuple[Any, Floats]] = []
        for k, unit in enumerate(record.units if strands and (skin < 1.0 or record.skin is None) else ()):
            first = record.points[0, record.strand(k)]
            samples = max(8, round(float(np.linalg.norm(np.diff(first, axis=0), axis=1).sum()) / 4e-3))
            line, radius = centre_lines(record, k, samples)
            rings = tubes(line, radius, 8)
            self.strands.append((self.add(f"strand {unit}", rings[0], tube_faces(samples, 8), (0.8, 0.3, 0.3)), rings))
        self.skin = None
        if record.skin is not None and skin > 0:
            self.skin = self.add("skin", record.skin.points[0], record.skin.mesh.triangles()[0], flesh)
            if skin < 1.0:
                self.skin.set_transparency(skin)
        self.colours = np.stack([activation_colour(record.activation[:, k]) for k in range(len(record.units))], axis=1)

    def add(self, name: str, points: NDArray, faces: NDArray, colour: tuple[float, ...]) -> Any:
        mesh = self.ps.register_surface_mesh(name, np.asarray(points), np.asarray(faces), smooth_shade=True)
        mesh.set_color(tuple(colour[:3]))
        mesh.set_material("clay")
        mesh.set_back_face_policy("identical")
        return mesh

    def move(self, frame: int) -> None:
        record, pose = self.record, np.eye(4)
        for k, bone in enumerate(self.bones):
            pose[:3, :3], pose[:3, 3] = record.rotation[frame, k], record.position[frame, k]
            bone.set_transform(pose)
        for k, (mesh, rings) in enumerate(self.strands):
            mesh.update_vertex_positions(rings[frame])
            mesh.set_color(tuple(self.colours[frame, k].tolist()))
        if self.skin is not None and record.skin is not None:
            self.skin.update_vertex_positions(record.skin.points[frame])

    def shot(self, view: str, frame: int, reach: float = 0.31) -> NDArray[np.uint8]:
        """(height, width, 3): the hand, `reach` [m] high, seen from where its forearm is now."""
        record = self.record
        turn, hand = record.rotation[frame, 1], record.names.index("hand")
        way = np.array(VIEWS[view]) * ([1, 1, -1] if self.left else [1, 1, 1])
        way = turn @ (way / np.linalg.norm(way))
        middle = (
            record.rotation[frame, hand] @ record.pivot[record.names.index("proximal3")] + record.position[frame, hand]
        )
        wrist = record.rotation[frame, hand] @ record.pivot[hand] + record.position[frame, hand]
        centre = 0.85 * middle + 0.15 * wrist
        far = 0.5 * reach / np.tan(np.radians(12.0))
        self.ps.look_at_dir(centre + far * way, centre, turn @ np.array([0.0, 1.0, 0.0]))
        shot = self.ps.screenshot_to_buffer(transparent_bg=True)
        shade = np.linspace(1.25, 0.75, self.size[1])[:, None, None] * np.array(GROUND) * 255
        out = np.ascontiguousarray(np.broadcast_to(shade, (self.size[1], self.size[0], 3)), dtype=np.uint8)
        cover = shot[..., 3:].astype(np.float64) / 255
        return (out * (1 - cover) + shot[..., :3] * cover).astype(np.uint8)

    def close(self) -> None:
        self.ps.remove_all_structures()


def write_hand_video(
    path: str | PathLike[str],
    record: HandRecord,
    *,
    left: bool = False,
    progress: Callable[[float], None] | None = None,
) -> dict[str, float]:
    """video.mp4: the back and the thumb's side beside one another, strands coloured by activation."""
    rate = 60.0 if len(record.time) < 2 else (len(record.time) - 1) / float(record.time[-1] - record.time[0])
    step = max(1, round(rate / RATE))
    clip = Clip(np.arange(0, len(record.time), step), Fraction(rate / step).limit_denominator(1000))
    with written(path) as temporary:
        encode(temporary, frames(record, clip, left), clip, None, progress or (lambda _part: None))
    return {"frames": len(clip.frames), "seconds": float(len(clip.frames) / clip.rate)}


def frames(record: HandRecord, clip: Clip, left: bool) -> Iterator[NDArray[np.uint8]]:
    half = (SIZE[0] // 2, SIZE[1])
    stage = HandStage(record, left=left, skin=0.0, size=half, supersample=1)
    try:
        for frame in clip.frames.tolist():
            stage.move(frame)
            yield np.ascontiguousarray(
                np.concatenate([stage.shot(view, frame) for view in ("back", "snuffbox")], axis=1)
            )
    finally:
        stage.close()
        stage.ps.set_window_size(*SIZE)


def stills(record: HandRecord, views: list[tuple[str, int]], path: Path, *, left: bool = False, skin: float = 1.0,
           reach: float = 0.3, size: tuple[int, int] = (620, 760)) -> None:  # fmt: skip
    """Pictures (view, frame) side by side as one PNG."""
    from PIL import Image

    stage = HandStage(record, left=left, skin=skin, size=size)
    try:
        shots = []
        for view, frame in views:
            stage.move(frame)
            shots.append(stage.shot(view, frame, reach))
    finally:
        stage.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate(shots, axis=1)).quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)
