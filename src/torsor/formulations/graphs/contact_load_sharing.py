"""Distribution of loads among redundant contacts and sticking friction, whose shares the motion does not determine.

Only independent rows K are in the equations: those of joints, then contacts N, then friction S. Their multipliers λ₀ are the
resultants of the loads on them and on the redundant rows R:

    G_R = C G_K,     λ_K + Cᵀ λ_R = λ₀                                                                (1)

The solution with the least Σ |λ|²/c over the rows that share is

    λ = c B z,       Bᵀ c B z = λ₀,       B = (1; C)                                                   (2)

Contacts have c = 1, as if all were equally stiff, and c = 0 if they would pull (`run/contacts/contact_forces.py` determines
these). Sticking friction has c equal to its largest possible force: two brakes on one shaft slip when both reach their limit; a
block on many feet slides when all feet together reach theirs. Redundant friction also changes the loads on contacts and joints,
λ_N of (1), and the limits of friction depend on these loads. A fixed number of iterations from λ₀ solves this.
"""

import casadi as ca

from ..algebra.factorisation import ldl_solver, sparse_ldl

SHARE_REGULARISATION = 1e-15  # relative to the sum of c; if too few rows share, the rows in the equations take the rest
DIVISION_BY_ZERO = 1e-300  # added to the sum of c, which may be zero
FRICTION_ITERATIONS = 4  # of the limits of friction


def _combinations(f, redundant):
    """C of (1) for the redundant rows."""
    keep = list(f.keep)
    G = f.jacobian() @ ca.diag(ca.SX(f.column_units()))  # columns in comparable units; (1) holds in any units
    K = G[keep, :]
    D, LT, order = sparse_ldl(K @ K.T)
    solve = ldl_solver(LT + ca.SX.eye(len(keep)), 1 / D, order)
    return ca.vertcat(*[solve(K @ G[k, :].T).T for k in redundant])


def _shared_multipliers(C, c_kept, c_redundant, lam):
    """λ of the rows in use that share, and of the redundant rows: (2).

    For the rows in use c z is the same as λ₀ − Cᵀ λ_R, without the rounding of that difference: what has c = 0 bears nothing.

    C             its columns of the rows in use that share
    c_kept        c of these rows
    c_redundant   c of the redundant rows
    lam           λ₀ of the rows in use that share
    """
    A = (
        ca.diag(c_kept)
        + C.T @ (C * ca.repmat(c_redundant, 1, C.shape[1]))
        + SHARE_REGULARISATION * ca.SX.eye(C.shape[1])
    )
    z = ca.solve(ca.densify(A), lam)
    return (c_kept + SHARE_REGULARISATION) * z, c_redundant * (C @ z)


def spread_over_contacts(f):
    """A function that maps λ₀ of the rows in use to λ of these and of the redundant contacts, as one column."""
    keep = list(f.keep)
    redundant = f.redundant_contact_rows()
    kept = [k for k in keep if f.rows[k].constraint.one_sided]
    positions = [keep.index(k) for k in kept]
    C = _combinations(f, redundant)
    units = dict(zip(kept + redundant, f.row_units(kept + redundant)))
    largest = max(units.values())
    weights = {
        k: f.to_state_symbols(f.rows[k].constraint.loaded.symbol) * (largest / units[k]) ** 2 for k in kept + redundant
    }
    total = sum(weights.values()) + DIVISION_BY_ZERO
    c_kept, c_redundant = (ca.vertcat(*[weights[k] / total for k in rows]) for rows in (kept, redundant))

    def spread(lam):
        own, others = _shared_multipliers(C[:, positions], c_kept, c_redundant, lam[positions])
        found = lam - C.T @ others
        found[positions] = own
        return ca.vertcat(found, others)

    return spread


def share_friction_loads(f, lam, limit_of):
    """λ of the rows in use, of the redundant contacts and of the redundant friction, as one column.

    lam        λ₀ of the rows in use
    limit_of   a function (friction, λ) → the largest force of the friction
    """
    redundant = f.redundant_friction_rows()
    keep = list(f.keep)
    kept = [k for k in keep if f.rows[k].constraint.dry_friction]
    positions = [keep.index(k) for k in kept]
    C = _combinations(f, redundant)
    frictions = {id(f.rows[k].constraint): f.rows[k].constraint for k in [*kept, *redundant]}
    spread = spread_over_contacts(f) if f.redundant_contact_rows() else lambda lam: lam
    shared_lam = spread(lam)
    for _ in range(FRICTION_ITERATIONS):
        limits = {key: ca.fmax(0, limit_of(friction, shared_lam)) for key, friction in frictions.items()}
        total = sum(limits.values()) + DIVISION_BY_ZERO
        c_kept, c_redundant = (
            ca.vertcat(*[limits[id(f.rows[k].constraint)] / total for k in rows]) for rows in (kept, redundant)
        )
        _, others = _shared_multipliers(C[:, positions], c_kept, c_redundant, lam[positions])
        shared_lam = ca.vertcat(spread(lam - C.T @ others), others)
    return shared_lam
