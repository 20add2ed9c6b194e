"""Momenta: those of joints are derivatives of the kinetic energy, whatever the joint; they are signals in every formulation, and
state in the Hamiltonian ones."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.cases.platform import INERTIA, MASS
from torsor.elements.quantity import time
from torsor.formulations.algebra.lagrangian import Lagrangian
from torsor.formulations.relative import Relative

TREES = ("cart-pole", "chain", "free-body", "heavy-top", "manipulator", "panels", "platform", "three-link")
JOINTS = [(key, k) for key, cls in ts.registered("joint").items() for k in range(len(cls.variants)) if cls.dof]


def joined(key, k, turned):
    """Three bodies in a row on two joints of a kind, drawn one way or the other."""
    model = ts.Model("row")
    inertia, tilt = (0.3, 0.4, 0.5), (0.3, -0.5, 0.2)
    first = model.body("first", mass=2.0, inertia=inertia, at=(0.1, 0.2, 0.3), rotation=tilt)
    second = model.body("second", mass=1.0, inertia=inertia, at=(1.0, -0.4, 0.6), rotation=(-0.7, 0.1, 0.4))
    model.body("third", mass=0.5, inertia=inertia, at=(1.5, 0.4, 0.1))
    ends = {"first": second, "second": first} if turned else {"first": first, "second": second}
    joint = model.add(ts.registered("joint")[key].examples({**ends, "point": (0.7, 0.1, -0.2)})[k])
    model.add(ts.Spherical("beyond", second, model["third"], point=(1.2, 0.1, 0.3)))
    return model, joint


@pytest.mark.parametrize("turned", [False, True], ids=["first carries", "second carries"])
@pytest.mark.parametrize("key, k", JOINTS)
def test_the_momentum_of_a_joint_is_the_derivative_of_the_energy_by_its_velocity(key, k, turned):
    model, joint = joined(key, k, turned)
    joint.momentum  # asked for before anything is derived  # noqa: B018
    f = Relative(model)
    link = next(link for link in f.links if link.joint is joint)
    at = [f.offset[id(link)] + i for i in range(link.v.shape[0])]
    rate, found = (f.to_state_symbols(f.substitution.of(x)) for x in (joint.rate, joint.momentum))
    by_velocity = Lagrangian(f).momenta[at]
    compare = ca.Function("compare", [time, f.q, f.v, f.p], [by_velocity, ca.jacobian(rate, link.v).T @ found])
    random = np.random.default_rng(5)
    n, turns = f.v.shape[0], np.zeros(f.p.shape[0])
    q = np.array(f.manifold.identity()).ravel()
    move = ca.Function("move", [f.q, f.v], [f.manifold.retract(f.q, f.v, "exp")])
    for _ in range(3):
        q = move(q, 0.3 * random.standard_normal(n)).full().ravel()
        one, two = (x.full() for x in compare(0.0, q, random.standard_normal(n), turns))
        np.testing.assert_allclose(one, two, atol=1e-12)


def test_momenta_are_signals_in_every_formulation():
    """The first joint of the platform turns about the vertical, about which nothing acts."""
    model = ts.cases.load("platform")
    signals = {f"joint{k}": model[f"joint{k}"].momentum for k in (1, 2, 3)}
    signals |= {"linear": model["table3"].momentum, "angular": model["table3"].angular_momentum}
    runs = {
        key: ts.simulate(model, 0.5, outputs=5, tolerance=1e-12, formulation=key, signals=signals)
        for key in ("absolute", "relative", "hamiltonian", "hamiltonian-absolute")
    }
    first = runs.pop("absolute")
    table = first.sel(body="table3")
    for axis in range(3):
        np.testing.assert_allclose(first[f"linear[{axis}]"], 3.5 * table.velocity.values[:, axis], rtol=1e-14)
    spun = np.einsum("tij,j,tj->ti", table.rotation, (1.46e-2, 2.09e-2, 3.29e-2), table.angular_velocity)
    np.testing.assert_allclose([first[f"angular[{k}]"].values for k in range(3)], spun.T, atol=1e-14)
    assert np.ptp(first.joint1.values) < 1e-11 * abs(first.joint1.values[0]) and np.ptp(first.joint3.values) > 0.01
    for name in ("joint1", "joint2", "joint3", "linear[2]", "angular[0]"):
        for data in runs.values():
            np.testing.assert_allclose(data[name], first[name], atol=1e-10)
    assert np.ptp(runs["hamiltonian"].joint1.values) < 1e-15


def test_a_joint_that_closes_a_loop_has_no_momentum():
    model = ts.cases.load("four-bar", n=1)
    signals = {joint.name: joint.momentum for joint in model.joints}
    with pytest.raises(ts.ModelError, match="closes a loop.*can be those of joints that carry the tree: '"):
        ts.simulate(model, 0.1, formulation="absolute", signals=signals)


@pytest.mark.parametrize("case", TREES)
def test_trees_move_alike_on_velocities_and_on_momenta(case):
    """To what steps of 1e-13 add up to in a short time."""
    model = ts.cases.load(case)
    one, two = (ts.simulate(model, 0.1, outputs=4, tolerance=1e-13, formulation=f) for f in ("relative", "hamiltonian"))
    for name in ("position", "rotation", "velocity", "angular_velocity", "coordinate", "rate"):
        a, b = one[name].values, two[name].values
        assert np.abs(a - b).max(initial=0.0) < 1e-10 * (1 + np.abs(a).max(initial=0.0)), name


@pytest.mark.parametrize("form", ["relative", "hamiltonian", "absolute"])
def test_a_compiled_model_tells_its_momenta(form):
    """M v, in joint coordinates and in those of the bodies."""
    dynamics = ts.compile(ts.cases.load("platform"), formulation=form)
    v = np.random.default_rng(1).standard_normal(dynamics.v.size)
    bodies = [np.concatenate([3 * [m], J]) for m, J in zip(MASS, INERTIA)]
    expected = np.concatenate(bodies) * v if form == "absolute" else dynamics.mass_matrix() @ v
    np.testing.assert_allclose(dynamics.momenta(v=v), expected, atol=1e-14)
    with pytest.raises(ts.OptionError, match="v must have"):
        dynamics.momenta(v=[1.0])
