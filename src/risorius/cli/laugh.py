"""Hear a sound clip: what it is, its calls and bouts, and the lung pressure that a body is to follow.

CLIP is a sound file (wav, flac, ogg, mp3), or the word `sample` for the project's own laugh. With -o DIR the folder gets
heard.json, heard.png and pressure.csv.

examples:
  risorius laugh sample --analyse -o heard
  risorius laugh giggle.wav --analyse --json
  risorius laugh noisy.mp3 --analyse --kind laugh --intensity 1.5 -o heard
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clip", metavar="CLIP", help="sound file, or `sample`")
    parser.add_argument("--analyse", action="store_true", required=True, help="hear only, without a simulation")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for what was heard")
    parser.add_argument("--intensity", type=float, default=1.0, metavar="X", help="factor on the pressure (default 1)")
    parser.add_argument("--kind", choices=("laugh", "cough", "sneeze", "breathing", "speech"),
                        help="take it for this, whatever it sounds like")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="go on where the clip is none of these")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the project's own laugh (default 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.laugh import analyse
    from risorius.cli.table import show

    report = analyse(
        arguments.clip,
        arguments.output,
        intensity=arguments.intensity,
        kind=arguments.kind,
        force=arguments.force,
        seed=arguments.seed,
    )
    if arguments.json:
        print(json.dumps(report))
        return
    brief = {key: value for key, value in report.items() if key not in ("traits", "scores", "breath_depths")}
    for name in ("calls", "bouts", "inhalations", "phases"):
        brief[name] = len(report[name])
    show(brief)
    if arguments.output:
        print(f"open {arguments.output}/heard.png")
