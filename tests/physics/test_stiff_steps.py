"""Steps of implicit methods on stiff models: they are solved as they were asked for, whatever the stiffness is, and cost no more
than those of SciPy; states whose rate is rounding cost nothing."""

import warnings

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.look.summary import summary

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*energy balance is lost"
)  # fast oscillations are damped, or not resolved
STIFFNESS = (1e2, 1e6, 1e10, 1e12, 1e14)
STEP, STEPS = 0.01, 4


def spring(stiffness, damping=0.0):
    model = ts.Model("spring")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x", start=1.0))
    model.add(ts.TorsionSpring("spring", rail, stiffness=stiffness, damping=damping))
    return model


def recursion(stiffness, rho):
    """Positions of generalised-α for q'' = −k q, each step solved exactly."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 - am + af
    beta = 0.25 * (gamma + 0.5) ** 2
    q, v, accel, found = 1.0, 0.0, -stiffness, []
    a = accel
    for _ in range(STEPS):
        known = q + STEP * v + STEP**2 * ((0.5 - beta) * a + beta * (af * accel - am * a) / (1 - am))
        q = known / (1 + STEP**2 * beta * (1 - af) / (1 - am) * stiffness)
        new = ((1 - af) * -stiffness * q + af * accel - am * a) / (1 - am)
        v, accel, a = v + STEP * ((1 - gamma) * a + gamma * new), -stiffness * q, new
        found.append(q)
    return np.array(found)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
@pytest.mark.parametrize("rho", [0.5, 0.9])
@pytest.mark.parametrize("method", ["generalized-alpha", "generalized-alpha-2"])
def test_generalised_alpha_on_a_linear_spring_is_its_recursion(method, rho, formulation):
    """Accelerations of size k cancel in positions of size 1: what is left is their rounding, 1e-16 k h²."""
    for k in STIFFNESS:
        given = {"outputs": STEPS, "step": STEP, "method": f"{method}:rho={rho}", "formulation": formulation}
        data = ts.simulate(spring(k), STEPS * STEP, **given)
        assert data.attrs["steps"] == STEPS and data.attrs["cut_steps"] == 0
        off = np.abs(data.position.values[1:, 0, 0] - recursion(k, rho)).max()
        assert off < 1e-12 + 1e-15 * k * STEP**2, (k, off)


def stability(method, A):
    """R(A) of a step on y' = A y/h."""
    one = np.eye(len(A))
    if method == "implicit-midpoint":
        return np.linalg.solve(one - A / 2, one + A / 2)
    return np.linalg.solve(one - 3 / 5 * A + 3 / 20 * A @ A - A @ A @ A / 60, one + 2 / 5 * A + A @ A / 20)


@pytest.mark.parametrize("formulation", ["relative", "absolute", "hamiltonian"])
@pytest.mark.parametrize("method", ["radau5", "implicit-midpoint"])
def test_a_fixed_step_on_a_linear_spring_is_its_stability_function(method, formulation):
    for k in STIFFNESS:
        for damping in (0.0, 2 * np.sqrt(k)):
            R = stability(method, STEP * np.array([[0, 1], [-k, -damping]]))
            data = ts.simulate(spring(k, damping), STEP, outputs=1, step=STEP, method=method, formulation=formulation)
            assert data.attrs["steps"] == 1 and data.attrs["cut_steps"] == 0
            assert abs(float(data.position[-1, 0, 0]) - R[0, 0]) < 1e-9, (k, damping)


def following(rate):
    """A state z that follows cos x with this rate; x = t. Prothero and Robinson's test."""
    model = ts.Model("following")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x", start_rate=1.0))
    x, v = rail.coordinate[0], rail.rate[0]
    model.state("z", rate=lambda z: -rate * (z - ca.cos(x)) - ca.sin(x) * v, start=1.0)
    return model


@pytest.mark.parametrize("method", ["radau5", "bdf", "implicit-midpoint"])
@pytest.mark.parametrize("rate", [1e2, 1e4, 1e8, 1e12])
def test_a_stiff_state_is_followed_with_fixed_and_with_free_steps(method, rate):
    fixed = ts.simulate(following(rate), 2.0, outputs=1, method=method, step=0.1)
    assert fixed.attrs["steps"] == 20 and fixed.attrs["cut_steps"] == 0
    assert abs(float(fixed.z[-1]) - np.cos(2.0)) < 2e-3
    if method != "implicit-midpoint":
        free = ts.simulate(following(rate), 2.0, outputs=1, method=method, tolerance=1e-8)
        assert abs(float(free.z[-1]) - np.cos(2.0)) < 1e-6 and free.attrs["steps"] < 400


