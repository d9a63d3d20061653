"""Write a take in the format of another program.

usd: the story; glb: glTF for game engines; abc: Alembic (optional package); bvh: the skeleton; mot: OpenSim motion.

examples:
  risorius export takes/calm --to glb -o calm.glb
  risorius export takes/calm --to usd -o calm.usda
  risorius export takes/calm --to bvh
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE")
    parser.add_argument("--to", required=True, choices=("usd", "glb", "abc", "bvh", "mot"), metavar="FORMAT",
                        help="usd, glb, abc, bvh or mot")  # fmt: skip
    parser.add_argument("-o", "--out", metavar="FILE", help="default: export.<ending> in the take's folder")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import take

    print(take.export(arguments.take, arguments.to, arguments.out))
