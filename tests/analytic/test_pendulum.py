"""The planar pendulum against its elliptic function."""

import numpy as np
import pytest
from scipy.special import ellipj

import torsor as ts

G = 9.81


def angle(t):
    """θ from the lowest position, released at π/2: sin(θ/2) = k cd(√(g/l) t), k = sin(π/4); and its rate."""
    m = 0.5
    sn, cn, dn, _ = ellipj(np.sqrt(G) * np.asarray(t), m)
    s = np.sqrt(m) * cn / dn
    rate = -np.sqrt(m) * (1 - m) * sn / dn**2 * np.sqrt(G)  # d/dt of k cd
    return 2 * np.arcsin(s), 2 * rate / np.sqrt(1 - s**2)


@pytest.fixture(scope="module")
def run():
    return ts.simulate(ts.cases.load("pendulum"), 10.0, outputs=100, tolerance=1e-12)


def test_the_swing_is_an_elliptic_function(run):
    theta, rate = angle(run.time.values)
    exact = np.stack([np.sin(theta), -np.cos(theta), 0 * theta], axis=-1)
    # energy error of about 2e-10 at this tolerance shifts the phase by as much over 10 s
    assert np.abs(run.position.values[:, 0] - exact).max() < 1e-9
    speed = rate[:, None] * np.stack([np.cos(theta), np.sin(theta), 0 * theta], axis=-1)
    assert np.abs(run.velocity.values[:, 0] - speed).max() < 5e-9


def test_the_rod_carries_weight_and_centripetal_force(run):
    theta, rate = angle(run.time.values)
    pull = G * np.cos(theta) + rate**2
    towards_pivot = -run.position.values[:, 0]
    force = run.reaction_force.sel(joint="rod").values
    assert np.abs(force - pull[:, None] * towards_pivot).max() < 1e-7  # 3 g times the error of the motion


def test_the_pendulum_stays_in_its_plane(run):
    assert np.abs(run.position.values[:, 0, 2]).max() == 0.0
