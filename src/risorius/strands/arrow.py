"""Block-arrow elimination: every strand, with its constraint rows in place, is a narrow band that is eliminated onto the
border of links, joint speeds and loop rows; the border is dense and small.

A strand's unknowns are its control points in order, each constraint row behind the last control point that it reads:
[A Gᵀ; G −ε] in that order is factorised as L D Lᵀ without pivoting (A is positive definite and a row comes after all it
reads, so that its pivot is −(G A⁻¹ Gᵀ + ε) < 0). Rows are stored from their first non-zero on (an envelope).
"""

from __future__ import annotations

from risorius.maths.compiled import inner

SOFT = 1e-9
"""ε [m/s per N s]: compliance that keeps doubled constraints solvable."""


@inner
def order_strand(threads, t, start, place_of, hold_row, from_column):
    """Row of every control point (n) and hold of strand t, and the first column of every row; returns the number of rows."""
    first, count = threads.first[t], threads.first[t + 1] - threads.first[t]
    row = 0
    for i in range(count):
        place_of[i] = row
        for x in range(3):
            from_column[row + x] = place_of[max(i - 3, 0)]
        row += 3
        for c in range(threads.hold_first[t], threads.hold_first[t + 1]):
            if start[c] - first + 3 == i:
                hold_row[c] = row
                for _ in range(threads.row_first[c], threads.row_first[c + 1]):
                    from_column[row] = place_of[i - 3]
                    row += 1
    return row


@inner
def factorise(band, width, from_column, rows):
    """L D Lᵀ of a symmetric envelope in place: unit L left of the diagonal, D on it. Returns the number of bad pivots."""
    bad = 0
    last = width - 1
    for i in range(rows):
        s = from_column[i]
        for j in range(s, i):
            k0 = max(s, from_column[j])
            total = band[i, j - i + last]
            oi, oj = last - i, last - j
            for k in range(k0, j):
                total -= band[i, k + oi] * band[j, k + oj]
            band[i, j + oi] = total
        total = band[i, last]
        for j in range(s, i):
            held = band[i, j - i + last]
            value = held / band[j, last]
            band[i, j - i + last] = value
            total -= held * value
        if not abs(total) > 1e-30:
            bad += 1
            total = 1e-30
        band[i, last] = total
    return bad


@inner
def forward(band, width, from_column, rows, columns):
    """columns (rows, m) := L⁻¹ columns."""
    last = width - 1
    m = columns.shape[1]
    for i in range(rows):
        for j in range(from_column[i], i):
            value = band[i, j - i + last]
            if value != 0.0:
                for p in range(m):
                    columns[i, p] -= value * columns[j, p]


@inner
def back(band, width, from_column, rows, x):
    """x (rows) := L⁻ᵀ D⁻¹ x."""
    last = width - 1
    for i in range(rows):
        x[i] /= band[i, last]
    for i in range(rows - 1, -1, -1):
        value = x[i]
        for j in range(from_column[i], i):
            x[j] -= band[i, j - i + last] * value


@inner
def onto_border(band, width, rows, columns, held, index, t, matrix, drive, right):
    """Subtract Bᵀ K⁻¹ [B a r] of a strand from the border: columns (rows, m + 2) hold L⁻¹ [B a r]; index (m) places."""
    m = index.size
    last = width - 1
    held[:m, : m + 2] = 0.0
    for i in range(rows):
        inverse = 1.0 / band[i, last]
        for p in range(m):
            value = columns[i, p] * inverse
            if value != 0.0:
                for r in range(m + 2):
                    held[p, r] += value * columns[i, r]
    for p in range(m):
        for r in range(m):
            matrix[index[p], index[r]] -= held[p, r]
        drive[index[p], t] -= held[p, m]
        right[index[p]] -= held[p, m + 1]


@inner
def factorise_border(matrix, size):
    """L D Lᵀ in place of a dense symmetric quasi-definite matrix (lower triangle). Returns the number of bad pivots."""
    bad = 0
    for i in range(size):
        for j in range(i):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total
        total = matrix[i, i]
        for j in range(i):
            held = matrix[i, j]
            matrix[i, j] = held / matrix[j, j]
            total -= held * matrix[i, j]
        if not abs(total) > 1e-30:
            bad += 1
            total = 1e-30
        matrix[i, i] = total
    return bad


@inner
def solve_border(matrix, size, columns):
    """columns (size, m) := matrix⁻¹ columns, from its factors."""
    m = columns.shape[1]
    for i in range(size):
        for j in range(i):
            value = matrix[i, j]
            if value != 0.0:
                for p in range(m):
                    columns[i, p] -= value * columns[j, p]
    for i in range(size - 1, -1, -1):
        for p in range(m):
            columns[i, p] /= matrix[i, i]
        for k in range(i + 1, size):
            value = matrix[k, i]
            if value != 0.0:
                for p in range(m):
                    columns[i, p] -= value * columns[k, p]
