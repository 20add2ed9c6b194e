"""Tables in every formulation, in implicit methods, in large systems, beside events, in components and in other processes."""

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.kernels.backends.llvm import LLVM
from torsor.lookup import interval_search

SPEEDS, LOADS = np.linspace(-10, 10, 21), np.linspace(0, 1, 5)


def arm(spring=-20.0, kind="linear"):
    """Two links: a spring as a smooth table, brakes as a map of speed and time, a torque as a bent table over time."""
    model, before = ts.Model("arm", gravity=(0, 0, -9.81)), None
    x = np.linspace(-4, 4, 33)
    bow = ts.table(x, spring * np.sin(x) - x, "cubic", "extrapolate")
    brake = ts.table((SPEEDS, LOADS), -np.outer(SPEEDS, LOADS**2), "linear", "extrapolate")
    motor = ts.table(np.linspace(0, 1, 6), [0, 5, 15, -10, 0, 5], kind)
    for k in range(2):
        link = model.body(f"link{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.1), at=(k + 0.5, 0, 0))
        joint = model.add(ts.Revolute(f"j{k}", before or model.ground, link, point=(k, 0, 0), axis="y"))
        law = bow(joint.coordinate[0]) + brake(joint.rate[0], ts.time) + motor(ts.time)
        model.add(ts.JointForce(f"f{k}", joint, law))
        before = link
    return model


def end(model, **options):
    return ts.simulate(model, 0.7, outputs=1, **options).coordinate.values[-1]


@pytest.fixture(scope="module")
def truth():
    return end(arm(), formulation="relative", method="dop853", tolerance=1e-12)


@pytest.mark.parametrize("formulation", [f for f in ts.registered("formulation") if f != "relative-first"])
def test_formulations_agree(formulation, truth):
    assert end(arm(), formulation=formulation, tolerance=1e-11) == pytest.approx(truth, abs=1e-8)


@pytest.mark.parametrize("method, options", [("radau5", {}), ("bdf", {}), ("variational4", {"step": 0.002})])
def test_methods_that_take_derivatives_agree(method, options, truth):
    assert end(arm(), formulation="relative", method=method, **options) == pytest.approx(truth, abs=1e-7)


def test_native_code_is_that_of_casadi():
    dynamics, rng = ts.compile(arm(), formulation="relative"), np.random.default_rng(1)
    kernel, function = dynamics.kernels["accelerations"], dynamics.functions["accelerations"]
    for _ in range(9):
        given = [np.array([0.37]), rng.uniform(-2, 2, 2), rng.uniform(-3, 3, 2), np.zeros(0)]
        given.append(np.array(dynamics.functions["factor"](given[0], given[1], given[3])).ravel())
        assert kernel(*given)[0] == pytest.approx(np.array(function(*given)[0]).ravel(), rel=1e-12)


def test_a_table_of_a_kind_that_was_compiled_before_compiles_nothing(monkeypatch, truth):
    assert end(arm(), formulation="relative") == pytest.approx(truth, abs=1e-8)
    monkeypatch.setattr(LLVM, "compile", None)
    assert end(arm(spring=-5.0), formulation="relative") != pytest.approx(truth, abs=1e-2)


def rail(model, k=0):
    cart = model.body(f"cart{k}", mass=1.0 + k, inertia=(1, 1, 1), at=(0, k, 0))
    return model.add(ts.Prismatic(f"rail{k}", model.ground, cart, axis="x"))


def test_large_systems_share_the_code_of_a_table():
    """m v = ∫ F dt of every one of many carts, two tables among them, run through a table of calls."""
    model = ts.Model("carts", gravity=(0, 0, 0))
    tables = [ts.table([0, 0.3, 1.0], values) for values in ([0, 1, 1], [2, 0, 1])]
    for k in range(70):
        model.add(ts.JointForce(f"push{k}", rail(model, k), (1.0 + k) * tables[k % 2](ts.time)))
    speeds = ts.simulate(model, 1.0, outputs=1, formulation="relative").rate.values[-1]
    assert speeds == pytest.approx(np.tile([0.15 + 0.7, 0.3 + 0.35], 35), abs=1e-12)


def test_an_event_at_the_instant_of_a_jump_happens_once():
    model = ts.Model("cart", gravity=(0, 0, 0))
    joint = rail(model)
    model.add(ts.JointForce("push", joint, ts.table([0, 1, 2], [0, 3, -1], "nearest")(ts.time)))
    model.when(ts.time >= 0.5, ts.record("speed", joint.rate[0]))
    data = ts.simulate(model, 2.0, outputs=4)
    assert data.event_time.values == pytest.approx([0.5], abs=1e-12)
    assert data.rate.values[:, 0] == pytest.approx([0, 0, 1.5, 3.0, 2.5], abs=1e-12)


def test_a_table_of_a_signal_conserves_energy():
    """A spring as a table has the potential − ∫ F dx: the sum of it and of the kinetic energy stays."""
    model, x = ts.Model("spring", gravity=(0, 0, 0)), np.linspace(-1, 1, 9)
    cart = model.body("cart", mass=2.0, inertia=(1, 1, 1), velocity=(1.5, 0, 0))
    joint = model.add(ts.Prismatic("rail", model.ground, cart, axis="x"))
    law = ts.table(x, -30 * x - 50 * x**3, "cubic", "extrapolate")  # a cubic spline is exact
    model.add(ts.JointForce("spring", joint, law(joint.coordinate[0])))
    data = ts.simulate(model, 3.0, outputs=60, tolerance=1e-11)
    q, v = data.coordinate.values[:, 0], data.rate.values[:, 0]
    energy = v**2 + 15 * q**2 + 12.5 * q**4
    assert np.ptp(q) > 0.5 and energy == pytest.approx(2.25, abs=1e-8)


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hamiltonian", "hierarchical"])
def test_a_cam_by_points_moves_its_follower_as_its_curve_does(formulation):
    """A follower at the height z = 2 x³: ½ (m + n z'²) ẋ² + n g z stays, and z'' is in the force that moves the cam steadily."""
    model, x = ts.Model("cam", gravity=(0, 0, -9.81)), np.linspace(-1, 1, 9)
    cam, rod = (model.body(name, mass=m, inertia=(1, 1, 1)) for name, m in (("cam", 2.0), ("rod", 0.5)))
    slide = model.add(ts.Prismatic("slide", model.ground, cam, axis="x", start=-0.5, start_rate=1.5))
    lift = model.add(ts.Prismatic("lift", model.ground, rod, axis="z", start=-0.25))
    curve = ts.table(x, 2 * x**3, "cubic", "extrapolate")  # a cubic spline is exact
    model.add(ts.Holonomic("curve", lift.coordinate - curve(slide.coordinate[0])))
    data = ts.simulate(model, 0.8, outputs=20, formulation=formulation)
    (x, z), v = data.coordinate.values.T, data.rate.values[:, 0]
    assert np.ptp(x) > 0.5 and z == pytest.approx(2 * x**3, abs=1e-12)
    energy = (1 + 0.25 * (6 * x**2) ** 2) * v**2 + 0.5 * 9.81 * z
    assert energy == pytest.approx(energy[0], abs=1e-7)
    steady = ts.kinematics(model, {"slide": ts.time - 0.5}, np.linspace(0, 1, 5), formulation=formulation)
    x = steady.coordinate.values[:, 0]
    assert steady.drive_force.values[:, 0] == pytest.approx(0.5 * (12 * x + 9.81) * 6 * x**2, abs=1e-9)


def test_tables_travel_with_their_models(monkeypatch, tmp_path):
    """By pickle and in the file of a component, to a process that does not have them, and one whose cache cannot be written."""
    before, model = end(arm(kind="akima"), formulation="relative"), arm(kind="akima")
    packed = pickle.dumps(model)
    ts.save_component(model, tmp_path / "arm.tcomp")
    monkeypatch.setattr(interval_search, "_KNOWN", {})
    assert np.array_equal(end(pickle.loads(packed), formulation="relative"), before)
    monkeypatch.setattr(interval_search, "_KNOWN", {})
    assert end(ts.load_component(tmp_path / "arm.tcomp"), formulation="relative") == pytest.approx(before, abs=1e-9)
    monkeypatch.setenv("TORSOR_CACHE", "/proc/nowhere")
    assert np.array_equal(end(pickle.loads(packed), formulation="relative"), before)


def test_a_simulation_that_is_driven_meets_every_bend():
    """Also beyond the time that it was made for, and where a call ends at one."""
    f = ts.table([0, 0.3, 0.7, 1.5], [0, 2, -1, 1], "nearest")
    model = ts.Model("cart", gravity=(0, 0, 0))
    model.add(ts.JointForce("push", rail(model), f(ts.time)))
    simulation = ts.Simulation(model, method="rkmk4", step=0.05, horizon=0.4)
    for k in range(1, 16):
        simulation.advance(0.1)
        assert simulation.time == pytest.approx(0.1 * k, abs=1e-14)
    impulse = 2 * 0.35 - 0.6 + 0.4
    assert simulation.rates["rail0"] == pytest.approx(impulse, abs=1e-12)


def test_a_study_of_fixed_steps_looks_up_tables_over_signals():
    model, x = ts.Model("spring", gravity=(0, 0, 0)), np.linspace(-1, 1, 9)
    cart = model.body("cart", mass=2.0, inertia=(1, 1, 1), velocity=(1.5, 0, 0))
    joint = model.add(ts.Prismatic("rail", model.ground, cart, axis="x"))
    law = model.parameter("k", 1.0) * ts.table(x, -30 * x - 50 * x**3, "cubic", "extrapolate")(joint.coordinate[0])
    model.add(ts.JointForce("spring", joint, law))
    options = {"outputs": 2, "step": 0.02, "method": "rkmk4"}
    many = ts.study(model, 0.4, parameters={"k": np.linspace(0.5, 2, 5)}, **options)
    for k in range(5):
        one = ts.simulate(model, 0.4, parameters={"k": float(many.k.values[k])}, **options)
        assert np.array_equal(many.coordinate.values[k], one.coordinate.values)
