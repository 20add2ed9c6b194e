"""Newton's equations of steps with constraints, in symbols: what is left of equations of motion and of constraints, r and s, in
unknowns of the motion x and multipliers μ.

    A Δx + B Δμ = −r,     C Δx = −s                                                                          (1)
    C A⁻¹ B Δμ = s − C A⁻¹ r                                                                                 (2)

A is the mass matrix but for terms in the length of the step, and C A⁻¹ B the space of constraints, up to sign: pivots are those of
a symmetric positive matrix but for such terms, and are taken in an order that keeps the factors sparse.

Reactions that turn with the bodies couple what masses and forces do not, and would fill the factors. Such entries of A are left to
the next iteration: corrections shrink by their share, which is of the order of h².
"""

import casadi as ca
import numpy as np

from .factor import column, pivoted
from .square import Square


def newton_equations(residual, x, multipliers):
    """(1), factored, as one column; and what solves them with it: (column, residual) → (Δx, Δμ). r is linear in μ."""
    (r, s), n, m = residual, x.shape[0], multipliers.shape[0]
    tips = list(range(n))[::-1]  # before roots: no fill in trees
    free = ca.jacobian(ca.substitute(r, multipliers, ca.SX.zeros(m)), x)
    motion = Square(ca.project(ca.jacobian(r, x), ca.sparsify(free).sparsity()), tips, tips)
    B, C = ca.sparsify(ca.jacobian(r, multipliers)), ca.sparsify(ca.jacobian(s, x))
    stored = [*motion.parts()]
    if m:
        S = ca.sparsify(C @ motion.solve_sparse(B))
        order = pivoted(S + S.T)[2]
        space = Square(S, order, order)
        stored += [column(B), column(C), *space.parts()]
    ends = np.cumsum([0, *[part.shape[0] for part in stored]]).tolist()

    def solve(L, residual):
        (r, s), kept = residual, [L[a:b] for a, b in zip(ends, ends[1:])]
        over = motion.reader(kept).solve
        if not m:
            return ca.densify(-over(r))
        push, rows = ca.SX(B.sparsity(), kept[2]), ca.SX(C.sparsity(), kept[3])
        change = space.reader(kept[4:]).solve(s - rows @ over(r))  # (2)
        return ca.densify(ca.vertcat(-over(r + push @ change), change))

    return ca.densify(ca.vertcat(*stored, ca.SX(0, 1))), solve
