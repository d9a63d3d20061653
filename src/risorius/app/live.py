"""`risorius laugh --live`: a torso that laughs as the sound comes, from a microphone or a file played at its own pace."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from risorius.app.clock import Clock
from risorius.app.follow import subject_of
from risorius.app.laugh import SAMPLE, clip_of
from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.core.sound import Sound
from risorius.core.spec import Spec
from risorius.core.torso import Torso

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]

BLOCK: Final = 0.01
"""Sound is taken in blocks of this length [s], or longer ones after a delay."""
MICROPHONE: Final = "microphone"
MICROPHONE_RATE: Final = 48_000


class Played:
    """A sound played at its own pace: what has been in the air comes as one block, of `BLOCK` seconds at least."""

    def __init__(self, sound: Sound) -> None:
        self.sound, self.rate = sound, sound.rate
        self.begun = 0.0

    def clock(self) -> float:
        """Seconds of the sound that have been in the air."""
        return time.perf_counter() - self.begun

    def blocks(self) -> Iterator[Floats]:
        samples, size, heard = self.sound.samples, max(1, round(BLOCK * self.rate)), 0
        self.begun = time.perf_counter()
        while heard < len(samples):
            wait = min(heard + size, len(samples)) / self.rate - self.clock()
            if wait > 0.0:
                time.sleep(wait)
            now = min(max(int(self.clock() * self.rate), min(heard + size, len(samples))), len(samples))
            yield samples[heard:now]
            heard = now


class Microphone:
    """The machine's default microphone, by the package sounddevice."""

    def __init__(self, seconds: float) -> None:
        try:
            import sounddevice
        except (ImportError, OSError) as error:  # OSError: the library PortAudio is missing
            raise InputError(
                f"expected the package sounddevice for a microphone ({error}): pip install 'risorius[live]', or give a file"
            ) from None
        self.rate, self.seconds = float(MICROPHONE_RATE), seconds
        self.waiting: queue.SimpleQueue[Floats] = queue.SimpleQueue()
        self.begun = 0.0

        def arrived(data: Any, frames: int, _time: Any, _status: Any) -> None:
            if self.begun == 0.0:
                self.begun = time.perf_counter() - frames / self.rate
            self.waiting.put(np.asarray(data[:, 0], dtype=np.float64).copy())

        try:
            self.stream = sounddevice.InputStream(
                samplerate=MICROPHONE_RATE, channels=1, blocksize=round(BLOCK * MICROPHONE_RATE), latency="low",
                callback=arrived,
            )  # fmt: skip
        except sounddevice.PortAudioError as error:
            raise InputError(f"no microphone answers: {error}", place="live") from None

    def clock(self) -> float:
        """Seconds since the first sample."""
        return time.perf_counter() - self.begun

    def blocks(self) -> Iterator[Floats]:
        with self.stream:
            heard = 0
            while heard < self.seconds * self.rate:
                parts = [self.waiting.get()]
                while not self.waiting.empty():
                    parts.append(self.waiting.get())
                heard += sum(map(len, parts))
                yield np.concatenate(parts)


def live(
    clip: str | PathLike[str] = MICROPHONE,
    *,
    seconds: float | None = None,
    intensity: float = 1.0,
    subject: str = "male",
    seed: int = 0,
    page: bool = True,
    port: int = 0,
    skin: bool = True,
    ready: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Follow a sound as it comes; returns the latencies.

    Args:
        clip: a file played at its own pace, `sample`, or `microphone`.
        seconds: how long to listen; the whole of a file, or until interrupted.
        page: serve a page on this machine's loopback address; port 0 takes any free one.
        skin: show it; without, only bones and cavities are sent.
        ready: told the page's address, or nothing, when all is ready.
    """
    from risorius.inverse.live import LiveBody

    spec = Spec.parse(subject)
    if seconds is not None and not 0.0 < seconds <= 86_400.0:
        raise InputError(f"expected more than 0 and at most 86400 s, got {seconds:g}", place="seconds")
    if not 0 <= port <= 65_535:
        raise InputError(f"expected a port from 0 to 65535, got {port}", place="port")
    source: Played | Microphone
    if str(clip) == MICROPHONE:
        source = Microphone(seconds if seconds is not None else 86_400.0)
    else:
        sound = clip_of(clip, seed)
        if seconds is not None:
            sound = Sound(sound.samples[: round(seconds * sound.rate)], sound.rate)
        source = Played(sound)
    model, simulation = subject_of(spec, "upright", "mouth", Clock(), progress)
    body = LiveBody(simulation, source.rate, source.clock, intensity=intensity)
    body.step(0.0, 1)  # every kernel has been called once
    shown = None
    if page:
        from risorius.view.live_page import LivePage

        heard = Path(clip) if str(clip) not in (MICROPHONE, SAMPLE) else None
        shown = LivePage(model.torso, port=port, skin=skinned(model.torso) if skin else None, sound=heard)
    if ready is not None:
        ready(shown.url if shown is not None else "")
    try:
        for block in source.blocks():
            body.hear(block)
            if shown is not None:
                work = simulation.room.work
                shown.show(work.pose.rotation, work.pose.origin, work.point, body.time, body.pressure, body.wanted)
    except KeyboardInterrupt:
        pass
    finally:
        if shown is not None:
            shown.stop()
    return {"clip": str(clip), "block_ms": 1e3 * BLOCK, **body.report()}


def skinned(torso: Torso) -> tuple[PolyMesh, Callable[[Floats, Floats, Floats], Floats]]:
    """A torso's skin, and where its points are in a pose."""
    from risorius.core.record import Record
    from risorius.skin.binding import apply
    from risorius.skin.weights import bind, skin_of

    mesh = skin_of(torso)
    binding = bind(mesh, torso)

    def places(turn: Floats, position: Floats, points: Floats) -> Floats:
        record = Record(np.zeros(1), position[None], turn[None], points[None])
        return np.asarray(apply(binding, mesh.vertices, torso, record)[0], dtype=np.float64)

    return mesh, places
