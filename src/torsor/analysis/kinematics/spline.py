"""Cubic splines through given values: twice continuously differentiable, as imposed motions must be.

The pieces are those of cubic tables. Three points give a parabola, two points a line.
"""

import numpy as np

from ...lookup.interpolation import KINDS, pieces


class Spline:
    """y, y′ and y″ as functions of x; outside the points the first and the last piece are extrapolated."""

    def __init__(self, x, y):
        x, y = np.asarray(x, float), np.asarray(y, float)
        if len(x) >= KINDS["cubic"].fewest:
            self.breaks, self.origins, self.coefficients = pieces(x, y, "cubic", "extrapolate")
        else:
            powers = np.vander(x - x[0], increasing=True)
            self.breaks, self.origins, self.coefficients = x[:0], x[:1], np.linalg.solve(powers, y)[:, None]

    def __call__(self, x):
        k = np.searchsorted(self.breaks, x, side="right")
        a, value, first, second = x - self.origins[k], 0 * x, 0 * x, 0 * x
        for c in reversed(self.coefficients):  # Horner's scheme of all three
            second = second * a + 2 * first
            first = first * a + value
            value = value * a + c[k]
        return value, first, second
