"""Derivatives of a column of expressions in many directions.

A function d(x, u) = J(x) u gives the derivative in one direction. Columns of J without a common row are computed by one call. If
J is sparse, few calls suffice (column coloring): [curtis1974].
"""

import numpy as np

from ..formulations.algebra.numpy_functions import NumericFunction


class DirectionalDerivative:
    """The product J(x) D, with one direction in each column of D."""

    def __init__(self, function):
        self._f, self._last = NumericFunction(function), function.n_in() - 1
        self.function, self._colorings = function, {}

    def __call__(self, x, directions):
        """J(x) D."""
        used = np.any(directions != 0, axis=1)
        coloring = self._coloring(used)
        if coloring is None or len(coloring.seeds) >= directions.shape[1]:
            return self._evaluate_each(x, directions.T)
        rows, columns, sets = coloring.entries
        values = self._evaluate_each(x, coloring.seeds)
        J = np.zeros((len(values), int(used.sum())))
        J[rows, columns] = values[rows, sets]
        return _product(J, directions[used])

    def _evaluate_each(self, x, directions):
        """J u for each row u of `directions`, as columns."""
        results = [self._f(*x, u).ravel() for u in directions]
        return np.array(results).T if len(results) else np.zeros((self.function.size_out(0)[0], 0))

    def _coloring(self, used):
        """The coloring of the used columns of J; None if no column is used."""
        key = used.tobytes()
        if key not in self._colorings:
            self._colorings[key] = (
                _ColumnColoring(self.function.jac_sparsity(0, self._last), used) if used.any() else None
            )
        return self._colorings[key]


class _ColumnColoring:
    """Groups of columns of a sparsity pattern that have no row in common.

    seeds     one direction for each group, in rows
    entries   rows and columns of all nonzero entries, and the group of each
    """

    def __init__(self, pattern, used):
        rows_of_pattern, columns = np.arange(pattern.size1()).tolist(), np.flatnonzero(used)
        part, _ = pattern.sub(rows_of_pattern, columns.tolist())
        column, color = (np.array(x, int) for x in part.uni_coloring().get_triplet())
        color_of = np.zeros(len(columns), int)
        color_of[column] = color
        self.seeds = np.zeros((int(color.max()) + 1, len(used)))
        self.seeds[color_of, columns] = 1.0
        rows, entries = (np.array(x, int) for x in part.get_triplet())
        self.entries = rows, entries, color_of[entries]


def _product(J, D):
    """J D, without sums if every column of D has one nonzero entry."""
    if (D != 0).sum(axis=0).max(initial=0) > 1:
        return J @ D
    entry = np.argmax(D != 0, axis=0)
    return J[:, entry] * D[entry, np.arange(D.shape[1])]
