"""Moving points as a few shapes: x(t) = rest + Σ_k c_k(t) m_k, from the principal shapes of the motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SNAPSHOTS: Final = 240
BLOCK: Final = 64


@dataclass(frozen=True, eq=False)
class LowRank:
    """A motion in few shapes.

    Args:
        shapes: (k, n, 3) orthonormal as vectors of 3 n numbers.
        amounts: (f, k) in the unit of the points.
        error: largest distance between a point and its approximation, in the same unit.
    """

    shapes: Floats
    amounts: Floats
    error: float


def compress(rest: NDArray, points: NDArray, *, tolerance: float, most: int = 64) -> LowRank:
    """The fewest principal shapes of `points` − `rest` that miss no point by more than `tolerance`, at most `most`.

    The shapes are those of evenly chosen frames (at most 240; method of snapshots), so a frame between them counts as
    well: it is its largest error, over all frames, that is compared with the tolerance.

    Args:
        rest: (n, 3); points: (f, n, 3).
    """
    frames, count = points.shape[:2]
    flat_rest = np.asarray(rest, dtype=np.float64).reshape(-1)
    chosen = np.unique(np.linspace(0, frames - 1, min(frames, SNAPSHOTS)).round().astype(int))
    sample = points[chosen].reshape(len(chosen), -1) - flat_rest
    values, vectors = np.linalg.eigh(sample @ sample.T)
    order = np.argsort(values)[::-1]
    keep = order[: min(most, int((values > 1e-13 * max(values.max(), 1e-300)).sum()))]
    shapes = (vectors[:, keep].T @ sample) if len(keep) else np.zeros((0, flat_rest.size))
    shapes /= np.sqrt(np.maximum(values[keep], 1e-300))[:, None]
    largest = np.abs(shapes).argmax(axis=1)
    shapes *= np.sign(shapes[np.arange(len(shapes)), largest])[:, None]
    amounts = np.empty((frames, len(shapes)))
    for start in range(0, frames, BLOCK):
        part = points[start : start + BLOCK].reshape(-1, flat_rest.size) - flat_rest
        amounts[start : start + BLOCK] = part @ shapes.T
    low, high = 0, len(shapes)
    best = error_of(flat_rest, points, shapes, amounts)
    while low < high:
        middle = (low + high) // 2
        found = error_of(flat_rest, points, shapes[:middle], amounts[:, :middle])
        if found <= tolerance:
            high, best = middle, found
        else:
            low = middle + 1
    return LowRank(shapes[:high].reshape(high, count, 3), np.ascontiguousarray(amounts[:, :high]), best)


def error_of(rest: Floats, points: NDArray, shapes: Floats, amounts: Floats) -> float:
    """Largest distance of a point from its approximation over at most 4 × 240 frames."""
    frames = np.unique(np.linspace(0, len(points) - 1, min(len(points), 4 * SNAPSHOTS)).round().astype(int))
    worst = 0.0
    for start in range(0, len(frames), BLOCK):
        part = frames[start : start + BLOCK]
        left = points[part].reshape(len(part), -1) - rest - amounts[part] @ shapes
        worst = max(worst, float((left.reshape(len(part), -1, 3) ** 2).sum(axis=2).max()))
    return float(np.sqrt(worst))


def fewest(rest: NDArray, points: NDArray, *, tolerance: float, most: int = 256) -> LowRank:
    """Fewer shapes still than `compress` finds: least squares are weighted until the worst point counts most.

    One shape after the other is given up as long as points weighted by what they were missed by, √(miss/worst) times
    over in a few rounds, come back within the tolerance.

    Args:
        rest: (n, 3); points: (f, n, 3).
    """
    best = compress(rest, points, tolerance=tolerance, most=most)
    flat_rest = np.asarray(rest, dtype=np.float64).reshape(-1)
    motion = np.asarray(points, dtype=np.float64).reshape(len(points), -1) - flat_rest
    while len(best.shapes) > 1 and best.error <= tolerance:
        found = weighted(motion, len(best.shapes) - 1, tolerance)
        if found is None:
            break
        best = found
    return best


def weighted(motion: Floats, count: int, tolerance: float, rounds: int = 12) -> LowRank | None:
    """`count` shapes that miss no point by more than the tolerance, or None where some rounds find none."""
    weight = np.ones(motion.shape[1] // 3)
    for _ in range(rounds):
        scaled = motion * np.repeat(weight, 3)
        values, vectors = np.linalg.eigh(scaled @ scaled.T)
        amounts = vectors[:, np.argsort(values)[::-1][:count]]
        shapes = amounts.T @ motion  # each point by itself: its weight has no part in its own least squares
        miss = np.sqrt(((motion - amounts @ shapes).reshape(len(motion), -1, 3) ** 2).sum(axis=2).max(axis=0))
        worst = float(miss.max())
        if worst <= tolerance:
            size = np.linalg.norm(shapes, axis=1, keepdims=True)
            shapes = shapes / np.where(size > 0, size, 1.0)
            return LowRank(shapes.reshape(count, -1, 3), amounts * size[:, 0], worst)
        weight = weight * np.sqrt(np.maximum(miss / worst, 1e-3))
        weight /= weight.max()
    return None
