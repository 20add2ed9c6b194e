"""Real robots, and what MuJoCo says about them: another reader of URDF, another engine, other coordinates."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np

ROBOTS = next(
    (found for p in sys.path if (found := Path(p) / "cmeel.prefix/share/example-robot-data/robots").is_dir()),
    Path("/nowhere"),
)
KEPT = {"link": {"inertial"}, "joint": {"origin", "parent", "child", "axis", "dynamics"}}


def stripped(path, base):
    """A URDF as a string: the mechanism alone, without shapes, limits, friction and couplings, on a floating joint where
    the base is free."""
    robot = ElementTree.parse(path).getroot()
    for element in list(robot):
        if element.tag not in KEPT:
            robot.remove(element)
        else:
            for child in [c for c in element if c.tag not in KEPT[element.tag]]:
                element.remove(child)
    for dynamics in robot.iter("dynamics"):
        dynamics.attrib.pop("friction", None)
    for joint in robot.iter("joint"):
        if joint.get("type") == "revolute":
            joint.set("type", "continuous")
    if base == "free":
        children = {c.get("link") for c in robot.iter("child")}
        root = next(x.get("name") for x in robot.iter("link") if x.get("name") not in children)
        ElementTree.SubElement(robot, "link", name="the_world")
        floating = ElementTree.SubElement(robot, "joint", name="the_base", type="floating")
        ElementTree.SubElement(floating, "parent", link="the_world")
        ElementTree.SubElement(floating, "child", link=root)
    return ElementTree.tostring(robot, encoding="unicode")


class Peer:
    """MuJoCo's model of a robot, at a state that is given joint by joint."""

    def __init__(self, xml):
        mujoco.set_mju_user_warning(lambda message: None)  # it would write a log file
        try:
            self.model = mujoco.MjModel.from_xml_string(xml)
        finally:
            mujoco.set_mju_user_warning(None)
        self.data = mujoco.MjData(self.model)
        self.joints = [self.model.joint(k) for k in range(self.model.njnt)]

    def set(self, positions, velocities):
        """Values by joint name; a free joint has a rotation vector and a position, angular and linear velocity, all in
        axes of the body for the velocities."""
        for joint in self.joints:
            q, v = positions.get(joint.name), velocities.get(joint.name)
            if q is None:
                continue
            if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
                quaternion, R = np.zeros(4), np.zeros(9)
                angle = np.linalg.norm(q[:3])
                mujoco.mju_axisAngle2Quat(quaternion, np.array(q[:3]) / angle, angle)
                mujoco.mju_quat2Mat(R, quaternion)
                q = [*q[3:], *quaternion]
                v = [*(R.reshape(3, 3) @ v[3:]), *v[:3]]
            self.data.qpos[joint.qposadr[0] : joint.qposadr[0] + np.size(q)] = q
            self.data.qvel[joint.dofadr[0] : joint.dofadr[0] + np.size(v)] = v
        mujoco.mj_forward(self.model, self.data)

    def couple(self, couplings):
        """Keep q_f = k q_l + c: accelerations of the least constraint (Gauss), M (a − a_free) = Aᵀ λ with A a = 0."""
        M, A = np.zeros((self.model.nv, self.model.nv)), np.zeros((len(couplings), self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        for row, (follower, leader, factor) in zip(A, couplings):
            row[self.model.joint(follower).dofadr[0]] = 1.0
            row[self.model.joint(leader).dofadr[0]] = -factor
        free = self.data.qacc.copy()
        pulled = np.linalg.solve(M, A.T)
        self.data.qacc[:] = free - pulled @ np.linalg.solve(A @ pulled, A @ free)

    def body(self, name):
        """Centre of mass, rotation, and their accelerations (the angular one in body axes)."""
        m, d, k = self.model, self.data, self.model.body(name).id
        J, rate = np.zeros((6, m.nv)), np.zeros((6, m.nv))
        mujoco.mj_jacBodyCom(m, d, J[:3], J[3:], k)
        mujoco.mj_jacDot(m, d, rate[:3], rate[3:], d.xipos[k], k)
        a = J @ d.qacc + rate @ d.qvel
        R = d.xmat[k].reshape(3, 3)
        return d.xipos[k].copy(), R.copy(), a[:3], R.T @ a[3:]
