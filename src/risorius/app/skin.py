"""A user's skin on the torso: bind it to a story's rest pose, and make it breathe."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from risorius.core.errors import InputError
from risorius.skin.binding import Method

ENDINGS = (".usdc", ".usda", ".usd", ".glb", ".obj")


def bind(
    mesh: str | PathLike[str],
    story: str | PathLike[str],
    out: str | PathLike[str],
    *,
    method: Method = "smooth",
    fit: bool = False,
) -> dict[str, Any]:
    """Bind a mesh to a story's rest pose and write the binding file.

    Args:
        method: "smooth", or "nearest4": the four nearest bones or cavity points with equal weights.
        fit: first scale, turn and move a standing person onto the subject; else the mesh must stand there already, in
            its file's unit (metres where the file does not say), x forward, y up, z to the right.

    Returns: figures of the binding and of the fit.
    """
    from risorius.io.binding import write_binding
    from risorius.io.mesh import read_mesh
    from risorius.io.story import read_story
    from risorius.skin.fit import fit as fitted
    from risorius.skin.weights import bind as bound

    skin = read_mesh(mesh)
    torso, _ = read_story(story)
    report: dict[str, Any] = {"mesh": str(mesh), "vertices": len(skin.vertices), "faces": skin.face_count}
    try:
        found = fitted(skin, torso) if fit else None
        binding = bound(skin, torso, method=method, placement=found.placement if found else None)
    except InputError as error:
        raise InputError(error.message, file=mesh, place=error.place) from None
    write_binding(out, binding)
    report |= {"method": method, "entries": len(binding.weight), "binding": str(out)}
    if found:
        report["fit"] = found.report()
        report["metres_per_unit"] = found.placement.scale
    return report


def apply(
    mesh: str | PathLike[str], binding: str | PathLike[str], story: str | PathLike[str], out: str | PathLike[str]
) -> dict[str, Any]:
    """Move a bound mesh as the story says and write it: .usdc, .usda or .glb (animated), .obj (last frame).

    Points keep their number, their order, and the mesh's own unit and axes.
    """
    from risorius.io.binding import read_binding
    from risorius.io.cache import write_cache
    from risorius.io.mesh import read_mesh
    from risorius.io.story import read_story
    from risorius.skin.binding import apply as applied

    target = Path(out)
    if target.suffix.lower() not in ENDINGS:
        raise InputError(f"expected a name ending in {', '.join(ENDINGS)}", file=target)
    skin = read_mesh(mesh)
    bound = read_binding(binding)
    torso, record = read_story(story)
    try:
        points = applied(bound, skin.vertices, torso, record)
    except InputError as error:
        raise InputError(error.message, file=binding, place=error.place) from None
    figures = write_cache(target, skin, points, record.time, bound.placement)
    return {"out": str(target), "frames": len(points), "vertices": len(skin.vertices), **figures}
