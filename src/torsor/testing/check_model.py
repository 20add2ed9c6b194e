"""All checks that need no more than a model, one after the other."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import TorsorError
from .formulation_comparison import NothingToCompare, assert_formulations_agree, assert_placement
from .laws import assert_energy_balance, assert_no_drift
from .results_of import model_of


class Finding(NamedTuple):
    """What came of one check."""

    check: str
    holds: bool | None  # None: there is nothing that it could be compared with
    words: str


CHECKS: dict[str, tuple[Callable, Callable]] = {  # the assertion, and the text if it holds
    "energy balance": (
        assert_energy_balance,
        lambda data: f"off by {data.attrs['energy_balance_relative']:.1e} of the energy turned over",
    ),
    "no drift": (
        assert_no_drift,
        lambda data: (
            f"positions {data.attrs['position_drift_max']:.1e}, velocities {data.attrs['velocity_drift_max']:.1e}"
        ),
    ),
    "formulations agree": (assert_formulations_agree, lambda data: data.attrs["compared"]),
    "placed anywhere": (assert_placement, lambda data: "moves as alone, two levels down, shifted and turned"),
}


def check(source: Any, until: float | None = None, **options: Any) -> list[Finding]:
    """Check a component, or any model or case: energy balance, drift, formulations, and placement inside a larger model. Each
    finding says whether it holds, and how well or why not; a run that is refused or fails is a finding, too."""
    model, ends = model_of(source)
    found = []
    holds: bool | None
    for name, (assertion, text_of) in CHECKS.items():
        try:
            words, holds = text_of(assertion(model, ends if until is None else until, **options)), True
        except (AssertionError, TorsorError) as error:
            words, holds = str(error), None if isinstance(error, NothingToCompare) else False
        found.append(Finding(name, holds, words))
    return found
