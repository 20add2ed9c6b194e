"""Projections after each step."""

from dataclasses import dataclass, field

from ...errors import OptionError
from ...registry import register
from .base import Projection


@dataclass(frozen=True)
class AfterSteps(Projection):
    """Base: positions, then velocities, are corrected after a step where they violate the constraints by more than a threshold
    ([mueller2009], sec. 5.3).

    threshold            length of the vector of residuals above which positions are corrected [m or rad]; 0: always
    velocity_threshold   the same of velocities [m/s or rad/s]; None: as `threshold`
    """

    projects = True
    threshold: float = field(default=0.0, kw_only=True)
    velocity_threshold: float | None = field(default=None, kw_only=True)

    def __post_init__(self):
        for name in ("threshold", "velocity_threshold"):
            value = getattr(self, name)
            if value is None and name == "velocity_threshold":
                continue
            if isinstance(value, bool) or not (isinstance(value, (int, float)) and 0 <= value < float("inf")):
                raise OptionError(f"projection {self.key!r}: {name} must be a number >= 0, got {value!r}")


@register("least-squares")
@dataclass(frozen=True)
class LeastSquares(AfterSteps):
    """After each step the least change, in the mass metric or the plain one, that satisfies the position constraints to
    rounding, then the velocity constraints; the default ([zenzerovic2012], sec. 3.4)."""

    metric: str = "mass"

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.metric, str) or self.metric not in ("mass", "plain"):
            raise OptionError(f"projection 'least-squares': metric must be 'mass' or 'plain', got {self.metric!r}")


@register("post")
@dataclass(frozen=True)
class Post(AfterSteps):
    """After each step one step of Newton's method by the pseudoinverse of the constraints' Jacobian, small singular directions
    cut off: the plain least change of coordinates, then of velocities ([vlasenko2006], eq. 2.39).

        Δq = −G⁺(q̃) g(q̃),      Δv = −G⁺(q) ψ(q, ṽ)                                                       (1)

    q is the corrected configuration: this contains the rate of G that the document neglects in eq. 1.17.
    """

    corrections = 1

    @property
    def metric(self) -> str:
        return "pseudoinverse"


@register("partition")
@dataclass(frozen=True)
class Partition(AfterSteps):
    """After each step only dependent coordinates are changed, apart for positions and velocities; they are chosen by the
    relative length of their projection on the constraint subspace in the mass metric ([mueller2009], sec. 5.3), or given.

    positions, velocities   names or places of the dependent coordinates; None: the best ones at the start
    """

    positions: tuple | None = None
    velocities: tuple | None = None

    def __post_init__(self):
        super().__post_init__()
        for what in ("positions", "velocities"):
            names = getattr(self, what)
            if names is None:
                continue
            try:
                plain = tuple(x if isinstance(x, (str, bool)) else int(x) for x in names)
            except (TypeError, ValueError, OverflowError):
                plain = None
            if plain is None or isinstance(names, str):
                raise OptionError(f"projection {self.key!r}: {what} must be several names or places, got {names!r}")
            object.__setattr__(self, what, plain)

    @property
    def metric(self) -> list:
        part = lambda names: None if names is None else list(names)
        return [part(self.positions), part(self.velocities)]


@register("independent")
@dataclass(frozen=True)
class Independent(Partition):
    """Independent coordinates alone are integrated: in every stage of a step dependent positions and velocities follow from
    the constraints, and what the method makes of them is not used ([mueller2009], sec. 5.3; [wehage1982]).

    positions, velocities   names or places of the dependent coordinates; None: the best ones at the start
    """

    stages = ("torsor.methods.independent_step", "independent")

    def __post_init__(self):
        super().__post_init__()
        if self.threshold or self.velocity_threshold:
            raise OptionError("projection 'independent' solves the constraints in every stage: it has no threshold")
