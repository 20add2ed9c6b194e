"""Piecewise polynomials through given points, as rows of coefficients.

    f(u) = Σₖ cₖ (u − o)ᵏ       with o and c of the piece that u lies in                                 (1)

Breaks b separate the pieces. One more piece before the first break and one after the last define the values outside the range.

    nearest   degree 0; breaks half way between the points
    linear    degree 1; breaks at the points, as of all others
    akima     degree 3, slopes from the four nearest chords m: [akima1970, eq. (1)]                       (2)
              sᵢ = (|mᵢ₊₁ − mᵢ| mᵢ₋₁ + |mᵢ₋₁ − mᵢ₋₂| mᵢ) / (|mᵢ₊₁ − mᵢ| + |mᵢ₋₁ − mᵢ₋₂|)
    cubic     degree 3, slopes such that the second derivative is continuous, and the third at the first and last inner
              point (not a knot): [deboor1978, chapter IV]                                               (3)
              hᵢ sᵢ₋₁ + 2 (hᵢ₋₁ + hᵢ) sᵢ + hᵢ₋₁ sᵢ₊₁ = 3 (hᵢ mᵢ₋₁ + hᵢ₋₁ mᵢ)

hᵢ = xᵢ₊₁ − xᵢ, mᵢ = (yᵢ₊₁ − yᵢ) / hᵢ. All functions work along the first axis of the values; others are carried along.
"""

from typing import NamedTuple

import numpy as np

EVEN = 1e-9  # denominator of (2) / sum of |m| of the four chords, below which the slope is the mean of the two inner chords
MARGIN = 1e-12  # distance outside the range / range, below which a point counts as inside


class Kind(NamedTuple):
    """A kind of interpolation.

    degree   of the pieces
    smooth   order of the highest continuous derivative; −1: the function jumps
    fewest   least number of points
    """

    degree: int
    smooth: int
    fewest: int


KINDS = {"nearest": Kind(0, -1, 2), "linear": Kind(1, 0, 2), "akima": Kind(3, 1, 3), "cubic": Kind(3, 2, 4)}
OUTSIDE = ("hold", "error", "extrapolate")


def pieces(x, y, kind, outside):
    """Compute breaks, origins, and the coefficients of every power (piece, …) of a table with points x and values y (point, …)."""
    breaks = x.astype(float)
    if kind == "nearest":
        breaks, inner, origins = np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]]), [y], x
    else:
        inner, origins = _within(x, y, kind), x[:-1]
    # the end points belong to the inner pieces, so that they have the slopes of these
    margin = max(MARGIN * np.ptp(x), np.spacing(np.abs(x).max()))
    breaks[-1] += margin
    breaks[0] -= margin if outside == "error" else 0.0
    last = origins[-1] if outside == "extrapolate" else x[-1]
    return breaks, np.concatenate([x[:1], origins, [last]]), _with_ends(y, inner, outside)


def _with_ends(y, inner, outside):
    """Add the coefficients of the pieces before the first and after the last point."""
    if outside == "extrapolate":
        ends = [c[[0, -1]] for c in inner]
    else:
        rest = np.nan if outside == "error" else 0.0
        ends = [
            np.full((2, *c.shape[1:]), rest) if k or outside == "error" else y[[0, -1]] for k, c in enumerate(inner)
        ]
    return [np.concatenate([end[:1], c, end[1:]]) for end, c in zip(ends, inner)]


def _within(x, y, kind):
    """Compute the coefficients of the pieces between the points, power by power."""
    h = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
    m = np.diff(y, axis=0) / h
    if kind == "linear":
        return [y[:-1], m]
    s = _akima(m) if kind == "akima" else _smooth(h, m)
    s0, s1 = s[:-1], s[1:]
    return [y[:-1], s0, (3 * m - 2 * s0 - s1) / h, (s0 + s1 - 2 * m) / h**2]


def _akima(m):
    """Compute slopes by (2), with two more chords at both ends, extrapolated linearly."""
    before, after = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
    m = np.concatenate([[2 * before - m[0], before], m, [after, 2 * after - m[-1]]])
    turn = np.abs(np.diff(m, axis=0))
    left, right = turn[2:], turn[:-2]
    weight, steep = left + right, np.abs(m)
    uneven = weight > EVEN * (steep[:-3] + steep[1:-2] + steep[2:-1] + steep[3:])
    safe = np.where(uneven, weight, 1.0)
    return np.where(uneven, (left * m[1:-2] + right * m[2:-1]) / safe, 0.5 * (m[1:-2] + m[2:-1]))  # (2)


def _smooth(h, m):
    """Compute slopes by (3). The condition at an end, h₁ s₀ + (h₀ + h₁) s₁ = e, is subtracted from the first inner equation,
    which leaves a diagonally dominant system for the inner slopes."""
    low, high = h[1:].copy(), h[:-1].copy()  # off-diagonal entries: hᵢ and hᵢ₋₁
    diagonal, b = 2 * (low + high), 3 * (low * m[:-1] + high * m[1:])
    first, last = _end(h[0], h[1], m[0], m[1]), _end(h[-1], h[-2], m[-1], m[-2])
    diagonal[0], diagonal[-1] = diagonal[0] - (h[0] + h[1]), diagonal[-1] - (h[-1] + h[-2])
    b[0], b[-1] = b[0] - first, b[-1] - last
    s = solve_tridiagonal(low, diagonal, high, b)
    start = (first - (h[0] + h[1]) * s[:1]) / h[1]
    return np.concatenate([start, s, (last - (h[-1] + h[-2]) * s[-1:]) / h[-2]])


def _end(h0, h1, m0, m1):
    """Compute e of an end: the third derivative is continuous at the point next to the end."""
    return ((h0 + 2 * (h0 + h1)) * h1 * m0 + h0**2 * m1) / (h0 + h1)


def solve_tridiagonal(low, diagonal, high, b):
    """Solve  lowᵢ xᵢ₋₁ + diagonalᵢ xᵢ + highᵢ xᵢ₊₁ = bᵢ  by cyclic reduction.

    Every other unknown is eliminated; the rest is a tridiagonal system of half the size. Stable for diagonally dominant systems.
    """
    n = len(diagonal)
    if n == 1:
        return b / diagonal
    low, high = low.copy(), high.copy()
    low[0], high[-1] = 0.0, 0.0
    pad = lambda a, fill=0.0: np.concatenate([a, np.full((1, *a.shape[1:]), fill)])
    if n % 2 == 0:  # one more equation, x = 0, so that every odd row has two neighbours
        low, diagonal, high, b = pad(low), pad(diagonal, 1.0), pad(high), pad(b)
    odd, before, after = slice(1, None, 2), slice(0, -1, 2), slice(2, None, 2)
    f, g = -low[odd] / diagonal[before], -high[odd] / diagonal[after]
    x = np.zeros_like(b)
    x[odd] = solve_tridiagonal(
        f * low[before],
        diagonal[odd] + f * high[before] + g * low[after],
        g * high[after],
        b[odd] + f * b[before] + g * b[after],
    )
    even = slice(0, None, 2)
    around = np.concatenate([np.zeros_like(x[:1]), x[odd], np.zeros_like(x[:1])])
    x[even] = (b[even] - low[even] * around[:-1] - high[even] * around[1:]) / diagonal[even]
    return x[:n]
