"""Put a skin of your own on the torso.

`bind` finds which bones and belly points move each point of a mesh (OBJ, OFF, PLY, glTF, USD) and writes an XML file
that may be edited; `apply` moves the mesh as a story says, without a new simulation.

examples:
  risorius skin bind man.obj takes/calm/story.usdc -o man.xml --fit
  risorius skin apply man.obj man.xml takes/calm/story.usdc -o man.usdc
  risorius skin bind torso.obj takes/calm/story.usdc -o torso.xml --method nearest4
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="bind|apply")
    bind = actions.add_parser("bind", help="find the weights of a mesh at the story's rest pose", allow_abbrev=False)
    bind.add_argument("mesh", metavar="MESH")
    bind.add_argument("story", metavar="STORY", help="story.usdc of a take")
    bind.add_argument("-o", "--out", metavar="BINDING.xml", required=True)
    bind.add_argument("--method", choices=("smooth", "nearest4"), default="smooth",
                      help="smooth (default), or the four nearest bones or points with equal weights")  # fmt: skip
    bind.add_argument(
        "--fit", action="store_true", help="scale, turn and move a standing person onto the subject first"
    )
    bind.add_argument("--json", action="store_true", help="print one JSON object")
    apply = actions.add_parser("apply", help="move a bound mesh as a story says", allow_abbrev=False)
    apply.add_argument("mesh", metavar="MESH")
    apply.add_argument("binding", metavar="BINDING.xml")
    apply.add_argument("story", metavar="STORY")
    apply.add_argument("-o", "--out", metavar="OUT", required=True, help=".usdc, .glb (animated) or .obj (last frame)")
    apply.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import skin

    if arguments.action == "bind":
        report = skin.bind(arguments.mesh, arguments.story, arguments.out, method=arguments.method, fit=arguments.fit)
    else:
        report = skin.apply(arguments.mesh, arguments.binding, arguments.story, arguments.out)
    if arguments.json:
        import json

        print(json.dumps(report))
    else:
        for key, value in report.items():
            print(f"{key}: {value}")
