"""Forces at touching points of two surfaces, which `CompliantContact` and `ContactGroup` share.

N = k δⁿ (1 + d δ̇) ≥ 0                  law="hunt-crossley"                                      (1)
N = k δ + c δ̇ ≥ 0                        law="kelvin-voigt", where δ > 0                          (2)
T = −μ N u / √(|u|² + v_s²)               friction, u: velocity of sliding                         (3)
"""

from typing import Any, NamedTuple

import casadi as ca

from ..elements import quantity
from ..errors import ModelError

CONTACT_LAWS = ("hunt-crossley", "kelvin-voigt")
SMALLEST_DEPTH = 1e-30  # below which the root of a depth is taken as constant [m]
LAW_NUMBERS = {"stiffness": 0.0, "exponent": 1.0, "damping": 0.0, "friction": 0.0, "slip_speed": 0.0}  # least values


class ContactLaw(NamedTuple):
    """The numbers of (1) to (3): k, n, d or c, μ, v_s, and the name of the law."""

    stiffness: Any
    exponent: Any
    damping: Any
    friction: Any
    slip_speed: Any
    law: str

    def pressures(self, touches, a, b):
        """Touch, relative velocity and normal force N of each touch of bodies a and b: (1), (2)."""
        found = []
        for touch in touches:
            velocity = velocity_at(b, touch.point) - velocity_at(a, touch.point)
            depth, rate = ca.fmax(touch.depth, 0), -ca.dot(touch.normal, velocity)
            if self.law == "kelvin-voigt":
                force = self.stiffness * depth + self.damping * rate * (touch.depth > 0)  # (2)
            else:
                force = self.stiffness * power(depth, self.exponent) * (1 + self.damping * rate)  # (1)
            found.append((touch, velocity, ca.fmax(force, 0)))
        return found

    def efforts(self, pressures):
        """Pairs of relative velocity and force on the second body."""
        found = []
        for touch, velocity, force in pressures:
            effort = force * touch.normal
            if not ca.SX(self.friction).is_zero():
                slip = velocity - touch.normal * ca.dot(touch.normal, velocity)
                effort -= self.friction * force * slip / ca.sqrt(ca.sumsqr(slip) + self.slip_speed**2)  # (3)
            found.append((velocity, effort))
        return found


def law_of(force):
    """The law of a force that has its numbers as attributes."""
    numbers = {what: quantity.scalar(getattr(force, what), what, force.owner) for what in LAW_NUMBERS}
    return ContactLaw(**numbers, law=force.law)


def check_law(force):
    """Refuse an unknown law, and numbers that are out of range."""
    if force.law not in CONTACT_LAWS:
        raise ModelError(f"{force.owner}: unknown law {quantity.show(force.law)}. Known: {', '.join(CONTACT_LAWS)}")
    for what, least in LAW_NUMBERS.items():
        value = quantity.scalar(getattr(force, what), what, force.owner)
        if value.is_constant() and not float(value) >= least or what == "slip_speed" and value.is_zero():
            allowed = "positive" if what == "slip_speed" else f"at least {least:g}"
            raise ModelError(f"{force.owner}: {what} must be {allowed}, got {quantity.show(getattr(force, what))}")


def velocity_at(body, x):
    """Velocity of the point of a body that is at a place in the world."""
    return body.velocity + ca.cross(body.rotation @ body.angular_velocity, x - body.position)


def power(depth, n):
    """δⁿ, with derivatives that are finite at δ = 0."""
    if n.is_constant() and float(n) == 1:
        return depth
    if n.is_constant() and float(n) == 1.5:
        return depth * ca.sqrt(ca.fmax(depth, SMALLEST_DEPTH))
    return depth * ca.fmax(depth, SMALLEST_DEPTH) ** (n - 1)
