"""Loads that redundant contacts and sticking friction hold together: the motion does not tell their shares.

Only independent rows K are in the equations: those of joints, then contacts N, then friction S. Their multipliers λ₀ are what
they and the rows R beside them hold together:

    G_R = C G_K,     λ_K + Cᵀ λ_R = λ₀                                                                (1)

Of all solutions the one is taken in which Σ |λ|²/c is least over the rows that share:

    λ = c B z,       Bᵀ c B z = λ₀,       B = (1; C)                                                   (2)

Contacts share alike, as if all of them were equally stiff: c = 1, and 0 for contacts that would pull then (`run/contact_forces.py`
decides that). For sticking friction c is what it can hold: two brakes on one shaft let go when both can hold no more; a block on
many feet slides when all of them together do. What friction holds relieves or loads contacts and joints, too: λ_N of (1). What
friction can hold depends on that in turn; a few rounds from λ₀ settle it.
"""

import casadi as ca

from .factor import pivoted, solver

ROUNDING = 1e-15  # against the sum of c: where too few share, the rest stays with the rows in the equations
ROUNDS = 4  # through what friction can hold


def _combinations(f, rest):
    """C of (1) for the rows `rest`."""
    keep = list(f.keep)
    G = f.jacobian() @ ca.diag(ca.SX(f.column_units()))  # (1) holds in any units; lengths and angles are compared
    K = G[keep, :]
    D, LT, order = pivoted(K @ K.T)
    solve = solver(LT + ca.SX.eye(len(keep)), 1 / D, order)
    return ca.vertcat(*[solve(K @ G[k, :].T).T for k in rest])


def _shares(C, own, other, lam):
    """λ of the rows beside those in use: (2).

    own, other   c of the rows in use that share, and of those beside them
    """
    A = ca.diag(own) + C.T @ (C * ca.repmat(other, 1, C.shape[1])) + ROUNDING * ca.SX.eye(C.shape[1])
    return other * (C @ ca.solve(ca.densify(A), lam))


def spread_over_contacts(f):
    """A function of λ₀ of the rows in use: λ of these and of the closed contacts beside them, as one column."""
    keep, rest = list(f.keep), f.loose_contacts()
    kept = [k for k in keep if f.rows[k].constraint.rank == 1]
    at, C = [keep.index(k) for k in kept], _combinations(f, rest)
    units = dict(zip(kept + rest, f.row_units(kept + rest)))
    largest = max(units.values())
    weights = {k: f.placed(f.rows[k].constraint.loaded.symbol) * (largest / units[k]) ** 2 for k in kept + rest}
    whole = sum(weights.values()) + 1e-300
    own, other = (ca.vertcat(*[weights[k] / whole for k in rows]) for rows in (kept, rest))

    def spread(lam):
        beside = _shares(C[:, at], own, other, lam[at])
        return ca.vertcat(lam - C.T @ beside, beside)

    return spread


def shared_out(f, lam, holding):
    """λ of the rows in use, of the closed contacts and of the friction beside them, as one column.

    lam       λ₀ of the rows in use
    holding   what a friction can hold with such multipliers: a function of it and of them
    """
    rest, keep = f.beside(), list(f.keep)
    kept = [k for k in keep if f.rows[k].constraint.rank == 2]
    at, C = [keep.index(k) for k in kept], _combinations(f, rest)
    frictions = {id(f.rows[k].constraint): f.rows[k].constraint for k in [*kept, *rest]}
    spread = spread_over_contacts(f) if f.loose_contacts() else lambda lam: lam
    found = spread(lam)
    for _ in range(ROUNDS):
        hold = {key: ca.fmax(0, holding(friction, found)) for key, friction in frictions.items()}
        whole = sum(hold.values()) + 1e-300
        own, other = (ca.vertcat(*[hold[id(f.rows[k].constraint)] / whole for k in rows]) for rows in (kept, rest))
        beyond = _shares(C[:, at], own, other, lam[at])
        found = ca.vertcat(spread(lam - C.T @ beyond), beyond)
    return found
