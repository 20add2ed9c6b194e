"""Constraints begin or cease to hold.

At an engagement the impulses Λ act that change the velocities least in the mass metric ([aslanov2011] leaves the jump open;
it follows from integrating (1) there over the instant):

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = 0                                                            (1)
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...registry import register
from .base import Action, Step


@register("release")
@dataclass(frozen=True, eq=False)
class Release(Action):
    """Constraints and joints cease to hold."""

    acts_on = "constraints or joints"

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(model.constraints, target, owner)

    def switches(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        return [Step("release", c) for c in self.targets]


@register("engage")
@dataclass(frozen=True, eq=False)
class Engage(Action):
    """Constraints and joints begin to hold; the velocities jump as momentum demands.

    snap   whether a constraint that is far from satisfied may move the bodies; False: that is an error
    """

    acts_on = "constraints or joints"
    snap: bool = False

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(model.constraints, target, owner)

    def switches(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        captured = [Step("set", m, (e,)) for c in self.targets for m, e in c.captures()]
        return [*captured, *[Step("engage", c, (ca.SX(float(self.snap)),)) for c in self.targets]]


def release(*constraints: Any) -> Release:
    """Constraints or joints cease to hold."""
    return Release(constraints)


def engage(*constraints: Any, snap: bool = False) -> Engage:
    """Constraints or joints begin to hold; with `snap` also from far off."""
    return Engage(constraints, snap)
