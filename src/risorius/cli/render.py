"""Draw a take as a video: skeleton, cavity and skin side by side, with the sound where there is one.

examples:
  risorius render takes/calm -o calm.mp4
  risorius render takes/calm -o calm.mp4 --seconds 10
"""

from __future__ import annotations

import argparse
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE")
    parser.add_argument("-o", "--out", metavar="VIDEO.mp4", required=True)
    parser.add_argument("--seconds", type=float, help="draw no more than this; default: all of the take")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import take
    from risorius.core.errors import InputError

    if not arguments.out.lower().endswith(".mp4"):
        raise InputError("expected a name ending in .mp4", file=arguments.out)
    if arguments.seconds is not None and not 0 < arguments.seconds < 1e6:
        raise InputError(f"expected a positive number of seconds, got {arguments.seconds}", place="--seconds")

    def tell(name: str, part: float) -> None:
        if sys.stderr.isatty():
            print(f"\r{name} {100 * part:3.0f} %", end="" if part < 1 else "\n", file=sys.stderr, flush=True)

    report = take.render(arguments.take, arguments.out, seconds=arguments.seconds, progress=tell)
    if arguments.json:
        import json

        print(json.dumps(report))
    else:
        drawn = f"{report['frames']} frames, {report['seconds']:.1f} s, {report['ms_per_frame']} ms a frame"
        print(f"{report['out']}: {drawn}")
