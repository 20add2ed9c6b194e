"""Bodies that are placed along the joints, outward from the grounds."""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..formulations.evaluation import Evaluated
from ..formulations.initial import holds
from ..formulations.tree import pose
from ..lie import poses, se3


class Motion(NamedTuple):
    """How a model stands and moves.

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


class Placing:
    """Places the bodies of a model.

    own   the motion at the model's own start;   at   places of coordinates, by joint
    """

    def __init__(self, model, own, at):
        self.model, self.own, self.at = model, own, at
        self.joints = [j for j in model.joints if holds(j)]
        self._relative: dict[str, Any] = {}
        self._grounds: dict[str, Any] = {}

    def placed(self, t, coordinates, asked=(), told=None, here=None, stay=()):
        """Poses of all bodies, from those that they have here: at the model's start, if nothing is told. What moves carries what
        hangs on it, with these coordinates of joints.

        asked   joints whose coordinates are asked for;   told   poses of bodies, by name;   stay   joints that carry nothing
        """
        told, moved = told or {}, here is None and t != 0.0
        found = (self.own.poses if here is None else here) | told
        reached = {g.name: (self._ground(t, g), moved and bool(g.moves)) for g in self.model.grounds}
        waiting = sorted(self.joints, key=lambda j: j.name not in asked)  # those that are asked for carry what follows
        while waiting:
            joint = next((j for j in waiting if (j.first.name in reached) != (j.second.name in reached)), None)
            if joint is None:
                loose = next((j for j in waiting if j.first.name not in reached and j.second.name not in reached), None)
                if loose is None:
                    break
                reached[loose.first.name] = found[loose.first.name], loose.first.name in told
                continue
            waiting.remove(joint)
            outward = joint.first.name in reached
            known, new = (joint.first, joint.second) if outward else (joint.second, joint.first)
            H, moved = reached[known.name]
            if new.name in told:
                moved = True
            elif (moved and joint.name not in stay) or joint.name in asked:
                step = self._step(joint, coordinates)
                found[new.name], moved = H @ (step if outward else poses.inverted(step)), True
            reached[new.name] = found[new.name], moved
        return found

    def _ground(self, t, ground):
        if ground.name not in self._grounds:
            x, R = ground.reference if ground.held else ground.path
            inputs = ca.vertcat(*self.model.inputs, ca.SX(0, 1))
            parts = [ca.densify(ca.SX(y)) for y in (R, x)]
            self._grounds[ground.name] = Evaluated(ca.Function("ground", [time, inputs], parts))
        R, x = self._grounds[ground.name](t, self.own.p[: len(self.model.inputs)])
        return poses.stacked(R, x.ravel())

    def _step(self, joint, coordinates):
        """The pose of the second body of a joint in the first."""
        if joint.name not in self._relative:
            inputs, x = ca.vertcat(*self.model.inputs, ca.SX(0, 1)), ca.SX.sym("x", joint.dof)
            A, B = joint.placed
            H = ca.densify(A @ pose(joint, x) @ se3.inverse(B))
            self._relative[joint.name] = Evaluated(ca.Function("relative", [inputs, x], [H]))
        own = coordinates[self.at[joint.name]] if joint.dof else np.zeros(0)
        return self._relative[joint.name](self.own.p[: len(self.model.inputs)], own)

    def configuration(self, found):
        """q of poses."""
        parts = []
        for body in self.model.bodies:
            R, x = poses.split(found[body.name])
            parts += [x] if body.particle else [x, R.ravel(order="F")]
        return np.concatenate(parts)

    def poses(self, q):
        """Of bodies, by name."""
        found, at = {}, 0
        for body in self.model.bodies:
            R = np.eye(3) if body.particle else q[at + 3 : at + 12].reshape(3, 3, order="F")
            found[body.name] = poses.stacked(R, q[at : at + 3])
            at += 3 if body.particle else 12
        return found
