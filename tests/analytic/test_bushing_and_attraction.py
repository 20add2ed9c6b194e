"""A rubber mount and gravity between bodies, against closed forms."""

import numpy as np
import pytest

import torsor as ts


def test_two_bodies_move_on_a_kepler_ellipse():
    """From the apocentre with a (1 − e²) from the speed, the period is 2π √(a³/(G (m₁ + m₂)))."""
    G, masses, distance, speed = 1.0, (3.0, 1.0), 2.0, 1.1
    a = 1 / (2 / distance - speed**2 / (G * sum(masses)))
    period = 2 * np.pi * np.sqrt(a**3 / (G * sum(masses)))
    model = ts.Model("binary")
    share = masses[1] / sum(masses)
    one = model.body("one", masses[0], 0, at=(-share * distance, 0, 0), velocity=(0, -share * speed, 0))
    two = model.body("two", masses[1], 0, at=((1 - share) * distance, 0, 0), velocity=(0, (1 - share) * speed, 0))
    model.add(ts.Attraction("gravity", [one, two], constant=G))
    data = ts.simulate(model, period, outputs=2, tolerance=1e-11)
    np.testing.assert_allclose(data.position[-1], data.position[0], atol=1e-7)
    apart = data.position[1, 1] - data.position[1, 0]
    assert float(np.linalg.norm(apart)) == pytest.approx(abs(2 * a - distance), abs=1e-7)


def test_a_bushing_swings_in_each_direction():
    """ω² = k/m along an axis and k/J about it, about large angles too: U = ½ k θ² for a rotation θ about one axis."""
    model = ts.Model("mount")
    body = model.body("body", 2.0, (0.3, 0.4, 0.5), at=(0, 0, 0), velocity=(0.3, 0, 0), angular_velocity=(0, 0, 4.0))
    model.add(ts.Bushing("mount", model.ground, body, stiffness=(50, 60, 70, 3, 4, 8)))
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-11)
    t, w = data.time.values, 4.0  # √(8/0.5): up to one radian
    np.testing.assert_allclose(data.position.values[:, 0, 0], 0.3 / 5 * np.sin(5 * t), atol=1e-8)
    np.testing.assert_allclose(data.angular_velocity.values[:, 0, 2], 4.0 * np.cos(w * t), atol=1e-8)


@pytest.mark.parametrize("stiffness", [(1, 2, 3), (1, 1, 1, 1, 1, -1)])
def test_a_bushing_without_meaning_is_refused(stiffness):
    model = ts.Model("mount")
    body = model.body("body", 2.0, (0.3, 0.4, 0.5))
    with pytest.raises(ts.ModelError, match="stiffness must be"):
        model.add(ts.Bushing("mount", model.ground, body, stiffness=stiffness))
