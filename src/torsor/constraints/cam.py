"""A cam and its follower."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..errors import ModelError
from ..joints.base import Joint, existing_coordinate
from ..registry import register
from .unilateral import Unilateral

FULL_TURN = 6.283185307179586  # 2π [rad]
STEP_OF_SLOPES = 1e-4  # over which slopes at the ends of a turn are compared [rad]
JUMP_OF_LIFT = 1e-6  # of the lift between 2π and 0 / range of the lift
JUMP_OF_SLOPE = 1e-2  # of ds/dφ between 2π and 0 / largest slope
SAMPLES = 72  # of the lift over a turn


@register("cam")
@dataclass(frozen=True, eq=False)
class Cam(Unilateral):
    """A cam pushes a follower, which may lift off: valve trains, indexing and textile machines.

        q' ≥ s(φ) − c,       reaction along the follower: λ ≥ 0                                        (1)

    The multiplier λ is the force, or torque, along the follower's coordinate; the cam gets −λ ds/dφ. Where it would pull, the
    follower lifts off; where it comes back, it hits the cam with `restitution`. For a groove that guides both sides take
    `ts.Coupling`.

    joint, other   the joints of the cam, φ, and of the follower, q', which slides or turns
    lift           s, a function of φ within one turn, 0 to 2π, such as `ts.cam_lift(…)` of a profile and a flat, roller or
                   knife-edge follower, a `ts.table`, or a function of expressions; of a cam that slides, of its displacement
    clearance      c, the lash: distance where q' = s                                                     [m or rad]
    index, other_index   which coordinates
    """

    drawing = "cam"
    variants = (
        {"lift": lambda angle: 0.3 * ca.cos(angle) - 0.2 * ca.sin(2 * angle), "clearance": 0.7},
        {"lift": lambda angle: 0.1 - 0.1 * ca.cos(3 * angle), "restitution": 0.3, "index": 0},
    )
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    lift: Callable[..., Any] = REQUIRED
    clearance: Number = 0.0
    index: int = 0
    other_index: int = 0

    def attach(self) -> Self:
        existing_coordinate(self)
        existing_coordinate(self, "other", "other_index")
        if self.joint is self.other and self.index == self.other_index:
            raise ModelError(f"{self.owner}: connects joint {self.joint.name!r} with itself; give the follower's joint")
        if not callable(self.lift) or isinstance(self.lift, ca.SX):
            raise ModelError(
                f"{self.owner}: lift must be a function of the cam's angle, such as ts.cam_lift(…) or a ts.table, got "
                f"{quantity.show(self.lift)}"
            )
        clearance = quantity.scalar(self.clearance, "clearance", self.owner)
        if clearance.is_constant() and float(clearance) < 0:
            raise ModelError(f"{self.owner}: clearance must not be negative, got {quantity.show(self.clearance)}")
        quantity.scalar(self.lift_at(ca.SX.sym("angle")), "lift", self.owner)
        if self.joint.angular[self.index]:
            self._check_closed()
        return self

    def lift_at(self, angle: Any) -> Any:
        """s at an angle, or an error that names the element."""
        try:
            return self.lift(angle)
        except Exception as error:  # in the user's function
            raise ModelError(f"{self.owner}: lift failed at an expression of the angle: {error}") from error

    def _check_closed(self):
        """Refuse a lift that is not the same after a turn; one with parameters is not checked."""
        try:
            s = [float(ca.DM(self.lift(FULL_TURN * k / SAMPLES))) for k in range(SAMPLES + 1)]
            h = STEP_OF_SLOPES
            start, end = (
                (float(ca.DM(self.lift(b))) - float(ca.DM(self.lift(a)))) / h
                for a, b in ((0.0, h), (FULL_TURN - h, FULL_TURN))
            )
        except Exception:  # a function of expressions alone
            return
        size, steepest = max(s) - min(s), max(abs(b - a) for a, b in zip(s, s[1:])) * SAMPLES / FULL_TURN
        if abs(s[-1] - s[0]) > JUMP_OF_LIFT * size:
            raise ModelError(
                f"{self.owner}: lift must be the same after a turn, got {s[0]:.6g} at 0 and {s[-1]:.6g} at 2π"
            )
        if abs(end - start) > JUMP_OF_SLOPE * steepest:
            raise ModelError(
                f"{self.owner}: the slope of lift must be the same after a turn, got {start:.6g} at 0 and {end:.6g} at 2π; "
                "ts.cam_lift closes a table"
            )

    def drawn_details(self) -> dict[str, Any]:
        cam, follower = self.joint.drawn_member(self.index), self.other.drawn_member(self.other_index)
        if not cam["turns"]:
            return {}
        lift = [self.lift_at(ca.SX(FULL_TURN * k / SAMPLES)) for k in range(SAMPLES)]
        return {"cam": cam, "follower": follower, "lift": lift}

    def angle(self) -> ca.SX:
        """φ, within one turn where it is an angle."""
        q = self.joint.coordinate[self.index]
        return q - FULL_TURN * ca.floor(q / FULL_TURN) if self.joint.angular[self.index] else q

    def gaps(self) -> list[ca.SX]:
        s = quantity.scalar(self.lift_at(self.angle()), "lift", self.owner)
        clearance = quantity.scalar(self.clearance, "clearance", self.owner)
        return [self.other.coordinate[self.other_index] - s + clearance]  # (1)

    def violation(self, side: str, verb: str, depth: float) -> str:
        unit = "rad" if self.other.angular[self.other_index] else "m"
        return f"{self.other.owner} {verb} {depth:.3g} {unit} inside the cam of {self.owner}"

    def directions(self) -> list[str]:
        return [f"lift of {self.other.name} over {self.joint.name}"]
