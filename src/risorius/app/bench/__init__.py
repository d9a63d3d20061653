"""Speed, measured: one module of this folder per part, with `measure(progress) -> figures`.

Figures are medians or bests over several runs in one process; ratios within one run are comparable, across machines not.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable
from typing import Any

from risorius import __version__
from risorius.core.errors import InputError

PARTS = ("torso", "behaviours", "hand", "skin")
"""Names of the modules here, in the order in which `all` runs them."""
Progress = Callable[[str, float], None]


def bench(part: str = "all", progress: Progress | None = None) -> dict[str, Any]:
    """Measure one part, or `all` of them: {part: figures} with the versions that they belong to."""
    if part not in (*PARTS, "all"):
        raise InputError(f"expected one of {', '.join((*PARTS, 'all'))}, got {part!r}", place="part")
    chosen = PARTS if part == "all" else (part,)
    figures = {
        name: importlib.import_module(f"risorius.app.bench.{name}").measure(progress or (lambda _name, _part: None))
        for name in chosen
    }
    return {"risorius": __version__, "python": platform.python_version(), "machine": platform.machine(), **figures}
