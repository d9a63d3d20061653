"""A take: the folder that a run writes, whole or not at all, and reads back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risorius import __version__
from risorius.core.errors import InputError, OutputError
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.files import read_bytes, readable, refused
from risorius.io.signals import read_signals, write_signals

Progress = Callable[[str, float], None]
"""Called with the phase and the part of the whole that is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Take:
    """What a take holds.

    Args:
        torso, record: geometry at rest, and the motion with its signals.
        skin: (f, n, 3) [m] the generated skin in every frame.
        run: content of run.json.
        control: text of control.xml, if any.
        sound: the sound that drove it, if any.
    """

    torso: Torso
    record: Record
    skin: NDArray[np.float32]
    run: dict[str, Any] = field(default_factory=dict)
    control: str | None = None
    sound: Path | None = None


Drawer = Callable[[Path, Take, Callable[[float], None]], None]
"""Adds a file to the folder of a take (its page, its video)."""


def write_take(
    folder: str | PathLike[str],
    torso: Torso,
    record: Record,
    *,
    run: dict[str, Any],
    control_xml: str | None = None,
    sound: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    drawers: Sequence[tuple[str, float, Drawer]] = (),
) -> Path:
    """Write the folder of a take; an existing take is replaced at the very end, and only then.

    Args:
        run: content of run.json so far: command, subject, seed, step, seconds, …; version, the seconds of each phase of
            writing (`phases_s`) and warnings are added.
        control_xml: text of control.xml.
        sound: file of the sound that drove the take; kept in it.
        drawers: name, share of the writing time, function, for each further file. A drawer may raise `InputError`
            where the machine lacks something: a warning then stands in run.json and the rest is written.

    Returns: the folder.
    """
    from risorius.io.gltf import write_glb
    from risorius.io.story import write_story
    from risorius.skin.binding import apply
    from risorius.skin.weights import bind, skin_of

    report = {**run, "version": __version__}
    phases: dict[str, float] = dict(report.get("phases_s", {}))
    warnings: list[str] = list(report.get("warnings", []))
    tell = Steps(progress, {"skin": 1.0, "signals": 0.1, "story": 1.0, "glb": 1.0,
                            **{name: share for name, share, _ in drawers}})  # fmt: skip
    with folder_written(folder) as temporary:
        with tell.step("skin", phases):
            mesh = skin_of(torso)
            binding = bind(mesh, torso)
            skin = apply(binding, mesh.vertices, torso, record)
        with tell.step("signals", phases):
            write_signals(temporary / "signals.csv", {"time_s": record.time, **record.signals})
            if control_xml is not None:
                (temporary / "control.xml").write_text(control_xml)
            kept = kept_sound(sound, temporary)
        with tell.step("story", phases) as part:
            write_story(temporary / "story.usdc", torso, record, skin, progress=part)
        with tell.step("glb", phases):
            report["glb"] = write_glb(temporary / "take.glb", torso, record, binding)
        take = Take(torso, record, skin, report, control_xml, kept)
        for name, _, draw in drawers:
            with tell.step(name, phases) as part:
                try:
                    draw(temporary, take, part)
                except InputError as error:
                    warnings.append(f"{name}: {error}")
        report["phases_s"] = {name: round(seconds, 3) for name, seconds in phases.items()}
        report["warnings"] = warnings
        write_json(temporary / "run.json", report)
    return Path(folder)


class Steps:
    """Times each phase of writing and tells how far the whole is."""

    def __init__(self, progress: Progress | None, shares: dict[str, float]) -> None:
        self.progress = progress or (lambda _name, _part: None)
        self.shares, self.whole, self.done = shares, sum(shares.values()), 0.0

    @contextlib.contextmanager
    def step(self, name: str, phases: dict[str, float]) -> Iterator[Callable[[float], None]]:
        share = self.shares[name] / self.whole
        begun = time.perf_counter()

        def tell(part: float) -> None:
            self.progress(name, self.done + share * part)

        tell(0.0)
        yield tell
        phases[name] = phases.get(name, 0.0) + time.perf_counter() - begun
        self.done += share
        self.progress(name, self.done)


@contextlib.contextmanager
def folder_written(folder: str | PathLike[str]) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its name when the block ends well and vanishes when it does not."""
    target = Path(folder).absolute()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    try:
        replaceable(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        if target.exists():
            target.rename(old)
        temporary.rename(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise OutputError(str(error).replace(str(temporary), str(target))) from None
        raise refused(error, target) from None
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def replaceable(target: Path) -> None:
    """Refuse to replace anything but an empty folder or a take."""
    if target.exists() and not target.is_dir():
        raise InputError("expected a folder for the take, got a file", file=target)
    if target.is_dir() and any(target.iterdir()) and not (target / "run.json").is_file():
        raise InputError(
            "holds files and is no take (no run.json): it is not replaced; name another folder", file=target
        )


def writable(folder: str | PathLike[str]) -> None:
    """Refuse at once, before minutes of work, a folder that could not be written in the end; leaves nothing behind."""
    target = Path(folder).absolute()
    made: list[Path] = []
    try:
        replaceable(target)
        for parent in reversed(target.parents):
            if not parent.exists():
                parent.mkdir()
                made.append(parent)
        Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)).rmdir()
    except OSError as error:
        raise refused(error, target) from None
    finally:
        for parent in reversed(made):
            with contextlib.suppress(OSError):
                parent.rmdir()


def kept_sound(sound: str | PathLike[str] | None, folder: Path) -> Path | None:
    if sound is None:
        return None
    source = Path(sound)
    readable(source)
    return Path(shutil.copyfile(source, folder / f"sound{source.suffix.lower()}"))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object; numpy's numbers count as numbers."""

    def plain(item: Any) -> Any:
        if isinstance(item, np.generic):
            return item.item()
        if isinstance(item, np.ndarray):
            return item.tolist()
        return str(item)

    path.write_text(json.dumps(value, indent=2, default=plain) + "\n")


def read_take(folder: str | PathLike[str]) -> Take:
    """Read a take back; `InputError` where something is missing or broken."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError("expected the folder of a take", file=place)
    from risorius.io.story import read_skin, read_story

    story = place / "story.usdc"
    torso, record = read_story(story)
    record.signals = read_signals(place / "signals.csv")
    if len(record.signals["time_s"]) != len(record.time):
        raise InputError(f"has {len(record.signals['time_s'])} rows where the story has {len(record.time)} frames",
                         file=place / "signals.csv")  # fmt: skip
    try:
        run = json.loads(read_bytes(place / "run.json"))
    except ValueError:
        run = None
    if not isinstance(run, dict):
        raise InputError("expected a JSON object", file=place / "run.json")
    control = place / "control.xml"
    sounds = sorted(place.glob("sound.*"))
    text = read_bytes(control).decode("utf-8", errors="replace") if control.exists() else None
    return Take(torso, record, read_skin(story, torso, len(record.time)), run, text, sounds[0] if sounds else None)
