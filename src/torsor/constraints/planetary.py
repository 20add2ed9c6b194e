"""Gear sets with three shafts, and the harmonic drive."""

from dataclasses import dataclass
from typing import Any, Self

from ..elements.element import REQUIRED
from ..errors import ModelError
from ..joints.base import Joint
from ..registry import register
from .joint_relation import JointRelation, numbers_of_teeth


@register("planetary")
@dataclass(frozen=True, eq=False)
class Planetary(JointRelation):
    """A planetary gear set between three coaxial shafts, without its planets: Willis' equation.

        0 = z_s (φ_s − φ_c) + z_r (φ_r − φ_c)                          (1)

    g is (1) over z_s. Planets with an inertia of their own are bodies on joints of the carrier, with a `ts.Gear` to the sun and one
    to the ring.

    sun, ring, carrier   their joints, all from the same body and about the same axis; None for one that is held
    teeth                (z_s, z_r)                                    [-]
    """

    variants = (lambda scene: {"sun": scene["joint"], "carrier": scene["other"], "teeth": (24, 60)},)
    sun: Any = None
    ring: Any = None
    carrier: Any = None
    teeth: Any = REQUIRED
    optional = ("sun", "ring", "carrier")

    def attach(self) -> Self:
        if sum(x is not None for x in (self.sun, self.ring, self.carrier)) < 2:
            raise ModelError(f"{self.owner}: give at least two of sun, ring and carrier")
        return super().attach()

    def drawn_details(self) -> dict[str, Any]:
        parts = {name: joint for name in self.optional if (joint := getattr(self, name)) is not None}
        return {"planetary": {name: [joint.drawn_member()] for name, joint in parts.items()}, "teeth": list(self.teeth)}

    def members(self) -> list[tuple[Joint, int, Any]]:
        z_s, z_r = numbers_of_teeth(self, self.teeth, 2)
        pairs = ((self.sun, 1.0), (self.ring, z_r / z_s), (self.carrier, -1 - z_r / z_s))  # (1)
        return [(joint, 0, c) for joint, c in pairs if joint is not None]


@register("differential")
@dataclass(frozen=True, eq=False)
class Differential(JointRelation):
    """A differential: the case turns with the mean of its two half-shafts.

        0 = φ_c − s φ₁ − (1 − s) φ₂                                    (1)

    carrier        the joint of the case
    joint, other   those of the half-shafts; all three count from the same body about the same axis
    share          s, of the torque on the first half-shaft            [-]
    """

    variants = (lambda scene: {"carrier": None, "share": 0.4},)
    carrier: Any = None
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    share: float = 0.5
    optional = ("carrier",)

    def attach(self) -> Self:
        if not (isinstance(self.share, (int, float)) and 0 < self.share < 1):
            raise ModelError(f"{self.owner}: share must lie between 0 and 1, got {self.share!r}")
        return super().attach()

    def members(self) -> list[tuple[Joint, int, Any]]:
        case = [] if self.carrier is None else [(self.carrier, 0, 1.0)]  # (1); None: the case is held
        return [*case, (self.joint, 0, -self.share), (self.other, 0, self.share - 1)]


@register("harmonic-drive")
@dataclass(frozen=True, eq=False)
class HarmonicDrive(JointRelation):
    """A strain wave gear with its circular spline held: the output turns slowly against the wave generator.

        0 = φ_g + z_f / (z_c − z_f) φ_f                                (1)

    `stiffness` is that of the flexspline, seen from the wave generator; `efficiency` is that of a rigid drive.

    joint, other   the wave generator, φ_g, and the flexspline, φ_f, both from the body that holds the circular spline
    teeth          (z_f, z_c) of flexspline and circular spline, z_c > z_f                                         [-]
    """

    variants = ({"teeth": (200, 202)},)
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    teeth: Any = REQUIRED

    def members(self) -> list[tuple[Joint, int, Any]]:
        z_f, z_c = numbers_of_teeth(self, self.teeth, 2)
        if not z_c > z_f:
            raise ModelError(
                f"{self.owner}: the circular spline must have more teeth than the flexspline, got {self.teeth!r}"
            )
        return [(self.joint, 0, 1.0), (self.other, 0, z_f / (z_c - z_f))]  # (1)
