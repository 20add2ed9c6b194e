"""Hydraulic cylinders against closed forms and SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

A, B, S, V, BETA = 2e-3, 1.2e-3, 0.5, (3e-4, 2e-4), 1.4e9
SUPPLY, FLOW, DROP = 160e5, 6e-4, 35e5


def press(mass=200.0, **given):
    """A mass on a rail, pushed along x by a cylinder; half extended."""
    model = ts.Model("press")
    slide = model.body("slide", mass, (1, 1, 1), at=(1.0, 0, 0))
    model.add(ts.Prismatic("rail", model.ground, slide, axis="x", damping=given.pop("damping", 0.0)))
    ends = {"points": ((0, 0, 0), (1.0, 0, 0)), "length": 0.75, "supply": SUPPLY, "rated_flow": FLOW}
    options = {"areas": (A, B), "stroke": S, "dead_volumes": V, "bulk_modulus": BETA, **ends, **given}
    return model, model.add(ts.HydraulicCylinder("ram", model.ground, slide, **options))


def test_a_blocked_chamber_fills_as_its_orifice_says():
    """√(p_S − p) falls linearly: √(p_S − p₀) − ½ β K t/V, until the smooth part of the orifice law."""
    model, _ = press(mass=1e12, valve=1.0, pressures=(0.0, 0.0), transition=1.0)
    volume, K = V[0] + A * 0.25, FLOW / np.sqrt(DROP)
    data = ts.simulate(model, 4e-3, outputs=4, method="radau5", tolerance=1e-10)
    expected = SUPPLY - (np.sqrt(SUPPLY) - BETA * K / 2 / volume * data.time.values) ** 2
    np.testing.assert_allclose(data["ram.pressure_a"], expected, rtol=1e-6, atol=10)


def test_a_mass_swings_on_the_oil_of_a_closed_valve():
    """ω² = β (A²/V_A + B²/V_B)/m, for small swings."""
    m = 200.0
    model, _ = press(m, pressures=(6e6, 1e7))  # in balance
    k = BETA * (A**2 / (V[0] + A * 0.25) + B**2 / (V[1] + B * 0.25))
    w = np.sqrt(k / m)
    data = ts.simulate(model, 3.0 / w, outputs=3, start={"rail.rate": 1e-4}, tolerance=1e-10)
    np.testing.assert_allclose(data.coordinate[:, 0], 1e-4 / w * np.sin(w * data.time), atol=1e-4 * 1e-4 / w)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_stroke_with_a_moving_valve_agrees_with_scipy(formulation):
    m, c, g = 200.0, 300.0, 1e-12
    model, _ = press(
        m, valve=np.sin(40 * ts.time), leakage=g, friction=c, pressures=(5e6, 6e6), transition=1e4, tank=1e5
    )
    phi = lambda d: d / (d**2 + 1e8) ** 0.25

    def rate(t, y):
        x, v, a, b = y
        u, K = np.sin(40 * t), FLOW / np.sqrt(DROP)
        up, down = max(u, 0), max(-u, 0)
        Qa = K * (up * phi(SUPPLY - a) - down * phi(a - 1e5))
        Qb = K * (down * phi(SUPPLY - b) - up * phi(b - 1e5))
        pa = BETA / (V[0] + A * (0.25 + x)) * (Qa - A * v - g * (a - b))
        pb = BETA / (V[1] + B * (0.25 - x)) * (Qb + B * v + g * (a - b))
        return [v, (a * A - b * B - c * v) / m, pa, pb]

    times = np.linspace(0, 0.2, 6)
    truth = solve_ivp(rate, (0, 0.2), [0, 0, 5e6, 6e6], "Radau", times, rtol=1e-9, atol=[1e-10, 1e-9, 1e-1, 1e-1]).y
    data = ts.simulate(model, 0.2, outputs=5, method="radau5", tolerance=1e-8, formulation=formulation)
    np.testing.assert_allclose(data.coordinate[:, 0], truth[0], atol=2e-7)
    np.testing.assert_allclose(data["ram.pressure_a"], truth[2], atol=200)
    np.testing.assert_allclose(data["ram.pressure_b"], truth[3], atol=200)


def test_a_cylinder_goes_into_a_file_and_back(tmp_path):
    model, _ = press(valve=0.4, pressures=(5e6, 6e6))
    ts.save_model(model, tmp_path / "press.yaml")
    again = ts.read(tmp_path / "press.yaml").model
    a, b = (ts.simulate(m, 0.02, outputs=1, method="radau5") for m in (model, again))
    np.testing.assert_allclose(a["ram.pressure_a"], b["ram.pressure_a"], rtol=1e-12)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"areas": (1e-3, 0.0)}, "areas must be positive"),
        ({"areas": (1e-3, 1e-3, 1e-3)}, "areas must be 2"),
        ({"stroke": -1.0}, "stroke must be positive, got -1.0"),
        ({"pressures": (1e5, ts.time)}, "pressures must be two numbers"),
        ({"rated_flow": -1.0}, "rated_flow must be at least 0"),
    ],
)
def test_a_cylinder_that_cannot_be_is_refused(given, message):
    with pytest.raises(ts.ModelError, match=message):
        press(**given)
