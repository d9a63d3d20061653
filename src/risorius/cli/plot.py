"""Draw the figures of a take, the papers' and a lung laboratory's; several takes are laid over or beside each other.

figures: spirogram flow-volume konno-mead ribs levels section pressures lung-pressure recoil relaxation heights activations
sound, or `all` that the take has something for

examples:
  risorius plot takes/calm --figure spirogram
  risorius plot takes/calm takes/paradox --figure spirogram -o both.png
  risorius plot takes/laugh --figure all -o figures
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("takes", metavar="TAKE", nargs="+")
    parser.add_argument("--figure", required=True, metavar="NAME", help="see above")
    parser.add_argument(
        "-o", "--out", metavar="FILE", help=".png or .svg; with `all` a folder; default: in the first take"
    )


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.plot import plot

    for path in plot(arguments.takes, arguments.figure, arguments.out):
        print(path)
