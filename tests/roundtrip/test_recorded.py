"""Elements of classes that readers do not have: in a file they are what they declare, and move as ever."""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.errors import ModelError
from torsor.lie import se3, so3

FORMULATIONS = ["absolute", "relative", "hierarchical"]


@dataclass(frozen=True, eq=False)
class Elbow(ts.Joint):
    """A hinge about an axis that may be an expression of parameters."""

    key = "elbow"
    dof = 1
    angular = (True,)
    axis: Any = (0, 1, 0)

    def pose(self, q):
        return se3.pose(so3.rotation(self.first_axis(), q), ca.SX.zeros(3))

    def motion(self, q):
        return se3.twist(angular=self.first_axis(), linear=ca.SX.zeros(3))

    def coordinates(self, H):
        from torsor.joints.alignment import about

        return about(se3.split_pose(H)[0], self.first_axis())

    def residual(self, H):
        from torsor.joints.alignment import tilt

        R, p = se3.split_pose(H)
        return ca.vertcat(p, tilt(R, self.first_axis()))

    def directions(self):
        return ["x", "y", "z", "tilt", "other tilt"]


@dataclass(frozen=True, eq=False)
class Wind(ts.Force):
    """A drag against a wind along x of the model that it is described in, and a potential along z."""

    key = "wind"
    body: Any = None
    strength: Any = 1.0

    def potential(self):
        return 0.5 * self.strength * ca.dot(self.world.rotation[:, 2], self.body.position - self.world.position) ** 2

    def efforts(self):
        blows = self.world.rotation @ ca.SX([3.0, 0, 0])
        return [(self.body.velocity, self.strength * (blows - self.body.velocity))]


@dataclass(frozen=True, eq=False)
class Skate(ts.Constraint):
    """No motion along an axis of a body: at the level of velocities."""

    key = "skate"
    body: Any = None

    def velocity(self):
        return ca.dot(self.body.direction((0, 1, 0)), self.body.velocity)

    def directions(self):
        return ["across"]


@dataclass(frozen=True, eq=False)
class Rope(ts.Joint):
    """A joint that writes its coordinates in a way of its own."""

    key = "rope"
    dof = 1
    angular = (False,)

    def pose(self, q):
        return se3.pose(ca.SX.eye(3), ca.vertcat(0, 0, q))

    def motion(self, q):
        return se3.twist(angular=ca.SX.zeros(3), linear=ca.SX([0, 0, 1]))

    def coordinates(self, H):
        return H[2, 3]

    def joint_coordinates(self):
        return 1.0 * self.coordinates(self.relative_pose())

    def residual(self, H):
        from torsor.joints.alignment import no_turn

        R, p = se3.split_pose(H)
        return ca.vertcat(p[0], p[1], no_turn(R))

    def directions(self):
        return ["x", "y", "turn x", "turn y", "turn z"]


def arm():
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    lean, k = model.parameter("lean", 0.2), model.parameter("k", 0.3, positive=True)
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0, 0, -0.5))
    lower = model.body("lower", mass=0.7, inertia=(0.1, 0.1, 0.02), at=(0, 0, -1.5))
    model.add(Elbow("shoulder", model.ground, upper, point=(0, 0, 0), start=0.4))
    elbow = model.add(Elbow("elbow", upper, lower, point=(0, 0, -1), axis=(lean, 1, 0), start_rate=1.0))
    model.add(Wind("wind", lower, strength=k))
    model.add(ts.TorsionSpring("spring", elbow, stiffness=2.0, damping=0.1))
    model.signal("bend", elbow.coordinate)
    model.signal("push", elbow.reaction_force[0])
    model.expose("elbow", elbow)
    model.expose("lower", lower)
    return model


def skater():
    model = ts.Model("skater", gravity=(1.0, 0, -9.81))
    sled = model.body("sled", mass=2.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 1.0), velocity=(1, 0, 0))
    model.add(ts.Planar("ice", model.ground, sled, axis=(0, 0, 1)))
    model.add(Skate("blade", sled))
    return model


def read_back(model, folder):
    ts.save_component(model, folder / "part.tsc", formulations=())
    return ts.load_component(folder / "part.tsc")


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    "build", [arm, skater, lambda: ts.cases.load("three-link")], ids=["arm", "skater", "three-link"]
)
def test_they_move_as_ever(build, formulation, tmp_path):
    runs = [
        ts.simulate(model, 0.4, outputs=4, tolerance=1e-11, formulation=formulation)
        for model in (build(), read_back(build(), tmp_path))
    ]
    ts.testing.assert_same_motion(*runs, within=1e-9)
    for what in ("reaction_force", "coordinate", "potential_energy", "work"):
        np.testing.assert_allclose(runs[1][what].values, runs[0][what].values, atol=1e-8, err_msg=what)
    assert np.ptp(runs[0].position.values, axis=0).max() > 0.05


def test_parameters_signals_and_ports_stay_what_they_are(tmp_path):
    model = read_back(arm(), tmp_path)
    assert [type(c).__module__ for c in model.joints] == ["torsor.store.recorded_elements"] * 2
    assert [c.key for c in model.joints] == ["elbow", "elbow"] and model.joints[1].owner == "elbow 'elbow'"
    assert ts.interface(model) == ts.interface(arm())
    given = {"lean": 0.5, "k": 0.1}
    one, two = (ts.simulate(m, 0.3, outputs=3, tolerance=1e-11, parameters=given) for m in (arm(), model))
    for name in ("bend", "push"):
        np.testing.assert_allclose(two[name].values, one[name].values, atol=1e-8)


def test_included_and_turned_they_keep_their_meaning(tmp_path):
    """Also where they are saved a second time."""
    again = read_back(read_back(arm(), tmp_path), tmp_path)
    ts.testing.assert_placement(again, 0.3)
    runs = []
    for part in (arm(), again):
        model = ts.Model("outer", gravity=(0, 0, -9.81))
        model.include("arm", part, count=2, pitch=(0, 1, 0), rotation=lambda k: (0, 0, 0.7 * k), lean=[0.1, 0.4])
        runs.append(ts.simulate(model, 0.3, outputs=3, tolerance=1e-11))
    ts.testing.assert_same_motion(*runs, within=1e-9)


@dataclass(frozen=True, eq=False)
class Alarm(Wind):
    key = "alarm"

    def memories(self):
        return []


@pytest.mark.parametrize(("name", "add"), [
    ("rope 'x'", lambda m, b: m.add(Rope("x", m.ground, b))), ("alarm 'x'", lambda m, b: m.add(Alarm("x", b))),
])  # fmt: skip
def test_what_expressions_do_not_tell_is_refused(name, add, tmp_path):
    model = ts.Model("m")
    add(model, model.body("b", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(
        ModelError, match=f"{name}: its class .* is defined outside torsor, and its expressions alone do not"
    ):
        ts.save_component(model, tmp_path / "part.tsc", formulations=())
    assert list(tmp_path.iterdir()) == []
