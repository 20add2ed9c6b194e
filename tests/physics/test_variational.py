"""Methods that claim so keep what mechanics keeps: the symplectic form, momenta, constraints, and the way back."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from stepping import Flow, order_of

import torsor as ts

METHODS = [key for key, cls in ts.registered("integrator").items() if cls.symplectic]
REVERSIBLE = [(key, map) for key, cls in ts.registered("integrator").items() for map in cls.reversible]


def drifting():
    """Two bodies in a joint, that nothing holds."""
    model = ts.Model("drifting")
    first = model.body(
        "first", mass=2.0, inertia=(0.3, 0.4, 0.5), angular_velocity=(0.4, 1.1, -0.3), velocity=(0.2, 0, 0)
    )
    second = model.body("second", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(1, 0, 0), angular_velocity=(1.0, 0.3, 2.0))
    model.add(ts.Spherical("joint", first, second, point=(0.6, 0.1, 0)))
    model.add(ts.SpringDamper("spring", first, second, points=((0, 0.5, 0), (1, 0.4, 0)), stiffness=40.0))
    return model


def rubbing():
    """A pendulum whose hinge brakes with its own reaction, damped, and driven by a state that follows it."""
    model = ts.Model("rubbing", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.12, 0.08), at=(0.6, 0, 0))
    tip = model.body("tip", mass=0.4, inertia=(0.02, 0.03, 0.02), at=(1.2, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0), start_rate=1.0))
    knee = model.add(ts.Revolute("knee", rod, tip, point=(1, 0, 0), axis=(0, 1, 0)))
    load = ca.sqrt(1 + ca.sumsqr(hinge.reaction_force))
    model.add(ts.JointForce("brake", hinge, value=-0.02 * load * ca.tanh(hinge.rate[0])))
    lag = model.state("lag", rate=lambda z: 3 * (hinge.coordinate[0] - z), start=0.2)
    model.add(ts.JointForce("drive", knee, value=2.0 * lag - 0.1 * knee.rate[0]))
    return model


def moved():
    """A rod that a drive turns on a ground that moves, with a ball joint at its end."""
    model = ts.Model("moved", gravity=(0, 0, -9.81))
    turning = ca.vertcat(0, 0.5 * ts.time, 0.4 * ca.sin(ts.time))
    base = model.add(ts.Ground("base", at=(0.3 * ca.sin(3 * ts.time), 0, 0.2 * ts.time), rotation=turning))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.12, 0.08), at=(0.6, 0, 0))
    tip = model.body("tip", mass=0.6, inertia=(0.03, 0.04, 0.03), at=(1.4, 0, 0))
    hinge = model.add(ts.Revolute("hinge", base, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Spherical("ball", rod, tip, point=(1, 0, 0)))
    model.add(ts.Drive("drive", hinge, 0.5 * ca.sin(2 * ts.time)))
    return model


def snaking():
    return ts.cases.load("snakeboard")


SYSTEMS = {
    "tree": (lambda: ts.cases.load("platform"), "relative", 0.01),
    "rotation": (lambda: ts.cases.load("heavy-top"), "relative", 2e-3),
    "constrained": (lambda: ts.cases.load("heavy-top"), "absolute", 2e-3),
    "loop": (lambda: ts.cases.load("four-bar", n=1), "relative", 0.05),
}
OTHERS = {
    "friction and states": (rubbing, "relative", 0.02),
    "friction, states, constraints": (rubbing, "absolute", 0.02),
    "rows at velocity level": (snaking, "relative", 0.02),
    "drive on a moving ground": (moved, "relative", 0.02),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("method", METHODS)
def test_the_step_is_symplectic(name, method):
    """What the Jacobian J of a step does to changes that the constraints allow leaves the canonical form Ω: Jᵀ Ω₁ J = Ω₀."""
    build, formulation, h = SYSTEMS[name]
    flow = Flow(build(), formulation, method)
    x = flow.steps(flow.start, h, 5)
    y = flow.step(x, h)
    before = flow.derivative(lambda change: flow.seen(x, flow.moved(x, change)))
    after = flow.derivative(lambda change: flow.seen(y, flow.step(flow.moved(x, change), h)))
    allowed = null_space(flow.derivative(lambda change: np.concatenate(flow.residuals(flow.moved(x, change)))))
    left, right = (J.T @ flow.form(at) @ J for J, at in ((before @ allowed, x), (after @ allowed, y)))
    assert np.abs(right - left).max() < 1e-11 * np.abs(left).max()


@pytest.mark.parametrize("name", SYSTEMS | OTHERS)
@pytest.mark.parametrize("method, map", REVERSIBLE)
def test_a_step_back_leads_to_where_it_began(name, method, map):
    """To rounding, also with dampers, friction under its own reaction, and states of the user."""
    build, formulation, h = (SYSTEMS | OTHERS)[name]
    flow = Flow(build(), formulation, method, map)
    x = flow.steps(flow.start, h, 3)
    back = flow.step(flow.step(x, h, 3 * h), -h, 4 * h)
    assert np.abs(back - x).max() < 1e-12 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("method", METHODS)
def test_momenta_of_what_nothing_holds_stay_to_rounding(method, formulation):
    data = ts.simulate(drifting(), 20.0, outputs=20, method=method, step=0.02, formulation=formulation)
    m, J = np.array([2.0, 1.0]), np.array([[0.3, 0.4, 0.5], [0.1, 0.2, 0.15]])
    linear = (m[:, None] * data.velocity.values).sum(1)
    spin = np.einsum("tbij,bj,tbj->tbi", data.rotation.values, J, data.angular_velocity.values)
    angular = (np.cross(data.position.values, m[:, None] * data.velocity.values) + spin).sum(1)
    assert np.ptp(linear, axis=0).max() < 1e-12 and np.ptp(angular, axis=0).max() < 1e-12
    assert data.position_drift_max < 1e-14 and data.velocity_drift_max < 1e-13


def test_the_energy_of_a_long_run_does_not_drift():
    """The error swings; a straight line through it rises by less than the line is known to, in a hundred thousand steps."""
    data = ts.simulate(ts.cases.load("heavy-top"), 200.0, outputs=4000, method="variational", step=2e-3)
    error = data.energy.values - data.energy.values[0]
    blocks = error.reshape(-1)[1:].reshape(40, -1).mean(1)  # of many turns each
    rise = np.polyfit(np.linspace(0, 1, 40), blocks, 1, cov=True)
    assert abs(rise[0][0]) < 4 * np.sqrt(rise[1][0, 0]) and abs(rise[0][0]) < 1e-2 * np.abs(error).max()
    explicit = ts.simulate(ts.cases.load("heavy-top"), 20.0, outputs=10, method="rkmk4", step=2e-3).energy.values
    assert abs(explicit[-1] - explicit[0]) > 10 * np.abs(error).max()


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # steps are long
def test_on_a_plane_it_is_the_method_of_verlet():
    """ẍ = −k x / m by  v½ = v + h/2 a(x),  x₁ = x + h v½,  v₁ = v½ + h/2 a(x₁)."""
    model = ts.Model("mass", gravity=(0, 0, 0))
    body = model.body("body", mass=2.0, inertia=(1, 1, 1), at=(1.5, 0, 0), velocity=(0, 0.7, 0))
    model.add(
        ts.SpringDamper("spring", model.ground, body, points=((0, 0, 0), (1.5, 0, 0)), stiffness=30.0, length=0.4)
    )
    data = ts.simulate(model, 4.0, outputs=40, method="variational", step=0.1, formulation="absolute")
    x, v, h = np.array([1.5, 0, 0]), np.array([0, 0.7, 0]), 0.1
    a = lambda x: -15.0 * (1 - 0.4 / np.linalg.norm(x)) * x
    for k in range(1, 41):
        half = v + h / 2 * a(x)
        x = x + h * half
        v = half + h / 2 * a(x)
        assert np.abs(data.position.values[k, 0] - x).max() < 1e-12
        assert np.abs(data.velocity.values[k, 0] - v).max() < 1e-11


def test_with_constraints_it_is_rattle():
    """A mass on a rod of length 1, by [hairer2006], eq. VII.1.26: λ from |x₁| = 1, μ from x₁·v₁ = 0."""
    model = ts.Model("rod", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.3, inertia=0, at=(1, 0, 0), velocity=(0, 0.5, 0.2))
    model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), (1, 0, 0))))
    data = ts.simulate(model, 2.0, outputs=40, method="variational", step=0.05, formulation="absolute")
    x, v, h, g = np.array([1.0, 0, 0]), np.array([0, 0.5, 0.2]), 0.05, np.array([0, 0, -9.81])
    for k in range(1, 41):
        free = x + h * v + h**2 / 2 * g
        b, c = free @ x, free @ free - 1
        lam = -b + np.sqrt(b * b - c)  # |free + lam x| = 1
        half = v + h / 2 * g + lam / h * x
        x = free + lam * x
        v = half + h / 2 * g
        v = v - (x @ v) * x
        assert np.abs(data.position.values[k, 0] - x).max() < 1e-12
        assert np.abs(data.velocity.values[k, 0] - v).max() < 1e-11


@pytest.mark.parametrize("name", ["loop", *OTHERS])
@pytest.mark.parametrize("method", ["variational", "variational4"])
def test_the_order_holds_with_loops_friction_states_and_velocity_constraints(name, method):
    build, formulation, _ = (SYSTEMS | OTHERS)[name]
    order = ts.registered("integrator")[method].order
    assert abs(order_of(method, build, formulation, (40, 80)) - order) < 0.15


def test_equations_without_a_solution_are_told():
    model = ts.Model("jump")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    model.add(ts.JointForce("sign", rail, value=-1e6 * ca.sign(rail.rate[0] - 0.5)))
    with pytest.raises(ts.RunError, match="Newton's method does not solve .* most of all in 'rail'"):
        ts.simulate(model, 1.0, method="variational", step=0.01, formulation="relative")


@pytest.mark.parametrize("method", ["variational", "generalized-alpha"])
def test_a_state_that_does_not_settle_is_told_with_its_name(method):
    model = ts.Model("relay")
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.state("charge", rate=lambda x: -1e6 * ca.sign(x - 0.5), start=1.0)
    with pytest.raises(ts.RunError, match="Newton's method does not solve .* most of all in state 'charge'"):
        ts.simulate(model, 1.0, method=method, step=0.01)


def trend(case, until, step, **way):
    """Change of the energy over a run by its trend, in parts of the largest kinetic energy."""
    data = ts.simulate(ts.cases.load(case), until, outputs=200, step=step, **way)
    slope = np.polyfit(data.time, data.energy - data.work, 1)[0]
    return abs(slope) * until / float(data.kinetic_energy.max())


@pytest.mark.parametrize("form", ["relative", "hamiltonian"])
def test_the_implicit_midpoint_rule_drifts_in_loops_and_not_in_trees(form):
    """docs/choose.md says so: projected steps are not symplectic; variational ones contain the constraints."""
    midpoint = {"method": "implicit-midpoint", "formulation": form}
    assert trend("chain", 5.0, 5e-3, **midpoint) < 1e-4
    assert trend("slider-crank", 10.0, 2e-3, **midpoint) > 5e-4
    assert trend("slider-crank", 10.0, 2e-3, method="variational", formulation="relative") < 1e-5
