"""The base class of forces. A new force is one class in one file; see docs/extend.md.

A force declares one or more of

    potential()     U, a scalar of poses and time: the generalised force is −∂U, and U counts as energy      [J]
    dissipation()   D, a scalar of velocities: the generalised force is −∂D/∂v                                [W]
    efforts()       pairs (velocity, effort): the generalised force is Σ (∂velocity/∂v)ᵀ effort, its power is
                    Σ velocity·effort; the velocity is a signal that is linear in the bodies' velocities       [W]

An effort may depend on any signal, also on reactions, multipliers and accelerations, which depend on it in turn: kernels
solve for such efforts (`formulations/algebra/algebraic_loops.py`).
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.element import ANYTHING, MOTION, POSES, Element, Statement
from ..elements.placing import ZERO, local_place
from .force_data import parts_of, shared_data

_SOUND: set = set()  # kinds of forces that were checked


@dataclass(frozen=True, eq=False)
class Force(Element):
    """Base of everything that pushes."""

    kind = key = "force"
    acts_by_pairs = False  # True: it acts between pairs of bodies, which are searched while it runs
    gated = True  # events that switch it switch its whole effect; False: the element says itself when it acts

    @property
    def own_code(self) -> bool:
        """True if its numbers decide which operations it has, so that it shares code with no other."""
        return False

    def potential(self) -> ca.SX | None:
        return None

    def dissipation(self) -> ca.SX | None:
        return None

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return []

    def pair_count(self) -> int:
        """The number of pairs of shapes between which it acts; 0: it does not act by pairs."""
        return 0

    def typical_efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        """Efforts that stand for all of them where these are too many."""
        return self.efforts()

    def contents(self) -> list[str]:
        """What typical efforts do not say of it, as text."""
        return []

    def rotors(self) -> list[tuple[Any, int, ca.SX]]:
        """Inertias along joint coordinates that belong to it: (joint, index of the coordinate, inertia)   [kg m² or kg]."""
        return []

    def drawn_shapes(self) -> list[tuple[Any, Any]]:
        """Pairs (body, shape) with which bodies touch each other, drawn for bodies that have no shape of their own."""
        return []

    def statements(self) -> list[Statement]:
        if (kind := self._kind()) is not None and kind in _SOUND:
            return []
        U, D, pairs = self.potential(), self.dissipation(), self.efforts()
        found = [] if U is None else [Statement("its potential", U, POSES)]
        found += [] if D is None else [Statement("its dissipation", D, MOTION)]
        found += [Statement("the velocity of its effort", u, MOTION) for u, _ in pairs]
        return found + [Statement("its effort", e, ANYTHING) for _, e in pairs]

    def shared_data(self) -> Any:
        return shared_data(self)

    def mark_checked(self) -> None:
        _SOUND.add(self._kind())

    def _kind(self):
        """What it shares with all forces that say the same with other numbers; None where that depends on its numbers."""
        parts = parts_of(self)
        if parts is None or not (np.abs(parts.numbers) <= quantity.LARGEST).all():
            return None
        ends = tuple((type(end), getattr(end, "particle", False), getattr(end, "dof", 0)) for end in parts.ends)
        return parts.key, np.sign(parts.numbers).tobytes(), ends


def local_point(body, point, owner, what="point"):
    """A world point of the reference configuration, in body axes from the centre of mass; None: the centre of mass."""
    return ZERO if point is None else local_place(body, quantity.given(point, 3, 1, what, owner))
