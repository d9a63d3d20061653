"""What this machine has and lacks."""

from __future__ import annotations

import json
import platform
import shutil
from ctypes.util import find_library
from importlib.metadata import PackageNotFoundError, version

from risorius import __version__

PACKAGES = ("numpy", "scipy", "numba", "usd-core", "pygltflib", "myo-sim", "matplotlib", "k3d", "polyscope", "av")
OPTIONAL = ("alembic3d", "dask", "bpy")


def machine() -> dict[str, object]:
    """Versions and tools found, `None` where missing."""

    def found(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    return {
        "risorius": __version__,
        "python": platform.python_version(),
        "packages": {name: found(name) for name in PACKAGES},
        "optional": {name: found(name) for name in OPTIONAL},
        "off_screen_drawing": find_library("EGL") is not None,
        "browser": shutil.which("chromium") or shutil.which("google-chrome"),
    }


def run(subject: str | None, *, as_json: bool) -> None:
    """Print the report."""
    report = machine()
    if as_json:
        print(json.dumps(report, indent=2))
        return
    for key, value in report.items():
        if isinstance(value, dict):
            print(f"{key}:")
            for name, found in value.items():
                print(f"  {name:<12} {found or 'missing'}")
        else:
            print(f"{key}: {value or 'missing'}")
