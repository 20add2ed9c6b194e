"""Linear equations of implicit steps, (σ − ∂k/∂u) y = b with a real or a complex shift σ, for compiled code.

The matrix is sparse; `elimination` contains the entries of its factors, and the order in which unknowns are eliminated. Pivots are
taken on the diagonal, which a short step makes as large as it must be: where one nearly cancels, the factorisation is refused, and
a shorter step is tried. Whether it does so does not depend on units, since those of a row and of its column cancel on the diagonal.
"""

import numpy as np

from ..kernels.compiled import compiled, inlined

CANCELLED = 1e-13  # what is left of a pivot over all that was added up in it, below which it is refused


@compiled
def factorise(run, structure, slope, shift, factors):
    """Write the factors of shift − slope: L without its diagonal, which is 1, and U with the inverse of its own. Returns
    whether all pivots were good."""
    n, eq = run.scratch.u.size, run.equations
    first, place, k = structure * n, eq.place, run.kernels[structure]
    for m in range(eq.starts[first], eq.starts[first + n]):
        factors[m] = 0.0
    for m in range(k.slopes):
        factors[eq.source[k.source + m]] = -slope[m]
    for i in range(n):
        factors[eq.diagonal[first + i]] += shift
    for i in range(first, first + n):
        pivot = eq.diagonal[i]
        for m in range(eq.starts[i], eq.starts[i + 1]):
            place[eq.column[m]] = m
        size = abs(factors[pivot])
        for m in range(eq.starts[i], pivot):
            above = first + eq.column[m]
            factors[m] *= factors[eq.diagonal[above]]
            part, before = factors[m], factors[pivot]
            for j in range(eq.diagonal[above] + 1, eq.starts[above + 1]):
                factors[place[eq.column[j]]] -= part * factors[j]
            size += abs(factors[pivot] - before)
        if not (abs(factors[pivot]) > CANCELLED * size and size < np.inf):
            return False
        factors[pivot] = 1.0 / factors[pivot]
    return True


@inlined
def solve(run, structure, factors, b, y):
    """Replace b by the solution; y is overwritten."""
    n, eq = run.scratch.u.size, run.equations
    first = structure * n
    for i in range(n):
        total = b[eq.unknown[first + i]]
        for m in range(eq.starts[first + i], eq.diagonal[first + i]):
            total -= factors[m] * y[eq.column[m]]
        y[i] = total
    for back in range(n):
        i = n - 1 - back
        pivot, total = eq.diagonal[first + i], y[i]
        for m in range(pivot + 1, eq.starts[first + i + 1]):
            total -= factors[m] * y[eq.column[m]]
        y[i] = total * factors[pivot]
        b[eq.unknown[first + i]] = y[i]
