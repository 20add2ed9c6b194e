"""Derivatives of a column of expressions in many directions.

A function d(x, u) = J(x) u is at hand that gives the derivative in one direction. Columns of J that have no row in common come out
of one call, and there are few sets of such columns where every equation is about a few neighbours: [curtis1974].
"""

import numpy as np

from ..formulations.evaluation import Evaluated


class Along:
    """The derivative d(x, u) as a function of arguments x and a matrix of directions, a column each."""

    def __init__(self, function):
        self._f, self._last = Evaluated(function), function.n_in() - 1
        self.function, self._plans = function, {}

    def __call__(self, x, directions):
        """J(x) D."""
        used = np.any(directions != 0, axis=1)
        plan = self._plan(used)
        if plan is None or len(plan.seeds) >= directions.shape[1]:
            return self._each(x, directions.T)
        rows, columns, sets = plan.places
        told = self._each(x, plan.seeds)
        J = np.zeros((len(told), int(used.sum())))
        J[rows, columns] = told[rows, sets]
        return _product(J, directions[used])

    def _each(self, x, directions):
        found = [self._f(*x, u).ravel() for u in directions]
        return np.array(found).T if len(found) else np.zeros((self.function.size_out(0)[0], 0))

    def _plan(self, used):
        """Sets of columns of J; None where none are used."""
        key = used.tobytes()
        if key not in self._plans:
            self._plans[key] = _Sets(self.function.jac_sparsity(0, self._last), used) if used.any() else None
        return self._plans[key]


class _Sets:
    """Which columns of a pattern are taken at once.

    seeds    directions, a row each
    places   rows and columns of all entries of those columns, and the direction that each comes out of
    """

    def __init__(self, pattern, used):
        every, columns = np.arange(pattern.size1()).tolist(), np.flatnonzero(used)
        part, _ = pattern.sub(every, columns.tolist())
        column, which = (np.array(x, int) for x in part.uni_coloring().get_triplet())
        of = np.zeros(len(columns), int)
        of[column] = which
        self.seeds = np.zeros((int(which.max()) + 1, len(used)))
        self.seeds[of, columns] = 1.0
        rows, entries = (np.array(x, int) for x in part.get_triplet())
        self.places = rows, entries, of[entries]


def _product(J, D):
    """J D, without sums where every column of D has one entry."""
    if (D != 0).sum(axis=0).max(initial=0) > 1:
        return J @ D
    only = np.argmax(D != 0, axis=0)
    return J[:, only] * D[only, np.arange(D.shape[1])]
