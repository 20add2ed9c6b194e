"""Impacts on what moves by itself: the laws hold for the relative velocities, and what moves may give energy.

A solid sphere that meets a plane with the normal speed w and the sliding speed u of its lowest point: the impulse along the
plane is μ (1 + e) m w as long as it does not stop the sliding, which 2/7 m u does.
"""

import numpy as np
import pytest

import torsor as ts

FORMS = ("absolute", "relative", "woronetz")
G, R, M, MU = 9.81, 0.05, 0.3, 0.3


def dragged(u, w, e, mu=MU):
    """Change of the speed of the centre along the plane."""
    return np.sign(u) * min(mu * (1 + e) * w, 2 / 7 * abs(u))


def balanced(data):
    return np.abs(data.energy - data.energy[0] - data.work - data.energy_by_events).max() < 1e-7  # of some 20 J


@pytest.mark.parametrize("form", FORMS)
def test_a_ball_is_dragged_along_by_a_belt(form):
    model = ts.Model("belt", gravity=(0, 0, -G))
    given = [model.parameter(name, 0.0) for name in ("speed", "spin", "e")]
    belt = model.add(ts.Ground("belt", at=(given[0] * ts.time, 0, 0)))
    start = {"at": (0, 0, R + 0.2), "angular_velocity": (0, given[1], 0)}
    ball = model.body("ball", inertia=ts.inertia.sphere(M, R), **start)
    touch = model.add(ts.Contact("touch", belt, ball, radius=R, plane=(0, 0, 0), restitution=given[2]))
    model.add(ts.Friction("rough", touch, coefficient=MU))
    t = np.sqrt(0.4 / G)
    for speed, spin, e in ((5.0, 0.0, 0.0), (5.0, 0.0, 1.0), (0.4, 0.0, 0.9), (-2.0, 60.0, 0.5), (0.0, -100.0, 0.9)):
        values = {"speed": speed, "spin": spin, "e": e}
        data = ts.simulate(model, t + 1e-6, outputs=[0, t + 1e-6], formulation=form, parameters=values)
        v = float(data.velocity[-1, 0, 0])
        assert abs(v - dragged(speed + R * spin, G * t, e)) < 1e-5  # what a microsecond of sliding adds
        assert balanced(data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["ground", "drive", "bolted to a driven one"])
def test_a_ball_is_struck_by_a_plate(form, kind):
    e, fall, start = 0.8, -3.0, -0.4
    model = ts.Model("racket")
    plate_speed, along = (model.parameter(name, 0.0) for name in ("plate_speed", "along"))
    if kind == "ground":
        plate = model.add(ts.Ground("plate", at=(0, 0, plate_speed * ts.time + start)))
    else:
        plate = model.body("plate", mass=1.0, inertia=(1, 1, 1), at=(0, 0, start))
        slide = model.add(ts.Prismatic("slide", model.ground, plate, axis=(0, 0, 1), start_rate=plate_speed))
        model.add(ts.Drive("drive", slide, plate_speed * ts.time))
        if kind != "drive":
            carrier, plate = plate, model.body("top", mass=2.0, inertia=(1, 1, 1), at=(0, 0, start))
            model.add(ts.Fixed("bolts", carrier, plate))
    ball = model.body("ball", inertia=ts.inertia.sphere(M, R), at=(0, 0, R), velocity=(along, 0, fall))
    touch = model.add(ts.Contact("touch", plate, ball, radius=R, plane=(0, 0, start), restitution=e))
    model.add(ts.Friction("rough", touch, coefficient=MU))
    for w, u in ((7.0, 1.0), (5.0, 9.0)):  # relative speeds, along the normal and along the plate
        values = {"plate_speed": w + fall, "along": u}
        data = ts.simulate(model, 0.3, outputs=2, formulation=form, parameters=values)
        v = data.velocity.sel(body="ball").values[-1]
        assert np.abs(v - [u - dragged(u, w, e), 0, fall + (1 + e) * w]).max() < 1e-8
        assert balanced(data)


@pytest.mark.parametrize("form", FORMS)
def test_a_ball_falls_on_a_turning_table(form):
    """The table's speed at the point of contact is what counts: Ω r, across the radius."""
    turning, r, e = 3.0, 1.2, 0.6
    model = ts.Model("table", gravity=(0, 0, -G))
    table = model.add(ts.Ground("table", rotation=(0, 0, turning * ts.time)))
    ball = model.body("ball", inertia=ts.inertia.sphere(M, R), at=(r, 0, R + 0.2))
    touch = model.add(ts.Contact("touch", table, ball, radius=R, plane=(0, 0, 0), restitution=e))
    model.add(ts.Friction("rough", touch, coefficient=MU))
    t = np.sqrt(0.4 / G)
    v = ts.simulate(model, t + 0.01, outputs=[t + 0.01], formulation=form).velocity.values[-1, 0]
    assert np.abs(v[:2] - [0, dragged(turning * r, G * t, e)]).max() < 1e-9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rising", [4.0, 0.0])
def test_contacts_struck_together_keep_their_own_coefficients(form, rising):
    restitutions = (0.9, 0.2, 0.0, 1.0)
    model = ts.Model("several")
    plate = model.add(ts.Ground("plate", at=(0, 0, rising * ts.time - 0.4)))
    for k, e in enumerate(restitutions):
        ball = model.body(
            f"ball{k}", inertia=ts.inertia.sphere(1.0 + k, R), at=(k, 0, R), velocity=(0, 0, rising - 4.0)
        )
        model.add(ts.Contact(f"touch{k}", plate, ball, radius=R, plane=(k, 0, -0.4), restitution=e))
    data = ts.simulate(model, 0.2, outputs=2, formulation=form)
    assert np.abs(data.velocity.values[-1, :, 2] - [rising + 4.0 * e for e in restitutions]).max() < 1e-9
    assert balanced(data)


@pytest.mark.parametrize("form", FORMS)
def test_one_paradox_does_not_touch_another_contact(form):
    """A rod that strikes with a corner may create energy with Newton's law and friction; a ball struck at the same instant
    rebounds and is dragged as if it were alone."""

    def struck(alone):
        model = ts.Model("rod")
        if not alone:
            tilt = 0.9
            rod = model.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1.0), velocity=(-0.3, 0, -1.0))
            tip = (-0.5 * np.cos(tilt), 0, 0.6)
            corner = model.add(ts.Contact("corner", model.ground, rod, point=tip, plane=(0, 0, 0.4), restitution=0.9))
            model.add(ts.Friction("rough_corner", corner, coefficient=0.6))
        ball = model.body("ball", inertia=ts.inertia.sphere(M, R), at=(5, 0, R + 0.2), velocity=(1.0, 0, -1.0))
        touch = model.add(ts.Contact("touch", model.ground, ball, radius=R, plane=(5, 0, 0), restitution=0.7))
        model.add(ts.Friction("rough", touch, coefficient=0.1))
        data = ts.simulate(model, 0.25, outputs=2, formulation=form)
        assert data.event_energy.values.max() < 1e-12
        return data.velocity.sel(body="ball").values[-1]

    assert np.abs(struck(True) - [1.0 - dragged(1.0, 1.0, 0.7, 0.1), 0, 0.7]).max() < 1e-12
    assert np.abs(struck(False) - struck(True)).max() < 1e-12
