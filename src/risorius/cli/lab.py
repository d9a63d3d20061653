"""The laboratory.

`muscle` pulls a particle by a spring and by Hill muscles, two experiments: rest to full activation and back, and quick
release; it writes tables, force-time plots and film strips. `styles` runs behaviours and prints what they measure.

examples:
  risorius lab muscle -o lab
  risorius lab styles calm deep cough --json
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="muscle|styles")
    muscle = actions.add_parser("muscle", help="spring against Hill: two experiments", allow_abbrev=False)
    muscle.add_argument("-o", "--output", required=True, metavar="DIR")
    styles = actions.add_parser("styles", help="run behaviours and measure them", allow_abbrev=False)
    styles.add_argument("names", nargs="*", metavar="BEHAVIOUR", help="default: all")
    styles.add_argument("--subject", default="male", metavar="SPEC")
    styles.add_argument("--posture", choices=("upright", "supine"), default="upright")
    for action in (muscle, styles):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show

    with progress_bar() as progress:
        if arguments.action == "muscle":
            from risorius.app.muscle_lab import muscle_laboratory

            figures: dict[str, object] = muscle_laboratory(arguments.output, progress)
        else:
            from risorius.app.styles import measured_styles
            from risorius.core.spec import Spec

            spec = Spec.parse(arguments.subject)
            figures = dict(measured_styles(arguments.names, spec, arguments.posture, progress))
    print(json.dumps(figures, indent=2)) if arguments.json else show(figures)
