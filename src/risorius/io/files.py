"""Reading a user's file and writing a result under its final name only when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Final

from risorius.core.errors import InputError, OutputError

SIZE_LIMIT: Final = 1 << 30
FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def readable(path: Path) -> None:
    """`InputError` unless there is a file that this process may read, for libraries that open files themselves."""
    try:
        with path.open("rb") as stream:
            if not stream.read(1):
                raise InputError("the file is empty", file=path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None


def read_bytes(path: str | PathLike[str], *, limit: int = SIZE_LIMIT) -> bytes:
    """The whole file; `InputError` where it cannot be read or is larger than `limit` bytes."""
    file = Path(path)
    try:
        if file.is_dir():
            raise InputError("expected a file, got a folder", file=file)
        size = file.stat().st_size
        if size > limit:
            raise InputError(f"expected at most {limit >> 20} MiB, got {size >> 20} MiB", file=file)
        return file.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None


def refused(error: OSError, path: Path) -> InputError | OutputError:
    """What to raise for a failed write: a full disk is the machine's fault, a bad place the user's."""
    reason = error.strerror or str(error)
    if error.errno in FULL or error.errno is None:
        return OutputError(f"{path}: could not be written: {reason}")
    return InputError(f"cannot be written: {reason}", file=path)


@contextlib.contextmanager
def written(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path`, renamed to it when the block ends well and removed when it does not.

    It keeps the ending of `path`, by which libraries choose the format.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        if target.is_dir():
            raise InputError("expected the name of a file, got a folder", file=target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb"):
            pass
        yield temporary
        temporary.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise refused(error, target) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a file at once or not at all."""
    with written(path) as temporary:
        temporary.write_bytes(data)
