"""Kernels of sample models: native code equals the reference, and the number of instructions is a tested number."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor import kernels
from torsor.prepare.prepare import prepare

CASES = ["three-link", "four-bar", "satellite-1", "satellite-2", "satellite-3", "heavy-top", "pendulum", "free-body"]

# Arithmetic operations, as counted when the equations were last improved. A change that needs more must say why. A stage adds
# the change of the velocities itself.
INSTRUCTIONS = {
    ("heavy-top", 0): {"factor": 57, "accelerations": 93, "stage": 300},
    ("three-link", 0): {"factor": 1083, "accelerations": 911, "stage": 2376},
    ("four-bar", 2): {"factor": 2262, "accelerations": 1504, "stage": 4388},
    ("four-bar", 10): {"factor": 11350, "accelerations": 7064},
}


@pytest.mark.parametrize("case", CASES)
def test_native_kernels_equal_the_reference_evaluation(case):
    dynamics = ts.compile(ts.cases.load(case), formulation="absolute")
    random = np.random.default_rng(5)
    for name, f in dynamics.functions.items():
        kernel = dynamics.kernels[name]
        arguments = [0.5 + 0.4 * random.random(kernel.size_in(i)) for i in range(kernel.n_in)]
        expected = [x.full().ravel(order="F") for x in f.call([ca.DM(a) for a in arguments])]
        for got, want in zip(kernel(*arguments), expected):
            # fused multiply-adds round once instead of twice; differences of large terms amplify that
            assert np.allclose(got, want, rtol=1e-8, atol=1e-9 * (1 + np.abs(want).max(initial=0.0))), name


def test_a_run_is_the_same_on_the_reference_backend():
    """The whole loop on CasADi's virtual machine: an independent evaluation of every kernel along a trajectory."""
    from torsor.methods.projections import LeastSquares
    from torsor.prepare.state_space import kernels_of
    from torsor.run.runner import Runner, RunOptions

    model = ts.cases.load("three-link")
    system, native = prepare(model)
    dynamics = ts.compile(model, formulation="absolute")
    slow = kernels.build(kernels_of(dynamics.formulation_object, "exp", False, {}), backend="reference")
    del slow["stage"]
    times = np.linspace(0, 0.2, 3)

    def run(built):
        runner = Runner(system, built, RunOptions("rkmk4", 0.01, 1e-6, LeastSquares(), times[-1]))
        runner.begin(times)
        assert runner.run() == "finished"
        return runner.out.x

    without_stage = {k: v for k, v in native.items() if k != "stage"}
    a, b, c = run(without_stage), run({**without_stage, **slow}), run(native)
    assert np.abs(a - b).max() < 1e-12  # rounding, amplified over 20 steps
    assert np.abs(a - c).max() < 1e-12  # the fused stage is the same mathematics


@pytest.mark.parametrize("case, n", INSTRUCTIONS)
def test_instruction_counts_do_not_grow(case, n):
    model = ts.cases.load(case, n=n) if n else ts.cases.load(case)
    stage = prepare(model)[1].get("stage")
    counts = ts.compile(model, formulation="absolute").instructions | ({"stage": stage.instructions} if stage else {})
    for name, limit in INSTRUCTIONS[case, n].items():
        assert counts[name] <= limit, f"{name}: {counts[name]} instructions, {limit} allowed"


def test_instructions_grow_linearly_with_the_number_of_loops():
    count = lambda n: sum(
        ts.compile(ts.cases.load("four-bar", n=n), formulation="absolute").instructions[k]
        for k in ("factor", "accelerations")
    )
    small, large = count(4), count(8)
    assert large / small < 2.05  # twice the loops, twice the work
