"""The studio: its workings by themselves, and its page in a real browser."""

import json
import re
import shutil

import numpy as np
import pytest

from risorius.app.muscle import studio
from risorius.app.muscle_studio import Studio
from risorius.core.errors import InputError
from risorius.io.mesh import write_mesh
from risorius.io.muscle_file import read_curves, read_muscles
from skins import sphere

BALL = sphere(24)
BROWSER = [
    "--no-sandbox", "--disable-background-networking", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
]  # fmt: skip


def drawn(model):
    """Two curves of four clicks each from the front, a little left of the middle."""
    for x in (0.15, 0.4):
        for y in (-0.3, -0.1, 0.1, 0.3):
            assert model.click(np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0]))
        model.next_curve()


def test_draw_grow_turn_mirror_undo_save(tmp_path):
    model = Studio(BALL, tmp_path / "m.json")
    assert not model.click(np.array([3.0, 0, 5.0]), np.array([0.0, 0.0, -1.0]))
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


def test_a_click_meets_what_the_tree_meets():
    from risorius.app.muscle_studio import picked

    model = Studio(BALL, None)
    random = np.random.default_rng(2)
    corners = BALL.vertices[model.surface.faces]
    for _ in range(50):
        origin, direction = 2 * random.normal(size=3), random.normal(size=3)
        wanted = model.surface.tree.rays(origin[None], direction[None])[0][0]
        assert picked(origin, direction, corners) == pytest.approx(wanted, rel=1e-9)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program, "chromium is missing: start.py check installs it"
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=BROWSER)
        yield running
        running.close()


def until(tab, true, seconds=60):
    for _ in range(int(seconds / 0.05)):
        if true():
            return
        tab.wait_for_timeout(50)
    raise AssertionError("waited in vain")


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
        tab.get_by_text("Grow muscle").wait_for(timeout=60000)
        tab.wait_for_timeout(1000)
        before = tab.screenshot()
        for k, x in enumerate((520, 580)):
            for number, y in enumerate((320, 370, 420, 470)):
                tab.mouse.click(x, y)
                until(tab, lambda k=k, number=number: len(model.now.curves[k]) == number + 1)
            tab.get_by_role("button", name="Next curve").click()
            until(tab, lambda k=k: model.now.drawing == 1 - k)
        tab.get_by_role("button", name="Grow muscle").click()
        until(tab, lambda: len(model.now.muscles) == 1)
        tab.get_by_text(re.compile("Grew muscle_l")).wait_for(timeout=60000)
        assert page.skin.vertices.tobytes() == BALL.vertices.astype(np.float32).tobytes()
        slider = tab.get_by_role("slider").nth(2)  # after the two thicknesses
        slider.focus()
        for _ in range(60):
            tab.keyboard.press("ArrowRight")
        until(tab, lambda: dict(model.now.values).get("muscle_l", 0) > 0.25)
        until(tab, lambda: np.abs(page.skin.vertices - BALL.vertices).max() > 0.02)
        tab.wait_for_timeout(500)
        assert tab.screenshot() != before
        tab.get_by_role("button", name="Mirror").click()
        until(tab, lambda: len(model.now.muscles) == 2)
        tab.wait_for_timeout(1500)  # buttons move down as the slider of the mirrored muscle comes in
        tab.get_by_role("button", name="Save").click()
        until(tab, lambda: (tmp_path / "m.json").exists())
        saved = json.loads((tmp_path / "m.json").read_text())
        assert [entry["name"] for entry in saved["muscles"]] == ["muscle_l", "muscle_r"]
        tab.get_by_role("button", name="Undo").click()
        until(tab, lambda: len(model.now.muscles) == 1)
        assert errors == [] and all(url.startswith((page.url, page.url.replace("http", "ws"), "data:", "blob:"))
                                    for url in asked)  # fmt: skip
        context.close()
    finally:
        page.server.stop()


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
