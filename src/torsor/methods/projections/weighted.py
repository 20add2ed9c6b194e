"""Projection with a weight for every coordinate: what is heavy hardly moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...elements import quantity
from ...errors import OptionError
from ...registry import register
from .after_steps import AfterSteps


@register("weighted")
@dataclass(frozen=True)
class Weighted(AfterSteps):
    """After each step the least change in a metric of one's own: coordinates that shall keep their values are given large weights.

        Δq = −W Gᵀ (G W Gᵀ)⁻¹ g(q̃),      W = diag(cᵢ²/wᵢ),      likewise Δv                              (1)

    weights   w of coordinates by name, {"hinge": 100}, or "100*hinge + 5*slider"; those of the others are 1. c is the size of the
              model for a length and 1 for an angle: with all weights 1 this is the plain metric of `least-squares`
    """

    weights: Any = ()

    def __post_init__(self):
        super().__post_init__()
        given = self.weights
        if isinstance(given, str):
            terms = [term.partition("*") for term in given.split("+")]
            pairs = [(name.strip(), factor) for factor, _, name in terms]
        else:
            pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
        object.__setattr__(self, "weights", tuple(self._pair(*pair) for pair in pairs))

    def _pair(self, name, factor):
        """A name with its weight as a number."""
        try:
            weight = quantity.number(float(factor) if isinstance(factor, str) else factor)
        except ValueError:
            weight = None
        if not isinstance(name, str) or not name or weight is None or not 0 < weight < float("inf"):
            shown = f"{quantity.show(factor)} for {quantity.show(name)}"
            raise OptionError(
                f"projection 'weighted': weights must be positive numbers by names of coordinates, got {shown}"
            )
        return name, float(weight)

    def inverse_metrics(self, f: Any, units: list) -> tuple[Any, Any]:
        weights, names = dict(self.weights), f.coordinate_names()
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise OptionError(
                f"projection 'weighted': unknown coordinate {unknown[0]!r} with formulation {f.key!r}. Known: {', '.join(names)}."
            )
        W = ca.diag(ca.SX([unit**2 / weights.get(name, 1.0) for name, unit in zip(names, units)]))  # (1)
        return W, W
