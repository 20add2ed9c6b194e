"""Controllers keep their promises with every method and formulation, beside events and other controllers."""

import numpy as np
import pytest
from models import four_bar

import torsor as ts

METHODS, FORMULATIONS = ts.registered("integrator"), ts.registered("formulation")


def cart(period=0.1, law=lambda t, u: 2.0 - u[0], pushed=True, **options):
    """A cart of 1 kg that a held force pushes, or not. Returns the model, its rail and the controller."""
    model = ts.Model("cart")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    pilot = model.add(ts.Controller("pilot", period, [rail.coordinate], ["push"], law, **options))
    if pushed:
        model.add(ts.JointForce("motor", rail, pilot["push"]))
    return model, rail, pilot


def closed_form(steps, period=0.1):
    """x at the samples of `cart`: x += v T + f T²/2, v += f T with f = 2 − x."""
    x, v, found = 0.0, 0.0, [0.0]
    for _ in range(steps):
        f = 2.0 - x
        x, v = x + v * period + f * period**2 / 2, v + f * period
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize("method", [key for key, cls in METHODS.items() if cls.order > 1])
def test_every_method_ends_its_steps_at_samples(method):
    """Under a held force every method of order 2 or more is exact; a step of 0.03 s divides no period."""
    for step in (None, 0.03) if METHODS[method].adaptive() else (0.03,):
        data = ts.simulate(cart()[0], 1.0, outputs=10, method=method, step=step)
        np.testing.assert_allclose(data.coordinate.values[:, 0], closed_form(10), atol=1e-11)


def loop():
    """A four-bar whose crank follows a trajectory, by a controller with a state and a delay."""
    model = four_bar(name="loop")

    def law(t, u, s):
        error = 0.3 * np.sin(5 * t) - u["angle"]
        return 60 * error - 5 * u["rate"] + s, s + 3 * error

    seen = {"angle": model["A"].coordinate[0], "rate": model["A"].rate[0], "force": model["C"].reaction_force}
    pilot = ts.Controller("pilot", 0.02, seen, ["torque"], law, state=0.0, delay=0.005)
    model.add(ts.JointForce("motor", model["A"], model.add(pilot)["torque"]))
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_holds_outputs(formulation):
    data = ts.simulate(cart()[0], 1.0, outputs=10, formulation=formulation)
    np.testing.assert_allclose(data.coordinate.values[:, 0], closed_form(10), atol=1e-11)


def test_formulations_agree_on_a_controlled_loop():
    found = [ts.simulate(loop(), 0.5, outputs=10, formulation=key) for key in ("absolute", "woronetz", "hamiltonian")]
    for data in found[1:]:
        np.testing.assert_allclose(data.position.values, found[0].position.values, atol=2e-8)
        np.testing.assert_allclose(data["pilot.torque"].values, found[0]["pilot.torque"].values, atol=2e-6)
    assert np.abs(np.diff(found[0]["pilot.torque"].values)).max() > 0.1


def test_functions_are_called_once_at_every_sample_in_the_order_of_addition():
    """3 · 0.1 is not 0.3 to the last bit; both controllers are called there, and the one that was added first is first."""
    model, rail, _ = cart()
    calls = []
    for name, period in (("slow", 0.3), ("fast", 0.1)):
        law = lambda t, u, name=name: calls.append((name, t)) or 0.0
        model.add(ts.Controller(name, period, [rail.coordinate], ["none"], law))
    data = ts.simulate(model, 0.9, outputs=9, method="rkmk4", step=0.1)
    fast, slow = ([t for name, t in calls if name == which] for which in ("fast", "slow"))
    assert fast == [k * 0.1 for k in range(10)] and slow == [k * 0.3 for k in range(4)]
    assert [name for name, t in calls if abs(t - 0.3) < 1e-9] == ["slow", "fast"]
    assert data.attrs["steps"] == 9  # and none of the length of a rounding error


