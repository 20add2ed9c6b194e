"""Elements that are engaged and released: what is inactive neither acts nor is watched, in closed form."""

import numpy as np
import pytest

import torsor as ts

G = 9.81
FORMULATIONS = ["absolute", "relative", "woronetz", "hamiltonian", "hierarchical"]


def falling():
    """A body of 1 kg on a vertical guide."""
    model = ts.Model("fall", gravity=(0, 0, -G))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    return model, body, model.add(ts.Prismatic("guide", model.ground, body, axis="z"))


def wheels():
    """Two wheels on one axis, the first of which turns."""
    model = ts.Model("wheels")
    first, second = (model.body(name, mass=1.0, inertia=(1, 1, 1)) for name in ("first", "second"))
    one = model.add(ts.Revolute("one", model.ground, first, axis="z", point=(0, 0, 0), start_rate=1.0))
    return model, (first, second), (one, model.add(ts.Revolute("two", model.ground, second, axis="z", point=(0, 0, 0))))


FLOORS = {
    "contact": lambda m, b, j: ts.Contact("floor", m.ground, b, plane=(0, 0, -0.5)),
    "limit": lambda m, b, j: ts.Limit("floor", j, lower=-0.5),
    "slot": lambda m, b, j: ts.Slot("floor", m.ground, b, normal="z", clearance=1.0),
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("key", FLOORS)
def test_a_floor_acts_from_when_its_gap_closes_until_it_is_released(key, formulation):
    model, body, guide = falling()
    floor = model.add(FLOORS[key](model, body, guide), active=False)
    model.when(ts.time >= 0.2, ts.engage(floor), name="arm")
    model.when(ts.time >= 0.6, ts.release(floor), name="disarm")
    data = ts.simulate(model, 1.0, outputs=[0.2, 0.5, 1.0], formulation=formulation)
    lands = np.sqrt(2 * 0.5 / G)
    np.testing.assert_allclose(data.event_time, [0.2, lands, 0.6], atol=1e-9)
    np.testing.assert_allclose(data.coordinate[:, 0], [-G * 0.02, -0.5, -0.5 - G * 0.08], atol=1e-9)
    np.testing.assert_allclose(data.multiplier.sel(constraint="floor[0]"), [0, G, 0], atol=1e-9)


@pytest.mark.parametrize("method", ["rkmk54", "rkmk4", "radau5", "bdf", "generalized-alpha", "variational"])
def test_a_contact_that_is_pressed_lets_go_when_it_is_released(method):
    model, body, guide = falling()
    floor = model.add(ts.Contact("floor", model.ground, body))
    model.when(ts.time >= 0.5, ts.release(floor), name="go")
    model.when(ts.time >= 0.75, ts.record("fallen", guide.coordinate[0]), name="look")
    adaptive = method in ("rkmk54", "radau5", "bdf")
    data = ts.simulate(model, 1.0, outputs=[0.5, 1.0], method=method, step=None if adaptive else 0.01)
    near = 1e-4 if method == "generalized-alpha" else 1e-7  # of order 2, with steps of 0.01 s
    np.testing.assert_allclose(data.coordinate[-1, 0], -G / 8, atol=near)
    np.testing.assert_allclose(data.fallen[-1], -G / 32, atol=near)


def test_a_contact_that_is_engaged_where_it_touches_closes_at_once_and_one_that_is_left_stays_open():
    for speed, after in ((0.0, 0.0), (-1.0, 0.0), (2.0, 2.0 * 0.1 - G * 0.005)):
        model = ts.Model("touch", gravity=(0, 0, -G))
        body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, speed))
        floor = model.add(ts.Contact("floor", model.ground, body), active=False)
        model.when(ts.time >= 0.0, ts.engage(floor), name="arm")
        data = ts.simulate(model, 0.1, outputs=1)
        np.testing.assert_allclose(data.position[-1, 0, 2], after, atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_friction_slides_and_sticks_while_it_is_engaged(formulation):
    model, _, guide = falling()
    rub = model.add(ts.Friction("rub", guide, coefficient=1.0, normal=100.0), active=False)
    model.when(ts.time >= 0.5, ts.engage(rub), name="on")
    model.when(ts.time >= 0.8, ts.release(rub), name="off")
    data = ts.simulate(model, 1.0, outputs=1, formulation=formulation)
    speed, brake = G * 0.5, 100.0 - G
    assert data.event_name.values.tolist() == ["on", "rub.stick", "off"]
    np.testing.assert_allclose(data.event_time[1], 0.5 + speed / brake, atol=1e-9)
    np.testing.assert_allclose(data.coordinate[-1, 0], -G / 8 - speed**2 / (2 * brake) - G * 0.02, atol=1e-9)


@pytest.mark.parametrize("switch", ["engage", "switch"])
def test_a_clutch_transmits_its_torque_while_it_is_engaged(switch):
    model, (first, second), _ = wheels()
    clutch = model.add(ts.Clutch("clutch", first, second, torque=10.0), active=False)
    on, off = (
        (ts.engage(clutch), ts.release(clutch))
        if switch == "engage"
        else (ts.switch(clutch), ts.switch(clutch, on=False))
    )
    model.when(ts.time >= 0.50, on, name="on")
    model.when(ts.time >= 0.52, off, name="off")
    data = ts.simulate(model, 1.0, outputs=1)
    np.testing.assert_allclose(data.rate[-1], [0.8, 0.2], atol=1e-10)


def test_backlash_transmits_from_when_its_play_is_used_up_after_it_is_engaged():
    model, _, (one, two) = wheels()
    play = model.add(ts.Backlash("play", one, two, play=1.0), active=False)
    model.when(ts.time >= 0.2, ts.engage(play), name="arm")
    data = ts.simulate(model, 1.0, outputs=1)
    np.testing.assert_allclose(data.event_time, [0.2, 0.5], atol=1e-10)
    np.testing.assert_allclose(data.rate[-1], [0.5, 0.5], atol=1e-10)


@pytest.mark.parametrize("feet", [1, 2, 4])
def test_friction_of_feet_acts_while_it_and_its_contacts_do(feet):
    """A block that slides: friction is released, or the floor is, which it falls through."""
    mu, v = 0.2, 1.0
    for released in ("friction", "contacts"):
        model = ts.Model("block", gravity=(0, 0, -G))
        block = model.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=(v, 0, 0))
        points = {
            1: [(0, 0, 0)],
            2: [(-0.1, 0, 0), (0.1, 0, 0)],
            4: [(x, y, 0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)],
        }[feet]
        floor = [model.add(ts.Contact(f"foot{k}", model.ground, block, point=p)) for k, p in enumerate(points)]
        rubs = [model.add(ts.Friction(f"rub{k}", c, coefficient=mu)) for k, c in enumerate(floor)]
        model.when(ts.time >= 0.2, ts.release(*(rubs if released == "friction" else floor)), name="off")
        data = ts.simulate(model, 1.0, outputs=1)
        slid = 0.2 * v - mu * G * 0.02 + (v - mu * G * 0.2) * 0.8
        fallen = 0.0 if released == "friction" else -G * 0.32
        np.testing.assert_allclose(data.position[-1, 0].values, [slid, 0, fallen], atol=1e-9)


