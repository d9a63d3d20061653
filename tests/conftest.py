"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real sounds, markers and meshes; `RISORIUS_DATA`, or `shared/data` beside the repository."""
    folder = Path(os.environ.get("RISORIUS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(
            f"no folder of real data (RISORIUS_DATA, or {folder.parent.name}/{folder.name} beside the repository)"
        )
    return folder
