"""Rows of the time line: a constraint is engaged exactly when the physics of simple cases says so."""

import casadi as ca
import numpy as np
import pytest
import xarray as xr

import torsor as ts
from torsor.scene.scene import scene
from torsor.viewer.time_line import engagement_rows

G = 9.81


def rows(model, data):
    return {row["name"]: row for row in engagement_rows(data, scene(model))}


@pytest.mark.parametrize("outputs", [7, 80])
def test_a_ball_that_bounces_is_not_held_until_it_rests(outputs):
    """Heights 0.9 m and restitution ½: it rests after t = √(2h/g) (1 + e)/(1 − e)."""
    model = ts.Model("ball", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 1.0))
    model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), restitution=0.5))
    data = ts.simulate(model, 4.0, outputs=outputs)
    row = rows(model, data)["floor"]
    rest = np.sqrt(2 * 0.9 / G) * 3
    ((start, end),) = row["spans"]
    assert abs(start - rest) < 1e-4 and end == 4.0


def test_a_contact_is_released_where_a_force_lifts_the_body():
    """Pulled upwards with 12 t N: the contact opens where that is the weight."""
    model = ts.Model("lift", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=0)
    model.add(ts.Contact("floor", model.ground, ball))
    model.add(ts.PointForce("pull", ball, force=(0, 0, 12.0 * ts.time)))
    data = ts.simulate(model, 1.0, outputs=10)
    ((start, end),) = rows(model, data)["floor"]["spans"]
    assert start == 0 and abs(end - G / 12) < 1e-6


