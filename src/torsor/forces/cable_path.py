"""The path of a cable or belt over pulleys, points and drums, as an equation for each part that holds on to itself.

A point is a pulley of radius zero. With ρ = ± r, positive where the rope runs anticlockwise about the axis of the pulley, a
straight part from pulley 1 to pulley 2 has

    D = C₂ − C₁,    l² = D·D − (ρ₂ − ρ₁)²,    θ = δ − atan2(ρ₂ − ρ₁, l)                                  (1)

and where the rope does not slip on either of them, the rope between two marks on them exceeds what it has to span by

    s = (ρ₂ − ρ₁) θ − ρ₂ φ₂ + ρ₁ φ₁ − l − (the same in the reference configuration)                     (2)

    δ     direction of D in the plane, φ angles of the pulleys, both relative to the body that carries the first pulley      [rad]
    l, θ  length and direction of the straight part                                                      [m, rad]

Where it slides without friction the equations of the two neighbours are added: φ drops out, and what is left is the whole length.
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import ModelError
from ..joints.base import Joint
from ..lie import se3

IN_PLANE = 1e-6  # distance of a pulley from the plane of the rope over the size of the path


@dataclass(frozen=True, eq=False)
class Pulley:
    """A wheel that a cable or a belt runs over, or the drum that it is wound on.

    joint      the revolute joint of the wheel, which is its second body
    radius     to the middle of the rope                                                                [m]
    winding    +1 where the rope, in the order of the path, runs anticlockwise about the joint's axis, −1 clockwise; None: the way
               that wraps less of the wheel, which only a pulley between two others has
    slip       True: the rope slides on it without friction, and does not turn it
    """

    joint: Any
    radius: Any
    winding: int | None = None
    slip: bool = False


class Stop:
    """A pulley or a point of a path: centre C, radius, angle φ and normal, as expressions of signals."""

    def __init__(self, owner, item, name):
        self.owner, self.item, self.label = owner, item, name
        self.pulley = item if isinstance(item, Pulley) else None
        self.grips = self.pulley is not None and not self.pulley.slip  # a point between the ends is an eye
        if self.pulley is None:
            self.center = quantity.vector(item, "path", owner)
            self.radius = ca.SX(0)
            return
        joint = self.pulley.joint
        if not isinstance(joint, Joint) or joint.dof != 1 or not joint.angular[0]:
            raise ModelError(f"{owner}: {name} must turn on a revolute joint, got {quantity.show(joint)}")
        radius = quantity.scalar(self.pulley.radius, "radius", owner)
        if not radius.is_constant() or not float(radius) > 0:
            raise ModelError(
                f"{owner}: the radius of {name} must be a positive number, got {quantity.show(self.pulley.radius)}"
            )
        if self.pulley.winding not in (None, 1, -1):
            raise ModelError(
                f"{owner}: the winding of {name} must be 1 or -1, got {quantity.show(self.pulley.winding)}"
            )
        self.radius = radius
        (R, self.center), _ = joint.ends()
        angular, _ = se3.split(joint.motion(ca.SX.zeros(1)))
        self.joint = joint
        self.carrier = joint.first
        self.normal = R @ angular
        self.turn = joint.coordinate[0]


class Path:
    """The parts of a path between stops that hold the rope.

    home     the model, whose bodies are in their reference poses where the lengths are measured
    items    points (three expressions each) and pulleys
    closed   True for a belt
    """

    def __init__(self, owner, home, items, closed=False):
        self.owner, self.home = owner, home
        least = "two pulleys" if closed else "two points or pulleys"
        if not isinstance(items, (list, tuple)) or len(items) < 2:
            raise ModelError(f"{owner}: path must be a list of at least {least}, got {quantity.show(items)}")
        self.stops = [Stop(owner, x, f"pulley {k}") for k, x in enumerate(items)]
        self.pulleys = [s for s in self.stops if s.pulley is not None]
        if closed and len(self.pulleys) != len(self.stops):
            raise ModelError(f"{owner}: a belt runs over pulleys only")
        order = list(range(len(self.stops))) + ([0] if closed else [])
        self.pairs = list(zip(order, order[1:]))
        self.closed = closed
        self._measure()
        signs = [self._winding(k) for k in range(len(self.stops))]
        self.rho = [s.radius * sign for s, sign in zip(self.stops, signs)]
        self._check_lengths()

    # the plane of the path

    def _measure(self):
        """Set the carrier of the plane and the reference values of centres; refuse pulleys that are not in the plane."""
        self.places = [self.at_reference(s.center) for s in self.stops]
        if not self.pulleys:
            return
        self.plane = self.pulleys[0]
        self.normal = self.at_reference(self.plane.normal)
        size = max(np.ptp(np.array(self.places), axis=0).max(), 1e-12)
        for stop, place in zip(self.stops, self.places):
            away = abs((place - self.at_reference(self.plane.center)) @ self.normal)
            tilted = (
                0.0 if stop.pulley is None else np.linalg.norm(np.cross(self.at_reference(stop.normal), self.normal))
            )
            if away > IN_PLANE * size or tilted > IN_PLANE:
                raise ModelError(
                    f"{self.owner}: pulleys and points must lie in one plane across the axes, {stop.label} does not"
                )

    def at_reference(self, expression):
        """The numbers of an expression with all bodies in their reference poses and all joint coordinates at zero."""
        expression = ca.SX(expression)
        symbols, values = [], []
        for body in (*self.home.bodies, *self.home.grounds):
            symbols += [body.position, ca.vec(body.rotation)]
            x, R = body.reference
            values += [ca.SX(x), ca.vec(ca.SX(R))]
        found = ca.substitute([expression], symbols, values)[0]
        rest = ca.symvar(found)
        found = ca.substitute([found], [ca.vertcat(*rest, ca.SX(0, 1))], [ca.SX.zeros(len(rest))])[0]
        return quantity.numbers(found).ravel()

    def _angle_in_plane(self, vector, start):
        """Direction of a vector relative to a fixed direction in the carrier of the plane."""
        R = self.plane.carrier.rotation
        R0 = quantity.numbers(self.plane.carrier.reference[1])
        n, e = R @ (R0.T @ self.normal), R @ (R0.T @ start)
        return ca.atan2(ca.dot(ca.cross(n, e), vector), ca.dot(e, vector))

    def _angle_of(self, stop):
        """φ of a pulley relative to the carrier of the plane."""
        sign = float(np.sign(self.at_reference(stop.normal) @ self.normal))
        angle = sign * stop.turn
        if stop.carrier is self.plane.carrier or not (
            hasattr(stop.carrier, "mass") or hasattr(self.plane.carrier, "mass")
        ):
            return angle
        start = np.cross(self.normal, np.eye(3)[np.argmin(np.abs(self.normal))])
        R0 = quantity.numbers(stop.carrier.reference[1])
        return angle + self._angle_in_plane(stop.carrier.rotation @ (R0.T @ start), start / np.linalg.norm(start))

    def _winding(self, k):
        """+1 or −1 about the common normal; the way that wraps less, where none is given."""
        stop = self.stops[k]
        if stop.pulley is None:
            return 1.0
        sign = float(np.sign(self.at_reference(stop.normal) @ self.normal))
        if stop.pulley.winding is not None:
            return sign * stop.pulley.winding
        if self.closed:
            return 1.0
        if k in (0, len(self.stops) - 1):
            raise ModelError(f"{self.owner}: {stop.label} is at the end of the path, give its winding: 1 or -1")
        return min((1.0, -1.0), key=lambda way: self._wrap(k, way))

    def _wrap(self, k, way):
        """Angle that the rope wraps of a pulley in the reference configuration, from the centre lines to both neighbours."""
        x = np.cross(self.normal, np.eye(3)[np.argmin(np.abs(self.normal))])
        y = np.cross(self.normal, x)
        angles = []
        for other, side in ((k - 1, 1), (k + 1, -1)):
            d = self.places[other] - self.places[k]
            r = float(self.stops[k].radius)
            reach = np.arccos(min(1.0, r / max(float(np.linalg.norm(d)), r)))
            angles.append(np.arctan2(d @ y, d @ x) + side * way * reach)
        return (way * (angles[1] - angles[0])) % (2 * np.pi)

    def _check_lengths(self):
        """Refuse neighbours that the rope cannot touch: a point in a pulley, pulleys that overlap."""
        for i, j in self.pairs:
            away = np.linalg.norm(self.places[j] - self.places[i])
            if not away > abs(float(self.rho[j] - self.rho[i])):
                raise ModelError(
                    f"{self.owner}: the part between {self.stops[i].label} and {self.stops[j].label} does not touch them: their "
                    f"distance is {away:.6g}, the radii differ by {abs(float(self.rho[j] - self.rho[i])):.6g}"
                )

    # equations

    def _spare(self, i, j):
        """s of a straight part, without its reference value: (2)."""
        a, b = self.stops[i], self.stops[j]
        step, D = self.rho[j] - self.rho[i], b.center - a.center
        length = ca.sqrt(ca.sumsqr(D) - step**2)
        found = -length
        for stop, rho, sign in ((a, self.rho[i], 1), (b, self.rho[j], -1)):
            if stop.pulley is not None:
                found += sign * rho * self._angle_of(stop)
        if not step.is_zero():
            start = self.places[j] - self.places[i]
            delta = self._angle_in_plane(D, start / np.linalg.norm(start))
            found += step * (delta - ca.atan2(step, length))
        return found, float(np.sqrt(np.sum((self.places[j] - self.places[i]) ** 2) - float(step) ** 2))

    def parts(self):
        """(s, length in the reference configuration) of each part between stops that hold the rope."""
        found = []
        total, length = ca.SX(0), 0.0
        for i, j in self.pairs:
            spare, straight = self._spare(i, j)
            total, length = total + spare, length + straight
            last = j == len(self.stops) - 1 and not self.closed
            if last or self.stops[j].grips:
                found.append((total - self._reference(total), length))
                total, length = ca.SX(0), 0.0
        return found

    def _reference(self, expression):
        return float(self.at_reference(expression)[0])

    def moving_centers(self):
        """True if pulleys of a belt sit on different bodies."""
        carriers = {id(s.carrier) if hasattr(s.carrier, "mass") else 0 for s in self.pulleys}
        return len(carriers) > 1

    def rate(self, expression):
        """The rate of an expression of poses and joint coordinates, as a signal."""
        total = ca.SX(0)
        for body in self.home.bodies:
            total += ca.jacobian(expression, body.position) @ body.velocity
            turned = body.rotation @ ca.skew(body.angular_velocity)
            total += ca.jacobian(expression, ca.vec(body.rotation)) @ ca.vec(turned)
        for stop in self.pulleys:
            joint = stop.joint
            total += ca.jacobian(expression, joint.coordinate) @ joint.rate
        return total
