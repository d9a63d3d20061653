"""Put muscles under any skin.

`grow` makes muscles from curves drawn on a mesh (OBJ, OFF, PLY, glTF, USD); `deform` plays keys on them and writes the
moving skin. Points keep their number and order.

examples:
  risorius muscle grow head.obj curves.json -o muscles.json
  risorius muscle deform head.obj muscles.json keys.json -o head.glb
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="grow|deform")
    grow = actions.add_parser("grow", help="grow muscles from curves on a mesh", allow_abbrev=False)
    grow.add_argument("mesh", metavar="MESH")
    grow.add_argument("curves", metavar="CURVES.json")
    grow.add_argument("-o", "--out", metavar="MUSCLES.json", required=True)
    deform = actions.add_parser("deform", help="play keys on a mesh's muscles", allow_abbrev=False)
    deform.add_argument("mesh", metavar="MESH")
    deform.add_argument("muscles", metavar="MUSCLES.json")
    deform.add_argument("keys", metavar="KEYS.json")
    deform.add_argument("-o", "--out", metavar="OUT", required=True, help=".usdc, .glb (animated) or .obj (last frame)")
    for action in (grow, deform):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import muscle
    from risorius.cli.table import show

    if arguments.action == "grow":
        figures = muscle.grow(arguments.mesh, arguments.curves, arguments.out)
    else:
        figures = muscle.deform(arguments.mesh, arguments.muscles, arguments.keys, arguments.out)
    if arguments.json:
        import json

        print(json.dumps(figures))
    else:
        show(figures)
