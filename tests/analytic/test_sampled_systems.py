"""Controllers on a mass that they push: sampled linear systems have closed forms, by matrix exponentials."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import torsor as ts

MASS, KP, KD = 2.0, 4.0, 1.5


def pd(t, u):
    return -KP * u[0] - KD * u[1]


def slide(period, delay=0.0, function=pd, **options):
    """A mass on a slide, 1 m from where a controller wants it."""
    model = ts.Model("slide")
    mass = model.body("mass", mass=MASS, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis="x", start=1.0))
    seen = [rail.coordinate, rail.rate]
    pilot = model.add(ts.Controller("pilot", period, seen, ["force"], function, delay=delay, **options))
    model.add(ts.JointForce("motor", rail, pilot["force"]))
    return model


def held(span):
    """State (x, v, f) after a time in which the force f is held."""
    return expm(span * np.array([[0, 1, 0], [0, 0, 1 / MASS], [0, 0, 0]]))


def closed_form(period, delay, steps, start=0.0):
    """x and v at the samples: between them the force of an earlier sample is held, and changes once."""
    whole = int(delay / period + 1e-9)
    rest = delay - whole * period
    line, states = [start] * (whole + 1), [np.array([1.0, 0.0])]
    for _ in range(steps):
        x = states[-1]
        line = [-KP * x[0] - KD * x[1], *line]
        x = (held(rest) @ [*x, line[whole + 1]])[:2]
        x = (held(period - rest) @ [*x, line[whole]])[:2]
        states.append(x)
    return np.array(states)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("delays", [0.0, 0.25, 0.4, 1.0, 2.0, 2.7])
def test_a_sampled_law_follows_its_closed_form(delays, compiled):
    """Delays of no, of whole and of broken numbers of periods."""
    period, steps = 0.1, 40
    model = slide(period, delays * period, compiled=compiled, start=0.5)
    data = ts.simulate(model, steps * period, outputs=steps)
    found = np.column_stack([data.coordinate.values[:, 0], data.rate.values[:, 0]])
    np.testing.assert_allclose(found, closed_form(period, delays * period, steps, 0.5), atol=2e-11)
    assert data.sizes["event"] == 0


def test_the_eigenvalues_of_the_sampled_system_tell_the_period_at_which_it_becomes_unstable():
    """x_{k+1} = Φ x_k: it decays where all eigenvalues of Φ lie within the circle, by the largest of them in a sample."""
    grows = []
    for period in (0.3, 0.9, 1.1, 1.6):
        E = held(period)
        loop = E[:2, :2] + np.outer(E[:2, 2], [-KP, -KD])
        largest = np.abs(np.linalg.eigvals(loop)).max()
        data = ts.simulate(slide(period), 60 * period, outputs=60)
        x = np.hypot(data.coordinate.values[:, 0], data.rate.values[:, 0])
        assert (x[-1] < 1e-3) if largest < 0.9 else (x[-1] > 10) if largest > 1.1 else True
        grows.append(largest > 1)
    assert set(grows) == {False, True}


def test_a_law_in_python_and_the_same_law_compiled_give_the_same_motion():
    """With a state: the sum of the position, limited. Compiled arithmetic may round products and sums at once."""

    def law(t, u, s):
        s = s + 0.1 * u["x"]
        return {"force": -KP * u["x"] - KD * u["v"] - ca.fmin(s, 0.3) * np.cos(t)}, s

    found = []
    for compiled in (False, True):
        model = slide(0.1)
        rail = model.joints[0]
        seen = {"x": rail.coordinate[0], "v": rail.rate[0]}
        law_ = ts.Controller("second", 0.1, seen, "force", law, state=0.0, compiled=compiled)
        model.add(ts.JointForce("more", rail, model.add(law_)["force"]))
        data = ts.simulate(model, 2.0, outputs=20)
        found.append((data.coordinate.values, data["second.force"].values, data["second.state"].values))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.diff(found[0][2]), 0.1 * found[0][0][1:, 0], atol=1e-15)


def test_outputs_may_be_expressions():
    model = ts.Model("slide")
    mass = model.body("mass", mass=MASS, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis="x", start=1.0))
    law = {"force": -KP * rail.coordinate - KD * rail.rate}
    pilot = model.add(ts.Controller("pilot", period=0.1, outputs=law))
    model.add(ts.JointForce("motor", rail, pilot["force"]))
    data = ts.simulate(model, 2.0, outputs=20)
    np.testing.assert_allclose(data.coordinate.values[:, 0], closed_form(0.1, 0.0, 20)[:, 0], atol=2e-11)


def chain(seed):
    """Masses on rails, tied by springs and dampers, that two controllers of different periods, phases and delays push: everything
    is drawn. Returns the model, its masses, K, C, and of each controller its period, phase, delay, gains and the mass that it
    pushes."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 4))
    model, masses, rails = ts.Model("chain"), draw.uniform(0.5, 3, n), []
    for k in range(n):
        body = model.body(f"mass{k}", mass=masses[k], inertia=(1, 1, 1), at=(0, k, 0))
        rails.append(model.add(ts.Prismatic(f"rail{k}", model.ground, body, axis="x", start=draw.uniform(-1, 1))))
    K, C = (a @ a.T for a in (draw.uniform(0, 2, (n, n)), draw.uniform(0, 0.5, (n, n))))
    q, v = (ca.vertcat(*x) for x in zip(*[(rail.coordinate, rail.rate) for rail in rails]))
    for k, force in enumerate(ca.vertsplit(-ca.SX(K) @ q - ca.SX(C) @ v)):
        model.add(ts.JointForce(f"ties{k}", rails[k], force))
    pilots = []
    for k in range(2):
        period = draw.uniform(0.05, 0.4)
        phase, delay = draw.choice([0, 0.3, 1.0, 2.6]) * period, draw.choice([0, 0.5, 1.0, 2.3]) * period
        gains, pushed = draw.uniform(-1, 1, 2 * n), int(draw.integers(n))
        law = lambda t, u, gains=gains: gains @ u
        pilot = ts.Controller(f"pilot{k}", period, [q, v], ["force"], law, delay=delay, compiled=bool(k), phase=phase)
        model.add(ts.JointForce(f"push{k}", rails[pushed], model.add(pilot)["force"]))
        pilots.append((period, phase, delay, gains, pushed))
    return model, masses, K, C, pilots


