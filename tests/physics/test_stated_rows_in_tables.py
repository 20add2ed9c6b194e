"""Drives, imposed motions and equations of the user run through tables as in small models."""

import os

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE

EXACT = 1e-12  # largest difference / (1 + largest value)


def arms(links=2):
    """Two arms on the ground, and a body that nothing holds."""
    model = ts.Model("arms", gravity=(0.5, 0, -9.81))
    for k in range(2):
        above = model.ground
        for i in range(links):
            link = model.body(f"link{k}{i}", mass=1.0 + i, inertia=(0.1, 0.2, 0.15), at=(k + 0.1 * i, 0, -i - 1))
            model.add(ts.Revolute(f"hinge{k}{i}", above, link, point=(k, 0.05, -i - 0.5), axis="y"))
            above = link
    model.body("stone", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(5, 0, 0), velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    return model


def driven(model):
    """Drives that start at a speed, of a joint that turns many times and of one that closes a loop; an input in an equation."""
    speed = model.parameter("speed", 2.0)
    wheel = model.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), at=(2, 0, 0))
    axle = model.add(ts.Revolute("axle", model.ground, wheel, point=(2, 0, 0), axis="z"))
    model.add(ts.Drive("turn", axle, lambda t: 800.0 * t**2 + 0.2 * ca.sin(3 * t)))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.6, 0.05, -2.7))
    model.add(ts.Spherical("ball", model["link01"], rod, point=(0.1, 0.05, -2.5)))
    hinge = model.add(ts.Revolute("hinge", rod, model["link11"], point=(1.1, 0.05, -2.5), axis="y", cut=True))
    model.add(ts.Drive("cut", hinge, speed * ts.time**2))
    model.state("way", rate=model["hinge00"].rate[0])


def imposed(model):
    """The whole motion of a body, and geared hinges, of which both are on the ground."""
    model.add(ts.Motion("carried", model["stone"], at=(5, ts.time**2, 0), rotation=lambda t: ca.vertcat(0, 0, t**2)))
    model.add(ts.Gear("gear", model["hinge00"], model["hinge10"], ratio=-2.0))


def equations(model):
    """A distance that grows, written as an equation, between bodies of two trees; and one between a body and the ground."""
    tip, stone = model["link01"], model["stone"]
    model.add(ts.Holonomic("rope", ca.sumsqr(tip.point((0, 0, -0.5)) - stone.position) - 30.26 - 3 * ts.time**2))
    model.add(ts.Holonomic("rail", [stone.position[0] - 5 - 0.1 * stone.position[1] ** 2]))


def rolling(model):
    """A disk that rolls on the ground, a skate on a body, and equations of velocities, with a closed loop at position level."""
    disk = model.body(
        "disk", mass=1.0, inertia=(0.1, 0.2, 0.1), at=(8, 0, 0.3), velocity=(0.9, 0, 0), angular_velocity=(0, 3, 0.5)
    )
    model.add(ts.RollingDisk("rolls", model.ground, disk, radius=0.3))
    sled = model.body(
        "sled", mass=1.0, inertia=(0.1, 0.1, 0.2), at=(8, 3, 0), velocity=(1, 0, 0), angular_velocity=(0, 0, 1)
    )
    model.add(ts.Planar("ice", model.ground, sled, axis="z", point=(8, 3, 0)))
    model.add(ts.KnifeEdge("blade", model.ground, sled))
    model.add(ts.Nonholonomic("pair", model["hinge00"].rate[0] - 2 * model["hinge01"].rate[0]))
    model.add(ts.Distance("rod", model.ground, model["link11"], points=((0, 0, 0), (1.1, 0, -2))))


def run(build, above, **options):
    os.environ[TABLES_ABOVE] = str(above)
    try:
        model = arms()
        build(model)
        fixed = {"method": "rkmk4", "step": 0.01, "formulation": "hierarchical"}
        return ts.simulate(model, 0.1, outputs=2, progress=False, **fixed | options)
    finally:
        os.environ[TABLES_ABOVE] = "64"


def difference(a, b):
    """The largest difference of all quantities over time, relative to each of them."""
    names = [name for name in a.data_vars if a[name].dims[:1] == ("time",) and a[name].shape == b[name].shape]
    assert {"position", "coordinate", "reaction_force", "reaction_torque", "energy", "work"} <= set(names)
    return max(np.abs(a[n] - b[n]).max().item() / (1 + np.abs(a[n]).max().item()) for n in names if a[n].size)


@pytest.mark.parametrize("build", [driven, imposed, equations, rolling])
def test_a_large_model_moves_as_a_small_one(build):
    small, large = run(build, 64), run(build, 2)
    assert (small.attrs["path"], large.attrs["path"]) == ("straight", "tables")
    assert difference(small, large) <= EXACT


def test_an_equation_of_three_bodies_is_named():
    def three(model):
        mean = (model["link01"].position + model["link11"].position) / 2
        model.add(ts.Holonomic("middle", ca.sumsqr(mean - model["stone"].position) - 23.36))

    large = run(three, 2)
    assert large.attrs["path"] == "straight" and "'middle'" in large.attrs["path_reason"]
