"""How a step is looked through: every passage of a watched function through zero is found, however long the steps are.

All motions here are exact in steps of any length, so that nothing but the watched function tells how finely to look.
"""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz")


def slider():
    """A body that moves along x as x = t."""
    model = ts.Model("slider")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    joint = model.add(ts.Prismatic("joint", model.ground, body, axis=(1, 0, 0), start_rate=1.0))
    return model, joint.coordinate[0]


def found(model, until, **options):
    data = ts.simulate(model, until, **options)
    return data.event_time.values


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_ticks_of_a_clock_are_all_heard(formulation):
    """Falls of cos(2π f t) at (k + 1/4)/f, whatever the outputs, the steps and the frequency are."""
    model, _ = slider()
    f = model.parameter("f", 1.0)
    model.when(ts.falling(ca.cos(2 * np.pi * f * ts.time)), ts.record("f", f), name="tick")
    ways = [{"outputs": n} for n in (1, 2, 10, 40)] + [{"outputs": 4, "method": "rkmk4", "step": h} for h in (0.1, 1.0)]
    for frequency in (0.3, 1.0, 10.0, 37.0):
        for way in ways:
            times = found(model, 4.0, formulation=formulation, parameters={"f": frequency}, **way)
            exact = (np.arange(np.ceil(4 * frequency - 0.25)) + 0.25) / frequency
            np.testing.assert_allclose(times, exact, rtol=0, atol=1e-12, err_msg=f"{frequency} Hz, {way}")


def test_a_clock_that_runs_faster_and_faster_is_followed():
    model, x = slider()
    model.when(ts.crossing(ca.sin(2 * np.pi * x**2) + 0.5 * ca.sin(6 * np.pi * x**2)), ts.record("x", x), name="tick")
    times = found(model, 7.9, outputs=1)
    np.testing.assert_allclose(times, np.sqrt(np.arange(1, 125) / 2), rtol=0, atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_passages_of_a_wheel_that_turns_fast_are_all_seen(formulation):
    """Ten turns a second, freely: a point of the rim, the hub's orientation, and a point of a body that turns on it."""
    model = ts.Model("wheel")
    wheel = model.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    top = model.body("top", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(5, 0, 0), angular_velocity=(0, 0, 20 * np.pi))
    model.add(ts.Revolute("axle", model.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1), start_rate=20 * np.pi))
    model.when(wheel.position[0] <= 0, ts.record("y", wheel.position[1]), name="pass")
    model.when(ts.falling(top.rotation[0, 0]), ts.record("y", wheel.position[1]), name="turn")
    for outputs in (1, 20, 50):
        data = ts.simulate(model, 5.0, outputs=outputs, formulation=formulation)
        for name in ("pass", "turn"):
            times = data.event_time.values[data.event_name.values == name]
            np.testing.assert_allclose(
                times, (np.arange(50) + 0.25) / 10, rtol=0, atol=1e-8, err_msg=f"{name}, {outputs}"
            )


WINDOWS = {
    "and": lambda wave, x, eps: ca.logic_and(wave >= 1 - eps, x <= 50),
    "or": lambda wave, x, eps: ca.logic_or(wave >= 1 - eps, x >= 50),
    "not": lambda wave, x, eps: ca.logic_not(ca.logic_or(wave < 1 - eps, x > 50)),
    "alone": lambda wave, x, eps: wave >= 1 - eps,
    "size": lambda wave, x, eps: ca.fabs(wave - 1) <= eps,
}


@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_open_however_narrow_they_are(kind):
    """sin(40π t) ≥ 1 − ε opens at (asin(1 − ε) + 2π k)/40π."""
    model, x = slider()
    eps = model.parameter("eps", 1e-3)
    model.when(WINDOWS[kind](ca.sin(40 * np.pi * ts.time), x, eps), ts.record("x", x), name="window")
    for width in (1e-1, 1e-3, 1e-6, 1e-9):
        for way in ({"outputs": 1}, {"outputs": 7}, {"outputs": 3, "method": "rkmk4", "step": 0.05}):
            times = found(model, 3.0, parameters={"eps": width}, **way)
            exact = (np.arcsin(1 - width) + 2 * np.pi * np.arange(60)) / (40 * np.pi)
            np.testing.assert_allclose(times, exact, rtol=0, atol=1e-9, err_msg=f"ε = {width}, {way}")


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6])
def test_what_is_false_for_a_moment_becomes_true_again(width):
    """sin(2π t) ≤ 1 − ε is false for a moment in each period, and fires where that is over."""
    model, x = slider()
    model.when(ca.sin(2 * np.pi * ts.time) <= 1 - width, ts.record("x", x), name="true")
    times = found(model, 5.0, outputs=2)
    exact = (np.pi - np.arcsin(1 - width)) / (2 * np.pi) + np.arange(5)
    np.testing.assert_allclose(times, [0, *exact], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("condition", "exact"),
    [
        (lambda x: ca.logic_and(x >= 3.3, x <= 3.3 + 1e-9), [3.3]),
        (lambda x: ca.exp(-(((x - 3.3) / 1e-4) ** 2)) >= 0.5, [3.3 - 1e-4 * np.sqrt(np.log(2))]),
        (lambda x: ca.tanh(1e5 * (x - 3.3)) >= 0.5, [3.3 + 1e-5 * np.arctanh(0.5)]),
        (lambda x: ca.fmod(x, 0.7) <= 0.1, 0.7 * np.arange(12)),
        (lambda x: ca.floor(3 * x) >= 7, [7 / 3]),
        (lambda x: ts.falling((x - 1) * (x - 1.1) * (x - 4) * (x - 4.001) * (x - 7) * (x - 7.00001)), [1, 4, 7]),
    ],
)
def test_narrow_places_of_functions_with_steps_and_bumps_are_found(condition, exact):
    for outputs in (1, 8):
        model, x = slider()
        model.when(condition(x), ts.record("x", x), name="here")
        np.testing.assert_allclose(found(model, 8.0, outputs=outputs), exact, rtol=0, atol=1e-9)


def test_a_fixed_step_in_which_too_much_happens_is_told():
    model, x = slider()
    model.when(ts.falling(2 + ca.sin(1e6 * ts.time)), ts.record("x", x), name="noise")
    with pytest.raises(ts.RunError, match="'noise': its condition varies too fast .* steps of 1 s"):
        ts.simulate(model, 2.0, method="rkmk4", step=1.0, outputs=2)
