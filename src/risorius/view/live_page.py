"""The page of a live torso, on this machine's loopback address alone: the report's 3D view, fed pose by pose.

The page asks for a pose whenever it is ready to draw one; the answer is single-precision numbers: time, pressure, pressure
wanted, then 3 × 4 matrices of all bodies, the surface's points and the skin's.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.core.torso import Torso
from risorius.io.layers import appearance
from risorius.maths.rotations import quaternions
from risorius.view.library import library
from risorius.view.report import SOUND_KINDS, Blob, pack_layers

Floats = NDArray[np.float64]
Skinned = Callable[[Floats, Floats, Floats], Floats]
HOST: Final = "127.0.0.1"
PATIENCE: Final = 1.0
"""A page that asks for the next pose waits no longer [s]."""


class LivePage:
    """Shows a torso as it moves.

    Args:
        port: 0 for any free one; `url` tells which.
        skin: a mesh that is shown too, and where its points are (rotations (bodies, 4), positions, surface points) -> (n, 3).
        sound: a file that the page plays along.
    """

    def __init__(
        self, torso: Torso, *, port: int = 0, skin: tuple[PolyMesh, Skinned] | None = None, sound: Path | None = None
    ) -> None:
        self.torso, self.sound = torso, sound
        self.mesh: PolyMesh | None = None
        self.skinned: Skinned | None = None
        if skin is not None:
            self.mesh, self.skinned = skin
        self.number, self.latest = 0, (np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(3))
        self.changed = threading.Condition()
        self.text = self.made()
        try:
            self.server = Loopback((HOST, port), Answer)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror}", place="port") from None
        self.server.page = self
        self.url = f"http://{HOST}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def show(
        self, rotation: Floats, position: Floats, points: Floats, time: float, pressure: float, wanted: float
    ) -> None:
        """The torso as it is now: (bodies, 3, 3) and (bodies, 3) as in `core.record.Record`, (points, 3)."""
        words = np.array([time, pressure, wanted])
        with self.changed:
            self.latest = (quaternions(rotation), position.copy(), points.copy(), words)
            self.number += 1
            self.changed.notify_all()

    def pose(self, after: int) -> tuple[int, bytes]:
        """Number and numbers of the newest pose, waiting for one that is newer than `after`."""
        with self.changed:
            self.changed.wait_for(lambda: self.number > after, PATIENCE)
            number, (turn, position, points, words) = self.number, self.latest
        if number == 0:
            return 0, b""
        parts = [words, turn, position, points]
        if self.skinned is not None:
            parts.append(self.skinned(turn, position, points))
        return number, b"".join(np.ascontiguousarray(part, dtype="<f4").tobytes() for part in parts)

    def made(self) -> bytes:
        """The page, with the torso at rest."""
        torso, blob = self.torso, Blob()
        layers = [layer for layer in pack_layers(blob, torso) if self.mesh is not None or not layer.get("skin")]
        bodies = len(torso.bodies.names)
        blob.quantised("poses.turn", np.zeros((1, bodies, 3)))
        blob.quantised("poses.shift", np.zeros((1, bodies, 3)))
        rest = np.asarray(torso.surface.points)
        blob.moving("surface", rest, rest[None])
        vertices = np.asarray(self.mesh.vertices) if self.mesh is not None else np.zeros((0, 3))
        if self.mesh is not None:
            blob.moving("skin", vertices, vertices[None])
            blob.add("skin.faces", np.asarray(self.mesh.triangles()[0]), "u4")
        else:
            for part in ("rest", "shapes", "amounts"):
                blob.quantised(f"skin.{part}", vertices)
        shown = np.concatenate([vertices, *(np.asarray(mesh.vertices) for mesh in torso.bodies.meshes)])
        low, high = shown.min(axis=0), shown.max(axis=0)
        header: dict[str, Any] = {
            "frames": 1,
            "bodies": list(torso.bodies.names),
            "layers": layers,
            "muscle": {key: appearance()["muscle"][key] for key in ("slack", "driven")},
            "frame": {"centre": (0.5 * (low + high)).tolist(), "size": float(high[1] - low[1])},
            "points": len(rest),
            "vertices": len(vertices),
            "sound": self.sound is not None,
            "arrays": blob.arrays,
        }
        folder, own = (resources.files("risorius.view").joinpath(name) for name in ("page", "live"))
        scripts = [folder.joinpath(f"{name}.js").read_text() for name in ("data", "scene", "main")]
        parts = {
            "CSS": folder.joinpath("page.css").read_text() + own.joinpath("page.css").read_text(),
            "BLOB": blob.text(),
            "HEADER": json.dumps(header, separators=(",", ":")).replace("</", "<\\/"),
            "SCRIPTS": "\n".join([*scripts, own.joinpath("main.js").read_text()]),
        }
        pieces = own.joinpath("page.html").read_text().split("@")
        return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces)).encode()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Loopback(ThreadingHTTPServer):
    """Serves one page."""

    daemon_threads = True
    page: LivePage


class Answer(BaseHTTPRequestHandler):
    """One connection of the page; no other name than this machine's own leads here (the Host header)."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Loopback

    def do_GET(self) -> None:
        page = self.server.page
        path, _, query = self.path.partition("?")
        if self.headers.get("Host", "") not in (f"{name}:{self.server.server_port}" for name in (HOST, "localhost")):
            self.send(404, "text/plain", b"not here")
        elif path == "/":
            self.send(200, "text/html; charset=utf-8", page.text)
        elif path == "/library.js":
            self.send(200, "text/javascript", "\n".join(library()).encode())
        elif path == "/pose":
            number, numbers = page.pose(int(query) if query.isdecimal() and len(query) < 16 else 0)
            self.send(200, "application/octet-stream", numbers, {"X-Number": str(number)})
        elif path == "/sound" and page.sound is not None:
            self.send(200, SOUND_KINDS.get(page.sound.suffix.lower(), "audio/wav"), page.sound.read_bytes())
        else:
            self.send(404, "text/plain", b"not here")

    def send(self, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            words = {
                "Content-Type": kind,
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                **(more or {}),
            }
            for name, value in words.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):  # the page was closed
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""
