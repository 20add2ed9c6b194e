"""Rigid motions: the group SE(3), its algebra se(3), and the maps between them.

This file alone fixes the order inside a twist, V = (ω, v) with the angular part first; everybody else calls `twist`
and `split`. A pose H = (R, p) is a 4 × 4 matrix; H_AC = H_AB @ H_BC.

se(3) is so(3) over the dual numbers, V ≅ ω + εv with ε² = 0. So every map of `so3` that is analytic in ω serves here,
and its dual part is the derivative along v. With J = dexp(ω) and K = dexp⁻¹(ω) of SO(3):

    exp(V)    = (exp(ω), J v)                                                        (1)
    dexp(V)   = [[J, 0], [J′, J]],          J = I + α ω̂ + β ω̂²                       (2)
    dexp⁻¹(V) = [[K, 0], [K′, K]],          K = I − ½ ω̂ + γ ω̂²                       (3)
    J′        = α v̂ + β (ω̂ v̂ + v̂ ω̂) + 2 (ω·v)(α′ ω̂ + β′ ω̂²)                        (4)

The Cayley map is that of the 4 × 4 matrices, with A = (I − ½ω̂)⁻¹ = I + ½c ω̂ + ¼c ω̂², c = 4/(4 + ω·ω):

    cay(V)    = (I − ½V̂)⁻¹(I + ½V̂) = (cay(ω), A v)                                   (5)
    dcay(V)   = [[D, 0], [½ v̂ D, A]],               D = dcay(ω) of SO(3)             (6)
    dcay⁻¹(V) = [[D⁻¹, 0], [−½ A⁻¹ v̂, A⁻¹]],        A⁻¹ = I − ½ω̂                     (7)

J′, K′     derivative of J and K in the direction v
α, β, γ    (1 − cos θ)/θ², (θ − sin θ)/θ³, (1 − (θ/2) cot(θ/2))/θ² as functions of s = θ² = ω·ω; α′ = dα/ds

Both differentials are the standard, spatial ones: d/dt exp(U) = (dexp(U) U̇)^ exp(U). [murray1994, ch. 2]
"""

import casadi as ca

from . import smooth, so3
from .numeric import returns


@returns("vector")
def twist(angular=None, linear=None):
    """The twist (ω, v), or the wrench (torque, force), of its two parts; a part left out is zero."""
    zero = ca.DM.zeros(3)
    return ca.vertcat(zero if angular is None else angular, zero if linear is None else linear)


@returns("vector", "vector")
def split(V):
    """Angular and linear part of a twist or wrench."""
    return V[:3, :], V[3:, :]


@returns("matrix")
def pose(R, p):
    """The 4 × 4 matrix of the motion x ↦ R x + p."""
    return ca.vertcat(ca.horzcat(R, p), ca.horzcat(0, 0, 0, 1))


@returns("matrix", "vector")
def split_pose(H):
    """Rotation R and translation p of a pose."""
    return H[:3, :3], H[:3, 3]


@returns("matrix")
def inverse(H):
    """The inverse pose (Rᵀ, −Rᵀ p)."""
    R, p = split_pose(H)
    return pose(R.T, -(R.T @ p))


@returns("matrix")
def hat(V):
    """The 4 × 4 matrix V̂ = [[ω̂, v], [0, 0]]."""
    w, v = split(V)
    return ca.vertcat(ca.horzcat(so3.hat(w), v), ca.DM.zeros(1, 4))


@returns("vector")
def vee(X):
    """The twist of a 4 × 4 matrix: vee(V̂) = V."""
    return twist(so3.vee(X[:3, :3]), X[:3, 3])


def _quadratic_times(w, alpha, beta, x):
    """(I + α ŵ + β ŵ²) x."""
    y = ca.cross(w, x)
    return x + alpha * y + beta * ca.cross(w, y)


@returns("matrix")
def exp(V):
    """The pose after moving for one unit of time with the constant twist V, equation (1)."""
    w, v = split(V)
    s = ca.dot(w, w)
    cosine, sine = smooth.half_angle(s)
    alpha, beta = sine * sine / 2, smooth.arc_excess(s)
    return pose(so3.quadratic(w, cosine * sine, alpha), _quadratic_times(w, alpha, beta, v))  # (1)


@returns("vector")
def log(H):
    """The twist V with exp(V) = H and |ω| ≤ π."""
    R, p = split_pose(H)
    w = so3.log(R)
    return twist(w, _quadratic_times(w, -0.5, smooth.cotangent_defect(ca.dot(w, w)), p))  # (1)


