"""Keyframes of bodies as XML, in and out (ledger S7).

    <animation unit="m">
      <body name="hand" parent="" rest="x y z">
        <key time="0" place="x y z" turn="w x y z"/>
      </body>
    </animation>

`rest` is the body's joint point at rest, `place` where it is at the time, `turn` the rotation from rest; between keys
places are linear, turns take the shorter arc.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core import xml
from risorius.core.clip import FRAME_LIMIT, JOINT_LIMIT, Clip
from risorius.core.errors import InputError
from risorius.io.clip_gltf import sampled
from risorius.io.files import write_bytes
from risorius.maths.rotations import matrices, quaternions

RATE: Final = 120.0
"""Samples a second."""


def read(file: Path) -> Clip:
    """Read a document of keyframes."""
    root = xml.read(file)

    def fail(message: str, line: int) -> InputError:
        return InputError(message, file=file, line=line)

    if root.tag != "animation":
        raise fail(f"expected <animation>, got <{root.tag}>", root.line)
    bodies = [child for child in root if child.tag == "body"]
    if not bodies or len(bodies) > JOINT_LIMIT:
        raise fail(f"expected 1 to {JOINT_LIMIT} bodies, got {len(bodies)}", root.line)

    def numbers(element: xml.Element, name: str, count: int) -> list[float]:
        words = element.attributes.get(name, "").split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not np.isfinite(values).all():
            raise fail(f'expected {name}="{count} finite numbers" in <{element.tag}>', element.line)
        return values

    unit = numbers(root, "unit_m", 1)[0] if "unit_m" in root.attributes else 1.0
    names: list[str] = []
    parent, rest, tracks = [], [], []
    for body in bodies:
        name, above = body.attributes.get("name", ""), body.attributes.get("parent", "")
        if not name or name in names:
            raise fail(f"expected a name of its own for each body, got {name!r}", body.line)
        if above and above not in names:
            raise fail(f"expected the parent {above!r} of {name!r} before it", body.line)
        keys = [key for key in body if key.tag == "key"]
        if not keys:
            raise fail(f"expected <key> elements in body {name!r}", body.line)
        times = np.array([numbers(key, "time", 1)[0] for key in keys])
        if (np.diff(times) <= 0).any() or times[0] < 0:
            wrong = int((np.diff(times, prepend=-1e-12) <= 0).argmax())
            raise fail("expected key times that grow from 0", keys[wrong].line)
        turns = np.array([numbers(key, "turn", 4) for key in keys])
        for key, turn in zip(keys, turns):
            if abs(np.linalg.norm(turn) - 1) > 1e-2:
                raise fail("expected a unit quaternion w x y z", key.line)
        places = np.array([numbers(key, "place", 3) for key in keys])
        parent.append(names.index(above) if above else -1)
        rest.append(numbers(body, "rest", 3))
        names.append(name)
        tracks.append((times, places, turns))
    end = max(float(times[-1]) for times, _, _ in tracks)
    frames = min(round(end * RATE) + 1, FRAME_LIMIT)
    time = np.arange(frames) / RATE
    position = np.stack([sampled(time, times, places, "LINEAR", False) for times, places, _ in tracks], axis=1)
    turn = np.stack([sampled(time, times, turns, "LINEAR", True) for times, _, turns in tracks], axis=1)
    rotation = matrices(turn / np.linalg.norm(turn, axis=2, keepdims=True))
    still = np.tile(np.eye(3), (len(names), 1, 1))
    return Clip(tuple(names), np.array(parent, np.int32), time, position, rotation, np.array(rest), still, {}, unit,
                str(file))  # fmt: skip


def write_clip(path: str | PathLike[str], clip: Clip) -> None:
    """Write every frame of a clip as a key; turns are from the rest pose."""
    root = xml.Element("animation", {"unit_m": f"{clip.unit or 1.0:.9g}"})
    turns = quaternions(clip.rotation @ clip.rest_rotation.transpose(0, 2, 1))
    for k, name in enumerate(clip.names):
        above = int(clip.parent[k])
        body = xml.Element("body", {"name": name, "parent": clip.names[above] if above >= 0 else "",
                                    "rest": words(clip.rest_position[k])})  # fmt: skip
        body.children = [
            xml.Element("key", {"time": f"{time:.9g}", "place": words(clip.position[f, k]), "turn": words(turns[f, k])})
            for f, time in enumerate(clip.time)
        ]
        root.children.append(body)
    write_bytes(path, xml.write(root).encode())


def words(values: np.ndarray) -> str:
    return " ".join(f"{value:.9g}" for value in values.tolist())
