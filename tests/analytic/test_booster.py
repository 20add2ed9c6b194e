"""The separation of the booster against its three stages, integrated one after the other as planar motions.

Nothing moves out of the plane, so that each body has (x, y, θ). The nose is p = Aᵀ(θ_c) (x_b + A(φ) ρ_b − x_c) − ρ_c, seen from
the core; the rows of (1) that are held are differentiated twice by hand and solved together with Newton's and Euler's laws,

    [ M  −Gᵀ ] [ a ]   [ F ]
    [ G   0  ] [ λ ] = [ γ ]                                                                              (1)
"""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz")
MC, JC, MB, JB = 1.0e5, 4.0e6, 4400.0, 1.2e5
SEAT, NOSE, ENGINE = np.array([5.0, 1.4]), np.array([11.6, 0.0]), np.array([-8.0, 0.0])
M = np.diag([MC, MC, JC, MB, MB, JB])
START = np.array([0, 0, 0, *(SEAT - NOSE), 0, *np.zeros(6)])


def turned(angle, vector):
    """A vector of a body in world axes."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def across(vector):
    """The vector turned by 90 degrees: its rate over the angular velocity."""
    return np.array([-vector[1], vector[0]])


def loads(t, q, opened):
    """Applied forces on (x, y, θ) of core and booster."""
    F = np.zeros(6)
    F[:2] = turned(q[2], (9.4e5, 0))
    angle = np.deg2rad(3)
    pushes = [(ENGINE, 2.0e5 * np.exp(-t / 0.45) * np.array([np.cos(angle), np.sin(angle)]))]
    if opened is not None:
        pushes.append((NOSE, np.array([0, 2.0e4 * (1 - np.exp(-(t - opened) / 0.1))])))
    for at, force in pushes:
        F[3:5] += turned(q[5], force)
        F[5] += at[0] * force[1] - at[1] * force[0]
    return F


def rows(y):
    """Position of the nose in its seat, Jacobian and right-hand side, both directions of the core."""
    q, v = y[:6], y[6:]
    d, arm = q[3:5] - q[:2], turned(q[5], NOSE)
    reach = d + arm
    rate = v[3:5] - v[:2] + v[5] * across(arm)
    g, G, gamma = np.zeros(2), np.zeros((2, 6)), np.zeros(2)
    for k, normal in enumerate(np.eye(2)):
        n = turned(q[2], normal)
        g[k] = n @ reach - normal @ SEAT
        G[k] = [*-n, across(n) @ reach, *n, n @ across(arm)]
        gamma[k] = -(2 * v[2] * across(n) @ rate - v[2] ** 2 * n @ reach - v[5] ** 2 * n @ arm)
    return g, G, gamma


def solved(t, y, held, opened):
    """Accelerations and multipliers of the rows that are held: (1)."""
    _, G, gamma = rows(y)
    G, gamma, n = G[held], gamma[held], len(held)
    A = np.block([[M, -G.T], [G, np.zeros((n, n))]])
    x = np.linalg.solve(A, np.concatenate([loads(t, y[:6], opened), gamma]))
    return x[:6], x[6:]


def stage(t, y, held, opened, event):
    """Integrate until the event function vanishes, or to 4 s."""
    rate = lambda t, y: np.concatenate([y[6:], solved(t, y, held, opened)[0]])
    if event is not None:
        event.terminal, event.direction = True, -1
    done = solve_ivp(rate, (t, 4.0), y, method="DOP853", rtol=1e-13, atol=1e-13, max_step=0.02, events=event)
    assert done.status == (0 if event is None else 1)
    return done.t[-1], done.y[:, -1]


@functools.cache
def expected():
    """Times of the three events and the state at 4 s."""
    t1, y = stage(0.0, START, [0, 1], None, lambda t, y: -solved(t, y, [0, 1], None)[1][0])
    t2, y = stage(t1, y, [1], None, lambda t, y: rows(y)[0][0] + 0.005)
    t3, y = stage(t2, y, [1], t2, lambda t, y: solved(t, y, [1], t2)[1][0])
    return np.array([t1, t2, t3]), stage(t3, y, [], t2, None)[1]


@functools.cache
def run(formulation, tolerance=None, outputs=1):
    return ts.simulate(ts.cases.load("booster"), 4.0, outputs=outputs, formulation=formulation, tolerance=tolerance)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_events_happen_when_the_stages_end(formulation):
    data = run(formulation)
    assert data.event_name.values.tolist() == ["slide", "nozzle", "separation"]
    np.testing.assert_allclose(data.event_time.values, expected()[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_final_state_is_that_of_the_three_stages(formulation):
    end, (_, y) = run(formulation).isel(time=-1), expected()
    size = 70.0  # both have come so far [m], and are so fast [m/s], within some factor
    for k, body in enumerate(("core", "booster")):
        there = end.sel(body=body)
        angle, turn = y[3 * k + 2], y[6 + 3 * k + 2]
        np.testing.assert_allclose(there.position.values, [*y[3 * k : 3 * k + 2], 0], rtol=0, atol=1e-9 * size)
        np.testing.assert_allclose(there.velocity.values, [*y[6 + 3 * k : 8 + 3 * k], 0], rtol=0, atol=1e-9 * size)
        np.testing.assert_allclose(there.angular_velocity.values, [0, 0, turn], rtol=0, atol=1e-8)
        np.testing.assert_allclose(there.rotation.values[:2, 0], [np.cos(angle), np.sin(angle)], rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_times_of_events_do_not_depend_on_the_tolerance(formulation):
    times = np.array([run(formulation, tolerance).event_time.values for tolerance in (1e-10, 1e-11, 1e-12, 1e-13)])
    assert np.ptp(times, axis=0).max() < 1e-9


@functools.cache
def close():
    """A run with outputs close to the events, at them, and everywhere else."""
    near = 10.0 ** np.arange(-9, -2)
    around = [t + d for t in expected()[0] for d in (*-near, *near)]
    return run("absolute", None, tuple(np.unique([*np.linspace(0, 4, 401), *around])))


def test_the_contact_pushes_and_never_pulls():
    force = (
        -close().multiplier.sel(constraint="nose_x[0]").values,
        close().multiplier.sel(constraint="nose_y[0]").values,
    )
    for pushes, ends in zip(force, expected()[0][[0, 2]]):
        before = close().time.values < ends - 1e-9
        assert pushes[before].min() > 0
        assert np.abs(pushes[~before]).max() < 1e-3  # at the event it is rounding of forces of 1e5 N, then exactly zero
        assert np.all(pushes[close().time.values > ends + 1e-9] == 0)


def test_the_nose_stays_where_it_is_held_and_slides_back_otherwise():
    data = close()
    y = np.zeros((data.sizes["time"], 12))
    for k, body in enumerate(("core", "booster")):
        R = data.rotation.sel(body=body).values
        y[:, 3 * k : 3 * k + 2] = data.position.sel(body=body).values[:, :2]
        y[:, 3 * k + 2] = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    nose = np.array([rows(state)[0] for state in y])
    t1, t2, t3 = expected()[0]
    t = data.time.values
    assert np.abs(nose[t <= t1]).max() < 1e-12
    assert np.abs(nose[t <= t3 - 1e-9, 1]).max() < 1e-12
    sliding = (t > t1 + 1e-3) & (t < t3)
    assert np.all(np.diff(nose[sliding, 0]) < 0)
    assert np.interp(t2, t, nose[:, 0]) == pytest.approx(-0.005, abs=1e-7)


def test_momentum_changes_by_the_impulse_of_the_thrusts():
    """Between events by Gauss's quadrature of the applied forces at the outputs; the contact force cancels."""
    x, w = np.polynomial.legendre.leggauss(24)
    ends = [0.0, *expected()[0], 1.5, 2.2, 2.8, 3.4, 4.0]
    nodes = [(a + b) / 2 + (b - a) / 2 * x for a, b in zip(ends, ends[1:])]
    data = run("relative", None, tuple(np.unique(np.concatenate([*nodes, ends]))))
    mass = np.array([MC, MB])[None, :, None]
    momentum = (mass * data.velocity.values).sum(axis=1)
    t = data.time.values
    applied = np.zeros((len(t), 2))
    for i, now in enumerate(t):
        angles = [np.arctan2(R[1, 0], R[0, 0]) for R in data.rotation.values[i]]
        opened = expected()[0][1] if now > expected()[0][1] else None
        F = loads(now, np.array([0, 0, angles[0], 0, 0, angles[1]]), opened)
        applied[i] = F[:2] + F[3:5]
    for a, b, inner in zip(ends, ends[1:], nodes):
        at = np.searchsorted(t, inner)
        impulse = (b - a) / 2 * w @ applied[at]
        change = momentum[np.searchsorted(t, b)] - momentum[np.searchsorted(t, a)]
        np.testing.assert_allclose(change, [*impulse, 0], rtol=0, atol=1e-10 * np.abs(momentum).max())


def test_nothing_jumps_when_constraints_are_released():
    data = run("absolute")
    assert np.all(data.event_energy.values == 0) and np.all(data.event_impulse.values == 0)
    assert data.attrs["energy_balance_relative"] < 1e-11
    assert data.attrs["structures"] == 3
