"""Motors on joints against closed forms: circuits, servos, limits, rotors, temperature; in files, copies and large systems."""

import copy

import numpy as np
import pytest
from scipy.linalg import expm

import torsor as ts

J, BEARING, RATIO, ROTOR = 0.02, 0.01, 5.0, 1e-4
R, L, K, U = 2.0, 0.05, 0.3, 12.0
A = J + RATIO**2 * ROTOR  # inertia that the motor accelerates


def axle(model, damping=BEARING):
    rotor = model.body("rotor", 1.0, (0.1, 0.1, J))
    return model.add(ts.Revolute("axle", model.ground, rotor, axis="z", damping=damping))


def driven(motor, *given, damping=0.0, **options):
    model = ts.Model("drive")
    return model, model.add(motor("motor", axle(model, damping), *given, **options))


@pytest.fixture(scope="module")
def circuit():
    """A motor with inductance, its terminals at a voltage that is an input."""
    model = ts.Model("drive")
    given = {"resistance": R, "inductance": L, "constant": K, "ratio": RATIO, "inertia": ROTOR}
    model.add(ts.DCMotor("motor", axle(model), model.input("u", U), **given))
    return model


def exact(t, start=(0.0, 0.0)):
    """Current and speed of L İ = u − R I − k i q̇, A q̈ = i k I − b q̇, by the matrix exponential."""
    M = np.array([[-R / L, -K * RATIO / L], [K * RATIO / A, -BEARING / A]])
    rest = np.linalg.solve(M, [-U / L, 0])
    return np.array([rest + expm(M * x) @ (start - rest) for x in np.atleast_1d(t)])


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hamiltonian"])
def test_a_dc_motor_follows_its_matrix_exponential(circuit, formulation):
    data = ts.simulate(circuit, 1.0, outputs=8, tolerance=1e-10, formulation=formulation)
    found = np.column_stack([data["motor.current"], data.rate[:, 0]])
    np.testing.assert_allclose(found, exact(data.time.values), atol=2e-9)  # tolerance × 10 A


def test_copies_files_and_components_run_the_same(circuit, tmp_path):
    """Also with a start that is given, and one for each run of a study."""
    start = {"motor.current": 2.0, "axle.rate": 3.0}
    expected = exact(0.5, (2.0, 3.0))[0]
    ts.save_model(circuit, tmp_path / "drive.yaml")
    around = ts.Model("around")
    around.include("part", circuit, at=(0, 0, 1), rotation=(0, 0.3, 0))
    twins = {"": copy.deepcopy(circuit), "file": ts.read(tmp_path / "drive.yaml").model, "part.": around}
    for prefix, model in twins.items():
        prefix = prefix.removeprefix("file")
        given = {prefix + name: x for name, x in start.items()}
        data = ts.simulate(model, 0.5, outputs=1, tolerance=1e-10, start=given)
        found = [data[f"{prefix}motor.current"].values[-1], data.rate.values[-1, 0]]
        np.testing.assert_allclose(found, expected, atol=2e-9)
    runs = ts.study(circuit, 0.5, start={"motor.current": [0.0, 2.0]}, tolerance=1e-10, reduce="last")
    for current, found in zip((0.0, 2.0), runs["motor.current"].values):
        assert found == pytest.approx(exact(0.5, (current, 0.0))[0, 0], abs=2e-9)


def test_a_voltage_may_change_while_a_simulation_is_driven(circuit):
    sim = ts.Simulation(circuit, tolerance=1e-10)
    sim.advance(0.2)
    before = np.array([sim["motor.current"], sim.rates["axle"]])
    sim.advance(0.3, u=0.0)
    free = exact(0.3, before) - (exact(0.3) - 0.0)  # linear: the part of the voltage is taken away
    assert [sim["motor.current"], sim.rates["axle"]] == pytest.approx(free[0], abs=2e-9)


def test_tables_of_a_large_system_agree_with_one_graph(circuit, monkeypatch):
    row = ts.Model("row")
    for k in range(3):
        row.include(f"m{k}", circuit, at=(k, 0, 0), u=4.0 * k)
    small = ts.simulate(row, 0.2, outputs=2, formulation="relative", tolerance=1e-10)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "2")
    large = ts.simulate(copy.deepcopy(row), 0.2, outputs=2, formulation="relative", tolerance=1e-10)
    assert (small.attrs["path"], large.attrs["path"]) == ("straight", "tables")
    for what in ("rate", "m2.motor.current"):
        np.testing.assert_allclose(large[what], small[what], atol=1e-9)


def test_switched_off_the_circuit_is_open_and_the_winding_cools():
    model, motor = driven(
        ts.DCMotor, U, resistance=R, inductance=L, constant=K, thermal_resistance=1.5, thermal_capacity=4.0
    )
    model.when(ts.time >= 0.5, ts.switch(motor, on=False), name="off")
    data = ts.simulate(model, 2.0, outputs=8, tolerance=1e-10)
    assert (data["motor.current"].values[3:] == 0).all()
    np.testing.assert_allclose(data.rate.values[3:, 0], data.rate.values[3, 0], rtol=1e-12)
    warm = data["motor.temperature"].values[2:]
    np.testing.assert_allclose(warm[1:], warm[1] * np.exp(-0.25 * np.arange(len(warm) - 1) / 6.0), rtol=1e-8)


