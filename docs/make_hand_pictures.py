"""Draw the pictures of docs/hand.md: `python docs/make_hand_pictures.py [SKIN.glb]` (needs EGL)."""

import sys
import tempfile
from pathlib import Path

from risorius.anatomy.hand.model import build_hand
from risorius.anatomy.hand.motions import motion
from risorius.app.hand import simulate, skinned
from risorius.skin.strands import Lift
from risorius.view.hand_pictures import stills

FOLDER = Path(__file__).resolve().parent / "pictures"


def main() -> None:
    model = build_hand()
    shots = {"fist": "thumb", "pointing": "back", "spread": "back", "thumb-up": "snuffbox", "pronation": "back"}
    for name, view in shots.items():
        record = simulate(model, motion(model.skeleton, name))
        frame = int(1.3 * 60)
        other = "palm" if view == "back" else "back"
        stills(record, [(view, 0), (view, frame), (other, frame)], FOLDER / f"hand-{name}.png", size=(430, 560))
        if len(sys.argv) > 1 and name in ("spread", "thumb-up"):
            for suffix, lift in (("plain", Lift(height=0.0)), ("lifted", Lift())):
                skin = skinned(model, record, sys.argv[1], lift=lift)
                stills(
                    skin,
                    [("back", frame), ("snuffbox", frame)],
                    Path(tempfile.gettempdir()) / f"hand-skin-{name}-{suffix}.png",
                    reach=0.24,
                )


if __name__ == "__main__":
    main()
