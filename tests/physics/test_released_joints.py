"""What acts in a joint acts as long as the joint holds: stops, friction, springs, motors, drives and locks."""

import numpy as np
import pytest

import torsor as ts

FORMS = ("absolute", "relative", "woronetz")
G = 9.81


def guided():
    """A body that moves along a rail."""
    model = ts.Model("rail", gravity=(0, 0, -G))
    body = model.body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0), start_rate=1.0))
    return model, body, rail


ELEMENTS = {
    "stop": lambda m, j: [ts.Limit("stop", j, upper=0.8)],
    "stop that is closed": lambda m, j: [ts.Limit("stop", j, upper=0.3)],
    "friction": lambda m, j: [ts.Friction("rough", j, coefficient=0.1)],
    "friction that sticks": lambda m, j: [ts.Friction("rough", j, coefficient=0.9)],
    "spring": lambda m, j: [ts.TorsionSpring("spring", j, stiffness=30.0, damping=2.0, rest=0.4)],
    "motor": lambda m, j: [ts.JointForce("motor", j, 3.0)],
    "drive": lambda m, j: [ts.Drive("drive", j, ts.time - 0.2 * ts.time**3)],
    "all": lambda m, j: [
        ts.Limit("stop", j, lower=-0.1, upper=0.45),
        ts.Friction("rough", j, coefficient=0.2, static=0.3),
        ts.TorsionSpring("spring", j, stiffness=30.0, rest=0.5),
    ],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ELEMENTS)
def test_nothing_acts_in_a_joint_that_is_released(form, what):
    model, body, rail = guided()
    for element in ELEMENTS[what](model, rail):
        model.add(element)
    model.when(ts.time >= 0.5, ts.release(rail), name="off")
    data = ts.simulate(model, 2.0, outputs=8, formulation=form)
    v = data.velocity.sel(body="body").values[2:]
    late = data.time.values[2:]
    assert np.abs(v[:, 0] - v[0, 0]).max() < 1e-9  # free fall, whatever was in the rail
    assert np.abs(v[:, 2] + G * (late - 0.5)).max() < 1e-9
    assert np.abs(data.energy - data.energy[0] - data.work - data.energy_by_events).max() < 1e-8
    assert set(data.event_name.values[data.event_time.values > 0.5]) == set()


@pytest.mark.parametrize("form", FORMS)
def test_it_acts_again_when_the_joint_is_engaged(form):
    """Without gravity the body flies on along the rail: its stop is passed while the rail is off, and met when it is on."""
    for passes in (True, False):
        model = ts.Model("rail")
        body = model.body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
        rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0), start_rate=1.0))
        model.add(ts.Limit("stop", rail, upper=0.8, restitution=1.0))
        model.add(ts.Friction("rough", rail, coefficient=1.0, normal=0.4))
        is_on = model.modes("is_on", "yes", "no")
        model.when(ts.time >= 0.2, ts.release(rail), ts.enter(is_on["no"]), name="off", during=is_on["yes"])
        back = 0.5 if not passes else 10.0
        model.when(ts.time >= back, ts.engage(rail), name="on", during=is_on["no"])
        data = ts.simulate(model, 1.2, outputs=12, formulation=form)
        x, v = data.position.values[-1, 0, 0], data.velocity.values[-1, 0, 0]
        if passes:
            assert abs(v - 0.96) < 1e-12 and x > 1.0
        else:
            assert list(data.event_name.values) == ["off", "on", "stop.upper"]
            assert v < 0 and abs(abs(v) - (1 - 0.2 * (1.2 - 0.3))) < 1e-9


@pytest.mark.parametrize("form", FORMS)
def test_what_breaks_takes_along_what_acts_in_it(form):
    model, body, rail = guided()
    model.add(ts.Limit("stop", rail, upper=0.3))
    model.add(ts.PointForce("pull", body, force=(0, 50.0 * ts.time, 0)))
    model.add(ts.Breakable("pin", rail, force=30.0))
    data = ts.simulate(model, 2.0, outputs=8, formulation=form)
    assert list(data.event_name.values) == ["stop.upper", "pin.break"]
    v = data.velocity.sel(body="body").values
    assert np.abs(v[3:, 0]).max() < 1e-12 and v[-1, 2] < -10


@pytest.mark.parametrize("form", FORMS)
def test_a_drive_may_start_at_the_event_that_engages_it(form):
    model = ts.Model("start")
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0), start_rate=0.1))
    go = model.when(rail.coordinate[0] >= 0.1, ts.record("when", ts.time), name="go")
    drive = model.add(ts.Drive("drive", rail, 0.1 * go.count + 0.5 * (ts.time - go.time)), active=False)
    go.then(ts.engage(drive))
    data = ts.simulate(model, 3.0, outputs=3, formulation=form)
    assert np.abs(data.coordinate.values[1:, 0] - [0.1, 0.6, 1.1]).max() < 1e-12
    assert abs(float(data.event_impulse.sel(constraint="drive[0]")[0]) - 2.0 * 0.4) < 1e-12


def test_an_event_that_moves_an_engaged_drive_is_told():
    model = ts.Model("jump")
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0), start_rate=0.5))
    go = model.when(ts.time >= 1.0, ts.record("when", ts.time), name="go")
    model.add(ts.Drive("drive", rail, 0.5 * (ts.time - go.time)))
    with pytest.raises(ts.RunError, match="event 'go' engages constraints that are far from satisfied, or moves them"):
        ts.simulate(model, 3.0)
