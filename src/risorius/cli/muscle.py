"""Put muscles under any skin.

`grow` makes muscles from curves drawn on a mesh (OBJ, OFF, PLY, glTF, USD); `face` lays a whole face from a few feature
points, `limbs` muscles along a skeleton; `deform` plays keys or an animation and writes the moving skin; `bake` writes
it as a few morph targets; `studio` opens a page to draw, try and save in. Points keep their number and order.

examples:
  risorius muscle studio head.obj -o muscles.json
  risorius muscle grow head.obj curves.json -o muscles.json
  risorius muscle face head.obj features.json -o muscles.json
  risorius muscle deform head.obj muscles.json keys.json -o head.glb
  risorius muscle limbs man.glb -o muscles.json
  risorius muscle deform man.glb muscles.json --animation man.glb -o man.usdc
  risorius muscle bake head.obj muscles.json keys.json -o head.usdc --error-mm 0.5 --unit-mm 10
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="grow|face|limbs|deform|bake|studio")
    grow = actions.add_parser("grow", help="grow muscles from curves on a mesh", allow_abbrev=False)
    grow.add_argument("mesh", metavar="MESH")
    grow.add_argument("curves", metavar="CURVES.json")
    grow.add_argument("-o", "--out", metavar="MUSCLES.json", required=True)
    deform = actions.add_parser("deform", help="play keys on a mesh's muscles", allow_abbrev=False)
    deform.add_argument("mesh", metavar="MESH")
    deform.add_argument("muscles", metavar="MUSCLES.json")
    deform.add_argument(
        "keys", metavar="KEYS.json", nargs="?", help="may be left out where an animation drives the rig"
    )
    deform.add_argument("--animation", metavar="FILE", help="glTF or USD animation whose joints the rig's drivers read")
    deform.add_argument("-o", "--out", metavar="OUT", required=True, help=".usdc, .glb (animated) or .obj (last frame)")
    face = actions.add_parser("face", help="lay a face of muscles from feature points", allow_abbrev=False)
    face.add_argument("mesh", metavar="MESH")
    face.add_argument("features", metavar="FEATURES.json")
    face.add_argument("-o", "--out", metavar="MUSCLES.json", required=True)
    limbs = actions.add_parser("limbs", help="lay muscles along the bones of a skinned glTF", allow_abbrev=False)
    limbs.add_argument("mesh", metavar="MESH.glb")
    limbs.add_argument("-o", "--out", metavar="MUSCLES.json", required=True)
    limbs.add_argument("--forward", default="z", help="the axis that the figure looks along (default z)")
    bake = actions.add_parser("bake", help="write keys as a few morph targets", allow_abbrev=False)
    bake.add_argument("mesh", metavar="MESH")
    bake.add_argument("muscles", metavar="MUSCLES.json")
    bake.add_argument("keys", metavar="KEYS.json")
    bake.add_argument("-o", "--out", metavar="OUT", required=True, help=".glb, .usdc or .usda")
    bake.add_argument("--error-mm", type=float, default=0.5, help="what no point may be missed by (default 0.5)")
    bake.add_argument("--unit-mm", type=float, help="millimetres in one unit of the mesh, where its file does not say")
    studio = actions.add_parser("studio", help="draw, try and save muscles in a page", allow_abbrev=False)
    studio.add_argument("mesh", metavar="MESH")
    studio.add_argument(
        "-o", "--out", metavar="MUSCLES.json", help="where Save writes (default MESH.muscles.json here)"
    )
    studio.add_argument(
        "--port", type=int, default=0, help="port on this machine's own address (default: any free one)"
    )
    for action in (grow, face, limbs, deform, bake):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import muscle
    from risorius.cli.table import show

    if arguments.action == "studio":
        muscle.studio(arguments.mesh, arguments.out, arguments.port)
        return
    from risorius.cli.progress import progress_bar

    given = arguments
    with progress_bar() as progress:
        if given.action == "grow":
            figures = muscle.grow(given.mesh, given.curves, given.out, progress)
        elif given.action == "face":
            figures = muscle.face(given.mesh, given.features, given.out, progress)
        elif given.action == "limbs":
            figures = muscle.limbs(given.mesh, given.out, given.forward)
        elif given.action == "deform":
            figures = muscle.deform(
                given.mesh, given.muscles, given.keys, given.out, given.animation, progress=progress
            )
        else:
            figures = muscle.bake(given.mesh, given.muscles, given.keys, given.out, error_mm=given.error_mm,
                                  millimetres=given.unit_mm, progress=progress)  # fmt: skip
    if arguments.json:
        import json

        print(json.dumps(figures))
    else:
        show(figures)
