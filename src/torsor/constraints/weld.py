"""Two bodies that can be held together."""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from ..elements.element import fill_in
from ..events import Memory
from ..joints.alignment import no_turn
from ..joints.base import Connection
from ..joints.constraint import Trace
from ..lie import se3
from ..registry import register


@register("weld")
@dataclass(frozen=True, eq=False)
class Weld(Connection):
    """Two bodies are held together as they are when the weld is engaged: a gripper that closes, a docking port.

        0 = vee(R_hᵀ R − Rᵀ R_h)/2,   0 = p − p_h       (R_h, p_h) the relative pose when engaged      (1)

    Engage and release it by events; active from the start it holds the start.
    """

    drawing = "fixed"
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

    def trace(self) -> Trace | None:
        return None

    def position(self) -> ca.SX:
        R, p = se3.split_pose(self.relative_pose())
        held = ca.vertcat(ca.SX(0, 1), *[m.symbol for m in self.held])
        return ca.vertcat(p - held[9:], no_turn(ca.reshape(held[:9], 3, 3).T @ R))  # (1)

    def directions(self) -> list[str]:
        return [f"{what} {axis}" for what in ("translation along", "rotation about") for axis in "xyz"]
