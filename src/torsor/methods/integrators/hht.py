"""The method of Hilber, Hughes and Taylor on a group: forces between those of both ends of a step."""

from dataclasses import dataclass

from ...elements import quantity
from ...errors import OptionError
from ...registry import register
from .generalized_alpha import AlphaMethod, alpha_numbers


@register("hht")
@dataclass(frozen=True)
class HHT(AlphaMethod):
    """HHT-α on the group, order 2, constraints at position level (index 3): damps fast oscillations as many programs for structures
    do, with a fixed step. Option `alpha`, from 0 (Newmark's method without damping) to 1/3 (0.1).

        a₁ = (1 − α) v̇₁ + α v̇₀,     γ = ½ + α,     β = ¼ (1 + α)²                                    (1)

    v̇ satisfy the equations of motion, a are those of Newmark's formulas: generalised-α with α_m = 0, α_f = α. What is left of
    infinitely fast oscillations after a step is (1 − α)/(1 + α). [hilber1977]
    """

    alpha: float = 0.1

    def __post_init__(self):
        alpha = quantity.number(self.alpha)
        if alpha is None or not 0 <= alpha <= 1 / 3:
            raise OptionError(f"method {self.key!r}: alpha must lie between 0 and 1/3, got {quantity.show(self.alpha)}")

    def tables(self):
        return {"stages": 2, "numbers": alpha_numbers(0.0, float(self.alpha))}  # (1)
