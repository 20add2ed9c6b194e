"""Spatial algebra by blocks, for recursions over a tree.

Motion (α, a): angular acceleration of a frame and linear acceleration of its origin, in its axes. Wrench (n, f): torque about
the origin and force. An inertia maps motions to wrenches. It is symmetric and stored as three 3x3 blocks,

    n = J α + H a,      f = Hᵀ α + M a,          J = Jᵀ, M = Mᵀ                                       (1)

Of the symmetric blocks only the entries on and above the diagonal are computed.
"""

from typing import NamedTuple

import casadi as ca


class Inertia(NamedTuple):
    """Blocks of a symmetric 6x6 inertia: (1)."""

    J: ca.SX
    H: ca.SX
    M: ca.SX

    def __add__(self, other):
        return Inertia(*(a + b for a, b in zip(self, other)))

    def times(self, motion):
        """The wrench of a motion, or of several motions as columns."""
        alpha, a = motion
        return self.J @ alpha + self.H @ a, self.H.T @ alpha + self.M @ a  # (1)


def skew(d):
    """d~, with structural zeros where d has zeros."""
    return ca.sparsify(ca.vertcat(ca.horzcat(0, -d[2], d[1]), ca.horzcat(d[2], 0, -d[0]), ca.horzcat(-d[1], d[0], 0)))


def symmetric(A):
    """A symmetric matrix from its entries on and above the diagonal; those below are the same expressions."""
    upper = ca.triu(A)
    return upper + ca.triu(A, False).T


def rigid_body_inertia(mass, center, tensor):
    """Inertia of a rigid body about the origin of a frame: J = J_c − m c~ c~, H = m c~, M = m 1."""
    c = skew(center)
    return Inertia(ca.sparsify(symmetric(tensor - mass * (c @ c))), ca.sparsify(mass * c), mass * ca.SX.eye(3))


def rotate(inertia, R):
    """An inertia in other axes, where R maps components in the present axes to the other ones: R J Rᵀ, R H Rᵀ, R M Rᵀ."""
    J, H, M = inertia
    return Inertia(symmetric(R @ J @ R.T), R @ H @ R.T, symmetric(R @ M @ R.T))


def shift(inertia, d):
    """An inertia about another point, where d is the vector from that point to the present origin.

    a = a' − d × α',  n' = n + d × f:     M' = M,  H' = H + d~ M,  J' = J + d~ Hᵀ − H' d~          (2)
    """
    J, H, M = inertia
    D = skew(d)
    K = ca.sparsify(H + D @ M)
    return Inertia(symmetric(J + D @ H.T - K @ D), K, M)  # (2)


def subtract_joint_inertia(inertia, U, scaled):
    """I − U (D⁻¹ Uᵀ) by blocks, for the columns U = (n, f) and scaled = U D⁻¹."""
    (n, f), (ns, fs) = U, scaled
    J, H, M = inertia
    return Inertia(symmetric(J - ns @ n.T), H - ns @ f.T, symmetric(M - fs @ f.T))


def cross(a, b):
    """a × b, with structural zeros kept."""
    return skew(a) @ b
