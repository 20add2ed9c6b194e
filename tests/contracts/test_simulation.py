"""A simulation that is driven from Python is that of `simulate`, in parts."""

import pickle
import tracemalloc

import numpy as np
import pytest
from models import four_bar

import torsor as ts
from torsor.look.dataset import UNIQUE

pytestmark = pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # some methods are for drafts
METHODS = ts.registered("integrator")
DT, COUNT = 0.01, 12


def stopped():
    """A closed loop whose crank is driven, and hits a stop."""
    model = four_bar()
    model.add(ts.JointForce("motor", model["A"], value=model.input("torque", 0.3)))
    model.add(ts.Limit("stop", model["A"], upper=0.02, restitution=0.5))
    return model


def rods():
    """Two rods that hang from a ball joint, a state, signals of one and of three components."""
    model = ts.Model("rods", gravity=(0, 0, -9.81))
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0), angular_velocity=(0.2, 0, 1))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    model.add(ts.Spherical("top", model.ground, upper, point=(0, 0, 0)))
    knee = model.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis=(0, 1, 0.2)))
    heat = model.state("heat", rate=lambda x: 2.0 - x, start=0.5)
    model.add(ts.JointForce("push", knee, value=heat))
    model.signal("height", lower.position[2])
    model.signal("place", lower.position)
    return model


def motor():
    model = ts.Model("motor")
    wheel = model.body("wheel", mass=1.0, inertia=(0.5, 0.5, 0.5))
    axle = model.add(ts.Revolute("axle", model.ground, wheel, axis="z"))
    torque = model.input("torque", 0.0)
    model.add(ts.JointForce("drive", axle, value=torque))
    model.when(torque >= 2.0, ts.record("strong", axle.rate[0]), name="strong")
    return model


def stepped(sim, count=COUNT, **inputs):
    """Outputs after each of some steps."""
    found = []
    for _ in range(count):
        sim.advance(DT, **inputs)
        found.append(np.concatenate([sim["position"].ravel(), sim["velocity"].ravel(), [sim["energy"], sim["work"]]]))
    return np.array(found)


def told(data):
    parts = [data[name].values.reshape(data.sizes["time"], -1) for name in ("position", "velocity", "energy", "work")]
    return np.concatenate(parts, axis=1)[1:]


@pytest.mark.parametrize("method", METHODS)
def test_fixed_steps_are_those_of_simulate_bit_for_bit(method):
    """In a loop, with impacts."""
    model, given = stopped(), {"method": method, "step": DT}
    data = ts.simulate(model, DT * COUNT, np.arange(COUNT + 1) * DT, **given)
    sim = ts.Simulation(model, **given, horizon=DT * COUNT)
    assert np.array_equal(stepped(sim), told(data)) and sim.events
    for name in ("energy_by_events", "multiplier"):
        assert np.array_equal(sim[name], data[name].values[-1])


@pytest.mark.parametrize("method", [key for key, cls in METHODS.items() if cls.adaptive()])
def test_adaptive_steps_agree_with_simulate_to_tolerance(method):
    model, given = stopped(), {"method": method, "tolerance": 1e-9}
    data = ts.simulate(model, DT * COUNT, np.arange(COUNT + 1) * DT, **given)
    sim = ts.Simulation(model, **given)
    found, scale = stepped(sim), np.abs(told(data)).max(axis=0) + 1.0
    assert np.abs((found - told(data)) / scale).max() < 1e-6
    assert [event.name for event in sim.events] == list(data.event_name.values)
    assert [event.time for event in sim.events] == pytest.approx(data.event_time.values, abs=1e-8)


def test_the_length_of_steps_is_remembered():
    """A tenth of a step at a time costs about ten times the steps, and not what a first step costs each time."""
    sim = ts.Simulation(rods())
    sim.advance(0.5)
    before, longest = sim.steps, sim._state.step
    for _ in range(50):
        sim.advance(longest / 10)
    assert sim.steps - before <= 55


def test_values_are_those_of_a_result():
    model = rods()
    data = ts.simulate(model, 0.1, [0.0, 0.1], method="rkmk4", step=0.01).isel(time=-1)
    sim = ts.Simulation(model, method="rkmk4", step=0.01, horizon=0.1)
    sim.advance(0.1)
    for name in data.data_vars:
        if name not in UNIQUE:
            assert np.array_equal(sim[name], data[name]), name
    assert np.array_equal(sim["lower.rotation"], data.rotation.sel(body="lower"))
    assert np.array_equal(sim["knee.reaction_force"], data.reaction_force.sel(joint="knee"))
    assert np.array_equal(sim["top.rate"], data.rate.values[:3]) and sim["knee.coordinate"] == data.coordinate.values[3]
    assert np.array_equal(sim["top"], data.coordinate.values[:3]) and sim["knee"] == sim["knee.coordinate"]
    assert np.array_equal(sim["place"], sim["lower.position"]) and sim["time"] == sim.time == 0.1
    assert np.array_equal(np.asarray(sim.coordinates), data.coordinate) and sim.rates["knee"] == data.rate.values[3]
    assert list(sim.coordinates) == list(data.joint_coordinate.values) and "heat" in sim.names


