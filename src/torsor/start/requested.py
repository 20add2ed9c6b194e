"""Compute a start that a user requests, in absolute coordinates: its values are brought onto the constraints.

Positions: bodies are placed along the joints, outward from the grounds, each joint with its requested coordinates or those of the
model's start. If that leaves loops open, continuation moves the mechanism from the model's start to the requested coordinates;
joints in no loop keep their coordinates (`continuation.py`). Bodies with requested poses stay there. If that fails, Newton's
method closes the loops with the least change.
Velocities follow level by level (`least_change.py`): the constraints, requested values, values that the model gives, and the least
change of kinetic energy. Rates that the model leaves open stay open; if velocities of bodies determine them there, they are as at
the model's start.
"""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..errors import AssemblyError
from ..formulations.algebra.numpy_functions import NumericFunction
from ..formulations.graphs.start_functions import drives
from ..lie import pose_stacks, so3
from .continuation import CoordinateContinuation
from .diagnosis import diagnose
from .impostors import assemble_without_impostors
from .joint_placement import BodyPlacement, Motion
from .least_change import open_rates, solve_levels
from .model_start import store_captures
from .nearest_assembly import nearest
from .start_tolerances import VELOCITY_CHANGED
from .velocities import describe_completed, floating_trees, given_rows


class RequestedStarts:
    """Requested starts of one model with given parameter values.

    f           numeric formulation in absolute coordinates;   examiner   of its constraints
    labels      of the joint coordinates
    own         the motion at the model's own start
    expected    options of `diagnose` that save work, by time
    """

    def __init__(self, f, examiner, labels, own: Motion, expected=None):
        self.f, self.model, self.examiner, self.own = f, f.model, examiner, own
        self.expected = expected or {}
        self.indices = {label: k for k, label in enumerate(labels)}
        place = self.model.input_layout.place
        self.states = {state.name: place(state) for state in self.model.states}
        self.holding = CoordinateContinuation(f, examiner)
        self.placement = BodyPlacement(self.model, own, self.holding.slices)
        self._bases: dict[tuple, Any] = {}
        self.floating_velocities = self._floating_velocities()

    def _floating_velocities(self):
        """Velocities of the first body of each floating tree, by body and quantity. A body without joints is such a tree."""
        bodies = [tree[0] for tree in self._floating_trees]
        pairs = [(body, dict(zip(("velocity", "angular_velocity"), self.own.speeds[body.name]))) for body in bodies]
        return {
            (body.name, what): x
            for body, pair in pairs
            for what, x in pair.items()
            if not (body.particle and what == "angular_velocity")
        }

    @cached_property
    def _floating_trees(self):
        """Lists of bodies that joints connect to each other but not to a ground."""
        return floating_trees(self.model, self.placement.joints)

    def start(self, t, request):
        """Compute a requested start: q, v and p in absolute coordinates, the diagnosis, messages about completed velocities."""
        continuation, placement = self.holding, self.placement
        p = self.own.p.copy()
        p[[self.states[name] for name in request.states]] = [*request.states.values()]  # constraints may follow them
        base = None if request.whole else self._base(t, p, request.states)
        own = self.own.coordinates if base is None else continuation.coordinates(t, *base)
        here = None if base is None else placement.poses(base[0])
        coordinates = own.copy()
        for label, value in request.coordinates.items():
            coordinates[self.indices[label]] = value
        p[self.model.input_layout.turns] = coordinates[continuation.turn_indices]
        poses = {
            body: self._requested_pose(request, body, here)
            for body, what in request.bodies
            if what in ("position", "rotation")
        }
        joints = {label.rpartition("[")[0] or label for label in request.coordinates}
        q = placement.configuration(poses if request.whole else placement.place(t, coordinates, joints, poses, here))
        p = store_captures(self.f, t, q, p)
        values = {} if request.whole else {self.indices[label]: x for label, x in request.coordinates.items()}
        if poses and not request.whole:
            others = {index: own[index] for index in continuation.outside_loops}
            near = self._correct(t, q, p, request.bodies, others | values)
            near = self._correct(t, q, p, request.bodies, values) if near is None else near
            q = self._move_attached(t, q if near is None else near, p, coordinates, joints, poses)
        if values:
            q, p = continuation.close(t, q, p, values, *((None, None) if poses else (own, base)))
        q, _ = assemble_without_impostors(self.f, self.examiner, t, q, p)
        p = store_captures(self.f, t, q, p)
        diagnosis = diagnose(self.examiner, t, q, p, **self.expected.get(t, {}))
        v, changes = self._velocities(t, q, p, request, diagnosis.keep)
        return q, v, p, diagnosis, changes

    # positions

    def _base(self, t, p, states):
        """The model's own start at a time with these states, which are in p, and its p; drives have moved there. None if it
        cannot be assembled."""
        key = (t, *states.items())
        if key not in self._bases:
            try:
                self._bases = {key: self._assemble_base(t, p.copy())}
            except AssemblyError:
                self._bases = {key: None}
        return self._bases[key]

    def _assemble_base(self, t, p):
        continuation, placement = self.holding, self.placement
        p[self.model.input_layout.turns] = self.own.coordinates[continuation.turn_indices]
        q = placement.configuration(placement.place(t, self.own.coordinates))
        p = store_captures(self.f, t, q, p)
        if self.floating_velocities:  # constraints may move floating trees, with all bodies attached to them
            there = placement.poses(assemble_without_impostors(self.f, self.examiner, t, q, p)[0])
            poses = {body: there[body] for body, _ in self.floating_velocities}
            q = placement.configuration(placement.place(t, self.own.coordinates, fixed=poses))
        undriven, indices, targets = self._drives
        if indices:
            driven = dict(zip(indices, targets(t, p[self.model.input_layout.model_inputs]).ravel().tolist()))
            near, _ = undriven.examiner.assemble(t, q, p)
            q, p = undriven.close(t, q, p, driven, self.own.coordinates, None if near is None else (near, p))
        others = {index: self.own.coordinates[index] for index in continuation.outside_loops if index not in indices}
        near, _ = continuation.correct(t, q, p, [*others], np.array([*others.values()]))
        result = nearest(continuation, t, q, p, others, {}) if near is None else (near, 0.0)
        return None if result is None else (result[0], p)

    @cached_property
    def _drives(self):
        """A continuation without drives, indices of the driven coordinates, and their targets as a function of time and inputs."""
        every, inputs = drives(self.model), ca.vertcat(*self.model.inputs, ca.SX(0, 1))
        targets = NumericFunction(
            ca.Function("driven", [time, inputs], [ca.vertcat(*[c.target() for c in every], ca.SX(0, 1))])
        )
        indices = [self.holding.slices[c.joint.name].start + c.index for c in every]
        return CoordinateContinuation(self.f, self.examiner.without_constraints(every)), indices, targets

    def _requested_pose(self, request, body, here):
        """The requested pose of a body; a part that is not requested is as it is here."""
        R, x = pose_stacks.split((self.own.poses if here is None else here)[body])
        return pose_stacks.stack_poses(
            request.bodies.get((body, "rotation"), R), request.bodies.get((body, "position"), x)
        )

    def _move_attached(self, t, q, p, coordinates, joints, poses):
        """A configuration in which bodies attached to those with requested poses have these coordinates; in loops too if
        possible."""
        there = self.placement.poses(q)
        for stay in ((), self.holding.in_loops):
            placed = self.placement.place(t, coordinates, joints, {body: there[body] for body in poses}, there, stay)
            moved = self.placement.configuration(placed)
            if self.holding.is_assembled(t, moved, p):
                return moved
        return q

    def _correct(self, t, q, p, bodies, values):
        """An assembled configuration near q with requested poses of bodies and requested coordinates, by index; None if Newton's
        method fails. q has the requested poses already."""
        velocity_of = {"position": "velocity", "rotation": "angular_velocity"}
        poses = {(body, velocity_of[what]): x for (body, what), x in bodies.items() if what in velocity_of}
        rows = self._velocity_rows(dict.fromkeys(poses, np.zeros(3)))[0] * self.examiner.columns
        first = np.cumsum([0, *[3 if b.particle else 12 for b in self.model.bodies]])
        offsets = {b.name: k for b, k in zip(self.model.bodies, first.tolist())}
        indices, targets = [*values], np.array([*values.values()])

        def residuals(q):
            result = [self.holding.residuals(t, q, p, indices, targets)]
            for (body, what), x in poses.items():
                at = offsets[body]
                if what == "velocity":
                    result.append((q[at : at + 3] - x) / self.examiner.length)
                else:
                    result.append(np.array(so3.log(x.T @ q[at + 3 : at + 12].reshape(3, 3, order="F"))).ravel())
            return np.concatenate(result)

        units = np.concatenate([np.full(3, self.examiner.length if what == "velocity" else 1.0) for _, what in poses])

        def jacobian(q):
            return np.vstack([self.holding.jacobian(t, q, p, indices, targets), rows / units[:, None]])

        result, _ = self.examiner.assemble(t, q, p, extra=(residuals, jacobian))
        return result

    # velocities

    def _velocities(self, t, q, p, request, keep):
        """Velocities that satisfy the constraints and keep requested values, and messages about completed ones."""
        examiner, n = self.examiner, len(self.examiner.columns)
        of_bodies = {(body, what): x for (body, what), x in request.bodies.items() if what.endswith("velocity")}
        own = open_rates(self.f, t, q, p)
        if request.whole:
            v = np.concatenate([self._body_velocity(of_bodies, body) for body in self.model.bodies])
            residual = np.abs(examiner.psi(t, q, v, p) / examiner.units(t, q, p)).max(initial=0.0)
            if residual > VELOCITY_CHANGED * examiner.speed(v):
                v = solve_levels(examiner, t, q, p, [(np.eye(n), v)], own).v
            return examiner.onto(t, q, v, p, keep), []
        rates = self.own.rates.copy()
        requested = np.zeros(len(self.indices), bool)
        for label, value in request.rates.items():
            rates[self.indices[label]] = value
            requested[self.indices[label]] = True
        given = own.acts & ~own.left_open & ~requested  # by the model
        bodies, values = self._velocity_rows(of_bodies)
        others, speeds = self._velocity_rows(
            {pair: x for pair, x in self._given_floating_velocities.items() if pair not in of_bodies}
        )
        levels = [
            (np.vstack([own.J[requested], bodies]), np.concatenate([(rates - own.r0)[requested], values])),
            (np.vstack([own.J[given], others]), np.concatenate([(rates - own.r0)[given], speeds])),
        ]
        left_open = own.left_open & ~requested
        own = own._replace(left_open=left_open, reference=np.where(self._open_at_own_start, 0.0, self.own.rates))
        solution = solve_levels(examiner, t, q, p, levels, own)
        v = examiner.onto(t, q, solution.v, p, keep) if len(examiner.rows) else solution.v
        return v, describe_completed(self.f, examiner, own, solution, v)

    @cached_property
    def _open_at_own_start(self):
        """True for rates that follow from the least change at the model's own start: they are open at other starts too."""
        t = next(iter(self.expected), 0.0)
        q = self.placement.configuration(self.own.poses)
        rates = open_rates(self.f, t, q, self.own.p)
        if not self.own.rates[rates.left_open].any():
            return rates.left_open
        E, r0, _ = given_rows(self.f, rates)
        e = self.f.start_functions["speeds"](self.own.p[self.model.input_layout.model_inputs]).ravel() - r0
        return solve_levels(self.examiner, t, q, self.own.p, [(E, e)], rates).chosen

    @cached_property
    def _given_floating_velocities(self):
        """Velocities of the first bodies of floating trees in which the model gives a velocity to any body."""
        names = {tree[0].name for tree in self._floating_trees if any(_has_given_velocity(body) for body in tree)}
        return {pair: x for pair, x in self.floating_velocities.items() if pair[0] in names}

    def _body_velocity(self, requested, body):
        """Velocity and angular velocity of a body, requested or as at the model's start."""
        v, w = self.own.speeds[body.name]
        v = requested.get((body.name, "velocity"), v)
        w = requested.get((body.name, "angular_velocity"), w)
        return np.asarray(v) if body.particle else np.concatenate([v, w])

    def _velocity_rows(self, velocities):
        """Rows that select velocities of bodies, and their values."""
        n = len(self.examiner.columns)
        rows, values = [], []
        for (body, what), x in velocities.items():
            first = self.f.offset[id(self.model[body])] + (len(x) if what == "angular_velocity" else 0)
            rows.append(np.eye(n)[first : first + len(x)])
            values.append(x)
        return np.vstack([np.zeros((0, n)), *rows]), np.concatenate([np.zeros(0), *values])


def _has_given_velocity(body):
    """True if the model gives a velocity or an angular velocity to a body."""
    return body.start_velocity is not None or (not body.particle and body.start_angular_velocity is not None)
