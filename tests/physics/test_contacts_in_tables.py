"""Contacts, stops, slots and backlash run through tables as in small models, without kernels of their own for each structure."""

import os

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE

EXACT = 1e-12  # largest difference / (1 + largest value)


def train(count=4):
    """Cars on rails with play in their couplers, pulled at the last one; below each a pendulum between stops."""
    model, before = ts.Model("train", gravity=(0, 0, -9.81)), None
    for k in range(count):
        car = model.body(f"car{k}", mass=1.0 + 0.1 * k, inertia=(1, 1, 1), at=(1.0 * k, 0, 0))
        rail = model.add(ts.Prismatic(f"rail{k}", model.ground, car, axis="x", point=(1.0 * k, 0, 0)))
        if before is not None:
            model.add(ts.Backlash(f"coupler{k}", rail, before, play=0.02, restitution=0.2 * (k % 2)))
        before = rail
    bob = model.body("bob", mass=0.3, inertia=(0.1, 0.1, 0.1), at=(0, 0, -1))
    hook = model.add(ts.Revolute("hook", model["car0"], bob, point=(0, 0, 0), axis="y"))
    model.add(ts.Limit("stop", hook, lower=-0.02, upper=0.5, restitution=0.3))
    model.add(ts.JointForce("pull", before, 5.0))
    return model


def long_train(count, play, force, mass):
    """Cars on rails with play in their couplers, pulled at the last one."""
    model, before = ts.Model("train"), None
    for k in range(count):
        car = model.body(f"car{k}", mass=mass, inertia=(1, 1, 1), at=(1.0 * k, 0, 0))
        rail = model.add(ts.Prismatic(f"rail{k}", model.ground, car, axis="x", point=(1.0 * k, 0, 0)))
        if before is not None:
            model.add(ts.Backlash(f"coupler{k}", rail, before, play=play))
        before = rail
    model.add(ts.JointForce("pull", before, force))
    return model


def dropped():
    """A chain of links above a floor, with a pin of its tip in a slot, and balls that fall on the floor."""
    model, above = ts.Model("dropped", gravity=(0, 0, -9.81)), None
    for k in range(3):
        link = model.body(f"link{k}", inertia=ts.inertia.rod(1.0, 0.5, axis="x"), at=(0.5 * k, 0, 0.3 + 0.1 * k))
        place = (0.5 * k - 0.25, 0, 0.3 + 0.1 * k)
        if above is None:
            model.add(ts.Planar("plane", model.ground, link, axis="y", point=place))
        else:
            model.add(ts.Revolute(f"hinge{k}", above, link, point=place, axis="y"))
        model.add(ts.Contact(f"foot{k}", model.ground, link, point=place, plane=(0, 0, 0.25)))
        above = link
    model.add(ts.Slot("slot", model.ground, above, point=(1.25, 0, 0.5), normal="x", clearance=0.01))
    for k in range(2):
        ball = model.body(f"ball{k}", inertia=ts.inertia.sphere(1.0, 0.1), at=(5.0 + k, 0, 0.15 + 0.05 * k))
        model.add(ts.Contact(f"c{k}", model.ground, ball, radius=0.1, plane=(0, 0, 0), normal="z", restitution=0.5))
    return model


def run(model, above, until=0.6, **options):
    os.environ[TABLES_ABOVE] = str(above)
    try:
        fixed = {"method": "rkmk4", "step": 0.005, "formulation": "hierarchical"}
        return ts.simulate(model, until, outputs=4, progress=False, **fixed | options)
    finally:
        os.environ[TABLES_ABOVE] = "64"


def difference(a, b):
    """The largest difference of all quantities over time and of the times of events, relative to each of them."""
    names = [n for n in a.data_vars if a[n].dims[:1] in (("time",), ("event",)) and a[n].shape == b[n].shape]
    names = [n for n in names if a[n].dtype.kind == "f" and a[n].size]
    assert {"position", "reaction_force", "energy", "work", "event_energy"} <= set(names)
    return max(np.abs(a[n] - b[n]).max().item() / (1 + np.abs(a[n]).max().item()) for n in names)


@pytest.mark.parametrize("build, events", [(train, 6), (dropped, 6)])
def test_a_large_model_with_contacts_moves_as_a_small_one(build, events):
    small, large = run(build(), 64), run(build(), 2)
    assert (small.attrs["path"], large.attrs["path"]) == ("straight", "tables")
    assert list(small.event_name.values) == list(large.event_name.values) and len(small.event_name) >= events
    assert large.attrs["structures"] == 1 < small.attrs["structures"]
    assert difference(small, large) <= EXACT


def test_cars_that_couple_one_after_the_other_move_by_the_momentum_of_the_force():
    """m v = F t of all; between impacts k cars move freely over half the play, w = 2 F s/(k m) more of the square of their speed,
    and keep k/(k + 1) of their speed at the next impact."""
    count, force, mass, half = 66, 5000.0, 1000.0, 0.01
    data = ts.simulate(long_train(count, 2 * half, force, mass), 0.4, outputs=2, progress=False)
    assert data.attrs["path"] == "tables" and data.attrs["structures"] == 1
    speed, t, expected = 0.0, 0.0, []
    for k in range(1, 5):
        reached = np.sqrt(speed**2 + 2 * force * half / (k * mass))
        t += (reached - speed) * k * mass / force
        expected.append(t)
        speed = reached * k / (k + 1)
    assert list(data.event_name.values[:4]) == [f"coupler{count - k}.upper" for k in range(1, 5)]
    assert data.event_time.values[:4] == pytest.approx(expected, rel=1e-9)
    momentum = mass * data.velocity.sel(axis="x").sum("body")
    assert momentum.values == pytest.approx(force * data.time.values, rel=1e-9)
