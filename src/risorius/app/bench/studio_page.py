"""The muscle studio's page in a real browser: how soon it can be touched, how fast a slider moves the skin.

Chromium runs without a window and without a GPU; a frame counts from the slider's event to the end of its drawing. It is
driven by `playwright`, a tool of the project's development; nothing of either is needed to use the studio.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from risorius.core.mesh import PolyMesh, of_triangles

POINTS: Final = 20_000
SECONDS: Final = 5.0
WINDOW: Final = (1100, 800)
FLAGS: Final = ("--no-sandbox", "--disable-background-networking", "--use-gl=angle", "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")  # fmt: skip
WATCH: Final = """() => { window.seen = [];
    document.getElementById('view').addEventListener('moved', event => seen.push([event.detail, performance.now()])); }"""


def ball(count: int) -> PolyMesh:
    """A closed ball of points that lie evenly on it (Fibonacci lattice), with some bumps."""
    from scipy.spatial import ConvexHull

    k = np.arange(count) + 0.5
    high, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + math.sqrt(5.0)) * k
    flat = np.sqrt(1.0 - high * high)
    points = np.stack([flat * np.cos(turn), high, flat * np.sin(turn)], axis=1)
    faces = ConvexHull(points).simplices
    corners = points[faces]
    inward = (
        np.einsum("ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), corners[:, 0]) < 0
    )
    faces[inward] = faces[inward][:, ::-1]
    bumps = 1.0 + 0.03 * np.sin(5.0 * points[:, :1]) * np.cos(4.0 * points[:, 1:2])
    return of_triangles(points * bumps, faces)


def missing() -> str | None:
    """What the measurement lacks on this machine."""
    if importlib.util.find_spec("playwright") is None:
        return "not measured: pip install playwright"
    if browser_program() is None:
        return "not measured: install chromium"
    return None


def browser_program() -> str | None:
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


def measure(seconds: float = SECONDS) -> dict[str, Any] | str:
    """Seconds from the command to the first point of a curve, and frames a second while a slider is dragged."""
    lack = missing()
    if lack:
        return lack
    from playwright.sync_api import sync_playwright

    from risorius.io.mesh import write_mesh

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        mesh = Path(folder) / "ball.obj"
        write_mesh(mesh, ball(POINTS))
        browser = play.chromium.launch(executable_path=browser_program(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
        tab.goto("about:blank")
        start = time.perf_counter()
        command = [sys.executable, "-m", "risorius", "muscle", "studio", str(mesh), "-o", str(Path(folder) / "m.json")]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert program.stdout is not None
            url = program.stdout.readline().split()[1]
            told = time.perf_counter()
            tab.goto(url)
            tab.wait_for_function("window.studio", polling=50)
            shown = time.perf_counter()
            draw(tab, first_only=True)
            touched = time.perf_counter()
            tab.wait_for_function("studio.asking.line.length === 0 && !studio.asking.busy", polling=50)
            ready = time.perf_counter()
            draw(tab)
            figures = {"url_s": told, "page_s": shown, "first_interaction_s": touched, "workings_s": ready}
            waits = {name: round(value - start, 2) for name, value in figures.items()}
            return {"points": POINTS, **waits, **dragged(tab, seconds)}
        finally:
            program.terminate()
            program.wait()
            browser.close()


def draw(tab: Any, *, first_only: bool = False) -> None:
    """Click two curves and grow a muscle; with `first_only`, the first point alone."""
    box = tab.locator("#view").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for pen, x in enumerate((-70, 50)):
        for number, y in enumerate((-90, -30, 30, 90)):
            if (pen, number) == (0, 0) and not first_only:
                continue
            tab.mouse.click(middle[0] + x, middle[1] + y)
            tab.wait_for_function(
                f"document.querySelector('[data-pen=\"{pen}\"] b').textContent === '{number + 1}'", polling=50
            )
            if first_only:
                return
        tab.get_by_role("button", name="Next curve").click()
        tab.wait_for_function(
            f"document.querySelector('[data-pen=\"{1 - pen}\"]').classList.contains('on')", polling=50
        )
    tab.get_by_role("button", name="Grow muscle").click()
    tab.wait_for_function("document.getElementById('said').textContent.startsWith('Grew')", timeout=120_000)


def dragged(tab: Any, seconds: float) -> dict[str, float]:
    """Frames a second and the milliseconds of a frame, from the slider's event to the end of its drawing."""
    tab.wait_for_timeout(1500)
    slider = tab.get_by_role("slider", name="Contraction")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 8, y)
    tab.mouse.down()
    tab.evaluate(WATCH)
    start = time.perf_counter()
    while (now := time.perf_counter() - start) < seconds:
        tab.mouse.move(box["x"] + box["width"] * (0.5 + 0.4 * math.sin(3.0 * now)), y)
    tab.mouse.up()
    seen = np.array(tab.evaluate("seen"), dtype=np.float64).reshape(-1, 2)
    late = seen[:, 1] - seen[:, 0]
    span = 1e-3 * float(np.ptp(seen[:, 1]))
    return {
        "frames_per_second": round((len(seen) - 1) / span, 1),
        "event_to_frame_ms": round(float(np.median(late)), 1),
    }
