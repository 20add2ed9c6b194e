"""Which rows of a sparse matrix depend on the rows before them, and how.

Rows are taken one after the other. Z is an orthonormal basis of the directions that all rows so far leave free, in the columns that
are still to come. A row is independent where its part along Z is above `DEPENDENT` (the rule of `diagnosis.py`):

    |row Z| > DEPENDENT max(|row|, 1)        Z ← directions of Z across it                             (1)

A column that no further row touches is left out of Z, so that Z stays as small as the loops that are open at a time. A row that
depends on others is a combination of rows that touch the same columns, or columns of these:

    0 = row_i − Σ c_j row_j                                                                           (2)
"""

import heapq

import numpy as np

from .diagnosis import DEPENDENT

FREE = 1e-9  # of a direction that Z still has, in the columns that are left
FITS = 1e-7  # what is left of a row beyond others, at which it is a combination of them
NEGLIGIBLE = 1e-9  # share of a row in a combination that is none
PASSES_THROUGH = 1e-7  # share of the largest wrench of a dependency, below which a constraint takes no part in it


class Dependencies:
    """Rows of loops that depend on others.

    keep     [row]: whether each row is independent of those before it
    shares   for each row that is not: the share of every row in (2), by row
    """

    def __init__(self, loops, values):
        self.columns, self.rows = [], []
        for loop, size in enumerate(loops.sizes.tolist()):
            own = slice(loops.at_entry[loop], loops.at_entry[loop + 1])
            self.columns += [loops.column[own]] * size
            self.rows += list(values[own, :size].T)
        self.keep = np.zeros(len(self.rows), bool)
        self._eliminate(np.r_[loops.at_row, len(self.rows)].tolist())
        self._touching: dict[int, list] = {}
        for k in np.flatnonzero(self.keep).tolist():
            for column in self.columns[k].tolist():
                self._touching.setdefault(column, []).append(k)
        self.shares = [self._combination(k) for k in np.flatnonzero(~self.keep).tolist()]

    def _eliminate(self, ends):
        """Which rows are independent: (1); ends: where those of each loop begin."""
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
            known = set(front)
            new = [c for c in columns if c not in known]
            front += new
            wide = np.zeros((len(front), Z.shape[1] + len(new)))
            wide[: Z.shape[0], : Z.shape[1]] = Z
            wide[len(front) - len(new) :, Z.shape[1] :] = np.eye(len(new))
            place = {c: k for k, c in enumerate(front)}
            at, Z = [place[c] for c in columns], wide
            for k in range(first, ends[loop + 1]):
                r = self.rows[k] @ Z[at]
                size = np.linalg.norm(r)
                if size > DEPENDENT * max(float(np.linalg.norm(self.rows[k])), 1.0):
                    self.keep[k] = True
                    Z = _across(Z, r / size)
            stay = [k for k, c in enumerate(front) if last[c] > loop]
            if len(stay) < len(front):
                front, Z = [front[k] for k in stay], _spanning(Z[stay])

    def _combination(self, k):
        """The share of every row in (2), among rows before it."""
        row, columns = self.rows[k], self.columns[k]
        size = max(float(np.linalg.norm(row)), 1.0)
        if np.linalg.norm(row) <= FITS * size:
            return {k: 1.0}
        near: list[int] = []
        reached = set(columns.tolist())
        while True:
            more = sorted({j for c in reached for j in self._touching.get(c, ()) if j < k})
            if len(more) == len(near):
                break
            near = more
            reached |= {c for j in near for c in self.columns[j].tolist()}
            place = {c: i for i, c in enumerate(sorted(reached))}
            A, b = np.zeros((len(place), len(near))), np.zeros(len(place))
            for i, j in enumerate(near):
                A[[place[c] for c in self.columns[j].tolist()], i] = self.rows[j]
            b[[place[c] for c in columns.tolist()]] = row
            share = np.linalg.lstsq(A, b, rcond=FREE)[0]
            if np.linalg.norm(A @ share - b) <= FITS * size:
                break
        shares = {j: -float(x) for j, x in zip(near, share) if abs(x) > NEGLIGIBLE}
        return shares | {k: 1.0}

    def dropped(self, wrenches, order):
        """How many rows of each constraint depend on others where it is joined, if constraints are joined in this order.

        A dependency is complete at the last of the constraints that its forces pass through. Where several are complete at one
        constraint, combinations of them that do not pass through it are complete earlier.

        wrenches   of each dependency through the constraints, by place
        """
        found, waiting = np.zeros(len(order), int), list[tuple[int, int]]()
        pending: dict[int, list] = {}

        def put(w):
            most = max((np.abs(x).max() for x in w.values()), default=0.0)
            w = {place: x / most for place, x in w.items() if np.abs(x).max() > PASSES_THROUGH * most}
            if w:
                place = max(w, key=lambda place: order[place])
                if place not in pending:
                    heapq.heappush(waiting, (-int(order[place]), place))
                pending.setdefault(place, []).append(w)

        for w in wrenches:
            put(w)
        while waiting:
            _, place = heapq.heappop(waiting)
            several = pending.pop(place)
            U, s, _ = np.linalg.svd(np.array([w[place] for w in several]))
            rank = int((s > PASSES_THROUGH * s[0]).sum())
            found[place] += rank
            for mix in U[:, rank:].T:
                every = {p for w in several for p in w} - {place}
                put({p: sum(share * w[p] for share, w in zip(mix, several) if p in w) for p in every})
        return found


def _across(Z, r):
    """The directions of Z across one of them; r: its components, of length 1."""
    k = int(np.argmax(np.abs(r)))
    u = r.copy()
    u[k] += np.sign(r[k])
    Z = Z - np.outer(Z @ u, u) * (2 / (u @ u))
    return np.delete(Z, k, axis=1)


def _spanning(Z):
    """An orthonormal basis of what the columns of Z span."""
    if not Z.size:
        return np.zeros((len(Z), 0))
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, s > FREE]


def least_norm(times, back, b):
    """The least v with A v = b, as far as that can be, by conjugate gradients.

    times, back   v → A v and r → Aᵀ r
    """
    r = b.copy()
    p = back(r)
    v, square = np.zeros(len(p)), float(p @ p)
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
