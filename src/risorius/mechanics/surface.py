"""Closed triangle surfaces: volume, its gradient, and the weight of a fluid inside.

V = Σ (a−c)·((b−c)×(d−c))/6 over faces (tetrahedra to an inner point c: D §3.2.1). The gradient with respect to a vertex
is what a unit pressure does to it, so pressures in this form neither create nor lose energy.
"""

from __future__ import annotations

from risorius.maths.compiled import kernel


@kernel
def volume_gradient(points, faces, centre, gradient):
    """Volume [m³] of a closed surface; adds ∂V/∂x [m²] to gradient (n, 3)."""
    total = 0.0
    for i in range(faces.shape[0]):
        p, q, r = faces[i, 0], faces[i, 1], faces[i, 2]
        a0, a1, a2 = points[p, 0] - centre[0], points[p, 1] - centre[1], points[p, 2] - centre[2]
        b0, b1, b2 = points[q, 0] - centre[0], points[q, 1] - centre[1], points[q, 2] - centre[2]
        d0, d1, d2 = points[r, 0] - centre[0], points[r, 1] - centre[1], points[r, 2] - centre[2]
        u0, u1, u2 = b1 * d2 - b2 * d1, b2 * d0 - b0 * d2, b0 * d1 - b1 * d0
        total += a0 * u0 + a1 * u1 + a2 * u2
        gradient[p, 0] += u0 / 6.0
        gradient[p, 1] += u1 / 6.0
        gradient[p, 2] += u2 / 6.0
        gradient[q, 0] += (d1 * a2 - d2 * a1) / 6.0
        gradient[q, 1] += (d2 * a0 - d0 * a2) / 6.0
        gradient[q, 2] += (d0 * a1 - d1 * a0) / 6.0
        gradient[r, 0] += (a1 * b2 - a2 * b1) / 6.0
        gradient[r, 1] += (a2 * b0 - a0 * b2) / 6.0
        gradient[r, 2] += (a0 * b1 - a1 * b0) / 6.0
    return total / 6.0


@kernel
def fluid_weight(points, faces, centre, heaviness, force):
    """Adds to force (n, 3) what a fluid of weight `heaviness` (3,) [N/m³] does to its container, gauge zero at centre.

    Potential U = −∫ w·(x − c) dV, over tetrahedra v (a+b+d−3c)/4; the pressure at x is then w·(x − c).
    """
    w0, w1, w2 = heaviness[0], heaviness[1], heaviness[2]
    for i in range(faces.shape[0]):
        p, q, r = faces[i, 0], faces[i, 1], faces[i, 2]
        a0, a1, a2 = points[p, 0] - centre[0], points[p, 1] - centre[1], points[p, 2] - centre[2]
        b0, b1, b2 = points[q, 0] - centre[0], points[q, 1] - centre[1], points[q, 2] - centre[2]
        d0, d1, d2 = points[r, 0] - centre[0], points[r, 1] - centre[1], points[r, 2] - centre[2]
        u0, u1, u2 = b1 * d2 - b2 * d1, b2 * d0 - b0 * d2, b0 * d1 - b1 * d0
        v = (a0 * u0 + a1 * u1 + a2 * u2) / 24.0
        mean = (w0 * (a0 + b0 + d0) + w1 * (a1 + b1 + d1) + w2 * (a2 + b2 + d2)) / 24.0
        force[p, 0] += mean * u0 + v * w0
        force[p, 1] += mean * u1 + v * w1
        force[p, 2] += mean * u2 + v * w2
        force[q, 0] += mean * (d1 * a2 - d2 * a1) + v * w0
        force[q, 1] += mean * (d2 * a0 - d0 * a2) + v * w1
        force[q, 2] += mean * (d0 * a1 - d1 * a0) + v * w2
        force[r, 0] += mean * (a1 * b2 - a2 * b1) + v * w0
        force[r, 1] += mean * (a2 * b0 - a0 * b2) + v * w1
        force[r, 2] += mean * (a0 * b1 - a1 * b0) + v * w2


@kernel
def volume_inside(points, faces, centre):
    """Volume [m³] of a closed surface with outward faces."""
    total = 0.0
    for i in range(faces.shape[0]):
        p, q, r = faces[i, 0], faces[i, 1], faces[i, 2]
        a0, a1, a2 = points[p, 0] - centre[0], points[p, 1] - centre[1], points[p, 2] - centre[2]
        b0, b1, b2 = points[q, 0] - centre[0], points[q, 1] - centre[1], points[q, 2] - centre[2]
        d0, d1, d2 = points[r, 0] - centre[0], points[r, 1] - centre[1], points[r, 2] - centre[2]
        total += a0 * (b1 * d2 - b2 * d1) + a1 * (b2 * d0 - b0 * d2) + a2 * (b0 * d1 - b1 * d0)
    return total / 6.0
