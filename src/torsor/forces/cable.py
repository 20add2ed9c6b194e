"""Cables over pulleys, points and drums, and belts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Rule
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import lookup, register
from .cable_path import Path
from .cable_path import Pulley as Pulley


@dataclass(frozen=True, eq=False)
class Rope(Rule):
    """Base: a path, and an element for each of its parts."""

    drawing = "none"
    not_drawn = "its parts stand for it"
    path: Sequence[Any] = REQUIRED
    stiffness: Number | None = field(default=None, kw_only=True)
    damping: Number = field(default=0.0, kw_only=True)
    closed = False

    def attach(self) -> Self:
        for what in ("stiffness", "damping"):
            given = getattr(self, what)
            if given is not None:
                value = quantity.scalar(given, what, self.owner)
                if value.is_constant() and (float(value) < 0 or (what == "stiffness" and float(value) == 0)):
                    must = "must be positive" if what == "stiffness" else "must not be negative"
                    raise ModelError(f"{self.owner}: {what} {must}, got {quantity.show(given)}")
        if self.stiffness is None and not (quantity.is_number(self.damping) and self.damping == 0):
            raise ModelError(f"{self.owner}: damping acts in an elastic rope; give stiffness as well")
        Path(self.owner, self._home, self.path, self.closed)
        return self

    def _springs(self, path, tension=0.0) -> list[Any]:
        """An elastic element for each part, which is slack where it would push."""
        found: list[Any] = []
        stiffness, damping = (quantity.scalar(getattr(self, x), x, self.owner) for x in ("stiffness", "damping"))
        for k, (spare, length) in enumerate(path.parts()):
            rate = stiffness / length
            stretch = ca.fmax(tension / rate - spare, 0)
            lost = None if damping.is_zero() else damping / length * (stretch > 0) * path.rate(spare) ** 2 / 2
            energy = rate * stretch**2 / 2
            found.append(lookup("force", "energy")(f"{self.name}.part{k}", energy=energy, dissipated=lost))
        return found


@register("cable")
@dataclass(frozen=True, eq=False)
class Cable(Rope):
    """A cable from end to end over pulleys, through points and onto drums. It turns the pulleys and is slack where it would push.

        s ≥ 0,    T = λ ≥ 0,    s T = 0                    inextensible: a one-sided element for each part        (1)
        T = E A/l max(−s, 0)                               elastic, and E' A/l of the damping                      (2)

    s is the slack of a part between two places that hold the cable: ends, pulleys without slip, drums
    (`forces/cable_path.py`). Points between the ends are eyes, through which it slides. In the reference configuration it is
    just taut. The parts are the elements `name.part0` …: their multiplier is the tension.

    path          points of bodies, `body.point(…)`, and `ts.Pulley`, in the order of the cable; a pulley at an end is a drum
    stiffness     E A; None: inextensible                                                                         [N]
    damping       E' A                                                                                            [N s]
    restitution   of the jerk of an inextensible cable that gets taut, 0 to 1                                     [-]
    """

    variants = (lambda scene: {"path": [scene["first"].point(), scene["second"].point()]},)
    restitution: Number = field(default=0.0, kw_only=True)

    def companions(self) -> list[Any]:
        path = Path(self.owner, self._home, self.path)
        if self.stiffness is not None:
            return self._springs(path)  # (2)
        one_sided = lookup("constraint", "one-sided")
        parts = enumerate(path.parts())
        return [one_sided(f"{self.name}.part{k}", s, restitution=self.restitution) for k, (s, _) in parts]  # (1)


@register("belt")
@dataclass(frozen=True, eq=False)
class Belt(Rope):
    """A closed belt or chain over pulleys, which does not slip.

        0 = s                                              inextensible, for each part                            (1)
        T = T₀ + E A/l (−s), not below 0                   elastic, with the pretension T₀                        (2)

    Where all pulleys sit on one body the length of the belt does not change, and the last of the equations (1) follows from
    the others: it is left out.

    path         `ts.Pulley` in the order of the belt; `winding=-1` for a pulley that turns the other way
    stiffness    E A; None: inextensible                                                                          [N]
    damping      E' A                                                                                             [N s]
    pretension   T₀ of an elastic belt                                                                            [N]
    """

    closed = True
    variants = ()
    pretension: Number = field(default=0.0, kw_only=True)

    def companions(self) -> list[Any]:
        path = Path(self.owner, self._home, self.path, closed=True)
        if self.stiffness is not None:
            return self._springs(path, quantity.scalar(self.pretension, "pretension", self.owner))  # (2)
        parts = path.parts()
        kept = parts if path.moving_centers() else parts[:-1]
        return [lookup("constraint", "holonomic")(f"{self.name}.part{k}", s) for k, (s, _) in enumerate(kept)]  # (1)
