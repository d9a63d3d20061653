"""Draw the pictures of docs/muscles.md: `python docs/make_muscle_pictures.py DATA [FOLDER]`; DATA holds `skins/`."""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from risorius.app.bench.studio_page import FLAGS, browser_program
from risorius.app.muscle import face, studio
from risorius.io.mesh import read_mesh
from risorius.skin.muscle.face import face_rig
from risorius.skin.muscle.play import frames
from risorius.skin.muscle.report import triangles
from risorius.skin.muscle.rig import Key, Keys, played
from risorius.skin.muscle.shape import patchwork
from risorius.skin.muscle.surface import Surface
from risorius.view.stills import Studio

SKIN, WHITE, DARK, FLESH = (0.80, 0.62, 0.55), (0.95, 0.95, 0.92), (0.15, 0.1, 0.08), (0.70, 0.21, 0.19)
MARKED = {
    "nose_tip": [0, 0.1, 13.09], "lips": [0, -3.32, 11.2], "chin": [0, -6.4, 11.05],
    "eye_inner_l": [2.1, 3.35, 9.15], "eye_outer_l": [4.5, 3.45, 8.65], "mouth_l": [2.45, -3.5, 10.2],
    "brow_l": [3.2, 5.7, 10.0],
}  # fmt: skip
POSES = {
    "rest": {}, "smile": {"smile": 1.0}, "frown": {"frown": 1.0}, "purse": {"purse": 1.0},
    "eyes-closed": {"eyes_closed": 1.0},
}  # fmt: skip


def features():
    points = {name: np.array(place, dtype=float) for name, place in MARKED.items()}
    return points | {name[:-1] + "r": place * [-1, 1, 1] for name, place in points.items() if name.endswith("_l")}


def taken(studio):
    """What the stage shows, as an array."""
    with tempfile.TemporaryDirectory() as folder:
        studio.stage.screenshot(f"{folder}/now.png")
        return np.asarray(Image.open(f"{folder}/now.png").convert("RGB"))


def main(data, folder):
    mesh = read_mesh(data / "skins" / "face" / "generic_neutral_mesh.obj")
    surface = Surface(mesh)
    rig = face_rig(surface, features())
    names = sorted(muscle.name for muscle in rig.muscles)
    faces, _ = mesh.triangles()
    head = surface.piece[faces[:, 0]] == surface.piece[surface.faces[surface.on(features()["chin"][None])[3][0], 0]]
    colours = np.where(head[:, None], SKIN, WHITE)
    colours[faces[:, 0] >= 24591] = SKIN  # rims of the lids
    colours[faces[:, 0] >= 25047] = WHITE  # films on the eyes
    colours[faces[:, 0] >= 25351] = DARK
    studio = Studio(760, 900)
    pictures = []
    for controls in POSES.values():
        keys = Keys(1.0, (Key(0.0, {("control", key): value for key, value in controls.items()}),))
        points = frames(mesh.vertices, rig, played(rig, names, np.zeros(1), keys))[0]
        studio.clear()
        shown = studio.stage.register_surface_mesh("head", points, faces, smooth_shade=True, material="clay")
        shown.add_color_quantity("colour", colours, defined_on="faces", enabled=True)
        studio.stage.look_at((5.0, 3.0, 36.0), (0.0, 0.3, 5.0))
        pictures.append(taken(studio))
    studio.clear()
    studio.mesh("head", mesh.vertices, faces[head], SKIN, 0.25)
    for muscle in rig.muscles:
        _, _, sheet = patchwork(muscle).samples(4)
        studio.mesh(muscle.name, sheet.reshape(-1, 3), triangles(sheet), FLESH)
    studio.stage.look_at((5.0, 3.0, 36.0), (0.0, 0.3, 5.0))
    pictures.insert(0, taken(studio))
    rows = [np.concatenate(pictures[:3], axis=1), np.concatenate(pictures[3:], axis=1)]
    Image.fromarray(np.concatenate(rows)).reduce(2).save(folder / "muscles-face.png", optimize=True)


def studio_page(data, folder):
    """The studio with the face's muscles, half a smile on it."""
    head = data / "skins" / "face" / "generic_neutral_mesh.obj"
    with tempfile.TemporaryDirectory() as work, sync_playwright() as play:
        points = {name: place.tolist() for name, place in features().items()}
        (Path(work) / "features.json").write_text(json.dumps({"version": 1, "points": points}))
        face(head, Path(work) / "features.json", Path(work) / "muscles.json")
        page = studio(head, Path(work) / "muscles.json", wait=False)
        browser = play.chromium.launch(executable_path=browser_program(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1180, "height": 780})
        tab.goto(page.url)
        tab.wait_for_function("window.studio && !studio.asking.busy", polling=100)
        tab.evaluate(
            "studio.asking.ask({ do: 'control', name: 'smile', value: 0.7 }); studio.asking.ask({ do: 'state' })"
        )
        tab.evaluate("studio.scene.distance *= 0.62; studio.scene.target.set(0, 1, 5); studio.scene.ask()")
        tab.wait_for_timeout(4000)
        tab.screenshot(path=folder / "muscles-studio.png")
        browser.close()
        page.server.stop()


if __name__ == "__main__":
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent / "pictures"
    main(Path(sys.argv[1]), target)
    studio_page(Path(sys.argv[1]), target)
