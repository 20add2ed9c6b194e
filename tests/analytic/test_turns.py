"""Angles are counted over full turns by the motion, however many of them fit into one step."""

import numpy as np
import pytest

import torsor as ts

FORMS = ("absolute", "relative", "woronetz")
WAYS = (({}, 0.0), ({"method": "rkmk4", "step": 0.05}, 0.01), ({"method": "rkmk54", "step": 0.02}, 1e-5))


def wheel(m, name="wheel", at=(0, 0, 0), axis=(0, 0, 1), **more):
    body = m.body(name, mass=1, inertia=(1, 1, 1), at=at)
    return m.add(ts.Revolute(f"{name}-hinge", m.ground, body, axis=axis, **more))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rate", (-3.0, 70.0, 314.159, 2e4))
def test_a_free_wheel_turns_at_its_rate(form, rate):
    for way, _ in (*WAYS, ({"method": "lie-euler", "step": 0.1}, 0)):
        m = ts.Model("wheel")
        wheel(m, axis=(1, 2, 3), start_rate=rate)
        data = ts.simulate(m, 10.0, outputs=3, formulation=form, **way)
        allowed = 1e-11 if not way else 2e-7  # of the angle; nothing controls the rounding of a fixed step of 1000 rad
        assert np.abs(data.coordinate.values[:, 0] - rate * data.time.values).max() < 10 * abs(rate) * allowed + 1e-8


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way, allowed", WAYS)
def test_a_spring_on_an_angle_acts_over_many_turns(form, way, allowed):
    m = ts.Model("spring")
    m.add(ts.TorsionSpring("spring", wheel(m, start_rate=500.0), stiffness=4.0))
    data = ts.simulate(m, 6.0, outputs=5, formulation=form, **way)
    assert np.abs(data.coordinate.values[:, 0] - 250 * np.sin(2 * data.time.values)).max() < allowed + 1e-6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wound", (3.5, -20.0))
def test_springs_that_are_wound_up_come_to_rest_some_turns_away(form, wound):
    m = ts.Model("springs")
    first, second = wheel(m), ts.Revolute("second", m["wheel"], m.body("hand", mass=1, inertia=(1, 1, 1)), axis="z")
    m.add(ts.TorsionSpring("one", first, stiffness=4.0, rest=wound))
    m.add(ts.TorsionSpring("other", m.add(second), stiffness=1.0, rest=-2 * wound))
    assert list(ts.equilibrium(m, formulation=form).coordinates.values()) == pytest.approx([wound, -2 * wound])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("outputs", (1, 3, 40))
def test_a_stop_after_many_turns_is_met(form, outputs):
    m = ts.Model("stop")
    m.add(ts.Limit("stop", wheel(m, start_rate=300.0), upper=1000.0, restitution=1.0))
    data = ts.simulate(m, 6.0, outputs=outputs, formulation=form)
    assert abs(float(data.coordinate[-1, 0]) - (2000 - 1800)) < 1e-8
    assert data.event_time.values == pytest.approx([1000 / 300], abs=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", (1e-6, 1.0, 1e5))
def test_gears_stay_in_mesh(form, size):
    m = ts.Model("gears")
    first, second, third = (wheel(m, f"w{k}", at=(k * size, 0, 0)) for k in range(3))
    m.add(ts.Drive("drive", first, 40 * ts.time**2))
    m.add(ts.Holonomic("first", first.coordinate * 2.5 + second.coordinate))
    m.add(ts.Holonomic("second", second.coordinate - 3 * third.coordinate))
    data = ts.simulate(m, 3.0, outputs=4, formulation=form)
    assert np.abs(data.coordinate.values[-1] - [360, -900, -300]).max() < 1e-7
    turned = data.rotation.sel(body="w2").values[-1, :2, 0]
    assert np.abs(turned - [np.cos(-300), np.sin(-300)]).max() < 1e-7


@pytest.mark.parametrize("form", FORMS)
def test_joints_that_close_loops_turn_with_the_others(form):
    m = ts.Model("parallelogram")
    places = {"a": (0, 0.5, 0), "b": (1, 1, 0), "c": (2, 0.5, 0)}
    a, b, c = (m.body(name, mass=1, inertia=(0.1, 0.1, 0.1), at=at) for name, at in places.items())
    ends = (
        ("A", m.ground, a, (0, 0, 0)),
        ("B", a, b, (0, 1, 0)),
        ("C", b, c, (2, 1, 0)),
        ("D", m.ground, c, (2, 0, 0)),
    )
    for name, one, other, point in ends:
        rate = {"start_rate": 20.0} if name == "A" else {}
        m.add(ts.Revolute(name, one, other, point=point, axis=(0, 0, 1), **rate))
    data = ts.simulate(m, 5.0, outputs=2, formulation=form)
    assert np.abs(data.coordinate.values[-1] - [100, -100, 100, 100]).max() < 1e-5


def test_a_run_goes_on_to_its_end_after_the_last_output(tmp_path):
    m = ts.Model("ball", gravity=(0, 0, -9.81))
    b = m.body("ball", mass=1, inertia=(1, 1, 1), at=(0, 0, 1))
    m.when(b.position[2] <= 0, ts.record("speed", b.velocity[2]), name="hit")
    quiet = ts.Model("quiet", gravity=(0, 0, -9.81))
    quiet.body("ball", mass=1, inertia=(1, 1, 1))
    for model, events in ((m, 1), (quiet, None)):
        for more in ({}, {"checkpoint": str(tmp_path / model.name)}, {"method": "rkmk4", "step": 0.03}):
            data = ts.simulate(model, 1.0, outputs=[0.1, 0.2], **more)
            assert data.time.values.tolist() == [0.1, 0.2] and data.attrs["time_reached"] == 1.0
            assert data.sizes.get("event") == events
