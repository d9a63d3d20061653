"""Write a take in the format of another program.

usd: the story; glb: glTF for game engines; abc: Alembic (optional package); bvh: the skeleton; mot: OpenSim motion; trc,
csv: markers on the skin as cameras would see them, in millimetres, at the take's frame rate; `risorius breathe` reads both.

examples:
  risorius export takes/calm --to glb -o calm.glb
  risorius export takes/calm --to usd -o calm.usda
  risorius export takes/calm --to usd -o small.usdc --tolerance 0.1
  risorius export takes/calm --to bvh
  risorius export takes/calm --to trc --noise 1 --seed 3
  risorius export takes/calm --to csv --places own.csv

places: a csv with columns name, height (0 at the hip bones' front spines, 1 at the jugular notch) and angle (degrees from
the front to the right), or name, x_mm, y_mm, z_mm at rest (forward, up, right), moved to the nearest point of the skin.
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE")
    parser.add_argument("--to", required=True, choices=("usd", "glb", "abc", "bvh", "mot", "trc", "csv"),
                        metavar="FORMAT", help="usd, glb, abc, bvh, mot, trc or csv")  # fmt: skip
    parser.add_argument("-o", "--out", metavar="FILE", help="default: export.<ending> in the take's folder")
    parser.add_argument("--places", metavar="FILE", help="where markers sit (default: a layout of 34)")
    parser.add_argument(
        "--noise", type=float, default=0.0, metavar="MM", help="cameras' error of markers, standard deviation"
    )
    parser.add_argument("--tolerance", type=float, default=0.0, metavar="MM",
                        help="for usd: leave out samples of skin and muscles that straight lines miss by less")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the noise (default 0)")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import take

    found = take.export(
        arguments.take,
        arguments.to,
        arguments.out,
        places=arguments.places,
        noise=arguments.noise,
        seed=arguments.seed,
        tolerance=arguments.tolerance,
    )
    print(found)
