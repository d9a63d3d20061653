"""Mapping of marker names: one `NAME = landmark` a line, `#` begins a remark, `*` and `?` in names stand for anything.

    # our laboratory's names
    STER    = sternum
    XIPH    = xiphoid
    BELLY*  = front
    box:*   = ignore
    up      = z
    forward = -y

Landmarks are those of `inverse/data/landmarks.csv`; `front`, `back`, `side` and `column` (the front's sagittal line) say
only roughly where a marker sits. `up` and `forward` name axes of the recording.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from risorius.core.errors import InputError
from risorius.io.tables import read_lines

AXES = ("x", "y", "z", "-x", "-y", "-z")


def read_marker_map(path: str | PathLike[str], known: set[str]) -> tuple[tuple[tuple[str, str], ...], str, str]:
    """(pattern, landmark) pairs, up and forward of a mapping file; `InputError` names the line."""
    file = Path(path)
    pairs: list[tuple[str, str]] = []
    axes = {"up": "", "forward": ""}
    for number, line in enumerate(read_lines(file), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        name, equals, landmark = (part.strip() for part in text.rpartition("="))
        if not equals or not name or not landmark:
            raise InputError(f"expected `NAME = landmark`, got {text!r}", file=file, line=number)
        landmark = landmark.lower()
        if name.lower() in axes:
            if landmark not in AXES:
                raise InputError(f"expected an axis among {', '.join(AXES)}, got {landmark!r}", file=file, line=number)
            axes[name.lower()] = landmark
        elif landmark not in known:
            raise InputError(f"expected one of {', '.join(sorted(known))}, got {landmark!r}", file=file, line=number)
        else:
            pairs.append((name, landmark))
    return tuple(pairs), axes["up"], axes["forward"]
