"""Linear dependencies of the rows of a sparse matrix: which rows depend on the rows before them, and how.

Rows are processed one after the other. Z is an orthonormal basis of the directions that all rows so far leave free, restricted to
the columns that later rows use. A row is independent if its part along Z exceeds the tolerance ε of `diagnosis.py`:

    |row Z| > ε max(|row|, 1)        Z ← directions of Z orthogonal to it                             (1)

A column that no later row uses is removed from Z, so that Z stays as small as the loops that are open at a time. A dependent row
is a combination of rows that share columns with it, directly or through other rows:

    0 = row_i − Σ c_j row_j                                                                           (2)
"""

import heapq

import numpy as np

from .diagnosis import DEPENDENT_SINE
from .start_tolerances import COEFFICIENT_ZERO, COMBINATION_RESIDUAL, FREE_DIRECTION, WRENCH_ZERO


class Dependencies:
    """Linear dependencies of the rows of loops.

    keep     [row]: True if the row is independent of the rows before it
    shares   one dictionary for each dependent row: the coefficients of (2), by row
    """

    def __init__(self, loops, values):
        self.columns = []
        self.rows = []
        for loop, size in enumerate(loops.sizes.tolist()):
            entries = slice(loops.at_entry[loop], loops.at_entry[loop + 1])
            self.columns += [loops.column[entries]] * size
            self.rows += list(values[entries, :size].T)
        self.keep = np.zeros(len(self.rows), bool)
        self._eliminate(np.r_[loops.at_row, len(self.rows)].tolist())
        self._rows_of_column: dict[int, list] = {}
        for k in np.flatnonzero(self.keep).tolist():
            for column in self.columns[k].tolist():
                self._rows_of_column.setdefault(column, []).append(k)
        self.shares = [self._combination(k) for k in np.flatnonzero(~self.keep).tolist()]

    def _eliminate(self, ends):
        """Mark the independent rows by (1).

        ends   first row of each loop, then the number of rows
        """
        last: dict[int, int] = {}
        for loop, row in enumerate(ends[:-1]):
            if row < ends[loop + 1]:
                last.update(dict.fromkeys(self.columns[row].tolist(), loop))
        front: list[int] = []
        Z = np.zeros((0, 0))
        for loop, first in enumerate(ends[:-1]):
            if first == ends[loop + 1]:
                continue
            columns = self.columns[first].tolist()
            in_front = set(front)
            new = [c for c in columns if c not in in_front]
            front += new
            extended = np.zeros((len(front), Z.shape[1] + len(new)))
            extended[: Z.shape[0], : Z.shape[1]] = Z
            extended[len(front) - len(new) :, Z.shape[1] :] = np.eye(len(new))
            position = {c: k for k, c in enumerate(front)}
            at = [position[c] for c in columns]
            Z = extended
            for k in range(first, ends[loop + 1]):
                r = self.rows[k] @ Z[at]
                size = np.linalg.norm(r)
                if size > DEPENDENT_SINE * max(float(np.linalg.norm(self.rows[k])), 1.0):
                    self.keep[k] = True
                    Z = _remove_direction(Z, r / size)
            stay = [k for k, c in enumerate(front) if last[c] > loop]
            if len(stay) < len(front):
                front = [front[k] for k in stay]
                Z = _orthonormal_basis(Z[stay])

    def _combination(self, k):
        """The coefficients of (2) for the dependent row k, among rows before it."""
        row, columns = self.rows[k], self.columns[k]
        size = max(float(np.linalg.norm(row)), 1.0)
        if np.linalg.norm(row) <= COMBINATION_RESIDUAL * size:
            return {k: 1.0}
        near: list[int] = []
        reached = set(columns.tolist())
        while True:
            more = sorted({j for c in reached for j in self._rows_of_column.get(c, ()) if j < k})
            if len(more) == len(near):
                break
            near = more
            reached |= {c for j in near for c in self.columns[j].tolist()}
            position = {c: i for i, c in enumerate(sorted(reached))}
            A = np.zeros((len(position), len(near)))
            b = np.zeros(len(position))
            for i, j in enumerate(near):
                A[[position[c] for c in self.columns[j].tolist()], i] = self.rows[j]
            b[[position[c] for c in columns.tolist()]] = row
            coefficients = np.linalg.lstsq(A, b, rcond=FREE_DIRECTION)[0]
            if np.linalg.norm(A @ coefficients - b) <= COMBINATION_RESIDUAL * size:
                break
        shares = {j: -float(x) for j, x in zip(near, coefficients) if abs(x) > COEFFICIENT_ZERO}
        return shares | {k: 1.0}

    def count_redundant_rows(self, wrenches, order):
        """The number of redundant rows of each constraint, if constraints are joined in this order.

        A dependency is complete at the last constraint that its wrenches pass through. If several are complete at the same
        constraint, combinations of them that do not pass through it are complete earlier.

        wrenches   of each dependency: a dictionary of wrenches by index of the constraint
        """
        counts = np.zeros(len(order), int)
        queue = list[tuple[int, int]]()
        pending: dict[int, list] = {}

        def enqueue(w):
            most = max((np.abs(x).max() for x in w.values()), default=0.0)
            w = {index: x / most for index, x in w.items() if np.abs(x).max() > WRENCH_ZERO * most}
            if w:
                last = max(w, key=lambda index: order[index])
                if last not in pending:
                    heapq.heappush(queue, (-int(order[last]), last))
                pending.setdefault(last, []).append(w)

        for w in wrenches:
            enqueue(w)
        while queue:
            _, last = heapq.heappop(queue)
            several = pending.pop(last)
            U, s, _ = np.linalg.svd(np.array([w[last] for w in several]))
            rank = int((s > WRENCH_ZERO * s[0]).sum())
            counts[last] += rank
            for weights in U[:, rank:].T:
                others = {k for w in several for k in w} - {last}
                enqueue({k: sum(x * w[k] for x, w in zip(weights, several) if k in w) for k in others})
        return counts


def _remove_direction(Z, r):
    """The directions of Z that are orthogonal to Z r; |r| = 1."""
    k = int(np.argmax(np.abs(r)))
    u = r.copy()
    u[k] += np.sign(r[k])
    Z = Z - np.outer(Z @ u, u) * (2 / (u @ u))
    return np.delete(Z, k, axis=1)


def _orthonormal_basis(Z):
    """An orthonormal basis of the space that the columns of Z span."""
    if not Z.size:
        return np.zeros((len(Z), 0))
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, s > FREE_DIRECTION]


def least_norm(times, back, b):
    """The minimum-norm least-squares solution v of A v = b, by conjugate gradients.

    times, back   the functions v → A v and r → Aᵀ r
    """
    r = b.copy()
    p = back(r)
    v = np.zeros(len(p))
    square = float(p @ p)
    enough = 1e-22 * square
    for _ in range(4 * min(len(v), b.size) + 10):
        if square <= enough:
            break
        q = times(p)
        step = square / (q * q).sum()
        v, r = v + step * p, r - step * q
        s = back(r)
        square, before = float(s @ s), square
        p = s + square / before * p
    return v
