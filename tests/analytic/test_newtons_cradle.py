"""Newton's cradle: five balls pass momentum on by sequential impacts; the last one swings on as the first alone would."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts


def cradle(count, gap):
    model, radius, balls = ts.Model("cradle", gravity=(0, 0, -9.81)), 0.05, []
    for k in range(count):
        x = (2 * radius + gap) * k
        ball = model.body(f"ball{k}", inertia=ts.inertia.sphere(1.0, radius), at=(x, 0, -1.0))
        start = 0.5 if k == 0 else 0.0
        model.add(ts.Revolute(f"hinge{k}", model.ground, ball, point=(x, 0, 0), axis="y", start=start))
        balls.append(ball)
    for k, (a, b) in enumerate(zip(balls, balls[1:])):
        distance = ca.sqrt(ca.sumsqr(b.position - a.position)) - 2 * radius
        model.add(ts.OneSided(f"contact{k}", distance, restitution=1.0))
    return model


@pytest.mark.parametrize(
    "gap, within", [(0.0, 1e-12), (1e-9, 1e-8)]
)  # with gaps the balls touch where they do not hang down
def test_the_last_ball_swings_on_as_the_first_alone_would(gap, within):
    options = {"outputs": [0.4, 0.6, 1.0], "tolerance": 1e-12}
    data = ts.simulate(cradle(5, gap), 1.0, **options)
    alone = ts.simulate(cradle(1, 0.0), 1.0, **options).coordinate.values[:, 0]
    q = data.coordinate.values
    np.testing.assert_allclose(q[0, 0], alone[0], atol=1e-11)
    np.testing.assert_allclose(
        q[1:, 4], alone[1:], atol=3e-9
    )  # the balls touch a little before or after they hang down
    assert np.abs(q[1:, :4]).max() < within and np.abs(q[0, 1:]).max() == 0
    np.testing.assert_allclose(data.energy[-1], data.energy[0], atol=1e-10)
