"""Linear equations of Newton's method: a dense factorisation with pivoting, and its solutions, for compiled code."""

from ..kernels.compiled import compiled


@compiled
def factored(A, order):
    """Replace A by its factors L and U, rows in `order`. Returns False where A is singular."""
    n = order.size
    for k in range(n):
        order[k] = k
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return False
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return True


@compiled
def solve(A, order, b, x):
    """x with the factored matrix times x = b."""
    n = order.size
    for i in range(n):
        x[i] = b[order[i]]
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for m in range(n):
        i = n - 1 - m
        for j in range(i + 1, n):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]
