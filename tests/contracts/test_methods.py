"""Contract of every registered method: any formulation, events in its steps, and a run that goes on as if it had never stopped."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.simulation import resume

pytestmark = pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # some methods are for drafts
METHODS = ts.registered("integrator")
EVENTFUL = [key for key, cls in METHODS.items() if cls.order > 1]


def pendulum(stiffness=0.0):
    """Two rods, the first one driven by a spring, under gravity."""
    model = ts.Model("rods", gravity=(0, 0, -9.81))
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    top = model.add(ts.Revolute("top", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis=(0, 1, 0.2)))
    if stiffness:
        model.add(ts.TorsionSpring("spring", top, stiffness=stiffness, damping=stiffness / 50))
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
@pytest.mark.parametrize("method", METHODS)
def test_a_method_runs_every_formulation(method, formulation):
    """At half the step the error is that much smaller as the order says, or it is rounding already."""
    exact = ts.simulate(pendulum(), 0.5, outputs=1, formulation=formulation, tolerance=1e-12).position.values[-1]
    errors = [
        np.abs(
            ts.simulate(pendulum(), 0.5, outputs=1, formulation=formulation, method=method, step=h).position.values[-1]
            - exact
        ).max()
        for h in (0.005, 0.0025)
    ]
    assert errors[1] < 1e-11 or errors[0] / errors[1] > 2 ** (METHODS[method].order - 0.4)


@pytest.mark.parametrize("method", EVENTFUL)
def test_rebounds_are_found_by_the_method_itself(method):
    """A ball that falls is exact for any method of order 2 or more; so are the times of its rebounds."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0), restitution=0.7))
    data = ts.simulate(model, 1.5, outputs=3, method=method, step=0.03)
    first = np.sqrt(2 / 9.81)
    exact = first * (1 + 2 * np.cumsum([0, 0.7, 0.49])[: data.sizes["event"]])
    assert data.sizes["event"] >= 2 and np.abs(data.event_time.values[:2] - exact[:2]).max() < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_was_kept_goes_on_bit_for_bit(method, tmp_path):
    """Checkpoints after every few steps, and an end in the middle: the same numbers as of a run in one go."""
    from torsor.run import runner

    model, given = pendulum(), {"outputs": 8, "method": method, "step": 0.01}
    whole = ts.simulate(model, 0.8, **given)
    march, calls = runner.Runner._advance, []

    def interrupted(self, budget):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return march(self, min(budget, 11))

    runner.Runner._advance = interrupted
    try:
        with pytest.warns(UserWarning, match="interrupted"):
            ts.simulate(model, 0.8, checkpoint=str(tmp_path / "run"), checkpoint_every=0.05, **given)
    finally:
        runner.Runner._advance = march
    data = resume(str(tmp_path / "run"), model)
    for name in ("position", "rotation", "velocity", "rate"):
        assert np.array_equal(data[name], whole[name])


def test_an_implicit_method_takes_long_steps_through_a_stiff_motion():
    """A spring that settles within microseconds: the rods hang from it as from a clamp, explicit steps of that length fail."""
    clamped, given = pendulum(1e9), {"outputs": 10, "step": 0.01}
    data = ts.simulate(clamped, 0.5, method="implicit-midpoint", **given)
    assert np.abs(data.coordinate.values[:, 0]).max() < 1e-6
    with pytest.raises(ts.RunError):
        ts.simulate(clamped, 0.5, method="rkmk4", **given)


def test_an_implicit_method_keeps_the_energy_of_a_long_run():
    """Symmetric: the error of the energy swings, and does not grow."""
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    data = ts.simulate(model, 60.0, outputs=600, method="implicit-midpoint", step=0.02, formulation="relative")
    error = np.abs(data.energy - data.energy[0]).values
    assert error[300:].max() < 1.5 * error[:300].max()


def test_equations_that_are_not_solved_are_told():
    """A force without a solution for any step: its value jumps with the speed."""
    model = ts.Model("jump")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    model.add(ts.JointForce("sign", rail, value=-1e6 * ca.sign(rail.rate[0] - 0.5)))
    with pytest.raises(ts.RunError, match="Newton's method does not solve .* most of all in 'rail'"):
        ts.simulate(model, 1.0, method="implicit-midpoint", step=0.01, formulation="relative")


def test_equations_of_a_state_that_are_not_solved_are_told_with_its_name():
    model = ts.Model("relay")
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.state("charge", rate=lambda x: -1e6 * ca.sign(x - 0.5), start=1.0)
    model.state("pair", rate=lambda x: -x, start=(1.0, 2.0))
    with pytest.raises(ts.RunError, match="Newton's method does not solve .* most of all in state 'charge'"):
        ts.simulate(model, 1.0, method="implicit-midpoint", step=0.01)
