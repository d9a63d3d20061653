"""Compiled kernels: numba with an on-disk cache that notices every edit.

numba keys its cache on the file of the decorated function alone and would keep machine code whose callees have changed
since. Here the kernels of a module are kept in a folder that carries a hash of that module and of all that it imports,
so an edit starts afresh what it can reach, and nothing else.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from risorius import __version__

SOURCE = Path(__file__).resolve().parent.parent
KEEP = 3
"""Folders of older sources that stay beside a module's present one."""
IMPORT = re.compile(r"^\s*from risorius\.([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)


def imported(path: Path) -> set[Path]:
    """Files of the package that a file imports from, modules named after `import` included."""
    found = set()
    for place, names in IMPORT.findall(path.read_text()):
        target = SOURCE.joinpath(*place.split("."))
        words = re.findall(r"\w+", names)
        for candidate in (target.with_suffix(".py"), *(target / f"{word}.py" for word in words)):
            if candidate.exists():
                found.add(candidate)
    return found


@functools.cache
def source_hash(module: str) -> str:
    """Hash of a module's source and of every one that it reaches by imports."""
    start = SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    reached, waiting = {start}, [start]
    while waiting:
        more = imported(waiting.pop()) - reached
        reached |= more
        waiting += more
    digest = hashlib.sha256(f"{__version__} {numba.__version__} {sys.version}".encode())
    for path in sorted(reached):
        digest.update(path.relative_to(SOURCE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(module: str) -> Path:
    """Where a module's kernels are kept: below `RISORIUS_CACHE`, or the user's cache folder."""
    base = os.environ.get("RISORIUS_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "risorius" / "kernels" / module / source_hash(module)


@functools.cache
def prepare(module: str) -> Path:
    """Make a module's folder, and drop those that its last few versions left."""
    here = cache_folder(module)
    try:
        here.mkdir(parents=True, exist_ok=True)
        os.utime(here)
        stale = sorted((path for path in here.parent.iterdir() if path != here), key=lambda path: path.stat().st_mtime)
        for path in stale[:-KEEP]:
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass  # an unwritable home: numba falls back to compiling each time
    return here


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Decorator for a compiled function: no Python objects, IEEE division, cached on disk."""
    jit = numba.njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"}, **options)

    def decorate(function: Any) -> Any:
        here = prepare(function.__module__)
        numba.config.CACHE_DIR = str(here) if here.exists() else ""  # type: ignore[attr-defined]
        return jit(function)

    return decorate


def warm(module: str) -> bool:
    """Whether the kernels of a module have been compiled and kept before."""
    here = cache_folder(module)
    return here.exists() and any(here.rglob("*.nbi"))


kernel = compiled()
released = compiled(nogil=True)
"""The same for a kernel that other threads may run beside."""
inner = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""The same for a function that only other kernels call. Wrapping a function that takes a whole system for Python costs
seconds of compilation; this leaves the wrapper out."""
merged = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")
"""The same for a function with one caller, which takes it in whole: passing a system on costs seconds a level."""
