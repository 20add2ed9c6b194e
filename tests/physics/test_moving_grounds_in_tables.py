"""Moving grounds through tables and by threads: the same motion, reactions and work as in the equations of the whole model."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE


def carousel():
    """Two arms on a ground that turns and shakes, with springs, motors, a loop, friction and an event in signals of the ground."""
    model = ts.Model("carousel", gravity=(0, 0, -9.81))
    t = ts.time
    base = model.add(ts.Ground("base", at=(0.1 * ca.sin(3 * t), 0.05 * t**2, 1), rotation=ca.vertcat(0.2, 0, 1.5) * t))
    hinges, tips = [], []
    for k, y in enumerate((-1.0, 1.0)):
        above = base
        for i in range(2):
            at = (0.5 + i, y, 1)
            link = model.body(f"link{k}{i}", mass=1 + i, inertia=(0.1, 0.2, 0.15), at=at)
            axis = "y" if i else (0, 0.6, 0.8)
            hinges.append(model.add(ts.Revolute(f"hinge{k}{i}", above, link, point=(i, y, 1), axis=axis)))
            above = link
        tips.append(above)
    model.add(ts.JointForce("motor", hinges[0], 2.0 - hinges[0].rate[0]))
    model.add(ts.SpringDamper("thread", base, tips[0], stiffness=30.0, damping=0.5, length=1.0))
    model.add(ts.SpringDamper("link", *tips, stiffness=20.0, damping=0.4, length=1.8))
    model.signal("reach", tips[0].position[0] - base.position[0] + base.velocity[1])
    return model, base, hinges, tips


def with_loop():
    model, base, _, tips = carousel()
    model.add(ts.Distance("rod", base, tips[1], points=((0.5, 1, 1.5), (1.5, 1, 1))))
    return model


def with_friction():
    model, _, hinges, _ = carousel()
    model.add(ts.Friction("rub", hinges[2], coefficient=0.3, radius=0.1))
    return model


def with_drive():
    model, _, hinges, _ = carousel()
    model.add(ts.Drive("drive", hinges[2], 0.3 * ts.time**2))
    return model


def with_event():
    model, base, hinges, tips = carousel()
    extra = model.add(ts.JointForce("extra", hinges[1], 1.0))
    gap = tips[0].position[2] - base.position[2]
    model.when(
        gap <= -0.02, ts.record("speed", base.velocity[0] + tips[0].velocity[0]), ts.switch(extra, on=False), name="low"
    )
    return model


def simulate(build, monkeypatch, limit, **options):
    monkeypatch.setenv(TABLES_ABOVE, str(limit))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    options = {"method": "rkmk4", "step": 0.01, "formulation": "hierarchical"} | options
    return ts.simulate(build(), 0.2, outputs=5, progress=False, **options)


@pytest.mark.parametrize("build", [with_loop, with_friction, with_drive, with_event])
def test_motion_reactions_and_work_are_those_of_the_whole_model(build, monkeypatch):
    whole = simulate(build, monkeypatch, 64)
    assert whole.attrs["path"] == "straight" and (build is not with_event or whole.sizes["event"] == 1)
    assert np.abs(whole["work"].values[-1]) > 0.1
    names = (
        "position",
        "velocity",
        "angular_velocity",
        "acceleration",
        "reaction_force",
        "reaction_torque",
        "work",
        "energy",
    )
    names = (*names, "coordinate_acceleration", "position_drift", "reach")
    for options, path in (({}, "tables"), ({"threads": 2}, "threads")):
        found = simulate(build, monkeypatch, 1, **options)
        assert found.attrs["path"] == path
        for name in names:
            scale = 1 + np.abs(whole[name].values).max()
            np.testing.assert_allclose(found[name], whole[name], rtol=0, atol=1e-11 * scale, err_msg=f"{name}, {path}")


def test_work_of_drives_counts_on_every_thread(monkeypatch):
    def arms():
        model = ts.Model("arms", gravity=(0, 0, -9.81))
        for k in range(2):
            arm = model.body(f"arm{k}", mass=1, inertia=(0.1, 0.1, 0.1), at=(2 * k + 0.5, 0, 0))
            hinge = model.add(ts.Revolute(f"hinge{k}", model.ground, arm, point=(2 * k, 0, 0), axis="y"))
            model.add(ts.Drive(f"drive{k}", hinge, (0.3 + k) * ts.time**2))
        return model

    whole, found = simulate(arms, monkeypatch, 64), simulate(arms, monkeypatch, 1, threads=2)
    np.testing.assert_allclose(found["work"], whole["work"], rtol=0, atol=1e-12)


def test_a_joint_that_starts_on_a_moving_ground_starts_as_in_the_whole_model(monkeypatch):
    """Velocities of bodies are given in the world: the rate of their joint is relative to the ground."""

    def cart():
        model = ts.Model("cart")
        base = model.add(ts.Ground("base", at=(2 * ts.time, 0, 0)))
        body = model.body("body", mass=1, inertia=(1, 1, 1), at=(0, 0, 0), velocity=(3, 0, 0))
        model.add(ts.Prismatic("slide", base, body, axis="x"))
        return model

    whole, found = simulate(cart, monkeypatch, 64), simulate(cart, monkeypatch, 0)
    assert found.attrs["path"] == "tables" and found["rate"].values[0, 0] == pytest.approx(1.0)
    np.testing.assert_allclose(found["position"], whole["position"], rtol=0, atol=1e-12)
