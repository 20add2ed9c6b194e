"""Joints of an SDF file as motions, and relations of their coordinates.

Axes are given in the frame of the joint, which is given in the frame of the child link.

    gearbox    θ₂ = −i θ₁,   θ₁ of the parent and θ₂ of the child about the axes, relative to the reference body     (1)
    mimic      q = k (q' − q₀) + c                                                                                  (2)
    screw      displacement in one turn: screw_thread_pitch, or −2π/thread_pitch                                    (3)
"""

import numpy as np

from ...elements.quantity import show
from ..link_tree import Coupling, Motion
from .sdf_scopes import link_of, number_in, numbers_in, text_of

AXIS_COUNTS = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "screw": 1,
    "gearbox": 0,
    "revolute2": 2,
    "universal": 2,
    "ball": 0,
    "fixed": 0,
}
MOTION_KINDS = {"prismatic": "slide", "screw": "screw"}  # others turn
UNBOUNDED = 1e16  # a limit of this size or more is none
SECOND = "_axis2"  # end of the name of the second coordinate of a joint


class SDFJoint:
    """A joint: the links it connects (None: the world), and its motions from the first to the second."""

    def __init__(self, entity, poses, tree):
        self.entity, self.poses, self.tree = entity, poses, tree
        self.element, self.scope, self.name = entity.element, entity.scope, entity.path
        self.kind = self.element.text("type").lower()
        if self.kind not in AXIS_COUNTS:
            raise self.element.error(f"unknown type {self.kind!r}. Known: {', '.join(AXIS_COUNTS)}.")
        ends = [self.scope.find(text_of(self.element, what), self.element, what) for what in ("parent", "child")]
        if ends[1] is None:
            raise self.element.error("its child must not be the world")
        self.first, self.second = (link_of(end) for end in ends)
        if self.first is self.second:
            raise self.element.error(f"connects {self.second.label if self.second else 'the world'} to itself")
        self.couplings: list[Coupling] = []

    def motions(self):
        """Its motions, one after the other."""
        element, H = self.element, self.poses.of(self.entity)
        for child in element.children:
            if child.tag in ("sensor", "plugin", "physics"):
                kind = "sensor" if child.tag == "sensor" else child.tag
                self.tree.note("ignored", f"{kind} of {element.label}", "not simulated", child.where)
        if self.kind == "ball":
            return [Motion(self.name, "ball", H[:3, 2], H[:3, 3], element.where)]
        found = []
        for number in range(AXIS_COUNTS[self.kind]):
            tag = ("axis", "axis2")[number]
            motion = Motion(
                self.name + (SECOND if number else ""), MOTION_KINDS.get(self.kind, "hinge"), self.axis(tag, H), H[:3, 3].copy(),
                element.where, joint=self.name,
            )  # fmt: skip
            if self.kind == "screw":
                motion.pitch = self.pitch()
            self.dynamics(motion, tag)
            self.limits(motion, tag)
            self.mimic(motion, tag)
            found.append(motion)
        return found

    def axis(self, tag, H):
        """A unit axis in the world."""
        given = self.element.one(tag)
        vector = np.array([0.0, 0.0, 1.0]) if given is None else numbers_in(given, "xyz", 3, (0, 0, 1), self.element)
        length = np.linalg.norm(vector)
        if length == 0:
            raise self.element.error(f"its {tag} is zero (line {given.line})")
        xyz = None if given is None else given.one("xyz")
        name = None if xyz is None else xyz.attributes.get("expressed_in")
        frame = H
        if name == "__model__" and self.scope.entity is None:
            frame = np.eye(4)
        elif name:
            frame = self.poses.of(self.scope.find(name, self.element, "expressed_in"))
        return frame[:3, :3] @ (vector / length)

    def pitch(self):
        """(3)."""
        old = number_in(self.element, "thread_pitch", -2 * np.pi)
        pitch = number_in(self.element, "screw_thread_pitch", -2 * np.pi / old if old else np.inf)
        if not (0 < abs(pitch) < 1e50):
            raise self.element.error("the pitch of its thread must be a finite number other than zero")
        return pitch  # (3)

    def dynamics(self, motion, tag):
        axis = self.element.one(tag)
        given = None if axis is None else axis.one("dynamics", self.element)
        if given is None:
            return
        values = {what: number_in(given, what, 0.0, self.element) for what in
                  ("damping", "friction", "spring_stiffness", "spring_reference")}  # fmt: skip
        for what in ("damping", "friction", "spring_stiffness"):
            if not 0 <= values[what] < 1e50:
                raise self.element.error(f"{what} must not be negative, got {values[what]!r} (line {given.line})")
        motion.damping, motion.friction = values["damping"], values["friction"]
        motion.stiffness, motion.rest = values["spring_stiffness"], values["spring_reference"]
        motion.words["friction"] = f"friction of joint {motion.name!r}", given.where

    def limits(self, motion, tag):
        axis = self.element.one(tag)
        given = None if axis is None else axis.one("limit", self.element)
        if given is None:
            return
        unbounded = {"lower": -np.inf, "upper": np.inf, "effort": np.inf, "velocity": np.inf}
        found = {what: number_in(given, what, value, self.element) for what, value in unbounded.items()}
        for what in ("lower", "upper"):
            if abs(found[what]) < UNBOUNDED and self.kind != "continuous":
                motion.limits[what] = found[what]
        for what in ("effort", "velocity"):
            if 0 <= found[what] < UNBOUNDED:
                motion.limits[what] = found[what]
        motion.stops = {what: motion.limits[what] for what in ("lower", "upper") if what in motion.limits}
        if motion.stops:
            motion.words["stops"] = f"limit of joint {motion.name!r}", given.where

    def mimic(self, motion, tag):
        axis = self.element.one(tag)
        given = None if axis is None else axis.one("mimic", self.element)
        if given is None:
            return
        leader = self.scope.find(given.text("joint", self.element), self.element, "joint")
        which = given.attributes.get("axis", "axis")
        if leader.kind != "joint" or which not in ("axis", "axis2"):
            raise self.element.error(f"<mimic> needs a joint and its axis or axis2 (line {given.line})")
        name = leader.path + (SECOND if which == "axis2" else "")
        if name == motion.name:
            raise self.element.error(f"mimics itself (line {given.line})")
        k, c, start = (number_in(given, what, value, self.element) for what, value in
                       (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0)))  # fmt: skip
        self.couplings.append(
            Coupling(f"{motion.name}_mimic", motion.name, name, (c - k * start, k), given.where)
        )  # (2)

    def gearbox(self, joints):
        """The relation (1) of two other joints, which connect the reference body to the parent and to the child."""
        ratio = number_in(self.element, "gearbox_ratio", 1.0)
        reference = self.scope.find(
            text_of(self.element, "gearbox_reference_body"), self.element, "gearbox_reference_body"
        )
        body, H = link_of(reference), self.poses.of(self.entity)
        found = []
        for link, tag in ((self.first, "axis"), (self.second, "axis2")):
            bearing = next((j for j in joints if {id(j.first), id(j.second)} == {id(body), id(link)} and j is not self
                            and j.kind in ("revolute", "continuous")), None)  # fmt: skip
            if bearing is None:
                label = "the world" if link is None else link.label
                raise self.element.error(f"no revolute joint connects its reference body to {label}")
            sign = np.sign(bearing.axis("axis", self.poses.of(bearing.entity)) @ self.axis(tag, H))
            if sign == 0:
                raise self.element.error(f"its {tag} is perpendicular to that of joint {show(bearing.name)}")
            found.append((bearing.name, sign * (1.0 if bearing.second is link else -1.0)))
        (leader, s1), (follower, s2) = found
        return Coupling(self.name, follower, leader, (0.0, -ratio * s1 * s2), self.element.where)
