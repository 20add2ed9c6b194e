"""Momenta change as Lagrange's equations say, in every formulation, at states of every case: what the recursions and
eliminations of a formulation find, differentiation of the kinetic energy alone finds too."""

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts
from torsor.elements.quantity import time
from torsor.formulations.algebra.lagrangian import Lagrangian

CASES = [name for name in models.compared_cases() if name not in ("satellite", "pendulum", "train", "bush")]
FORMULATIONS = ("absolute", "relative")


@pytest.mark.parametrize("key", FORMULATIONS)
@pytest.mark.parametrize("case", CASES)
def test_momenta_change_by_transport_inertia_forces_and_reactions(case, key):
    model = ts.cases.load(case)
    dynamics = ts.compile(model, formulation=key)
    f = dynamics.formulation_object
    L, n = Lagrangian(f), f.v.shape[0]
    a, lam = ca.SX.sym("a", n), ca.SX.sym("lam", len(f.keep))
    rates = [L.rate(L.momenta, a), L.momentum_rate(lam), ca.gradient(L.kinetic_energy, f.v)]
    rates.append(L.mass_matrix @ f.v + ca.substitute(L.momenta, f.v, ca.SX.zeros(n)))
    compare = ca.Function("compare", [time, f.q, f.v, f.p, a, lam], [ca.densify(x) for x in rates])
    random = np.random.default_rng(3)
    for _ in range(5):
        q, v = dynamics.projected(dynamics.q, dynamics.v + random.standard_normal(n))
        found, reactions = dynamics.accelerations(q, v), dynamics.multipliers(q, v)
        left, right, first, second = (x.full() for x in compare(0.0, q, v, dynamics.p, found, reactions))
        assert np.abs(left - right).max() < 1e-9 * max(1.0, np.abs(right).max())
        assert np.abs(first - second).max() < 1e-11 * max(1.0, np.abs(first).max())
