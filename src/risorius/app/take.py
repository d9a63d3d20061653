"""Takes as a user meets them: written with page and video, rendered again, exported, looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from risorius.core.errors import InputError
from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.io.take import Drawer, Progress, Take, read_take
from risorius.io.take import write_take as write_folder

if TYPE_CHECKING:
    from risorius.view.report import Section

VIDEO_SECONDS: Final = 9.0
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
    section: Section | None = None,
    more: Sequence[tuple[str, float, Drawer]] = (),
) -> Path:
    """Write a take with its page and its video; see `risorius.io.take.write_take`.

    Args:
        section: what the page says beside what every page says; more: drawers of further files.
    """
    drawers: list[tuple[str, float, Drawer]] = [*more, ("page", 3.0, partial(draw_page, section=section))]
    if video:
        drawers.append(("video", 25.0, draw_video))
    return write_folder(
        folder, torso, record, run=run, control_xml=control_xml, sound=sound, progress=progress, drawers=drawers
    )


def draw_page(folder: Path, take: Take, progress: Callable[[float], None], section: Section | None = None) -> None:
    """report.html"""
    from risorius.view.report import write_report

    take.run["page"] = write_report(folder / "report.html", take, section=section, progress=progress)


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


FORMATS: Final = ("usd", "glb", "abc", "bvh", "mot", "trc", "csv")
ENDINGS: Final = {"usd": ".usdc", "glb": ".glb", "abc": ".abc", "bvh": ".bvh", "mot": ".mot",
                  "trc": ".trc", "csv": ".csv"}  # fmt: skip


def export(
    take: str | PathLike[str],
    form: str,
    out: str | PathLike[str] | None = None,
    *,
    places: str | PathLike[str] | None = None,
    noise: float = 0.0,
    seed: int = 0,
    tolerance: float = 0.0,
) -> Path:
    """Write a take in another format: usd (the story), glb, abc (Alembic), bvh (skeleton), mot (OpenSim joint angles), trc
    or csv (markers on the skin).

    Args:
        out: file to write; `export.<ending>` in the take's folder where not given. For usd the ending may be .usda too.
        places, noise, seed: of markers; see `app.marker_export`.
        tolerance: [mm] for usd: skin and muscles get samples only where straight lines between them would miss by more.
    """
    if form not in FORMATS:
        raise InputError(f"expected one of {', '.join(FORMATS)}, got {form!r}", place="--to")
    if not 0.0 <= tolerance <= 10.0:
        raise InputError(f"expected 0 to 10 mm, got {tolerance:g}", place="--tolerance")
    found = read_take(take)
    target = Path(out) if out is not None else Path(take) / f"export{ENDINGS[form]}"
    allowed = (".usdc", ".usda", ".usd") if form == "usd" else (ENDINGS[form],)
    if target.suffix.lower() not in allowed:
        raise InputError(f"expected a name ending in {' or '.join(allowed)}", file=target)
    torso, record = found.torso, found.record
    if form == "usd":
        from risorius.io.story import write_story

        write_story(target, torso, record, found.skin, tolerance=1e-3 * tolerance)
    elif form == "glb":
        from risorius.io.gltf import write_glb

        write_glb(target, torso, record)
    elif form == "abc":
        from risorius.io.abc import write_abc

        write_abc(target, torso, record, found.skin)
    elif form == "bvh":
        from risorius.io.bvh import write_bvh

        write_bvh(target, torso, record)
    elif form in ("trc", "csv"):
        from risorius.app.marker_export import write_markers

        write_markers(target, found, places, noise, seed)
    else:
        from risorius.io.mot import write_mot

        write_mot(target, torso, record)
    return target


def page_of(take: str | PathLike[str]) -> Path:
    """The page of a take; written anew where it is missing."""
    folder = Path(take)
    page = folder / "report.html"
    if not page.is_file():
        from risorius.view.report import write_report

        write_report(page, read_take(folder))
    return page
