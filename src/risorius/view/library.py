"""The drawing library of all pages: k3d, which carries three.js, and the loader that it comes with."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from risorius.core.errors import InputError


@cache
def library() -> tuple[str, str]:
    """Sources of the loader and of k3d, found without importing the package (which takes two seconds)."""
    found = find_spec("k3d")
    if found is None or not found.submodule_search_locations:
        raise InputError("the package k3d is not installed", place="page")
    static = Path(found.submodule_search_locations[0]) / "static"
    loader, drawing = ((static / name).read_text(encoding="utf-8") for name in ("require.js", "standalone.js"))
    return loader, drawing
