"""Euler angles of all twelve sequences, intrinsic: each turn is about an axis of the frame as turned so far.

    R = R_i(α) R_j(β) R_l(γ),        sequence "ijl", such as "313", "321", "123"          (1)

Third and second angle come from row i of R, where α does not occur; the first from what is left, R R_l(γ)ᵀ, so that
the three together give R to rounding even next to gimbal lock. At lock itself, where only α ± γ is defined, γ = 0.
[diebel2006; zenzerovic2012, eq. 2.3 for 313]
"""

import casadi as ca

from ..errors import OptionError
from .axis import rotation
from .numeric import returns

SEQUENCES = ("121", "123", "131", "132", "212", "213", "231", "232", "312", "313", "321", "323")
_ROUNDING = 2.0**-50  # below this size, sin β (or cos β) is rounding of the entries of R


def _axes(sequence):
    """Axis numbers i, j, l of a sequence, counted from 0."""
    if sequence not in SEQUENCES:
        raise OptionError(f"unknown Euler sequence {sequence!r}. Known: {', '.join(SEQUENCES)} (intrinsic turns).")
    return [int(digit) - 1 for digit in sequence]


@returns("matrix")
def from_euler(angles, sequence):
    """Rotation matrix of three Euler angles [rad], equation (1)."""
    unit = ca.DM.eye(3)
    R_i, R_j, R_l = (rotation(ca.densify(unit[:, k]), angles[n]) for n, k in enumerate(_axes(sequence)))
    return R_i @ R_j @ R_l  # (1)


@returns("vector")
def to_euler(R, sequence):
    """Euler angles (α, β, γ) of R [rad]: α, γ in (−π, π]; β in [0, π] if i = l, else in [−π/2, π/2].

    k is the axis that is neither i nor j, and ε = e_i·(e_j × e_k) = ±1. Row i of R is

        i = l:   R_ii = cos β,        R_ij = sin β sin γ,       R_ik = ε sin β cos γ      (2)
        i ≠ l:   R_ii = cos β cos γ,  R_ij = −ε cos β sin γ,    R_ik = ε sin β            (3)
    """
    i, j, last = _axes(sequence)
    k = 3 - i - j
    sign = 1 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1
    if last == i:
        across, along, other = R[i, j], sign * R[i, k], k  # (2)
    else:
        across, along, other = -sign * R[i, j], R[i, i], i  # (3)

    # third angle, zero at lock
    squared = across * across + along * along
    locked = squared < _ROUNDING**2
    gamma = ca.atan2(ca.if_else(locked, 0, across), ca.if_else(locked, 1, along))

    # second angle
    radius = ca.sqrt(squared)
    beta = ca.atan2(radius, R[i, i]) if last == i else ca.atan2(sign * R[i, k], radius)

    # first angle, from column j of R R_l(γ)ᵀ = R_i(α) R_j(β), which is cos α e_j + ε sin α e_k
    turn = -sign if last == i else sign
    column = ca.cos(gamma) * R[:, j] + turn * ca.sin(gamma) * R[:, other]
    alpha = ca.atan2(sign * column[k], column[j])
    return ca.vertcat(alpha, beta, gamma)
