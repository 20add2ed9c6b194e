"""Rotation about one unit axis, and the two directions across it."""

import casadi as ca
import numpy as np

from ..errors import OptionError
from .numeric import returns, symbol_type


@returns("matrix")
def rotation(axis, angle):
    """Rotation about a unit axis a: R = a aᵀ + cos φ (I − a aᵀ) + sin φ â.

    Terms are arranged so that for an axis of zeros and ones nothing is left but ±sin φ, cos φ, 0 and 1.
    """
    x, y, z = axis[0], axis[1], axis[2]
    c, s = ca.cos(angle), ca.sin(angle)
    v = 1 - c
    sx, sy, sz = s * x, s * y, s * z
    vxy, vxz, vyz = v * (x * y), v * (x * z), v * (y * z)
    return ca.vertcat(
        ca.horzcat(x * x + c * (1 - x * x), vxy - sz, vxz + sy),
        ca.horzcat(vxy + sz, y * y + c * (1 - y * y), vyz - sx),
        ca.horzcat(vxz - sy, vyz + sx, z * z + c * (1 - z * z)),
    )


def normals(axis):
    """Return rows n₁, n₂ that complete an axis a to a right-handed orthonormal frame, n₁ × n₂ = a, for numbers and symbols.

    n₁ is the normalised part, perpendicular to a, of the coordinate axis that follows (cyclically) the one to which a is closest.
    For the axes x, y, z the rows are (y, z), (z, x), (x, y), without rounding.
    """
    if symbol_type(axis):
        return across(axis)
    a = np.asarray(axis, dtype=float).ravel()
    size = np.abs(a).max(initial=0.0)
    if a.shape != (3,) or not np.isfinite(size) or size == 0.0:
        raise OptionError(f"axis {axis!r} has no direction; it must be three finite numbers, not all zero.")
    return across(a / size) + 0.0


@returns("matrix")
def across(axis):
    a = axis / ca.sqrt(ca.sumsqr(axis))
    x, y, z = ca.vertsplit(ca.fabs(a))
    along_x = ca.logic_and(x >= y, x >= z)
    along_y = ca.logic_and(ca.logic_not(along_x), y >= z)
    helper = ca.vertcat(1 - along_x - along_y, along_x, along_y)
    n1 = helper - ca.dot(helper, a) * a
    n1 = n1 / ca.sqrt(ca.sumsqr(n1))
    return ca.horzcat(n1, ca.cross(a, n1)).T
