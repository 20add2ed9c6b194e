"""Constraints that push and cannot pull: contacts, stops, slots, backlash.

A one-sided constraint declares gaps, each of which must not become negative:

    gap ≥ 0,    λ ≥ 0,    gap λ = 0                                                                      (1)

While it is open it is watched: where a gap closes, the velocities jump with a coefficient of restitution, and unless it
rebounds the constraint is engaged, 0 = gap. While it is closed its multiplier λ is watched: where it would pull, it is
released. Both are events, located as any other; [aslanov2011], sec. 5, where λ ≤ 0 releases a contact.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca

from ..describe import quantity
from ..describe.element import CONSTANT, REQUIRED, Statement, fill_in
from ..describe.quantity import Axis, Number, Vector
from ..errors import ModelError
from ..events import Event, Memory, Watch
from ..events.actions.holding import Release
from ..events.actions.striking import Strike
from ..lie import se3
from ..registry import register
from .alignment import no_turn, normals
from .base import Connection, Constraint, Joint, Trace, existing_coordinate
from .elementary import on_plane
from .lower_pairs import direction


@dataclass(frozen=True, eq=False)
class OneSided(Constraint):
    """Base of constraints with one or two gaps, of which at most one is closed at a time.

    restitution   speed after an impact over the speed before it, 0 to 1; a number or an expression of parameters
    """

    starts_active = False
    rank = 1
    sides: ClassVar[tuple[Memory, ...]]  # which gap is closed; each element has its own
    restitution: Number = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        count = len(self.labels())
        fill_in(self, sides=tuple(Memory(f"{self.name}.side{k}") for k in range(count)) if count > 1 else ())

    def labels(self) -> tuple[str, ...]:
        """What the event of each gap is called."""
        return ("touch",)

    def declared(self) -> list[Statement]:
        e = quantity.scalar(self.restitution, "restitution", self.owner)
        if e.is_constant() and not 0 <= float(e) <= 1:
            raise ModelError(
                f"{self.owner}: restitution must lie between 0 and 1, got {quantity.show(self.restitution)}"
            )
        return [*super().declared(), Statement("restitution", e, CONSTANT)]

    def gaps(self) -> list[ca.SX]:
        """The distances that must not become negative."""
        raise NotImplementedError

    def memories(self) -> list[Any]:
        return list(self.sides)

    def position(self) -> ca.SX:
        gaps = self.gaps()
        if not self.sides:
            return gaps[0]
        return sum(side.symbol * gap for side, gap in zip(self.sides, gaps))

    def events(self) -> list[Any]:
        found, there = [], tuple((joint.active, 1.0) for joint in self.within())
        for k, (gap, label) in enumerate(zip(self.gaps(), self.labels())):
            which = tuple((side, float(k == m)) for m, side in enumerate(self.sides))
            strike = Strike((self,), self.restitution, which)
            open = ((self.active, 0.0), *there)
            found.append(Event(f"{self.name}.{label}", Watch(gap, state=True), (strike,), open, settles=True))
        pulls = Watch(self.multiplier[0], state=True)
        return [*found, Event(f"{self.name}.lift", pulls, (Release((self,)),), ((self.active, 1.0),), settles=True)]


@register("contact")
@dataclass(frozen=True, eq=False)
class Contact(OneSided, Connection):
    """A point of the second body, or a sphere about it, stays on one side of a plane of the first.

        0 ≤ n·p − r,       reaction on the second body: λ n, λ ≥ 0     (1)

    point    of the second body, or centre of the sphere, in the world, in the reference configuration               [m]
    normal   n, outward from the plane, fixed in the first body                                                      [-]
    radius   r of the sphere about the point; 0: the point itself                                                    [m]
    plane    a point of the plane in the reference configuration; None: they touch there (with `frames`: the origin of
             the first frame)                                                                                        [m]

    Aslanov, Kruglov and Yuditsev, sec. 5 [aslanov2011].
    """

    variants = ({}, {"normal": (1, -2, 0.5), "restitution": 0.3}, {"radius": 0.1, "plane": (0, 0, -0.4)})
    normal: Axis = (0, 0, 1)
    radius: Number = 0.0
    plane: Vector | None = None
    height: Any = field(default=None, repr=False)

    def located(self) -> Self:
        n = quantity.unit(self.normal, "normal", self.owner)
        r = quantity.scalar(self.radius, "radius", self.owner)
        if r.is_constant() and float(r) < 0:
            raise ModelError(f"{self.owner}: radius must not be negative, got {quantity.show(self.radius)}")
        if self.plane is None:
            fill_in(self, height=ca.SX(0) if self.frames is None else -r)
            return super().located()
        if self.frames is not None:
            raise ModelError(f"{self.owner}: give `plane` or `frames`, not both")
        super().located()
        at = self.second.start_position if self.point is None else quantity.vector(self.point, "point", self.owner)
        fill_in(self, height=ca.dot(n, at - quantity.vector(self.plane, "plane", self.owner)) - r)
        return self

    def gaps(self) -> list[ca.SX]:
        return [on_plane(self.relative_pose(), quantity.unit(self.normal, "normal", self.owner)) + self.height]

    def traced(self) -> Trace | None:
        return None if self.plane is not None or self.frames is not None else super().traced()

    def directions(self) -> list[str]:
        return [f"translation along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]

    def sliding(self) -> ca.SX:
        """Velocity of the touching point along two directions of the plane."""
        (R1, p1), (_, p2) = self.ends()
        a, b = self.first, self.second
        n = R1 @ quantity.unit(self.normal, "normal", self.owner)
        touching = p2 - quantity.scalar(self.radius, "radius", self.owner) * n
        wa, wb = a.rotation @ a.angular_velocity, b.rotation @ b.angular_velocity
        relative = b.velocity + ca.cross(wb, touching - b.position) - a.velocity - ca.cross(wa, touching - a.position)
        along = normals(quantity.unit(self.normal, "normal", self.owner))
        return ca.vertcat(*[ca.dot(tangent, R1.T @ relative) for tangent in along])

    def load(self) -> ca.SX:
        """Force between the two."""
        return self.multiplier[0]


@register("slot")
@dataclass(frozen=True, eq=False)
class Slot(OneSided, Connection):
    """A point of the second body moves between two parallel planes of the first: a pin in a slot with clearance.

        |n·p| ≤ c/2                                                    (1)

    normal      n, across the slot, fixed in the first body                                    [-]
    clearance   c, width of the slot less that of the pin                                      [m]
    """

    variants = ({"clearance": 0.3}, {"normal": (1, -2, 0.5), "clearance": 0.2, "restitution": 0.5})
    normal: Axis = (0, 0, 1)
    clearance: Number = 0.0

    def labels(self) -> tuple[str, ...]:
        return ("lower", "upper")

    def gaps(self) -> list[ca.SX]:
        half = _positive(self, "clearance") / 2
        across = on_plane(self.relative_pose(), quantity.unit(self.normal, "normal", self.owner))
        return [half + across, half - across]

    def directions(self) -> list[str]:
        return [f"translation along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]


@register("limit")
@dataclass(frozen=True, eq=False)
class Limit(OneSided):
    """Stops of a joint coordinate.

        lower ≤ q_k ≤ upper                                            (1)

    joint, index   whose coordinate it is, and k
    lower, upper   the stops; None: no stop on that side               [m or rad]
    """

    variants = ({"lower": -0.5, "upper": 0.7}, {"upper": 0.7, "restitution": 0.5}, {"lower": -1.0})
    joint: Joint = REQUIRED
    lower: Number | None = None
    upper: Number | None = None
    index: int = 0

    def labels(self) -> tuple[str, ...]:
        return tuple(what for what in ("lower", "upper") if getattr(self, what) is not None)

    def located(self) -> Self:
        existing_coordinate(self)
        given = [getattr(self, what) for what in self.labels()]
        if not given:
            raise ModelError(f"{self.owner}: give `lower`, `upper` or both")
        numbers = [quantity.scalar(x, "stop", self.owner) for x in given]
        if len(given) == 2 and all(x.is_constant() for x in numbers) and float(numbers[0]) >= float(numbers[1]):
            raise ModelError(f"{self.owner}: lower must be below upper, got {given[0]!r} and {given[1]!r}")
        return self

    def gaps(self) -> list[ca.SX]:
        q = self.joint.coordinate[self.index]
        below = [] if self.lower is None else [q - quantity.scalar(self.lower, "lower", self.owner)]
        return below + ([] if self.upper is None else [quantity.scalar(self.upper, "upper", self.owner) - q])

    def directions(self) -> list[str]:
        return [f"stop of {self.joint.name}"]


@register("backlash")
@dataclass(frozen=True, eq=False)
class Backlash(OneSided):
    """A transmission with play between two joints: gears, couplings, worn hinges.

        |q_k − i q'_l| ≤ play/2                                        (1)

    joint, other       whose coordinates q and q' they are
    ratio              i, of the transmission                          [-]
    play               [m or rad]
    index, other_index which coordinates
    """

    variants = (lambda scene: {"other": scene["joint"], "ratio": 0.5, "play": 0.1},)
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    ratio: Number = 1.0
    play: Number = 0.0
    index: int = 0
    other_index: int = 0

    def labels(self) -> tuple[str, ...]:
        return ("lower", "upper")

    def located(self) -> Self:
        existing_coordinate(self)
        existing_coordinate(self, "other", "other_index")
        return self

    def gaps(self) -> list[ca.SX]:
        half = _positive(self, "play") / 2
        ratio = quantity.scalar(self.ratio, "ratio", self.owner)
        lag = self.joint.coordinate[self.index] - ratio * self.other.coordinate[self.other_index]
        return [half + lag, half - lag]

    def directions(self) -> list[str]:
        return [f"play between {self.joint.name} and {self.other.name}"]


def _positive(element, what):
    value = quantity.scalar(getattr(element, what), what, element.owner)
    if value.is_constant() and float(value) <= 0:
        raise ModelError(f"{element.owner}: {what} must be positive, got {quantity.show(getattr(element, what))}")
    return value


@register("lock")
@dataclass(frozen=True, eq=False)
class Lock(Constraint):
    """A joint coordinate is held where it is when the lock is engaged.

        0 = q_k − q_k(engaged)                                         (1)

    Engage and release it by events; active from the start it holds the start.
    """

    variants = ({},)
    held: ClassVar[Memory]  # each element has its own
    joint: Joint = REQUIRED
    index: int = 0

    def __post_init__(self):
        fill_in(self, held=Memory(f"{self.name}.held"))

    def located(self) -> Self:
        existing_coordinate(self)
        return self

    def memories(self) -> list[Any]:
        return [self.held]

    def captures(self) -> list[tuple[Any, ca.SX]]:
        return [(self.held, self.joint.coordinate[self.index])]

    def position(self) -> ca.SX:
        return self.joint.coordinate[self.index] - self.held.symbol  # (1)

    def directions(self) -> list[str]:
        return [f"motion of {self.joint.name}"]


@register("weld")
@dataclass(frozen=True, eq=False)
class Weld(Connection):
    """Two bodies are held together as they are when the weld is engaged: a gripper that closes, a docking port.

        0 = vee(R_hᵀ R − Rᵀ R_h)/2,   0 = p − p_h       (R_h, p_h) the relative pose when engaged      (1)

    Engage and release it by events; active from the start it holds the start.
    """

    variants = ({},)
    held: ClassVar[tuple[Memory, ...]]  # each element has its own

    def __post_init__(self):
        super().__post_init__()
        fill_in(self, held=tuple(Memory(f"{self.name}.held{k}", float(k in (0, 4, 8))) for k in range(12)))

    def memories(self) -> list[Any]:
        return list(self.held)

    def captures(self) -> list[tuple[Any, ca.SX]]:
        R, p = se3.split_pose(self.relative_pose())
        return list(zip(self.held, ca.vertsplit(ca.vertcat(ca.vec(R), p))))

    def traced(self) -> Trace | None:
        return None

    def position(self) -> ca.SX:
        R, p = se3.split_pose(self.relative_pose())
        held = ca.vertcat(ca.SX(0, 1), *[m.symbol for m in self.held])
        return ca.vertcat(p - held[9:], no_turn(ca.reshape(held[:9], 3, 3).T @ R))  # (1)

    def directions(self) -> list[str]:
        return [f"{what} {axis}" for what in ("translation along", "rotation about") for axis in "xyz"]
