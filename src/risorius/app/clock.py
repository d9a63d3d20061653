"""Wall-clock seconds by phase, as they pass."""

from __future__ import annotations

import time


class Clock:
    """Wall-clock seconds by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self.last = time.perf_counter()

    def lap(self, name: str) -> None:
        """What has passed since the last call was this phase."""
        now = time.perf_counter()
        self.phases[name] = self.phases.get(name, 0.0) + now - self.last
        self.last = now
