"""In which order the equations of an implicit step are solved, found once from where their matrix has entries.

A = σ − ∂k/∂u has an entry on its diagonal everywhere. Pivots are taken there, in Markowitz's order: next is the unknown whose
row and column have the fewest entries, so that least is filled in. For second-order equations this eliminates coordinates first,
since q̇ = v says little, and what nothing depends on, such as work, costs nothing. [markowitz1957]
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np


class Elimination(NamedTuple):
    """Where the factors L and U of a matrix have entries, row by row in the order of elimination.

    unknown    of each row
    starts     of each row in the list of entries, and its end
    column     of every entry, as a place in the order; ascending within a row
    diagonal   where in the list each row has its pivot
    source     where in the list each entry of ∂k/∂u goes
    """

    unknown: np.ndarray
    starts: np.ndarray
    column: np.ndarray
    diagonal: np.ndarray
    source: np.ndarray


def tables(slopes):
    """The arrays of the record `Equations` for kernels of ∂k/∂u ("slope", or "push"), one structure after the other; and for each
    of these how many entries it has, and where their places begin."""
    patterns = [kernel.sparsity_out(0) if kernel.name == "slope" else kernel.sparsity_in(5) for kernel in slopes]
    count = slopes[0].size_in(2)
    found = [elimination(count, *(tuple(part.tolist()) for part in pattern)) for pattern in patterns]
    n, ends = len(found[0].unknown), np.cumsum([0, *[each.starts[-1] for each in found]])
    sizes, joined = [each.source.size for each in found], np.concatenate
    arrays = {
        "unknown": joined([each.unknown for each in found]),
        "column": joined([each.column for each in found]),
        "starts": joined([*[each.starts[:n] + at for each, at in zip(found, ends)], ends[-1:]]),
        "diagonal": joined([each.diagonal + at for each, at in zip(found, ends)]),
        "source": joined([each.source + at for each, at in zip(found, ends)]),
        "rows": joined([rows for rows, _ in patterns]),
        "columns": joined([columns for _, columns in patterns]),
        "place": np.zeros(n),
        **{name: np.zeros(ends[-1]) for name in ("factors", "turned")},
        **{name: np.zeros(n) for name in ("b", "c", "y", "z", "guess")},
    }
    return arrays, sizes, np.cumsum([0, *sizes[:-1]])


@lru_cache(maxsize=256)
def elimination(n, rows, columns):
    """The elimination for n equations, with entries at these rows and columns, and on the diagonal."""
    order, right, below = markowitz(n, rows, columns)
    place = {unknown: k for k, unknown in enumerate(order)}
    entries = [{place[j] for j in right[unknown]} for unknown in order]
    for k, unknown in enumerate(order):
        for i in below[unknown]:
            entries[place[i]].add(k)
    listed = [sorted(row) for row in entries]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in listed])]).astype(np.int64)
    at = [{j: starts[k] + m for m, j in enumerate(row)} for k, row in enumerate(listed)]
    return Elimination(
        np.array(order, np.int64),
        starts,
        np.array([j for row in listed for j in row], np.int64),
        np.array([at[k][k] for k in range(n)], np.int64),
        np.array([at[place[i]][place[j]] for i, j in zip(rows, columns)], np.int64),
    )


def markowitz(n, rows, columns):
    """An order of elimination; and for each unknown, when its turn comes, in which columns its row has entries, and in which
    rows its column has them below."""
    right, below = [{k} for k in range(n)], [{k} for k in range(n)]
    for i, j in zip(rows, columns):
        right[i].add(j)
        below[j].add(i)
    order, left = [], set(range(n))
    while left:
        filled = lambda k: (len(right[k]) - 1) * (len(below[k]) - 1)
        best = min(sorted(left), key=filled)
        full = filled(best) == (len(left) - 1) ** 2  # every row and column is: their order does not matter
        for k in sorted(left) if full else [best]:
            order.append(k)
            left.discard(k)
            below[k].discard(k)
            for i in below[k]:
                right[i] = (right[i] | right[k]) - {k}
            for j in right[k] - {k}:
                below[j] = (below[j] | below[k]) - {k}
    return order, right, below
