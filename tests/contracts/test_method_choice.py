"""`method="auto"`: stiff models get an implicit method, others the default, and both are told why."""

import warnings

import numpy as np
import pytest

import torsor as ts
from torsor.look.summary import summary
from torsor.prepare.auto_formulation import choose_and_prepare
from torsor.prepare.velocity_block import state_of
from torsor.run import auto_method as stiffness


def damped(stiffness=1.0, damping=0.0, speed=1.0):
    """A mass on a spring with a damper."""
    model = ts.Model("damped")
    mass = model.body("mass", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis=(1, 0, 0), start_rate=speed))
    model.add(ts.JointForce("spring", rail, value=-stiffness * rail.coordinate[0] - damping * rail.rate[0]))
    return model


def rates(model, formulation="relative"):
    _, system, built = choose_and_prepare(model, formulation)
    x = state_of(built, system.state, system.t, system.q, system.v, system.p)
    return stiffness.rates(system, built, system.t, x, np.array(system.p))


@pytest.mark.parametrize("formulation", ["relative", "absolute", "hamiltonian"])
def test_decay_and_motion_are_those_of_the_linear_equation(formulation):
    """2 x″ + d x′ + k x = 0 decays with (d ± √(d² − 8 k))/4, or swings with √(k/2)."""
    found = rates(damped(stiffness=8e4, damping=2e4), formulation)
    assert found.decay == pytest.approx((2e4 + np.sqrt(4e8 - 6.4e5)) / 4, rel=1e-5) and found.stiff
    found = rates(damped(stiffness=8e4, damping=2.0), formulation)
    assert found.motion == pytest.approx(200.0, rel=1e-5) and not found.stiff


def test_the_users_states_count():
    model = damped()
    model.state("filter", rate=lambda z: -5e4 * z, start=1.0)
    assert rates(model).decay == pytest.approx(5e4, rel=1e-5)


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # a step of 0.01 s does not see where the energy goes
@pytest.mark.parametrize(
    "given, until, method, why",
    [
        ({"damping": 2e5}, 10.0, "radau5", "it is stiff: the fastest decay is 1e"),
        ({"damping": 2e5}, 0.01, "rkmk54", "but the run is short"),
        ({"stiffness": 1e9}, 0.01, "rkmk54", "nothing is stiff"),
        ({"damping": 2e5, "step": 0.01}, 1.0, "radau5", "an explicit step of 0.01 s would not be stable"),
        ({"step": 0.01}, 1.0, "rkmk54", "a step of 0.01 s is stable"),
    ],
)
def test_a_method_is_chosen_and_told(given, until, method, why):
    step = given.pop("step", None)
    data = ts.simulate(damped(**given), until, outputs=2, method="auto", step=step)
    same = ts.simulate(damped(**given), until, outputs=2, method=method, step=step)
    assert data.attrs["method"] == method and why in data.attrs["method_reason"]
    assert same.attrs["method_reason"] == "" and np.array_equal(data.position, same.position)
    assert why.split(" is 1e")[0] in " ".join(summary(data).split())


def test_what_auto_chooses_is_in_the_description_of_a_model():
    info = ts.info(damped(damping=2e5))
    assert info["method"] == "radau5" and "radau5: it is stiff" in str(info)
    assert ts.info(damped())["method"] == "rkmk54"


def test_large_models_are_not_looked_at():
    data = ts.simulate(ts.cases.load("chain", n=120), 1e-3, outputs=1, method="auto")
    assert (
        data.attrs["method"] == "rkmk54"
        and "unknowns, and stiffness is examined up to 200" in data.attrs["method_reason"]
    )


def test_a_run_that_stability_binds_is_told_of_other_methods(monkeypatch):
    monkeypatch.setattr(stiffness, "STABILITY_CHECK_AFTER", 0.0)
    with pytest.warns(UserWarning, match="as long as the stability of the method allows.*method='radau5' or 'bdf'"):
        ts.simulate(damped(damping=2e5), 0.2, outputs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.simulate(ts.cases.load("heavy-top"), 0.2, outputs=1)
        ts.simulate(damped(damping=2e5), 1.0, outputs=1, method="radau5")


def test_an_unknown_method_is_refused_with_auto_among_those_that_are_known():
    with pytest.raises(ts.OptionError, match="unknown integrator 'autos'. Did you mean 'auto'"):
        ts.simulate(damped(), 1.0, method="autos")
