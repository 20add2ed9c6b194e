"""Motions that are imposed as functions of time are continuous, so are their rates, and rotations are rotations."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

t = ts.time
JUMPS = {  # function, instant, size
    "step": (ca.if_else(t < 0.5, 0.0, 0.3), 0.5, 0.3),
    "step at the start": (ca.if_else(t <= 0, 0.0, 0.3), 0.0, 0.3),
    "stairs": (0.1 * ca.floor(3 * t), 1 / 3, 0.1),
    "sign": (0.2 * ca.sign(t - 0.7), 0.7, 0.4),
    "saw": (ca.fmod(t, 0.5), 0.5, 0.5),
    "branch of an arc tangent": (ca.atan2(ca.sin(4 * t), ca.cos(4 * t)), np.pi / 4, 2 * np.pi),
    "pole": (ca.atan(ca.tan(2 * t)), np.pi / 4, np.pi),
    "pulse of 10 µs": (ca.if_else(ca.logic_and(t > 1, t < 1.00001), 0.3, 0), 1.0, 0.3),
    "pulse of 2 µs": (ca.if_else(ca.fabs(t - 1) < 1e-6, 0.3, 0), 1.0, 0.3),
    "pulse at a peak": (ca.if_else(ca.sin(t) > 1 - 1e-12, 0.3, 0), np.pi / 2, 0.3),
}
KINKS = {
    "ramp": (ca.fmax(0, t - 1), 1.0, 1.0),
    "ramp that ends": (ca.fmin(2 * t, 1), 0.5, 2.0),
    "bounce": (ca.fabs(ca.sin(2 * t - 1)), 0.5, 4.0),
    "root of a square": (ca.sqrt((t - 1) ** 2), 1.0, 2.0),
}
SMOOTH = {
    "sine": ca.sin(3 * t),
    "joined with two derivatives": ca.if_else(t < 1, 0.3 * (10 * t**3 - 15 * t**4 + 6 * t**5), 0.3),
    "joined with one derivative": ca.fmax(0, t - 0.5) ** 2,
    "cube of a size": ca.fabs(t - 1) ** 3,
    "switched later": ca.if_else(t < 100, ca.sin(t), 5),
    "switched before": ca.if_else(t < 0, 7, ca.sin(t)),
}


def hinge():
    model = ts.Model("driven")
    body = model.body("arm", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    return model, body, model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))


def impose(kind, f):
    """A model in which f is imposed somewhere."""
    model, body, joint = hinge()
    if kind == "drive":
        model.add(ts.Drive("imposed", joint, f))
    if kind == "equation":
        model.add(ts.Holonomic("imposed", joint.coordinate[0] - f))
    if kind == "motion":
        model.add(ts.Motion("imposed", body, rotation=ca.vertcat(0, f, 0)))
    if kind == "ground":
        model.add(ts.Ground("imposed", at=(0, 0, f)))
    return model


@pytest.mark.parametrize("name", JUMPS)
def test_a_position_that_jumps_is_refused_with_its_time_and_size(name):
    f, when, size = JUMPS[name]
    with pytest.raises(ts.ModelError, match=r"'imposed': its motion jumps by") as caught:
        ts.simulate(impose("drive", f), 2.0)
    told = str(caught.value).split("jumps by ")[1].split(" s.")[0].split(" at t = ")
    assert float(told[0]) == pytest.approx(size, rel=1e-2)
    assert float(told[1]) == pytest.approx(when, abs=2e-6)


@pytest.mark.parametrize("name", KINKS)
def test_a_rate_that_jumps_is_refused_with_its_time_and_size(name):
    f, when, size = KINKS[name]
    with pytest.raises(ts.ModelError, match=r"'imposed': the rate of its motion jumps by") as caught:
        ts.simulate(impose("drive", f), 2.0)
    told = str(caught.value).split("jumps by ")[1].split(" s.")[0].split(" per second at t = ")
    assert float(told[0]) == pytest.approx(size, rel=1e-2)
    assert float(told[1]) == pytest.approx(when, abs=1e-6)


@pytest.mark.parametrize("kind", ["equation", "motion", "ground"])
@pytest.mark.parametrize("f", [JUMPS["step"][0], KINKS["ramp"][0], ca.acos(ca.cos(3 * t + 0.1))])
def test_whatever_imposes_a_motion_that_jumps_is_refused(kind, f):
    with pytest.raises(ts.ModelError, match=r"'imposed': .*its motion jumps by"):
        ts.simulate(impose(kind, f), 2.0)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_motions_are_followed(name):
    data = ts.simulate(impose("drive", SMOOTH[name]), 2.0, outputs=8)
    exact = ca.Function("f", [t], [SMOOTH[name]])
    np.testing.assert_allclose(data.coordinate.values[:, 0], [float(exact(x)) for x in data.time.values], atol=1e-10)


def test_a_jump_after_the_end_of_the_run_does_no_harm():
    model = impose("drive", JUMPS["step"][0])
    ts.simulate(model, 0.4)
    with pytest.raises(ts.ModelError, match="jumps by 0.3 at t = 0.5 s"):
        ts.simulate(model, 0.6)


def test_whether_a_motion_jumps_is_asked_with_the_parameters_of_the_run():
    model, _, joint = hinge()
    height = model.parameter("height", 0.0)
    model.add(ts.Drive("imposed", joint, ca.if_else(t < 0.5, 0.0, height)))
    ts.simulate(model, 1.0)
    with pytest.raises(ts.ModelError, match="jumps by 0.3 at t = 0.5 s"):
        ts.simulate(model, 1.0, parameters={"height": 0.3})


def test_a_velocity_may_kink_and_must_not_jump():
    for f, good in ((ca.fabs(t - 0.5), True), (ca.if_else(t < 0.5, 0, 1), False)):
        model, _, joint = hinge()
        model.add(ts.Nonholonomic("imposed", joint.rate - f))
        if good:
            assert ts.simulate(model, 1.0, outputs=1).coordinate.values[-1, 0] == pytest.approx(0.25, abs=1e-6)
        else:
            with pytest.raises(ts.ModelError, match="'imposed': its motion jumps by 1 at t = 0.5 s"):
                ts.simulate(model, 1.0)


def test_a_motion_that_jumps_while_an_event_may_have_released_it_is_told():
    model, _, joint = hinge()
    drive = model.add(ts.Drive("imposed", joint, JUMPS["step"][0]))
    model.when(t >= 0.4, ts.release(drive), name="let-go")
    for _ in range(2):
        with pytest.warns(
            UserWarning, match="jumps by 0.3 at t = 0.5 s; the result is correct only if an event has released"
        ):
            data = ts.simulate(model, 1.0, outputs=2)
    np.testing.assert_allclose(data.coordinate, 0, atol=1e-12)


c, s = ca.cos(t), ca.sin(t)
MATRICES = {
    "scaled": [[1 + t, 0, 0], [0, 1, 0], [0, 0, 1]],
    "mirrored": [[c, s, 0], [s, -c, 0], [0, 0, 1]],
    "sheared": [[1, s, 0], [0, 1, 0], [0, 0, 1]],
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("kind", ["ground", "motion"])
def test_a_rotation_that_is_none_is_refused(name, kind):
    model, body, _ = hinge()
    rotation = ca.vertcat(*[ca.horzcat(*row) for row in MATRICES[name]])
    model.add(
        ts.Ground("imposed", rotation=rotation) if kind == "ground" else ts.Motion("imposed", body, rotation=rotation)
    )
    with pytest.raises(ts.ModelError, match=r"'imposed': rotation is not a rotation \(orthogonal, determinant \+1\)"):
        ts.simulate(model, 1.0)


def test_rotations_in_any_form_are_taken():
    turn = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
    for rotation in (
        turn,
        ca.vertcat(0, 0, t),
        ca.vertcat(ca.cos(t / 2), 0, 0, ca.sin(t / 2)),
        ca.vertcat(0, 0, ca.atan2(s, c)),
    ):
        model = ts.Model("turned")
        base = model.add(ts.Ground("base", rotation=rotation))
        body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
        model.add(ts.Fixed("bolts", base, body))
        x = ts.simulate(model, 4.0, outputs=4).position.values[:, 0]
        np.testing.assert_allclose(x[:, :2], [[np.cos(k), np.sin(k)] for k in range(5)], atol=1e-10)
