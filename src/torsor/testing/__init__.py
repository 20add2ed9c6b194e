"""What the author of a component needs to test it: a bench to put it on, and laws that every mechanism obeys.

    import torsor as ts

    model = ts.testing.bench(damper(), held=["foot"], loaded={"head": (0, 0, -500)})
    data = ts.testing.assert_energy_balance(model, 2.0)
    ts.testing.assert_no_drift(data)
    ts.testing.assert_formulations_agree(model, 2.0)
    ts.testing.assert_placement(damper(), 2.0)

An assertion takes a model, the name of a case, or (where it says so) a result. It raises AssertionError with what is wrong, by
how much, where and when; otherwise it returns the result, so that a test can go on with it.
"""

from .check_model import Finding, check
from .energy_conservation import assert_energy_conserved
from .formulation_comparison import assert_formulations_agree, assert_placement, assert_same_motion
from .laws import assert_energy_balance, assert_momentum, assert_no_drift
from .test_bench import bench

__all__ = [
    "Finding",
    "assert_energy_balance",
    "assert_energy_conserved",
    "assert_formulations_agree",
    "assert_momentum",
    "assert_no_drift",
    "assert_placement",
    "assert_same_motion",
    "bench",
    "check",
]
