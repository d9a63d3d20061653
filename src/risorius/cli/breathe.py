"""Read recorded breathing: markers on a trunk (c3d, trc, csv), or a belt's or spirometer's curve (npy, csv).

Finds breaths, takes sway out, averages a breath, tells front from back. With -o DIR the folder gets breath.json,
breath.png and cycle.csv, the average breath.

examples:
  risorius breathe subject.c3d --analyse -o out
  risorius breathe chest.csv --rate 100 --map names.map --analyse --json
  risorius breathe belt.npy --rate 1000 --analyse
  risorius breathe spirometer.csv --quantity flow --column flow_lps --analyse
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="markers (c3d, trc, csv) or a curve (npy, csv)")
    parser.add_argument("--analyse", action="store_true", required=True, help="read only, without a simulation")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for what was found")
    parser.add_argument("--rate", type=float, metavar="HZ", help="frames or samples a second, where the file is silent")
    parser.add_argument("--unit", choices=("m", "cm", "mm"), help="of the positions, where the file is silent")
    parser.add_argument("--map", metavar="FILE", help="mapping of marker names: lines NAME = landmark")
    parser.add_argument("--quantity", choices=("belt", "volume", "flow"), help="what a curve measures (default belt)")
    parser.add_argument("--column", metavar="NAME", help="column of a curve's csv")
    parser.add_argument("--invert", action="store_true", help="the curve is low when the lungs are full")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.breathe import analyse
    from risorius.cli.table import show

    report = analyse(
        arguments.file,
        arguments.output,
        mapping=arguments.map,
        rate=arguments.rate,
        unit=arguments.unit,
        quantity=arguments.quantity,
        column=arguments.column,
        invert=arguments.invert,
    )
    if arguments.json:
        print(json.dumps(report))
        return
    show({key: value for key, value in report.items() if not key.startswith(("starts", "depths"))})
    if arguments.output:
        print(f"open {arguments.output}/breath.png")
