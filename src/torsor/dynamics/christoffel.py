"""Christoffel symbols of the first kind of a tree: from the mass matrix, or from Binet's inertia tensors of the bodies.

    M v̇ + C v + g = τ,     C_ac = Γ_abc v_b,     Ṁ = C + Cᵀ                                              (1)

    Γ_abc = ½ (∂_b M_ac + ∂_c M_ab − ∂_a M_bc)                         where v = q̇                        (2)
            + ½ (c_bca − c_bac − c_cab),   c_abc = M_cd c_ab^d,   [∂_a, ∂_b] = c_ab^d ∂_d      elsewhere
    Γ_abc = Σ ∫ ∂_a r · ∂_b ∂_c r dm                                                                      (3)
          = Σ ω_bᵀ ϑ (ω_c × ω_a) + m v_a · (ω_b × v_c),    ϑ = ½ tr(Θ) 1 − Θ,   b before c

∂_a        derivative along the a-th velocity; ∂_a = ∂/∂q_a where v = q̇, a rotation about a body axis for joints on SO(3)
ω_a, v_a   columns of the twist Jacobian K of a body, at its centre of mass, in its own axes
Θ, ϑ, m    inertia about the centre of mass, Binet's tensor ∫ r rᵀ dm, mass

∂_b ∂_c r = ω_b × ∂_c r where joint b comes before c on the path from the root, or is c: a coordinate rotates all bodies that
follow it. Derivatives along different joints commute; in the other order b and c are exchanged. (2) and (3) are eq. 46 and 48
of [mueller2009];
(48) is printed there with m v_b · (ω_c × v_a) for the translations, which does not satisfy (46).
"""

import casadi as ca

from ..elements.quantity import time
from ..errors import OptionError
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..lie import se3
from .joint_space_matrices import require_joint_coordinates, twist_jacobian

FORMS = ("metric", "binet")


def function(f, form):
    """Function (q, p) → Γ as a column, with Γ_abc at index (a n + b) n + c."""
    if form not in FORMS:
        raise OptionError(f"christoffel: unknown form {form!r}. Known: {', '.join(FORMS)}.")
    require_joint_coordinates(f)
    table = (from_metric if form == "metric" else from_binet)(f)
    n = range(f.v.shape[0])
    flat = ca.vertcat(*[table[a][b][c] for a in n for b in n for c in n], ca.SX(0, 1))
    return eliminate_common_subexpressions(
        ca.Function("christoffel", [f.q, f.p], [ca.densify(ca.substitute(flat, time, 0))])
    )


def from_metric(f):
    """Γ by differentiation of the mass matrix: (2)."""
    M = f.mass_matrix()
    n = f.v.shape[0]
    frame = ca.jacobian(ca.vertcat(*[link.rates for link in f.links]), f.v)  # q̇ = N v
    D = [ca.reshape(ca.jtimes(ca.vec(ca.densify(M)), f.q, frame[:, b]), n, n) for b in range(n)]  # D[b] = ∂_b M
    structure = _structure_constants(f)  # structure[a][b] = c_ab
    lowered = [[M @ structure[a][b] for b in range(n)] for a in range(n)]

    def entry(a, b, c):
        metric_part = D[b][a, c] + D[c][a, b] - D[a][b, c]
        return (metric_part + lowered[b][c][a] - lowered[b][a][c] - lowered[c][a][b]) / 2  # (2)

    return [[[entry(a, b, c) for c in range(n)] for b in range(n)] for a in range(n)]


def _structure_constants(f):
    """c_ab of [∂_a, ∂_b] = c_ab^d ∂_d: nonzero only inside joints whose velocities are not rates of coordinates."""
    n = f.v.shape[0]
    constants = [[ca.SX.zeros(n) for _ in range(n)] for _ in range(n)]
    for link in f.links:
        first = f.offset[id(link)]
        dof = link.v.shape[0]
        N = ca.densify(ca.jacobian(link.rates, link.v))
        for a in range(dof):
            for b in range(dof):
                bracket = ca.jtimes(N[:, b], link.x, N[:, a]) - ca.jtimes(N[:, a], link.x, N[:, b])
                if ca.sparsify(bracket).nnz():
                    constants[first + a][first + b][first : first + dof] = ca.solve(N.T @ N, N.T @ bracket)
    return constants


def from_binet(f):
    """Γ from the bodies' twist Jacobians and Binet's tensors: (3)."""
    other = next((link for link in f.links if not link.declared), None)
    if other is not None:
        raise OptionError(
            f"christoffel: form='binet' needs joint coordinates that are a product of exponentials; those of joint "
            f"{other.joint.name!r} in formulation {f.key!r} are not. Use form='metric' or formulation='relative'"
        )
    n = f.v.shape[0]
    rotates = _rotation_order(f)
    table = [[[ca.SX(0) for _ in range(n)] for _ in range(n)] for _ in range(n)]
    for body in f.model.bodies:
        K = twist_jacobian(f, body)
        theta = body.inertia
        binet = ca.trace(theta) / 2 * ca.SX.eye(3) - theta
        moving = [a for a in range(n) if ca.sparsify(K[:, a]).nnz()]
        twists = {a: se3.split(K[:, a]) for a in moving}
        for b in moving:
            for c in moving:
                (w, _), (w_later, v_later) = (twists[b], twists[c]) if rotates(b, c) else (twists[c], twists[b])
                angular = binet @ w
                linear = body.mass * ca.cross(w, v_later)
                for a in moving:
                    w_a, v_a = twists[a]
                    table[a][b][c] += ca.dot(angular, ca.cross(w_later, w_a)) + ca.dot(v_a, linear)  # (3)
    return table


def _rotation_order(f):
    """A function of two velocity indices b, c that is True if b rotates what c moves: joint b comes before c.

    Inside one joint on SO(3) each velocity rotates the other. If such a joint is drawn from the body to its parent, each is
    rotated by the other.
    """
    position: dict = {}
    group_joint: dict = {}
    for k, link in enumerate(f.links):
        backward = link.branch.reversed and not link.group.free
        for i in range(link.v.shape[0]):
            position[f.offset[id(link)] + i] = (k, -i if backward else i)
            group_joint[f.offset[id(link)] + i] = (k, not backward) if hasattr(link.group, "matrix") else None

    def rotates(b, c):
        if group_joint[b] is not None and group_joint[b] == group_joint[c]:
            return group_joint[b][1]
        return position[b] <= position[c]

    return rotates
