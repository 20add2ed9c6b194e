"""Stiff states of the user in steps that solve equations of the mechanics: no step is cut, whatever the rate constant is, and the
result is that of the recursion or closed form, in every formulation."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

ALPHA = ("generalized-alpha", "generalized-alpha-2")
VARIATIONAL = ("variational", "variational4", "variational6")
FORMULATIONS = ("relative", "absolute", "woronetz", "hamiltonian", "hierarchical")
RATES = (1.0, 1e2, 1e4, 1e8)
pytestmark = pytest.mark.filterwarnings("ignore:.*energy balance is lost")  # fast currents are not resolved


def hinge(name, rate=0.0):
    """A body with a moment of inertia of 1e-3 on a hinge."""
    model = ts.Model(name)
    body = model.body("body", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    return model, model.add(ts.Revolute("hinge", model.ground, body, axis="z", start_rate=rate))


def following(k):
    """z' = −k (z − sin t), on its slow solution."""
    model, _ = hinge("following")
    model.state("z", rate=lambda z: -k * (z - ca.sin(model.time)), start=-k / (1 + k * k))
    return model


def slow(k, t):
    """The solution without its transient."""
    return (k * k * np.sin(t) - k * np.cos(t)) / (1 + k * k)


def linear(A, y):
    """(w, z)' = A (w, z) + (0, u) sin t, u = 1, 2, …: the rate w of a hinge and states z, from the values y."""
    model, joint = hinge("linear", y[0])
    w, drive = joint.rate[0], np.arange(1.0, len(A)) * ca.sin(model.time)
    z = model.state("z", rate=lambda z: ca.DM(A[1:, :1]) @ w + ca.DM(A[1:, 1:]) @ z + drive, start=tuple(y[1:]))
    model.add(ts.JointForce("drive", joint, 1e-3 * (A[0, 0] * w + ca.dot(ca.DM(A[0, 1:]), z))))
    return model


def motor(inductance, resistance=0.1, constant=0.5):
    """A of a motor: L i' = u − R i − K w,  J w' = K i, with J = 1e-3."""
    return np.array([[0.0, constant / 1e-3], [-constant / inductance, -resistance / inductance]])


def recursion(A, y, step, count, rho=None):
    """(w, z) after each step of generalised-α, or of trapezoids without ρ, every step solved exactly."""
    am, af, gamma = 0.0, 0.0, 0.5
    if rho is not None:
        am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 - am + af
    u, found = np.arange(len(A)), [np.array(y)]
    rate = memory = A @ y
    for k in range(1, count + 1):
        known = found[-1] + step * ((1 - gamma) * memory + gamma * (af * rate - am * memory) / (1 - am))
        c = step * gamma * (1 - af) / (1 - am)
        new = np.linalg.solve(np.eye(len(A)) - c * A, known + c * u * np.sin(k * step))
        before, rate = rate, (new - known) / c
        memory = ((1 - af) * rate + af * before - am * memory) / (1 - am)
        found.append(new)
    return np.array(found)


def cylinder(volume):
    """p' = E/V (Q sin t − c p − A v),  m v' = A p − k x − d v."""
    model = ts.Model("cylinder")
    body = model.body("body", mass=10.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    area, flow = 1e-2, 1e-4 * ca.sin(model.time)
    p = model.state("p", rate=lambda p: 1e9 / volume * (flow - 1e-9 * p - area * rail.rate[0]))
    model.add(ts.JointForce("push", rail, area * p))
    model.add(ts.TorsionSpring("spring", rail, stiffness=1e4, damping=10.0))
    return model


def uncut(model, until, method, step, **given):
    data = ts.simulate(model, until, outputs=round(until / step), method=method, step=step, **given)
    assert data.attrs["cut_steps"] == 0 and data.attrs["steps"] == round(until / step)
    return data


@pytest.mark.parametrize("method", ALPHA + VARIATIONAL)
@pytest.mark.parametrize("k", RATES)
def test_a_stiff_state_follows_its_closed_form(method, k):
    """Steps of 0.1 s. The variational ones of higher order have parts with −h, which are unstable only next to k h ≈ 3."""
    data = uncut(following(k), 2.0, method, 0.1)
    assert np.abs(data.z.values - slow(k, data.time.values)).max() < 2e-3 / max(1.0, k / 300)
    assert data.attrs["evaluations"] < 60 * data.attrs["steps"]


@pytest.mark.parametrize("method", ["generalized-alpha", "variational"])
@pytest.mark.parametrize("k", (1.0, 1e2, 1e8))
def test_the_order_is_two_whatever_the_rate(method, k):
    errors = []
    for step in (0.1, 0.05, 0.025):
        data = uncut(following(k), 2.0, method, step)
        errors.append(np.abs(data.z.values - slow(k, data.time.values))[-1])
    assert all(finer < 0.3 * coarse + 1e-10 for coarse, finer in zip(errors, errors[1:]))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    "method, rho", [("generalized-alpha", 0.9), ("generalized-alpha-2:rho=0.3", 0.3), ("variational", None)]
)
def test_states_coupled_with_the_motion_follow_the_recursion_of_the_method(method, rho, formulation):
    """A motor whose current starts at zero, far from its slow value, with time constants from 0.1 s to 1e-9 s."""
    for inductance in (1e-2, 1e-5, 1e-10):
        A = motor(inductance)
        data = uncut(linear(A, (0.0, 0.0)), 1.0, method, 0.1, formulation=formulation)
        exact = recursion(A, (0.0, 0.0), 0.1, 10, rho)
        found = np.column_stack([data.rate.values[:, 0], data["z"].values])
        assert (np.abs(found - exact).max(0) < 1e-9 * np.abs(exact).max(0)).all(), inductance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method, rho", [("generalized-alpha", 0.9), ("variational", None)])