@pytest.mark.parametrize("compiled", [False, True])
def test_inputs_may_be_names_of_signals_and_of_vectors(compiled):
    model, rail, _ = cart()
    model.signal("speeds", [rail.rate[0], 2 * rail.rate[0]])
    model.signal("place", rail.coordinate[0])
    seen, law = {"both": "speeds", "x": "place"}, lambda t, u: u["both"] @ u["both"] + u["x"]
    model.add(ts.Controller("look", 0.1, seen, ["sum"], law, compiled=compiled))
    data = ts.simulate(model, 0.6, outputs=6)
    np.testing.assert_allclose(
        data["look.sum"], 5 * data.rate.values[:, 0] ** 2 + data.coordinate.values[:, 0], atol=1e-14
    )


def test_tasks_that_are_staggered_take_turns():
    """Three of the same period, a third of it apart, each told its exact instants; one whose phase is a period begins with the
    second sample of the first."""
    model, rail, _ = cart()
    calls = []
    for name, phase in (("a", 0.0), ("b", 0.1), ("c", 0.2), ("late", 0.3)):
        law = lambda t, u, name=name: calls.append((name, t)) or 0.0
        model.add(ts.Controller(name, 0.3, [rail.coordinate], ["none"], law, phase=phase))
    data = ts.simulate(model, 0.95, method="rkmk4", step=0.1, outputs=[0.95])
    assert [name for name, _ in calls] == [*"abc", *["a", "late", *"bc"] * 2, "a", "late"]
    assert [t for name, t in calls if name == "b"] == [k * 0.3 + 0.1 for k in range(3)]
    assert [t for name, t in calls if name == "late"] == [k * 0.3 for k in range(1, 4)]
    assert data.attrs["steps"] == 10


def test_a_later_controller_sees_what_an_earlier_one_has_set():
    """A cascade: the second takes the output of the first, of the same instant."""
    model, rail, pilot = cart()
    law = lambda t, u: {"twice": 2 * u[0]}
    second = model.add(ts.Controller("second", 0.2, [pilot["push"]], ["twice"], law))
    model.signal("both", second["twice"] - 2 * pilot["push"])
    data = ts.simulate(model, 0.6, outputs=6)
    np.testing.assert_array_equal(data.both.values[::2], 0.0)
    assert np.abs(data.both.values[1::2]).min() > 1e-3


def test_events_between_samples_and_at_them_see_held_outputs():
    """A stop that is hit between samples: x(t) up to there is a parabola; a held number that jumps fires an event at once."""
    model, rail, pilot = cart(period=0.5, law=lambda t, u: 1.0 if t < 0.7 else -3.0)
    model.when(ts.falling(pilot["push"] + 1), ts.record("x", rail.coordinate[0]), name="reversed")
    model.when(rail.coordinate[0] >= 0.4, ts.record("speed", rail.rate[0]), name="passed")
    data = ts.simulate(model, 1.2)
    assert data.event_name.values.tolist() == ["passed", "reversed"]
    np.testing.assert_allclose(data.event_time.values, [np.sqrt(0.8), 1.0], atol=1e-12)
    np.testing.assert_allclose([data.speed.values[0], data.x.values[1]], [np.sqrt(0.8), 0.5], atol=1e-12)


def test_friction_and_contacts_let_go_at_the_sample_that_is_too_much_for_them():
    """A staircase of forces: 1.5 N more every half second, up along a wall and along the floor."""
    model = ts.Model("block", gravity=(0, 0, -10))
    block = model.body("block", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, block, axis="x"))
    model.add(ts.Friction("rub", rail, coefficient=0.2, static=0.4))
    ball = model.body("ball", mass=0.25, inertia=(1, 1, 1), at=(0, 1, 0))
    lift = model.add(ts.Prismatic("lift", model.ground, ball, axis="z"))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0)))
    stairs = model.add(ts.Controller("stairs", 0.5, [], ["push"], lambda t, u: 3 * t))
    for joint in (rail, lift):
        model.add(ts.JointForce(f"on_{joint.name}", joint, stairs["push"]))
    data = ts.simulate(model, 3.0, outputs=6)
    assert data.event_name.values.tolist() == ["floor.touch", "floor.lift", "rub.slide"]
    np.testing.assert_allclose(data.event_time.values, [0.0, 1.0, 1.5], atol=1e-15)
    np.testing.assert_allclose(data.rate.values[:, 0], np.cumsum([0, 0, 0, 0, 2.5, 4, 5.5]) / 2, atol=1e-9)
    np.testing.assert_allclose(data.rate.values[:, 1], np.cumsum([0, 0, 0, 2, 8, 14, 20]) / 2, atol=1e-9)


