"""Numbers y with y = e(y), where each e costs a solution of the equations of motion: Anderson's acceleration.

    f_k = e(y_k) − y_k,      y_{k+1} = y_k + f_k − Σ γ_j (Δy_j + Δf_j),      |f_k − Σ γ_j Δf_j| → min            (1)

Δy_j and Δf_j are the latest changes. If e is affine, as for friction in proportion to normal forces, (1) is a Krylov method:
it ends after as many steps as there are numbers or different eigenvalues. Each residual is measured in units of the first e of its
number. The first y and all decisions depend on the state only, so that a run can be repeated bit for bit.

y are not numbers where there is no solution, such as in a guide that jams.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...lookup.iteration_records import BEST_RESIDUAL, ITERATES, ITERATION_HEADER, STALLS, window
from ..compiled import BUILDING, compiled, entry

if TYPE_CHECKING or not BUILDING:
    numbers_at: Any = None  # an array of doubles out of the address of its first number
else:
    from ..numba_arrays import numbers_at

FIXED_POINT = "torsor.kernels.schedule_functions.fixed_point"  # this module, which is compiled
SOLVED = 1e-15  # residual / size: below this y is as exact as numbers are
ROUNDING = 1e-11  # residual / size: below this an iteration ends where the residual does not decrease any more
UNSOLVED = 1e-8  # residual / size: above this there is no solution
SMALLEST_SCALE = 1e-6  # scale / largest scale
DEPENDENT = 1e-8  # length of a change without its parts along others / its length: below this it is left out
MOST_ITERATES = 200
_window = compiled(window)


@compiled
def _not_numbers(y, count):
    """There is no solution: y become NaN. Returns 1 if they were numbers, so that all else is computed once more."""
    again = 1 if y[0] == y[0] else 0
    for i in range(count):
        y[i] = np.nan
    return again


@compiled
def _set_scales(scale, e, count):
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(e[i]))
    for i in range(count):
        scale[i] = max(abs(e[i]), SMALLEST_SCALE * largest)
        if scale[i] == 0.0:
            scale[i] = 1.0


@compiled
def _is_solved(work, residual, size):
    """True if the iteration ends."""
    if residual <= SOLVED * size:
        return True
    stalls = work[ITERATES] > 0.0 and residual >= 0.5 * work[BEST_RESIDUAL]
    work[STALLS] = work[STALLS] + 1.0 if stalls else 0.0
    work[BEST_RESIDUAL] = residual if work[ITERATES] == 0.0 else min(residual, work[BEST_RESIDUAL])
    return residual <= ROUNDING * size and work[STALLS] >= 2.0


@compiled
def _combine(y, e, dy, df, scale, q, r, g, count, used, newest, m):
    """Change y to the next iterate of (1), by Gram and Schmidt's method; the newest changes come first."""
    for i in range(count):
        y[i] = e[i] - y[i]  # f
    for a in range(used):
        col = count * ((newest - a + m) % m)
        length = 0.0
        for i in range(count):
            q[a * count + i] = df[col + i] / scale[i]
            length += q[a * count + i] ** 2
        for b in range(a):
            along = 0.0
            for i in range(count):
                along += q[b * count + i] * q[a * count + i]
            r[b * m + a] = along
            for i in range(count):
                q[a * count + i] -= along * q[b * count + i]
        rest = 0.0
        for i in range(count):
            rest += q[a * count + i] ** 2
        r[a * m + a] = np.sqrt(rest)
        keep = rest > DEPENDENT**2 * length
        if not keep:
            r[a * m + a] = 0.0
        g[a] = 0.0
        for i in range(count):
            q[a * count + i] = q[a * count + i] / np.sqrt(rest) if keep else 0.0
            g[a] += q[a * count + i] * y[i] / scale[i]
    for a in range(used - 1, -1, -1):
        for b in range(a + 1, used):
            g[a] -= r[a * m + b] * g[b]
        g[a] = g[a] / r[a * m + a] if r[a * m + a] > 0.0 else 0.0
    for i in range(count):
        y[i] = e[i]
        for a in range(used):
            col = count * ((newest - a + m) % m)
            y[i] -= g[a] * (dy[col + i] + df[col + i])


@entry("int64", "int64", "int64", "int64")
def next_iterate(y_at, e_at, work_at, count):
    """Change y to the next iterate and return 1, or return 0 if y = e(y).

    y_at, e_at   addresses of y and e(y), `count` numbers each
    work_at      address of the work memory, whose first number is 0 at the begin
    """
    y, e, work = numbers_at(y_at), numbers_at(e_at), numbers_at(work_at)
    m = _window(count)
    at = work_at + 8 * ITERATION_HEADER
    scale, y_before, f_before = numbers_at(at), numbers_at(at + 8 * count), numbers_at(at + 16 * count)
    at += 24 * count
    dy, df, q = numbers_at(at), numbers_at(at + 8 * m * count), numbers_at(at + 16 * m * count)
    r, g = numbers_at(at + 24 * m * count), numbers_at(at + 24 * m * count + 8 * m * m)
    if work[ITERATES] == 0.0:
        work[STALLS] = 0.0
        _set_scales(scale, e, count)
    residual, size = 0.0, 1.0
    for i in range(count):
        f = abs(e[i] - y[i]) / scale[i]
        if not f < np.inf:
            return _not_numbers(y, count)
        residual, size = max(residual, f), max(size, abs(y[i]) / scale[i])
    if _is_solved(work, residual, size):
        return 0
    done = int(work[ITERATES])
    if done >= MOST_ITERATES:
        return 0 if residual <= UNSOLVED * size else _not_numbers(y, count)
    newest = (done - 1 + m) % m
    for i in range(count):
        f = e[i] - y[i]
        if done > 0:
            dy[newest * count + i] = y[i] - y_before[i]
            df[newest * count + i] = f - f_before[i]
        y_before[i], f_before[i] = y[i], f
    _combine(y, e, dy, df, scale, q, r, g, count, min(done, m), newest, m)
    work[ITERATES] = done + 1.0
    return 1
