"""Many runs over a range. `breath-space`: tidal volume over contraction and period, as a coloured map.

A sweep that was broken off goes on where it stopped when it is started again with the same folder.

examples:
  risorius sweep breath-space -o space
  risorius sweep breath-space -o space --columns 10 --rows 8 --seconds 12
  risorius sweep breath-space -o space --cluster tcp://host:8786
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("space", choices=("breath-space",), metavar="breath-space")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--subject", default="male", metavar="SPEC")
    parser.add_argument("--columns", type=int, default=20, metavar="N", help="contractions (default 20)")
    parser.add_argument("--rows", type=int, default=16, metavar="N", help="periods (default 16)")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="length of a run (default 30)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler, instead of this machine's cores")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.breath_space import breath_space
    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show

    with progress_bar() as progress:
        figures = breath_space(
            arguments.output,
            subject=arguments.subject,
            columns=arguments.columns,
            rows=arguments.rows,
            seconds=arguments.seconds,
            workers=arguments.workers,
            cluster=arguments.cluster,
            progress=progress,
        )
    print(json.dumps(figures)) if arguments.json else show(figures)
