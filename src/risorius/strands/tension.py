"""Tension of strands, and their equations as a banded matrix: (1 + hα) M + (h² + hβ) K, momentum and forces (H §3.2, 3.4).

Rayleigh's β damps what stretches, not what turns: a strand that runs round a bend must not be braked by its own tension.
With λ = |p'|/metric the force on control point a is −w T t̂ b'_a at every sample; its stiffness keeps the positive parts

    C = w [ max(∂T/∂λ, 0)/metric · t̂ t̂ᵀ + max(T, 0)/|p'| · (I − t̂ t̂ᵀ) ] b'_a b'_b

Active force stands in a column of its own, linear in the activation: f = A a (H eq. 15). Its stiffness enters with the
activation that is expected over the step.
"""

from __future__ import annotations

import math

import numpy as np

from risorius.maths.compiled import inner, kernel
from risorius.strands.laws import active_force, passive_force, velocity_factor


@inner
def sample_state(threads, laws, points, velocities, g, tangent):
    """|p'|, stretch, rate of stretch of a sample; unit tangent into (3,)."""
    k = threads.sample_point[g]
    swift = np.zeros(3)
    tangent[:] = 0.0
    for a in range(4):
        for x in range(3):
            tangent[x] += threads.slope[g, a] * points[k + a, x]
            swift[x] += threads.slope[g, a] * velocities[k + a, x]
    size = math.sqrt(tangent[0] ** 2 + tangent[1] ** 2 + tangent[2] ** 2)
    size = max(size, 1e-9)
    for x in range(3):
        tangent[x] /= size
    rate = (tangent[0] * swift[0] + tangent[1] * swift[1] + tangent[2] * swift[2]) / threads.metric[g]
    return size, size / threads.metric[g], rate


@inner
def strand_system(
    threads, laws, t, points, velocities, drag, activation, gravity, h, place_of, band, width, right, pull
):
    """Equations of strand t: fills `band` (rows, width) at the rows `place_of` (n), right (rows), active column pull (rows).

    `drag` [1/s] is added to α: it holds back a strand that would turn too far in one step (`excess_of_strands`).
    Row i of the band holds column j at [i, j − i + width − 1].
    """
    first, count = threads.first[t], threads.first[t + 1] - threads.first[t]
    alpha, beta = threads.damping[t, 0], threads.damping[t, 1]
    inertia, implicit = 1.0 + h * (alpha + drag), h * h + h * beta
    for i in range(count):
        for back in range(4):
            m = threads.mass[first + i, 3 - back]
            if back > i or m == 0.0:
                continue
            for x in range(3):
                row, column = place_of[i] + x, place_of[i - back] + x
                band[row, column - row + width - 1] += inertia * m
                right[row] += m * velocities[first + i - back, x]
                if back:
                    right[column] += m * velocities[first + i, x]
        for x in range(3):
            right[place_of[i] + x] += h * threads.weight[first + i] * gravity[x]
    tangent = np.empty(3)
    block = np.empty((3, 3))
    for g in range(threads.sample_first[t], threads.sample_first[t + 1]):
        size, stretch, rate = sample_state(threads, laws, points, velocities, g, tangent)
        law, w = threads.law[g], threads.width[g]
        factor, slope = passive_force(laws, law, stretch, threads.compression[g])
        passive, rise = threads.stiffness[g] * factor, threads.stiffness[g] * max(slope, 0.0)
        active, lag = 0.0, 0.0
        if threads.strength[g] > 0.0:
            length, length_slope = active_force(laws, law, stretch)
            speed, speed_slope, rate = velocity_factor(laws, law, rate)
            active = threads.strength[g] * length * speed
            rise += activation * threads.strength[g] * max(length_slope, 0.0) * speed
            lag = activation * threads.strength[g] * length * max(speed_slope, 0.0)
        tension = passive + activation * active
        metric = threads.metric[g]
        along = w * (implicit * rise + h * lag) / metric
        aside = w * h * h * max(tension, 0.0) / size
        for x in range(3):
            for y in range(3):
                block[x, y] = (along - aside) * tangent[x] * tangent[y]
            block[x, x] += aside
        base = threads.sample_point[g] - first
        steady = passive - lag * rate
        for a in range(4):
            slope_a = threads.slope[g, a]
            if slope_a == 0.0:
                continue
            top = place_of[base + a]
            for x in range(3):
                right[top + x] -= h * w * steady * slope_a * tangent[x]
                pull[top + x] -= h * w * active * slope_a * tangent[x]
            for b in range(a + 1):
                value = slope_a * threads.slope[g, b]
                if value == 0.0:
                    continue
                left = place_of[base + b]
                for x in range(3):
                    offset = left - top - x + width - 1
                    for y in range(x + 1 if a == b else 3):
                        band[top + x, offset + y] += value * block[x, y]


@kernel
def excess_of_strands(threads, points, velocities, h, out):
    """Strain that the linear step overlooks because strands turn, greatest of each strand, into out (t,).

    |p' + h ṗ'| − (|p'| + h t̂·ṗ'), over the metric: of second order in the turn of a span over the step.
    """
    for t in range(threads.first.size - 1):
        out[t] = 0.0
        for g in range(threads.sample_first[t], threads.sample_first[t + 1]):
            old = new = along = 0.0
            for x in range(3):
                p = v = 0.0
                for a in range(4):
                    p += threads.slope[g, a] * points[threads.sample_point[g] + a, x]
                    v += threads.slope[g, a] * velocities[threads.sample_point[g] + a, x]
                old += p * p
                new += (p + h * v) ** 2
                along += p * v
            old = max(math.sqrt(old), 1e-9)
            excess = (math.sqrt(new) - old - h * along / old) / threads.metric[g]
            out[t] = max(out[t], excess)


@kernel
def tensions(threads, laws, points, velocities, activation, out):
    """Tension [N] at every sample into out (g,)."""
    tangent = np.empty(3)
    for t in range(threads.first.size - 1):
        for g in range(threads.sample_first[t], threads.sample_first[t + 1]):
            _size, stretch, rate = sample_state(threads, laws, points, velocities, g, tangent)
            factor, _ = passive_force(laws, threads.law[g], stretch, threads.compression[g])
            out[g] = threads.stiffness[g] * factor
            if threads.strength[g] > 0.0:
                length, _ = active_force(laws, threads.law[g], stretch)
                speed, _, _ = velocity_factor(laws, threads.law[g], rate)
                out[g] += activation[t] * threads.strength[g] * length * speed


@kernel
def lengths(threads, points, out):
    """Length [m] of every strand into out (t,), by the elastic samples."""
    for t in range(threads.first.size - 1):
        out[t] = 0.0
        for g in range(threads.sample_first[t], threads.sample_first[t + 1]):
            square = 0.0
            for x in range(3):
                value = 0.0
                for a in range(4):
                    value += threads.slope[g, a] * points[threads.sample_point[g] + a, x]
                square += value * value
            out[t] += threads.width[g] * math.sqrt(square)