def test_an_impact_has_no_friction_that_is_inactive():
    model = ts.Model("ball", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1.1), velocity=(1.0, 0, 0))
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), restitution=0.5))
    model.add(ts.Friction("rub", floor, coefficient=0.3), active=False)
    data = ts.simulate(model, 1.5, outputs=1)
    np.testing.assert_allclose(data.position[-1, 0, 0], 1.5, atol=1e-10)
    np.testing.assert_allclose(data.angular_velocity[-1, 0], 0.0, atol=1e-12)


def test_what_is_breakable_breaks_only_while_that_is_watched():
    model = ts.Model("hook", gravity=(0, 0, -G))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    hook = model.add(ts.Fixed("hook", model.ground, body))
    weak = model.add(ts.Breakable("weak", hook, force=1.0), active=False)
    model.when(ts.time >= 0.5, ts.engage(weak), name="on")
    data = ts.simulate(model, 1.0, outputs=1)
    assert data.event_name.values.tolist() == ["on", "weak.break"]
    np.testing.assert_allclose(data.position[-1, 0, 2], -G / 8, atol=1e-10)


LAWS = {
    "expressions": lambda joint: {"outputs": {"f": 1.0 + 0 * joint.rate[0]}},
    "compiled": lambda joint: {
        "outputs": ["f"],
        "inputs": [joint.rate[0]],
        "function": lambda t, u: 1.0 + 0 * u[0],
        "compiled": True,
    },
    "python": lambda joint: {"outputs": ["f"], "inputs": [joint.rate[0]], "function": lambda t, u: 1.0},
}


@pytest.mark.parametrize(("delay", "phase"), [(0.0, 0.0), (0.13, 0.02)])
@pytest.mark.parametrize("law", LAWS)
def test_a_controller_samples_while_it_is_engaged_and_its_outputs_are_those_of_the_start_else(law, delay, phase):
    """It acts from the first sample after it is engaged, and the delay; again so after it was released."""
    model = ts.Model("cart")
    cart = model.body("cart", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, cart, axis="x"))
    pilot = model.add(ts.Controller("pilot", 0.1, delay=delay, phase=phase, **LAWS[law](rail)), active=False)
    model.add(ts.JointForce("push", rail, pilot["f"]))
    model.when(ts.time >= 0.25, ts.engage(pilot), name="on")
    model.when(ts.time >= 0.55, ts.release(pilot), name="off")
    model.when(ts.time >= 0.75, ts.engage(pilot), name="again")
    data = ts.simulate(model, 1.0, outputs=[0.5, 0.7, 1.0])
    first, again = (phase + 0.1 * np.ceil((t - phase) / 0.1) + delay for t in (0.25, 0.75))
    speeds = [0.5 - first, 0.55 - first, 0.55 - first + max(1.0 - again, 0.0)]
    np.testing.assert_allclose(data.rate[:, 0], speeds, atol=1e-12)


def test_forces_and_constraints_are_engaged_and_released_by_the_same_words():
    model, _, guide = falling()
    lift = model.add(ts.JointForce("lift", guide, 2 * G), active=False)
    lock = model.add(ts.Lock("lock", guide), active=False)
    model.when(ts.time >= 0.2, ts.engage(lift), name="up")
    model.when(ts.time >= 0.4, ts.release(lift), ts.engage(lock), name="hold")
    data = ts.simulate(model, 1.0, outputs=1)
    np.testing.assert_allclose(data.coordinate[-1, 0], -G * 0.02 - G * 0.2 * 0.2 + G * 0.02, atol=1e-10)
