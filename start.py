"""Set Risorius up in this folder and run it: nothing but Python 3.11+ is needed beforehand.

    python3 start.py            set up, then perform the main job and print the page to open
    python3 start.py check      set up everything developers use, then format, lint, types, docs and tests
    python3 start.py run ARGS   set up, then `risorius ARGS`

The environment goes to `.venv`; delete that folder to start afresh.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
SCRIPTS = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
STAMP = ENVIRONMENT / "risorius-setup"

# What drawing and tests need beyond Python packages: command or library looked for -> Debian packages that bring it.
DRAWING = {"libEGL.so.1": ["libegl1", "libgl1-mesa-dri"]}
TESTING = {"chromium": ["chromium"], "npm": ["nodejs", "npm"]}
VALIDATOR = "gltf-validator@2.0.0-dev.3.10"


def present(name: str) -> bool:
    """Whether a command (or, for a name ending in .so.N, a shared library) can be found."""
    if ".so" not in name:
        return shutil.which(name) is not None
    import ctypes

    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def system_packages(wanted: dict[str, list[str]]) -> None:
    """Install missing system packages where that is possible; otherwise say what to install, and go on."""
    packages = [package for name, bring in wanted.items() if not present(name) for package in bring]
    if not packages:
        return
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("installing system packages:", " ".join(packages), flush=True)
        quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-q"], check=False, **quiet)
        if subprocess.run(install, check=False, **quiet).returncode == 0:
            return
    print(f"missing system packages (pictures, video or browser tests need them): sudo {' '.join(install)}", flush=True)


def setup(development: bool) -> None:
    """Make `.venv` hold the locked dependencies and this source, editable."""
    lock = ROOT / ("requirements-dev.lock" if development else "requirements.lock")
    wanted = lock.read_text() + (ROOT / "pyproject.toml").read_text()
    done = STAMP.read_text() if STAMP.exists() else ""
    if wanted in done:
        return
    print("setting up .venv: about 1 GB of packages, a minute or two on a fast line …", flush=True)
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "uv"], check=True)
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON)]
    subprocess.run([*uv, "--require-hashes", "-r", str(lock)], check=True)
    subprocess.run([*uv, "--no-deps", "--editable", str(ROOT)], check=True)
    STAMP.write_text(wanted)


def validator() -> None:
    """The Khronos validator, which the tests of glTF files run, into `.tools`."""
    tools, npm = ROOT / ".tools", shutil.which("npm")
    if npm and not (tools / "node_modules" / "gltf-validator").exists():
        tools.mkdir(exist_ok=True)
        quiet = ["--no-save", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([npm, "install", *quiet, "--prefix", str(tools), VALIDATOR], check=True)


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs before anything has checked
        print(f"Risorius needs Python 3.11 or newer; this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    command = arguments[0] if arguments else "play"
    if command not in {"play", "check", "run"}:
        print(__doc__, file=sys.stderr)
        return 2
    system_packages(DRAWING)
    if command == "check":
        system_packages(TESTING)
    setup(development=command == "check")
    if command == "check":
        validator()
        return subprocess.run([str(PYTHON), str(ROOT / "tests" / "check.py"), *arguments[1:]], cwd=ROOT).returncode
    rest = arguments[1:] if command == "run" else ["perform", "calm", "-o", str(ROOT / "takes" / "calm")]
    if command == "play":
        print(
            "performing a minute of calm breathing; the first time, compiling comes first, about a minute …", flush=True
        )
    return subprocess.run([str(PYTHON), "-m", "risorius", *rest]).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        print(f"setting up failed: {' '.join(error.cmd[:6])} … (exit {error.returncode})", file=sys.stderr)
        sys.exit(1)
