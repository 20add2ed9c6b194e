"""Rotation about one unit axis, and the two directions across it."""

import casadi as ca
import numpy as np

from ..errors import OptionError
from .numeric import returns


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
    """Rows n₁, n₂ that complete a numeric axis a to a right-handed orthonormal frame: n₁ × n₂ = a.

    For the axes x, y, z they are (y, z), (z, x), (x, y), without rounding.
    """
    a = np.asarray(axis, dtype=float).ravel()
    length = np.linalg.norm(a)
    if a.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise OptionError(f"axis {axis!r} has no direction; it must be three finite numbers, not all zero.")
    a = a / length
    n1 = np.eye(3)[(np.argmax(np.abs(a)) + 1) % 3]
    n1 = n1 - (n1 @ a) * a
    n1 = n1 / np.linalg.norm(n1)
    return np.array([n1, np.cross(a, n1)]) + 0.0