def test_inputs_are_held_between_calls():
    """α = τ/J in each of three intervals; an input that jumps makes conditions true at that instant."""
    sim = ts.Simulation(motor())
    sim.advance(0.5, torque=1.0)
    sim.advance(0.25)
    assert sim["axle.rate"] == pytest.approx(1.5, rel=1e-12)
    assert not sim.events
    sim.inputs["torque"] = 2.5
    sim.advance(0.25)
    assert sim["axle.rate"] == pytest.approx(1.5 + 1.25, rel=1e-12)
    assert [(event.name, event.time) for event in sim.events] == [("strong", 0.75)]
    assert dict(sim.inputs) == {"torque": 2.5}
    sim.reset()
    assert (sim.time, sim["axle.rate"], sim.inputs["torque"], sim.events) == (0.0, 0.0, 0.0, [])


@pytest.mark.parametrize("method", [key for key, cls in METHODS.items() if cls.order > 1])
def test_inputs_that_change_do_the_work_that_the_energy_gains(method):
    """Torques that are held for any time: φ += ω h + τ h²/(2 J), ω += τ h/J, W += τ Δφ = ΔE, with an event where τ passes 2."""
    draw, inertia, turned, rate, work, before, strong = np.random.default_rng(2), 0.5, 0.0, 0.0, 0.0, 0.0, 0
    sim = ts.Simulation(motor(), method=method, step=None if METHODS[method].adaptive() else 0.004)
    for torque in draw.normal(scale=2, size=30).tolist():
        h, strong, before = float(draw.uniform(0.001, 0.03)), strong + (torque >= 2.0 > before), torque
        sim.advance(h, torque=torque)
        gained = rate * h + torque * h**2 / (2 * inertia)
        turned, rate, work = turned + gained, rate + torque * h / inertia, work + torque * gained
    found = [sim["axle.coordinate"], sim["axle.rate"], sim["work"], sim["energy"]]
    np.testing.assert_allclose(found, [turned, rate, work, work], rtol=0, atol=1e-12)
    assert len(sim.events) == strong > 0


@pytest.mark.parametrize("method", METHODS)
def test_a_state_is_kept_and_restored(method, tmp_path):
    """In memory, in a file and in a copy; from there on the same bits, also with impacts behind and before."""
    sim = ts.Simulation(stopped(), method=method, step=DT)
    stepped(sim, 4)
    state, twin = sim.state, sim.copy()
    ahead, happened = stepped(sim, 10, torque=4.0), sim.events
    assert happened
    state.save(tmp_path / "state")
    stepped(sim, 3, torque=-1.0)
    for again in (state, ts.load_state(tmp_path / "state")):
        sim.state = again
        assert sim.inputs["torque"] == 0.3
        assert np.array_equal(stepped(sim, 10, torque=4.0), ahead) and sim.events == happened
    assert np.array_equal(stepped(twin, 10, torque=4.0), ahead)
    if method == "rkmk4":
        sim.state = state
        assert np.array_equal(stepped(pickle.loads(pickle.dumps(sim)), 10, torque=4.0), ahead)


@pytest.mark.parametrize("method", ["rkmk4", "variational4", "generalized-alpha", "bdf"])
def test_where_a_step_fails_the_last_good_state_is_kept(method):
    """And is gone on from, when what was not a number is one."""
    model = ts.Model("wall")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    edge = model.input("edge", 0.5)
    model.add(ts.JointForce("root", rail, value=(edge - rail.coordinate[0]) ** 0.5))
    sim = ts.Simulation(model, method=method, step=0.01)
    sim.advance(0.5)
    with pytest.raises(ts.RunError, match="model 'wall': stopped at t = .*joint-force 'root' is not a number"):
        sim.advance(2.0)
    reached = sim.time
    assert 0.5 < reached < 2.5 and np.isfinite(sim["rail.coordinate"]) and sim["rail.coordinate"] < 0.5
    speed = sim["rail.rate"]
    sim.advance(1e-3, edge=4.5)
    assert sim.time == pytest.approx(reached + 1e-3) and sim["rail.rate"] == pytest.approx(speed + 2e-3, abs=1e-5)


