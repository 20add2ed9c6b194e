"""The path of a cable or belt over pulleys, points and drums: how much longer each part is than what it has to span.

A point is a pulley of radius zero. With ρ = ± r, positive where the rope runs anticlockwise about the normal n of the plane, a
straight part from pulley 1 to pulley 2 has

    D = C₂ − C₁,    l² = D·D − (ρ₂ − ρ₁)²,    θ = δ − atan2(ρ₂ − ρ₁, l)                                  (1)

and where the rope does not slip on either of them, the rope between two marks on them exceeds what it has to span by

    s = ρ₂ (θ₂ − φ₂) − ρ₁ (θ₁ − φ₁) − l − (the same in the reference configuration)                      (2)
    ṡ = −t·(u₂ − u₁),    t = (l D − (ρ₂ − ρ₁) n × D)/D·D                                                 (3)

    δ     direction of D in the plane, φ angle of the pulley, both relative to the body that carries the pulley   [rad]
    l, θ  length and direction of the straight part, t its unit vector                                   [m, rad]
    u     velocities of the wheels' material where the straight part begins and ends                     [m/s]

Where the rope slides without friction the equations of the two neighbours are added: φ drops out. Directions are measured from a
bearing β that the element remembers, δ = β + atan2(…), and that an event turns along where δ − β exceeds TURN.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...errors import ModelError
from .pulley import Stop, stop_of

IN_PLANE = 1e-6  # distance of a pulley from the plane of the rope / size of the path; tilt of its axis
LARGEST_WRAP = 5.5  # angle of wrap beyond which the rope runs on the other side of the pulley [rad]
TURN = 2.0  # angle from the bearing at which the bearing is turned along [rad]


class Bearing(NamedTuple):
    """A direction that a path measures: of the straight part `pair`, relative to `body`, with the factor that s has it with."""

    pair: int
    body: Any
    factor: float


class Part(NamedTuple):
    """Consecutive straight parts between two stops that divide the rope; length at the reference configuration [m]."""

    pairs: list
    first: int
    last: int
    length: float


class CablePath:
    """The equations of a path.

    element   that has it, for messages and for its model, whose bodies are in their reference poses where lengths are measured
    items     points and pulleys, as given or as kept
    closed    True for a belt
    """

    def __init__(self, element, items, closed=False):
        self.element, self.owner, self.closed = element, element.owner, closed
        least = "two pulleys" if closed else "two points or pulleys"
        if not isinstance(items, (list, tuple)) or len(items) < 2:
            raise ModelError(f"{self.owner}: path must be a list of at least {least}")
        self.stops = [stop_of(element, x, k) for k, x in enumerate(items)]
        if closed and any(s.joint is None for s in self.stops):
            raise ModelError(f"{self.owner}: a belt runs over pulleys only")
        order = list(range(len(self.stops))) + ([0] if closed else [])
        self.pairs = list(zip(order, order[1:]))
        self._find_plane()
        self.stops = [s._replace(winding=self._winding(k)) for k, s in enumerate(self.stops)]
        self.rho = [s.radius * (s.winding or 1) * self._sense(s) for s in self.stops]
        self._check_lengths()
        self._check_wraps()

    def kept(self) -> tuple:
        """The path as an element keeps it."""
        return tuple(s.kept() for s in self.stops)

    # geometry in the reference configuration

    def _find_plane(self):
        """Set the normal of the plane; refuse pulleys and points that are not in it."""
        wheels = [s for s in self.stops if s.joint is not None]
        self.normal = wheels[0].axis if wheels else np.array([0.0, 0.0, 1.0])
        places = np.array([s.place for s in self.stops])
        size = max(np.ptp(places, axis=0).max(), 1e-12)
        for stop in self.stops if wheels else ():
            away = abs((stop.place - wheels[0].place) @ self.normal)
            tilted = 0.0 if stop.axis is None else np.linalg.norm(np.cross(stop.axis, self.normal))
            if away > IN_PLANE * size or tilted > IN_PLANE:
                raise ModelError(
                    f"{self.owner}: pulleys and points must lie in one plane across the axes, {stop.label} does not"
                )

    def _sense(self, stop):
        """+1 if the axis of a pulley points along the normal, −1 if it points back."""
        return 1.0 if stop.axis is None else float(np.sign(stop.axis @ self.normal))

    def _winding(self, k):
        """+1 or −1 about the joint's axis; None for a point."""
        stop = self.stops[k]
        if stop.joint is None or stop.winding is not None:
            return stop.winding
        sense = int(self._sense(stop))
        if self.closed:
            return sense
        if k in (0, len(self.stops) - 1):
            raise ModelError(f"{self.owner}: {stop.label} is at an end of the path, give its winding: 1 or -1")
        return sense * min((1, -1), key=lambda way: self._shortest_wrap(k, way))

    def _shortest_wrap(self, k, way):
        """Angle of wrap of a pulley from the lines through the centres of both neighbours."""
        x = np.cross(self.normal, np.eye(3)[np.argmin(np.abs(self.normal))])
        y = np.cross(self.normal, x)
        angles = []
        for other, side in ((k - 1, 1), (k + 1, -1)):
            d = self.stops[other].place - self.stops[k].place
            r = self.stops[k].radius
            reach = np.arccos(min(1.0, r / max(float(np.linalg.norm(d)), r)))
            angles.append(np.arctan2(d @ y, d @ x) + side * way * reach)
        return (way * (angles[1] - angles[0])) % (2 * np.pi)

    def _check_lengths(self):
        """Refuse neighbours that the rope cannot touch: a point in a pulley, pulleys that overlap."""
        for i, j in self.pairs:
            away = np.linalg.norm(self.stops[j].place - self.stops[i].place)
            step = abs(self.rho[j] - self.rho[i])
            if not away > step:
                raise ModelError(
                    f"{self.owner}: the part between {self.stops[i].label} and {self.stops[j].label} does not touch them: their "
                    f"distance is {away:.6g}, it must exceed {step:.6g}, the difference of the radii (the sum, where it crosses)"
                )

    def _check_wraps(self):
        """Refuse pulleys that the rope does not touch."""
        for k, stop in enumerate(self.stops):
            if stop.joint is None or self._ends(k) or stop.turns:
                continue
            if self.wrap(k) > LARGEST_WRAP:
                raise ModelError(
                    f"{self.owner}: the path does not touch {stop.label}, which has the winding {stop.winding}; change it, or "
                    "move the pulley"
                )

    def _ends(self, k):
        return not self.closed and k in (0, len(self.stops) - 1)

    def wrap(self, k) -> float:
        """ϑ of a pulley in the reference configuration, with its whole turns [rad]."""
        before, after = self._neighbours(k)
        a, b = (self._tangent(i, *self._numbers(i)) for i in (before, after))
        way = float(np.sign(self.rho[k]))
        angle = np.arctan2(way * np.dot(self.normal, np.cross(a, b)), a @ b)
        turned = angle % (2 * np.pi) if angle < -1e-9 else max(angle, 0.0)
        return float(turned + 2 * np.pi * self.stops[k].turns)

    def _neighbours(self, k):
        """Numbers of the straight parts before and after a stop."""
        return (k - 1) % len(self.pairs), k

    def _numbers(self, pair):
        """D and n of a straight part in the reference configuration."""
        i, j = self.pairs[pair]
        return self.stops[j].place - self.stops[i].place, self.normal

    def _tangent(self, pair, D, n):
        """t of (3)."""
        i, j = self.pairs[pair]
        step = self.rho[j] - self.rho[i]
        square = (D.T @ D) if isinstance(D, np.ndarray) else ca.sumsqr(D)
        length = (square - step**2) ** 0.5
        across = np.cross(n, D) if isinstance(D, np.ndarray) else ca.cross(n, D)
        return (length * D - step * across) / square  # (3)

    def drawn_stops(self) -> list[dict[str, Any]]:
        """What a viewer draws: centres, signed radii, the normal in axes of the body with the axis, the wheel and its joint."""
        normal = lambda s: np.asarray(s.body.reference[1], float).T @ self.normal
        return [
            {"body": s.body, "p": s.arm, "wheel": s.wheel, "rho": rho, "normal": normal(s)}
            | ({"hub": s.joint.drawn_member()} if s.joint is not None else {})
            for s, rho in zip(self.stops, self.rho)
        ]

    # equations

    def bearings(self) -> list[Bearing]:
        """The directions that the equations need."""
        found = []
        for pair, (i, j) in enumerate(self.pairs):
            a, b = self.stops[i], self.stops[j]
            if a.joint is not None and b.joint is not None and a.body is b.body:
                ends = [(a.body, self.rho[j] - self.rho[i])]
            else:
                ends = [(stop.body, factor) for stop, factor in ((a, -self.rho[i]), (b, self.rho[j]))]
            found += [Bearing(pair, body, factor) for body, factor in ends if factor]
        return found

    def direction(self, bearing: Bearing, memory: ca.SX) -> tuple[ca.SX, ca.SX]:
        """δ − β, and the cosine of it, relative to the body of the bearing."""
        body = bearing.body
        R, R0 = body.rotation, np.asarray(body.reference[1], float)
        D0, n0 = self._numbers(bearing.pair)
        e0 = D0 / np.linalg.norm(D0)
        D, c, s = self._span(bearing.pair), ca.cos(memory), ca.sin(memory)
        x, y = R @ (R0.T @ e0), R @ (R0.T @ np.cross(n0, e0))
        along, across = ca.dot(D, c * x + s * y), ca.dot(D, c * y - s * x)
        return ca.atan2(across, along), along / ca.sqrt(along**2 + across**2)

    def _center(self, stop: Stop):
        return stop.body.position + stop.body.rotation @ stop.arm

    def _span(self, pair):
        i, j = self.pairs[pair]
        return self._center(self.stops[j]) - self._center(self.stops[i])

    def parts(self, divide_at_friction: bool) -> list[Part]:
        """The parts between stops that the rope does not slide on; with friction as well, if asked."""
        divides = lambda s: s.grips or (divide_at_friction and s.rubs)
        found, pairs, first, length = [], [], None, 0.0
        order = list(range(len(self.pairs)))
        if self.closed:
            start = next((k for k, s in enumerate(self.stops) if divides(s)), 0)
            order = order[start:] + order[:start]
        for pair in order:
            i, j = self.pairs[pair]
            first = i if first is None else first
            D, _ = self._numbers(pair)
            length += float(np.sqrt(D @ D - (self.rho[j] - self.rho[i]) ** 2))
            pairs.append(pair)
            if divides(self.stops[j]) or pair == order[-1]:
                found.append(Part(pairs, first, j, length))
                pairs, first, length = [], None, 0.0
            else:
                length += self.stops[j].radius * self.wrap(j) if self.stops[j].joint is not None else 0.0
        return found

    def spare(self, part: Part, memories: list[ca.SX]) -> ca.SX:
        """s of a part."""
        bearings, total = self.bearings(), ca.SX(0)
        for pair in part.pairs:
            i, j = self.pairs[pair]
            step, D = self.rho[j] - self.rho[i], self._span(pair)
            length = ca.sqrt(ca.sumsqr(D) - step**2)
            total += -length - (step * ca.atan2(step, length) if step else 0)  # (2)
            for bearing, beta in zip(bearings, memories):
                if bearing.pair == pair:
                    total += bearing.factor * (beta + self.direction(bearing, beta)[0])
        for k, sign in ((part.first, 1), (part.last, -1)):
            stop = self.stops[k]
            if stop.joint is not None and not (stop.friction == 0):
                total += sign * self.rho[k] * self._sense(stop) * stop.joint.coordinate[0]
        return total - self._at_reference(total, memories)

    def _at_reference(self, expression, memories):
        """The value of an expression where all bodies are in their reference poses."""
        symbols, values = list(memories), [ca.SX(0)] * len(memories)
        for stop in self.stops:
            x, R = stop.body.reference
            symbols += [stop.body.position, ca.vec(stop.body.rotation)]
            values += [ca.SX(ca.DM(x)), ca.densify(ca.vec(ca.SX(ca.DM(np.asarray(R, float)))))]
            if stop.joint is not None:
                symbols.append(stop.joint.coordinate)
                values.append(ca.SX.zeros(1))
        distinct = {s[0].element_hash(): (s, ca.densify(v)) for s, v in zip(symbols, values)}
        found = ca.substitute([expression], *(list(x) for x in zip(*distinct.values())))[0]
        return float(found)

    def rate(self, part: Part, rubbing: bool = True) -> ca.SX:
        """ṡ of a part, by (3); rubbing: pulleys with friction move with the rope, not only carry it."""
        total = ca.SX(0)
        for pair in part.pairs:
            i, j = self.pairs[pair]
            D = self._span(pair)
            t = self._tangent(pair, D, self._normal(self.stops[i]))
            m = ca.cross(t, self._normal(self.stops[i]))
            speeds = []
            for k in (i, j):
                stop = self.stops[k]
                moves = stop.wheel if stop.grips or (stop.rubs and rubbing) else stop.body
                turning = moves.rotation @ moves.angular_velocity
                reach = self._center(stop) + self.rho[k] * m - moves.position
                speeds.append(moves.velocity + ca.cross(turning, reach))
            total -= ca.dot(t, speeds[1] - speeds[0])
        return total

    def _normal(self, stop):
        """n as fixed in the body that carries a stop."""
        return stop.body.rotation @ (np.asarray(stop.body.reference[1], float).T @ self.normal)

    def angle_of_wrap(self, k: int) -> ca.SX:
        """ϑ of a pulley, not below zero, as a signal; within half a turn from its value in the reference configuration."""
        a, b = (self._tangent(i, self._span(i), self._normal(self.stops[k])) for i in self._neighbours(k))
        w, way = self.wrap(k), float(np.sign(self.rho[k]))
        s, c = way * ca.dot(self._normal(self.stops[k]), ca.cross(a, b)), ca.dot(a, b)
        change = ca.atan2(s * np.cos(w) - c * np.sin(w), c * np.cos(w) + s * np.sin(w))
        return ca.fmax(w + change, 0)

    def has_moving_centers(self) -> bool:
        """True if the pulleys sit on different bodies."""
        return len({id(s.body) for s in self.stops}) > 1