@returns("matrix")
def cay(V):
    """The Cayley map, equation (5): cay(V) = exp(V) + O(|V|³)."""
    w, v = split(V)
    c = 4 / (4 + ca.dot(w, w))
    return pose(so3.quadratic(w, c, c / 2), _quadratic_times(w, c / 2, c / 4, v))  # (5)


@returns("vector")
def cay_inverse(H):
    """The twist V with cay(V) = H; rotations by π have none."""
    R, p = split_pose(H)
    w = so3.cay_inverse(R)
    return twist(w, p - ca.cross(w, p) / 2)  # (5)


def _lower(diagonal, corner, last):
    """The 6 × 6 matrix [[diagonal, 0], [corner, last]], whose zero maps linear to angular."""
    return ca.vertcat(ca.horzcat(diagonal, ca.DM.zeros(3, 3)), ca.horzcat(corner, last))


def _dual(w, v, alpha, beta, alpha_slope, beta_slope):
    """Derivative of I + α ω̂ + β ω̂² in the direction v, equation (4)."""
    W, U = so3.hat(w), so3.hat(v)
    return alpha * U + beta * (W @ U + U @ W) + 2 * ca.dot(w, v) * (alpha_slope * W + beta_slope * (W @ W))  # (4)


@returns("matrix")
def dexp(V):
    """Differential of exp, equation (2)."""
    w, v = split(V)
    s, J = ca.dot(w, w), so3.dexp(w)
    slopes = smooth.versine_slope(s), smooth.arc_excess_slope(s)
    return _lower(J, _dual(w, v, smooth.versine(s), smooth.arc_excess(s), *slopes), J)  # (2)


@returns("matrix")
def dexp_inverse(V):
    """Inverse differential of exp, equation (3), for |ω| < 2π."""
    w, v = split(V)
    s, K = ca.dot(w, w), so3.dexp_inverse(w)
    return _lower(K, _dual(w, v, -0.5, smooth.cotangent_defect(s), 0, smooth.cotangent_defect_slope(s)), K)  # (3)


@returns("matrix")
def dcay(V):
    """Differential of the Cayley map, equation (6)."""
    w, v = split(V)
    c = 4 / (4 + ca.dot(w, w))
    D, A = so3.dcay(w), so3.quadratic(w, c / 2, c / 4)
    return _lower(D, so3.hat(v) @ D / 2, A)  # (6)


@returns("matrix")
def dcay_inverse(V):
    """Inverse differential of the Cayley map, equation (7)."""
    w, v = split(V)
    B = ca.DM.eye(3) - so3.hat(w) / 2
    return _lower(so3.dcay_inverse(w), -(B @ so3.hat(v)) / 2, B)  # (7)


@returns("vector")
def exp_rate(U, V):
    """Rate U̇ at which exp(U) moves with the twist V in its own frame: dexp⁻¹(−U) V."""
    (u, x), (w, v) = split(U), split(V)
    s = ca.dot(u, u)
    gamma, slope = smooth.cotangent_defect(s), smooth.cotangent_defect_slope(s)
    uw, uv, xw = ca.cross(u, w), ca.cross(u, v), ca.cross(x, w)
    angular = w + ca.cross(u, w / 2 + gamma * uw)
    bent = gamma * (uv + xw) + 2 * ca.dot(u, x) * slope * uw
    return twist(angular, v + xw / 2 + gamma * ca.cross(x, uw) + ca.cross(u, v / 2 + bent))  # (3)


@returns("vector")
def cay_rate(U, V):
    """Rate U̇ at which cay(U) moves with the twist V in its own frame: dcay⁻¹(−U) V."""
    (u, x), (w, v) = split(U), split(V)
    y = v + ca.cross(x, w) / 2
    return twist(so3.cay_rate(u, w), y + ca.cross(u, y) / 2)  # (7)


@returns("matrix")
def Ad(H):
    """Adjoint action on twists, H V̂ H⁻¹ = (Ad(H) V)^: a twist in the second frame, seen from the first.

    Ad(H) = [[R, 0], [p̂ R, R]]; a wrench W goes the other way with the transpose, Ad(H)ᵀ W.
    """
    R, p = split_pose(H)
    return _lower(R, so3.hat(p) @ R, R)


@returns("matrix")
def ad(V):
    """Lie bracket as a matrix: ad(V) U = [V, U], with ad(V) = [[ω̂, 0], [v̂, ω̂]]."""
    w, v = split(V)
    return _lower(so3.hat(w), so3.hat(v), so3.hat(w))
