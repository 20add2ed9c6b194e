"""The bicycle of [meijaard2007]: a loop through the road, two rolling wheels, eigenvalues that are known to 14 digits."""

import numpy as np
import pytest

import torsor as ts

BASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10
REAR, FRONT = 0.3, 0.35  # radii

WEAVE_AND_CAPSIZE = {  # table 2: speed, eigenvalues with an imaginary part that is not negative
    0.0: [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393],
    3.0: [-10.3510146724592, -2.63366137253667, 1.70675605663975 + 2.31582447384325j],
    5.0: [-14.0783896927982, -0.32286642900409, -0.77534188219585 + 4.46486771378823j],
}


def bicycle(speed):
    """Upright, straight ahead; table 1 with y to the left and z upwards."""
    model = ts.Model("bicycle", gravity=(0, 0, -9.81))
    going = {"velocity": (speed, 0, 0)}
    rolling = lambda radius: going | {"angular_velocity": (0, speed / radius, 0)}
    rider = [[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]]
    bar = [[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]]
    rear = model.body("rear", mass=2.0, inertia=(0.0603, 0.12, 0.0603), at=(0, 0, REAR), **rolling(REAR))
    frame = model.body("frame", mass=85.0, inertia=rider, at=(0.3, 0, 0.9), **going)
    fork = model.body("fork", mass=4.0, inertia=bar, at=(0.9, 0, 0.7), **going)
    front = model.body("front", mass=3.0, inertia=(0.1405, 0.28, 0.1405), at=(BASE, 0, FRONT), **rolling(FRONT))
    model.add(ts.Revolute("hub", frame, rear, point=(0, 0, REAR), axis="y"))
    model.add(ts.Revolute("head", frame, fork, point=(BASE + TRAIL, 0, 0), axis=(-np.sin(TILT), 0, np.cos(TILT))))
    model.add(ts.Revolute("axle", fork, front, point=(BASE, 0, FRONT), axis="y"))
    model.add(ts.RollingDisk("rear_tyre", model.ground, rear, point=(0, 0, REAR), radius=REAR, axis="y"))
    model.add(ts.RollingDisk("front_tyre", model.ground, front, point=(BASE, 0, FRONT), radius=FRONT, axis="y"))
    return model


@pytest.mark.parametrize(("formulation", "speed"), [("absolute", 3.0), ("relative", 0.0), ("relative", 5.0)])
def test_a_bicycle_has_the_eigenvalues_of_the_benchmark(formulation, speed):
    """All others are zero: where it is, where it heads, how far its wheels have turned; and the speed."""
    found = ts.linearise(bicycle(speed), formulation=formulation)
    expected = WEAVE_AND_CAPSIZE[speed]
    for s in expected:
        assert np.abs(found.eigenvalues - s).min() < 1e-11 * max(abs(s), 1)
    neutral = sum(2 if mode.eigenvalue.imag > 0 else 1 for mode in found.modes if mode.neutral)
    assert neutral == len(found.eigenvalues) - 4
    assert found.stability == ("marginal" if speed == 5.0 else "unstable")