def test_a_stop_is_engaged_while_it_is_pressed():
    """A slider is pushed with 2 cos t against its upper stop: it leaves where the force changes its sign."""
    model = ts.Model("stop")
    body = model.body("slider", mass=1.0, inertia=(1, 1, 1))
    slide = model.add(ts.Prismatic("slide", model.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ts.Limit("end", slide, upper=0.2))
    model.add(ts.JointForce("push", slide, 2 * ca.cos(ts.time)))
    data = ts.simulate(model, 2.5, outputs=9)
    ((start, end),) = rows(model, data)["end"]["spans"]
    assert abs(start - np.arccos(0.9)) < 1e-6 and abs(end - np.pi / 2) < 1e-6  # 2 (1 − cos t) = 0.2


def test_friction_is_engaged_while_it_sticks():
    """A block on a table is pulled with 3t N: it slides from 3t = μ m g on."""
    model = ts.Model("block", gravity=(0, 0, -G))
    block = model.body("block", mass=1.0, inertia=(1, 1, 1))
    floor = model.add(ts.Contact("floor", model.ground, block))
    model.add(ts.NoRotation("upright", model.ground, block, about=((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    model.add(ts.Friction("rub", floor, coefficient=0.3))
    model.add(ts.PointForce("pull", block, force=(3 * ts.time, 0, 0)))
    data = ts.simulate(model, 2.0, outputs=6)
    found = rows(model, data)
    assert found["floor"]["spans"] == [[0.0, 2.0]]
    ((start, end),) = found["rub"]["spans"]
    assert start == 0 and abs(end - 0.3 * G / 3) < 1e-6 and not found["rub"]["gaps"]


def test_a_released_joint_is_free_from_the_event_on():
    model = ts.Model("drop", gravity=(0, 0, -G))
    body = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.when(ts.time >= 0.4, ts.release(hinge))
    data = ts.simulate(model, 1.0, outputs=20)
    ((start, end),) = rows(model, data)["hinge"]["spans"]
    assert start == 0 and abs(end - 0.4) < 1e-9


def test_joints_that_events_switch_are_known_from_their_events():
    """Nothing loads the constraint across the plane of a planar motion: its state follows from the events that release it."""
    data = ts.simulate(ts.cases.load("booster"), 2.0, outputs=200)
    found = rows(ts.cases.load("booster"), data)
    moments = dict(zip(map(str, data["event_name"].values), data["event_time"].values))
    for name, released in (("nose_x", "slide"), ("nose_y", "separation"), ("nose_z", "separation")):
        assert found[name] == {"name": name, "spans": [[0.0, moments[released]]], "gaps": []}


def test_a_joint_that_is_released_and_engaged_again_has_two_spans():
    model = ts.Model("catch", gravity=(0, 0, -G))
    body = model.body("bob", mass=1.0, inertia=0)
    hold = model.add(ts.FixedPoint("hold", model.ground, body))
    model.when(ts.time >= 0.25, ts.release(hold))
    model.when(ts.time >= 0.5, ts.engage(hold, snap=True))
    assert rows(model, ts.simulate(model, 1.0, outputs=5))["hold"]["spans"] == [[0.0, 0.25], [0.5, 1.0]]


def test_a_contact_that_is_never_met_is_released_for_sure():
    model = ts.Model("fall", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=0, at=(0, 0, 100.0))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0)))
    assert rows(model, ts.simulate(model, 1.0, outputs=5))["floor"] == {"name": "floor", "spans": [], "gaps": []}


def test_what_is_not_known_is_a_gap_and_not_the_whole_row():
    """Loaded until t = 1, released from t = 2 on; between two events of another contact there is no output."""
    times, load = [0.0, 1.0, 2.0, 3.0], [[1.0], [1.0], [0.0], [0.0]]
    events = {"event_time": ("event", [1.2, 1.3]), "event_name": ("event", ["other.touch", "other.touch"])}
    variables = {"multiplier": (("time", "constraint"), load), **events}
    data = xr.Dataset(variables, {"time": times, "constraint": ["floor[0]"]})
    scenery = {"joints": [{"name": "floor", "switchable": True, "watched": True}]}
    assert engagement_rows(data, scenery) == [{"name": "floor", "spans": [[0.0, 1.2]], "gaps": [[1.2, 1.3]]}]
    bare = data.drop_vars(["multiplier", "constraint"])
    assert engagement_rows(bare, scenery) == [{"name": "floor", "spans": [], "gaps": [[0.0, 3.0]]}]


def test_contacts_of_shapes_have_rows_from_their_first_touch():
    """A ball falls 0.9 m: it touches the floor after √(2h/g), up to one interval of outputs."""
    model = ts.Model("drop", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 1.0))
    shapes = (ts.shapes.plane((1, 1)), ts.shapes.sphere(0.1))
    model.add(ts.CompliantContact("floor", model.ground, ball, shapes=shapes, stiffness=1e5))
    data = ts.simulate(model, 0.5, outputs=500)
    (start, end), *_ = rows(model, data)["floor"]["spans"]
    assert 0 <= start - np.sqrt(2 * 0.9 / G) < 1e-3 and end > start


def test_what_is_not_drawn_has_a_row_too():
    """A ball on a rope of 0.8 m, and one over an expression that must not become negative: taut and held at the end."""
    model = ts.Model("ropes", gravity=(0, 0, -G))
    one = model.body("one", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, -0.5))
    two = model.body("two", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0.2))
    model.add(ts.Cable("rope", [(0, 0, 0), one.point()], slack=0.3))
    model.add(ts.OneSided("height", two.position[2] >= 0))
    data = ts.simulate(model, 0.5, outputs=20)
    found = rows(model, data)
    for name, fall in (("rope.part0", 0.3), ("height", 0.2)):
        ((start, end),) = found[name]["spans"]
        assert start == pytest.approx(np.sqrt(2 * fall / G), abs=1e-5) and end == 0.5


def test_a_force_that_events_switch_has_a_row():
    model = ts.Model("fuse")
    disc = model.body("disc", mass=1.0, inertia=(1, 1, 1))
    axle = model.add(ts.Revolute("axle", model.ground, disc, axis=(0, 0, 1)))
    motor = model.add(ts.JointForce("motor", axle, 2.0))
    model.when(axle.rate[0] >= 1.0, ts.release(motor))
    data = ts.simulate(model, 1.0, outputs=5)
    ((start, end),) = rows(model, data)["motor"]["spans"]
    assert start == 0 and end == pytest.approx(0.5, abs=1e-9)
