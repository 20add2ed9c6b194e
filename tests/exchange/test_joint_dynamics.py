"""Joint-coordinate dynamics of real robots: mass matrix, forward and inverse dynamics and Jacobians equal MuJoCo's."""

import mujoco
import numpy as np
import pytest
from exchange_peer import ROBOTS, Peer, stripped

import torsor as ts
from torsor.exchange import read_urdf

FIXED = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "a1": "a1_description/urdf/a1.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}


def both(name, seed=4):
    """A robot on a fixed base in both engines, at one random state, and the order of our coordinates in theirs."""
    file = ROBOTS / FIXED[name]
    read = read_urdf(file, base="fixed", strict=False)
    ours = ts.compile(read.model, formulation="relative")
    peer = Peer(stripped(file, "fixed"))
    home = {j.joint.name: joint for joint, j in read.joints.items()}
    order = [peer.model.joint(home[c]).dofadr[0] for c in ours.coordinates]
    random = np.random.default_rng(seed)
    q, v, a = (random.uniform(-1, 1, ours.v.size) for _ in range(3))
    peer.data.qpos[order], peer.data.qvel[order] = q, v
    mujoco.mj_forward(peer.model, peer.data)
    return read, ours, peer, order, q, v, a


def close(ours, theirs):
    """1e-10 relative: both compute in double precision; some of the chains are 30 bodies long."""
    return np.abs(ours - theirs).max() < 1e-10 * (1 + np.abs(theirs).max())


@pytest.mark.parametrize("name", FIXED)
def test_matrices_and_dynamics_equal_those_of_mujoco(name):
    read, ours, peer, order, q, v, a = both(name)
    M = np.zeros((peer.model.nv, peer.model.nv))
    mujoco.mj_fullM(peer.model, peer.data, M)
    M = M[np.ix_(order, order)]
    assert close(ours.mass_matrix(q), M)
    assert close(ours.forward_dynamics(q, v), peer.data.qacc[order])
    assert close(ours.accelerations(q, v), peer.data.qacc[order])
    need = M @ a + peer.data.qfrc_bias[order] - peer.data.qfrc_passive[order]
    assert close(ours.inverse_dynamics(q, v, a), need)


@pytest.mark.parametrize("name", FIXED)
def test_jacobians_equal_those_of_mujoco(name):
    read, ours, peer, order, q, v, _ = both(name)
    original = {home.body: link for link, home in reversed(read.links.items())}
    for body in read.model.bodies:
        k = peer.model.body(original[body.name]).id
        linear, angular = np.zeros((3, peer.model.nv)), np.zeros((3, peer.model.nv))
        mujoco.mj_jacBodyCom(peer.model, peer.data, linear, angular, k)
        R = peer.data.xmat[k].reshape(3, 3)
        theirs = np.vstack([linear, R.T @ angular])[:, order]
        assert close(ours.body_jacobian(body.name, q), theirs)
