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

    alpha, beta   gains [1/s]; α = β is critically damped; a velocity-level constraint has the term in α alone
    """

    baumgarte = True
    alpha: float = 10.0
    beta: float = 10.0

    def __post_init__(self):
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and 0 <= value < float("inf")):
                raise OptionError(f"projection 'baumgarte': {name} must be a number >= 0, got {value!r}")

    def gains(self, step: float | None) -> tuple[float, float]:
        return (float(self.alpha), float(self.beta))
