"""A spring and damper whose points coincide at the start, while they part with the speed 1.

    m ẍ + c ẋ + k x = 0,   x(0) = 0,   ẋ(0) = 1:       x = exp(−c t/2m) sin(ω t)/ω                         (1)

along the direction in which they part.
"""

import numpy as np
import pytest

import torsor as ts
from torsor.registry import registered

K, C = 100.0, 1.0
ALONG = np.array([1.0, 2.0, -0.5]) / np.sqrt(5.25)


def exact(t):
    w = np.sqrt(K - C**2 / 4)
    return np.exp(-C * t / 2) * np.sin(w * t) / w  # (1)


def model_of(at, symbolic):
    model = ts.Model("meet")
    anchor = model.body("anchor", mass=5.0, inertia=(1, 1, 1), at=(2.0, 0.5, 0.1))
    model.add(ts.Fixed("fixed", model.ground, anchor))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=at, velocity=ALONG)
    k, c = (model.parameter("k", K), model.parameter("c", C)) if symbolic else (K, C)
    length = model.parameter("length", 0.0) if symbolic else None
    model.add(ts.SpringDamper("spring", anchor, body, points=(at, at), stiffness=k, damping=c, length=length))
    return model


@pytest.mark.parametrize("formulation", sorted(registered("formulation")))
def test_in_every_formulation(formulation):
    for at, symbolic in (((0, 0, 0), False), ((0.3, -1.2, 0.7), True)):
        data = ts.simulate(model_of(at, symbolic), 1.0, outputs=2, formulation=formulation, tolerance=1e-10)
        found = data.position.sel(body="body").values[1:] - at
        np.testing.assert_allclose(found, np.outer(exact(np.array([0.5, 1.0])), ALONG), atol=1e-9)


@pytest.mark.filterwarnings("ignore::torsor.errors.AccuracyWarning")  # methods of order 1
@pytest.mark.parametrize("method", sorted(registered("integrator")))
def test_with_every_method(method):
    cls = registered("integrator")[method]
    steps, errors = ({"step": 2e-2}, {"step": 5e-3}), []
    for options in steps:
        data = ts.simulate(model_of((0.3, -1.2, 0.7), False), 0.5, outputs=1, method=method, **options)
        errors.append(np.abs(data.position.sel(body="body").values[-1] - (0.3, -1.2, 0.7) - exact(0.5) * ALONG).max())
    assert errors[1] < 1e-12 or np.log2(errors[0] / errors[1]) / 2 > cls.order - 0.4


def test_points_that_stay_together_feel_no_force():
    model = ts.Model("rest")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=(0.2, 0, 0))
    model.add(
        ts.SpringDamper("spring", model.ground, body, points=((0.2, 0, 0),) * 2, stiffness=K, damping=C, length=0.5)
    )
    data = ts.simulate(model, 1.0, outputs=1, method="radau5")
    np.testing.assert_array_equal(data.position.values[-1, 0], (0.2, 0, 0))
