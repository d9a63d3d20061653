"""Errors that a user can act on: they name the file, the place in it and what was expected.

The command line prints them as one line and leaves with exit code 2; nothing else is caught there.
"""

from __future__ import annotations

from os import PathLike, fspath


class InputError(ValueError):
    """Something that the user gave is not usable.

    Args:
        message: what is wrong and what was expected, one line.
        file: the file it stands in, if any.
        line: line number in that file, from 1.
        place: another kind of place: an element, a key, a column, a frame.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        place: str | None = None,
    ) -> None:
        self.message = " ".join(message.split())
        self.file = None if file is None else fspath(file)
        self.line = line
        self.place = place
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        parts = [part for part in (where, self.place, self.message) if part]
        return ": ".join(parts)


class OutputError(OSError):
    """Something could not be written: a full disk, a folder that cannot be made."""
