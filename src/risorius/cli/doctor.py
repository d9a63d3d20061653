"""Say what this machine has and lacks, and what a subject is made of.

examples:
  risorius doctor
  risorius doctor --subject sex=female,stature=1.65,mass=60,age=30
  risorius doctor --subject male --json
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subject", metavar="SPEC", help="count the muscle elements and bodies of this subject")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.doctor import report
    from risorius.cli.table import show

    found = report(arguments.subject)
    print(json.dumps(found, indent=2)) if arguments.json else show(found)