def test_chemistry_of_three_rates_follows_scipy():
    """Robertson's reactions: rates from 0.04 to 3e7, a state that starts at zero and stays small."""
    rates = lambda y: (
        -0.04 * y[0] + 1e4 * y[1] * y[2],
        0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
        3e7 * y[1] ** 2,
    )
    exact = solve_ivp(lambda t, y: rates(y), (0, 40), (1, 0, 0), method="Radau", rtol=1e-10, atol=1e-14).y[:, -1]
    model = ts.Model("chemistry")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    model.state("y", rate=lambda y: ca.vertcat(*rates(y)), start=(1.0, 0.0, 0.0))
    for method in ("radau5", "bdf"):
        data = ts.simulate(model, 40.0, outputs=1, method=method, tolerance=1e-6)
        found = np.array([float(data[f"y[{k}]"][-1]) for k in range(3)])
        assert np.abs(found / exact - 1).max() < 1e-4 and data.attrs["steps"] < 400, method


def braced(state):
    """A hinge that a brace locks: its rate is rounding, and a filter of it likewise."""
    model = ts.Model("braced", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(0.31, 0.17, 0.23), rotation=(0.3, 0.2, 0.1))
    b = model.body("b", mass=1.5, inertia=(0.2, 0.1, 0.25), at=(0.77, -0.41, 0.13))
    model.add(ts.Spherical("ball", model.ground, a, point=(0.1, 0.05, -0.2)))
    hinge = model.add(ts.Revolute("hinge", a, b, point=(0.52, -0.11, 0.3), axis=(0.36, 0.48, 0.8)))
    model.add(ts.Distance("brace", a, b, points=((0.2, 0.4, 0.1), (0.9, -0.2, 0.5))))
    if state:
        model.state("heard", rate=lambda z: (hinge.rate[0] - z) / 0.2)
    return model


def row(state):
    """A row of masses on springs, pulled at its end: the first one has not moved yet, and its way is the state."""
    model = ts.Model("row")
    bodies = [model.body(f"b{k}", mass=1000.0, inertia=(1, 1, 1), at=(17.0 * k, 0, 0)) for k in range(8)]
    rails = [model.add(ts.Prismatic(f"r{k}", model.ground, body, axis="x")) for k, body in enumerate(bodies)]
    for k in range(7):
        model.add(ts.SpringDamper(f"s{k}", bodies[k], bodies[k + 1], stiffness=5e6, damping=5e3))
    model.add(ts.JointForce("pull", rails[-1], 2e4))
    if state:
        model.state("way", rate=bodies[0].velocity[0])
    return model


@pytest.mark.parametrize("build, until", [(braced, 0.75), (row, 0.02)])
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("method", ["rkmk54", "radau5", "bdf"])
def test_a_state_whose_rate_is_rounding_costs_no_steps(build, until, formulation, method):
    given = {"outputs": 2, "formulation": formulation, "method": method}
    without, with_it = (ts.simulate(build(state), until, **given) for state in (False, True))
    assert with_it.attrs["steps"] <= 1.5 * without.attrs["steps"] + 100
    assert np.abs(with_it.position.values[-1] - without.position.values[-1]).max() < 1e-7


def test_a_fixed_step_that_is_cut_is_counted_and_told():
    """The variational step is stable up to h ω = 2: beyond it the motion grows until its equations have no solution."""
    with pytest.warns(
        ts.AccuracyWarning, match=r"of the steps of 0\.01 s were cut into shorter ones, since Newton's method"
    ):
        data = ts.simulate(spring(1e6), 0.2, outputs=1, step=STEP, method="variational", formulation="relative")
    assert data.attrs["cut_steps"] > 0 and data.attrs["steps"] > 20
    assert f"{data.attrs['cut_steps']} cut into parts" in summary(data)


@pytest.mark.parametrize("method", ["radau5", "bdf", "implicit-midpoint", "generalized-alpha"])
def test_no_message_names_an_infinite_time(method):
    """A force without a value beyond x = 0.5, in a run with an event."""
    model = ts.Model("edge")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x", start_rate=1.0))
    model.add(ts.JointForce("root", rail, -ca.sqrt(0.5 - rail.coordinate[0])))
    model.when(rail.coordinate[0] >= 0.6, ts.end(), name="there")
    with pytest.raises(ts.RunError) as error:
        ts.simulate(model, 2.0, outputs=1, method=method, step=0.05)
    assert "inf" not in str(error.value)


@pytest.mark.parametrize("method, theirs", [("radau5", "Radau"), ("bdf", "BDF")])
def test_a_pendulum_on_a_hard_spring_costs_no_more_than_in_scipy(method, theirs):
    k, c, tolerance = 1e8, 1e4, 1e-6

    def rates(t, y):
        x, v = y[:2], y[2:]
        length = np.linalg.norm(x)
        e = x / length
        return np.concatenate([v, -(k * (length - 1) + c * (v @ e)) * e + [0, -9.81]])

    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(1, 0, 0))
    model.add(ts.SpringDamper("spring", model.ground, body, points=((0, 0, 0), (1, 0, 0)), stiffness=k, damping=c))
    other = solve_ivp(rates, (0, 1), [1, 0, 0, 0], method=theirs, rtol=tolerance, atol=tolerance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = ts.simulate(model, 1.0, outputs=1, method=method, tolerance=tolerance, formulation="absolute")
    assert np.abs(data.position.values[-1, 0, [0, 2]] - other.y[:2, -1]).max() < 3e-5
    assert data.attrs["evaluations"] < 1.5 * other.nfev