def test_looking_at_events_loses_none():
    """However often somebody looks, and whatever states are taken and restored on the way."""
    sim = ts.Simulation(motor())
    for k in range(100):
        sim.advance(0.01, torque=3.0 if k % 2 else 0.0)
        assert len(sim.events) == (k + 1) // 2
        sim.state = sim.state
    assert [event.time for event in sim.events] == pytest.approx(0.01 + 0.02 * np.arange(50))


def test_an_event_ends_a_simulation():
    model = motor()
    model.when(model["axle"].coordinate[0] >= 0.25, ts.end(), name="turned")
    sim = ts.Simulation(model)
    sim.advance(2.0, torque=1.0)
    assert sim.time == pytest.approx(0.5) and sim.end_reason == "ended by event 'turned'"
    with pytest.raises(ts.RunError, match="ended by event 'turned' at t = 0.5 s; reset"):
        sim.advance(0.1)
    sim.reset()
    sim.advance(0.1)
    assert not sim.end_reason


def test_tables_bend_beyond_the_horizon():
    """A force that goes up and down in straight lines: v = t/2 after whole periods of 1 s, whatever the horizon is."""
    model = ts.Model("rail")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    zigzag = ts.table(np.arange(0, 31) / 2, np.arange(31) % 2, kind="linear")
    model.add(ts.JointForce("push", rail, value=zigzag(ts.time)))
    sim = ts.Simulation(model, method="rkmk4", step=0.3, horizon=2.0)
    for _ in range(12):
        sim.advance(1.0)
    assert sim["rail.rate"] == pytest.approx(6.0, abs=1e-12)


def test_tables_bend_wherever_a_simulation_begins():
    """Before 0, at a bend, and where a state is restored that lies before the start: m v = ∫ F dt to rounding with long steps."""
    x, y = np.array([-2.9, -1.7, -0.4, 0.0, 0.77, 1.31, 2.9]), np.array([0, 3, -2, 5, 1, -4, 2])
    model = ts.Model("cart")
    rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.JointForce("push", rail, ts.table(x, y)(ts.time)))

    def impulse(start, end):
        t = np.unique(np.clip([start, end, *x], start, end))
        F = np.interp(t, x, y)
        return np.sum(np.diff(t) * (F[1:] + F[:-1]) / 2)

    sim = ts.Simulation(model, method="rkmk4", step=0.2)
    for start in (-3.0, -1.7, 0.0, 0.77, 1.0):
        sim.reset(time=start)
        moment = sim.state
        sim.advance(1.9)
        assert sim.rates["rail"] == pytest.approx(impulse(start, start + 1.9), abs=1e-13)
    sim.reset(time=1.31)
    sim.state = moment
    sim.advance(1.5)
    assert sim.rates["rail"] == pytest.approx(impulse(1.0, 2.5), abs=1e-13)


def test_controllers_are_asked_as_in_a_run():
    """Sampled at 13 ms in steps of 10 ms; also from a state that was kept between two samples."""
    model = motor()
    axle = model["axle"]
    pilot = ts.Controller("pilot", 0.013, [axle.coordinate, axle.rate], ["torque"], lambda t, u: 1.0 - u[0] - u[1])
    model.add(ts.JointForce("drive2", axle, model.add(pilot)["torque"]))
    given = {"method": "rkmk4", "step": DT}
    data = ts.simulate(model, 0.3, np.arange(31) * DT, **given)
    sim = ts.Simulation(model, **given, horizon=0.3)
    stepped(sim, 15)
    state = sim.state
    for _ in range(2):
        assert np.array_equal(stepped(sim, 15), told(data)[15:])
        sim.state = state


def test_what_a_function_tries_on_a_copy_takes_as_long_as_it_is_told():
    """Amid a call: 0.1 s from the sample on, and not to the end of another call."""
    model, tried = motor(), []

    def ahead(t, u):
        if not tried:  # a copy asks, too
            tried.append(sim.copy())
            tried[0].advance(0.1)
        return 1.0

    pilot = model.add(ts.Controller("pilot", 1.0, [model["axle"].rate], ["torque"], ahead, phase=0.03))
    model.add(ts.JointForce("drive2", model["axle"], pilot["torque"]))
    sim = ts.Simulation(model)
    sim.advance(0.1)
    assert (tried[0].time, tried[0]["axle.coordinate"]) == pytest.approx((0.13, 0.5 * 2.0 * 0.1**2), rel=1e-9)


def test_memory_does_not_grow():
    sim = ts.Simulation(stopped(), method="rkmk4", step=DT)
    for _ in range(500):
        sim.advance(DT, torque=float(sim.rates.array[0]))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(3000):
        sim.advance(DT, torque=float(sim.rates.array[0]))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000


