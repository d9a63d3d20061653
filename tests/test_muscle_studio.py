"""The studio: its workings by themselves, and its page in a real browser."""

import json
import re

import numpy as np
import pytest

from risorius.app.bench.studio_page import FLAGS, browser_program
from risorius.app.muscle import grown, studio
from risorius.app.muscle_studio import Studio
from risorius.core.errors import InputError
from risorius.io.mesh import write_mesh
from risorius.io.muscle_file import read_curves, read_muscles
from risorius.skin.muscle.shape import patchwork
from risorius.view.muscle_studio import closed, first_in_place
from skins import sphere

BALL = sphere(24)


def drawn(model, shift=0.0):
    """Two curves of four clicks each on the front, a little left of the middle."""
    for x in (0.15 + shift, 0.4 + shift):
        for y in (-0.3, -0.1, 0.1, 0.3):
            model.click(np.array([x, y, np.sqrt(1 - x * x - y * y)]))
        model.next_curve()


def test_draw_grow_turn_mirror_undo_save(tmp_path):
    model = Studio(BALL, tmp_path / "m.json")
    with pytest.raises(InputError, match="different points"):
        model.grow("cheek_l")
    drawn(model)
    muscle = model.grow("cheek_l")
    rest = model.skin()
    assert rest.tobytes() == BALL.vertices.astype(np.float32).tobytes()
    for value in np.linspace(0, 0.6, 13):
        model.turn("contraction", value)
    moved = model.skin()
    assert np.abs(moved - rest).max() > 0.05
    model.turn("bulge", 6.0)
    assert np.abs(model.skin() - moved).max() > 0.01
    model.mirror()
    assert [m.name for m in model.now.muscles] == ["cheek_l", "cheek_r"]
    with pytest.raises(InputError, match="already"):
        model.mirror()
    assert model.save() == tmp_path / "m.json"
    assert [m.name for m in read_muscles(tmp_path / "m.json").muscles] == ["cheek_l", "cheek_r"]
    again = read_curves(tmp_path / "m.curves.json")[0].sketch
    from risorius.skin.muscle.grow import grow

    assert np.array_equal(grow(model.surface, again).muscle.basis, muscle.basis)
    assert model.undo() and len(model.now.muscles) == 1  # the pair
    assert model.undo() and np.array_equal(model.skin(), moved)  # the bulge
    assert model.undo() and model.skin().tobytes() == rest.tobytes()  # the whole turn of one knob
    assert model.undo() and model.now.muscles == () and len(model.now.curves[1]) == 4
    while model.undo():
        pass
    assert model.now.curves == ((), ())


def test_what_was_saved_opens_again_and_saves_the_same_bytes(tmp_path):
    model = Studio(BALL, tmp_path / "m.json")
    drawn(model)
    model.grow("cheek_l")
    model.turn("bulge", 3.0)
    model.turn("d_none", 0.5)
    model.mirror()
    drawn(model, 0.1)
    model.grow("brow")
    model.save()
    again = Studio(BALL, tmp_path / "m.json")
    assert [muscle.name for muscle in again.now.muscles] == ["cheek_l", "cheek_r", "brow"]
    kept = {name: (tmp_path / name).read_bytes() for name in ("m.json", "m.curves.json")}
    again.save()
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    drawings = read_curves(tmp_path / "m.curves.json")
    assert [(one.sketch.name, one.mirror) for one in drawings] == [("cheek_l", (0, 0.0)), ("brow", None)]
    regrown, _ = grown(again.surface, drawings)  # what was turned since the muscle grew went into the curves
    for one in regrown:
        if one.name == "cheek_l":
            assert (one.bulge == 3.0).all() and one.d_none == 0.5
    again.selected = "cheek_r"
    again.delete()
    again.save()
    assert read_curves(tmp_path / "m.curves.json")[0].mirror is None
    (tmp_path / "m.json").write_text("{")
    with pytest.raises(InputError, match="JSON"):  # a broken document is refused, not written over
        Studio(BALL, tmp_path / "m.json")


