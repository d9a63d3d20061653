"""The house rules that can be read off the imports (docs/architecture.md)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "risorius"

MAY_IMPORT = {
    "maths": set(),
    "core": {"maths"},
    "anatomy": {"core", "maths"},
    "mechanics": {"core", "maths"},
    "strands": {"core", "maths"},
    "respiration": {"core", "maths"},
    "control": {"core", "maths"},
    "skin": {"core", "maths"},
    "sim": {"mechanics", "strands", "respiration", "control", "skin", "anatomy", "core", "maths"},
    "inverse": {"sim", "mechanics", "strands", "respiration", "control", "skin", "anatomy", "core", "maths"},
    "io": {"core", "maths", "anatomy", "control", "skin", "strands"},
    "view": {"core", "maths", "io"},
    "cli": {"app", "core"},
}
MAY_IMPORT["app"] = set(MAY_IMPORT) - {"cli"}

# package -> rooms that may import it at module level; everywhere else inside functions only
HEAVY = {
    "numba": {"maths", "mechanics", "strands", "respiration", "skin", "sim"},
    "pxr": set(),
    "matplotlib": set(),
    "av": set(),
    "k3d": set(),
    "polyscope": set(),
    "mujoco": set(),
    "myo_sim": set(),
    "cma": set(),
    "soundfile": set(),
    "ezc3d": set(),
    "pygltflib": set(),
}


def imports(path):
    """(module, whether at module level) for every import in a file."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    typing_only = {id(node) for guard in guards for node in ast.walk(guard)}
    for node in ast.walk(tree):
        at_top = id(node) not in inside and id(node) not in typing_only
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, at_top
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, at_top
            if node.module == "risorius":
                for name in node.names:
                    yield f"risorius.{name.name}", at_top


def files():
    return [(path.relative_to(SOURCE).parts[0], path) for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE]


@pytest.mark.parametrize("room, path", files(), ids=lambda value: value.stem if isinstance(value, Path) else value)
def test_rooms_import_only_what_the_house_allows(room, path):
    for module, at_top in imports(path):
        parts = module.split(".")
        if parts[0] == "risorius" and len(parts) > 1 and parts[1] != "__version__":
            assert parts[1] == room or parts[1] in MAY_IMPORT[room], f"{path}: {room} may not import {module}"
        if parts[0] in HEAVY and at_top:
            assert room in HEAVY[parts[0]], f"{path}: import {module} inside the function that needs it"


def test_no_file_grows_beyond_what_a_head_holds():
    for path in SOURCE.rglob("*.py"):
        lines = len(path.read_text().splitlines())
        assert lines <= 600, f"{path}: {lines} lines"


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from risorius.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'pxr', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
