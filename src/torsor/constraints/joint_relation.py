"""What gears, racks, differentials and couplings share: one equation between joint coordinates, rigid, with play or elastic.

    rigid        0 = g(q)                                                                            (1)
    with play    −b/2 ≤ g(q) ≤ b/2                       one-sided, located by events               (2)
    elastic      U = ½ k x²,  D = ½ c ẋ²,   x = g beyond the play on either side, else 0             (3)

An efficiency η is a load-dependent dry friction along the first coordinate, with the torque c |λ ∂g/∂q₁|, c = 1/η − 1: what drives
the first coordinate loses the share 1 − η of its power. Driven from the other side the efficiency is 2 − 1/η: below η = ½ it locks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.quantity import Number
from ..errors import ModelError
from ..events import Event, Watch
from ..joints.base import Joint
from ..joints.constraint import Constraint
from ..registry import lookup


@dataclass(frozen=True, eq=False)
class JointRelation(Constraint):
    """Base: declares `members`, the joint coordinates with their coefficients, or overrides `relation` and `relation_rate`.

    stiffness     k; None: rigid                                          [N/m, or N m/rad]
    damping       c of the elastic relation                               [N s/m, or N m s/rad]
    backlash      b, the play in units of g                               [m or rad]
    efficiency    η of a rigid relation, above 0, at most 1               [-]
    restitution   of the impacts of rigid parts with play, 0 to 1         [-]
    """

    drawing = "gear"
    stiffness: Number | None = field(default=None, kw_only=True)
    damping: Number = field(default=0.0, kw_only=True)
    backlash: Number = field(default=0.0, kw_only=True)
    efficiency: float = field(default=1.0, kw_only=True)
    restitution: Number = field(default=0.0, kw_only=True)

    def members(self) -> list[tuple[Joint, int, Any]]:
        """(joint, index of the coordinate, coefficient in g) of every coordinate."""
        raise NotImplementedError

    def offset_value(self) -> Any:
        """The constant of g."""
        return 0.0

    def relation(self) -> ca.SX:
        """g."""
        total = ca.SX(0)
        for joint, index, coefficient in self.members():
            total += coefficient * joint.coordinate[index]
        return total - self.offset_value()

    def relation_rate(self) -> ca.SX:
        """ġ."""
        total = ca.SX(0)
        for joint, index, coefficient in self.members():
            total += coefficient * joint.rate[index]
        return total

    def joints_in_relation(self) -> list[Joint]:
        return [joint for joint, _, _ in self.members()]

    @property
    def plays(self) -> bool:
        return not (quantity.is_number(self.backlash) and self.backlash == 0)

    @property
    def is_rigid(self) -> bool:
        """True if the relation is an equation of its own; False if its companions stand for it."""
        return self.stiffness is None and not self.plays

    @property
    def acts_by_parts(self) -> bool:  # type: ignore[override]
        return not self.is_rigid or self.efficiency < 1

    def attach(self) -> Self:
        for what in ("stiffness", "damping", "backlash"):
            given = getattr(self, what)
            if given is not None:
                value = quantity.scalar(given, what, self.owner)
                if value.is_constant() and (float(value) < 0 or (what == "stiffness" and float(value) == 0)):
                    must = "must be positive" if what == "stiffness" else "must not be negative"
                    raise ModelError(f"{self.owner}: {what} {must}, got {quantity.show(given)}")
        restitution = quantity.scalar(self.restitution, "restitution", self.owner)
        if restitution.is_constant() and not 0 <= float(restitution) <= 1:
            raise ModelError(
                f"{self.owner}: restitution must lie between 0 and 1, got {quantity.show(self.restitution)}"
            )
        if self.stiffness is None and not (quantity.is_number(self.damping) and self.damping == 0):
            raise ModelError(f"{self.owner}: damping acts in an elastic relation; give stiffness as well")
        if not quantity.is_number(self.efficiency) or not 0 < self.efficiency <= 1:
            raise ModelError(
                f"{self.owner}: efficiency must lie above 0 and at most at 1, got {quantity.show(self.efficiency)}"
            )
        if self.efficiency < 1 and not self.is_rigid:
            raise ModelError(f"{self.owner}: efficiency needs a rigid relation; leave out stiffness and backlash")
        self._check_coordinates()
        return self

    def _check_coordinates(self):
        """Refuse a coordinate that does not exist, and one that occurs twice."""
        seen: set = set()
        for joint, index, _ in self.members():
            require_joint(self, joint)
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < joint.dof:
                allowed = f"index must be 0 to {joint.dof - 1}" if joint.dof else "there is none to choose"
                raise ModelError(
                    f"{self.owner}: joint {joint.name!r} has {joint.dof} coordinates, {allowed}, got {index!r}"
                )
            if (id(joint), index) in seen:
                raise ModelError(
                    f"{self.owner}: connects joint {joint.name!r} with itself; give two different coordinates"
                )
            seen.add((id(joint), index))

    def drawn_details(self) -> dict[str, Any]:
        return {"members": [joint.drawn_member(index) | {"coefficient": c} for joint, index, c in self.members()]}

    def within(self) -> list[Any]:
        return list({id(j): j for j in self.joints_in_relation()}.values())

    def position(self) -> ca.SX:
        return self.relation() if self.is_rigid else ca.SX(0, 1)  # (1)

    def directions(self) -> list[str]:
        return [" and ".join(j.name for j in self.joints_in_relation())] if self.is_rigid else []

    def companions(self) -> list[Any]:
        if self.inactive and self.acts_by_parts:
            raise ModelError(
                f"{self.owner}: with stiffness, backlash or an efficiency it always acts; leave out active=False, or make it rigid"
            )
        if self.efficiency < 1:
            joint, index, coefficient = self.members()[0]
            load = ca.fabs(self.multiplier[0] * coefficient)
            friction = lookup("constraint", "friction")
            radius = 1.0 if joint.angular[index] else None
            loss = 1 / self.efficiency - 1
            return [friction(f"{self.name}.loss", joint, loss, normal=load, radius=radius, index=index)]
        if self.is_rigid:
            return []
        g, half = self.relation(), quantity.scalar(self.backlash, "backlash", self.owner) / 2
        if self.stiffness is None:
            one_sided = lookup("constraint", "one-sided")
            sides = (("forward", half - g), ("backward", half + g))
            return [one_sided(f"{self.name}.{label}", gap, restitution=self.restitution) for label, gap in sides]  # (2)
        x, touches = self._deflection(g, half)
        k, c = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("stiffness", "damping"))
        lost = None if c.is_zero() else c * touches * self.relation_rate() ** 2 / 2
        return [lookup("force", "energy")(f"{self.name}.mesh", energy=k * x**2 / 2, dissipated=lost)]  # (3)

    def _deflection(self, g, half):
        """x of (3), and 1 while the flanks touch."""
        if not self.plays:
            return g, ca.SX(1)
        return ca.sign(g) * ca.fmax(ca.fabs(g) - half, 0), ca.fabs(g) >= half

    def events(self) -> list[Any]:
        """With play, steps of an elastic relation end where the flanks meet and part."""
        if self.stiffness is None or not self.plays:
            return []
        g, half = self.relation(), quantity.scalar(self.backlash, "backlash", self.owner) / 2
        sides = (("forward", half - g), ("backward", half + g))
        return [Event(f"{self.name}.{label}", Watch(gap, both=True), ()) for label, gap in sides]


def require_joint(element, joint):
    """Refuse what is no joint."""
    if not isinstance(joint, Joint):
        raise ModelError(f"{element.owner}: must be given joints of its model, got {quantity.show(joint)}")


def nonzero(element, what, value):
    """A coefficient that must not be zero, as an expression."""
    number = quantity.scalar(value, what, element.owner)
    if number.is_constant() and float(number) == 0:
        raise ModelError(f"{element.owner}: {what} must not be zero, got {quantity.show(value)}")
    return number


def numbers_of_teeth(element, teeth, count):
    """Positive whole numbers of teeth."""
    given = teeth if isinstance(teeth, (list, tuple)) else (teeth,)
    whole = all(isinstance(z, (int, float)) and not isinstance(z, bool) and z > 0 and z == int(z) for z in given)
    if not isinstance(given, Sequence) or len(given) != count or not whole:
        raise ModelError(f"{element.owner}: teeth must be {count} positive whole numbers, got {quantity.show(teeth)}")
    return [float(z) for z in given]
