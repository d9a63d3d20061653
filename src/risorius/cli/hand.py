"""Give a hand animation its tendons: bones, 54 tendons and muscles, activations and skin.

ANIMATION is a file (bvh, glb, gltf, usd, usda, usdc, xml, or a WebXR pose in js), or one of our own examples:
fist, pointing, spread, thumb-up, pronation, tenodesis, wave.

Writes hand.usdc, hand.glb, hand.xml, signals.csv, report.html, video.mp4, run.json.

examples:
  risorius hand fist -o takes/fist
  risorius hand grasp.bvh -o takes/grasp --start 2 --seconds 5
  risorius hand wave.glb -o takes/wave --side left --mesh myhand.glb --keep original
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("animation", metavar="ANIMATION", help="a file, or fist, pointing, spread, thumb-up, …")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the take; replaced if it is one"
    )
    parser.add_argument("--side", choices=("left", "right"), help="which hand, where the file does not say or has both")
    parser.add_argument("--hand-length", default="male", metavar="L", help="male, female, or metres (default male)")
    parser.add_argument("--map", metavar="FILE.json", help='names of joints: {"joints": {"wrist": "…", "mcp2": "…"}}')
    parser.add_argument("--mesh", metavar="MESH", help="a hand's skin, to be moved by bones and lifted by strands")
    parser.add_argument("--weights", metavar="FILE", help="painted weights of the mesh's vertices, 0 to 1, one a line")
    parser.add_argument("--lift", type=float, nargs=3, metavar=("A", "B", "C"),
                        help="height [-], reach [mm], depth [mm] of the lift (default 1 2.4 6)")  # fmt: skip
    parser.add_argument("--keep", choices=("simulated", "original"), default="simulated",
                        help="the simulated bones (default), or the animation as it was with strands laid on it")  # fmt: skip
    parser.add_argument(
        "--smooth", type=float, default=6.0, metavar="HZ", help="cut-off of the targets (default 6; 0: none)"
    )
    parser.add_argument("--start", type=float, default=0.0, metavar="S", help="begin here in the animation")
    parser.add_argument("--seconds", type=float, metavar="S", help="how much of it")
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--no-video", action="store_true", help="leave video.mp4 out")
    parser.add_argument("--json", action="store_true", help="print run.json")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app.hand import hand
    from risorius.cli.progress import progress_bar
    from risorius.core.errors import InputError

    length: str | float = arguments.hand_length
    if length not in ("male", "female"):
        try:
            length = float(length)
        except ValueError:
            raise InputError(f"expected male, female or metres, got {length!r}", place="--hand-length") from None
    lift = tuple(arguments.lift) if arguments.lift else None
    with progress_bar() as progress:
        folder = hand(
            arguments.animation,
            arguments.output,
            side=arguments.side,
            length=length,
            mapping=arguments.map,
            mesh=arguments.mesh,
            paint=arguments.weights,
            lift=lift,
            keep=arguments.keep,
            smooth=arguments.smooth or None,
            start=arguments.start,
            seconds=arguments.seconds,
            video=not arguments.no_video,
            progress=progress,
        )
    if arguments.json:
        print((folder / "run.json").read_text(), end="")
    else:
        print(f"open {folder / 'report.html'}")
