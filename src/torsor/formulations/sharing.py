"""Sticking friction that the motion does not tell apart: shared out in proportion to what each can hold.

Where more of it sticks than is needed, only rows K that are independent are in the equations: those of joints and contacts N,
then friction S. Their multipliers λ₀ are what they and the other friction R hold together:

    G_R = C G_K,     λ_K + Cᵀ λ_R = λ₀                                                                (1)

Of all solutions the one is taken in which friction is smallest against what it can hold, Σ |λ|²/c over S and R:

    λ = c B z,       Bᵀ c B z = λ₀_S,       B = (1; C_S)                                               (2)

Two brakes on one shaft let go when both can hold no more; a block on many feet slides when all of them together do. What R
holds relieves or loads contacts and joints, too: λ_N of (1). What friction can hold depends on that in turn; a few rounds
from λ₀ settle it.
"""

import casadi as ca

from .factor import pivoted, solver

ROUNDING = 1e-15  # against the sum of c: where too few can hold anything, the rest stays with the rows in the equations
ROUNDS = 4  # through what friction can hold


def shared_out(f, lam, holding):
    """λ of the rows in use and of the friction beside them, as one column.

    lam       λ₀ of the rows in use
    holding   what a friction can hold with such multipliers: a function of it and of them
    """
    rest, keep = f.beside(), list(f.keep)
    kept = [k for k in keep if f.rows[k].constraint.rank == 2]
    G = f.jacobian() @ ca.diag(ca.SX(f.column_units()))  # (1) holds in any units; lengths and angles are compared
    K, at = G[keep, :], [keep.index(k) for k in kept]
    D, LT, order = pivoted(K @ K.T)
    solve = solver(LT + ca.SX.eye(len(keep)), 1 / D, order)
    C = ca.vertcat(*[solve(K @ G[k, :].T).T for k in rest])  # (1)
    C_S, frictions, found = C[:, at], {id(f.rows[k].constraint): f.rows[k].constraint for k in [*kept, *rest]}, lam
    for _ in range(ROUNDS):
        hold = {key: ca.fmax(0, holding(friction, found)) for key, friction in frictions.items()}
        whole = sum(hold.values()) + 1e-300
        own, other = (ca.vertcat(*[hold[id(f.rows[k].constraint)] / whole for k in rows]) for rows in (kept, rest))
        A = ca.diag(own) + C_S.T @ (C_S * ca.repmat(other, 1, C_S.shape[1])) + ROUNDING * ca.SX.eye(len(kept))
        beyond = other * (C_S @ ca.solve(ca.densify(A), lam[at]))  # (2)
        found = ca.vertcat(lam - C.T @ beyond, beyond)
    return found
