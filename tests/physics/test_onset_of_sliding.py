"""A plate on three feet, one of which has dry friction, is pushed and turned by loads that grow.

The foot sticks, lets go, and slides in a direction that turns. The truth is SciPy's Radau on hand-written equations with friction
−c u/√(u² + κ²), which is dry friction for κ → 0. Before the foot lets go it creeps there at a speed of some κ.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

MASS, INERTIA, GRIP, FOOT, CREEP = 1.0, 0.02, 2.0, 0.3, 1e-7
LOADS = (
    (-1.3, 1.08, 0.36, 2.84, -0.14, 0.22),  # force x, y: a + b t, c + d t; torque: e + f t
    (0.9, 0.28, -0.74, -2.76, -0.09, -0.13),
    (-0.46, 0.66, 0.64, 1.42, 0.2, -0.1),
)


@pytest.fixture(scope="module")
def plate():
    model = ts.Model("plate", gravity=(0, 0, -9.81))
    body = model.body("plate", mass=MASS, inertia=(INERTIA,) * 3, at=(0, 0, 0.1))
    model.add(ts.Free("free", model.ground, body, point=(0, 0, 0.1)))
    for k, (x, y) in enumerate(((FOOT, 0), (-0.2, 0.25), (-0.2, -0.25))):
        contact = model.add(ts.Contact(f"foot{k}", model.ground, body, point=(x, y, 0), plane=(0, 0, 0)))
        if k == 0:
            model.add(ts.Friction("rough", contact, coefficient=1.0, normal=GRIP))
    a, b, c, d, e, f = (model.parameter(name, 0.0) for name in "abcdef")
    t = ts.time
    model.add(ts.PointForce("push", body, force=(a + b * t, c + d * t, 0), point=(0, 0, 0)))
    model.add(ts.Torque("turn", body, torque=(0, 0, e + f * t)))
    return model


def expected(load, until):
    a, b, c, d, e, f = load

    def rates(t, y):
        (vx, vy, spin), (cos, sin) = y[3:], (np.cos(y[2]), np.sin(y[2]))
        ux, uy = vx - spin * FOOT * sin, vy + spin * FOOT * cos
        slip = np.sqrt(ux**2 + uy**2 + CREEP**2)
        fx, fy = -GRIP * ux / slip, -GRIP * uy / slip
        torque = e + f * t + FOOT * (cos * fy - sin * fx)
        return [vx, vy, spin, (a + b * t + fx) / MASS, (c + d * t + fy) / MASS, torque / INERTIA]

    x, y, angle = solve_ivp(rates, (0, until), np.zeros(6), method="Radau", rtol=1e-8, atol=1e-10).y[:3, -1]
    return np.array([x, y, np.sin(angle)])


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    ("formulation", "method"),
    [
        ("relative", {}),
        ("absolute", {}),
        ("relative", {"method": "rkmk4", "step": 1e-3}),
        ("relative", {"method": "rkmk4", "step": 4e-3}),
    ],
    ids=str,
)
def test_a_foot_lets_go_once_and_slides_as_dry_friction_has_it(plate, load, formulation, method):
    data = ts.simulate(
        plate, 1.0, outputs=1, parameters=dict(zip("abcdef", load)), formulation=formulation, progress=False, **method
    )
    turned = data.rotation.values[-1, 0, 1, 0]
    found = np.array([*data.position.values[-1, 0, :2], turned])
    assert np.abs(found - expected(load, 1.0)).max() < 1e-5  # creep before sliding, κ, and its rate after it
    names = [name for name in data.event_name.values.tolist() if name.startswith("rough")]
    assert names.count("rough.slide") == 1 and len(names) <= 3  # no chatter
    assert data.attrs["steps"] < 20000
