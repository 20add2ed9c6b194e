"""Kane's equations: generalised speeds of one's own change nothing but the algebra; what it cannot do is refused in words."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.kane import Kane


@pytest.fixture
def angular_speeds():
    """A formulation whose speeds are absolute angular velocities in chains: u_k = v_1 + … + v_k, scaled by a function of q."""
    table = ts.registry._TABLE["formulation"]

    @ts.register("kane-sums")
    class Sums(Kane):
        def speeds(self):
            first = 1 + ca.cos(self.q[0]) ** 2
            return ca.vertcat(first * self.v[0], *[ca.sum1(self.v[: k + 1]) for k in range(1, self.v.shape[0])])

    yield "kane-sums"
    del table["kane-sums"]


@pytest.mark.parametrize("case", ["chain", "four-bar", "slider-crank"])
def test_generalised_speeds_of_ones_own_lead_to_the_same_motion(case, angular_speeds):
    given = {"outputs": 4, "tolerance": 1e-10}
    one, other = (
        ts.simulate(ts.cases.load(case), 0.3, formulation=key, **given) for key in ("relative", angular_speeds)
    )
    np.testing.assert_allclose(other.position, one.position, atol=1e-7)
    np.testing.assert_allclose(
        other.reaction_force, one.reaction_force, atol=1e-4 * float(np.abs(one.reaction_force).max())
    )


def test_a_planar_double_pendulum_decouples_in_absolute_angles():
    """With u = (φ̇₁, φ̇₁ + φ̇₂) the mass matrix of two rods has the off-diagonal entry m₂ l₁ c₂ cos(φ₂) alone."""
    model = ts.Model("double", gravity=(0, 0, -9.81))
    rods = [model.body(f"rod{k}", inertia=ts.inertia.rod(1.0, 1.0, axis="x"), at=(k + 0.5, 0, 0)) for k in range(2)]
    for k, (first, second) in enumerate([(model.ground, rods[0]), (rods[0], rods[1])]):
        model.add(ts.Revolute(f"hinge{k}", first, second, point=(k, 0, 0), axis=(0, 1, 0)))
    f = Kane(model)
    inverse = np.linalg.inv([[1, 0], [1, 1]])
    M = ca.Function("M", [f.q, f.p], [f.mass_matrix()])
    for angle in (0.0, 0.7, 2.0):
        found = inverse.T @ M([0.3, angle], []).full() @ inverse
        coupling = 0.5 * np.cos(angle)
        np.testing.assert_allclose(found, [[1 / 3 + 1, coupling], [coupling, 1 / 3]], atol=1e-14)


def test_large_systems_and_ranks_are_run_or_refused_by_what_a_formulation_declares(monkeypatch):
    """Without class kernels it runs as one graph; ranks name those that support them."""
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "4")
    model = ts.cases.load("chain", n=6)
    one, other = (ts.simulate(model, 0.1, outputs=1, formulation=key) for key in ("relative", "kane"))
    np.testing.assert_allclose(other.position, one.position, atol=1e-9)
    with pytest.raises(ts.OptionError, match="formulation 'kane' is not supported with threads; use 'hierarchical'"):
        ts.simulate(model, 0.1, formulation="kane", threads=2)


def test_auto_takes_what_declares_the_lowest_cost(angular_speeds):
    """A derived class inherits no declaration: it is chosen where it declares a cost, and only then."""
    model = lambda: ts.cases.load("slider-crank")
    assert ts.simulate(model(), 0.01, outputs=1).attrs["formulation"] != angular_speeds
    cls = ts.registered("formulation")[angular_speeds]
    cls.estimated_cost = staticmethod(lambda count: (1.0, 1.0))
    assert ts.simulate(model(), 0.01, outputs=1).attrs["formulation"] == angular_speeds
    declared = {key for key, cls in ts.registered("formulation").items() if cls.declares("tables")}
    assert declared == {"relative", "hierarchical"}
