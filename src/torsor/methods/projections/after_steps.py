"""Projections after each step."""

from dataclasses import dataclass

from ...errors import OptionError
from ...registry import register
from .base import Projection


@register("least-squares")
@dataclass(frozen=True)
class LeastSquares(Projection):
    """After each step the least change, in the mass metric or the plain one, that satisfies the position constraints to
    rounding, then the velocity constraints; the default ([zenzerovic2012], sec. 3.4)."""

    projects = True
    metric: str = "mass"

    def __post_init__(self):
        if not isinstance(self.metric, str) or self.metric not in ("mass", "plain"):
            raise OptionError(f"projection 'least-squares': metric must be 'mass' or 'plain', got {self.metric!r}")


@register("post")
@dataclass(frozen=True)
class Post(Projection):
    """After each step one step of Newton's method by the pseudoinverse of the constraints' Jacobian, small singular directions
    cut off: the plain least change of coordinates, then of velocities ([vlasenko2006], eq. 2.39).

        Δq = −G⁺(q̃) g(q̃),      Δv = −G⁺(q) ψ(q, ṽ)                                                       (1)

    q is the corrected configuration: this contains the rate of G that the document neglects in eq. 1.17.
    """

    projects = True
    corrections = 1

    @property
    def metric(self) -> str:
        return "pseudoinverse"


@register("partition")
@dataclass(frozen=True)
class Partition(Projection):
    """After each step only dependent coordinates are changed, apart for positions and velocities; they are chosen by the
    relative length of their projection on the constraint subspace in the mass metric ([mueller2009], sec. 5.3), or given.

    positions, velocities   names or places of the dependent coordinates; None: the best ones at the start
    """

    projects = True
    positions: tuple | None = None
    velocities: tuple | None = None

    def __post_init__(self):
        for what in ("positions", "velocities"):
            names = getattr(self, what)
            if names is None:
                continue
            try:
                plain = tuple(x if isinstance(x, (str, bool)) else int(x) for x in names)
            except (TypeError, ValueError, OverflowError):
                plain = None
            if plain is None or isinstance(names, str):
                raise OptionError(f"projection 'partition': {what} must be several names or places, got {names!r}")
            object.__setattr__(self, what, plain)

    @property
    def metric(self) -> list:
        part = lambda names: None if names is None else list(names)
        return [part(self.positions), part(self.velocities)]
