"""Numbers that no arithmetic can hold are refused where they are given, or end a run: no raw error, no run without end."""

import casadi as ca
import pytest

import torsor as ts
from torsor.prepare import memory_estimate

FORMULATIONS = ("absolute", "relative", "woronetz")


def pendulum(formulation="absolute", until=0.1, body=(), joint=(), spring=(), gravity=(0, 0, -9.81)):
    model = ts.Model("extreme", gravity=gravity)
    bob = model.body("bob", **{"mass": 1.0, "inertia": (1, 1, 1), "at": (1, 0, 0), **dict(body)})
    hinge = ts.Revolute(
        "hinge", model.ground, bob, **{"point": (0, 0, 0), "axis": (0, 1, 0), "start": 0.1, **dict(joint)}
    )
    hinge = model.add(hinge)
    if spring:
        model.add(ts.TorsionSpring("spring", hinge, **dict(spring)))
    return ts.simulate(model, until, outputs=2, formulation=formulation)


REFUSED = [
    ({"body": {"mass": 1e-320}}, "body 'bob': mass must be positive"),
    ({"body": {"mass": 1e308}}, "body 'bob': mass must not be larger than"),
    ({"body": {"inertia": (1e-320,) * 3}}, "body 'bob': principal moments of inertia must be positive"),
    ({"body": {"inertia": (1e308,) * 3}}, "body 'bob': inertia must not be larger than"),
    ({"body": {"velocity": (1e200, 0, 0)}}, "body 'bob': velocity must not be larger than"),
    ({"body": {"angular_velocity": (0, 1e200, 0)}}, "body 'bob': angular_velocity must not be larger than"),
    ({"body": {"angular_velocity": (0, 1e20, 0)}}, "the start is too fast"),
    ({"body": {"at": (1e300, 0, 0)}}, "body 'bob': at must not be larger than"),
    ({"joint": {"axis": (0, 1e-200, 0)}}, "revolute 'hinge': axis must not be zero"),
    ({"joint": {"axis": (0, 1e200, 0)}}, "revolute 'hinge': axis must not be larger than"),
    ({"joint": {"point": (1e300, 0, 0)}}, "revolute 'hinge': point must not be larger than"),
    ({"joint": {"start": 1e300}}, "revolute 'hinge': start must not be larger than"),
    ({"joint": {"start_rate": 1e200}}, "revolute 'hinge': start_rate must not be larger than"),
    ({"spring": {"stiffness": 1e308}}, "torsion-spring 'spring': stiffness must not be larger than"),
    ({"gravity": (0, 0, 1e300)}, "gravity must not be larger than"),
    ({"until": 1e300}, "until must be a positive number of seconds"),
    ({"until": 5e-324}, "until must be a positive number of seconds"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_numbers_whose_squares_are_none_are_refused(given, message):
    with pytest.raises(ts.TorsorError, match=message):
        pendulum(FORMULATIONS[REFUSED.index((given, message)) % 3], **given)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_parameters_that_make_such_numbers_are_refused_when_a_run_begins(formulation):
    for what, exponent, message in (
        ("mass", 700, "mass must be positive"),
        ("mass", -800, "mass must be positive"),
        ("inertia", -800, "principal moments of inertia must be positive"),
        ("at", 700, "the start contains values that are too large"),
        ("velocity", 700, "too fast|not a number|no start can be computed|not finite"),
    ):
        model = ts.Model("grown")
        x = model.parameter("x", 0.0)
        size = ca.exp(x)
        model.body("bob", **{"mass": 1.0, "inertia": (1, 1, 1), what: size if what == "mass" else [size] * 3})
        ts.simulate(model, 0.1, outputs=2, formulation=formulation)
        with pytest.raises(ts.TorsorError, match=message):
            ts.simulate(model, 0.1, outputs=2, formulation=formulation, parameters={"x": exponent})


@pytest.mark.parametrize("size", [1e-30, 1e30])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_large_and_small_numbers_that_arithmetic_can_hold_are_taken(size, formulation):
    """A pendulum of any mass swings alike."""
    usual, other = pendulum(formulation), pendulum(formulation, body={"mass": size, "inertia": (size,) * 3})
    assert float(abs(usual.coordinate - other.coordinate).max()) < 1e-9


@pytest.mark.parametrize("given", [{"rest": 1e60}, {"rest": -2e13}, {"start": 1e14}])
def test_angles_that_cannot_be_told_from_their_rounding_are_refused(given):
    model = ts.Model("far")
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    with pytest.raises(ts.ModelError, match="'(spring|hinge)'.*beyond 1e[+]13 rad, got"):
        start = {key: value for key, value in given.items() if key == "start"}
        hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis="y", **start))
        model.add(ts.TorsionSpring("spring", hinge, stiffness=1.0, **given))


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
@pytest.mark.parametrize("rough", [False, True])
def test_a_model_in_which_nothing_can_move_rests(formulation, rough):
    model = ts.Model("post", gravity=(0, 0, -9.81))
    body = model.body("b", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    model.add(ts.Fixed("foot", model.ground, body))
    tip = model.add(ts.Contact("tip", model.ground, body, point=(0, 0, 1), plane=(0, 0, 0)))
    if rough:
        model.add(ts.Friction("rub", tip, coefficient=0.3))
    data = ts.simulate(model, 0.1, outputs=1, formulation=formulation)
    assert data.attrs["status"] == "finished" and not data.velocity.values.any()


def test_what_does_not_fit_in_memory_is_refused_before_it_is_tried(monkeypatch):
    model = ts.cases.load("chain", n=20)
    with pytest.raises(
        ts.OptionError, match=r"500,000,001 outputs of [\d,]+ numbers take about [\d.]+ GB, this machine has"
    ):
        ts.simulate(model, 1.0, outputs=500_000_000)
    monkeypatch.setattr(memory_estimate, "machine_memory", lambda: 1e5)
    with pytest.raises(
        ts.OptionError, match="'chain-20' has 20 bodies: their preparation takes about 0.0 GB, this machine has"
    ):
        ts.simulate(model, 1.0)
