"""Real robots: everything that the wheel `example-robot-data` carries is read, and MuJoCo, which has its own reader of
URDF, agrees about masses, poses and accelerations."""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from exchange_peer import ROBOTS, Peer, stripped

import torsor as ts
from torsor.exchange import read_urdf

FILES = sorted(ROBOTS.rglob("*.urdf"))
BROKEN = {  # what is wrong with the file itself
    "alex_psyonic_hands": "mimics joint 'index_q1', which does not exist",
    "falcon": "its child is link 'Z_propeller', which does not exist",
    "ur3": "has no links",
}
REFUSED = {  # by what is refused unless strict=False
    "bluevolta_bravo7_gripper": "no mass", "bravo7_gripper": "no mass", "falcon_bravo7_gripper": "no mass",
    "romeo": "no mass", "romeo_laas_small": "no mass", "icub": "inertia", "icub_reduced": "inertia", "romeo_small": "inertia",
}  # fmt: skip
NOT_IN_MUJOCO = {  # files with an inertia, or a link without mass, that MuJoCo refuses
    "allegro_left_hand", "allegro_right_hand", "anymal-kinova", "anymal", "b1-z1", "b1", "finger_edu", "go1", "human",
    "hyq_no_sensors", "icub", "icub_reduced", "pr2", "romeo", "romeo_laas_small", "romeo_small", "tiago", "tiago_dual",
    "tiago_no_hand",
}  # fmt: skip
SOUND = [f for f in FILES if f.stem not in BROKEN]
NAMES = [f"{f.parts[len(ROBOTS.parts)]}-{f.stem}" for f in SOUND]


def test_the_wheel_carries_many_robots():
    """The number changes with its version (77 in 5.0, 69 in 6.0); without it the tests below would test nothing."""
    assert len(FILES) > 60


@pytest.mark.parametrize("file", [f for f in FILES if f.stem in BROKEN], ids=lambda f: f.stem)
def test_broken_files_are_refused_with_file_and_line(file):
    with pytest.raises(ts.ModelError, match=rf"{file.name}:\d+: .*{BROKEN[file.stem]}"):
        read_urdf(file, strict=False)


@pytest.mark.parametrize("file", [f for f in FILES if f.stem in REFUSED], ids=lambda f: f.stem)
def test_what_no_machine_has_is_refused_by_default(file):
    with pytest.raises(ts.ModelError, match=rf"{file.name}:\d+: .*{REFUSED[file.stem]}"):
        read_urdf(file)


@pytest.mark.parametrize("file", SOUND, ids=NAMES)
def test_every_robot_is_read_and_agrees_with_mujoco(file):
    """Poses, masses, centres of mass and inertias of all bodies in the zero configuration, where MuJoCo takes the file."""
    read = read_urdf(file, strict=file.stem not in REFUSED)
    assert all(note.where.startswith(str(file)) for note in read.report)
    missing = {note.element for note in read.report if note.kind == "missing"}
    assert len(missing) == (20 if file.stem == "romeo_laas_small" else 0)
    assert all(shape.file for shapes in read.meshes.values() for shape in shapes) or missing
    if file.stem in NOT_IN_MUJOCO:
        with pytest.raises(ValueError, match="inertia"):
            Peer(stripped(file, "fixed"))
        loose = read_urdf(file, base="free", strict=file.stem not in REFUSED)
        masses = [float(m.get("value")) for m in ElementTree.parse(file).iterfind("link/inertial/mass")]
        assert sum(float(body.mass) for body in loose.model.bodies) == pytest.approx(sum(masses), rel=1e-12)
        return
    peer = Peer(stripped(file, "fixed"))
    mujoco.mj_forward(peer.model, peer.data)
    original = {home.body: link for link, home in reversed(read.links.items())}
    assert peer.model.nbody == len(read.model.bodies) + 1
    for body in read.model.bodies:
        k = peer.model.body(original[body.name]).id
        R = np.array(ts.quantity.numbers(body.start_rotation))
        mass, J = float(body.mass), ts.quantity.numbers(body.inertia)
        turn = peer.data.ximat[k].reshape(3, 3)
        theirs = R.T @ turn @ np.diag(peer.model.body_inertia[k]) @ turn.T @ R
        assert np.abs(R - peer.data.xmat[k].reshape(3, 3)).max() < 1e-12
        assert np.abs(ts.quantity.numbers(body.start_position).ravel() - peer.data.xipos[k]).max() < 1e-12
        assert abs(mass - peer.model.body_mass[k]) < 1e-12 * mass
        assert np.abs(J - theirs).max() < 1e-10 * np.abs(J).max()


def random_state(file, base):
    """The robot at random joint angles and rates, and the same state for the peer, mimic joints where they belong."""
    random = np.random.default_rng(len(file))
    joints = read_urdf(ROBOTS / file, base=base).joints
    q, v = ({name: random.uniform(-1, 1, j.joint.dof) for name, j in joints.items()} for _ in range(2))
    return q, v


@pytest.mark.parametrize(
    ("file", "base", "couplings"),
    [
        ("ur_description/urdf/ur5_robot.urdf", "fixed", ()),
        ("xarm_description/urdf/xarm7.urdf", "fixed", ()),
        ("panda_description/urdf/panda.urdf", "fixed", (("panda_finger_joint2", "panda_finger_joint1", 1.0),)),
        ("a1_description/urdf/a1.urdf", "free", ()),
        ("hextilt_description/urdf/hextilt_flying_arm_5.urdf", "free", ()),
        (
            "baxter_description/urdf/baxter.urdf",
            "fixed",
            [(f"{s}_gripper_r_finger_joint", f"{s}_gripper_l_finger_joint", -1.0) for s in ("l", "r")],
        ),
    ],
    ids=["ur5", "xarm7", "panda", "a1", "hextilt", "baxter"],
)
def test_poses_and_accelerations_equal_those_of_mujoco(file, base, couplings):
    """At random coordinates and velocities. Both engines work in double precision: 1e-9 leaves five digits of rounding."""
    q, v = random_state(file, base)
    for follower, leader, factor in couplings:
        q[follower], v[follower] = factor * q[leader], factor * v[leader]
    read = read_urdf(ROBOTS / file, base=base, start=q, start_rate=v)
    peer = Peer(stripped(ROBOTS / file, base))
    theirs = {"the_base" if name == "base" else name: value for name, value in q.items()}
    peer.set(theirs, {"the_base" if name == "base" else name: value for name, value in v.items()})
    if couplings:
        peer.couple(couplings)
    dynamics = ts.compile(read.model, formulation="absolute")
    state, ours = dynamics.q.reshape(-1, 12), dynamics.accelerations().reshape(-1, 6)
    original = {home.body: link for link, home in reversed(read.links.items())}
    expected = [peer.body(original[body.name]) for body in read.model.bodies]
    reference = np.array([np.concatenate(e[2:]) for e in expected])
    for x, (center, R, _, _) in zip(state, expected):
        assert np.abs(x[:3] - center).max() < 1e-12
        assert np.abs(x[3:].reshape(3, 3, order="F") - R).max() < 1e-12
    assert np.abs(ours - reference).max() < 1e-9 * np.abs(reference).max()
    masses = np.array([float(body.mass) for body in read.model.bodies])
    moving = peer.model.body_mass[1:]
    assert abs(masses.sum() - moving.sum()) < 1e-12 * masses.sum()
    ours, theirs = masses @ state[:, :3] / masses.sum(), moving @ peer.data.xipos[1:] / moving.sum()
    assert np.abs(ours - theirs).max() < 1e-12
