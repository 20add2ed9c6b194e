"""A user's own joint, constraint and force are a few lines, and as good as the built-in ones."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

import torsor as ts
from torsor.lie import se3, so3

TIGHT = 1e-10


@dataclass(frozen=True, eq=False)
class Pin(ts.Joint):
    """A hinge about the x-axis, written anew: rotation about x, nothing else."""

    dof, angular = 1, (True,)

    def pose(self, q):
        return se3.pose(so3.rotation(ca.SX([1, 0, 0]), q), ca.SX.zeros(3))

    def motion(self, q):
        return ca.SX([1, 0, 0, 0, 0, 0])

    def coordinates(self, H):
        return ca.atan2(H[2, 1], H[1, 1])

    def residual(self, H):
        return ca.vertcat(H[:3, 3], H[1, 0], H[2, 0])

    def directions(self):
        return ["x", "y", "z", "about z", "about y"]


@dataclass(frozen=True, eq=False)
class OnSphere(ts.Constraint):
    """A body's centre stays on a sphere about the origin; position level."""

    body: object = None
    radius: object = 1.0

    def position(self):
        return ca.sumsqr(self.body.position) - self.radius**2


@dataclass(frozen=True, eq=False)
class Skate(ts.Constraint):
    """A blade along the body's x-axis: no velocity of its centre along the body's y-axis; velocity level."""

    body: object = None

    def velocity(self):
        return ca.dot(self.body.direction((0, 1, 0)), self.body.velocity)


@dataclass(frozen=True, eq=False)
class Attraction(ts.Force):
    """Newton's gravitation between two bodies, given as energy."""

    first: object = None
    second: object = None
    strength: object = 1.0

    def potential(self):
        distance = ca.norm_2(self.second.position - self.first.position)
        return -self.strength * self.first.mass * self.second.mass / distance


@dataclass(frozen=True, eq=False)
class Drag(ts.Force):
    """Quadratic drag, given as an effort on the velocity of the centre."""

    body: object = None
    coefficient: object = 0.1

    def efforts(self):
        v = self.body.velocity
        return [(v, -self.coefficient * ca.norm_2(v) * v)]


def test_a_joint_of_the_user_moves_as_the_built_in_one():
    found = []
    for cls, more in ((Pin, {}), (ts.Revolute, {"axis": (1, 0, 0)})):
        model = ts.Model("pendulum", gravity=(0, 0, -9.81))
        arm = model.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(0, 0.5, 0))
        model.add(cls("pin", model.ground, arm, point=(0, 0, 0), start_rate=2.0, **more))
        found.append(ts.simulate(model, 1.0, outputs=5, tolerance=TIGHT))
    for name in ("position", "rotation", "coordinate", "rate", "reaction_force", "reaction_torque"):
        np.testing.assert_allclose(found[0][name], found[1][name], atol=1e-8)


def test_a_position_constraint_of_the_user_holds_and_keeps_the_energy():
    model = ts.Model("bowl", gravity=(0, 0, -9.81))
    radius = model.parameter("radius", 2.0)
    ball = model.body("ball", mass=1.0, inertia=0, at=(2, 0, 0), velocity=(0, 1.5, 0))
    model.add(OnSphere("bowl", ball, radius))
    data = ts.simulate(model, 3.0, outputs=30, tolerance=TIGHT)
    np.testing.assert_allclose(np.linalg.norm(data["position"].values[:, 0], axis=1), 2.0, atol=1e-12)
    np.testing.assert_allclose(data["energy"], data["energy"][0], atol=1e-7)
    spin = np.cross(data["position"].values[:, 0], data["velocity"].values[:, 0])[:, 2]
    np.testing.assert_allclose(spin, 3.0, atol=1e-8)  # about the vertical, which the bowl does not disturb


def test_a_velocity_constraint_of_the_user_gives_the_skate_its_circle():
    """A blade that slides with speed v and turns with ω goes round on the radius v/ω, without gravity."""
    model = ts.Model("ice")
    skate = model.body("skate", mass=1.0, inertia=(0.1, 0.1, 0.2), velocity=(1.0, 0, 0), angular_velocity=(0, 0, 0.5))
    model.add(Skate("blade", skate))
    data = ts.simulate(model, 8.0, outputs=40, tolerance=TIGHT)
    t = data["time"].values
    exact = np.stack([2 * np.sin(t / 2), 2 * (1 - np.cos(t / 2)), 0 * t], axis=1)
    np.testing.assert_allclose(data["position"].values[:, 0], exact, atol=1e-7)
    np.testing.assert_allclose(data["velocity_drift"], 0, atol=1e-13)
    np.testing.assert_allclose(data["energy"], data["energy"][0], atol=1e-9)


def test_forces_of_the_user_keep_or_spend_energy_as_they_say():
    model = ts.Model("planets")
    bodies = [model.body(n, mass=m, inertia=0, at=x, velocity=v) for n, m, x, v in (
        ("sun", 10.0, (0, 0, 0), (0, -0.1, 0)), ("earth", 1.0, (1, 0, 0), (0, 1.0, 0)),
    )]  # fmt: skip
    model.add(Attraction("pull", *bodies, strength=0.1))
    data = ts.simulate(model, 5.0, outputs=20, tolerance=1e-11)
    np.testing.assert_allclose(data["energy"], data["energy"][0], atol=1e-8)
    momentum = 10 * data["velocity"].values[:, 0] + data["velocity"].values[:, 1]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-12)

    model = ts.Model("falling", gravity=(0, 0, -9.81))
    stone = model.body("stone", mass=2.0, inertia=0)
    model.add(Drag("air", stone, coefficient=0.5))
    data = ts.simulate(model, 2.0, outputs=20, tolerance=TIGHT)
    top = np.sqrt(2 * 9.81 / 0.5)  # v = −v∞ tanh(g t / v∞)
    np.testing.assert_allclose(data["velocity"].values[:, 0, 2], -top * np.tanh(9.81 * data["time"] / top), atol=1e-7)
    np.testing.assert_allclose(data["energy"] - data["energy"][0], data["work"], atol=1e-7)


def test_expressions_are_constraints_and_forces_without_a_class():
    """A rolling disk: 0 = ẋ − r φ̇ as a nonholonomic expression, equal to the holonomic one x = r φ."""
    found = []
    for level in ("position", "velocity"):
        model = ts.Model("rolling", gravity=(0.5, 0, -9.81))
        disk = model.body("disk", mass=1.0, inertia=ts.inertia.disk(1.0, 0.3, axis="y").tensor, at=(0, 0, 0.3))
        plane = model.add(ts.Planar("plane", model.ground, disk, axis=(0, 1, 0)))
        model.add(ts.Holonomic("touch", disk.position[2] - 0.3))
        if level == "position":
            model.add(ts.Holonomic("roll", disk.position[0] - 0.3 * plane.coordinate[2]))
        else:
            model.add(ts.Nonholonomic("roll", disk.velocity[0] - 0.3 * plane.rate[2]))
        found.append(ts.simulate(model, 3.0, outputs=10, tolerance=TIGHT))
    for data in found:  # ẍ = g_x / (1 + J/(m r²)) = 0.5 / 1.5
        np.testing.assert_allclose(data["position"].values[:, 0, 0], 0.5 / 1.5 / 2 * data["time"] ** 2, atol=1e-8)
        np.testing.assert_allclose(data["coordinate"].values[-1, 2], 0.5 / 1.5 / 2 * 9 / 0.3, atol=1e-7)
