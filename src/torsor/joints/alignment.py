"""Alignment of two frames: directions across an axis, the angle about it, and equations that keep frames aligned.

Sines vanish at 0 and at π: an equation such as 0 = n·R a holds for an axis that points the other way too. Its **strict** form

    2 sin θ / (1 + cos θ) = 2 tan(θ/2)                                                                    (1)

has the same derivative where it is meant, and grows without bound towards the place where it is not. Kernels use the short form;
the start and the judgement of a run ask for the strict one with `strictly`.
"""

from contextlib import contextmanager
from contextvars import ContextVar

import casadi as ca

from ..elements import quantity
from ..lie import se3, so3

_strict: ContextVar[list | None] = ContextVar("strict", default=None)


@contextmanager
def strict_equations():
    """A context in which elements declare their equations in strict form.

    It yields a list of cos θ of the equations that have one; cos θ = 1 in the intended assembly.
    """
    recorded: list = []
    token = _strict.set(recorded)
    try:
        yield recorded
    finally:
        _strict.reset(token)


def is_strict():
    return _strict.get() is not None


def _choose_by_cosine(sines, cosine):
    """Rows of sines, or their strict form: (1)."""
    recorded = _strict.get()
    if recorded is None:
        return sines
    recorded.append(cosine)
    return 2 * sines / (1 + cosine)  # (1)


def choose_rows(rows, strict, cosines):
    """Rows, or what was recorded of their strict form and its cosines."""
    recorded = _strict.get()
    if recorded is None:
        return rows
    recorded.extend(cosines)
    return strict


def normals(axis):
    """Two unit vectors that complete a unit axis to a right-handed frame."""
    rows = so3.normals(quantity.numbers(axis).ravel() if axis.is_constant() else axis)
    return tuple(ca.densify(ca.SX(rows[k, :])).reshape((3, 1)) for k in range(2))


def about(R, axis):
    """Angle of a rotation about `axis`, from two normals of it: atan2(n₂·R n₁, n₁·R n₁)."""
    n1, n2 = normals(axis)
    return ca.atan2(ca.dot(n2, R @ n1), ca.dot(n1, R @ n1))


def tilt(R, axis):
    """Two rows that vanish when R leaves the axis alone: n₁·R a, n₂·R a."""
    n1, n2 = normals(axis)
    turned = R @ axis
    return _choose_by_cosine(ca.vertcat(ca.dot(n1, turned), ca.dot(n2, turned)), ca.dot(axis, turned))


def no_turn(R):
    """Three rows that vanish at R = 1 and have the full rank there: vee(R − Rᵀ)/2, the axis times sin θ."""
    sines = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
    return _choose_by_cosine(sines, (ca.trace(R) - 1) / 2)


def no_rotation(H, normals):
    """Rows g with ġ = n·ω for two or three vectors n of the first frame, where ω is the relative angular velocity.

    One such row alone is not integrable. Two leave the rotation about z = n₁ × n₂, three leave none:

        two:    gₖ = (nₖ × z)·R z                                      (2)
        three:  gₖ = nₖ·vee(R − Rᵀ)/2                                  (3)
    """
    R, _ = se3.split_pose(H)
    if len(normals) == 3:
        turn = no_turn(R)
        return ca.vertcat(*[ca.dot(n, turn) for n in normals])  # (3)
    z = ca.cross(*normals)
    z = z / ca.sqrt(ca.sumsqr(z))
    turned = R @ z
    return _choose_by_cosine(ca.vertcat(*[ca.dot(ca.cross(n, z), turned) for n in normals]), ca.dot(z, turned))  # (2)
