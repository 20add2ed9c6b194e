"""Cables, winches and belts against equations written by hand."""

import numpy as np
import pytest

import torsor as ts
from torsor.forces.cable_path import Path

G = 9.81


def atwood(masses=(2.0, 3.0), radius=0.1, J=0.02, **options):
    """Two weights on a cable over a wheel with an inertia of its own."""
    model = ts.Model("atwood", gravity=(0, 0, -G))
    wheel = model.body("wheel", 1.0, (J, J, J), at=(0, 0, 1.0))
    turn = model.add(ts.Revolute("turn", model.ground, wheel, axis="y"))
    weights = []
    for name, m, x in zip(("left", "right"), masses, (-radius, radius)):
        body = model.body(name, m, (0.01, 0.01, 0.01), at=(x, 0, 0.2))
        model.add(ts.Prismatic(f"{name}_rail", model.ground, body, axis="z"))
        weights.append(body)
    path = [weights[0].point(), ts.Pulley(turn, radius), weights[1].point()]
    _add_cable(model, path, options)
    return model


def _add_cable(model, path, options):
    """A cable; without options its parts as two-sided constraints, which stay taut by themselves here."""
    if options:
        model.add(ts.Cable("rope", path, **options))
        return
    for k, (slack, _) in enumerate(Path("cable 'rope'", model, path).parts()):
        model.add(ts.Holonomic(f"rope{k}", slack))


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_atwoods_machine_with_a_heavy_wheel(formulation):
    """a = (m₂ − m₁) g/(m₁ + m₂ + J/r²); the tensions differ by J a/r²."""
    model = atwood()
    model.signal("difference", model["rope1"].multiplier[0] - model["rope0"].multiplier[0])
    data = ts.simulate(model, 0.2, outputs=2, formulation=formulation)
    a = (3.0 - 2.0) * G / (5.0 + 0.02 / 0.01)
    found = dict(zip(data.joint_coordinate.values, data.coordinate_acceleration.values[-1]))
    assert found["left_rail"] == pytest.approx(a, rel=1e-8) and found["right_rail"] == pytest.approx(-a, rel=1e-8)
    assert abs(found["turn"]) == pytest.approx(a / 0.1, rel=1e-8)
    assert abs(data["difference"].values[-1]) == pytest.approx(0.02 * a / 0.01, rel=1e-8)


def test_an_elastic_cable_keeps_the_energy():
    data = ts.simulate(atwood(stiffness=2e4), 0.3, outputs=3, tolerance=1e-9)
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-6)


def winch(torque, **options):
    model = ts.Model("winch", gravity=(0, 0, -G))
    drum = model.body("drum", 1.0, (0.05, 0.05, 0.05), at=(0, 0, 2.0))
    turn = model.add(ts.Revolute("turn", model.ground, drum, axis="y"))
    load = model.body("load", 4.0, (0.1, 0.1, 0.1), at=(0.2, 0, 0.0))
    model.add(ts.Prismatic("rail", model.ground, load, axis="z"))
    _add_cable(model, [ts.Pulley(turn, 0.2, winding=1), load.point()], options)
    model.add(ts.JointForce("motor", turn, torque))
    return model


def test_a_winding_drum():
    """(m + J/r²) a = τ/r − m g; the drum turns against its winding where it takes the cable in."""
    data = ts.simulate(winch(-20.0), 0.3, outputs=1)
    a = (20.0 / 0.2 - 4.0 * G) / (4.0 + 0.05 / 0.04)
    found = dict(zip(data.joint_coordinate.values, data.coordinate_acceleration.values[-1]))
    assert found["rail"] == pytest.approx(a, rel=1e-8) and found["turn"] == pytest.approx(-a / 0.2, rel=1e-8)


def test_a_cable_unwinds_from_a_drum():
    """A weight swings on a cable that lies on a fixed drum: the straight part and the arc on the drum keep their sum."""
    r = 0.3
    model = ts.Model("involute", gravity=(0, 0, -G))
    drum = model.body("drum", 1.0, (0.1, 0.1, 0.1))
    turn = model.add(ts.Revolute("turn", model.ground, drum, axis="y"))
    model.add(ts.Drive("held", turn, 0.0))
    bob = model.body("bob", 2.0, 0, at=(1.0, 0, 0.3))
    model.add(ts.PointOnPlane("plane", model.ground, bob, point=(1.0, 0, 0.3), normal="y"))
    _add_cable(model, [ts.Pulley(turn, r, winding=-1), bob.position], {})
    data = ts.simulate(model, 0.6, outputs=6, tolerance=1e-10, formulation="absolute")
    x, _, z = data.position.sel(body="bob").values.T
    away = np.hypot(x, z)
    arc = r * (np.unwrap(np.arctan2(z, x)) - np.arccos(r / away))
    length = np.sqrt(away**2 - r**2) + arc
    np.testing.assert_allclose(length, length[0], atol=1e-12)
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-8)


def test_a_belt_turns_wheels_in_the_ratio_of_their_radii():
    """r₁ φ₁ = r₂ φ₂, τ = (J₁ + J₂ (r₁/r₂)²) φ̈₁; crossed, the second turns the other way."""
    for winding in (1, -1):
        model = ts.Model("belt")
        joints = []
        for k, x in enumerate((0.0, 1.0)):
            wheel = model.body(f"wheel{k}", 1.0, (0.1 * (k + 1),) * 3, at=(x, 0, 0))
            joints.append(model.add(ts.Revolute(f"shaft{k}", model.ground, wheel, axis="z")))
        path = [ts.Pulley(joints[0], 0.1, 1), ts.Pulley(joints[1], 0.3, winding)]
        model.add(ts.Belt("belt", path))
        model.add(ts.JointForce("motor", joints[0], 1.0))
        a = ts.simulate(model, 0.1, outputs=1).coordinate_acceleration.values[-1]
        np.testing.assert_allclose(a, np.array([1, winding / 3]) / (0.1 + 0.2 / 9), rtol=1e-9)


@pytest.mark.parametrize(
    "path, words",
    [
        (lambda wheel, p: [p((1, 0, 0))], "list of at least two"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley(wheel, -0.1), p((1, 0, 0))], "must be a positive number"),
        (lambda wheel, p: [p((0.05, 0, 0)), ts.Pulley(wheel, 0.1), p((1, 0, 0))], "does not touch them"),
        (lambda wheel, p: [ts.Pulley(wheel, 0.1), p((1, 0, 0))], "give its winding"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley(wheel, 0.1), p((1, 0, 0.5))], "must lie in one plane"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley("wheel", 0.1), p((1, 0, 0))], "must turn on a revolute joint"),
    ],
)
def test_paths_that_cannot_be_are_refused(path, words):
    model = ts.Model("path")
    wheel = model.body("wheel", 1.0, (0.1, 0.1, 0.1))
    load = model.body("load", 1.0, (0.1, 0.1, 0.1))
    turn = model.add(ts.Revolute("turn", model.ground, wheel, axis="z"))
    with pytest.raises(ts.ModelError, match=words):
        model.add(ts.Cable("rope", path(turn, load.point)))