def test_controls_of_an_opened_rig_move_the_skin_and_are_kept(tmp_path):
    model = Studio(BALL, tmp_path / "m.json")
    drawn(model)
    model.grow("cheek_l")
    model.save()
    rig = json.loads((tmp_path / "m.json").read_text())
    rig["controls"] = {"smile": {"muscles": {"cheek_l": {"contraction": 0.5}}, "range": [0, 1]}}
    (tmp_path / "m.json").write_text(json.dumps(rig))
    model = Studio(BALL, tmp_path / "m.json")
    rest = model.skin()
    model.control("smile", 1.0)
    by_control = model.skin()
    model.undo()
    model.turn("contraction", 0.5)
    assert np.array_equal(model.skin(), by_control) and np.abs(by_control - rest).max() > 0.03
    model.relax()
    assert model.skin().tobytes() == rest.tobytes()
    model.save()
    assert read_muscles(tmp_path / "m.json").controls[0].name == "smile"
    with pytest.raises(InputError, match="no control"):
        model.control("frown", 1.0)


def test_what_cannot_be_drawn_is_said(tmp_path):
    model = Studio(BALL, None)
    for _ in range(2):
        for y in (-0.3, 0.3):
            model.click(np.array([0.2, y, np.sqrt(0.96 - y * y)]))
        model.next_curve()
    with pytest.raises(InputError, match="lie on one another"):
        model.grow("twice")
    model.clear()
    model.click(np.array([9.0, 0, 0]))
    model.click(np.array([9.0, 1, 0]))
    model.next_curve()
    drawn(model)
    with pytest.raises(InputError, match="on the surface"):
        model.grow("away")
    assert model.undo() and model.now.muscles == ()
    with pytest.raises(InputError, match="without a file"):
        model.save()
    with pytest.raises(InputError):
        model.act({"do": "turn", "knob": "colour", "value": 1})
    with pytest.raises(InputError):
        model.act({"do": "explode"})


def test_a_stroke_is_one_step_for_undo():
    model = Studio(BALL, None)
    for k, y in enumerate(np.linspace(-0.3, 0.3, 20)):
        model.click(np.array([0.2, y, np.sqrt(0.96 - y * y)]), joined=k > 0)
    assert len(model.now.curves[0]) == 20
    assert model.undo() and model.now.curves == ((), ())


def test_sheets_are_the_muscles_surfaces():
    model = Studio(BALL, None)
    drawn(model)
    muscle = model.grow("a")
    model.turn("contraction", 0.4)
    _, _, points = patchwork(muscle, 0.4).samples(4)
    found = model.sheets.at(model.settings())[0]
    assert np.allclose(found, points, atol=1e-12)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    program = browser_program()
    assert program, "chromium is missing: start.py check installs it"
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=list(FLAGS))
        yield running
        running.close()


def until(tab, true, seconds=60):
    for _ in range(int(seconds / 0.05)):
        if true():
            return
        tab.wait_for_timeout(50)
    raise AssertionError("waited in vain")


SKIN = "Array.from(studio.scene.points)"


