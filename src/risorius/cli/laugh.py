"""A torso that laughs the laugh of a sound clip (or coughs, sneezes, breathes it).

CLIP is a sound file (wav, flac, ogg, mp3), or the word `sample` for the project's own laugh. -o DIR gets the take: page,
video with the sound, story, signals. With --analyse the clip is only heard, and DIR gets heard.json, heard.png and
pressure.csv. With --compare every method is tried on one call, and DIR gets searches.png and searches.json. With --live
CLIP is played at its own pace, or heard from a microphone (CLIP left out), and the torso laughs as it comes: a page on this
machine shows it, and at the end the latencies from sound to pose are printed.

methods
  track     one forward pass with a short look-ahead: faster than the sound, and the closest
  search    parallel direct search of seven numbers a call (400 tries), as DiLorenzo did it
  anneal    simulated annealing of the same (1800 tries)
  cma       evolution strategy of the same (400 tries)

examples:
  risorius laugh sample -o takes/laugh
  risorius laugh giggle.wav -o takes/giggle --intensity 1.5 --secondary 2
  risorius laugh noisy.mp3 --analyse --json
  risorius laugh giggle.wav -o takes/searched --method search --workers 4
  risorius laugh giggle.wav -o takes/compared --compare --call 3
  risorius laugh --live
  risorius laugh sample --live --seconds 5
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clip", metavar="CLIP", nargs="?", help="sound file, or `sample`")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the take, replaced if it is one")
    parser.add_argument("--analyse", action="store_true", help="hear only, without a simulation")
    parser.add_argument("--method", choices=("track", "search", "anneal", "cma"), default="track",
                        help="how the sound is followed (default track)")  # fmt: skip
    parser.add_argument(
        "--subject", default="male", metavar="SPEC", help="male, female or sex=…,stature=…,mass=…,age=…"
    )
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--procedural", action="store_true",
                        help="also write comparison.html: the same laugh by rotations and scalings beside it")  # fmt: skip
    parser.add_argument("--intensity", type=float, default=1.0, metavar="X", help="factor on the pressure (default 1)")
    parser.add_argument("--secondary", type=float, default=1.0, metavar="X",
                        help="factor on the motion of spine and shoulders that goes with it, 0 to 5 (default 1)")  # fmt: skip
    parser.add_argument("--kind", choices=("laugh", "cough", "sneeze", "breathing", "speech"),
                        help="take it for this, whatever it sounds like")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="go on where the clip is none of these")
    parser.add_argument("--seed", type=int, default=0, metavar="N",
                        help="of the searches and of the project's own laugh (default 0)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    living = parser.add_argument_group("live")
    living.add_argument("--live", action="store_true", help="as the sound comes")
    living.add_argument(
        "--seconds", type=float, metavar="S", help="how long (default: the clip; a microphone until Ctrl-C)"
    )
    living.add_argument("--port", type=int, default=0, metavar="N", help="of the page (default: any free one)")
    living.add_argument("--no-page", action="store_true", help="without a page")
    searching = parser.add_argument_group("searches")
    searching.add_argument("--compare", action="store_true", help="all methods on one call")
    searching.add_argument("--call", type=int, metavar="N", help="with --compare: which, from 1 (default the loudest)")
    searching.add_argument("--budget", type=int, metavar="N", help="tries a call (default 400; anneal 1800)")
    searching.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
    searching.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler, tcp://host:8786")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.laugh import analyse, laugh
    from risorius.cli.progress import progress_bar
    from risorius.core.errors import InputError

    hearing = {name: getattr(arguments, name) for name in ("intensity", "kind", "force", "seed")}
    searching = {name: getattr(arguments, name) for name in ("budget", "workers", "cluster")}
    moving = {"subject": arguments.subject, "secondary": arguments.secondary}
    if arguments.live:
        tell_live(arguments)
        return
    if arguments.clip is None:
        raise InputError("expected a sound file, `sample`, or --live", place="laugh")
    if arguments.analyse:
        tell_heard(arguments, analyse(arguments.clip, arguments.output, **hearing))
        return
    if not arguments.output:
        raise InputError("expected -o DIR for the take, or --analyse", place="laugh")
    with progress_bar() as progress:
        if arguments.compare:
            from risorius.app.searches import compare

            report = compare(arguments.clip, arguments.output, call=arguments.call, progress=progress,
                             **hearing, **searching, **moving)  # fmt: skip
        else:
            taking = {"method": arguments.method, "video": not arguments.no_video, "procedural": arguments.procedural}
            folder = laugh(arguments.clip, arguments.output, progress=progress,
                           **taking, **hearing, **searching, **moving)  # fmt: skip
    if arguments.compare:
        tell_compared(arguments, report)
    else:
        tell_taken(arguments, folder)


def tell_live(arguments: argparse.Namespace) -> None:
    """Go live, and print how long it took from sound to pose."""
    import json

    from risorius.app.live import MICROPHONE, live
    from risorius.cli.progress import progress_bar
    from risorius.cli.table import show

    def ready(address: str) -> None:
        if address and not arguments.json:
            print(f"open {address}  (Ctrl-C ends)", flush=True)

    with progress_bar() as progress:
        report = live(
            arguments.clip or MICROPHONE, seconds=arguments.seconds, intensity=arguments.intensity,
            subject=arguments.subject, seed=arguments.seed, page=not arguments.no_page, port=arguments.port, ready=ready,
            progress=progress,
        )  # fmt: skip
    print(json.dumps(report)) if arguments.json else show(report)


def tell_heard(arguments: argparse.Namespace, report: dict) -> None:
    """What was heard."""
    import json

    from risorius.cli.table import show

    if arguments.json:
        print(json.dumps(report))
        return
    brief = {key: value for key, value in report.items() if key not in ("traits", "scores", "breath_depths")}
    for name in ("calls", "bouts", "inhalations", "phases"):
        brief[name] = len(report[name])
    show(brief)
    if arguments.output:
        print(f"open {arguments.output}/heard.png")


def tell_compared(arguments: argparse.Namespace, report: dict) -> None:
    """What each method found, and what it cost."""
    import json

    if arguments.json:
        print(json.dumps(report))
        return
    for method, result in report["methods"].items():
        print(f"{method:8} error {result['error']:.3f}, {result['evaluations']:5} tries, {result['seconds']:7.2f} s")
    print(f"open {arguments.output}/searches.png")


def tell_taken(arguments: argparse.Namespace, folder) -> None:
    """Where the page is, and what a search has cost."""
    import json

    run = json.loads((folder / "run.json").read_text())
    if arguments.json:
        print(json.dumps(run))
        return
    if "search" in run:
        cost, errors = run["search"], sorted(run["search"]["costs"])
        print(f"{run['method']}: {len(errors)} calls, {cost['evaluations']} tries, {cost['seconds_a_call']:.1f} s a call, "
              f"median error {errors[len(errors) // 2]:.3f}")  # fmt: skip
    print(f"open {folder / 'report.html'}")
