"""A torso that laughs the laugh of a sound clip (or coughs, sneezes, breathes it).

CLIP is a sound file (wav, flac, ogg, mp3), or the word `sample` for the project's own laugh. -o DIR gets the take: page,
video with the sound, story, signals. With --analyse the clip is only heard, and DIR gets heard.json, heard.png and
pressure.csv.

examples:
  risorius laugh sample -o takes/laugh
  risorius laugh giggle.wav -o takes/giggle --intensity 1.5
  risorius laugh noisy.mp3 --analyse --json
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clip", metavar="CLIP", help="sound file, or `sample`")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the take, replaced if it is one")
    parser.add_argument("--analyse", action="store_true", help="hear only, without a simulation")
    parser.add_argument("--method", choices=("track",), default="track", help="how the sound is followed")
    parser.add_argument(
        "--subject", default="male", metavar="SPEC", help="male, female or sex=…,stature=…,mass=…,age=…"
    )
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--intensity", type=float, default=1.0, metavar="X", help="factor on the pressure (default 1)")
    parser.add_argument("--kind", choices=("laugh", "cough", "sneeze", "breathing", "speech"),
                        help="take it for this, whatever it sounds like")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="go on where the clip is none of these")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the project's own laugh (default 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import json

    from risorius.app.laugh import analyse, laugh
    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show
    from risorius.core.errors import InputError

    if not arguments.analyse:
        if not arguments.output:
            raise InputError("expected -o DIR for the take, or --analyse", place="laugh")
        with progress_bar() as progress:
            folder = laugh(
                arguments.clip,
                arguments.output,
                intensity=arguments.intensity,
                kind=arguments.kind,
                force=arguments.force,
                subject=arguments.subject,
                seed=arguments.seed,
                video=not arguments.no_video,
                progress=progress,
            )
        print(f"open {folder / 'report.html'}")
        return

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
