"""Placement of bodies along the joints, outward from the grounds."""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..formulations.algebra.numpy_functions import NumericFunction
from ..formulations.algebra.tree_kinematics import pose
from ..formulations.graphs.start_functions import active_at_start
from ..lie import pose_stacks, se3


class Motion(NamedTuple):
    """Configuration and velocities of a model.

    poses               of bodies, by name
    speeds              of bodies, velocities and angular velocities, by name
    coordinates, rates  of all joints that move, in the order of the model
    p                   parameters, memories and states, then turns of the absolute coordinates
    """

    poses: dict[str, np.ndarray]
    speeds: dict[str, tuple[np.ndarray, np.ndarray]]
    coordinates: np.ndarray
    rates: np.ndarray
    p: np.ndarray


class BodyPlacement:
    """Places the bodies of a model along its joints.

    own      the motion at the model's own start
    slices   slice of the coordinates of each joint, by name
    """

    def __init__(self, model, own, slices):
        self.model, self.own, self.slices = model, own, slices
        self.joints = [j for j in model.joints if active_at_start(j)]
        self._relative_poses: dict[str, Any] = {}
        self._ground_poses: dict[str, Any] = {}

    def place(self, t, coordinates, requested=(), fixed=None, poses=None, stay=()):
        """Poses of all bodies, by name: a body that moves carries the bodies that joints connect to it.

        coordinates   of all joints
        requested     names of the joints whose coordinates are requested
        fixed         requested poses of bodies, by name
        poses         poses from which bodies move; None: those at the model's start
        stay          names of the joints that do not carry their bodies along
        """
        fixed = fixed or {}
        moved = poses is None and t != 0.0
        result = (self.own.poses if poses is None else poses) | fixed
        reached = {g.name: (self._ground_pose(t, g), moved and bool(g.moves)) for g in self.model.grounds}
        waiting = sorted(self.joints, key=lambda j: j.name not in requested)  # requested joints carry what follows
        while waiting:
            joint = next((j for j in waiting if (j.first.name in reached) != (j.second.name in reached)), None)
            if joint is None:
                floating = next(
                    (j for j in waiting if j.first.name not in reached and j.second.name not in reached), None
                )
                if floating is None:
                    break
                reached[floating.first.name] = result[floating.first.name], floating.first.name in fixed
                continue
            waiting.remove(joint)
            outward = joint.first.name in reached
            known, new = (joint.first, joint.second) if outward else (joint.second, joint.first)
            H, moved = reached[known.name]
            if new.name in fixed:
                moved = True
            elif (moved and joint.name not in stay) or joint.name in requested:
                step = self._relative_pose(joint, coordinates)
                result[new.name] = H @ (step if outward else pose_stacks.invert(step))
                moved = True
            reached[new.name] = result[new.name], moved
        return result

    def _ground_pose(self, t, ground):
        if ground.name not in self._ground_poses:
            x, R = ground.reference if ground.is_fixed else ground.path
            inputs = ca.vertcat(*self.model.inputs, ca.SX(0, 1))
            parts = [ca.densify(ca.SX(y)) for y in (R, x)]
            self._ground_poses[ground.name] = NumericFunction(ca.Function("ground", [time, inputs], parts))
        R, x = self._ground_poses[ground.name](t, self.own.p[self.model.input_layout.model_inputs])
        return pose_stacks.stack_poses(R, x.ravel())

    def _relative_pose(self, joint, coordinates):
        """The pose of the second body of a joint relative to the first."""
        if joint.name not in self._relative_poses:
            inputs, x = ca.vertcat(*self.model.inputs, ca.SX(0, 1)), ca.SX.sym("x", joint.dof)
            A, B = joint.placed
            H = ca.densify(A @ pose(joint, x) @ se3.inverse(B))
            self._relative_poses[joint.name] = NumericFunction(ca.Function("relative", [inputs, x], [H]))
        own = coordinates[self.slices[joint.name]] if joint.dof else np.zeros(0)
        return self._relative_poses[joint.name](self.own.p[self.model.input_layout.model_inputs], own)

    def configuration(self, poses):
        """The configuration q of the poses of all bodies."""
        parts = []
        for body in self.model.bodies:
            R, x = pose_stacks.split(poses[body.name])
            parts += [x] if body.particle else [x, R.ravel(order="F")]
        return np.concatenate(parts)

    def poses(self, q):
        """Poses of all bodies at a configuration, by name."""
        result = {}
        at = 0
        for body in self.model.bodies:
            R = np.eye(3) if body.particle else q[at + 3 : at + 12].reshape(3, 3, order="F")
            result[body.name] = pose_stacks.stack_poses(R, q[at : at + 3])
            at += 3 if body.particle else 12
        return result
