"""Takes in Blender itself: the right bones, a skin that moves. Long (a gigabyte once), therefore nightly.

Blender's module `bpy` 5.0 wants Python 3.11 and its own environment: `.tools/blender`, made here where it is missing, or
the Python that RISORIUS_BLENDER names. Nothing is skipped: where Blender cannot be had, the test fails and says why.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from risorius.app.doctor import blender
from risorius.io.layers import Layers

ROOT = Path(__file__).resolve().parent.parent
BPY = "bpy==5.0.1"
pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("blender")]


@pytest.fixture(scope="session")
def blender_python():
    """A Python that imports bpy."""
    found = blender()
    if found is None:
        own = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
        assert own, f"{BPY} needs Python 3.11: install it, or set RISORIUS_BLENDER to a Python that imports bpy"
        folder = ROOT / ".tools" / "blender"
        subprocess.run([own, "-m", "venv", folder], check=True)
        found = str(folder / "bin" / "python")
        made = subprocess.run([found, "-m", "pip", "install", "--quiet", BPY], capture_output=True, text=True)
        if made.returncode != 0:
            shutil.rmtree(folder)
        assert made.returncode == 0, f"{BPY} could not be installed into {folder}: {made.stderr[-300:]}"
    return found


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    """A breath of the reference man, with the story's and the glb's own motion."""
    from risorius.app.perform import simulate
    from risorius.control.behaviours import behaviour
    from risorius.core.spec import Spec
    from risorius.io.take import write_take

    torso, record, _ = simulate(behaviour("calm", 3.0), Spec())
    folder = tmp_path_factory.mktemp("hosts") / "take"
    return write_take(folder, torso, record, run={}), torso, record


def seen(python, path, first, last):
    """What Blender has after importing a file; frames by Blender's count."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    words = [python, str(ROOT / "tests" / "hosts" / "in_blender.py"), str(path), str(first), str(last)]
    run = subprocess.run(words, capture_output=True, text=True, env=clean, timeout=900)
    lines = [line for line in run.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, run.stderr[-500:]
    return json.loads(lines[0].removeprefix("RESULT"))


def rib_travel(torso, record, frame):
    """How far the seventh rib's farthest point goes from the first frame to another [m]."""
    from risorius.maths.rotations import matrices

    k = torso.bodies.index("rib7_r")
    here, there = (
        torso.bodies.meshes[k].vertices @ matrices(record.rotation[f, k]).T + record.position[f, k] for f in (0, frame)
    )
    return float(np.linalg.norm(here - there, axis=1).max())


def test_blender_opens_the_glb(blender_python, take):
    folder, torso, record = take
    found = seen(blender_python, folder / "take.glb", 0, 48)  # 24 a second there: 2 s are frame 50 of the record
    (bones,) = found["armatures"].values()
    assert set(torso.bodies.names) <= set(bones) and len(torso.bodies.names) == 50
    assert all(bone.startswith("belly") for bone in set(bones) - set(torso.bodies.names))
    assert set(torso.bodies.names) <= {name for name, kind in found["objects"].items() if kind == "MESH"}
    assert found["travel"]["Skin"] > 3e-3
    dome = record.points[:, np.unique(Layers(torso).diaphragm)]
    far = float(np.linalg.norm(dome[50] - dome[0], axis=1).max())
    assert found["travel"]["Diaphragm"] == pytest.approx(far, abs=2e-3) and far > 3e-3
    assert found["travel"]["rib7_r"] == pytest.approx(rib_travel(torso, record, 50), abs=2e-4)
    assert found["travel"]["pelvis"] < 1e-4
    (_, _), (_, back), (low, high) = found["spread"]["Skin"]
    assert 0.5 < high - low < 1.0 and back > 0.1  # upright, metres, the face towards Blender's front (-Y)


def test_blender_opens_the_story(blender_python, take):
    folder, torso, record = take
    found = seen(blender_python, folder / "story.usdc", 0, 50)
    meshes = {name for name, kind in found["objects"].items() if kind == "MESH"}
    assert set(torso.bodies.names) <= meshes
    assert meshes - set(torso.bodies.names) == {"Cavity", "Diaphragm", "ChestWall", "Skin"}
    assert found["end"] == len(record.time) - 1
    assert found["travel"]["Skin"] > 3e-3 and found["travel"]["Cavity"] > 3e-3
    assert found["travel"]["rib7_r"] == pytest.approx(rib_travel(torso, record, 50), abs=1e-5)
    assert found["travel"]["pelvis"] < 1e-6
