"""Closest points on a B-spline surface: the smallest of all local minima, to the last digits of (u, v)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from risorius.maths.bspline import DEGREE_LIMIT, basis, clamped_knots, closed_knots, surface, wrapped
from risorius.maths.compiled import inner, kernel

Floats = NDArray[np.float64]
FINENESS: Final = 8
"""Samples a patch and direction that the search starts from."""
STARTS: Final = 12
STEPS: Final = 60
REACH: Final = 0.2
"""Longest step, in patches."""
WIDTH: Final = DEGREE_LIMIT + 1


@dataclass(frozen=True, eq=False)
class Patchwork:
    """A B-spline surface ready for queries.

    Args:
        grid: (u, v, 3) control points; with `closed`, v repeats its first `degree` columns.
        degree: of both directions.
        patches: number of them along u and v.
        closed: along v.
    """

    grid: Floats
    degree: int
    patches: tuple[int, int]
    closed: bool
    knots_u: Floats
    knots_v: Floats

    @staticmethod
    def of(points: Floats, degree: int, closed: bool = False) -> Patchwork:
        """From control points (u, v, 3), each given once."""
        rows, columns = points.shape[:2]
        patches = (rows - degree, columns if closed else columns - degree)
        grid = np.ascontiguousarray(wrapped(points, degree) if closed else points, dtype=np.float64)
        knots_v = closed_knots(degree, patches[1]) if closed else clamped_knots(degree, patches[1])
        return Patchwork(grid, degree, patches, closed, clamped_knots(degree, patches[0]), knots_v)

    def at(self, u: Floats, v: Floats) -> Floats:
        """(len(u), len(v), 3) points of the surface."""
        return surface(self.grid, self.knots_u, self.knots_v, self.degree, u, v)

    def samples(self, fineness: int = FINENESS) -> tuple[Floats, Floats, Floats]:
        """u, v and the points (u, v, 3) of an even grid."""
        u, v = (np.linspace(0.0, 1.0, fineness * count + 1) for count in self.patches)
        return u, v, self.at(u, v)

    def closest(self, points: Floats, reach: float = np.inf) -> tuple[Floats, Floats]:
        """(n, 2) the (u, v) of the closest point to each of (n, 3) points, and its distance (n,).

        Points farther than `reach` from the surface have distance inf.
        """
        fineness = max(FINENESS, 32 // max(self.patches))
        _, _, samples = self.samples(fineness)
        return search(np.ascontiguousarray(points, dtype=np.float64), self.grid, self.knots_u, self.knots_v,
                      self.degree, self.patches[0], self.patches[1], self.closed, samples,
                      spread(samples), min(float(reach), 1e300))  # fmt: skip


def spread(samples: Floats) -> float:
    """Longest edge between neighbouring samples."""
    across = np.linalg.norm(np.diff(samples, axis=0), axis=2)
    along = np.linalg.norm(np.diff(samples, axis=1), axis=2)
    return float(max(across.max(initial=0.0), along.max(initial=0.0)))


@kernel
def search(points, grid, knots_u, knots_v, degree, patches_u, patches_v, closed, samples, step, reach):
    count, rows, columns = len(points), samples.shape[0], samples.shape[1]
    place = np.zeros((count, 2))
    distance = np.full(count, np.inf)
    far = np.empty((rows, columns))
    scratch = np.zeros((2, 3, WIDTH))
    starts = np.empty((STARTS, 2), np.int64)
    low, high = np.empty(3), np.empty(3)
    for axis in range(3):
        low[axis] = grid[:, :, axis].min()
        high[axis] = grid[:, :, axis].max()
    whole_u, whole_v = 1.0 / (rows - 1), 1.0 / (columns - 1)
    for i in range(count):
        p = points[i]
        gap = 0.0
        for axis in range(3):
            short = max(low[axis] - p[axis], p[axis] - high[axis], 0.0)
            gap += short * short
        if gap > reach * reach:
            continue
        best = np.inf
        for a in range(rows):
            for b in range(columns):
                s = samples[a, b]
                d = (p[0] - s[0]) ** 2 + (p[1] - s[1]) ** 2 + (p[2] - s[2]) ** 2
                far[a, b] = d
                if d < best:
                    best = d
        edge = np.sqrt(best)
        if edge - step > reach:
            continue
        found = minima(far, (edge + step) ** 2, closed, starts)
        nearest = np.inf
        for k in range(found):
            u, v, d = descend(p, grid, knots_u, knots_v, degree, patches_u, patches_v, closed,
                              starts[k, 0] * whole_u, starts[k, 1] * whole_v, scratch)  # fmt: skip
            if d < nearest:
                nearest = d
                place[i, 0] = u
                place[i, 1] = v
        d = np.sqrt(nearest)
        if d <= reach:
            distance[i] = d
    return place, distance


@inner
def minima(far, limit, closed, starts):
    """Samples no farther than all their neighbours and within `limit`; the nearest STARTS of them."""
    rows, columns = far.shape
    found = 0
    for a in range(rows):
        for b in range(columns):
            d = far[a, b]
            if d > limit:
                continue
            least = True
            for da in range(-1, 2):
                for db in range(-1, 2):
                    c, e = a + da, b + db
                    if da != 0 and db != 0:
                        continue  # narrow valleys run along diagonals
                    if closed:
                        e = (e + columns - 1) % (columns - 1)
                    if 0 <= c < rows and 0 <= e < columns and far[c, e] < d:
                        least = False
            if not least:
                continue
            at = found
            if found < STARTS:
                found += 1
            else:
                at = STARTS - 1
                if far[starts[at, 0], starts[at, 1]] <= d:
                    continue
            while at > 0 and far[starts[at - 1, 0], starts[at - 1, 1]] > d:
                starts[at, 0] = starts[at - 1, 0]
                starts[at, 1] = starts[at - 1, 1]
                at -= 1
            starts[at, 0] = a
            starts[at, 1] = b
    return found


@inner
def descend(p, grid, knots_u, knots_v, degree, patches_u, patches_v, closed, u, v, scratch):
    """Newton's method on ½|S(u, v) − p|² inside the square, with a line search; gives u, v and the squared distance.

    With degree 1 the surface has creases along its knots: each patch is searched by itself and left across its edge.
    """
    low_u, high_u, low_v, high_v = 0.0, 1.0, 0.0, 1.0
    if degree == 1:
        best_u, best_v, best = u, v, np.inf
        au = min(int(u * patches_u), patches_u - 1)
        av = min(int(v * patches_v), patches_v - 1)
        for da in range(-1, 2):
            for db in range(-1, 2):
                a, b = au + da, av + db
                if closed:
                    b = (b + patches_v) % patches_v
                if 0 <= a < patches_u and 0 <= b < patches_v:
                    low_u, high_u = a / patches_u, (a + 1) / patches_u
                    low_v, high_v = b / patches_v, (b + 1) / patches_v
                    nu, nv, d = newton(p, grid, knots_u, knots_v, degree, patches_u, patches_v, False,
                                       min(max(u, low_u), high_u), min(max(v, low_v), high_v),
                                       low_u, high_u, low_v, high_v, scratch)  # fmt: skip
                    if d < best:
                        best_u, best_v, best = nu, nv, d
        return best_u, best_v, best
    return newton(p, grid, knots_u, knots_v, degree, patches_u, patches_v, closed, u, v,
                  low_u, high_u, low_v, high_v, scratch)  # fmt: skip


@inner
def newton(
    p, grid, knots_u, knots_v, degree, patches_u, patches_v, closed, u, v, low_u, high_u, low_v, high_v, scratch
):
    # a box inside one patch keeps to that patch's polynomials at its edges, too
    f, gu, gv, huu, huv, hvv, fuu, fvv, fuv = local(
        p, grid, knots_u, knots_v, degree, patches_u, patches_v, u, v, scratch, 0.5 * (low_u + high_u),
        0.5 * (low_v + high_v)
    )  # fmt: skip
    for _ in range(STEPS):
        hold_u = (u <= low_u and gu > 0) or (u >= high_u and gu < 0)
        hold_v = not closed and ((v <= low_v and gv > 0) or (v >= high_v and gv < 0))
        if hold_u and hold_v:
            break
        step_u, step_v = direction(gu, gv, huu, huv, hvv, fuu, fuv, fvv, hold_u, hold_v)
        if (u <= low_u and step_u < 0) or (u >= high_u and step_u > 0):  # the two together lead out of the square
            step_u, step_v = direction(gu, gv, huu, huv, hvv, fuu, fuv, fvv, True, False)
        elif not closed and ((v <= low_v and step_v < 0) or (v >= high_v and step_v > 0)):
            step_u, step_v = direction(gu, gv, huu, huv, hvv, fuu, fuv, fvv, False, True)
        longest = max(abs(step_u) * patches_u, abs(step_v) * patches_v)
        if longest > REACH:  # no farther than the samples vouch for
            step_u, step_v = step_u * REACH / longest, step_v * REACH / longest
        if abs(step_u) < 1e-14 and abs(step_v) < 1e-14:
            break
        size = 1.0
        moved = False
        for _ in range(40):
            nu = min(max(u + size * step_u, low_u), high_u)
            nv = v + size * step_v
            nv = nv - np.floor(nv) if closed else min(max(nv, low_v), high_v)
            now = local(p, grid, knots_u, knots_v, degree, patches_u, patches_v, nu, nv, scratch,
                        0.5 * (low_u + high_u), 0.5 * (low_v + high_v))  # fmt: skip
            if now[0] <= f * (1.0 + 1e-15) + 1e-300:
                moved = True
                break
            size *= 0.5
        if not moved:
            break
        done = abs(nu - u) < 1e-13 and abs(nv - v) < 1e-13
        u, v = nu, nv
        f, gu, gv, huu, huv, hvv, fuu, fvv, fuv = now
        if done:
            break
    return u, v, f


@inner
def direction(gu, gv, huu, huv, hvv, fuu, fuv, fvv, hold_u, hold_v):
    """Newton's step on the free directions, or Gauss and Newton's where the Hessian is not positive."""
    if hold_u:
        return 0.0, -gv / (hvv if hvv > 0 else max(fvv, 1e-300))
    if hold_v:
        return -gu / (huu if huu > 0 else max(fuu, 1e-300)), 0.0
    det = huu * hvv - huv * huv
    if not (huu > 0 and det > 1e-12 * huu * abs(hvv)):
        slack = 1e-9 * (fuu + fvv) + 1e-300
        huu, huv, hvv = fuu + slack, fuv, fvv + slack
        det = huu * hvv - huv * huv
    return (huv * gv - hvv * gu) / det, (huv * gu - huu * gv) / det


@inner
def local(p, grid, knots_u, knots_v, degree, patches_u, patches_v, u, v, scratch, middle_u, middle_v):
    """|S − p|² and, of half of it, gradient, Hessian, and the Hessian's first-order part."""
    if degree == 1:  # the patch that the middle of the box lies in
        au = min(int(middle_u * patches_u), patches_u - 1)
        av = min(int(middle_v * patches_v), patches_v - 1)
        for side in range(2):
            x = (u * patches_u - au) if side == 0 else (v * patches_v - av)
            slope = float(patches_u if side == 0 else patches_v)
            scratch[side, 0, 0] = 1.0 - x
            scratch[side, 0, 1] = x
            scratch[side, 1, 0] = -slope
            scratch[side, 1, 1] = slope
            scratch[side, 2, 0] = 0.0
            scratch[side, 2, 1] = 0.0
    else:
        au = basis(knots_u, degree, patches_u, u, scratch[0])
        av = basis(knots_v, degree, patches_v, v, scratch[1])
    f = gu = gv = huu = huv = hvv = fuu = fvv = fuv = 0.0
    for axis in range(3):
        s = su = sv = suu = suv = svv = 0.0
        for i in range(degree + 1):
            r = r1 = r2 = 0.0
            for j in range(degree + 1):
                q = grid[au + i, av + j, axis]
                r += scratch[1, 0, j] * q
                r1 += scratch[1, 1, j] * q
                r2 += scratch[1, 2, j] * q
            s += scratch[0, 0, i] * r
            su += scratch[0, 1, i] * r
            suu += scratch[0, 2, i] * r
            sv += scratch[0, 0, i] * r1
            suv += scratch[0, 1, i] * r1
            svv += scratch[0, 0, i] * r2
        e = s - p[axis]
        f += e * e
        gu += e * su
        gv += e * sv
        fuu += su * su
        fvv += sv * sv
        fuv += su * sv
        huu += e * suu
        hvv += e * svv
        huv += e * suv
    return f, gu, gv, huu + fuu, huv + fuv, hvv + fvv, fuu, fvv, fuv


@kernel
def weights_at(place, knots_u, knots_v, degree, patches_u, patches_v, width):
    """Basis values at (n, 2) places: (n, 2, width), zero beyond degree + 1, and the first row and column (n, 2)."""
    out = np.zeros((len(place), 2, width))
    first = np.zeros((len(place), 2), np.int32)
    scratch = np.zeros((3, WIDTH))
    for i in range(len(place)):
        first[i, 0] = basis(knots_u, degree, patches_u, place[i, 0], scratch)
        for j in range(degree + 1):
            out[i, 0, j] = scratch[0, j]
        first[i, 1] = basis(knots_v, degree, patches_v, place[i, 1], scratch)
        for j in range(degree + 1):
            out[i, 1, j] = scratch[0, j]
    return out, first