def test_random_stable_systems_of_motion_and_states_follow_the_recursion(method, rho, seed):
    """Eigenvalues with negative real parts, from slow to 1e7 /s, damped and oscillating, in random directions."""
    rng = np.random.default_rng(seed)
    count = 2 + seed % 3
    S, W = rng.normal(size=(2, count, count))
    T = np.diag(10.0 ** rng.uniform(-1, 3.5, count))
    D = S @ S.T + 0.1 * np.eye(count)
    if method == "variational":  # damping of the motion itself acts on the mean velocity of a step
        D[0, :] = D[:, 0] = 0.0
    A = T @ (W - W.T - D) @ T
    y = rng.normal(size=count)
    data = uncut(linear(A, y), 1.0, method, 0.1)
    exact = recursion(A, y, 0.1, 10, rho)
    names = ["z"] if count == 2 else [f"z[{k}]" for k in range(count - 1)]
    found = np.column_stack([data.rate.values[:, 0], *[data[name].values for name in names]])
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()


@pytest.mark.parametrize("method", ["generalized-alpha", "generalized-alpha-2", "variational"])
def test_a_cylinder_with_little_oil_follows_radau5(method):
    """Hydraulic frequencies from 10 Hz to 1 MHz at steps of 0.02 s: the slow motion is of order 2."""
    for volume in (1e-1, 1e-5, 1e-11):
        exact = ts.simulate(cylinder(volume), 2.0, outputs=100, method="radau5", tolerance=1e-9).coordinate.values
        error = np.abs(uncut(cylinder(volume), 2.0, method, 0.02).coordinate.values - exact).max()
        assert error < 2e-3 * np.abs(exact).max(), volume


def fourbar(k):
    """A four-bar that hangs, with filters of a reaction and of an acceleration, and a force that follows a filter of a rate."""
    model = ts.Model("fourbar", gravity=(0, 0, -9.81))
    bodies = [model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), at=at) for name, at in
              (("a", (0.1, 0, -0.5)), ("b", (0.7, 0, -1.0)), ("c", (1.1, 0, -0.5)))]  # fmt: skip
    ends = [model.ground, *bodies, model.ground]
    points = (0, 0, 0), (0.2, 0, -1), (1.2, 0, -1), (1, 0, 0)
    joints = [
        model.add(ts.Revolute(f"j{n}", *ends[n : n + 2], point=point, axis="y")) for n, point in enumerate(points)
    ]
    model.state("force", rate=lambda z: k * (joints[3].reaction_force[0] - z))
    model.state("shake", rate=lambda z: k * (bodies[1].acceleration[0] - z))
    brake = model.state("brake", rate=lambda z: k * (2.0 * joints[0].rate[0] - z))
    model.add(ts.JointForce("brake_torque", joints[0], -brake))
    return model


@pytest.mark.parametrize("formulation", ["relative", "absolute", "hamiltonian"])
@pytest.mark.parametrize("method", ["generalized-alpha-2:rho=0.5", "variational"])
def test_filters_of_reactions_and_accelerations_in_loops_are_followed(method, formulation):
    exact = ts.simulate(fourbar(1e6), 1.0, outputs=50, method="radau5", tolerance=1e-9)
    data = uncut(fourbar(1e6), 1.0, method, 0.02, formulation=formulation)
    assert np.abs(data.coordinate.values - exact.coordinate.values).max() < 2e-3
    if method != "variational":  # trapezoids do not damp the transient of the start
        for name in ("force", "shake", "brake"):
            off = np.abs(data[name].values - exact[name].values)[25:].max()
            assert off < 0.02 * np.abs(exact[name].values).max(), name


@pytest.mark.parametrize("method", ["generalized-alpha", "variational"])
def test_a_nonlinear_stiff_state_follows_radau5(method):
    """Van der Pol's equation with μ = 1e6, on its slow branch."""
    model, _ = hinge("oscillator")
    rate = lambda y: ca.vertcat(y[1], 1e6 * ((1 - y[0] ** 2) * y[1] - y[0]))
    model.state("y", rate=rate, start=(2.0, -2 / 3))
    exact = ts.simulate(model, 0.5, outputs=1, method="radau5", tolerance=1e-9)
    data = uncut(model, 0.5, method, 0.01)
    assert abs(float(data["y[0]"][-1] - exact["y[0]"][-1])) < 1e-4


@pytest.mark.parametrize("method", ["generalized-alpha", "variational"])
def test_a_state_whose_rate_is_rounding_cuts_no_step(method):
    """A filter of a rate that a brace makes zero."""
    model = ts.Model("braced", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(0.31, 0.17, 0.23), rotation=(0.3, 0.2, 0.1))
    b = model.body("b", mass=1.5, inertia=(0.2, 0.1, 0.25), at=(0.77, -0.41, 0.13))
    model.add(ts.Spherical("ball", model.ground, a, point=(0.1, 0.05, -0.2)))
    joint = model.add(ts.Revolute("hinge", a, b, point=(0.52, -0.11, 0.3), axis=(0.36, 0.48, 0.8)))
    model.add(ts.Distance("brace", a, b, points=((0.2, 0.4, 0.1), (0.9, -0.2, 0.5))))
    model.state("heard", rate=lambda z: (joint.rate[0] - z) / 0.2)
    assert np.abs(uncut(model, 0.2, method, 0.002).heard.values).max() < 1e-9
