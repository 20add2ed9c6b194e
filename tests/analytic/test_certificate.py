"""The measured error of a result against its true error: closed forms and independent integrations, over all tolerances."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_car import symmetric as car
from test_cart_pole import independent as cart_pole
from test_chain import independent as chain
from test_events_impacts import ball, bounces
from test_four_bar import crank_angle
from test_free_body import body_rates
from test_heavy_top import ARM, START, euler_equations, matrix
from test_manipulator import independent as manipulator
from test_manipulator import motion
from test_panels import HINGES
from test_panels import independent as panels
from test_pendulum import angle
from test_platform import independent as platform
from test_slider_crank import independent as slider_crank
from test_snakeboard import independent as snakeboard

import torsor as ts

FACTOR = 3  # by which prediction and truth may differ
ROUNDING = 1e-13  # below this, relative to the values, an error is rounding of the references too
TOLERANCES = [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]


def swing(times):
    theta, rate = angle(times)
    return {"position": np.stack([np.sin(theta), -np.cos(theta), 0 * theta], axis=-1)[:, None]}


def tumbling(times):
    return {"angular_velocity": body_rates(times)[:, None]}


def top(times):
    start = np.concatenate([[1.0, 0, 0, 0], START])
    found = solve_ivp(euler_equations, (0, times[-1]), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times)
    R = np.array([matrix(q) for q in found.y[:4].T])
    return {"position": (R @ ARM)[:, None], "rotation": R[:, None]}


def bars(times):
    theta, rate = crank_angle(2, times)
    return {"coordinate": (theta - np.pi / 2, ["A0", "A1", "A2"]), "rate": (rate, ["A0", "A1", "A2"])}


def links(times):
    q, v = chain(3, times)
    return {"coordinate": q, "rate": v}


def crank(times):
    q, v, _ = slider_crank(times)
    return {"coordinate": (q, ["A"]), "rate": (v, ["A"])}


def along(independent, *names):
    """Joint coordinates and rates by name, as an independent integration has them, in its order."""

    def truth(times):
        q, v = independent(times)
        return {"coordinate": (q, list(names)), "rate": (v, list(names))}

    return truth


def board(times):
    q, v = snakeboard(times)
    names = ["plane[2]", "pin_A", "pin_C", "pin_D"]
    return {"coordinate": (q[:, 2:], names), "rate": (v[:, 2:], names)}


def wings(times):
    q, _ = panels(times)
    return {"coordinate": (q[:, 3:], HINGES)}


def bounce(times):
    q, _ = car().motion([0.95, 0.0], [0, 0], times, accuracy=1e-12)
    return {"coordinate": (q[:, 1], ["right_pivot"])}


def squeezed(times):
    return {"coordinate": (np.array([15.810771195]), ["O"])}  # published, at the end


def arm(times):
    return motion(manipulator(), times)


CASES = {  # how long, how many outputs, truth by variable
    "pendulum": (10.0, 50, swing), "free-body": (20.0, 50, tumbling), "heavy-top": (1.0, 20, top), "four-bar": (10.0, 50, bars),
    "chain": (1.0, 10, links), "slider-crank": (5.0, 20, crank), "cart-pole": (3.0, 20, along(cart_pole, "track", "hinge")),
    "platform": (1.0, 10, along(platform, "joint1", "joint2", "joint3")), "snakeboard": (1.0, 10, board),
    "manipulator": (1.0, 10, along(arm, *(f"link{k}.motor.shaft" for k in (1, 2, 3)))), "panels": (2.0, 10, wings),
    "car": (1.0, 10, bounce), "andrews": (0.03, 1, squeezed),
}  # fmt: skip
MANY = [
    "pendulum",
    "free-body",
    "heavy-top",
    "four-bar",
    "chain",
    "slider-crank",
]  # at all tolerances; the others at two
OPTIONS = {"chain": {"n": 3}}


def true_error(data, name, exact):
    """Largest error over time, of the joint coordinates that are known in closed form, or of everything."""
    if isinstance(exact, tuple):
        values, names = exact
        part = data.sel(joint_coordinate=names).isel(time=slice(-len(values), None))
        values = values.reshape(len(values), -1)
        return np.abs(part[name].values - values).max(), float(part[f"{name}_error"].max())
    change = np.abs(data[name].values - exact)
    if name == "rotation":
        return (np.linalg.norm(change, axis=(-2, -1)) / np.sqrt(2)).max(), float(data.rotation_error.max())
    return change.max(), float(data[f"{name}_error"].max())


def agrees(data, truth):
    for name, exact in truth.items():
        true, told = true_error(data, name, exact)
        floor = ROUNDING * np.abs(data[name].values).max()
        assert told > 0
        assert max(true, told) < 100 * floor or true / FACTOR < told < true * FACTOR, (
            f"{name}: {true:.2e}, told {told:.2e}"
        )


@pytest.fixture(scope="module")
def truths():
    return {case: truth(np.linspace(0, until, n + 1)) for case, (until, n, truth) in CASES.items()}


@pytest.mark.parametrize(
    "case, tolerance", [(case, x) for case in CASES for x in (TOLERANCES if case in MANY else (1e-6, 1e-8))]
)
def test_the_measured_error_is_the_true_one(case, tolerance, truths):
    until, n, _ = CASES[case]
    model = ts.cases.load(case, **OPTIONS.get(case, {}))
    agrees(ts.simulate(model, until, outputs=n, tolerance=tolerance, certify=True), truths[case])


MANNERS = [
    *[{"formulation": f, "tolerance": tau} for f in ("relative", "woronetz") for tau in (1e-5, 1e-8)],
    *[{"method": m, "step": h} for m, h in (("rkmk4", 5e-3), ("kutta3", 5e-3), ("heun", 2e-3), ("midpoint", 2e-3))],
    {"method": "lie-euler", "step": 2e-5, "formulation": "absolute"},
    {"method": "rkmk54", "step": 0.005},
    {"method": "rkmk4", "step": 1e-2, "formulation": "relative", "map": "cayley"},
    *[{"tolerance": 1e-7, "projection": p} for p in ("none", "baumgarte", "partition")],
    {"tolerance": 1e-7, "map": "cayley"},
]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_the_measured_error_is_the_true_one_in_every_manner(manner, truths):
    until, n, _ = CASES["slider-crank"]
    agrees(ts.simulate(ts.cases.load("slider-crank"), until, outputs=n, certify=True, **manner), truths["slider-crank"])


@pytest.mark.parametrize("outputs", [1000, [0.003, 1.0, 1.0000001, 10.0]], ids=["many", "few"])
@pytest.mark.parametrize("manner", [{"tolerance": 1e-6}, {"method": "rkmk4", "step": 0.02}], ids=str)
def test_steps_that_outputs_shorten_are_measured_too(outputs, manner):
    """Where outputs are closer than the steps that a tolerance allows, a smaller tolerance alone would change nothing."""
    data = ts.simulate(ts.cases.load("pendulum"), 10.0, outputs=outputs, certify=True, **manner)
    agrees(data, swing(data.time.values))


@pytest.mark.parametrize("tolerance", TOLERANCES[::2])
@pytest.mark.parametrize("e", [0.5, 0.9])
def test_errors_of_event_times_are_measured(e, tolerance):
    data = ts.simulate(ball(), 1.5, outputs=7, tolerance=tolerance, parameters={"e": e}, certify=True)
    exact = bounces(e, 1.5)[0][: data.sizes["event"]]
    closed = data.sizes["event"] - (e == 0.5)  # the last one stands for all that are left, and has their time
    true = np.abs(data.event_time.values - exact)[:closed]
    assert np.all(true < FACTOR * data.event_time_error.values[:closed] + 1e-12)
    assert data.attrs["event_sequence"] == "the same in both runs" and data.attrs["events_unmatched"] == 0
