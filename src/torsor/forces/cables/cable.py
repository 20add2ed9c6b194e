"""Cables over pulleys, points and drums."""

from dataclasses import dataclass, field
from typing import Any, Self

from ...elements import quantity
from ...elements.quantity import Number
from ...errors import ModelError
from ...registry import register
from .cable_part import CablePart
from .elastic_path import ElasticPath
from .path_element import slack_of


@register("cable")
@dataclass(frozen=True, eq=False)
class Cable(ElasticPath):
    """A cable from end to end over pulleys, through points and onto drums. It turns the pulleys and is slack where it would push.

        s ≥ 0,    T ≥ 0,    s T = 0                        inextensible                                    (1)
        T = E A/l x + E' A/l ẋ ≥ 0,  x = −s > 0            elastic                                         (2)

    s is the slack of a part between two places that hold the cable: ends, pulleys without slip, drums. Points between the ends
    are eyes, through which it slides. In the reference configuration it is just taut, or has the given slack.

    path          points of bodies, `body.point(…)`, and `ts.Pulley`, in the order of the cable; a pulley at an end is a drum
    stiffness     E A; None: inextensible, by the elements `name.part0` …, whose multiplier is the tension         [N]
    damping       E' A                                                                                             [N s]
    slack         of each part in the reference configuration: a number, or a list where there are several         [m]
    restitution   of the jerk of an inextensible cable that gets taut, 0 to 1                                      [-]

    l is the length of a part in the reference configuration. An elastic cable that slips has a state `name.slip0` … for each such
    pulley: how far it has slipped.
    """

    variants = (
        lambda scene: {"path": [scene["first"].point(), scene["second"].point((0.1, 0, 0))], "slack": 0.8},
        lambda scene: {
            "path": [scene["first"].point(), (0.2, 0.4, 0.1), scene["second"].point((0.1, 0, 0))],
            "stiffness": 30.0,
            "damping": 2.0,
        },
    )
    slack: Any = field(default=0.0, kw_only=True)
    restitution: Number = field(default=0.0, kw_only=True)

    def attach(self) -> Self:
        restitution = quantity.scalar(self.restitution, "restitution", self.owner)
        if restitution.is_constant() and not 0 <= float(restitution) <= 1:
            raise ModelError(
                f"{self.owner}: restitution must lie between 0 and 1, got {quantity.show(self.restitution)}"
            )
        self.keep()
        path = self.lay()
        for stop in (path.stops[0], path.stops[-1]):
            if stop.friction is not None:
                raise ModelError(f"{self.owner}: {stop.label} is at an end of the path, a drum: leave out its friction")
        slack_of(self, len(path.parts(self.stiffness is not None)))
        return self

    def companions(self) -> list[Any]:
        if self.stiffness is not None:
            return []
        slack = slack_of(self, len(self.lay().parts(False)))
        return [
            CablePart(f"{self.name}.part{k}", self.path, k, slack=s, restitution=self.restitution)
            for k, s in enumerate(slack)
        ]  # (1)
