"""Contacts, stops and dry friction of any size, mass and pace behave as their copy of size 1.

A copy has lengths times L, masses times m and times times T; forces and stiffnesses follow. Events happen in the same order,
at times T times as long, at places L times as far.
"""

from itertools import cycle

import casadi as ca
import numpy as np
import pytest

import torsor as ts

SIZES = [(1e-8, 1e-9, 1e-3), (3e-5, 7e8, 1.0), (1e-8, 1e9, 20.0), (2e5, 3e-7, 0.1), (1e8, 1e9, 50.0)]


class Units:
    """Quantities of a copy."""

    def __init__(self, length, mass, time):
        self.length, self.mass, self.time = length, mass, time
        self.speed, self.force = length / time, mass * length / time**2
        self.stiffness, self.torque = mass / time**2, mass * (length / time) ** 2

    def model(self, name, gravity=9.81):
        return ts.Model(name, gravity=tuple(self.length / self.time**2 * np.array([0, 0, -gravity])))

    def body(
        self, model, name, mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0), velocity=(0, 0, 0), spin=(0, 0, 0), **more
    ):
        return model.body(
            name, mass=self.mass * mass, inertia=tuple(self.mass * self.length**2 * np.array(inertia)), at=self.place(*at),
            velocity=tuple(self.speed * np.array(velocity)), angular_velocity=tuple(np.array(spin) / self.time), **more,
        )  # fmt: skip

    def place(self, *x):
        return tuple(self.length * np.array(x, float))


def bouncing_ball(u):
    """Rebounds that come to an end, with spin and friction."""
    model = u.model("ball")
    ball = u.body(model, "ball", inertia=(0.004,) * 3, at=(0, 0, 1), velocity=(0.5, 0.2, 0), spin=(3, -2, 1))
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=0.1 * u.length, plane=(0, 0, 0), restitution=0.6))
    model.add(ts.Friction("rub", floor, coefficient=0.3))
    return model, 3.0


def smooth_ball(u):
    model = u.model("smooth_ball")
    ball = u.body(model, "ball", at=(0, 0, 1), velocity=(0.5, 0, 0))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0), restitution=0.5))
    return model, 2.0


def block_on_a_rough_floor(u):
    """It slides, stops, and is pulled away again."""
    model = u.model("block")
    block = u.body(model, "block", velocity=(2, 1, 0))
    model.add(ts.NoRotation("upright", model.ground, block, about=((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    floor = model.add(ts.Contact("floor", model.ground, block))
    model.add(ts.Friction("rub", floor, coefficient=0.3, static=0.4))
    model.add(ts.PointForce("pull", block, force=(0, ca.fmax(0, ts.time / u.time - 1) * 4 * u.force, 0)))
    return model, 2.5


def block_on_a_belt(u):
    """Stick and slip of a block on a spring."""
    model = u.model("belt")
    belt = model.add(ts.Ground("belt", at=(0.5 * u.speed * ts.time, 0, 0)))
    block = u.body(model, "block", velocity=(0.5, 0, 0))
    guide = model.add(ts.Prismatic("guide", belt, block, axis=(1, 0, 0)))
    model.add(ts.Friction("friction", guide, coefficient=0.2, static=0.4))
    model.add(ts.PointForce("spring", block, force=(-100.0 * u.stiffness * block.position[0], 0, 0)))
    return model, 1.5


def rough_bearing(u):
    """A pendulum whose bearing stops it: a friction torque under its own reaction."""
    model = u.model("bearing")
    rod = u.body(model, "rod", at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Friction("rub", hinge, coefficient=0.5, static=0.6, radius=0.2 * u.length))
    return model, 4.0


def stops(u):
    """A hinge and a slide between stops: radians and metres."""
    model = u.model("stops")
    arm = u.body(model, "arm", at=(0.5, 0, 0), inertia=(0.05, 0.1, 0.12))
    bead = u.body(model, "bead", mass=0.3, inertia=(0.01,) * 3, at=(0.8, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    slide = model.add(ts.Prismatic("slide", arm, bead, axis=(1, 0, 0), start_rate=-u.speed))
    model.add(ts.Limit("turn", hinge, lower=-0.3, upper=0.7, restitution=0.5))
    model.add(ts.Limit("way", slide, lower=-0.2 * u.length, upper=0.15 * u.length, restitution=0.4))
    return model, 1.2


def block_on_four_corners(u):
    """It lands flat, and slides to rest."""
    model = u.model("corners")
    block = u.body(model, "block", inertia=(0.1, 0.15, 0.2), at=(0, 0, 0.5), velocity=(0.6, 0.3, 0))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        corner = u.place(0.4 * x, 0.3 * y, 0.3)
        floor = model.add(ts.Contact(f"corner{k}", model.ground, block, point=corner, plane=(0, 0, 0), restitution=0.2))
        model.add(ts.Friction(f"rub{k}", floor, coefficient=0.3))
    return model, 1.0


def own_events(u):
    """A user's events: a height, speeds, a turn and a reaction that are watched."""
    model = u.model("own")
    rod = u.body(model, "rod", at=(0.5, 0, 0), inertia=(0.05, 0.1, 0.12))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0), start=0.2))
    watched = {
        "low": ts.falling(rod.position[2] + 0.3 * u.length),
        "fast": ts.crossing(hinge.rate[0] - 2 / u.time),
        "turns": ts.crossing(rod.velocity[0]),
        "steep": ts.rising(hinge.coordinate[0] - 1.0),
        "loaded": ts.crossing(hinge.reaction_force[2] - 20.0 * u.force),
    }
    for name, watch in watched.items():
        model.when(watch, ts.record(f"turned_{name}", hinge.coordinate[0]), name=name)
    return model, 3.0


MODELS = [
    bouncing_ball, smooth_ball, block_on_a_rough_floor, block_on_a_belt, rough_bearing, stops, block_on_four_corners, own_events,
]  # fmt: skip


@pytest.mark.parametrize(
    "build, formulation", list(zip(MODELS, cycle(["relative", "absolute"]))), ids=lambda x: getattr(x, "__name__", x)
)
def test_events_of_any_size_are_those_of_size_1(build, formulation):
    def told(*size):
        u = Units(*size)
        model, until = build(u)
        data = ts.simulate(model, until * u.time, outputs=4, formulation=formulation, tolerance=1e-10)
        return list(data.event_name.values), data.event_time.values / u.time, data.position.values / u.length

    names, times, places = told(1.0, 1.0, 1.0)
    assert names
    for size in SIZES:
        own_names, own_times, own_places = told(*size)
        assert own_names == names, size
        np.testing.assert_allclose(own_times, times, rtol=1e-9, atol=1e-9, err_msg=str(size))
        np.testing.assert_allclose(own_places, places, rtol=1e-9, atol=1e-9, err_msg=str(size))
