"""Strands and what holds them, as flat arrays: mass matrices, elastic samples, constraints, surfaces.

Mass of control points i, j of one strand: ∫ ρ π r(s)² |p0'(s)| b_i b_j ds, Gauss with four points a span (exact for the
cubic basis where radius and drawing are even). Elastic energy is sampled at `samples_per_span` Gauss points a span: one by
default, since more would lock a stiff strand that bends.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from risorius.core.errors import InputError
from risorius.core.strands import Attachment, Contact, Floats, Law, Link, Slide, Strand, StrandModel
from risorius.maths import splines
from risorius.strands.surfaces import Surfaces, assemble_surfaces, nearest_on_surface, surface_point

FIXED: Final = 0
SLIDE: Final = 1
CONTACT: Final = 2
LIFTING: Final = 3
ROWS: Final = (3, 2, 1, 1)
"""Constraint rows by kind of hold."""


class Threads(NamedTuple):
    """Strands (t), control points (n), samples (g), holds (c, sorted by strand), rows of all holds.

    first (t + 1) control points of each strand; rest (n, 3); mass (n, 4): with control point i − 3 … i; weight (n) row
    sums; damping (t, 2) α, β; sample_first (t + 1); sample_point (g) first of four control points; slope (g, 4) b'; width
    (g) quadrature weight in s; metric (g) slack length per s; stiffness, strength, compression, law (g).
    hold_first (t + 1); hold_strand, hold_kind, hold_body, hold_point (c, 3), hold_start (c) s at rest, hold_surface,
    hold_surface_start (c, 2), hold_height (c); row_first (c + 1).
    column_first (t + 1), column (k) border unknowns that a strand couples to; hold_column_first (c + 1) and hold_column:
    local columns of the speeds on the path of the hold's body. link (l, 2) strands, link_place (l, 2) s, link_column
    (l, 2) local columns of the first of three rows.
    """

    first: np.ndarray
    rest: np.ndarray
    mass: np.ndarray
    weight: np.ndarray
    damping: np.ndarray
    sample_first: np.ndarray
    sample_point: np.ndarray
    slope: np.ndarray
    width: np.ndarray
    metric: np.ndarray
    stiffness: np.ndarray
    strength: np.ndarray
    compression: np.ndarray
    law: np.ndarray
    hold_first: np.ndarray
    hold_strand: np.ndarray
    hold_kind: np.ndarray
    hold_body: np.ndarray
    hold_point: np.ndarray
    hold_start: np.ndarray
    hold_surface: np.ndarray
    hold_surface_start: np.ndarray
    hold_height: np.ndarray
    row_first: np.ndarray
    column_first: np.ndarray
    column: np.ndarray
    hold_column_first: np.ndarray
    hold_column: np.ndarray
    link: np.ndarray
    link_place: np.ndarray
    link_column: np.ndarray
    surfaces: Surfaces


Hold = Attachment | Slide | Contact


def assemble_threads(model: StrandModel, names: tuple[str, ...], path_first: np.ndarray, path_dof: np.ndarray,
                     laws: list[Law], samples_per_span: int) -> Threads:  # fmt: skip
    """Flatten the strands of a model; `names` is the order of its bodies, path_* the speeds that move each."""
    strands = model.strands
    surfaces = assemble_surfaces(model.surfaces, names)
    count = [len(strand.points) for strand in strands]
    mass = [mass_band(strand) for strand in strands]
    samples = [elastic_samples(strand, laws, samples_per_span) for strand in strands]
    first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    sample_first = np.concatenate([[0], np.cumsum([len(item[0]) for item in samples])]).astype(np.int64)
    stacked: Any = [
        np.concatenate([item[k] for item in samples]) if samples else empty for k, empty in enumerate(NO_SAMPLES)
    ]
    stacked[0] = stacked[0] + np.repeat(first[:-1], np.diff(sample_first))
    number = {strand.name: k for k, strand in enumerate(strands)}
    holds: list[Hold] = [*model.attachments, *model.slides, *model.contacts]
    holds.sort(key=lambda hold: (number[hold.strand], hold.parameter))
    placed = [place_hold(hold, model, names, surfaces) for hold in holds]
    kinds = [item[0] for item in placed]
    columns = assemble_columns(model, holds, [item[1] for item in placed], number, path_first, path_dof)
    strand_of = np.array([number[hold.strand] for hold in holds], dtype=np.int64)
    parts: tuple[Any, ...] = (
        first,
        np.concatenate([strand.points for strand in strands]) if strands else np.zeros((0, 3)),
        np.concatenate([band for band, _ in mass]) if strands else np.zeros((0, 4)),
        np.concatenate([weight for _, weight in mass]) if strands else np.zeros(0),
        np.array([[s.mass_damping, s.stiffness_damping] for s in strands], dtype=np.float64).reshape(-1, 2),
        sample_first,
        *stacked,
        np.searchsorted(strand_of, np.arange(len(strands) + 1)).astype(np.int64),
        strand_of,
        np.array(kinds, dtype=np.int64),
        np.array([item[1] for item in placed], dtype=np.int64),
        np.array([item[2] for item in placed], dtype=np.float64).reshape(-1, 3),
        np.array([item[3] for item in placed], dtype=np.float64),
        np.array([item[4] for item in placed], dtype=np.int64),
        np.array([item[5] for item in placed], dtype=np.float64).reshape(-1, 2),
        np.array([item[6] for item in placed], dtype=np.float64),
        np.concatenate([[0], np.cumsum([ROWS[kind] for kind in kinds])]).astype(np.int64),
        *columns,
        surfaces,
    )  # fmt: skip
    return Threads(*parts)


NO_SAMPLES: Final = (np.zeros(0, dtype=np.int64), np.zeros((0, 4)), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0),
                     np.zeros(0), np.zeros(0, dtype=np.int64))  # fmt: skip


def gauss(spans: int, points: int) -> tuple[Floats, Floats]:
    """Places s and weights of Gauss quadrature on each of the spans [0, 1], [1, 2], …"""
    x, w = np.polynomial.legendre.leggauss(points)
    places = (np.arange(spans)[:, None] + 0.5 + 0.5 * x).ravel()
    return places, np.tile(0.5 * w, spans)


def mass_band(strand: Strand) -> tuple[Floats, Floats]:
    """Mass [kg] of each control point with the three before it and itself (n, 4), and row sums (n,)."""
    count = len(strand.points)
    places, weights = gauss(count - 1, 4)
    basis = splines.design(count, places)
    metric = np.linalg.norm(splines.design(count, places, 1) @ strand.points, axis=1)
    section = np.pi * (basis @ strand.radius) ** 2 * strand.density
    matrix = basis.T @ (basis * (weights * metric * section)[:, None])
    band = np.zeros((count, 4))
    for back in range(4):
        band[back:, 3 - back] = np.diagonal(matrix, -back)
    return band, matrix.sum(axis=1)


def elastic_samples(strand: Strand, laws: list[Law], per_span: int) -> tuple[np.ndarray, ...]:
    """First control point, b', width, metric, stiffness, strength, compression and law of each elastic sample."""
    count = len(strand.points)
    places, weights = gauss(count - 1, per_span)
    derivative = splines.design(count, places, 1)
    metric = np.linalg.norm(derivative @ strand.points, axis=1)
    if metric.min() < 1e-9:
        where = places[metric.argmin()] / (count - 1)
        raise InputError(f"expected a length above zero everywhere, got none near parameter {where:.3f}",
                         place=f"strand {strand.name!r}")  # fmt: skip
    first = np.clip(places.astype(np.int64) - 1, 0, count - 4)
    slope = np.take_along_axis(derivative, first[:, None] + np.arange(4), axis=1)
    values = np.zeros((4, len(places)))
    number = np.zeros(len(places), dtype=np.int64)
    metric = metric.copy()
    parameter = places / (count - 1)
    for tissue in strand.tissues:
        inside = (parameter >= tissue.start) & (parameter <= tissue.end)
        values[0, inside], values[1, inside], values[2, inside] = tissue.stiffness, tissue.strength, tissue.compression
        metric[inside] *= tissue.slack
        number[inside] = laws.index(tissue.law)
    return first, slope, weights, metric, values[0], values[1], values[2], number


