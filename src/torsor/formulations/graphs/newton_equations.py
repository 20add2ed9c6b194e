"""Newton's equations of implicit steps with constraints, in symbols: r and s are the residuals of the equations of motion and of
the constraints, x are the unknowns of the motion, and μ are the multipliers.

    A Δx + B Δμ = −r,     C Δx + E Δμ = −s                                                                   (1)
    (C A⁻¹ B − E) Δμ = s − C A⁻¹ r                                                                           (2)

For short steps h, A tends to the mass matrix and C A⁻¹ B to a symmetric definite Schur complement. The order of pivots is
therefore chosen for sparse factors, without pivoting for size.

The user's states z precede the multipliers in μ, and their equations precede the constraints in s. E = ∂s/∂z is zero without
states. With states, the matrix of (2) contains −(I − c ∂ż/∂z) and the response of the motion to z. States may then
be stiff and act on
the motion at the same time.

The dependence of the reactions on the rotation of the bodies adds entries to A that would fill the factors. These entries are
neglected; the error of an iteration then shrinks by a factor of the order of h².
"""

import casadi as ca
import numpy as np

from ..algebra.factorisation import column, sparse_ldl
from ..algebra.unsymmetric_factorisation import SparseLU


def newton_equations(residual, x, multipliers, states=None):
    """The factors of (1) as one column, and a function (column, residual) → (Δx, Δμ) that solves (1) with it.

    residual      (r, s), where r is linear in the multipliers
    multipliers   of the constraints
    states        z, which precede the multipliers in μ; None: there are none
    """
    r, s = residual
    n = x.shape[0]
    order_A = list(range(n))[::-1]  # tips before roots: no fill in trees
    free = ca.jacobian(ca.substitute(r, multipliers, ca.SX.zeros(multipliers.shape[0])), x)
    lu_A = SparseLU(ca.project(ca.jacobian(r, x), ca.sparsify(free).sparsity()), order_A, order_A)
    unknown = multipliers if states is None else ca.vertcat(states, multipliers)
    m = unknown.shape[0]
    B = ca.sparsify(ca.jacobian(r, unknown))
    C = ca.sparsify(ca.jacobian(s, x))
    stored = [*lu_A.nonzeros()]
    if m:
        S = ca.sparsify(C @ lu_A.solve_sparse(B))
        if states is not None:
            S = ca.sparsify(S - ca.jacobian(s, unknown))
        order_S = sparse_ldl(S + S.T)[2]
        lu_S = SparseLU(S, order_S, order_S)
        stored += [column(B), column(C), *lu_S.nonzeros()]
    ends = np.cumsum([0, *[x.shape[0] for x in stored]]).tolist()

    def solve(L, residual):
        r, s = residual
        pieces = [L[a:b] for a, b in zip(ends, ends[1:])]
        solve_A = lu_A.from_nonzeros(pieces).solve
        if not m:
            return ca.densify(-solve_A(r))
        stored_B = ca.SX(B.sparsity(), pieces[2])
        stored_C = ca.SX(C.sparsity(), pieces[3])
        change = lu_S.from_nonzeros(pieces[4:]).solve(s - stored_C @ solve_A(r))  # (2)
        return ca.densify(ca.vertcat(-solve_A(r + stored_B @ change), change))

    return ca.densify(ca.vertcat(*stored, ca.SX(0, 1))), solve
