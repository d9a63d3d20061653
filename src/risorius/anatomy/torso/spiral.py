"""The log-spiral rib of Holcombe (2016 J Biomech; 2017 J Anat 231:229): shape in its plane, place in the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from risorius.anatomy.tables import rows
from risorius.core.torso import Floats


@dataclass(frozen=True)
class Shape:
    """Six parameters: span [m]; peak_x, peak_y [spans]; phi [rad]; rates of the two spirals [-]."""

    span: float
    peak_x: float
    peak_y: float
    phi: float
    rate_proximal: float
    rate_distal: float


def mean_shape(sex: str, number: int) -> Shape:
    """The mean rib of a sex."""
    for row in rows("rib_shape"):
        if row["sex"] == sex and int(row["rib"]) == number:
            return Shape(
                float(row["span_mm"]) * 1e-3,
                float(row["peak_x"]),
                float(row["peak_y"]),
                float(np.radians(float(row["phi_deg"]))),
                float(row["rate_proximal"]),
                float(row["rate_distal"]),
            )
    raise KeyError((sex, number))


def distal(shape: Shape, count: int) -> Floats:
    """Spiral from the peak to the costal end: x = −e^{Bt}cos t, y = e^{Bt}sin t, cut where the chord falls right."""
    b, x, y = shape.rate_distal, shape.peak_x, shape.peak_y

    def point(t: Floats | float) -> Floats:
        return np.stack([-np.exp(b * t) * np.cos(t), np.exp(b * t) * np.sin(t)], -1)

    top = 2 * np.arctan(np.sqrt(b * b + 1) + b)
    slope = -y / (1 - x)

    def miss(t: float) -> float:
        d = point(t) - point(top)
        return float(d[1] - slope * d[0])

    ts = top + np.linspace(1e-4, 1.5 * np.pi, 400)
    values = [miss(t) for t in ts]
    change = next(i for i in range(1, len(ts)) if values[i - 1] * values[i] < 0)
    end = brentq(miss, ts[change - 1], ts[change])
    k = np.hypot(y, 1 - x) / np.linalg.norm(point(end) - point(top))
    return (point(np.linspace(top, end, count)) - point(top)) * k + [x, y]


def shallow(shape: Shape, count: int) -> Floats:
    """A flat arch to the peak, where the tangent construction has no solution (rib 12: a nearly straight bar)."""
    t = np.linspace(0.0, 1.0, count)
    return np.stack([shape.peak_x * t, shape.peak_y * t * (2 - t)], -1)


def proximal(shape: Shape, count: int) -> Floats:
    """Straight run from the head to the tangent point, then the spiral x = e^{Bt}cos t, y = e^{Bt}sin t to the peak."""
    b = shape.rate_proximal
    turn = np.arctan2(shape.peak_y, shape.peak_x)

    def point(t: Floats) -> Floats:
        return np.stack([np.exp(b * t) * np.cos(t), np.exp(b * t) * np.sin(t)], -1)

    t = np.linspace(0.0, 2 * np.pi, 20001)
    p = point(t)
    velocity = np.stack([b * p[:, 0] - p[:, 1], b * p[:, 1] + p[:, 0]], -1)
    back = np.arctan2(-velocity[:, 1], -velocity[:, 0])
    rising = velocity[:, 1] > 0
    top = int(np.argmin(rising))  # first parameter past the maximum of y
    low = top + int(np.argmax(rising[top:]))  # the minimum of y after it
    cut = int(np.argmin(np.abs(back[:top] + turn)))
    want = shape.phi - turn
    touch = top + int(np.argmin(np.abs(back[top:low] - want)))
    if back[touch] - want > 0.02 or p[touch, 1] < p[cut, 1]:
        return shallow(shape, count)
    start_x = p[touch, 0] - (p[touch, 1] - p[cut, 1]) / np.tan(want)
    k = np.hypot(shape.peak_x, shape.peak_y) / (p[cut, 0] - start_x)
    run = np.linspace([start_x, p[cut, 1]], p[touch], 60)[:-1]
    arc = p[np.linspace(touch, cut, count).astype(int)]
    curve = (np.concatenate([run, arc]) - [start_x, p[cut, 1]]) * k
    c, s = np.cos(turn), np.sin(turn)
    return curve @ np.array([[c, s], [-s, c]])


def resampled(curve: Floats, fractions: Floats) -> Floats:
    """Points of a polyline at fractions of its arc length."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    return np.stack([np.interp(fractions * arc[-1], arc, curve[:, i]) for i in range(curve.shape[1])], -1)


def planar(shape: Shape, fractions: Floats) -> Floats:
    """The unit rib (span 1) at fractions of its arc: x along the chord, y outward. Rib 12 is nearly straight."""
    curve = np.concatenate([proximal(shape, 200)[:-1], distal(shape, 200)])
    return resampled(curve, fractions)


def placed(flat: Floats, pump: float, swing: float, bucket: float) -> Floats:
    """Turn a planar rib into the body.

    Chord straight down and bulge outward at first; pump-handle about the lateral axis lifts the front end, lateral
    swing about the vertical moves it outward, bucket-handle about the chord lifts the lateral arc. Angles [rad].
    """
    chord = np.array([np.sin(pump) * np.cos(swing), -np.cos(pump), np.sin(pump) * np.sin(swing)])
    outward = np.array([-np.sin(swing), 0.0, np.cos(swing)])
    third = np.cross(outward, chord)
    outward = outward * np.cos(bucket) + np.array(third) * np.sin(bucket) * np.sign(third[1] or 1.0)
    return flat[:, :1] * chord + flat[:, 1:2] * outward
