"""A model as what robot files can say: links on sequences of hinges and slides, closures, couplings and motors.

Links are laid out along the spanning tree of the model with all joint coordinates at zero. A joint whose first body is farther from
the root is written the other way about: its motions in reverse order, about axes of the other sign, with the same coordinates.

    H_link = H_parent F₁ F₂⁻¹                                                                                  (1)

F₁, F₂   the frames of the joint in its two bodies
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...elements import quantity
from ...elements.lazy_attributes import storage_of
from ...errors import ModelError
from ...lie import pose_stacks, so3
from ...model.body import Frame
from ...model.topology import spanning_tree
from ..link_tree import Closure, Link, Motion, Part, Tree
from ..robot import Note, Visual


@dataclass(eq=False)
class Motor:
    """An actuator: gear times an input acts along a motion."""

    name: str
    motion: str
    gear: float
    value: float


@dataclass(eq=False)
class RobotDescription:
    """What is written.

    tree      links in an order in which parents come first; the root of those that are held or move on the world is None
    gravity   [m/s²]
    motors    actuators
    ground    shapes and named frames that are fixed in the world
    notes     what of the model is not in it
    fixed     for each link on a fixed joint, its name; `chains`: for each link, its joint of the model, None for a free one
    """

    tree: Tree
    gravity: np.ndarray
    motors: list[Motor] = field(default_factory=list)
    ground: Any = None
    notes: list[Note] = field(default_factory=list)
    chains: dict[str, Any] = field(default_factory=dict)

    def lose(self, element, message, kind="lost"):
        """Note that something of the model is not written, or not as it is."""
        self.notes.append(Note(kind, element, message))

    @property
    def starts(self):
        """True if a joint or a free body starts in another configuration than the file shows."""
        given = [x for m in self.tree.motions.values() for x in (m.start, m.rate) if x is not None]
        return any(np.any(np.asarray(x, float)) for x in given)


class Describer:
    """One model on its way to a description."""

    def __init__(self, model):
        self.model, self.values = model, model.values()
        self.out = RobotDescription(Tree(model.name, model.name), self.numbers(model.gravity, "gravity").ravel())
        self.poses: dict[int, np.ndarray] = {}  # of the centre of mass of each body
        self.coordinates: dict[tuple, Motion] = {}  # by joint and index of its coordinate
        self.out.ground = Link("ground", None, np.eye(4), model.name)

    def numbers(self, expression, what):
        """An expression at the values of the parameters; it must not contain anything else."""
        found = (
            np.asarray(expression, float)
            if quantity.is_number(expression)
            else quantity.numbers(expression, self.values)
        )
        if not np.isfinite(found).all():
            raise ModelError(
                f"{what}: is no number: it depends on time, the state or inputs, which robot files do not have"
            )
        return found

    def describe(self):
        self.lay_out()
        self.place_ground_shapes()
        self.place_sites()
        return self.out

    # bodies

    def home(self, body):
        """The pose of the centre of mass of a body or ground."""
        if id(body) not in self.poses:  # a ground
            if not getattr(body, "is_fixed", True):
                raise ModelError(f"{body.owner}: moves as a function of time, which robot files do not have")
            x, R = (self.numbers(part, body.owner) for part in body.reference)
            self.poses[id(body)] = pose_stacks.stack_poses(R.reshape(3, 3), x.ravel())
        return self.poses[id(body)]

    def frames(self, connection):
        """F₁ and F₂."""
        return [self.numbers(F, connection.owner).reshape(4, 4) for F in connection.placed]

    def lay_out(self):
        topology = spanning_tree(self.model)
        for branch in topology.branches:
            body, joint = branch.body, branch.joint
            own = next((j for j in self.model.joints if j is joint), None)
            if own is None:
                x, R = (self.numbers(part, body.owner) for part in body.reference)
                H = pose_stacks.stack_poses(R.reshape(3, 3), x.ravel())
            else:
                F1, F2 = self.frames(joint)
                F1, F2 = (F2, F1) if branch.reversed else (F1, F2)
                H = self.home(joint.second if branch.reversed else joint.first) @ F1 @ np.linalg.inv(F2)  # (1)
            self.poses[id(body)] = H
            self.add_link(body, branch, own)
        for joint in topology.cut:
            self.close(joint)

    def add_link(self, body, branch, joint):
        """The link of a body, with the motions of the joint that carries it."""
        center = np.asarray(body.center, float).ravel()
        H = self.poses[id(body)].copy()
        H[:3, 3] -= H[:3, :3] @ center
        parent = branch.parent.name if branch.parent is not None else None
        link = Link(body.name, parent, H, self.model.name)
        mass = self.numbers(body.mass, f"{body.owner}: mass").item()
        tensor = (
            np.zeros((3, 3)) if body.particle else self.numbers(body.inertia, f"{body.owner}: inertia").reshape(3, 3)
        )
        link.parts = [Part(mass, center, tensor, body.name, self.model.name)]
        link.visuals = visuals(body)
        self.out.tree.links[body.name] = link
        self.out.chains[body.name] = joint
        if joint is None:
            link.motions = [self.free_motion(body, link)]
        else:
            link.motions = self.motions(joint, branch.reversed)
            if [m.kind for m in link.motions] == ["free"] and parent is not None:
                self.set_free(joint, link)
            link.fixed_by = None if link.motions else joint.name
            if any(storage_of(body, what) is not None for what in ("start_velocity", "start_angular_velocity")):
                self.out.lose(f"start velocity of body {body.name!r}", "robot files have velocities of joints only")

    def set_free(self, joint, link):
        """A free joint between two bodies that move: the body moves freely in the world."""
        link.parent = None
        given = [x for x in (link.motions[0].start, link.motions[0].rate) if x is not None and np.any(x)]
        link.motions[0].start = link.motions[0].rate = None
        message = "its second body moves freely in the world" + ("; its start is lost" if given else "")
        self.out.lose(f"joint {joint.name!r} (Free)", message, "lost" if given else "approximated")

    def free_motion(self, body, link):
        """The motion of a body that no joint holds, with its velocities at the start, of the origin of the link."""
        motion = Motion(f"{body.name}_free", "free", np.zeros(3), link.pose[:3, 3].copy(), self.model.name)
        linear, angular = (storage_of(body, what) for what in ("start_velocity", "start_angular_velocity"))
        if linear is not None or angular is not None:
            v, w = (np.zeros(3) if x is None else self.numbers(x, body.owner).ravel() for x in (linear, angular))
            center = np.asarray(body.center, float).ravel()
            w = link.pose[:3, :3] @ w
            motion.rate = np.concatenate([w, v - np.cross(w, link.pose[:3, :3] @ center)])
        return motion

    # joints

    def motions(self, joint, reverse):
        """The motions of a joint in the world, from the body nearer the root."""
        sequence = joint.sequence()
        if sequence is None:
            raise ModelError(
                f"{joint.owner}: its motion is no sequence of hinges and slides, so that robot files cannot contain it; write YAML"
            )
        first, second = (self.home_of_frame(joint, k) for k in (0, 1))
        J = second if reverse else first
        R, sign = J[:3, :3], -1.0 if reverse else 1.0
        start, rate = (self.start(joint, what) for what in ("start", "start_rate"))
        armature = (
            None
            if joint.armature is None
            else self.numbers(quantity.column(joint.armature, "armature", joint.owner), joint.owner)
        )
        found, used = [], 0
        for k, step in enumerate(sequence):
            axis, point = (self.numbers(x, joint.owner).ravel() for x in (step.axis, step.point))
            name = joint.name if len(sequence) == 1 else f"{joint.name}_{k + 1}"
            motion = Motion(name, step.kind, sign * (R @ axis), J[:3, 3] + R @ point, self.model.name, joint=joint.name)
            motion.pitch = self.numbers(step.pitch, joint.owner).item()
            part = slice(used, used + motion.dof)
            motion.start, motion.rate = (None if x is None else x[part] for x in (start, rate))
            if armature is not None:
                motion.armature = float(armature.ravel()[used if armature.size > 1 else 0])
            if motion.kind in ("ball", "free") and (start is not None or rate is not None):
                self.turn_start(motion, J, reverse)
            for i in range(motion.dof):
                self.coordinates[id(joint), used + i] = motion
            used += motion.dof
            found.append(motion)
        return found[::-1] if reverse else found

    def home_of_frame(self, joint, k):
        """The pose of one frame of a joint with all coordinates at zero."""
        return self.home((joint.first, joint.second)[k]) @ self.frames(joint)[k]

    def start(self, joint, what):
        """Coordinates or rates at the start as numbers, None where they are not given."""
        given = storage_of(joint, what)
        return None if given is None else self.numbers(given, f"{joint.owner}: {what}").ravel()

    def turn_start(self, motion, J, reverse):
        """Coordinates and rates of a rotation or a free motion, as robot trees count them: of frames at the point of the motion
        that are parallel to the world in the zero configuration.

            H' = X H X⁻¹,   V' = Ad(X) V,   reversed: H⁻¹ and −Ad(H) V                                             (2)
        """
        X = J.copy()
        X[:3, 3] -= motion.point
        H: Any
        V: Any
        q, v = (np.zeros(motion.dof) if x is None else np.asarray(x, float) for x in (motion.start, motion.rate))
        H, V = np.eye(4), np.zeros(6)
        H[:3, :3], V[: len(v)] = so3.exp(q[:3]), v
        if motion.dof == 6:
            H[:3, 3] = q[3:]
        if reverse:
            H, V = np.linalg.inv(H), -move_twist(H, V)
        H, V = X @ H @ np.linalg.inv(X), move_twist(X, V)
        motion.start = np.concatenate([so3.log(H[:3, :3]).ravel(), H[:3, 3]])[: motion.dof]
        motion.rate = V[: motion.dof]

    def close(self, joint):
        """A joint that closes a loop."""
        names = tuple(self.link_name(body) for body in (joint.first, joint.second))
        motions = self.motions(joint, False)
        for motion in motions:
            motion.start = motion.rate = None
        frames = tuple(self.home_of_frame(joint, k) for k in (0, 1))
        self.out.tree.closures.append(Closure(joint.name, names, motions, self.model.name, frames))

    def link_name(self, body):
        """The name of the link of a body, None for the world."""
        return body.name if body.name in self.out.tree.links else None

    # the rest

    def place_ground_shapes(self):
        for ground in self.model.grounds:
            if ground.shape:
                H = self.home(ground)
                self.out.ground.visuals += [move_visual(v, H) for v in visuals(ground)]

    def place_sites(self):
        """Named frames of the model: its ports that are frames."""
        for name, port in self.model.ports.items():
            if not isinstance(port, Frame):
                continue
            pose = self.numbers(port.pose, f"port {name!r}").reshape(4, 4).copy()
            link = self.out.tree.links.get(port.body.name)
            if link is None:
                self.out.ground.sites[name] = self.home(port.body) @ pose
            else:
                pose[:3, 3] += np.asarray(port.body.center, float).ravel()
                link.sites[name] = pose


def move_twist(H, V):
    """Ad(H) V, angular part first: the twist in another frame, where this one has the pose H."""
    angular = H[:3, :3] @ V[:3]
    return np.concatenate([angular, H[:3, :3] @ V[3:] + np.cross(H[:3, 3], angular)])


def visuals(body):
    """The shapes of a body, in the frame of its link."""
    found = []
    for shape in body.shape or ():
        R = pose_stacks.rotations(np.array(shape.rotation, float))
        found.append(Visual(shape.kind, np.array(shape.at, float), R, shape.size, shape.file, shape.file, shape.colour))
    return found


def move_visual(visual, H):
    """The same shape in another frame."""
    R = H[:3, :3]
    return Visual(**{**vars(visual), "at": R @ visual.at + H[:3, 3], "rotation": R @ visual.rotation})