def test_the_page_draws_two_curves_and_moves_the_skin(browser, tmp_path):
    write_mesh(tmp_path / "ball.obj", BALL)
    page = studio(tmp_path / "ball.obj", tmp_path / "m.json", wait=False)
    try:
        model = page.studio
        context = browser.new_context(viewport={"width": 1100, "height": 800})
        tab = context.new_page()
        asked, errors = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.url)
        tab.wait_for_function("window.studio", timeout=60000, polling=50)
        rest = BALL.vertices.astype(np.float32)
        assert np.array_equal(np.array(tab.evaluate(SKIN), dtype=np.float32).reshape(-1, 3), rest)
        tab.mouse.click(20, 20)
        tab.get_by_text("beside the skin").wait_for()
        before = tab.screenshot()
        for k, x in enumerate((370, 430)):
            for number, y in enumerate((320, 370, 420, 470)):
                tab.mouse.click(x, y)
                until(tab, lambda k=k, number=number: len(model.now.curves[k]) == number + 1)
            tab.get_by_role("button", name="Next curve").click()
            until(tab, lambda k=k: model.now.drawing == 1 - k)
        for curve in model.now.curves:  # picked where it was clicked: on the ball, and in a straight row
            assert np.allclose(np.linalg.norm(curve, axis=1), 1.0, atol=5e-3)
            assert np.ptp(np.array(curve) @ [np.cos(0.22), 0, -np.sin(0.22)]) < 0.05
        tab.get_by_role("button", name="Grow muscle").click()
        tab.get_by_text(re.compile("Grew muscle_l")).wait_for(timeout=60000)
        slider = tab.get_by_role("slider", name="Contraction")
        slider.focus()
        for _ in range(100):
            tab.keyboard.press("ArrowRight")
        until(tab, lambda: dict(model.now.values).get("muscle_l", 0) > 0.24)
        tab.wait_for_function("!studio.asking.busy", polling=50)
        seen = np.array(tab.evaluate(SKIN), dtype=np.float32).reshape(-1, 3)
        assert np.array_equal(seen, model.skin()) and np.abs(seen - rest).max() > 0.02
        tab.wait_for_timeout(500)
        assert tab.screenshot() != before
        spot = np.array(tab.evaluate("studio.scene.pick({clientX: 400, clientY: 400})"))
        assert abs(np.linalg.norm(spot) - 1.0) < 5e-3  # a click on the moved skin means the place at rest
        tab.get_by_role("button", name="Mirror").click()
        until(tab, lambda: len(model.now.muscles) == 2)
        tab.get_by_role("button", name="Save").click()
        until(tab, lambda: (tmp_path / "m.json").exists())
        tab.get_by_text("Saved").wait_for()
        saved = json.loads((tmp_path / "m.json").read_text())
        assert [entry["name"] for entry in saved["muscles"]] == ["muscle_l", "muscle_r"]
        tab.get_by_role("button", name="Undo").click()
        until(tab, lambda: len(model.now.muscles) == 1)
        tab.reload()  # nothing is lost with the page
        tab.wait_for_function("window.studio && studio.scene.sheets.size === 1", timeout=60000, polling=50)
        assert np.array_equal(np.array(tab.evaluate(SKIN), dtype=np.float32).reshape(-1, 3), model.skin())
        box = tab.locator("#view").bounding_box()
        tab.keyboard.down("Shift")
        tab.mouse.move(box["x"] + 380, box["y"] + 330)
        tab.mouse.down()
        for y in range(330, 460, 10):
            tab.mouse.move(box["x"] + 380, box["y"] + y)
        tab.mouse.up()
        tab.keyboard.up("Shift")
        tab.wait_for_function("!studio.asking.busy", polling=50)
        assert len(model.now.curves[model.now.drawing]) >= 10  # a stroke
        assert errors == [] and all(url.startswith((page.url, "data:", "blob:")) for url in asked)
        context.close()
    finally:
        page.server.stop()


def test_only_the_page_itself_is_answered(tmp_path):
    import urllib.error
    import urllib.request

    write_mesh(tmp_path / "ball.obj", BALL)
    page = studio(tmp_path / "ball.obj", tmp_path / "m.json", wait=False)
    act = json.dumps({"do": "save"}).encode()

    def status(path, data=None, **headers):
        try:
            asked = urllib.request.Request(
                page.url + path, data, {name.replace("_", "-"): v for name, v in headers.items()}
            )
            with urllib.request.urlopen(asked) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    try:
        assert status("/") == 200 and status("/../etc/passwd") == 404
        assert status("/", Host="example.com") == 404  # a name that was made to lead here
        assert status("/act", act) == 403 and status("/act", act, X_Studio="guess") == 403
        assert not (tmp_path / "m.json").exists()
        assert status("/act", b"{", X_Studio=page.token) == 400
        assert status("/act", act, X_Studio=page.token) == 200 and (tmp_path / "m.json").exists()
        assert status("/act", b"[]", X_Studio=page.token) == 200  # said in the page, no harm done
    finally:
        page.server.stop()


def test_a_closed_skin_is_told_from_an_open_one():
    faces = np.asarray(BALL.triangles()[0])
    assert closed(faces) and not closed(faces[1:]) and not closed(np.concatenate([faces, faces[:1]]))
    flipped = faces.copy()
    flipped[0] = flipped[0, ::-1]
    assert not closed(flipped)
    doubled = np.concatenate([BALL.vertices, BALL.vertices[:3]])
    assert first_in_place(doubled)[-3:].tolist() == [0, 1, 2]


def test_the_page_listens_on_the_loopback_address_alone(tmp_path):
    import socket

    write_mesh(tmp_path / "ball.obj", BALL)
    page = studio(tmp_path / "ball.obj", tmp_path / "m.json", wait=False)
    try:
        assert page.url.startswith("http://127.0.0.1:")
        outside = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
        for address in {address for address in outside if not address.startswith("127.")}:
            with socket.socket() as probe:
                probe.settimeout(1.0)
                assert probe.connect_ex((address, int(page.url.rsplit(":", 1)[1]))) != 0
    finally:
        page.server.stop()
