"""The page in a real browser, the video in a real decoder."""

import base64
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from risorius.app.take import export, page_of, render
from risorius.core.errors import InputError
from risorius.io.take import write_take
from risorius.view.report import write_report
from simple_torso import make_record, make_torso

TORSO = make_torso()
RECORD = make_record(TORSO, seconds=2.0)
BROWSER = [
    "--no-sandbox", "--disable-background-networking", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--autoplay-policy=no-user-gesture-required",
]  # fmt: skip


def tone(path, seconds=2.0):
    import soundfile

    time = np.arange(round(22050 * seconds)) / 22050
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * 220 * time), 22050)
    return path


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    from risorius.app.take import draw_page

    folder = tmp_path_factory.mktemp("view") / "take"
    return write_take(
        folder, TORSO, RECORD, run={"command": "perform <calm> & more"}, drawers=[("page", 1.0, draw_page)]
    )


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program, "chromium is missing: start.py check installs it"
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=BROWSER)
        yield running
        running.close()


def opened(browser, page, until="window.page && window.page.view.now"):
    """The page, its errors, and every address it asked for."""
    context = browser.new_context(viewport={"width": 1100, "height": 700}, offline=True)
    tab = context.new_page()
    errors, asked = [], []
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    tab.wait_for_function(until, timeout=60000)
    return tab, errors, asked


def pixels(tab):
    """The 3D view as an array."""
    import io

    import matplotlib.image

    data = tab.locator("#view").screenshot()
    return np.round(255 * matplotlib.image.imread(io.BytesIO(data))[..., :3]).astype(int)


def test_the_page_works_offline(browser, take):
    tab, errors, asked = opened(browser, take / "report.html")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert tab.title() == "perform <calm> & more"
    tab.evaluate("page.play(false); document.getElementById('label-switch').click(); page.seek(0)")
    tab.wait_for_timeout(300)
    rest = pixels(tab)
    assert rest.std() > 5  # something is drawn
    tab.evaluate("page.seek(2)")
    tab.wait_for_timeout(300)
    moved = pixels(tab)
    assert (np.abs(moved - rest).max(axis=2) > 20).sum() > 100  # time moves the picture
    tab.locator("input[data-layer=Bones]").click()
    tab.wait_for_timeout(300)
    assert (np.abs(pixels(tab) - moved).max(axis=2) > 20).sum() > 500  # a layer switches off
    assert not tab.locator("input[data-layer=Bones]").is_checked()
    tab.evaluate("page.seek(0); page.play(true)")
    tab.wait_for_timeout(700)
    assert tab.evaluate("page.now") > 0.05  # the clock runs
    assert tab.locator(".plot canvas").count() >= 4
    assert errors == []
    tab.context.close()


def test_the_page_moves_what_the_record_moves(browser, take):
    """Bones, cavity and skin on the page against the record, in millimetres."""
    tab, errors, _ = opened(browser, take / "report.html")
    frame = 37
    found = tab.evaluate(
        "(frame) => { page.play(false); page.view.move(frame); const v = page.view;"
        "return { matrix: [...v.now.matrix], surface: [...v.now.surface], skin: [...v.skin.now] }; }",
        frame,
    )
    from risorius.io.story import skin_motion
    from risorius.maths.rotations import matrices

    poses = np.array(found["matrix"]).reshape(-1, 3, 4)
    for k, mesh in enumerate(TORSO.bodies.meshes):
        ours = mesh.vertices @ matrices(RECORD.rotation[frame, k]).T + RECORD.position[frame, k]
        theirs = mesh.vertices @ poses[k, :, :3].T + poses[k, :, 3]
        assert np.abs(ours - theirs).max() < 1e-4
    assert np.abs(np.array(found["surface"]).reshape(-1, 3) - RECORD.points[frame]).max() < 2e-4
    assert np.abs(np.array(found["skin"]).reshape(-1, 3) - skin_motion(TORSO, RECORD)[frame]).max() < 2e-4
    assert errors == []
    tab.context.close()


def test_a_sound_plays_in_step(browser, tmp_path):
    from risorius.app.take import draw_page

    sound = tone(tmp_path / "tone.wav")
    folder = write_take(tmp_path / "t", TORSO, RECORD, run={}, sound=sound, drawers=[("page", 1.0, draw_page)])
    tab, errors, asked = opened(browser, folder / "report.html")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    tab.evaluate("page.seek(1)")
    assert abs(tab.evaluate("document.getElementById('sound').currentTime") - 1) < 0.05
    tab.locator("#play").click()
    tab.wait_for_timeout(500)
    frame = "new Promise(done => requestAnimationFrame(() => done([page.now, sound.currentTime])))"
    here, heard = tab.evaluate(f"(sound => {frame})(document.getElementById('sound'))")  # just after the page drew
    assert here > 1.1 and abs(here - heard) < 0.05
    assert errors == []
    tab.context.close()


