"""An orientation that is imposed is the one that is meant, never the one turned by π, at which its sines vanish too."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.joints.alignment import no_turn, strict_equations, tilt
from torsor.lie import so3

ANGLES = (0.5, 1.5, 2.5, 3.0, np.pi, -np.pi, 4.0, 6.0)
FORMULATIONS = ("absolute", "relative", "woronetz")


def plate(rotation=(0.1, 0.2, 0)):
    model = ts.Model("plate", gravity=(0, 0, -9.81))
    return model, model.body("plate", mass=1.0, inertia=(0.1, 0.2, 0.25), rotation=rotation)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("axis", [(0, 0, 1), (0.6, 0, 0.8)])
def test_an_imposed_motion_starts_where_it_says(angle, axis):
    model, body = plate()
    model.add(ts.Motion("motion", body, at=(1, ts.time, 0), rotation=ca.DM(axis) * (angle + 0.5 * ts.time)))
    formulation = FORMULATIONS[ANGLES.index(angle) % 3]
    data = ts.simulate(model, 0.5, outputs=2, formulation=formulation)
    for t, R in zip(data.time.values, data.rotation.values[:, 0]):
        np.testing.assert_allclose(R, so3.exp(np.array(axis) * (angle + 0.5 * t)), atol=1e-11)
    assert "positions were assembled" in data.attrs["start_changes"]


@pytest.mark.parametrize("angle", [2.0, 3.0, np.pi])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_crank_whose_rotation_is_imposed_takes_its_hinges_along(angle, formulation):
    model = ts.Model("crank", gravity=(0, 0, -1))
    crank = model.body("crank", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(1, 0, 0))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(3, 0, 0))
    model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ts.Revolute("pin", crank, rod, point=(2, 0, 0), axis=(0, 0, 1)))
    model.add(ts.Motion("motor", crank, rotation=ca.vertcat(0, 0, angle + ts.time)))
    data = ts.simulate(model, 0.5, outputs=1, formulation=formulation)
    end = [np.cos(angle + 0.5), np.sin(angle + 0.5), 0]
    np.testing.assert_allclose(data.position.sel(body="crank").values[-1], end, atol=1e-10)


@dataclass(frozen=True, eq=False)
class Facing(ts.Constraint):
    """A user's own: a body faces a direction, without turning about it."""

    body: object = None
    angle: float = 0.0

    def position(self):
        return no_turn(so3.exp(np.array([0, self.angle, 0])).T @ self.body.rotation)


@pytest.mark.parametrize("angle", [1.0, 2.0, 3.0, np.pi])
@pytest.mark.parametrize("kind", ["three", "two", "own"])
def test_constraints_that_are_no_joints_are_assembled_as_they_are_meant(kind, angle):
    model, body = plate(rotation=None)
    turned = {"frames": (model.ground.frame(), body.frame(rotation=(0, angle, 0)))}
    if kind == "own":
        model.add(Facing("keep", body, angle))
    else:
        about = ((1, 0, 0), (0, 1, 0.1), (0.2, 0, 1))[: 3 if kind == "three" else 2]
        model.add(ts.NoRotation("keep", model.ground, body, about=about, **turned))
    R = ts.simulate(model, 0.2, outputs=1).rotation.values[-1, 0]
    if kind == "own":
        np.testing.assert_allclose(R, so3.exp([0, angle, 0]), atol=1e-11)
    elif kind == "three":
        np.testing.assert_allclose(R @ so3.exp([0, angle, 0]), np.eye(3), atol=1e-11)
    else:
        z = np.cross((1, 0, 0), (0, 1, 0.1)) / np.hypot(1, 0.1)
        np.testing.assert_allclose(R @ so3.exp([0, angle, 0]) @ z, z, atol=1e-11)


def test_strict_forms_vanish_once_and_have_the_same_slope_there():
    angle = ca.SX.sym("angle")
    for rows in (no_turn, lambda R: tilt(R, ca.SX([0, 1, 0]))):
        R = so3.rotation(ca.SX([0.6, 0, 0.8]), angle)
        short = rows(R)
        with strict_equations() as cosines:
            strict = rows(R)
        f = ca.Function("f", [angle], [short, strict, ca.jacobian(short, angle), ca.jacobian(strict, angle), *cosines])
        g, s, dg, ds, c = (x.full().ravel() for x in f(0.0))
        assert not g.any() and not s.any() and c == 1
        np.testing.assert_allclose(dg, ds, atol=1e-15)
        at_pi = [x.full() for x in f(np.pi - 1e-6)]
        assert np.abs(at_pi[0]).max() < 1e-5 and np.abs(at_pi[1]).max() > 1e5 and at_pi[4] < -0.99


def test_a_start_that_only_an_impostor_could_satisfy_is_refused():
    """A hinge about z and an orientation that is turned by π about x."""
    model, body = plate(rotation=None)
    model.add(ts.Revolute("pin", model.ground, body, axis=(0, 0, 1)))
    model.add(ts.Motion("motion", body, rotation=(np.pi, 0, 0)))
    with pytest.raises(ts.AssemblyError):
        ts.simulate(model, 0.1)
