"""Rotations: the group SO(3), its algebra so(3), the maps between them, quaternions and Euler angles.

A rotation vector w ∈ ℝ³ stands for ŵ ∈ so(3), with s = w·w = θ². All maps are polynomials in ŵ of degree two, because
ŵ³ = −s ŵ:

    exp(ŵ)    = I + (sin θ/θ) ŵ + ((1 − cos θ)/θ²) ŵ²                                (1)
    dexp(w)   = I + ((1 − cos θ)/θ²) ŵ + ((θ − sin θ)/θ³) ŵ²                         (2)
    dexp⁻¹(w) = I − ½ ŵ + ((1 − (θ/2) cot(θ/2))/θ²) ŵ²                               (3)
    cay(ŵ)    = (I − ½ŵ)⁻¹(I + ½ŵ) = I + c ŵ + ½ c ŵ²,       c = 4/(4 + s)           (4)
    dcay(w)   = c (I + ½ ŵ)                                                          (5)
    dcay⁻¹(w) = I − ½ ŵ + ¼ w wᵀ = (1 + ¼ s) I − ½ ŵ + ¼ ŵ²                          (6)

The differentials are the standard, spatial ones, d/dt exp(u) = (dexp(u) u̇)^ exp(u), and likewise for cay; so the
angular velocity in the turning frame is dexp(−u) u̇. [zenzerovic2012, eqs. 3.8 to 3.14; iserles2000]
"""

import casadi as ca

from . import smooth
from .axis import normals, rotation
from .euler import from_euler, to_euler
from .numeric import returns

__all__ = [
    "hat", "vee", "exp", "log", "cay", "cay_inverse", "dexp", "dexp_inverse", "dcay", "dcay_inverse",
    "exp_rate", "cay_rate", "Ad", "ad", "quadratic", "rotation", "normals",
    "from_quaternion", "to_quaternion", "from_euler", "to_euler",
]  # fmt: skip


@returns("matrix")
def hat(w):
    """The skew matrix ŵ with ŵ x = w × x."""
    x, y, z = w[0], w[1], w[2]
    return ca.vertcat(ca.horzcat(0, -z, y), ca.horzcat(z, 0, -x), ca.horzcat(-y, x, 0))


@returns("vector")
def vee(W):
    """The vector of a skew matrix: vee(ŵ) = w."""
    return ca.vertcat(W[2, 1], W[0, 2], W[1, 0])


@returns("matrix")
def quadratic(w, alpha, beta, gamma=1):
    """γ I + α ŵ + β ŵ², from scalars so that nothing is computed twice."""
    x, y, z = w[0], w[1], w[2]
    ax, ay, az = alpha * x, alpha * y, alpha * z
    bx, by, bz = beta * x, beta * y, beta * z
    yy, zz, xy, xz, yz = by * y, bz * z, bx * y, bx * z, by * z
    rest = gamma - bx * x
    return ca.vertcat(
        ca.horzcat(gamma - (yy + zz), xy - az, xz + ay),
        ca.horzcat(xy + az, rest - zz, yz - ax),
        ca.horzcat(xz - ay, yz + ax, rest - yy),
    )


@returns("matrix")
def exp(w):
    """The rotation by the angle |w| about w, equation (1)."""
    cosine, sine = smooth.half_angle(ca.dot(w, w))
    return quadratic(w, cosine * sine, sine * sine / 2)  # (1)


@returns("vector")
def log(R):
    """The rotation vector of R, of length at most π: exp(log(R)) = R.

        w = 4 arctan(τ)/τ · e/(1 + e₀),        τ² = e·e/(1 + e₀)² = tan²(θ/4)        (7)

    (e₀, e)  the unit quaternion of R with e₀ ≥ 0. As 0 ≤ τ ≤ 1 the formula has no singular point, neither at 0 nor at
             π. At π exactly, both w and −w are logarithms; one of the two is returned.
    """
    q = to_quaternion(R)
    e0, e = q[0], q[1:]
    y = ca.dot(e, e) / ((1 + e0) * (1 + e0))
    return 4 * smooth.arctangent(y) / (1 + e0) * e  # (7)


