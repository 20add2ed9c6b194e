"""Sticking friction that the motion does not tell apart: shared out in proportion to what each can hold.

Where more of it sticks than is needed, only the rows K that are independent are in the equations, and their multipliers λ₀
are what they and the others R hold together:

    G_R = C G_K,     λ_K + Cᵀ λ_R = λ₀                                                                (1)

Of all solutions the one is taken that is smallest against what each can hold, Σ |λ|²/c:

    λ = c B z,       Bᵀ c B z = λ₀,       B = (1; C)                                                   (2)

Two brakes on one shaft let go when both can hold no more; a block on many feet slides when all of them together do.
"""

import casadi as ca

from .factor import solver

ROUNDING = 1e-15  # against the sum of c: where too few can hold anything, the rest stays with the rows in the equations


def shares(f, values):
    """λ of the rows of every friction that sticks, by its identity; empty where all are independent."""
    sticking = [k for k in f.active_rows() if f.rows[k].constraint.rank == 2]
    kept = [k for k in sticking if k in set(f.keep)]
    rest = [k for k in sticking if k not in set(f.keep)]
    if not rest or not kept:
        return {}
    hold = {id(f.rows[k].constraint): ca.fmax(0, values.of(f.rows[k].constraint.holding())) for k in sticking}
    whole = sum(hold.values()) + 1e-300
    holds = lambda rows: ca.vertcat(*[hold[id(f.rows[k].constraint)] / whole for k in rows])
    G = f.jacobian() @ ca.diag(ca.SX(f.column_units()))  # (1) holds in any units; lengths and angles are compared
    K, at = G[f.keep, :], [f.keep.index(k) for k in kept]
    D, LT, order = ca.ldl(ca.sparsify(K @ K.T))
    solve = solver(LT + ca.SX.eye(len(f.keep)), 1 / D, order)
    C = ca.vertcat(*[solve(K @ G[k, :].T)[at].T for k in rest])  # (1)
    own, other = holds(kept), holds(rest)
    A = ca.diag(own) + C.T @ (C * ca.repmat(other, 1, C.shape[1]))
    A += ROUNDING * ca.SX.eye(len(kept))
    lam = values.lam[at]
    z = ca.solve(ca.densify(A), lam)  # (2)
    beyond = other * (C @ z)
    found = dict(zip(kept, ca.vertsplit(lam - C.T @ beyond)))
    found |= dict(zip(rest, ca.vertsplit(beyond)))
    rows: dict = {}
    for k in sticking:
        rows.setdefault(id(f.rows[k].constraint), []).append(found[k])
    return {key: ca.vertcat(*column) for key, column in rows.items()}
