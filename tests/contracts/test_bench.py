"""A component on a bench: what is held stays, what is driven follows, what is loaded feels its load."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.errors import ModelError
from torsor.lie import so3

TURN = (0.3, -0.2, 0.5)
FORMULATIONS = ["absolute", "relative"]


def lever(start=None, gravity=(0, 0, 0)):
    """A crank on a frame, with ports of every kind."""
    model = ts.Model("lever", gravity=gravity)
    m = model.parameter("m", 2.0, positive=True)
    base = model.body("base", mass=5.0, inertia=(0.3, 0.4, 0.5), at=(0, 0, 0.2), rotation=TURN)
    crank = model.body("crank", mass=m, inertia=(0.01, 0.1, 0.1), at=(0.5, 0, 0))
    shaft = model.add(ts.Revolute("shaft", base, crank, point=(0, 0, 0), axis=(0, 1, 0), start=start))
    model.expose("base", base)
    model.expose("crank", crank)
    model.expose("tip", crank.frame((0.5, 0, 0)))
    model.expose("shaft", shaft)
    model.expose("angle", shaft.coordinate)
    return model


def run(model, until=0.5, **options):
    return ts.simulate(model, until, outputs=10, tolerance=1e-11, **options)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("start", [None, 0.7])
def test_what_is_held_stays_where_it_starts_and_carries_what_hangs_on_it(start, formulation):
    model = ts.testing.bench(lever(start), held=["base", "shaft"], gravity=(0, 0, -9.81))
    data = run(model, formulation=formulation)
    assert np.abs(data.position.values - data.position.values[0]).max() < 1e-9
    assert data.coordinate.sel(joint_coordinate="part.shaft").values == pytest.approx(start or 0.0, abs=1e-9)
    force = data.reaction_force.sel(joint="base_held").values
    np.testing.assert_allclose(force, np.tile([0, 0, 7 * 9.81], (11, 1)), atol=1e-8)
    assert data.attrs["start_changes"] == "[]"


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("start", [None, 0.7])
def test_a_body_is_driven_along_its_motion(start, formulation):
    """Six components: a displacement, and a rotation about the port, in world axes."""
    motion = lambda t: ca.vertcat(0.1 * ca.sin(t), 0.2 * t, 0, 0, 0, 0.5 * t)
    data = run(ts.testing.bench(lever(start), driven={"base": motion}), formulation=formulation)
    t = data.time.values
    at = data.position.sel(body="part.base").values
    np.testing.assert_allclose(at - [0, 0, 0.2], np.stack([0.1 * np.sin(t), 0.2 * t, 0 * t], 1), atol=1e-9)
    first = np.array(ca.DM(so3.exp(TURN)))
    for k, R in enumerate(data.rotation.sel(body="part.base").values):
        np.testing.assert_allclose(R, np.array(ca.DM(so3.exp((0, 0, 0.5 * t[k])))) @ first, atol=1e-9)


def test_three_components_move_a_port_and_keep_its_orientation():
    data = run(ts.testing.bench(lever(), held="shaft", driven={"tip": (0, 0.3 * ts.time, 0)}))
    np.testing.assert_allclose(data.position.values[-1] - data.position.values[0], [[0, 0.15, 0]] * 2, atol=1e-9)
    np.testing.assert_allclose(data.rotation.values[-1], data.rotation.values[0], atol=1e-9)


def test_a_point_can_be_driven_alone():
    """A pendulum that is held in one point swings about it, and the point stays."""
    data = run(ts.testing.bench(lever(), held="shaft", driven={"tip": {"position": (0, 0, 0)}}, gravity=(0, 0, -9.81)))
    crank = data.sel(body="part.crank")
    tip = crank.position.values + crank.rotation.values[:, :, 0] * 0.5
    np.testing.assert_allclose(tip, np.tile([1, 0, 0], (11, 1)), atol=1e-9)
    assert np.abs(crank.angular_velocity.values[-1]).max() > 0.5


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_load_acts_in_its_port(formulation):
    """A force in the tip and a torque on the crank, about the hinge: J φ̈ = 1 · F + T."""
    model = ts.testing.bench(lever(), held="base", loaded={"tip": lambda t: (0, 0, -3.0, 0, 0.5, 0)})
    data = run(model, 0.01, formulation=formulation)
    about_y = 3.0 * 1.0 + 0.5
    expected = about_y / (0.1 + 2.0 * 0.5**2)
    assert data.coordinate_acceleration.sel(joint_coordinate="part.shaft").values[0] == pytest.approx(
        expected, rel=1e-12
    )


def test_joints_are_driven_and_loaded_along_their_coordinates():
    driven = run(ts.testing.bench(lever(), held="base", driven={"shaft": lambda t: 2 * t}))
    np.testing.assert_allclose(driven.coordinate.sel(joint_coordinate="part.shaft"), 2 * driven.time, atol=1e-10)
    loaded = run(ts.testing.bench(lever(), held="base", loaded={"shaft": 1.2}), 0.01)
    found = loaded.coordinate_acceleration.sel(joint_coordinate="part.shaft").values[0]
    assert found == pytest.approx(1.2 / (0.1 + 2.0 * 0.5**2), rel=1e-12)


def test_a_component_has_its_own_gravity_on_the_bench_its_parameters_and_a_place():
    model = ts.testing.bench(lever(gravity=(0, 0, -5)), at=(1, 2, 3), rotation=TURN, m=4.0)
    data = run(model, 0.1)
    assert data.velocity.values[-1] == pytest.approx(np.tile([0, 0, -0.5], (2, 1)), abs=1e-10)
    assert list(model.parameters) == [] and float(model["part.crank"].mass) == 4.0
    np.testing.assert_allclose(data.position.values[0, 1], [1, 2, 3] + np.array(ca.DM(so3.exp(TURN))) @ [0.5, 0, 0])


def test_the_component_itself_stays_as_it_is():
    component = lever()
    names = list(component._names)
    run(ts.testing.bench(component, held="base"), 0.01)
    component.body("more", mass=1.0, inertia=(1, 1, 1))
    assert [*names, "more"] == list(component._names)


@pytest.mark.parametrize(
    "wanted, words",
    [
        ({"held": ["foot"]}, "component 'lever' has no port 'foot'. Ports: base, crank, tip, shaft, angle"),
        ({"driven": {"foot": (0, 0, 0)}}, "has no port 'foot'"),
        ({"loaded": {3: (0, 0, 0)}}, "has no port 3"),
        ({"held": "base", "driven": {"base": (0, 0, 0)}}, "port 'base' of 'lever' is held and driven"),
        ({"held": "angle"}, "port 'angle': only bodies, frames of bodies and joints can be held, driven or loaded"),
        (
            {"driven": {"tip": (0, 0)}},
            "port 'tip': a motion has three components .position. or six .position, rotation.",
        ),
        ({"loaded": {"tip": 1.0}}, "port 'tip': a load has three components .force. or six .force, torque."),
        ({"loaded": {"tip": {"moment": (0, 0, 1)}}}, "a load has force and torque, not 'moment'"),
        ({"loaded": {"shaft": (1, 2)}}, "joint 'part.shaft' has 1 coordinates, 2 values are given"),
        ({"driven": ["tip"]}, "driven must be a dictionary"),
        ({"held": 3}, "held must be names of ports"),
        ({"mass": 3}, "unknown parameter 'mass' of 'lever'. Known: m"),
    ],
)
def test_what_a_bench_cannot_do_is_refused(wanted, words):
    with pytest.raises(ModelError, match=words):
        ts.testing.bench(lever(), **wanted)


@pytest.mark.parametrize("given", [None, "car", 3])
def test_a_bench_takes_a_component(given):
    with pytest.raises(ModelError, match="bench: give a component"):
        ts.testing.bench(given)
