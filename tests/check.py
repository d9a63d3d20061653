"""One command that checks all: format, lint, types, docs with warnings as errors, tests.

`python tests/check.py` runs what every change must pass; `--nightly` adds the suites marked slow.
Tests are spread over the cores. Arguments that are left over go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    nightly = "--nightly" in arguments
    rest = [argument for argument in arguments if argument != "--nightly"]
    python = sys.executable
    marks = [] if nightly else ["-m", "not nightly"]
    steps = {
        "format": [python, "-m", "ruff", "format", "--check", "--quiet", "."],
        "lint": [python, "-m", "ruff", "check", "--quiet", "."],
        "types": [python, "-m", "mypy", "--no-error-summary"],
        "docs": [python, "-m", "mkdocs", "build", "--strict", "--quiet"],
        "tests": [python, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 2), "--dist", "loadgroup", *marks, *rest],
    }
    failed = []
    for name, command in steps.items():
        start = time.perf_counter()
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode
        print(f"{name}: {'passed' if code == 0 else 'FAILED'} in {time.perf_counter() - start:.0f} s", flush=True)
        if code != 0:
            failed.append(name)
    if failed:
        print("failed:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
