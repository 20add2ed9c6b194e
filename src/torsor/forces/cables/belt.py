"""Belts and chains over pulleys."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca

from ...elements import quantity
from ...elements.quantity import Number
from ...errors import ModelError
from ...registry import register
from .cable_part import BeltPart, pulleys
from .elastic_path import ElasticPath


@register("belt")
@dataclass(frozen=True, eq=False)
class Belt(ElasticPath):
    """A closed belt or chain over pulleys on any bodies.

        0 = s                                              inextensible, for each part                     (1)
        T = T₀ + E A/l x + E' A/l ẋ ≥ 0                    elastic, with the pretension T₀                 (2)

    Where all pulleys sit on one body the length of an inextensible belt does not change, and the last of the equations (1)
    follows from the others: it is left out.

    path         `ts.Pulley` in the order of the belt; `winding=-1` for one that turns the other way, `friction=μ` for one that the
                 belt slips on where T₂ > e^(μ ϑ) T₁; belts that slip are elastic
    stiffness    E A; None: inextensible, by the elements `name.part0` …                                           [N]
    damping      E' A                                                                                              [N s]
    pretension   T₀ of an elastic belt                                                                             [N]
    """

    closed: ClassVar[bool] = True
    variants = (
        lambda scene: {"path": pulleys(scene)},
        lambda scene: {"path": pulleys(scene, 0.3), "stiffness": 30.0, "damping": 1.0, "pretension": 4.0},
    )
    pretension: Number = field(default=0.0, kw_only=True)

    def attach(self) -> Self:
        self.check_rates(("pretension",), ())
        self.keep()
        stops = self.lay().stops
        if self.stiffness is None and any(s.rubs for s in stops):
            raise ModelError(f"{self.owner}: a belt that slips is elastic; give stiffness and pretension")
        if self.stiffness is None and not (quantity.is_number(self.pretension) and self.pretension == 0):
            raise ModelError(f"{self.owner}: pretension acts in an elastic belt; give stiffness as well")
        if sum(s.grips or s.rubs for s in stops) < 2:
            raise ModelError(f"{self.owner}: at least two pulleys must turn with the belt, the others have friction=0")
        return self

    def _pretension(self) -> ca.SX:
        return quantity.scalar(self.pretension, "pretension", self.owner)

    def _free_slack(self, count) -> list[ca.SX]:
        return [ca.SX(0)] * count

    def companions(self) -> list[Any]:
        if self.stiffness is not None:
            return []
        path = self.lay()
        count = len(path.parts(False))
        kept = count if path.has_moving_centers() else count - 1
        return [BeltPart(f"{self.name}.part{k}", self.path, k) for k in range(kept)]  # (1)
