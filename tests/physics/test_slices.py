"""A run is marched in slices whose length depends on the clock; the result must not."""

import numpy as np

import torsor as ts
from torsor.methods.projections import LeastSquares
from torsor.methods.status_codes import FINISHED, RUNNING
from torsor.prepare.prepare import prepare
from torsor.run.runner import Runner, RunOptions


def marched(system, kernels, budget):
    runner = Runner(system, kernels, RunOptions("rkmk54", None, 1e-11, LeastSquares(), 10.0))
    runner.begin(np.linspace(0.0, 10.0, 201))
    status = RUNNING
    while status == RUNNING:
        status = runner._advance(budget)
    assert status == FINISHED
    return np.concatenate([runner.out.x.ravel(), runner.out.p.ravel()])


def test_a_run_is_bit_for_bit_the_same_however_it_is_sliced():
    """Through the singular positions of ten loops, where steps are refused for more than one reason."""
    system, kernels = prepare(ts.cases.load("four-bar", n=10))
    whole = marched(system, kernels, 10**6)
    for budget in (1, 7):
        np.testing.assert_array_equal(marched(system, kernels, budget), whole)