def test_a_page_never_names_the_network_and_escapes_its_texts(take):
    text = (take / "report.html").read_text()
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", own)
    assert "perform &lt;calm&gt; &amp; more" in own and "<calm>" not in own
    header = json.loads(re.search(r'<script id="header"[^>]*>(.*?)</script>', text, re.S)[1])
    blob = re.search(r'<script id="blob"[^>]*>(.*?)</script>', text, re.S)[1]
    assert base64.b64decode(blob)[:2] == b"\x1f\x8b" and header["frames"] == len(RECORD.time)


def test_the_same_take_gives_the_same_page(tmp_path, take):
    from risorius.io.take import read_take

    for name in ("a.html", "b.html"):
        write_report(tmp_path / name, read_take(take))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_the_video_holds_the_frames_and_the_sound(tmp_path):
    import av

    sound = tone(tmp_path / "tone.wav", 3.0)
    folder = write_take(tmp_path / "t", TORSO, RECORD, run={}, sound=sound)
    report = render(folder, tmp_path / "v.mp4", seconds=1.0)
    assert report["frames"] == 26
    with av.open(str(tmp_path / "v.mp4")) as video:
        stream = video.streams.video[0]
        assert (stream.width, stream.height, stream.pix_fmt, stream.codec.name) == (1280, 720, "yuv420p", "h264")
        assert video.streams.audio[0].codec.name == "aac"
        pictures = [frame.to_ndarray(format="rgb24").astype(int) for frame in video.decode(video=0)]
    assert len(pictures) == 26
    with av.open(str(tmp_path / "v.mp4")) as video:
        heard = np.concatenate([frame.to_ndarray()[0] for frame in video.decode(audio=0)])
    spectrum = np.abs(np.fft.rfft(heard[:44100]))
    assert abs(spectrum.argmax() * 48000 / 44100 - 220) < 5  # the tone that went in
    assert 0.9 < len(heard) / 48000 < 1.2
    change = np.abs(pictures[25] - pictures[0]).max(axis=2)
    assert (change > 30).sum() > 200 and pictures[0].std() > 10


def test_a_machine_without_egl_is_told_what_to_install(tmp_path, take, monkeypatch):
    import ctypes

    def missing(name, *rest):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(InputError, match="libegl1"):
        render(take, tmp_path / "v.mp4", seconds=0.2)
    assert not list(tmp_path.iterdir())


def test_exports_by_name_and_ending(tmp_path, take):
    for form, name in (("usd", "a.usda"), ("glb", "a.glb"), ("bvh", "a.bvh"), ("mot", "a.mot")):
        assert export(take, form, tmp_path / name).stat().st_size > 1000
    with pytest.raises(InputError, match=r"expected a name ending in \.glb"):
        export(take, "glb", tmp_path / "a.bvh")
    with pytest.raises(InputError, match="expected one of usd"):
        export(take, "fbx")
    assert page_of(take) == Path(take) / "report.html"


def test_alembic_is_written_or_its_package_named(tmp_path, take):
    try:
        import alembic3d  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match=r"risorius\[alembic\]"):
            export(take, "abc", tmp_path / "a.abc")
    else:
        assert export(take, "abc", tmp_path / "a.abc").stat().st_size > 10000


def test_two_motions_stand_side_by_side_on_one_clock(browser, tmp_path):
    from risorius.io.take import Take
    from risorius.view.comparison import write_comparison

    skin = np.repeat(np.asarray(TORSO.skin.vertices, dtype=np.float32)[None], len(RECORD.time), axis=0)
    take = Take(TORSO, RECORD, skin, {"command": "laugh <clip>"}, None, None)
    calm = make_record(TORSO, seconds=2.0, amount=0.25)
    write_comparison(tmp_path / "comparison.html", take, calm, skin, ("one", "other <thing>"))
    tab, errors, asked = opened(browser, tmp_path / "comparison.html", "window.page && window.page.view.both")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == [] and errors == []
    moved = tab.evaluate(
        "() => { page.play(false); page.seek(2); page.draw();"
        "return page.view.both.map(view => [...view.now.surface]); }"
    )
    for surface, record in zip(moved, (RECORD, calm), strict=True):
        assert np.abs(np.array(surface).reshape(-1, 3) - record.points[-1]).max() < 2e-4
    tab.evaluate("page.camera('side')")
    tab.wait_for_timeout(300)
    cameras = tab.evaluate("page.view.both.map(view => [...view.K.getWorld().camera.position.toArray()])")
    assert np.allclose(cameras[0], cameras[1], atol=1e-6)
    tab.context.close()
