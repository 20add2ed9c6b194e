"""One part of an inextensible cable, which only pulls."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ...constraints.unilateral import Unilateral
from ...elements import quantity
from ...elements.element import REQUIRED
from ...elements.quantity import Number
from ...errors import ModelError
from ...joints.constraint import Constraint
from ...registry import register
from ..friction import Friction
from .path_element import OnPath
from .pulley import Pulley


def pulleys(scene, friction=None):
    """The path of an example: over the wheels of both joints of a scene."""
    return [Pulley(scene["joint"], 0.1, 1, friction), Pulley(scene["other"], 0.2, 1)]


@register("cable-part")
@dataclass(frozen=True, eq=False)
class CablePart(Unilateral, OnPath):
    """A part of a cable between two places that hold it; its multiplier is the tension. `ts.Cable` adds them.

        s ≥ 0,    T = λ ≥ 0,    s T = 0                                                                    (1)
        |T₂ − T₁| ≤ 2 tanh(μ ϑ/2) (T₁ + T₂)/2         over a pulley with friction: T₂/T₁ ≤ e^(μ ϑ)         (2)

    path    of the whole cable, see `ts.Cable`
    part    number of the part, from 0
    slack   s in the reference configuration                                                              [m]
    """

    drawing = "none"
    not_drawn = "a part of a cable"
    variants = (lambda scene: {"path": [scene["first"].point(), scene["second"].point((0.1, 0, 0))], "slack": 0.8},)
    path: Any = REQUIRED
    part: int = 0
    slack: Number = field(default=0.0, kw_only=True)
    counts: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self):
        super().__post_init__()
        self.remember()

    def attach(self) -> Self:
        found = self.keep_path()
        parts = found.lay().parts(False)
        if (
            isinstance(self.part, bool)
            or not isinstance(self.part, (int, np.integer))
            or not 0 <= self.part < len(parts)
        ):
            raise ModelError(f"{self.owner}: part must be 0 to {len(parts) - 1}, got {quantity.show(self.part)}")
        if len(self._rubbing()) > 1:
            raise ModelError(
                f"{self.owner}: the rope rubs on {len(self._rubbing())} pulleys between two places that hold it; one is possible "
                "without stiffness, with stiffness any number"
            )
        return found

    def _part(self):
        path = self.lay()
        return path, path.parts(False)[self.part]

    def _rubbing(self):
        """Numbers of the pulleys with friction within the part."""
        path, part = self._part()
        inner = [path.pairs[pair][1] for pair in part.pairs[:-1]]
        return [k for k in inner if path.stops[k].rubs]

    def gaps(self) -> list[ca.SX]:
        path, part = self._part()
        return [path.spare(part, self.betas()) + quantity.scalar(self.slack, "slack", self.owner)]  # (1)

    def directions(self) -> list[str]:
        return ["length"]

    def memories(self) -> list[Any]:
        return [*super().memories(), *self.bearings]

    def events(self) -> list[Any]:
        return [*super().events(), *self.turn_events()]

    @property
    def sliding_parts(self) -> int:
        return 1 if self._rubbing() else 0

    def sliding_velocity(self) -> ca.SX:
        """Half the difference of ṡ before and after the pulley, which the difference of the tensions works on."""
        path, part = self._part()
        (k,) = self._rubbing()
        cut = next(n for n, pair in enumerate(part.pairs) if path.pairs[pair][1] == k) + 1
        before, after = part._replace(pairs=part.pairs[:cut]), part._replace(pairs=part.pairs[cut:])
        return (path.rate(after) - path.rate(before)) / 2

    def companions(self) -> list[Any]:
        rubbing = self._rubbing()
        if not rubbing:
            return []
        path, _ = self._part()
        mu, theta = path.stops[rubbing[0]].friction, path.angle_of_wrap(rubbing[0])
        return [Friction(f"{self.name}.friction", self, coefficient=2 * ca.tanh(mu * theta / 2))]  # (2)

    def violation(self, side: str, verb: str, depth: float) -> str:
        return f"{self.owner} {verb} {depth:.3g} m too short for its path"


@register("belt-part")
@dataclass(frozen=True, eq=False)
class BeltPart(Constraint, OnPath):
    """A part of an inextensible belt between two pulleys that do not slip. `ts.Belt` adds them.

        0 = s                                                                                              (1)

    path    of the whole belt, see `ts.Belt`
    part    number of the part, from 0
    """

    drawing = "none"
    not_drawn = "a part of a belt"
    closed = True
    variants = (lambda scene: {"path": pulleys(scene)},)
    path: Any = REQUIRED
    part: int = 0
    counts: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self):
        super().__post_init__()
        self.remember()

    def attach(self) -> Self:
        return self.keep_path()

    def position(self) -> ca.SX:
        path = self.lay()
        return path.spare(path.parts(False)[self.part], self.betas())  # (1)

    def directions(self) -> list[str]:
        return ["length"]

    def memories(self) -> list[Any]:
        return list(self.bearings)

    def events(self) -> list[Any]:
        return self.turn_events()
