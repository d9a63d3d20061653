"""Simulate a behaviour and write its take: story.usdc, take.glb, signals.csv, report.html, video.mp4, control.xml, run.json.

behaviours: calm, rest

examples:
  risorius perform calm -o takes/calm
  risorius perform calm -o takes/her --subject female --seconds 30
  risorius perform calm -o takes/tall --subject sex=male,stature=1.95,mass=90,age=45 --posture supine
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("behaviour", metavar="BEHAVIOUR", help="what to do: calm, rest")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the take; replaced if it is one"
    )
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="length of the run (default 60)")
    parser.add_argument(
        "--subject", default="male", metavar="SPEC", help="male, female or sex=…,stature=…,mass=…,age=…"
    )
    parser.add_argument("--posture", choices=("upright", "supine"), default="upright", help="default upright")
    parser.add_argument("--route", choices=("mouth", "nose"), default="mouth", help="default mouth")
    parser.add_argument("--control", metavar="FILE.xml", help="with BEHAVIOUR `control`: the file decides everything")
    parser.add_argument("--dt", type=float, metavar="S", help="step in seconds (default 0.005)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for whatever chance decides (default 0)")
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--json", action="store_true", help="print run.json")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.perform import perform_behaviour
    from risorius.cli.progress import progress_bar

    with progress_bar() as progress:
        folder = perform_behaviour(
            arguments.behaviour,
            arguments.output,
            seconds=arguments.seconds,
            subject=arguments.subject,
            posture=arguments.posture,
            route=arguments.route,
            control_file=arguments.control,
            dt=arguments.dt,
            seed=arguments.seed,
            video=not arguments.no_video,
            progress=progress,
        )
    if arguments.json:
        print((folder / "run.json").read_text(), end="")
    else:
        print(f"open {folder / 'report.html'}")
