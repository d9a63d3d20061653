"""What this machine has and lacks."""

from __future__ import annotations

import os
import platform
import shutil
from ctypes.util import find_library
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from risorius import __version__

PACKAGES = ("numpy", "scipy", "numba", "usd-core", "pygltflib", "myo-sim", "matplotlib", "k3d", "polyscope", "av")
OPTIONAL = ("alembic3d", "dask")
TOOLS = Path(__file__).resolve().parents[3] / ".tools"
"""What the tests of a checkout install beside it."""


def machine() -> dict[str, object]:
    """Versions and tools found, `None` where missing."""

    def found(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    validator = TOOLS / "node_modules" / "gltf-validator"
    return {
        "risorius": __version__,
        "python": platform.python_version(),
        "packages": {name: found(name) for name in PACKAGES},
        "optional": {name: found(name) for name in OPTIONAL},
        "off_screen_drawing": find_library("EGL") is not None,
        "blender": blender(),
        "gltf_validator": str(validator) if validator.is_dir() else None,
        "browser": shutil.which("chromium") or shutil.which("google-chrome"),
    }


def blender() -> str | None:
    """A Python that imports Blender's `bpy`: RISORIUS_BLENDER, or the one that the nightly tests make."""
    named = os.environ.get("RISORIUS_BLENDER")
    own = TOOLS / "blender" / "bin" / "python"
    return named or (str(own) if own.exists() else None)


def subject(text: str) -> dict[str, object]:
    """Bodies, muscle elements by group, points and volumes of a subject's torso."""
    import numpy as np

    from risorius.anatomy import build_torso
    from risorius.core.spec import Spec
    from risorius.maths.polyhedron import volume

    torso = build_torso(Spec.parse(text))
    lines = np.bincount(torso.lines.group, minlength=len(torso.groups))
    fibres = np.bincount(torso.fibres.group, minlength=len(torso.groups))
    surface = torso.surface
    trunk, abdomen = (volume(surface.points, faces) for faces in (surface.trunk, surface.abdomen))
    tissue = float(torso.landmarks["tissue_volume"])
    return {
        "subject": str(torso.spec),
        "bodies": len(torso.bodies.names),
        "elements": int(lines.sum() + fibres.sum()),
        "groups": {name: int(count) for name, count in zip(torso.groups, lines + fibres)},
        "springs": len(torso.struts),
        "free_points": int((surface.body < 0).sum()),
        "chest_l": round(1e3 * (trunk - abdomen), 2),
        "gas_l": round(1e3 * (trunk - abdomen - tissue), 2),
        "abdomen_l": round(1e3 * abdomen, 2),
        "mass_kg": round(float(torso.bodies.mass.sum()), 1),
        "skin_points": len(torso.skin.vertices),
        "body_names": list(torso.bodies.names),
    }


def report(text: str | None) -> dict[str, object]:
    """Machine, and a subject's torso where one is named."""
    return machine() if text is None else {**machine(), "torso": subject(text)}
