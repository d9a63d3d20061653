"""Virtual markers: places on a subject's skin that ride on it, as glued markers do on a person (DiLorenzo 2009, §5.3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risorius.core.record import Record
from risorius.core.torso import Torso
from risorius.skin.binding import Binding, apply_exact

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Places:
    """Where markers sit on a skin.

    Args:
        names: of the n markers.
        corner: (n, 3) skin vertices of the triangle under each marker.
        share: (n, 3) shares of its corners, their sum one.
    """

    names: tuple[str, ...]
    corner: Ints
    share: Floats

    def on(self, skin: NDArray[np.floating]) -> Floats:
        """Markers (…, n, 3) of a skin's vertices (…, v, 3)."""
        return np.einsum("...nki,nk->...ni", np.asarray(skin)[..., self.corner, :], self.share)


@dataclass(frozen=True, eq=False)
class VirtualMarkers:
    """Markers with just the skin that they need, so that reading them off a run costs little.

    Args:
        binding: of the few vertices under the markers.
        vertices: (m, 3) [m] of them at rest.
        places: markers on these vertices.
    """

    binding: Binding
    vertices: Floats
    places: Places

    @classmethod
    def of(cls, binding: Binding, torso: Torso, places: Places) -> VirtualMarkers:
        """Cut out of the whole skin's binding what the markers need."""
        used, corner = np.unique(places.corner, return_inverse=True)
        starts, ends = binding.offsets[used], binding.offsets[used + 1]
        entries = np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])
        offsets = np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int32)
        few = Binding(binding.method, binding.bodies, binding.point_count, offsets, binding.handle[entries],
                      binding.weight[entries], binding.placement)  # fmt: skip
        few_places = Places(places.names, corner.reshape(places.corner.shape), places.share)
        return cls(few, np.asarray(torso.skin.vertices)[used], few_places)

    def read(self, torso: Torso, record: Record) -> Floats:
        """(f, n, 3) [m] where the markers are in every frame."""
        return self.places.on(apply_exact(self.binding, self.vertices, torso, record))
