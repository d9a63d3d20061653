"""BVH in: any hierarchy, any order of channels; the unit of length is the file's own (BVH does not say)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from risorius.core.clip import FRAME_LIMIT, JOINT_LIMIT, Clip, chained
from risorius.core.errors import InputError
from risorius.io.files import read_bytes

CHANNELS: Final = {
    "xposition": 0,
    "yposition": 1,
    "zposition": 2,
    "xrotation": 3,
    "yrotation": 4,
    "zrotation": 5,
}


class Words:
    """Words of a text with the line that each stands on."""

    def __init__(self, file: Path, text: str) -> None:
        self.file, self.line = file, 1
        self.lines = text.splitlines()
        self.words = self.each()

    def each(self) -> Iterator[str]:
        for number, line in enumerate(self.lines, start=1):
            for word in line.split():
                self.line = number
                yield word

    def next(self, what: str) -> str:
        for word in self.words:
            return word
        raise InputError(f"expected {what}, got the end of the file", file=self.file, line=self.line)

    def expect(self, word: str) -> None:
        got = self.next(word)
        if got.lower() != word.lower():
            raise self.wrong(word, got)

    def wrong(self, what: str, got: str) -> InputError:
        return InputError(f"expected {what}, got {got[:40]!r}", file=self.file, line=self.line)

    def number(self, what: str) -> float:
        got = self.next(what)
        try:
            value = float(got)
        except ValueError:
            raise self.wrong(what, got) from None
        if not abs(value) < 1e9:
            raise self.wrong(f"{what} that is finite", got)
        return value

    def count(self, what: str, most: int) -> int:
        value = self.number(what)
        if value != int(value) or not 0 <= value <= most:
            raise InputError(f"expected {what} from 0 to {most}, got {value:g}", file=self.file, line=self.line)
        return int(value)


def read(file: Path) -> Clip:
    """Read a BVH file."""
    words = Words(file, read_bytes(file).decode("utf-8", errors="replace"))
    words.expect("HIERARCHY")
    names: list[str] = []
    parent: list[int] = []
    offset: list[list[float]] = []
    channels: list[list[int]] = []
    ends: dict[int, np.ndarray] = {}
    stack: list[int] = []
    while True:
        word = words.next("JOINT, End Site, } or MOTION")
        kind = word.lower()
        if kind in ("root", "joint"):
            if len(names) >= JOINT_LIMIT:
                raise InputError(f"expected at most {JOINT_LIMIT} joints", file=file, line=words.line)
            names.append(words.next("a joint's name"))
            parent.append(stack[-1] if stack else -1)
            words.expect("{")
            words.expect("OFFSET")
            offset.append([words.number("an offset") for _ in range(3)])
            words.expect("CHANNELS")
            many = words.count("a count of channels", 6)
            found = [words.next("a channel") for _ in range(many)]
            if any(name.lower() not in CHANNELS for name in found):
                raise words.wrong("Xposition … Zrotation", " ".join(found))
            channels.append([CHANNELS[name.lower()] for name in found])
            stack.append(len(names) - 1)
        elif kind == "end":
            words.expect("Site")
            words.expect("{")
            words.expect("OFFSET")
            end = np.array([words.number("an offset") for _ in range(3)])
            words.expect("}")
            if not stack:
                raise InputError("an End Site outside of any joint", file=file, line=words.line)
            if np.linalg.norm(end) > 0:
                ends[stack[-1]] = end
        elif kind == "}":
            if not stack:
                raise InputError("a } too many", file=file, line=words.line)
            stack.pop()
        elif kind == "motion":
            break
        else:
            raise words.wrong("JOINT, End Site, } or MOTION", word)
    if stack:
        raise InputError(f"expected }} for joint {names[stack[-1]]}", file=file, line=words.line)
    if not names:
        raise InputError("expected at least one ROOT", file=file, line=words.line)
    return motion(words, file, tuple(names), np.array(parent, np.int32), np.array(offset), channels, ends)


def motion(words: Words, file: Path, names, parent, offset, channels, ends) -> Clip:
    """The frames behind the hierarchy."""
    words.expect("Frames:")
    frames = words.count("a count of frames", FRAME_LIMIT)
    words.expect("Frame")
    words.expect("Time:")
    step = words.number("the time of a frame")
    if frames == 0:
        raise InputError("expected at least one frame", file=file, line=words.line)
    if not step > 0:
        raise InputError(f"expected a frame time above 0 s, got {step:g}", file=file, line=words.line)
    width = sum(map(len, channels))
    table = np.empty((frames, width))
    first = words.line
    rows = [(number, row) for number, row in enumerate(words.lines[first:], start=first + 1) if row.strip()]
    if len(rows) != frames:
        raise InputError(f"expected {frames} rows of motion, got {len(rows)}", file=file, line=first)
    for frame, (number, row) in enumerate(rows):
        try:
            values = np.array(row.split(), dtype=np.float64)
        except ValueError:
            raise InputError("expected numbers", file=file, line=number) from None
        if len(values) != width or not (np.abs(values) < 1e9).all():
            raise InputError(f"expected {width} finite numbers, got {len(values)} or some that are none", file=file,
                             line=number)  # fmt: skip
        table[frame] = values
    place = np.tile(offset, (frames, 1, 1))
    turn = np.tile(np.eye(3), (frames, len(names), 1, 1))
    column = 0
    for joint, own in enumerate(channels):
        if any(channel < 3 for channel in own):
            place[:, joint] = 0.0
        for channel in own:
            if channel < 3:
                place[:, joint, channel] = table[:, column]
            else:
                turn[:, joint] = turn[:, joint] @ about_axis(channel - 3, np.radians(table[:, column]))
            column += 1
    position, rotation = chained(parent, place, turn)
    still = np.tile(np.eye(3), (1, len(names), 1, 1))
    rest, rest_turn = chained(parent, offset[None], still)
    time = np.arange(frames, dtype=np.float64) * step
    return Clip(names, parent, time, position, rotation, rest[0], rest_turn[0], ends, None, str(file))


def about_axis(axis: int, angle: np.ndarray) -> np.ndarray:
    """Rotations (f, 3, 3) about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.tile(np.eye(3), (len(angle), 1, 1))
    out[:, i, i] = out[:, j, j] = np.cos(angle)
    out[:, j, i] = np.sin(angle)
    out[:, i, j] = -np.sin(angle)
    return out
