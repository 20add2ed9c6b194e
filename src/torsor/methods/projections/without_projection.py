"""No projection: the constraints drift, or are pulled back by terms in the equations."""

from dataclasses import dataclass

from ...errors import OptionError
from ...registry import register
from .base import Projection


@register("none")
@dataclass(frozen=True)
class NoProjection(Projection):
    """The index-1 equations as they are: the constraints drift away. For comparison."""


@register("baumgarte")
@dataclass(frozen=True)
class Baumgarte(Projection):
    """G v̇ = γ − 2α ψ − β² g: the drift decays instead of growing, but does not vanish ([aslanov2011], eq. 33).

    alpha, beta                     gains [1/s]; α = β is critically damped; a velocity-level constraint has the term in α alone
    rotation_alpha, rotation_beta   gains of the rows that stop rotations; None: as the others
    """

    baumgarte = True
    alpha: float = 10.0
    beta: float = 10.0
    rotation_alpha: float | None = None
    rotation_beta: float | None = None

    def __post_init__(self):
        for name in ("alpha", "beta", "rotation_alpha", "rotation_beta"):
            value = getattr(self, name)
            if value is None and name.startswith("rotation"):
                continue
            if not (isinstance(value, (int, float)) and 0 <= value < float("inf")):
                raise OptionError(f"projection 'baumgarte': {name} must be a number >= 0, got {value!r}")

    def gains(self, step: float | None) -> tuple[float, ...]:
        turning = (self.rotation_alpha, self.rotation_beta)
        along = (self.alpha, self.beta)
        return (*map(float, along), *(float(a if b is None else b) for a, b in zip(along, turning)))
