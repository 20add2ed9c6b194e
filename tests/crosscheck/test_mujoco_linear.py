"""Linear models against differences of MuJoCo's accelerations: a tree of balls and hinges in motion, under gravity and springs."""

import mujoco
import numpy as np
import pytest

import torsor as ts

TREE = """
<mujoco>
  <option gravity="1 -2 -9.81"><flag contact="disable"/></option>
  <worldbody>
    <body name="trunk" pos="0 0 1"><joint name="root" type="ball"/>
      <inertial pos="0.1 0.2 -0.3" mass="2" diaginertia="0.05 0.04 0.03"/>
      <body name="arm" pos="0.3 0 -0.4"><joint name="elbow" type="hinge" axis="0 1 0" stiffness="3" damping="0.2"/>
        <inertial pos="0.2 0.1 0" mass="1" diaginertia="0.01 0.02 0.02"/>
        <body name="hand" pos="0.4 0 0"><joint name="slide" type="slide" axis="1 0 0" stiffness="40" damping="1"/>
          <inertial pos="0.05 0 0.02" mass="0.5" diaginertia="0.002 0.002 0.001"/>
        </body>
      </body>
      <body name="leg" pos="-0.2 0.1 -0.5"><joint name="hip" type="ball"/>
        <inertial pos="0 0 -0.3" mass="1.5" diaginertia="0.06 0.06 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
RATES = np.array([0.4, -0.7, 1.1, 0.9, -0.3, 0.5, 0.2, -0.8])


@pytest.fixture(scope="module")
def accelerations():
    """MuJoCo's accelerations as a function of a small motion from the start and of velocities."""
    model = mujoco.MjModel.from_xml_string(TREE)
    data = mujoco.MjData(model)
    start = data.qpos.copy()

    def found(way, rates):
        data.qpos[:], data.qvel[:] = start, rates
        mujoco.mj_integratePos(model, data.qpos, way, 1.0)
        mujoco.mj_forward(model, data)
        return data.qacc.copy()

    return found


def described():
    """The same tree in torsor."""
    model = ts.Model("tree", gravity=(1, -2, -9.81))
    data = {
        "trunk": ((0.1, 0.2, 0.7), 2.0, (0.05, 0.04, 0.03)),
        "arm": ((0.5, 0.1, 0.6), 1.0, (0.01, 0.02, 0.02)),
        "hand": ((0.75, 0, 0.62), 0.5, (0.002, 0.002, 0.001)),
        "leg": ((-0.2, 0.1, 0.2), 1.5, (0.06, 0.06, 0.01)),
    }
    trunk, arm, hand, leg = (model.body(n, mass=m, inertia=J, at=at) for n, (at, m, J) in data.items())
    model.add(ts.Spherical("root", model.ground, trunk, point=(0, 0, 1), start_rate=tuple(RATES[:3])))
    elbow = model.add(ts.Revolute("elbow", trunk, arm, point=(0.3, 0, 0.6), axis="y", start_rate=RATES[3]))
    slide = model.add(ts.Prismatic("slide", arm, hand, point=(0.7, 0, 0.6), axis="x", start_rate=RATES[4]))
    model.add(ts.Spherical("hip", trunk, leg, point=(-0.2, 0.1, 0.5), start_rate=tuple(RATES[5:])))
    model.add(ts.TorsionSpring("bend", elbow, stiffness=3.0, damping=0.2))
    model.add(ts.TorsionSpring("pull", slide, stiffness=40.0, damping=1.0))
    return model


def differences(f, n, h=1e-3):
    """Central differences of the sixth order."""
    weights = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return np.array([sum(w * (f(k * h * e) - f(-k * h * e)) for k, w in weights) / h for e in np.eye(n)]).T


def test_a_linear_model_is_that_of_mujocos_accelerations(accelerations):
    """MuJoCo counts turns of balls about axes of the body that turns, torsor about axes that stay: δv' = δv + ω × δv there."""
    found = ts.linearise(described(), formulation="relative")
    names = [name for name in found.states if not name.endswith(".rate")]
    theirs = ["root[0]", "root[1]", "root[2]", "elbow", "slide", "hip[0]", "hip[1]", "hip[2]"]
    order = [names.index(name) for name in theirs]
    n = len(order)
    K = differences(lambda way: accelerations(way, RATES), n)
    D = differences(lambda rates: accelerations(np.zeros(n), RATES + rates), n)
    for at in (0, 5):
        D[at : at + 3, at : at + 3] += np.cross(RATES[at : at + 3], np.eye(3)).T
    ours = found.A[n:, :][order]
    np.testing.assert_allclose(ours[:, order], K, atol=1e-7 * np.abs(K).max())
    np.testing.assert_allclose(ours[:, [n + k for k in order]], D, atol=1e-7 * np.abs(D).max())
