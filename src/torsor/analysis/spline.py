"""Cubic splines through given numbers: twice continuously differentiable, as imposed motions have to be.

    s = Σ yᵢ … with s″ = M linear between the points:
    hᵢ₋₁ Mᵢ₋₁ + 2 (hᵢ₋₁ + hᵢ) Mᵢ + hᵢ Mᵢ₊₁ = 6 (dᵢ − dᵢ₋₁),     dᵢ = (yᵢ₊₁ − yᵢ)/hᵢ                    (1)

At both ends the third derivative is continuous at the point next to them ("not a knot"): M₀ = M₁ − (M₂ − M₁) h₀/h₁.
"""

import numpy as np


class Spline:
    """y, y′ and y″ at any x between the first point and the last; beyond them the outer pieces go on."""

    def __init__(self, x, y):
        self.x, self.y = np.asarray(x, float), np.asarray(y, float)
        self.h = np.diff(self.x)
        self.bend = _second(self.h, self.y)

    def __call__(self, x):
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, max(len(self.x) - 2, 0))
        if len(self.x) == 1:
            return self.y[k] + 0 * x, 0 * x, 0 * x
        h, a = self.h[k], x - self.x[k]
        (y0, y1), (m0, m1) = (self.y[k], self.y[k + 1]), (self.bend[k], self.bend[k + 1])
        third = (m1 - m0) / h
        first = (y1 - y0) / h - h * (2 * m0 + m1) / 6
        return y0 + a * (first + a * (m0 / 2 + a * third / 6)), first + a * (m0 + a * third / 2), m0 + a * third


def _second(h, y):
    """s″ at the points: (1)."""
    n = len(h) + 1
    d = np.diff(y) / h
    if n < 3:
        return np.zeros(n)
    if n == 3:  # one parabola
        return np.full(3, 2 * (d[1] - d[0]) / (h[0] + h[1]))
    low, up = h[:-1].copy(), h[1:].copy()
    middle, right = 2 * (h[:-1] + h[1:]), 6 * np.diff(d)
    middle[0] += h[0] + h[0] ** 2 / h[1]  # M₀ and Mₙ in terms of their neighbours
    up[0] -= h[0] ** 2 / h[1]
    middle[-1] += h[-1] + h[-1] ** 2 / h[-2]
    low[-1] -= h[-1] ** 2 / h[-2]
    inner = _tridiagonal(low, middle, up, right)
    first = inner[0] - (inner[1] - inner[0]) * h[0] / h[1]
    last = inner[-1] + (inner[-1] - inner[-2]) * h[-1] / h[-2]
    return np.concatenate([[first], inner, [last]])


def _tridiagonal(low, middle, up, right):
    """Elimination; low[0] and up[-1] stand outside the matrix."""
    middle, right = middle.tolist(), right.tolist()
    for k in range(1, len(middle)):
        factor = low[k] / middle[k - 1]
        middle[k] -= factor * up[k - 1]
        right[k] -= factor * right[k - 1]
    for k in range(len(middle) - 1, -1, -1):
        after = up[k] * right[k + 1] if k + 1 < len(middle) else 0.0
        right[k] = (right[k] - after) / middle[k]
    return np.array(right)
