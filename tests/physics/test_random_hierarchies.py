"""A system of components moves the same, whatever it is solved with: up and down its components, or as a whole."""

import numpy as np
import pytest
from hierarchies import hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.start.constraints import Examiner


def states(model, count, seed):
    """Random states that satisfy the constraints, in absolute coordinates."""
    dynamics = ts.compile(model, formulation="absolute")
    f = ts.registered("formulation")["absolute"](model)
    examiner, random, q = Examiner(f, dynamics.system.length), np.random.default_rng(seed), dynamics.q
    for _ in range(count):
        wandered = examiner.sample_nearby(0.0, q, dynamics.p, random, 0.3)
        q = q if wandered is None else wandered
        yield dynamics, *dynamics.projected(q, dynamics.v + random.standard_normal(len(dynamics.v)))


@settings(max_examples=2, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), loops=st.booleans())
def test_bodies_of_random_hierarchies_accelerate_alike(seed, loops):
    model = hierarchy(seed, loops)
    others = [ts.compile(model, formulation=key) for key in ("hierarchical", "relative")]
    for absolute, q, v in states(model, 2, seed):
        expected = absolute.accelerations(q, v)
        for other in others:
            x, u, p = other.formulation_object.adopt(0.0, q, v, absolute.p)
            got = other.body_accelerations(x, u, p=p)
            assert np.abs(got - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("seed", [3])
def test_runs_of_random_hierarchies_agree(seed):
    model = hierarchy(seed)
    one, two = (
        ts.simulate(model, 0.3, outputs=5, tolerance=1e-10, formulation=f) for f in ("absolute", "hierarchical")
    )
    for name in ("position", "rotation", "velocity", "energy"):
        a, b = one[name].values, two[name].values
        assert np.abs(a - b).max() < 1e-7 * (1 + np.abs(a).max()), name
    unique = one["reaction_unique"].values
    a, b = (x["reaction_force"].values[:, unique] for x in (one, two))
    assert np.abs(a - b).max(initial=0.0) < 1e-6 * (1 + np.abs(a).max(initial=0.0))
