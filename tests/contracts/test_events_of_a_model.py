"""What the words of the event language mean, on motions that are known exactly."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.errors import RunError

LONG = {"method": "rkmk4", "step": 10.0}  # one step per output interval; exact on polynomials of degree 3


def runner(*more, speed=1.0):
    """A body that moves along x as x = t. Returns the model and x."""
    model = ts.Model("runner")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(speed, 0, 0))
    return model, body.position[0]


def swinger(w=2.0):
    """A harmonic oscillator x = cos(w t)."""
    model = ts.Model("swinger")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    model.add(ts.EnergyForce("spring", energy=w**2 / 2 * body.position[0] ** 2))
    return model, body.position[0]


def happened(data):
    return list(zip(data.event_name.values.tolist(), data.event_time.values.tolist()))


def assert_happened(data, *expected, atol=1e-12):
    names, times = [e[0] for e in expected], [e[1] for e in expected]
    assert data.event_name.values.tolist() == names, happened(data)
    np.testing.assert_allclose(data.event_time, times, rtol=0, atol=atol)


@pytest.mark.parametrize("way", [{}, LONG, {"method": "lie-euler", "step": 0.35}], ids=["adaptive", "long", "euler"])
def test_events_of_one_step_happen_in_the_order_of_time(way):
    model, x = runner()
    for name, when in (("c", 0.3), ("a", 0.1), ("b", 0.2)):
        model.when(ts.time >= when, ts.record("x", x), name=name)
    model.when(x >= 0.25, ts.record("x", x), name="place")
    model.when(ca.sin(10 * x) <= 0, ts.record("x", x), name="sine")
    data = ts.simulate(model, 1.0, outputs=1, **way)
    expected = [
        ("sine", 0),
        ("a", 0.1),
        ("b", 0.2),
        ("place", 0.25),
        ("c", 0.3),
        ("sine", np.pi / 10),
        ("sine", np.pi * 3 / 10),
    ]
    assert_happened(data, *expected)
    np.testing.assert_allclose(data.x, data.event_time, atol=1e-12)


def test_events_of_one_instant_happen_in_the_order_in_which_they_were_declared():
    model, _ = runner()
    p = model.parameter("p", 1.0)
    model.when(ts.time >= 0.5, ts.assign(p, 2 * p), ts.record("first", p), name="double")
    model.when(2 * ts.time >= 1, ts.assign("p", p + 1), ts.record("second", p), name="add")
    data = ts.simulate(model, 1.0, outputs=2, signals={"p": p})
    assert_happened(data, ("double", 0.5), ("add", 0.5))
    assert data["first"].values[0] == 1.0 and data["second"].values[1] == 2.0  # values just before each
    assert np.isnan(data["first"].values[1])
    assert data["p"].values[0] == 1.0 and data["p"].values[-1] == 3.0


def test_actions_of_one_event_take_their_values_from_before_it():
    model, _ = runner()
    a, b = model.parameter("a", 1.0), model.parameter("b", 5.0)
    model.when(ts.time >= 0.5, ts.assign(a, b), ts.assign(b, a))
    data = ts.simulate(model, 1.0, outputs=2, signals={"now_a": a, "now_b": b})
    assert data["now_a"].values[-1] == 5.0 and data["now_b"].values[-1] == 1.0


def test_a_condition_that_holds_fires_at_the_start_and_a_crossing_does_not():
    model, x = runner()
    model.when(x <= 5, ts.record("a", x), name="condition")
    model.when(ts.falling(x - 5), ts.record("b", x), name="falling")
    model.when(ts.rising(5 - x), ts.record("b2", x), name="rising")
    model.when(ts.crossing(x - 5), ts.record("c", x), name="crossing")
    model.when(x <= 0, ts.record("d", x), name="boundary")
    model.when(x < 0, ts.record("e", x), name="strict")
    data = ts.simulate(model, 1.0, outputs=2)
    assert_happened(data, ("condition", 0), ("boundary", 0))


def test_directions_of_crossings():
    """x = cos 2t falls through 0.5 at π/6, rises through it at 5π/6, and so on with period π."""
    model, x = swinger()
    y = x - 0.5
    model.when(ts.falling(y), ts.record("x", x), name="falling")
    model.when(ts.rising(y), ts.record("x", x), name="rising")
    model.when(ts.crossing(y), ts.record("x", x), name="crossing")
    model.when(x <= 0.5, ts.record("x", x), name="below")
    data = ts.simulate(model, 2 * np.pi, outputs=4)
    for name, first in (("falling", [1]), ("below", [1]), ("rising", [5]), ("crossing", [1, 5])):
        times = data.event_time.values[data.event_name.values == name]
        exact = np.sort(np.concatenate([np.array(first) * np.pi / 6 + k * np.pi for k in range(2)]))
        np.testing.assert_allclose(times, exact, rtol=0, atol=1e-9)
    np.testing.assert_allclose(data.x, 0.5, atol=1e-11)


def test_a_condition_fires_once_for_every_time_it_becomes_true():
    model, x = swinger()
    event = model.when(x >= 0.9, ts.record("x", x), name="high")
    data = ts.simulate(model, 10 * np.pi, outputs=10, signals={"fired": event.count, "when": event.time})
    width = np.arccos(0.9) / 2
    exact = np.r_[0, np.arange(1, 11) * np.pi - width]
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=1e-8)
    counted = np.array([(data.event_time.values <= t).sum() for t in data.time.values])
    np.testing.assert_array_equal(data["fired"], counted)
    np.testing.assert_allclose(data["when"], data.event_time.values[counted - 1], atol=0)


def test_logic_of_conditions():
    model, x = runner()
    y = 1 - x
    wants = {
        "both": (ca.logic_and(x >= 0.3, y <= 0.4), 0.6),
        "either": (ca.logic_or(x >= 0.3, y <= 0.4), 0.3),
        "neither": (ca.logic_not(ca.logic_or(x <= 0.3, y >= 0.4)), 0.6),
        "not": (ca.logic_not(x < 0.45), 0.45),
        "window": (ca.logic_and(x >= 0.2, x <= 0.4), 0.2),
    }
    for name, (condition, _) in wants.items():
        model.when(condition, ts.record("x", x), name=name)
    data = ts.simulate(model, 1.0, outputs=1, **LONG)
    found = dict(happened(data))
    assert found == pytest.approx({name: when for name, (_, when) in wants.items()}, abs=1e-12)
    assert data.sizes["event"] == len(wants)


def test_a_short_window_between_samples_is_seen():
    """Two conditions that hold together for a hundredth of a step: a dip with a kink, which no cubic shows."""
    model, x = runner()
    model.when(ca.logic_and(x >= 0.2, x <= 0.21), ts.record("x", x), name="window")
    assert_happened(ts.simulate(model, 1.0, outputs=1, **LONG), ("window", 0.2))


def test_short_dips_between_samples_are_seen():
    """A dip of width 2e-3 in a step of length 1, in time and in space."""
    model, x = runner()
    model.when((ts.time - 0.4321) ** 2 <= 1e-6, ts.record("x", x), name="moment")
    model.when((x - 0.7) ** 2 <= 1e-6, ts.record("x", x), name="place")
    model.when(ts.crossing((x - 0.12) ** 2 - 1e-6), ts.record("x", x), name="gate")
    data = ts.simulate(model, 1.0, outputs=1, **LONG)
    assert_happened(data, ("gate", 0.119), ("gate", 0.121), ("moment", 0.4311), ("place", 0.699), atol=1e-10)


def test_a_flight_that_is_shorter_than_a_step_is_not_skipped():
    model = ts.Model("ball", gravity=(0, 0, -2.0))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=0.5))
    data = ts.simulate(model, 5.0, outputs=1, **LONG)
    exact = 1 + 2 * (1 - 0.5 ** np.arange(data.sizes["event"]))
    assert data.sizes["event"] > 12
    np.testing.assert_allclose(data.event_time[:-1], exact[:-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(data.event_time[-1], 3.0, rtol=0, atol=1e-10)


def test_conditions_become_true_by_jumps_of_parameters_and_of_what_follows_from_them():
    model, x = runner()
    p = model.parameter("p", 0.0)
    load = model.parameter("load", -3.0)
    plate = model.body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    weld = model.add(ts.Fixed("weld", model.ground, plate))
    push = model.add(ts.PointForce("push", plate, force=(0, 0, load)))
    model.when(ts.time >= 0.4, ts.switch(push, on=False), name="off")
    model.when(ts.time >= 0.6, ts.assign(p, 1.0), ts.switch(push), ts.assign(load, 3.0), name="jump")
    model.when(p >= 0.5, ts.record("p", p), name="condition")
    model.when(ts.crossing(p - 0.5), ts.record("p", p), name="crossing")
    model.when(ts.falling(p - 0.5), ts.record("p", p), name="falling")
    model.when(weld.reaction_force[2] <= 1.0, ts.record("p", p), name="small")
    model.when(weld.reaction_force[2] <= -1.0, ts.record("p", p), name="pulls")
    data = ts.simulate(model, 1.0, outputs=2)
    assert_happened(
        data, ("off", 0.4), ("small", 0.4), ("jump", 0.6), ("condition", 0.6), ("crossing", 0.6), ("pulls", 0.6)
    )


def test_events_on_multipliers_reactions_rates_and_energies():
    """A pendulum from rest at 90°: hinge force 3 m g sin φ along the arm, where φ is the angle it has fallen."""
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), at=(1, 0, 0))
    ball = model.body("ball", mass=2.0, inertia=0, at=(1, 3, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    string = model.add(ts.Distance("string", model.ground, ball, points=((0, 3, 0), (1, 3, 0))))
    F = hinge.reaction_force
    model.when(ca.dot(F, F) >= (2 * 2.0 * 9.81) ** 2, ts.record("q", hinge.coordinate[0]), name="reaction")
    model.when(ca.fabs(string.multiplier[0]) >= 2 * 2.0 * 9.81, ts.record("q", -ball.position[2]), name="multiplier")
    model.when(ts.crossing(hinge.rate[0]), ts.record("q", hinge.coordinate[0]), name="turn")
    data = ts.simulate(model, 3.0, outputs=3)
    q = {name: data.q.values[data.event_name.values == name] for name in ("reaction", "multiplier", "turn")}
    np.testing.assert_allclose(q["multiplier"], 2 / 3, rtol=1e-8)  # m g (3 sin φ) = 2 m g
    inertia = 1e-3 / 2.0
    along = 1 + 2 / (1 + inertia)  # mg sin φ + m ω²; across it mg cos φ (1 − 1/(1 + J/m))
    s = np.sqrt((4 - (inertia / (1 + inertia)) ** 2) / (along**2 - (inertia / (1 + inertia)) ** 2))
    np.testing.assert_allclose(np.sin(q["reaction"]), s, rtol=1e-8)
    assert len(q["reaction"]) == len(q["multiplier"]) >= 2
    np.testing.assert_allclose(q["turn"][::2], np.pi, atol=1e-6)  # a turning point: second order in the error of time


def test_modes_enable_events_and_are_entered():
    """A hysteresis: on below −0.5, off above 0.5; each event is looked at in its own mode only."""
    model, x = swinger()
    machine = model.modes("heater", "off", "on")
    other = model.modes("other", "a", "b")
    model.when(x <= -0.5, ts.enter(machine["on"]), during=machine["off"], name="start")
    model.when(x >= 0.5, ts.enter(machine["off"]), during=machine["on"], name="stop")
    model.when(x <= 0, ts.record("x", x), during=[machine["on"], other["a"]], name="enabled")
    model.when(x <= 0, ts.record("x", x), during=[machine["on"], other["b"]], name="never")
    data = ts.simulate(model, 2 * np.pi, outputs=40, signals={"mode": machine.number})
    on, off = np.pi / 3, 5 * np.pi / 6
    assert_happened(
        data, ("start", on), ("enabled", on), ("stop", off), ("start", on + np.pi), ("enabled", on + np.pi), ("stop", off + np.pi),
        atol=1e-9,
    )  # fmt: skip
    t = data.time.values % np.pi
    np.testing.assert_array_equal(data["mode"], ((t > on) & (t < off)).astype(float))


def test_a_mode_entered_where_its_event_holds_already_fires_it_at_once():
    model, x = runner()
    machine = model.modes("machine", "wait", "work", "rest")
    model.when(ts.time >= 0.25, ts.enter(machine["work"]), during=machine["wait"], name="go")
    model.when(x >= 0.1, ts.enter(machine["rest"]), during=machine["work"], name="done")
    model.when(ts.rising(x - 0.1), ts.record("x", x), during=machine["rest"], name="missed")
    assert_happened(ts.simulate(model, 1.0, outputs=1), ("go", 0.25), ("done", 0.25))


def test_the_end_of_a_run_by_an_event():
    model, x = runner()
    model.when(x >= 0.55, ts.record("x", x), ts.end(), name="finish")
    model.when(x >= 0.56, ts.record("x", x), name="later")
    data = ts.simulate(model, 1.0, outputs=10)
    assert_happened(data, ("finish", 0.55))
    assert "finish" in data.attrs["status"] and data.attrs["time_reached"] == pytest.approx(0.55, abs=1e-12)
    assert data.time.values[0] == 0.0 and data.time.values[-1] <= 0.55 + 1e-12
    assert np.all(np.isfinite(data.position.values))


@pytest.mark.parametrize("end, times", [(0.5, [0, 0.25, 0.5]), (0.6, [0, 0.25, 0.5]), (0.0, [0])])
def test_what_is_wanted_at_the_instant_at_which_a_run_ends_is_there(end, times):
    model, x = runner()
    model.when(ts.time >= end, ts.end())
    data = ts.simulate(model, 1.0, outputs=4)
    assert data.time.values.tolist() == times and data.attrs["time_reached"] == end
    np.testing.assert_allclose(data.position.values[:, 0, 0], times, atol=1e-12)


def test_forces_are_switched():
    """No force, a force from 0.2 to 0.6, and none again: x is a parabola in between."""
    model, _ = runner(speed=0.0)
    push = model.add(ts.PointForce("push", model["body"], force=(3.0, 0, 0)), active=False)
    model.when(ts.time >= 0.2, ts.switch(push))
    model.when(ts.time >= 0.6, ts.switch(push, on=False))
    data = ts.simulate(model, 1.0, outputs=10)
    t = data.time.values
    np.testing.assert_allclose(data.velocity.values[:, 0, 0], 3 * np.clip(t - 0.2, 0, 0.4), atol=1e-10)
    assert data.attrs["energy_balance_relative"] < 1e-10


def test_conservative_forces_are_switched_and_their_energy_is_accounted_for():
    model, x = swinger(w=2.0)
    model.when(ts.time >= 1.0, ts.switch(model["spring"], on=False), name="cut")
    data = ts.simulate(model, 2.0, outputs=20)
    t = data.time.values
    exact = np.where(t < 1, np.cos(2 * t), np.cos(2.0) - 2 * np.sin(2.0) * (t - 1))
    np.testing.assert_allclose(data.position.values[:, 0, 0], exact, atol=1e-9)
    np.testing.assert_allclose(data.event_energy, -2 * np.cos(2.0) ** 2, rtol=1e-9)
    assert data.attrs["energy_balance_relative"] < 1e-9


def test_locks_hold_what_they_are_engaged_at_and_let_go():
    """A slider with constant force: x = t², locked at t = 1 for a second, then from rest again."""
    model = ts.Model("slider")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    lock = model.add(ts.Lock("lock", rail), active=False)
    model.add(ts.PointForce("push", body, force=(2.0, 0, 0)))
    model.when(ts.time >= 1, ts.engage(lock), name="hold")
    model.when(ts.time >= 2, ts.release(lock), name="free")
    for formulation in ("absolute", "relative", "woronetz"):
        data = ts.simulate(model, 3.0, outputs=12, formulation=formulation)
        t = data.time.values
        exact = np.where(t <= 1, t**2, np.where(t <= 2, 1.0, 1 + (t - 2) ** 2))
        np.testing.assert_allclose(data.coordinate.values[:, 0], exact, atol=1e-9)
        assert_happened(data, ("hold", 1.0), ("free", 2.0))
        np.testing.assert_allclose(data.event_energy, [-2.0, 0.0], atol=1e-9)
        row = data.constraint.values.tolist().index("lock[0]")
        np.testing.assert_allclose(data.event_impulse.values[0, row], -2.0, rtol=1e-9)


def test_events_that_undo_each_other_are_an_error_that_keeps_the_data():
    model, x = runner()
    p = model.parameter("p", 0.0)
    model.when(ca.logic_and(x >= 0.5, p <= 0), ts.assign(p, 1.0), name="up")
    model.when(p >= 1, ts.assign(p, 0.0), name="down")
    model.when(ts.time >= 0.2, ts.record("x", x), name="before")
    with pytest.raises(RunError, match="'(up|down)'.*again and again without time passing.*t = 0.5") as caught:
        ts.simulate(model, 1.0, outputs=10)
    data = caught.value.data
    np.testing.assert_allclose(data.time.values[:5], np.arange(5) / 10, atol=1e-12)
    assert data.event_name.values[0] == "before" and data.sizes["event"] > 10


def series(accumulate, ratio=0.5):
    """Events at 0.5, then after ever shorter intervals 0.2, 0.2 r, 0.2 r² …"""
    model, x = runner()
    following, interval = model.parameter("following", 0.5), model.parameter("interval", 0.2)
    model.when(
        ts.time >= following, ts.assign(following, following + interval), ts.assign(interval, ratio * interval),
        ts.record("x", x), name="tick", accumulate=accumulate,
    )  # fmt: skip
    return model


@pytest.mark.parametrize("ratio", [0.5, 0.8])
def test_accumulating_events_are_recognised(ratio):
    limit = 0.5 + 0.2 / (1 - ratio)
    with pytest.raises(RunError, match=r"'tick' fires at ever shorter intervals.*accumulate='end'") as caught:
        ts.simulate(series("error", ratio), 2.0, outputs=20)
    data = caught.value.data
    exact = 0.5 + 0.2 * (1 - ratio ** np.arange(data.sizes["event"])) / (1 - ratio)
    np.testing.assert_allclose(data.event_time, exact, atol=1e-12)
    assert abs(data.event_time.values[-1] - limit) < 1e-9
    ended = ts.simulate(series("end", ratio), 2.0, outputs=20)
    assert ended.attrs["time_reached"] == pytest.approx(limit, abs=1e-9) and "tick" in ended.attrs["status"]
    ignored = ts.simulate(series("ignore", ratio), 2.0, outputs=20)
    assert ignored.attrs["time_reached"] == 2.0 and ignored.sizes["time"] == 21
    np.testing.assert_allclose(ignored.event_time[: data.sizes["event"]], exact, atol=1e-12)


def test_a_ball_by_hand_is_the_ball_of_a_contact():
    """A strike by the user's own event, of a contact that a user declares: the same bounces."""

    def ball(by_hand):
        model = ts.Model("ball", gravity=(0, 0, -9.81))
        body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
        if by_hand:
            plane = model.add(ts.Holonomic("floor", body.position[2]), active=False)
            model.when(body.position[2] <= 0, ts.strike(plane, restitution=0.5), name="hit")
        else:
            model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=0.5))
        return ts.simulate(model, 1.2, outputs=12)

    one, two = ball(False), ball(True)
    np.testing.assert_allclose(two.event_time, one.event_time, atol=1e-10)
    np.testing.assert_allclose(two.position, one.position, atol=1e-10)


