"""Rigid motion of a cloud of markers: found by least squares and taken out; gaps filled from how the others move."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS: Final = 12
SETTLED: Final = 1e-7
FILL_RANK: Final = 3
FILL_ROUNDS: Final = 60
RIDGE: Final = 1e-6


def rigid_motion(reference: Floats, points: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Rotation R (f, 3, 3) and shift t (f, 3) that bring each frame nearest to a reference: R·x + t (Kabsch 1976).

    Args:
        reference: (n, 3) [m].
        points: (f, n, 3) [m]; NaN where not seen.
        weight: (n,) 0 or more.
    """
    seen = np.asarray(np.isfinite(points).all(axis=2))
    share = np.where(seen, weight, 0.0)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    here = np.where(seen[..., None], points, 0.0)
    centre = np.einsum("fn,fni->fi", share, here)
    goal = share @ reference
    cross = np.einsum("fn,fni,fnj->fij", share, here - centre[:, None], reference - goal[:, None])
    left, _, right = np.linalg.svd(cross)
    turn = np.einsum("fji,fkj->fik", right, left)
    right[:, 2] *= np.sign(np.linalg.det(turn))[:, None]
    rotation = np.einsum("fji,fkj->fik", right, left)
    return rotation, goal - np.einsum("fij,fj->fi", rotation, centre)


def moved(rotation: Floats, shift: Floats, points: Floats) -> Floats:
    """R·x + t for every frame."""
    return np.einsum("fij,fnj->fni", rotation, points) + shift[:, None]


def without_sway(points: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Points with the trunk's rigid motion taken out, and the mean shape (n, 3), as it stands on average.

    The reference is the mean of what is aligned to it (generalised Procrustes).

    Args:
        points: (f, n, 3) [m]; NaN where not seen.
        weight: (n,) which markers hold the reference, all alike where not given: the back's, for a trunk against which
            the front moves.
    """
    weight = np.ones(points.shape[1]) if weight is None else weight
    whole = int(np.isfinite(points).all(axis=2).sum(axis=1).argmax())
    mean = np.where(np.isfinite(points[whole]), points[whole], np.nanmean(points, axis=0))
    aligned = points
    for _ in range(ROUNDS):
        known = np.where(np.isfinite(mean).all(axis=1), weight, 0.0)
        aligned = moved(*rigid_motion(np.nan_to_num(mean), points, known), points)
        new = mean_of(aligned)
        change = np.nanmax(np.abs(new - mean))
        mean = new
        if change < SETTLED:
            break
    turn, shift = rigid_motion(mean_of(points), mean[None], weight)
    return moved(turn, shift, aligned), moved(turn, shift, mean[None])[0]


def mean_of(points: Floats) -> Floats:
    """(n, 3) mean over the frames in which each marker was seen."""
    seen = np.isfinite(points)
    return np.where(seen, points, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def filled(aligned: Floats) -> Floats:
    """Gaps filled by the few patterns in which all markers move together.

    Alternating least squares: how far each frame is along the patterns from the coordinates that are seen in it, then
    each coordinate's mean and share in the patterns from the frames in which it is seen.
    """
    flat = aligned.reshape(len(aligned), -1)
    seen = np.isfinite(flat)
    if seen.all():
        return aligned.copy()
    known = np.where(seen, flat, 0.0)
    mean = mean_of(aligned).reshape(-1)
    rank = min(FILL_RANK, len(flat) - 1, flat.shape[1] - 1)
    if rank < 1:
        return np.where(seen, flat, mean).reshape(aligned.shape)
    start = np.where(seen, flat - mean, 0.0)
    values, vectors = np.linalg.eigh(start.T @ start)
    share = vectors[:, values.argsort()[::-1][:rank]]
    weight = seen.astype(np.float64)
    size = float((start**2).sum() / seen.sum())
    model = np.zeros_like(flat)
    for _ in range(FILL_ROUNDS):
        along = np.einsum("fd,dr,ds->frs", weight, share, share, optimize=True) + RIDGE * np.eye(rank)
        where = np.linalg.solve(along, ((known - mean * weight) @ share)[..., None])[..., 0]
        where /= max(float(np.sqrt((where**2).mean())), 1e-300) / np.sqrt(size)
        basis = np.concatenate([np.ones((len(flat), 1)), where], axis=1)
        cross = np.einsum("fd,fr,fs->drs", weight, basis, basis, optimize=True)
        cross += RIDGE * size * np.eye(rank + 1)
        found = np.linalg.solve(cross, (known.T @ basis)[..., None])[..., 0]
        mean, share = found[:, 0], found[:, 1:]
        new = basis @ found.T
        change = float(np.abs(new - model)[~seen].max())
        model = new
        if change < SETTLED:
            break
    return np.where(seen, flat, model).reshape(aligned.shape)
