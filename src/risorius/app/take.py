"""Takes as a user meets them: written with page and video, rendered again, exported, looked at."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.take import Progress, Take, read_take
from risorius.io.take import write_take as write_folder

VIDEO_SECONDS: Final = 12.0
"""Length of the video that a run without a sound writes; `risorius render` draws all of it."""


def write_take(
    folder: str | PathLike[str],
    torso: Torso,
    record: Record,
    *,
    run: dict[str, Any],
    control_xml: str | None = None,
    sound: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    video: bool = True,
) -> Path:
    """Write a take with its page and its video; see `risorius.io.take.write_take`."""
    drawers = [("page", 3.0, draw_page)]
    if video:
        drawers.append(("video", 25.0, draw_video))
    return write_folder(
        folder, torso, record, run=run, control_xml=control_xml, sound=sound, progress=progress, drawers=drawers
    )


def draw_page(folder: Path, take: Take, progress: Callable[[float], None]) -> None:
    """report.html"""
    from risorius.view.report import write_report

    take.run["page"] = write_report(folder / "report.html", take, progress=progress)


def draw_video(folder: Path, take: Take, progress: Callable[[float], None]) -> None:
    """video.mp4: the whole of a take with a sound, else its first seconds."""
    from risorius.view.video import write_video

    seconds = None if take.sound is not None else VIDEO_SECONDS
    take.run["video"] = write_video(folder / "video.mp4", take, seconds=seconds, progress=progress)


def render(
    take: str | PathLike[str],
    out: str | PathLike[str],
    *,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw a take anew; gives frames, seconds drawn and milliseconds a frame."""
    from risorius.view.video import write_video

    begun = time.perf_counter()
    found = write_video(out, read_take(take), seconds=seconds,
                        progress=(lambda part: progress("drawing", part)) if progress else None)  # fmt: skip
    spent = time.perf_counter() - begun
    return {"out": str(out), **found, "ms_per_frame": round(1e3 * spent / max(found["frames"], 1), 1)}