def test_many_switches_take_few_steps():
    """Ten thousand bounces to and fro: a switch costs some steps of the integrator."""
    model, x = runner(speed=10.0)
    model.add(ts.Slot("slot", model.ground, model["body"], normal=(1, 0, 0), clearance=1.0, restitution=1.0))
    ts.simulate(model, 1.0, outputs=1)
    data = ts.simulate(model, 1000.0, outputs=1)
    n = data.sizes["event"]
    assert abs(n - 10000) <= 1
    assert data.attrs["steps"] < 1.1 * n and data.attrs["evaluations"] < 20 * n and data.attrs["structures"] == 2
    np.testing.assert_allclose(data.event_time, 0.05 + 0.1 * np.arange(n), rtol=1e-10)


def test_a_function_without_a_rate_at_the_start_is_watched_all_the_same():
    """The speed of a body at rest: its rate is 0/0 there."""
    model = ts.Model("fall", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.when(ca.norm_2(body.velocity) >= 5, ts.record("z", body.position[2]), name="fast")
    data = ts.simulate(model, 2.0, outputs=2)
    assert_happened(data, ("fast", 5 / 9.81))
    np.testing.assert_allclose(data.z, -(5.0**2) / 2 / 9.81, rtol=1e-10)


def test_elements_that_never_act_are_as_if_they_were_not_there():
    model = ts.Model("fall", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Fixed("hook", model.ground, body), active=False)
    data = ts.simulate(model, 1.0, outputs=2)
    np.testing.assert_allclose(data.position.values[-1, 0], (0, 0, -9.81 / 2), atol=1e-10)