def step_by_step(masses, K, C, pilots, start, until):
    """(q, v) at the end: from instant to instant by matrix exponentials, forces held in between."""
    n = len(masses)
    A = np.zeros((2 * n + 2, 2 * n + 2))
    A[:n, n : 2 * n], A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n] = np.eye(n), -K / masses[:, None], -C / masses[:, None]
    for k, (*_, pushed) in enumerate(pilots):
        A[n + pushed, 2 * n + k] = 1 / masses[pushed]
    count = lambda period: range(int(until / period) + 1)
    samples = [(phase + i * period, 0, k) for k, (period, phase, *_) in enumerate(pilots) for i in count(period)]
    x, t, instants = np.concatenate([start, np.zeros(n), [0.0, 0.0]]), 0.0, sorted(samples)
    while instants:
        now, _, what = instants.pop(0)
        if now > until:
            break
        x, t = expm((now - t) * A) @ x, now
        if isinstance(what, tuple):  # a force takes effect
            x[2 * n + what[0]] = what[1]
        else:
            _, _, delay, gains, _ = pilots[what]
            instants = sorted([*instants, (now + delay, 1, (what, float(gains @ x[: 2 * n])))], key=lambda i: i[:2])
    return (expm((until - t) * A) @ x)[: 2 * n]


@pytest.mark.parametrize("seed", range(4))
def test_controllers_of_any_periods_phases_and_delays_move_linear_systems_as_matrix_exponentials_say(seed):
    model, masses, K, C, pilots = chain(seed)
    data = ts.simulate(model, 3.0, outputs=3)
    expected = step_by_step(masses, K, C, pilots, data.coordinate.values[0], 3.0)
    found = np.concatenate([data.coordinate.values[-1], data.rate.values[-1]])
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
