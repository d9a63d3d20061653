"""Measure the truth table: 25 bars that a credible breather meets, from quiet breathing to coughs, on one subject.

examples:
  risorius validate
  risorius validate --subject female -o truth.html
  risorius validate --json
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--subject", default="male", metavar="SPEC", help="male, female or sex=…,stature=…,mass=…,age=…"
    )
    parser.add_argument("-o", "--output", metavar="FILE.html", help="write the table as a page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.validate import as_json, validate, write_page
    from risorius.cli.progress import progress_bar
    from risorius.core.spec import Spec

    spec = Spec.parse(arguments.subject)
    with progress_bar() as progress:
        report = validate(spec, progress)
    if arguments.output:
        write_page(arguments.output, report)
    if arguments.json:
        print(as_json(report))
        return
    for row in report["bars"]:
        print(f"{row['bar']:>3} {'holds' if row['pass'] else 'FAILS'}  {row['name']}")
        for name, value in row["measured"].items():
            low, high = row["range"][name]
            mark = " " if value is not None and low <= value <= high else "✗"
            print(f"      {mark} {name:<32} {'nothing' if value is None else f'{value:.3g}':>8}   {low:g} … {high:g}")
    print(f"{report['passed']} of {report['of']} bars hold for {report['subject']}")
