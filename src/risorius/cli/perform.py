"""Simulate a behaviour and write its take: story.usdc, take.glb, signals.csv, report.html, video.mp4, control.xml, run.json.

behaviours
  breathing    calm casual deep pant abdominal chest combined paradox, and rest: relaxed, not breathing
  laughing     giggle laugh belly-laugh
  outbursts    cough sneeze forced-exhale sigh yawn gasp sob hiccup sniff blow whistle speak burp
  pressure     whatever makes the lung pressure of a curve: --curve FILE.csv with columns time_s, pressure_cmH2O
  manoeuvres   vital-capacity forced-expiration max-effort diaphragm-only relaxed-curve

examples:
  risorius perform calm -o takes/calm
  risorius perform calm -o takes/her --subject female --seconds 30
  risorius perform belly-laugh -o takes/laugh --bouts 2 --calls 12 --seconds 10
  risorius perform calm -o takes/own --rate 10 --depth 1.5 --mix 0.8 --irregularity 1 --seed 7
  risorius perform control --control own.xml -o takes/own
  risorius perform calm --seconds 20 --over laugh --at 8 -o takes/both          a laugh on top of a breath
  risorius perform calm --seconds 30 --into deep --between 10 15 -o takes/deeper
  risorius perform calm -o takes/tall --subject sex=male,stature=1.95,mass=90,age=45 --posture supine
  risorius perform laugh -o takes/old --subject papers
"""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("behaviour", metavar="BEHAVIOUR", help="what to do, see above")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the take; replaced if it is one"
    )
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="length of the run (default: a minute of breathing, else the act's own length)")  # fmt: skip
    parser.add_argument(
        "--subject",
        default="male",
        metavar="SPEC",
        help="male, female or sex=…,stature=…,mass=…,age=…; variants of the model: papers, hinges, ribs=ball, lungs=boyle …",
    )
    parser.add_argument("--posture", choices=("upright", "supine"), default="upright", help="default upright")
    parser.add_argument("--route", choices=("mouth", "nose"), default="mouth", help="default mouth")
    parser.add_argument("--control", metavar="FILE.xml", help="with BEHAVIOUR `control`: the file decides everything")
    parser.add_argument("--over", metavar="WHAT", help="a behaviour or FILE.xml on top of it")
    parser.add_argument("--at", type=float, default=0.0, metavar="S", help="when that begins (default 0)")
    parser.add_argument("--into", metavar="WHAT", help="a behaviour or FILE.xml that it is blended into")
    parser.add_argument("--between", type=float, nargs=2, metavar=("FROM", "TO"), help="seconds in which it is blended")
    parser.add_argument("--curve", metavar="FILE.csv", help="with BEHAVIOUR `pressure`: the curve to follow")
    parser.add_argument("--glottis", type=float, metavar="X", help="with `pressure`: its opening 0…1 throughout")
    parser.add_argument("--dt", type=float, metavar="S", help="step in seconds (default 0.005)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for whatever chance decides (default 0)")
    knobs = parser.add_argument_group("knobs of a behaviour")
    knobs.add_argument("--rate", type=float, metavar="N", help="breaths, coughs … a minute; of a laugh calls a second")
    knobs.add_argument("--depth", type=float, metavar="X", help="factor on what breathes in (default 1)")
    knobs.add_argument("--mix", type=float, metavar="X", help="0 chest alone … 0.5 the style's own … 1 belly alone")
    knobs.add_argument(
        "--calls", type=int, metavar="N", help="calls in a bout of laughter; times that a score is played"
    )
    knobs.add_argument("--bouts", type=int, metavar="N", help="bouts of laughter (default: as many as fit)")
    knobs.add_argument("--effort", type=float, metavar="X", help="factor on everything (default 1)")
    knobs.add_argument("--irregularity", type=float, metavar="X",
                       help="0 (default) every breath alike … 1 as people vary, by --seed")  # fmt: skip
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--json", action="store_true", help="print run.json")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.follow import perform_pressure
    from risorius.app.perform import perform_behaviour
    from risorius.cli.progress import progress_bar
    from risorius.core.errors import InputError

    named = ("rate", "depth", "mix", "calls", "bouts", "effort", "irregularity")
    knobs = {name: getattr(arguments, name) for name in named if getattr(arguments, name) is not None}
    if (arguments.behaviour == "pressure") != (arguments.curve is not None):
        raise InputError("expected `perform pressure --curve FILE.csv`", place="behaviour")
    if arguments.glottis is not None and arguments.curve is None:
        raise InputError("expected --glottis beside `perform pressure` alone", place="glottis")
    if knobs and arguments.behaviour in ("control", "pressure"):
        decides = "the file" if arguments.behaviour == "control" else "the curve"
        raise InputError(f"expected no knobs: {decides} decides everything", place=next(iter(knobs)))
    with progress_bar() as progress:
        if arguments.curve is not None:
            folder = perform_pressure(
                arguments.curve,
                arguments.output,
                subject=arguments.subject,
                posture=arguments.posture,
                route=arguments.route,
                glottis=arguments.glottis,
                video=not arguments.no_video,
                progress=progress,
            )
            tell(arguments, folder)
            return
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
            knobs=knobs,
            over=arguments.over,
            at=arguments.at,
            into=arguments.into,
            between=tuple(arguments.between) if arguments.between else None,
            video=not arguments.no_video,
            progress=progress,
        )
    tell(arguments, folder)


def tell(arguments: argparse.Namespace, folder: Path) -> None:
    """Where the take is, or its run.json."""
    if arguments.json:
        print((folder / "run.json").read_text(), end="")
    else:
        print(f"open {folder / 'report.html'}")