@returns("matrix")
def cay(w):
    """The Cayley map, equation (4): the rotation by 2 arctan(|w|/2) about w, so cay(w) = exp(w) + O(|w|³)."""
    c = 4 / (4 + ca.dot(w, w))
    return quadratic(w, c, c / 2)  # (4)


@returns("vector")
def cay_inverse(R):
    """The vector w with cay(w) = R, w = 2 vee(R − Rᵀ)/(1 + tr R); rotations by π have none."""
    return 2 * vee(R - R.T) / (1 + ca.trace(R))


@returns("matrix")
def dexp(w):
    """Differential of exp, equation (2)."""
    s = ca.dot(w, w)
    return quadratic(w, smooth.versine(s), smooth.arc_excess(s))  # (2)


@returns("matrix")
def dexp_inverse(w):
    """Inverse differential of exp, equation (3), for |w| < 2π."""
    return quadratic(w, -0.5, smooth.cotangent_defect(ca.dot(w, w)))  # (3)


@returns("matrix")
def dcay(w):
    """Differential of the Cayley map, equation (5)."""
    c = 4 / (4 + ca.dot(w, w))
    return quadratic(w, c / 2, 0, c)  # (5)


@returns("matrix")
def dcay_inverse(w):
    """Inverse differential of the Cayley map, equation (6)."""
    return quadratic(w, -0.5, 0.25, 1 + ca.dot(w, w) / 4)  # (6)


@returns("vector")
def exp_rate(u, w):
    """Rate u̇ at which exp(u) turns with the angular velocity w in its own frame: dexp⁻¹(−u) w."""
    b = smooth.cotangent_defect(ca.dot(u, u))
    return w + ca.cross(u, w / 2 + b * ca.cross(u, w))  # (3)


@returns("vector")
def cay_rate(u, w):
    """Rate u̇ at which cay(u) turns with the angular velocity w in its own frame: dcay⁻¹(−u) w."""
    return w + ca.cross(u, w) / 2 + ca.dot(u, w) / 4 * u  # (6)


@returns("matrix")
def Ad(R):
    """Adjoint action on rotation vectors: R ŵ Rᵀ = (Ad(R) w)^, which is R itself."""
    return R


@returns("matrix")
def ad(w):
    """Lie bracket as a matrix: ad(w) x = w × x."""
    return hat(w)


@returns("matrix")
def from_quaternion(q):
    """Rotation of a quaternion q = (e₀, e), scalar first, of any length but zero: R = I + (2/q·q)(e₀ ê + ê²)."""
    scale = 2 / ca.dot(q, q)
    return quadratic(q[1:], scale * q[0], scale)


@returns("vector")
def to_quaternion(R):
    """Unit quaternion (e₀, e) of R, scalar first, with e₀ ≥ 0.

    The symmetric 4 × 4 matrix 4 q qᵀ is linear in R. Its column with the largest diagonal entry, at least 1, is a long
    enough multiple of q at every rotation; choosing comes before the root, so no derivative meets 0/0.
    [shepperd1978]
    """
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    a, b, c = R[0, 0], R[1, 1], R[2, 2]
    columns = [
        ca.vertcat(1 + a + b + c, x, y, z),
        ca.vertcat(x, 1 + a - b - c, xy, xz),
        ca.vertcat(y, xy, 1 - a + b - c, yz),
        ca.vertcat(z, xz, yz, 1 - a - b + c),
    ]
    # the column of the largest component
    best, peak = columns[0], columns[0][0]
    for j in (1, 2, 3):
        larger = columns[j][j] > peak
        best, peak = ca.if_else(larger, columns[j], best), ca.if_else(larger, columns[j][j], peak)
    # unit length, and the sign that makes the angle at most π
    return ca.if_else(best[0] < 0, -1, 1) / ca.sqrt(ca.dot(best, best)) * best
