"""The `risorius` command: one module of this room per command, imported only when it is asked for.

A command module holds `SUMMARY` (one line), `configure(parser)` and `run(arguments) -> int | None`.
Exit codes: 0 done; 2 bad usage or bad input (one line on stderr); 1 anything else; 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import sys
from typing import NoReturn

from risorius import __version__
from risorius.core.errors import InputError, OutputError

# name -> one line for the overview; the module risorius.cli.<name> holds the rest
COMMANDS = {
    "perform": "simulate a behaviour: breathing, laughing, coughing, lung manoeuvres, a control file",
    "plot": "draw the figures of a take: spirogram, flow-volume loop, ribs, pressures …",
    "lab": "the laboratory: muscles pulled and released; every style measured",
    "sweep": "many runs over a range: the breath space",
    "breathe": "read recorded breathing: markers, a belt, a spirometer",
    "laugh": "hear a sound clip: calls, bouts, the pressure behind them",
    "muscle": "put muscles under any skin: grow, play, bake, draw in a page",
    "hand": "give a hand animation its tendons, activations and skin",
    "skin": "put a skin of your own on the torso: bind it, make it breathe",
    "strands": "simulate your own bodies and strands (tendons, ropes, muscles)",
    "export": "write a take as USD, glTF, Alembic, BVH or OpenSim motion",
    "render": "draw a take as a video",
    "view": "open the page of a take",
    "validate": "how true it is: 25 bars of physiology",
    "bench": "how fast this machine runs it",
    "doctor": "what this machine has and lacks; what a subject is made of",
}

EPILOG = """examples:
  risorius perform calm -o takes/calm            a minute of calm breathing; open takes/calm/report.html
  risorius perform calm --subject female -o out  the same for the reference woman
  risorius COMMAND --help                        what a command takes, with examples
"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help tells what it takes)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    overview = Parser(
        prog="risorius",
        description="Anatomy that moves characters.",
        epilog="commands:\n" + "".join(f"  {name:<10} {text}\n" for name, text in COMMANDS.items()) + "\n" + EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    overview.add_argument("--version", action="version", version=f"risorius {__version__}")
    overview.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="what to do")
    overview.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="its arguments")
    if not words:
        overview.print_help()
        return 0
    name = overview.parse_args(words[:1]).command
    try:
        module = importlib.import_module(f"risorius.cli.{name}")
        parser = Parser(
            prog=f"risorius {name}",
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.configure(parser)
        return module.run(parser.parse_args(words[1:])) or 0
    except InputError as error:
        print(f"risorius {name}: {error}", file=sys.stderr)
        return 2
    except (OutputError, FloatingPointError) as error:
        print(f"risorius {name}: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # a disk that fills up while compiled kernels are kept, say
        if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        place = f"{error.filename}: " if error.filename else ""
        print(
            f"risorius {name}: {place}{error.strerror}: make room (compiled kernels go to RISORIUS_CACHE)",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print(f"risorius {name}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