def test_what_is_known_can_be_asked_for():
    """By `in` and `get`, as of any mapping; everything that is named has a value."""
    sim = ts.Simulation(motor())
    assert "axle" in sim.coordinates and "axel" not in sim.coordinates and [1] not in sim.coordinates
    assert sim.rates.get("axel") is None and sim.rates.get("axle", 7.0) == 0.0
    assert sim.inputs.get("torque") == 0.0 and sim.inputs.get("talk", 3.0) == 3.0 and "talk" not in sim.inputs
    assert "energy" in sim and "energie" not in sim and 0 not in sim
    assert list(sim) == sim.names and all(np.isfinite(sim[name]).all() for name in sim)


@pytest.mark.parametrize("method, step", [("rkmk54", None), ("rkmk4", 0.1), ("rkmk4", 0.03)])
def test_a_strike_at_the_end_of_a_call_happens_once(method, step):
    """A ball that falls by 1 m at 2 m/s² strikes after 1 s, and rises again by t − t² with half its speed."""
    model = ts.Model("ball", gravity=(0, 0, -2))
    ball = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0), restitution=0.5))
    sim = ts.Simulation(model, method=method, step=step)
    sim.advance(1.0)
    sim.advance(0.5)
    assert [event.time for event in sim.events] == pytest.approx([1.0]) and sim["ball.position"][2] == pytest.approx(
        0.25
    )


def test_a_call_that_would_never_end_does(monkeypatch):
    monkeypatch.setattr("torsor.run.stepper.PROGRESS_CHECK_AFTER", 0.05)
    model = ts.Model("swing")
    cart = model.body("cart", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, cart, axis="x"))
    model.add(ts.JointForce("spring", rail, -rail.coordinate[0]))
    sim = ts.Simulation(model)
    with pytest.raises(ts.RunError, match="the run would take more than 30 days at its present pace"):
        sim.advance(1e60)
    assert 0 < sim.time < 1e9


def test_bad_input_is_refused():
    sim = ts.Simulation(motor())
    for dt in (0.0, -1.0, np.nan, np.inf, "1"):
        with pytest.raises(ts.OptionError, match="advance: dt must be a positive number of seconds"):
            sim.advance(dt)
    with pytest.raises(ts.OptionError, match="unknown input 'torqe'. Did you mean 'torque'. Known: torque"):
        sim.advance(0.1, torqe=1.0)
    with pytest.raises(ts.ModelError, match="input 'torque': value must be finite, got nan"):
        sim.advance(0.1, torque=np.nan)
    for refused in (lambda: sim.advance(0.1, torque=3.0, torqe=1.0), lambda: sim.advance(-0.1, torque=3.0)):
        with pytest.raises(ts.OptionError):
            refused()
    assert sim.inputs["torque"] == motor().parameters["torque"].value and sim.time == 0.0  # nothing has changed
    with pytest.raises(AttributeError, match="inputs"):
        sim.inputs = {"torque": 1.0}  # they would be a dictionary that nobody reads
    with pytest.raises(ts.OptionError, match="unknown signal 'axle.rat'. Did you mean 'axle.rate'"):
        sim["axle.rat"]
    with pytest.raises(ts.OptionError, match="unknown coordinate 'hinge'. Known: axle"):
        sim.coordinates["hinge"]
    sim.advance(1.0)
    with pytest.raises(ts.OptionError, match="1e-17 s are less than the rounding of the time"):
        sim.advance(1e-17)
    assert sim.time == 1.0
    with pytest.raises(ts.OptionError, match="the state is that of another model"):
        sim.state = ts.Simulation(rods()).state
    with pytest.raises(ts.OptionError, match="the state belongs to method 'rkmk4', not 'rkmk54'"):
        sim.state = ts.Simulation(motor(), method="rkmk4", step=0.1).state
    model = motor()
    model.parameter("size", 1.0)
    with pytest.raises(ts.OptionError, match="the state belongs to parameters {'size': 1.0}, not {'size': 2.0}"):
        ts.Simulation(model, parameters={"size": 2.0}).state = ts.Simulation(model).state
    with pytest.raises(ts.OptionError, match="signals=.* cannot be pickled; declare them with `model.signal`"):
        pickle.dumps(ts.Simulation(model, signals={"late": ts.time}))
    with pytest.raises(ts.OptionError, match="give a torsor.Model"):
        ts.Simulation("motor")
    with pytest.raises(ts.OptionError, match="has no step-size control"):
        ts.Simulation(motor(), method="rkmk4", step=None)
