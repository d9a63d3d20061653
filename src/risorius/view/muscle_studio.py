"""The muscle studio's page: drawn by three.js (inside k3d), served on this machine's loopback address alone.

The page asks by HTTP; every answer is the studio's state as JSON and, behind it, the skin and the muscles' sheets as
single-precision numbers, so that a frame is one request, one upload and one drawing.
"""

from __future__ import annotations

import json
import secrets
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.view.library import library

HOST: Final = "127.0.0.1"
LONGEST: Final = 1 << 20
"""Most bytes of a request."""
SCRIPTS: Final = ("scene", "panel", "main")


class Page:
    """Shows a mesh at once, and a studio (`app.muscle_studio.Studio`) as soon as `work_with` gives it one.

    Args:
        port: 0 for any free one; `url` tells which.
        thickness: what the two sliders of thickness start with.
    """

    def __init__(self, mesh: PolyMesh, port: int, falloffs: tuple[str, ...], thickness: dict[str, float]) -> None:
        self.held: Any = None
        self.ready = threading.Event()
        self.asked = threading.Event()
        self.touched = threading.Event()
        self.lock = threading.Lock()
        self.vertices = np.asarray(mesh.vertices)
        self.faces = np.asarray(mesh.triangles()[0])
        self.thickness = thickness
        self.falloffs = falloffs
        self.up = "z" if mesh.up == "z" else "y"
        self.token = secrets.token_urlsafe(16)
        self.server = LoopbackServer(self, port)
        self.url = f"http://{HOST}:{self.server.server_port}"
        self.server.start()

    @property
    def studio(self) -> Any:
        """The workings; the page shows itself and its first points before they are there."""
        self.ready.wait()
        return self.held

    def work_with(self, studio: Any) -> None:
        """Clicks and knobs act on this studio from now on."""
        self.held = studio
        self.ready.set()

    def text(self) -> bytes:
        """The page itself."""
        folder = resources.files("risorius.view").joinpath("studio_page")
        header = {"token": self.token, "points": len(self.vertices), "triangles": len(self.faces), "up": self.up,
                  "falloffs": self.falloffs, "thickness": self.thickness, "closed": closed(self.faces)}  # fmt: skip
        parts = {
            "CSS": folder.joinpath("page.css").read_text(),
            "HEADER": json.dumps(header).replace("</", "<\\/"),
            "SCRIPTS": "\n".join(folder.joinpath(f"{name}.js").read_text() for name in SCRIPTS),
        }
        pieces = folder.joinpath("page.html").read_text().split("@")
        return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces)).encode()

    def mesh(self) -> bytes:
        """Points, triangles, and for each point the first one in its very place (for normals across seams)."""
        place = first_in_place(self.vertices)
        return b"".join(
            (self.vertices.astype("<f4").tobytes(), self.faces.astype("<u4").tobytes(), place.astype("<u4").tobytes())
        )

    def act(self, request: dict[str, Any]) -> bytes:
        """Do what the page asks; the answer is what there is to show now."""
        self.asked.set()
        studio = self.studio
        done = request.get("do", "state") if isinstance(request, dict) else "state"
        with self.lock:
            try:
                said, wrong = studio.act(request), False
            except (InputError, OSError, KeyError) as error:
                said, wrong = str(error), True
            state, skin, sheets = studio.shown(done)
        if done == "click":
            self.touched.set()
        state |= {"said": said, "wrong": wrong, "skin": skin is not None,
                  "sheets": [[name, *sheet.shape[:2]] for name, sheet in sheets]}  # fmt: skip
        words = json.dumps(state, default=str).encode()
        words += b" " * (-len(words) % 4)
        numbers = ([] if skin is None else [skin]) + [sheet for _, sheet in sheets]
        return b"".join((struct.pack("<I", len(words)), words, *(part.astype("<f4").tobytes() for part in numbers)))

    def serve(self) -> None:
        """Until interrupted."""
        try:
            while True:
                time.sleep(3600)
        finally:
            self.server.stop()


class LoopbackServer(ThreadingHTTPServer):
    """Answers the one page; no other page may ask (a token), and no other name leads here (the Host header)."""

    daemon_threads = True

    def __init__(self, page: Page, port: int) -> None:
        self.page = page
        super().__init__((HOST, port), Answer)
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class Answer(BaseHTTPRequestHandler):
    """One connection of the page."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def do_GET(self) -> None:
        page = self.server.page
        found: dict[str, tuple[str, Callable[[], bytes]]] = {
            "/": ("text/html; charset=utf-8", page.text),
            "/library.js": ("text/javascript", lambda: "\n".join(library()).encode()),
            "/mesh": ("application/octet-stream", page.mesh),
        }
        if not self.known_host() or self.path not in found:
            self.send(404, "text/plain", b"not here")
            return
        kind, make = found[self.path]
        self.send(200, kind, make())

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= LONGEST:
            self.close_connection = True
            self.send(413, "text/plain", b"too long")
            return
        body = self.rfile.read(length)
        allowed = secrets.compare_digest(self.headers.get("X-Studio", ""), self.server.page.token)
        if self.path != "/act" or not allowed or not self.known_host():
            self.send(403, "text/plain", b"not from the page")
            return
        try:
            request = json.loads(body)
        except ValueError:
            self.send(400, "text/plain", b"not JSON")
            return
        self.send(200, "application/octet-stream", self.server.page.act(request))

    def known_host(self) -> bool:
        return self.headers.get("Host", "") in (f"{name}:{self.server.server_port}" for name in (HOST, "localhost"))

    def send(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):  # the page was closed
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def closed(faces: NDArray[np.integer]) -> bool:
    """Whether every edge has one triangle on each side, wound alike: such a skin shows its outside alone."""
    if len(faces) == 0:
        return False
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    count = int(faces.max()) + 1
    there, back = np.sort(sides[:, 0] * count + sides[:, 1]), np.sort(sides[:, 1] * count + sides[:, 0])
    return bool((np.diff(there) > 0).all() and np.array_equal(there, back))


def first_in_place(vertices: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) number of the first point that lies in the same place."""
    rows = np.ascontiguousarray(vertices + 0.0).view(np.dtype((np.void, 24))).reshape(-1)
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    return first[which.reshape(-1)]
