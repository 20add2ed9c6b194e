"""Dry friction: sticking is a constraint, sliding is a force, and what lies between them are events.

    sticks:   0 = u,            as long as |λ| ≤ c_s                                                    (1)
    slides:   f = −c u/|u|,     as long as u does not vanish                                            (2)

u is the sliding velocity, c the friction force that sliding meets and c_s ≥ c the largest one that sticking can bear. Where
c depends on reactions, and they on friction, the kernels solve for both. Vlasenko, sec. 9.2.2 [vlasenko2006].
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import casadi as ca

from ..constraints.unilateral import Unilateral
from ..elements import quantity
from ..elements.element import REQUIRED, Posed, Rule, Statement, fill_in
from ..elements.placing import local_frames
from ..elements.quantity import Axis, Number
from ..errors import ModelError
from ..events import Event, Memory, Watch
from ..events.actions.engage_release import Release
from ..events.actions.impact import Land
from ..joints import Constraint
from ..joints.base import Connection, Joint, existing_coordinate
from ..registry import register
from .base import Force

NEVER = -1.0  # value that the memory `slip` does not take: such an event is not watched


@dataclass(frozen=True, eq=False)
class DryFriction(Constraint, Force):
    """Base: declares `sliding`, `kinetic` and `holding`; `host` is a contact without which there is none of it.

    slip        memory: 1 while it slides
    direction   memories: the way in which it slides; beyond the instant at which u vanishes (2) goes on with it, so that the
                equations are smooth there and the event is what stops the motion
    crawl       memory: speed below which sliding in two directions keeps the way it had at the last step; u/|u| turns faster
                and faster as u vanishes, which explicit methods follow in ever smaller steps only
    active      of the constraint (1)
    """

    drawing = "friction"
    starts_active = False
    armable = True
    gated = False
    dry_friction = True
    slip: ClassVar[Memory]  # whether it slides, which way, and how slowly; each element has its own
    direction: ClassVar[tuple[Memory, ...]]
    crawl: ClassVar[Memory]

    @property
    def parts(self) -> int:
        """How many velocities vanish while it sticks."""
        return 1

    def __post_init__(self):
        named = lambda k: Memory(f"{self.name}.direction{k}", float(k == 0))
        fill_in(self, slip=Memory(f"{self.name}.slip"), direction=tuple(named(k) for k in range(self.parts)))
        fill_in(self, crawl=Memory(f"{self.name}.crawl"))

    @property
    def host(self) -> Any:
        return None

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return super().drawn_at() if self.host is None else self.host.drawn_at()

    def drawn_along(self) -> Any:
        return super().drawn_along() if self.host is None else self.host.drawn_along()

    def sliding(self) -> ca.SX:
        """u, a column of velocities."""
        raise NotImplementedError

    def kinetic(self) -> ca.SX:
        """c of (2)."""
        raise NotImplementedError

    def holding(self) -> ca.SX:
        """c_s of (1)."""
        raise NotImplementedError

    def coefficients(self) -> tuple:
        """Coefficients of sliding and of sticking in an impact; none where the load is no impulse."""
        return ()

    def memories(self) -> list[Any]:
        return [self.slip, *self.direction, self.crawl]

    def velocity(self) -> ca.SX:
        return self.sliding()  # (1)

    def directions(self) -> list[str]:
        return ["sliding"] if self.parts == 1 else [f"sliding along tangent {k}" for k in range(self.parts)]

    def speed(self) -> ca.SX:
        return ca.sqrt(ca.sumsqr(self.sliding()))

    def heading(self) -> ca.SX:
        """u/|u|, and 0 where u vanishes."""
        u = self.sliding()
        return u / ca.sqrt(ca.sumsqr(u) + (ca.sumsqr(u) == 0))

    def direction_of_slip(self) -> list[ca.SX]:
        """The way in which it gives way: that of the force that it cannot bear."""
        lam = self.multiplier
        force = ca.sqrt(ca.sumsqr(lam))
        return [ca.if_else(force > 0, -lam[k] / force, m.symbol) for k, m in enumerate(self.direction)]

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        u, before = self.sliding(), ca.vertcat(*[m.symbol for m in self.direction])
        return [(u, -self.slip.symbol * self.kinetic() * (before if self.parts == 1 else self._way(u, before)))]  # (2)

    def _way(self, u, before):
        """The way of sliding in two directions: u/|u|, and the way before where u is slow or points back. From the one to the other
        without a jump, since a force that jumps with the speed stops explicit methods."""
        speed, crawl = ca.sumsqr(u), self.crawl.symbol**2
        slow = crawl / speed
        way = (1 - slow) * self.heading() + slow * before
        slides = ca.logic_and(ca.dot(u, before) > 0, speed > crawl)
        return ca.if_else(slides, way / ca.sqrt(ca.sumsqr(way)), before)

    def statements(self) -> list[Statement]:
        return [*Constraint.statements(self), *Force.statements(self)]

    def events(self) -> list[Any]:
        """Sticking, sliding, and reversal: where u vanishes and friction cannot hold, so that it slides on in another direction.
        The first and the last are found at the same zero: the instant decides which of them happens
        (`run/events/event_firing.py`)."""
        hosts = self.within() if self.host is None else [self.host]
        lam, there = self.multiplier, [(host.active, 1.0) for host in hosts]
        force = ca.sqrt(ca.sumsqr(lam))
        ahead = ca.dot(self.sliding(), ca.vertcat(*[m.symbol for m in self.direction]))
        return [
            Event(f"{self.name}.stick", Watch(ahead), (Land((self,)),), (*there, (self.slip, 1.0)), undecided_near_zero=True),
            Event(
                f"{self.name}.slide", Watch(self.holding() - force, state=True),
                (Land((self,)),), (*there, (self.active, 1.0)), undecided_near_zero=True,
            ),
            Event(f"{self.name}.reverse", Watch(ca.SX(1)), (), ((self.slip, NEVER),)),
        ]  # fmt: skip


def _coefficient(element, what, value):
    given = quantity.scalar(value, what, element.owner)
    if given.is_constant() and float(given) < 0:
        raise ModelError(f"{element.owner}: {what} must not be negative, got {quantity.show(value)}")
    return given


def _not_below(element, small, large):
    """Refuse a static value below the kinetic one."""
    a, b = (quantity.scalar(getattr(element, x), x, element.owner) for x in (small, large))
    if a.is_constant() and b.is_constant() and float(b) < float(a):
        raise ModelError(f"{element.owner}: {large} must not be below {small}, got {float(b):g} and {float(a):g}")


@register("friction")
@dataclass(frozen=True, eq=False)
class Friction(DryFriction):
    """Coulomb friction in a joint, in a contact, or in a one-sided element with `sliding`.

        c = μ N r,     c_s = μ_s N r                                   (1)

    on            the joint or the contact
    coefficient   μ of sliding; a number or an expression of signals   [-]
    static        μ_s of sticking, not below μ; None: μ                [-]
    normal        N; None: the force in the contact, the size of the joint's reaction force; in a contact it acts while that is
                  closed                                                                             [N]
    radius        r of a bearing: friction torque over friction force; 1 where something slides      [m]
    index         which coordinate of the joint
    """

    variants = (
        lambda scene: {"on": scene["joint"], "coefficient": 0.3, "static": 0.4, "radius": 0.05},
        lambda scene: {"on": scene["joint"], "coefficient": 0.3, "normal": 20.0, "radius": 0.05},
    )
    on: Any = REQUIRED
    coefficient: Number = 0.0
    static: Number | None = None
    normal: Number | None = None
    radius: Number | None = None
    index: int = 0

    @property
    def parts(self) -> int:
        return self.on.sliding_parts if isinstance(self.on, Unilateral) else 1

    @property
    def host(self) -> Any:
        return self.on if isinstance(self.on, Unilateral) else None

    def attach(self) -> Self:
        if isinstance(self.on, Joint):
            existing_coordinate(fill_in(self, joint=self.on))
            turns = self.on.angular[self.index]
            if turns and self.radius is None:
                raise ModelError(f"{self.owner}: joint {self.on.name!r} turns; give the `radius` of its bearing")
        elif self.host is None or self.parts == 0:
            allowed = "a joint, a contact, or a one-sided element with `sliding`"
            raise ModelError(f"{self.owner}: on must be {allowed}, got {quantity.show(self.on)}")
        _coefficient(self, "coefficient", self.coefficient)
        if self.static is not None:
            _coefficient(self, "static", self.static)
            _not_below(self, "coefficient", "static")
        for what in ("normal", "radius"):
            if getattr(self, what) is not None:
                _coefficient(self, what, getattr(self, what))
        return self

    def sliding(self) -> ca.SX:
        return self.on.sliding_velocity() if self.host is not None else self.on.rate[self.index]

    def load(self) -> ca.SX:
        """N r."""
        if self.normal is not None:
            N = quantity.scalar(self.normal, "normal", self.owner)
            N = N if self.host is None else N * self.host.active.symbol  # an open contact has no friction
        elif self.host is not None:
            N = self.on.load()
        else:
            N = ca.sqrt(ca.sumsqr(self.on.reaction_force))
        return N if self.radius is None else N * quantity.scalar(self.radius, "radius", self.owner)

    def coefficients(self) -> tuple:
        if self.host is None or self.normal is not None:
            return ()
        static = self.coefficient if self.static is None else self.static
        scale = self.host.normal_scale()
        return tuple(scale * quantity.scalar(x, "coefficient", self.owner) for x in (self.coefficient, static))

    def kinetic(self) -> ca.SX:
        return quantity.scalar(self.coefficient, "coefficient", self.owner) * self.load()  # (1)

    def holding(self) -> ca.SX:
        mu = self.coefficient if self.static is None else self.static
        return quantity.scalar(mu, "static", self.owner) * self.load()  # (1)


@register("clutch")
@dataclass(frozen=True, eq=False)
class Clutch(DryFriction):
    """A friction clutch or brake between two bodies that turn about a common axis.

        u = a·(ω₂ − ω₁)                                                (1)

    first, second   the bodies; a ground as the first makes it a brake
    axis            a, in the world, in the reference configuration; fixed in the first body       [-]
    torque          that it transmits while it slips; an expression of signals: 0 is open          [N m]
    static          largest torque that it holds; None: the same                                   [N m]
    """

    variants = ({"torque": 3.0}, {"axis": (1, 0, 0), "torque": 3.0, "static": 4.0})
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    axis: Axis = (0, 0, 1)
    torque: Number = 0.0
    static: Number | None = None

    def attach(self) -> Self:
        _coefficient(self, "torque", self.torque)
        if self.static is not None:
            _coefficient(self, "static", self.static)
            _not_below(self, "torque", "static")
        return self

    def drawn_at(self) -> list[tuple[Any, Any]]:
        bodies = (self.first, self.second)
        return list(zip(bodies, local_frames(bodies, (self.second.reference[0],) * 2)))

    def sliding(self) -> ca.SX:
        a = self.first.start_rotation.T @ quantity.unit(self.axis, "axis", self.owner)
        turn = self.second.rotation @ self.second.angular_velocity - self.first.rotation @ self.first.angular_velocity
        return ca.dot(self.first.rotation @ a, turn)  # (1)

    def kinetic(self) -> ca.SX:
        return quantity.scalar(self.torque, "torque", self.owner)

    def holding(self) -> ca.SX:
        return quantity.scalar(self.torque if self.static is None else self.static, "static", self.owner)


@register("breakable")
@dataclass(frozen=True, eq=False)
class Breakable(Rule):
    """A joint or a connection breaks where its reaction exceeds a limit: it is released for good.

    connection      the joint
    force, torque   largest reaction that it bears; None: any          [N, N m]
    """

    drawing = "none"
    not_drawn = "a rule that watches a joint, which is drawn"
    variants = (
        lambda scene: {"connection": scene["joint"], "force": 100.0},
        lambda scene: {"connection": scene["joint"], "force": 100.0, "torque": 10.0},
    )
    connection: Connection = REQUIRED
    force: Number | None = None
    torque: Number | None = None

    def attach(self) -> Self:
        for what in ("force", "torque"):
            limit = getattr(self, what)
            if limit is not None and not _coefficient(self, what, limit).is_constant():
                continue
            if limit is not None and float(_coefficient(self, what, limit)) == 0:
                raise ModelError(f"{self.owner}: {what} must be positive, got {limit!r}")
        if self.force is None and self.torque is None:
            raise ModelError(f"{self.owner}: give a largest `force`, a largest `torque` or both")
        return self

    def events(self) -> list[Any]:
        c, margins = self.connection, []
        for limit, reaction in ((self.force, c.reaction_force), (self.torque, c.reaction_torque)):
            if limit is not None:
                margins.append(quantity.scalar(limit, "limit", self.owner) - ca.sqrt(ca.sumsqr(reaction)))
        phi = margins[0] if len(margins) == 1 else ca.fmin(*margins)
        return [Event(f"{self.name}.break", Watch(phi, state=True), (Release((c,)),), ((c.active, 1.0),))]
