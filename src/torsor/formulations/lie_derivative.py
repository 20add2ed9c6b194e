"""Derivatives along motions of bodies.

    x → x + δx,  R → R (1 + δθ~)          dR/dδθₖ = R eₖ~                                         (1)
    ė = ∂e/∂x ẋ + ∂e/∂R : R ω~ + ∂e/∂t                                                            (2)

An expression of the bodies' position and rotation symbols is differentiated by the chain rule through (1), which keeps
structural zeros and constants; nothing is perturbed and substituted back.
"""

from weakref import WeakKeyDictionary

import casadi as ca

from ..describe.quantity import time

TURNING = 3  # place of ω in (ẋ, ω) of a body
BASIS = [[(0, 0, 0), (0, 0, -1), (0, 1, 0)], [(0, 0, 1), (0, 0, 0), (-1, 0, 0)], [(0, -1, 0), (1, 0, 0), (0, 0, 0)]]


_KNOWN: WeakKeyDictionary = WeakKeyDictionary()  # every element asks for the motion of its bodies


def turned(R):
    """vec of R eₖ~ for k = 0, 1, 2, as the columns of a 9x3 matrix."""
    return ca.horzcat(*[ca.vec(R @ ca.sparsify(ca.SX(ca.DM(E)))) for E in BASIS])  # (1)


def _motion(body):
    """Coordinates of a body, their rates, and dR/dδθ: (1)."""
    if body not in _KNOWN:
        x, v = [body.position], [body.velocity]
        along = None if body.particle else turned(body.rotation)
        if not body.particle:
            x.append(ca.vec(body.rotation))
            v.append(along @ body.angular_velocity)
        _KNOWN[body] = ca.vertcat(*x), ca.vertcat(*v), along
    return _KNOWN[body]


def gradient(expression, body):
    """∂e/∂(δx, δθ) of a column of expressions: a matrix with six columns, three for a particle."""
    by_position = ca.jacobian(expression, body.position)
    if body.particle:
        return by_position
    return ca.horzcat(by_position, ca.jacobian(expression, ca.vec(body.rotation)) @ _motion(body)[2])


def velocities(body):
    """(ẋ, ω) of a body, ẋ of a particle."""
    return body.velocity if body.particle else together(body.velocity, body.angular_velocity)


def together(linear, angular):
    """What belongs to ẋ above what belongs to ω: velocities of a body, accelerations, forces; this file fixes the order."""
    return ca.vertcat(linear, angular)


def parts(columns):
    """What belongs to ẋ and what belongs to ω in something that is as high as (ẋ, ω) of a body; of a particle, nothing to ω."""
    return columns[:TURNING, :], columns[TURNING:, :]


def rate(expression, bodies, states=()):
    """ė along the motion of the bodies, their velocities held, and with time: (2); states: others that change, and how fast."""
    arguments, directions, _ = zip(
        (time, ca.SX(1), None), *map(_motion, bodies), *((z, speed, None) for z, speed in states)
    )
    return ca.jtimes(expression, ca.vertcat(*arguments), ca.vertcat(*directions))  # (2)
