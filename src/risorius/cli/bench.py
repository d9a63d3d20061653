"""Measure how fast this machine runs it.

parts: torso, behaviours, hand, skin, all

examples:
  risorius bench torso
  risorius bench all --json
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="?", default="all", metavar="PART", help="what to measure (default all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.bench import bench
    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show

    with progress_bar() as progress:
        figures = bench(arguments.part, progress)
    print(json.dumps(figures, indent=2)) if arguments.json else show(figures)