def test_a_held_output_drives_a_speed_and_a_state():
    """A drive that follows a state whose rate is held; energy comes through the drive, and the balance holds."""
    model, rail, pilot = cart(period=0.5, law=lambda t, u: 1.0 + t, pushed=False)
    model.add(ts.Drive("drive", rail, model.state("way", rate=pilot["push"])))
    data = ts.simulate(model, 1.5, outputs=3)
    np.testing.assert_allclose(data.coordinate.values[:, 0], [0, 0.5, 1.25, 2.25], atol=1e-12)
    np.testing.assert_allclose(data.rate.values[:, 0], [1, 1.5, 2, 2.5], atol=1e-12)


def test_a_certificate_measures_the_motion_that_a_controller_samples():
    data = ts.simulate(cart()[0], 1.0, outputs=10, certify=True)
    assert data.attrs["coordinate_error_max"] < 1e-10 and data.attrs["pilot.push_error_max"] < 1e-10


@pytest.mark.parametrize("friction", [0.2, 0.9])
def test_what_lies_on_the_ground_at_the_start_is_seen_to_lie_there(friction):
    """A block on an incline slides with g (sin α − μ cos α), or rests: for a controller that is older than the contacts, for a
    simulation before its first call, and in a result."""
    slope, g = 0.4, 9.81
    model, seen = ts.Model("incline", gravity=(g * np.sin(slope), 0, -g * np.cos(slope))), []
    block = model.body("block", mass=2.0, inertia=(1, 1, 1), at=(0, 0, 0.2))
    look = lambda t, u: seen.append(u) or 0.0
    model.add(ts.Controller("look", 0.1, [block.acceleration], ["none"], look))
    for k, corner in enumerate([(1, 1, 0), (1, -1, 0), (-1, 0, 0)]):
        contact = model.add(ts.Contact(f"corner{k}", model.ground, block, point=corner, plane=(0, 0, 0)))
        model.add(ts.Friction(f"friction{k}", contact, coefficient=friction))
    expected = [max(0.0, g * (np.sin(slope) - friction * np.cos(slope))), 0, 0]
    sim = ts.Simulation(model)
    assert not seen
    np.testing.assert_allclose(sim["block.acceleration"], expected, atol=1e-12)
    sim.advance(0.05)
    sim.reset()
    np.testing.assert_allclose([*seen, sim["block.acceleration"]], [expected] * 2, atol=1e-12)


def test_a_way_from_rest_to_rest_is_not_suspected_by_its_energy():
    """All energy is met between the outputs, also by steps of a fixed length; warnings are errors here."""
    model, rail, _ = cart(law=lambda t, u: 0.0)
    law = {"push": 4 * (1 - rail.coordinate) - rail.rate}
    model.add(ts.JointForce("brake", rail, model.add(ts.Controller("second", 0.01, outputs=law))["push"]))
    data = ts.simulate(model, 100.0, outputs=2, method="rkmk4", step=0.01)
    assert "energy_balance_lost" not in data.attrs and abs(data.rate[-1, 0]) < 1e-9


def test_a_model_with_controllers_is_described():
    info = ts.info(cart(delay=0.03, phase=0.02)[0])
    (told,) = info["controllers"]
    times = {"period": 0.1, "phase": 0.02, "delay": 0.03}
    assert told == {"name": "pilot", **times, "outputs": ["push"], "law": "function of 1 input"}
    assert "every 0.1 s from 0.02 s on, 0.03 s late" in str(info) and info["events"] == []
