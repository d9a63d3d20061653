"""Fit a recorded breath and make the torso breathe it: markers on a trunk (c3d, trc, csv), or a belt's or spirometer's
curve (npy, csv).

Breaths are found and averaged, sway is taken out, the subject is scaled to the markers, virtual markers are put on its skin
and the muscles' drives fitted; DIR gets a take. With --analyse nothing is simulated: DIR gets breath.json, breath.png and
cycle.csv, the average breath.

examples:
  risorius breathe subject.c3d -o takes/subject
  risorius breathe chest.csv --rate 100 --map names.map -o takes/chest --subject female --json
  risorius breathe belt.npy --rate 1000 -o takes/belt
  risorius breathe spirometer.csv --quantity flow --column flow_lps -o takes/spirometer
  risorius breathe subject.c3d --retrain abdominal --steps 5 -o lessons     open lessons/index.html
  risorius breathe subject.c3d --analyse -o out
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="markers (c3d, trc, csv) or a curve (npy, csv)")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the take; with --analyse of what was found")
    parser.add_argument("--analyse", action="store_true", help="read only, without a simulation")
    parser.add_argument("--subject", metavar="SPEC", help="male, female or sex=…,stature=…,mass=…,age=… (default: a man, "
                        "scaled to the markers)")  # fmt: skip
    parser.add_argument("--posture", choices=("upright", "supine"), default="upright", help="default upright")
    parser.add_argument("--rate", type=float, metavar="HZ", help="frames or samples a second, where the file is silent")
    parser.add_argument("--unit", choices=("m", "cm", "mm"), help="of the positions, where the file is silent")
    parser.add_argument("--map", metavar="FILE", help="mapping of marker names: lines NAME = landmark")
    parser.add_argument("--quantity", choices=("belt", "volume", "flow"), help="what a curve measures (default belt)")
    parser.add_argument("--column", metavar="NAME", help="column of a curve's csv")
    parser.add_argument("--invert", action="store_true", help="the curve is low when the lungs are full")
    parser.add_argument(
        "--tidal", type=float, metavar="L", help="litres of the average breath, where a curve has no unit"
    )
    parser.add_argument("--breaths", type=int, default=3, metavar="N", help="breaths of the take (default 3)")
    parser.add_argument("--retrain", metavar="STYLE", help="lead the breath to a style of `perform` (calm, abdominal …): a "
                        "series of takes and a page to go through them")  # fmt: skip
    parser.add_argument("--steps", type=int, default=4, metavar="N", help="of a retraining (default 4)")
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show
    from risorius.core.errors import InputError

    if not arguments.analyse and not arguments.output:
        raise InputError("expected -o DIR for the take, or --analyse", place="-o")
    reading = {"mapping": arguments.map, "rate": arguments.rate, "unit": arguments.unit, "quantity": arguments.quantity,
               "column": arguments.column, "invert": arguments.invert}  # fmt: skip
    if arguments.analyse:
        from risorius.app.breathe import analyse

        report = analyse(arguments.file, arguments.output, **reading)
        page = "breath.png"
    else:
        from risorius.app.breathe_fit import breathe
        from risorius.app.retrain import retrain

        more = {**reading, "subject": arguments.subject, "posture": arguments.posture, "tidal": arguments.tidal,
                "breaths": arguments.breaths}  # fmt: skip
        with progress_bar() as progress:
            if arguments.retrain:
                report = retrain(arguments.file, arguments.output, arguments.retrain, steps=arguments.steps,
                                 progress=progress, **more)  # fmt: skip
            else:
                report = breathe(
                    arguments.file, arguments.output, video=not arguments.no_video, progress=progress, **more
                )
        page = "index.html" if arguments.retrain else "report.html"
    if arguments.json:
        print(json.dumps(report))
        return
    show({key: value for key, value in report.items() if not key.startswith(("starts", "depths"))})
    if arguments.output:
        print(f"open {arguments.output}/{page}")
