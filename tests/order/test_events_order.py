"""A method keeps its order across events: their instants are roots of the method itself, not of an interpolation."""

from functools import cache

import models
import numpy as np
import pytest
from models import block_on_a_belt as belt

import torsor as ts

METHODS = {"kutta3": 3, "cg3": 3, "rkmk4": 4, "cf4": 4, "variational4": 4, "rkmk54": 5}


def pendulum():
    """Hits a stop twice in 2 s, with a restitution of 0.7."""
    model = models.pendulum(mass=1.3, inertia=(0.2, 0.1, 0.15), at=(0, 0, -0.8), start=1.9)
    model.add(ts.Limit("stop", model["hinge"], lower=-0.35, restitution=0.7))
    return model


PROBLEMS = {  # model, run length [s], number of events, steps of the reference, and steps in the asymptotic range by order
    "stop": (pendulum, 2.0, 2, 8000, {3: (80, 160, 320), 4: (40, 80, 160), 5: (20, 40, 80)}),
    "stick-slip": (belt, 1.6, 3, 8000, {3: (160, 320, 640), 4: (80, 160, 320), 5: (80, 160, 320)}),
}


def final(problem, method, steps):
    build, until, events, *_ = PROBLEMS[problem]
    data = ts.simulate(build(), until, outputs=[0.0, until], method=method, step=until / steps, formulation="relative")
    assert data.sizes["event"] == events
    return np.r_[data.coordinate.values[-1], data.rate.values[-1], data.event_time.values]


@cache
def reference(problem):
    return final(problem, "rkmk54", PROBLEMS[problem][3])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_order_is_kept_across_events(problem, method):
    """State at the end and times of the events, both."""
    steps = PROBLEMS[problem][4][METHODS[method]]
    errors = np.array([np.abs(final(problem, method, n) - reference(problem)) for n in steps])
    for what, error in (("state", errors[:, :2].max(axis=1)), ("times", errors[:, 2:].max(axis=1))):
        slope = -np.polyfit(np.log(steps), np.log(error), 1)[0]
        assert slope > METHODS[method] - 0.2, f"{what}: {slope:.2f}, errors {error} at {steps} steps"
