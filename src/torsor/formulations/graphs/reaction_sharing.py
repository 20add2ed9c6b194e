"""Distribution of the reactions of redundant constraints with the least norm (`reactions="share"`).

Rows R that depend on the rows K in the equations may take any load z from them without a change of the motion:

    G_R = C G_K,     λ_K = λ₀ − Cᵀ z,     λ_R = z                                                     (1)

The chosen distribution minimises the reactions of all joints and the multipliers of all other constraints:

    Σ |F|² + |T|²/ℓ²  +  Σ (λ u/ℓ)²  → min,        Jᵀ J z = −Jᵀ r₀,     r = r₀ + J z                    (2)

F, T   force and torque of a connection, at its point on the second body    [N, N m]
u      unit of a row of another constraint: 1 for one in metres, ℓ for one in radians
ℓ      1 m; for models that are smaller than 3 cm or larger than 30 m the nearest power of 1024 m

(2) depends neither on axes, nor on the order of elements, nor on the formulation. Contacts and friction are excluded; their rules
are in `contact_load_sharing.py`.
"""

import casadi as ca

from ..algebra.factorisation import PIVOT_RATIO_SINGULAR, ldl_solver, sparse_ldl


def least_loads(f, lam, values):
    """λ of the rows in use, of redundant contacts and friction, and of the redundant rows that share loads, as one column.

    lam      λ₀ of the rows in use, and λ of redundant contacts and friction
    values   a function that maps such a column to `SignalValues`
    """
    redundant = f.load_sharing_rows()
    keep = list(f.keep)
    kept = [k for k in keep if not f.rows[k].constraint.intermittent]
    G = f.jacobian() @ ca.diag(ca.SX(f.column_units()))
    K = G[kept, :]
    solve = _singular_solver(ca.sparsify(K @ K.T))
    z = ca.SX.sym("z", len(redundant))
    CT_z = sum((solve(K @ G[k, :].T) * z[i] for i, k in enumerate(redundant)), ca.SX.zeros(len(kept)))
    index = {k: i for i, k in enumerate(kept)}
    change = [CT_z[index[k]] if k in index else 0 for k in keep]
    change += [0] * (lam.shape[0] - len(keep))
    column = ca.vertcat(lam - ca.vertcat(*change, ca.SX(0, 1)), z)  # (1)
    r = ca.vertcat(*_loads(f, values(column)), ca.SX(0, 1))
    J = ca.sparsify(ca.jacobian(r, z))
    r0 = ca.substitute(r, z, ca.SX.zeros(len(redundant)))
    solution = _singular_solver(ca.sparsify(J.T @ J))(-J.T @ r0)  # (2)
    return ca.substitute(column, z, solution)


def _loads(f, values):
    """r of (2) in newtons: reactions and multipliers of all active constraints that are neither contacts nor friction."""
    unit = f.scales.unit
    for c in f.model.constraints:
        if c.intermittent or id(c) in f.released:
            continue
        if c.connects_bodies:
            F, T = values.reaction(c)
            yield ca.vertcat(F, T / unit)
        else:
            labels = [f"{c.name}[{k}]" for k in range(c.multiplier.shape[0])]
            yield values.multiplier(c) * ca.DM(f.scales.row_units(labels)) / unit


def _singular_solver(A):
    """A function b → A⁻¹ b of a symmetric, possibly singular matrix; the reciprocal of a negligible pivot is replaced by 0."""
    if not A.shape[0]:
        return lambda b: b
    D, LT, order = sparse_ldl(A)
    reciprocals = ca.if_else(D > PIVOT_RATIO_SINGULAR * ca.diag(A)[order], 1 / D, 0)
    return ldl_solver(LT + ca.SX.eye(A.shape[0]), reciprocals, order)
