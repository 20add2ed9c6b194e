"""What `torsor.testing` asserts holds for good models and cases, and fails, in clear words, for bad ones."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.errors import OptionError
from torsor.lie import se3

CASES = {"pendulum": 1.0, "four-bar": 0.5, "snakeboard": 0.5, "panels": 0.5, "platform": 0.2}


@pytest.mark.parametrize("case, until", CASES.items())
def test_every_law_holds_for_cases(case, until):
    """Loops with redundant rows, velocity-level constraints, events, trees, drives."""
    found = ts.testing.check(case, until)
    assert [f.check for f in found] == ["energy balance", "no drift", "formulations agree", "placed anywhere"]
    assert [f.words for f in found if f.holds is False] == []
    assert [f.check for f in found if f.holds is None] == []


def two_bodies(spring=True, gravity=(0, 0, -9.81)):
    """A pair that hangs on nothing."""
    model = ts.Model("pair", gravity=gravity)
    k = model.parameter("k", 40.0, positive=True)
    a = model.body("a", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0.3, 1.0, 0.2))
    b = model.body("b", mass=2.0, inertia=(0.3, 0.2, 0.4), at=(1, 0, 0), velocity=(0, 0.5, 0))
    model.add(ts.Spherical("ball", a, b, point=(0.5, 0, 0)))
    if spring:
        model.add(ts.SpringDamper("spring", a, b, points=((0, 0.3, 0), (1, 0.3, 0)), stiffness=k, damping=0.5))
    return model


def test_momentum_stays_where_nothing_acts_from_outside():
    data = ts.testing.assert_momentum(two_bodies(), 1.0, parameters={"k": 70.0})
    assert np.ptp(data.kinetic_energy.values) > 1.0  # while the bodies move


def test_the_angular_momentum_of_a_top_about_the_vertical_stays():
    ts.testing.assert_momentum("heavy-top", 0.5, linear="", angular="z", about=(0, 0, 0))
    with pytest.raises(
        AssertionError, match="angular momentum of 'heavy-top': along [xy] it has changed by .* of that"
    ):
        ts.testing.assert_momentum("heavy-top", 0.5, linear="", about=(0, 0, 0))


@pytest.mark.parametrize(
    "what, words", [("force", "momentum of 'pair': along y"), ("torque", "angular momentum of 'pair'")]
)
def test_what_acts_from_outside_is_found(what, words):
    model = two_bodies()
    model.add(
        ts.PointForce("wind", model["a"], force=(0, 1, 0))
        if what == "force"
        else ts.Torque("twist", model["a"], torque=(0, 0, 1))
    )
    with pytest.raises(AssertionError, match=f"{words}.*Something acts from outside, or a force has no reaction"):
        ts.testing.assert_momentum(model, 1.0)
    ts.testing.assert_momentum(model, 1.0, linear="xz", angular="")


def test_a_run_that_is_too_coarse_loses_its_energy_balance():
    with pytest.raises(
        AssertionError, match=r"energy balance of 'pair': .* differ by .* J at t = .* s, .* allowed 1e-06"
    ):
        ts.testing.assert_energy_balance(two_bodies(), 1.0, method="lie-euler", step=0.01)


def test_constraints_that_nothing_keeps_drift():
    options = {"method": "lie-euler", "step": 0.01, "projection": "none"}
    with pytest.raises(AssertionError, match=r"drift of 'pair': positions are off their constraints by .* at t = "):
        ts.testing.assert_no_drift(two_bodies(), 1.0, **options)
    ts.testing.assert_no_drift(two_bodies(), 1.0, within=1.0, **options)


@dataclass(frozen=True, eq=False)
class Crooked(ts.Joint):
    """A slide that leaves free another direction than the one it moves along."""

    key = "crooked"
    dof = 1
    angular = (False,)
    variants = ({},)

    def pose(self, q):
        return se3.pose(ca.SX.eye(3), ca.vertcat(q, 0, 0))

    def motion(self, q):
        return se3.twist(angular=ca.SX.zeros(3), linear=ca.SX([1, 0, 0]))

    def coordinates(self, H):
        return se3.split_pose(H)[1][0]

    def residual(self, H):
        R, p = se3.split_pose(H)
        return ca.vertcat(p[0], p[2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])

    def directions(self):
        return ["translation"] * 2 + ["rotation"] * 3


def test_a_joint_that_leaves_free_what_it_does_not_move_along_is_found():
    model = ts.Model("crooked", gravity=(-5, -3, -9.81))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(Crooked("slide", model.ground, body, point=(0, 0, 0)))
    with pytest.raises(
        AssertionError, match=r"'crooked' in 'absolute' and in 'relative.*': position of body 'body' differs by"
    ):
        ts.testing.assert_formulations_agree(model, 0.5, formulations=["absolute", "relative"])


@dataclass(frozen=True, eq=False)
class Lifted(ts.Force):
    """A force that looks at the world, wherever its component has been placed."""

    key = "lifted"
    variants = ({},)
    body: object = None

    def efforts(self):
        return [(self.body.velocity, ca.vertcat(0, 0, -30 * self.body.position[2]))]


def test_a_component_that_looks_beyond_its_own_world_is_found():
    model = two_bodies()
    ts.testing.assert_placement(model, 0.3)
    model = two_bodies()
    model.add(Lifted("lift", model["b"]))
    with pytest.raises(
        AssertionError, match="'pair' alone and inside another model: position of body '[ab]' differs by"
    ):
        ts.testing.assert_placement(model, 0.3)


def test_other_events_and_other_bodies_are_told():
    ball = lambda height: _ball(height)
    one, two = (ts.simulate(ball(h), 0.6, outputs=6) for h in (0.4, 5.0))
    with pytest.raises(AssertionError, match="two runs: other events happen: floor.* and none"):
        ts.testing.assert_same_motion(one, two)
    with pytest.raises(AssertionError, match="they have other bodies: ball and a, b"):
        ts.testing.assert_same_motion(one, ts.simulate(two_bodies(), 0.6, outputs=6))
    with pytest.raises(AssertionError, match="they have other output times"):
        ts.testing.assert_same_motion(one, ts.simulate(ball(0.4), 0.6, outputs=5))


def _ball(height):
    model = ts.Model("bounce", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, height))
    model.add(ts.Contact("floor", model.ground, ball, point=(0, 0, height), plane=(0, 0, 0), normal=(0, 0, 1)))
    return model


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_rest_is_not_judged_by_rounding(size):
    """A table on its legs: it carries its weight, and nothing moves."""
    model = ts.Model("rest", gravity=(0, 0, -9.81), hints=False)
    top = model.body("top", mass=3.0, inertia=tuple(size**2 * np.array([0.2, 0.2, 0.3])), at=(0, 0, size))
    for k, (x, y) in enumerate([(1, 0), (-0.5, 0.8), (-0.5, -0.8)]):
        model.add(ts.Spherical(f"foot{k}", model.ground, top, point=(x * size, y * size, 0)))
    assert [f.words for f in ts.testing.check(model, 1.0) if not f.holds] == []


def test_a_result_is_judged_as_it_is():
    data = ts.testing.assert_energy_balance(two_bodies(), 0.5)
    assert ts.testing.assert_no_drift(data) is data
    with pytest.raises(OptionError, match="a result is judged as it is"):
        ts.testing.assert_no_drift(data, 0.5)


def test_a_check_tells_what_does_not_hold_and_goes_on():
    model = two_bodies()
    model.add(Lifted("lift", model["b"]))
    found = {f.check: f for f in ts.testing.check(model, 0.3)}
    assert found["energy balance"].holds and not found["placed anywhere"].holds
    refused = ts.testing.check(ts.Model("nothing"), 1.0)
    assert [f.holds for f in refused] == [False] * 4 and "has no bodies" in refused[0].words


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ts.testing.assert_energy_balance(3, 1.0), "give a torsor.Model or the name of a case, got 3"),
        (lambda: ts.testing.assert_energy_balance("penduum", 1.0), "unknown case 'penduum'"),
        (lambda: ts.testing.assert_energy_balance(two_bodies()), "model 'pair': say how long to run"),
        (lambda: ts.testing.assert_no_drift("pendulum", 0.1, within=0), "within must be a positive number, got 0"),
        (lambda: ts.testing.assert_momentum("pendulum", 0.1, linear="xw"), 'linear must name axes, as in "xy", got \'xw\''),
        (lambda: ts.testing.assert_formulations_agree("pendulum", 0.1, ["absolute"]), "give two keys or more"),
        (lambda: ts.testing.assert_formulations_agree("pendulum", 0.1, ["absolute", "x"]), "unknown formulation 'x'"),
        (lambda: ts.testing.assert_placement("pendulum", 0.1, rotation=(1, 2)), "rotation"),
    ],
)  # fmt: skip
def test_what_cannot_be_asserted_is_refused(call, words):
    with pytest.raises(ts.TorsorError, match=words):
        call()


def test_energy_that_is_conserved_is_told_from_energy_that_is_lost():
    """A coarse explicit run loses it, a variational one does not."""
    given = {"step": 2e-3, "formulation": "absolute", "within": 1e-3}
    ts.testing.assert_energy_conserved("heavy-top", 10.0, method="variational", **given)
    with pytest.raises(AssertionError, match="energy of 'heavy-top': it has changed by .* method='variational'"):
        ts.testing.assert_energy_conserved("heavy-top", 10.0, method="midpoint", **given)


@pytest.mark.parametrize(
    "add, words",
    [
        (lambda m: two_bodies(), "cannot stay: .*'spring' dissipates"),
        (lambda m: m.add(ts.PointForce("wind", m["a"], force=(0, 1, 0))), "'wind' acts without a potential"),
        (lambda m: m.add(ts.Ground("base", at=(ts.time, 0, 0))), "ground 'base' moves as given"),
        (
            lambda m: m.add(ts.EnergyForce("pulse", energy=ts.time * m["a"].position[0])),
            "'pulse' has a potential that changes",
        ),
    ],
)
def test_what_cannot_conserve_energy_is_refused_with_what_changes_it(add, words):
    model = two_bodies(spring=False)
    found = add(model)
    model = found if isinstance(found, ts.Model) else model
    with pytest.raises(OptionError, match=words):
        ts.testing.assert_energy_conserved(model, 1.0)
