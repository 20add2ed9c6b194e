"""Any sequence of hinges and slides on one body moves as MuJoCo's, in joint coordinates and in absolute ones."""

import casadi as ca
import mujoco
import numpy as np
import pytest
from exchange_peer import Peer

import torsor as ts
from torsor.exchange.hinge_slide_sequence import HingeSlideSequence
from torsor.lie import se3

SEQUENCES = {
    "two slides": "s 1 0 0, s 0.2 1 0",
    "three slides": "s 1 0 0, s 0.2 1 0, s 0 0.3 1",
    "slides, then hinges": "s 1 0 0, s 0 1 0, s 0 0 1, h 1 0 0, h 0 1 0, h 0 0 1",
    "a slide and a hinge": "s 0 0 1, h 0 1 0",
    "a hinge and a slide": "h 0 1 0.2, s 1 0 0",
    "three skew hinges": "h 1 0 0.1, h 0.2 1 0, h 0 0.1 1",
    "mixed": "h 1 0 0, s 0 1 0, h 0 1 0.3, s 1 0 0.2",
}


def text(sequence):
    joints = "".join(
        f'<joint name="j{k}" type="{"slide" if part[0] == "s" else "hinge"}" axis="{part[1:]}" pos="{0.1 * k} 0.05 {-0.2 * k}"/>'
        for k, part in enumerate(sequence.split(", "))
    )
    return f"""<mujoco><worldbody><body name="b" pos="0.1 0.2 0.3">{joints}
      <inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", SEQUENCES)
def test_accelerations_are_those_of_mujoco(name, tmp_path):
    given = text(SEQUENCES[name])
    file = tmp_path / "b.xml"
    file.write_text(given)
    n = len(SEQUENCES[name].split(", "))
    random = np.random.default_rng(2)
    q, v = ({f"j{k}": x for k, x in enumerate(random.uniform(-0.6, 0.6, n))} for _ in range(2))
    peer = Peer(given)
    peer.set(q, v)
    robot = ts.read(file, start=q, start_rate=v)
    relative = ts.compile(robot.model, "relative")
    assert np.allclose(relative.q, list(q.values()))
    assert np.abs(relative.accelerations() - peer.data.qacc).max() < 1e-11 * (1 + np.abs(peer.data.qacc).max())
    x, R, *both = peer.body("b")
    absolute = ts.compile(robot.model, "absolute")
    assert np.allclose(absolute.q[:3], x, atol=1e-13)
    reference = np.concatenate(both)
    assert np.abs(absolute.accelerations() - reference).max() < 1e-10 * (1 + np.abs(reference).max())
    assert [robot.joints[f"j{k}"].coordinate.shape for k in range(n)] == [(1, 1)] * n


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_keeps_the_contract_of_joints(name, monkeypatch):
    """Traced motion = declared one, residual(pose(q)) = 0, coordinates(pose(q)) = q, rates(S v) = v, rank + dof = 6."""
    parts = SEQUENCES[name].split(", ")
    kinds = tuple("slide" if p[0] == "s" else "hinge" for p in parts)
    axes = tuple(float(x) for p in parts for x in p[1:].split())
    points = tuple(np.random.default_rng(1).uniform(-1, 1, len(axes)).tolist())
    joint = HingeSlideSequence("s", None, None, kinds=kinds, axes=axes, points=points)
    q, twist = ca.SX.sym("q", joint.dof), ca.SX.sym("V", 6)
    H = joint.pose(q)
    columns = [se3.vee(se3.inverse(H) @ ca.reshape(ca.jacobian(ca.vec(H), q[k]), 4, 4)) for k in range(joint.dof)]
    rows = ca.jacobian(joint.residual(H @ se3.exp(twist)), twist)
    S = joint.motion(q)
    monkeypatch.setattr(type(joint), "relative_pose", lambda self: H)
    monkeypatch.setattr(type(joint), "relative_twist", lambda self: S @ q)
    zero = [ca.horzcat(*columns) - S, joint.residual(H), joint.coordinates(H) - q, joint.joint_rates() - q, rows @ S]
    *vanishing, rows = ca.Function("f", [q, twist], [*zero, rows])(
        [0.4, -0.3, 0.7, -0.5, 0.6, 1.1][: joint.dof], np.zeros(6)
    )
    assert all(np.abs(x.full()).max() < 1e-12 for x in vanishing if x.numel())
    assert np.linalg.matrix_rank(rows.full(), tol=1e-6) == 6 - joint.dof == len(joint.directions())


@pytest.mark.parametrize(
    "sequence", ["s 1 0 0, s 1 0 0", "h 1 0 0, h 0 1 0, h 1 0 0, h 0 1 0", "s 1 0 0, s 0 1 0, s 1 1 0"]
)
def test_motions_that_depend_on_each_other_are_refused(sequence, tmp_path):
    mujoco.set_mju_user_warning(lambda message: None)
    file = tmp_path / "b.xml"
    file.write_text(text(sequence))
    with pytest.raises(ts.ModelError, match="joints 'j0' .* move the body in the same way"):
        ts.read(file)
