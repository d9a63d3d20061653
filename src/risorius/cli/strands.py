"""Simulate your own bodies and strands: an XML document in, the same with its motion out.

The document holds bodies, joints, strands, constraints and keyframes (docs: Strands). Where it has targets, activations
are found that follow them; otherwise every strand gets the one given.

examples:
  risorius strands finger.xml -o finger_moved.xml
  risorius strands rope.xml -o rope_hung.xml --seconds 3
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", metavar="DOCUMENT.xml")
    parser.add_argument("-o", "--out", metavar="OUT.xml", required=True)
    parser.add_argument("--seconds", type=float, metavar="S", help="how long (default: until the last key)")
    parser.add_argument("--activation", type=float, default=0.0, metavar="A",
                        help="of every strand where there are no targets, 0 to 1 (default 0)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.strands import simulate_file
    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show

    with progress_bar() as progress:
        figures = simulate_file(arguments.document, arguments.out, seconds=arguments.seconds,
                                activation=arguments.activation,
                                progress=lambda part: progress("strands", part))  # fmt: skip
    print(json.dumps(figures, indent=2)) if arguments.json else show(figures)
