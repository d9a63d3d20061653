"""Compiled kernels: numba with an on-disk cache that notices every edit.

numba keys its cache on the file of the decorated function alone and would keep machine code whose callees have changed
since. Here the cache folder carries a hash of all sources of the package, so an edit anywhere starts a fresh one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numba

from risorius import __version__

SOURCE = Path(__file__).resolve().parent.parent
KEEP = 3


def source_hash() -> str:
    """Hash of every Python file of the package that may hold or feed kernels."""
    digest = hashlib.sha256(f"{__version__} {numba.__version__} {sys.version}".encode())
    for room in ("maths", "mechanics", "respiration", "strands", "skin", "sim"):
        for path in sorted((SOURCE / room).rglob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """`RISORIUS_CACHE`, or the user's cache folder; one subfolder a source hash."""
    base = os.environ.get("RISORIUS_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "risorius" / "kernels"


def prepare() -> Path:
    """Make this version's folder the cache, and drop folders that the last few versions left."""
    root = cache_folder()
    here = root / source_hash()
    try:
        here.mkdir(parents=True, exist_ok=True)
        os.utime(here)
        stale = sorted((path for path in root.iterdir() if path != here), key=lambda path: path.stat().st_mtime)
        for path in stale[:-KEEP]:
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return here  # an unwritable home: numba falls back to compiling each time
    numba.config.CACHE_DIR = str(here)  # type: ignore[attr-defined]
    return here


CACHE = prepare()
OPTIONS: Any = {"cache": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz", "arcp"}}
UNWRAPPED: Any = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel = numba.njit(**OPTIONS)
"""Decorator for a compiled function: no Python objects, IEEE division, cached on disk."""
released = numba.njit(**OPTIONS, nogil=True)
"""The same for a kernel that other threads may run beside."""
inner = numba.njit(**UNWRAPPED)
"""The same for a function that only other kernels call. Wrapping a function that takes a whole system for Python costs
seconds of compilation; this leaves the wrapper out."""
merged = numba.njit(**UNWRAPPED, inline="always")
"""The same for a function with one caller, which takes it in whole: passing a system on costs seconds a level."""


def warm() -> bool:
    """Whether kernels of this source have been compiled and kept before."""
    return any(CACHE.rglob("*.nbi")) if CACHE.exists() else False