def place_hold(hold: Hold, model: StrandModel, names: tuple[str, ...], surfaces: Surfaces) -> tuple:
    """Kind, body, point, s, surface, (u, v), height of a hold at rest."""
    strand = model.strand(hold.strand)
    s = hold.parameter * (len(strand.points) - 1)
    where = splines.evaluate(strand.points, np.array([s]))[0]
    if isinstance(hold, Contact):
        index = [surface.name for surface in model.surfaces].index(hold.surface)
        uv = nearest_on_surface(surfaces, index, where)
        point, normal = surface_point(surfaces, index, uv)
        height = float(normal @ (where - point)) if hold.height is None else float(hold.height)
        carrier = model.surfaces[index].body
        kind = LIFTING if hold.one_sided else CONTACT
        return kind, names.index(carrier) if carrier else -1, point, s, index, uv, height
    point = where if hold.point is None else hold.point
    body = names.index(hold.body) if hold.body else -1
    if isinstance(hold, Slide):
        return SLIDE, body, point, s, -1, (0.0, 0.0), 0.0
    return FIXED, body, point, s, -1, (0.0, 0.0), 0.0


def assemble_columns(model: StrandModel, holds: list[Hold], bodies: list[int], number: dict[str, int],
                     path_first: np.ndarray, path_dof: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Which border unknowns each strand couples to: `column_first` … `link_column` of `Threads`."""
    links: tuple[Link, ...] = model.links
    base = 3 * len(links)
    touched: list[list[int]] = [[] for _ in model.strands]
    ends = [(number[link.strand], number[link.other]) for link in links]
    for k, pair in enumerate(ends):
        for strand in pair:
            touched[strand] += [3 * k, 3 * k + 1, 3 * k + 2]
    paths = [path_dof[path_first[b] : path_first[b + 1]] + base if b >= 0 else np.zeros(0, np.int64) for b in bodies]
    for hold, path in zip(holds, paths):
        touched[number[hold.strand]] += path.tolist()
    columns = [sorted(set(item)) for item in touched]
    local = [{column: k for k, column in enumerate(item)} for item in columns]
    hold_column = [[local[number[hold.strand]][dof] for dof in path.tolist()] for hold, path in zip(holds, paths)]
    spans = [len(model.strand(name).points) - 1 for link in links for name in (link.strand, link.other)]
    parameters = [value for link in links for value in (link.parameter, link.other_parameter)]
    return (
        offsets(columns),
        np.array([column for item in columns for column in item], dtype=np.int64),
        offsets(hold_column),
        np.array([column for item in hold_column for column in item], dtype=np.int64),
        np.array(ends, dtype=np.int64).reshape(-1, 2),
        (np.array(parameters) * np.array(spans)).astype(np.float64).reshape(-1, 2),
        np.array([[local[s][3 * k] for s in pair] for k, pair in enumerate(ends)], dtype=np.int64).reshape(-1, 2),
    )


def offsets(lists: list) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(item) for item in lists])]).astype(np.int64)
