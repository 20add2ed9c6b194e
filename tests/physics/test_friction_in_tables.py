"""Dry friction through tables and by threads: the same events and motion as in the equations of the whole model."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE


def shafts():
    """Three shafts in a row: clutches between them, friction with a given normal force in a bearing."""
    model = ts.Model("shafts", gravity=(0, 0, 0))
    bodies = [model.body(f"shaft{k}", mass=1, inertia=(0.02, 0.02, 0.02 + 0.01 * k), at=(0, 0, k)) for k in range(3)]
    hinges = [
        model.add(ts.Revolute(f"hinge{k}", model.ground, b, point=(0, 0, k), axis="z")) for k, b in enumerate(bodies)
    ]
    model.add(ts.JointForce("motor", hinges[0], 0.5 * ca.sin(20 * ts.time)))
    model.add(ts.Clutch("first", *bodies[:2], axis="z", torque=0.2))
    model.add(ts.Clutch("second", *bodies[1:], axis="z", torque=0.05, static=0.1))
    model.add(ts.Friction("bearing", hinges[1], coefficient=0.1, normal=1.0, radius=0.2))
    return model, {}


def linkage():
    """A four-bar with friction, by its reactions, in the joint that closes the loop and in one of the tree."""
    model = ts.Model("linkage", gravity=(0, 0, -9.81))
    places = {"crank": (0, 0, 0.25), "rod": (0.5, 0, 0.5), "rocker": (1.0, 0, 0.25)}
    crank, rod, rocker = (model.body(name, mass=1, inertia=(0.02, 0.02, 0.02), at=at) for name, at in places.items())
    hinge = model.add(ts.Revolute("hinge", model.ground, crank, point=(0, 0, 0), axis="y"))
    model.add(ts.Spherical("ball", crank, rod, point=(0, 0, 0.5)))
    model.add(ts.Cylindrical("pin", rod, rocker, point=(1, 0, 0.5), axis="y"))
    far = model.add(ts.Revolute("far", model.ground, rocker, point=(1, 0, 0), axis="y"))
    model.add(ts.Friction("rub", far, coefficient=0.2, static=0.3, radius=0.02))
    model.add(ts.JointForce("motor", hinge, 5 * ca.sin(5 * ts.time)))
    return model, {"until": 0.4}


def balls():
    """Two balls that fall, bounce, slide and roll on a plane."""
    model = ts.Model("balls", gravity=(0, 0, -9.81))
    for k in range(2):
        at = (k, 0, 0.5 + 0.01 * k)
        ball = model.body(f"ball{k}", mass=1 + k, inertia=(0.1, 0.1, 0.1), at=at, velocity=(1 + k, 0.2 * k, 0))
        contact = model.add(
            ts.Contact(f"floor{k}", model.ground, ball, point=at, radius=0.5, normal="z", restitution=0.2)
        )
        model.add(ts.Friction(f"rub{k}", contact, coefficient=0.3, static=0.36))
    return model, {"until": 0.5}


def simulate(build, monkeypatch, limit, **options):
    monkeypatch.setenv(TABLES_ABOVE, str(limit))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    model, own = build()
    options = {"until": 1.0, "outputs": 10, "tolerance": 1e-10, "formulation": "hierarchical"} | own | options
    return ts.simulate(model, progress=False, **options)


@pytest.mark.parametrize("build", [shafts, linkage, balls])
def test_events_and_motion_are_those_of_the_whole_model(build, monkeypatch):
    whole = simulate(build, monkeypatch, 64)
    assert whole.attrs["path"] == "straight" and whole.sizes["event"] >= (1 if build is linkage else 4)
    for options, path in (({}, "tables"), ({"threads": 2}, "threads")):
        found = simulate(build, monkeypatch, 1, **options)
        assert found.attrs["path"] == path
        assert found["event_name"].values.tolist() == whole["event_name"].values.tolist()
        np.testing.assert_allclose(found["event_time"], whole["event_time"], rtol=0, atol=1e-10)
        for name in ("position", "angular_velocity", "reaction_force"):
            scale = 1 + np.abs(whole[name].values).max()
            np.testing.assert_allclose(found[name], whole[name], rtol=0, atol=1e-9 * scale, err_msg=name)


def test_friction_that_shares_its_load_is_derived_from_the_whole_model(monkeypatch):
    def braked():
        model, options = shafts()
        model.add(ts.Clutch("brake", model.ground, model["shaft1"], axis="z", torque=0.1))
        return model, options | {"until": 0.05}

    data = simulate(braked, monkeypatch, 1)
    assert data.attrs["path"] == "straight" and "holds something together with other" in data.attrs["path_reason"]
    with pytest.raises(ts.errors.OptionError, match="'bearing|'brake.*loads are not unique"):
        simulate(braked, monkeypatch, 1, threads=2)
