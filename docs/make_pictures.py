"""Draw the pictures of the documentation: `python docs/make_pictures.py [FOLDER]`."""

import sys
from pathlib import Path

from risorius.anatomy import build_torso
from risorius.app.laugh import clip_of
from risorius.app.perform import simulate
from risorius.control.behaviours import behaviour
from risorius.core.spec import Spec
from risorius.inverse.sound.hear import hear
from risorius.io.story import skin_motion
from risorius.view.hearing import draw_hearing
from risorius.view.stills import draw_breath, stills

SUBJECTS = {
    "man": "male",
    "woman": "female",
    "heavy-man": "sex=male,mass=105,age=55",
    "light-woman": "sex=female,stature=1.7,mass=52,age=25",
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    torsos = {name: build_torso(Spec.parse(text)) for name, text in SUBJECTS.items()}
    for path in stills(torsos, folder):
        print(path)
    torso, record, _ = simulate(behaviour("calm", 20.0), Spec())
    print(draw_breath(torso, record, skin_motion(torso, record), folder / "breath.png"))
    laugh = clip_of("sample")
    draw_hearing(folder / "heard.png", laugh, hear(laugh))
    print(folder / "heard.png")
