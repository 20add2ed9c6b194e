"""Derivatives along motions of bodies.

    x → x + δx,  R → R (1 + δθ~)          dR/dδθₖ = R eₖ~                                         (1)
    ė = ∂e/∂x ẋ + ∂e/∂R : R ω~ + ∂e/∂t                                                            (2)

An expression of the bodies' position and rotation symbols is differentiated by the chain rule through (1), which keeps
structural zeros and constants.
"""

from weakref import WeakKeyDictionary

import casadi as ca

from ...elements.quantity import time

ANGULAR_START = 3  # index at which ω begins in (ẋ, ω) of a body
SKEW_BASIS = [  # eₖ~
    [(0, 0, 0), (0, 0, -1), (0, 1, 0)],
    [(0, 0, 1), (0, 0, 0), (-1, 0, 0)],
    [(0, -1, 0), (1, 0, 0), (0, 0, 0)],
]


_MOTIONS: WeakKeyDictionary = WeakKeyDictionary()  # results of `_motion` by body


def rotation_derivatives(R):
    """vec of R eₖ~ for k = 0, 1, 2, as the columns of a 9x3 matrix."""
    return ca.horzcat(*[ca.vec(R @ ca.sparsify(ca.SX(ca.DM(E)))) for E in SKEW_BASIS])  # (1)


def _motion(body):
    """Coordinates of a body, their rates, and dR/dδθ: (1)."""
    if body not in _MOTIONS:
        x = [body.position]
        v = [body.velocity]
        dR = None if body.particle else rotation_derivatives(body.rotation)
        if not body.particle:
            x.append(ca.vec(body.rotation))
            v.append(dR @ body.angular_velocity)
        _MOTIONS[body] = ca.vertcat(*x), ca.vertcat(*v), dR
    return _MOTIONS[body]


def gradient(expression, body):
    """∂e/∂(δx, δθ) of a column of expressions: a matrix with six columns, three for a particle."""
    by_position = ca.jacobian(expression, body.position)
    if body.particle:
        return by_position
    return ca.horzcat(by_position, ca.jacobian(expression, ca.vec(body.rotation)) @ _motion(body)[2])


def velocities(body):
    """(ẋ, ω) of a body, ẋ of a particle."""
    return body.velocity if body.particle else stack_linear_angular(body.velocity, body.angular_velocity)


def stack_linear_angular(linear, angular):
    """Stack a linear and an angular part in the order (ẋ, ω): velocities, accelerations or forces of a body.

    This file fixes the order.
    """
    return ca.vertcat(linear, angular)


def split_linear_angular(columns):
    """The linear and the angular part of columns in the order (ẋ, ω); the angular part of a particle is empty."""
    return columns[:ANGULAR_START, :], columns[ANGULAR_START:, :]


def rate(expression, bodies, states=()):
    """ė along the motion of the bodies at constant velocities, explicit time dependence included: (2).

    states   pairs of a user's state and its rate
    """
    arguments, directions, _ = zip(
        (time, ca.SX(1), None), *map(_motion, bodies), *((z, state_rate, None) for z, state_rate in states)
    )
    return ca.jtimes(expression, ca.vertcat(*arguments), ca.vertcat(*directions))  # (2)