def test_what_goes_into_the_terminals_is_heat_and_work():
    """∫ u I dt = ½ L I² + ½ A q̇² + C ϑ, without bearing friction and with hardly any cooling."""
    given = {"resistance": R, "inductance": L, "constant": K, "thermal_resistance": 1e12, "thermal_capacity": 4.0}
    model, motor = driven(ts.DCMotor, U, temperature_coefficient=0.004, **given)
    model.state("supply", rate=U * motor.current)
    end = ts.simulate(model, 0.4, outputs=1, tolerance=1e-11).isel(time=-1)
    stored = L * end["motor.current"] ** 2 / 2 + J * end.rate[0] ** 2 / 2 + 4.0 * end["motor.temperature"]
    assert float(end.supply) == pytest.approx(float(stored), rel=1e-8)


def test_without_inductance_the_motor_is_a_damper_on_its_speed():
    model, _ = driven(ts.DCMotor, U, resistance=R, constant=K)
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-10)
    expected = U / K * (1 - np.exp(-(K**2) / R / J * data.time.values))
    np.testing.assert_allclose(data.rate[:, 0], expected, atol=1e-8)


def test_the_torque_falls_along_the_line_of_torque_and_speed():
    """J q̇˙ = T up to ω_b, then T (ω₀ − ω)/(ω₀ − ω_b); what brakes has all of T."""
    T, base, end = 0.1, 2.0, 10.0
    model, _ = driven(ts.TorqueMotor, 1.0, max_torque=T, base_speed=base, max_speed=end)
    data = ts.simulate(model, 4.0, outputs=8, tolerance=1e-10)
    until, a = base * J / T, T / J
    t = data.time.values
    later = end - (end - base) * np.exp(-a * (t - until) / (end - base))
    np.testing.assert_allclose(data.rate[:, 0], np.where(t < until, a * t, later), atol=1e-7)
    back = ts.simulate(model, 0.5, outputs=1, start={"axle.rate": -8.0}, tolerance=1e-10)
    assert float(back.rate[-1, 0]) == pytest.approx(-8.0 + a * 0.5, abs=1e-9)


def test_a_position_servo_is_an_oscillator_and_its_integral_takes_away_what_is_left():
    k, c, load = 8.0, 0.5, 0.7
    model, _ = driven(ts.PositionServo, 0.3, stiffness=k, damping=c, ratio=-3.0, inertia=1e-3)
    model.add(ts.JointForce("load", "axle", load))
    inertia = J + 9e-3
    M = np.array([[0, 1], [-k / inertia, -c / inertia]])
    data = ts.simulate(model, 0.6, outputs=3, tolerance=1e-10)
    rest = np.array([0.3 + load / k, 0])
    expected = [(rest - expm(M * t) @ rest)[0] for t in data.time.values]
    np.testing.assert_allclose(data.coordinate[:, 0], expected, atol=1e-9)
    model, _ = driven(ts.PositionServo, 0.3, stiffness=k, damping=c, integral=20.0, max_torque=1.0)
    model.add(ts.JointForce("load", "axle", load))
    end = ts.simulate(model, 12.0, outputs=1).isel(time=-1)
    assert float(end.coordinate[0]) == pytest.approx(0.3, abs=1e-6)
    assert float(end["motor.integral"]) == pytest.approx(-load / 20.0, abs=1e-5)


def test_a_speed_servo_with_an_integral_holds_its_speed_under_load():
    """x = (z, q̇): ż = w − q̇, J q̈ = c (w − q̇) + h z − load."""
    w, c, h, load = 4.0, 0.3, 2.0, 0.5
    model, _ = driven(ts.VelocityServo, w, gain=c, integral=h)
    model.add(ts.JointForce("load", "axle", -load))
    M = np.array([[0, -1], [h / J, -c / J]])
    rest = np.array([load / h, w])
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-10)
    expected = [rest - expm(M * t) @ rest for t in data.time.values]
    np.testing.assert_allclose(np.column_stack([data["motor.integral"], data.rate[:, 0]]), expected, atol=1e-9)


@pytest.mark.parametrize(
    "motor, given, message",
    [
        (ts.DCMotor, {"resistance": 0}, "resistance must be positive, got 0"),
        (ts.DCMotor, {"ratio": 0.0}, "ratio must be different from zero"),
        (ts.DCMotor, {"temperature_coefficient": 0.004}, "needs a temperature"),
        (ts.TorqueMotor, {"thermal_capacity": 3.0}, "give both thermal_resistance and thermal_capacity"),
        (ts.TorqueMotor, {"max_speed": 3.0}, "give max_torque as well"),
        (ts.TorqueMotor, {"max_torque": 1.0, "max_speed": 3.0, "base_speed": 4.0}, "above base_speed, got 3.0 and 4.0"),
        (ts.PositionServo, {"stiffness": -1.0}, "stiffness must be positive"),
        (ts.VelocityServo, {"gain": 1.0, "inertia": ts.time}, "inertia contains 'time'"),
        (ts.TorqueMotor, {"index": 3}, "index"),
    ],
)
def test_a_motor_that_cannot_be_is_refused(motor, given, message):
    with pytest.raises(ts.ModelError, match=message):
        driven(motor, **given)
