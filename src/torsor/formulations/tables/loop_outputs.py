"""Outputs of a large system that depend on its loops and forces: reactions, residuals, coordinates of joints that close loops."""

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ..algebra.lie_derivative import rate, stack_linear_angular, velocities
from .implicit_efforts import EffortPasses, reaction_on_second
from .join_classes import SIX
from .recursion_classes import function
from .tree_schedule import allocate_blocks, block_offsets, running_sums


class LoopOutputs:
    """Passes for the wrenches on the bodies, except those of the joints of the tree, and for outputs of the loops.

    wrenches     offset of the wrench on every body
    potentials   offsets of the potentials of the forces that all ranks compute, and of those of this rank alone
    drift        offset of the largest residuals at position and velocity level
    """

    def __init__(self, kernels, s, offsets, row):
        self.kernels = kernels
        self.row = row
        self.system = kernels.system
        self.motion = kernels.motion(s)
        self.wrenches, sums = kernels.applied_wrenches(s, self.motion)
        if kernels.efforts:
            EffortPasses(kernels).apply(s, self.motion, self.wrenches, sums)
        self.potentials = [at + 1 for at in sums]
        self.ends = kernels.end_motions(self.motion)
        self.frames = kernels.frames
        self._reactions(s, offsets, row)

    def _reactions(self, s, offsets, row):
        """Append the wrenches of the loops on the bodies, their reactions, and residuals; offsets: of the outputs by name."""
        system = self.system
        first = system.first_loop
        count = len(system.loops)
        self.drift = s.reserve(2 * (count + 1))
        s.call([ca.Function("none", [time], [ca.SX.zeros(2)])], ["t", "memory"], [0], [[0], [self.drift]])
        zeros = s.reserve(SIX)
        classes, _ = system.rows
        further = self.kernels.further.copy(s)
        connects = np.array([c.connects_bodies for c in system.loops], bool)
        done = 0
        for own in (np.flatnonzero(connects), np.flatnonzero(~connects)):
            if not len(own):
                continue
            ends = system.ends_of_constraints[first:][own]
            before = np.full(ends.shape, zeros)
            after = np.full(ends.shape, zeros)
            bodies = np.nonzero(ends >= 0)
            sums = allocate_blocks(s, np.full(len(bodies[0]), SIX))
            before[bodies], after[bodies] = running_sums(ends[bodies], self.wrenches, sums)
            drift = self.drift + 2 * (done + np.arange(len(own)))
            done += len(own)
            reactions = self._reaction_offsets([system.loops[k] for k in own.tolist()], offsets)
            rows = first + own
            vectors = [
                "memory",
                "memory",
                "constants",
                "memory",
                "lam",
                *["memory"] * 5,
                *[row] * len(reactions),
                "memory",
            ]
            inputs = [*self.ends[rows].T, self.frames[rows], further[rows], self.kernels.row_offsets[own]]
            used, kinds = np.unique(system.rows[1][rows], return_inverse=True)
            functions = [_reaction(classes[k], self.kernels.unit) for k in used.tolist()]
            s.call(functions, vectors, kinds, [*inputs, *before.T, drift, *after.T, *reactions, drift + 2])
        self.drift += 2 * count

    def _reaction_offsets(self, constraints, offsets):
        """Offsets of the reaction forces and torques of connections; none for other constraints."""
        if not constraints[0].connects_bodies:
            return []
        index = {id(c): k for k, c in enumerate(self.system.shown.constraints)}
        position = 3 * np.array([index[id(c)] for c in constraints])
        return [offsets[name] + position for name in ("reaction_force", "reaction_torque")]

    def joints(self, s, offsets):
        """Append coordinates, rates and accelerations of the joints that close loops; offsets: of the outputs by name."""
        system = self.system
        joints = [j for j in system.shown.joints if j.dof]
        first_coordinate = dict(zip(map(id, joints), block_offsets([j.dof for j in joints])))
        chosen = [k for k, c in enumerate(system.loops) if c.has_coordinates and c.dof]
        if not chosen:
            return
        classes, kinds = system.rows
        own = system.first_loop + np.array(chosen)
        bodies = {id(b): k for k, b in enumerate(system.shown.bodies)}
        loops = [system.loops[k] for k in chosen]
        positions = [
            3 * np.array([bodies.get(id(end), 0) for end in ends])
            for ends in zip(*[(c.first, c.second) for c in loops])
        ]
        accelerations = [offsets[name] + at for at in positions for name in ("acceleration", "angular_acceleration")]
        first = np.array([first_coordinate[id(c)] for c in loops])
        results = [offsets[name] + first for name in ("coordinate", "rate", "coordinate_acceleration")]
        angles = np.array([self.kernels.angle_offsets[k] for k in chosen])
        vectors = ["t", "memory", "memory", "constants", "p", *[self.row] * 7]
        arguments = [np.zeros(len(own), int), *self.ends[own].T, self.frames[own], angles, *accelerations]
        s.call([_joint_motion(c) for c in classes], vectors, kinds[own], [*arguments, *results])


def _reaction(rows, unit):
    """The function of the wrenches of a constraint on its ends, the reaction of a connection on the second one in world axes, and
    the largest residuals so far."""
    lam = ca.SX.sym("lam", rows.size)
    largest = ca.SX.sym("worst", 2)
    before = [ca.SX.sym("before", 0 if J is None else SIX) for J in rows.G]
    after = [b if J is None else b + J.T @ lam for b, J in zip(before, rows.G)]
    units = ca.SX(rows.units(unit)) / unit
    drift = [ca.mmax(ca.fabs(rows.switched(x) / units)) for x in (rows.g, rows.psi)]
    inputs = [*(x.motion for x in rows.ends), rows.c, rows.further, lam, *before, largest]
    results = reaction_on_second(rows, lam) if rows.connects else ()
    return function("reaction", inputs, [*after, *results, ca.fmax(largest, ca.vertcat(*drift))])


def _joint_motion(rows):
    """The function of the coordinates of a joint, its velocities and their rates."""
    free = [end for end, J in zip(rows.ends, rows.G) if J is not None]
    accelerations = [[ca.SX.sym("a", 0 if J is None else 3) for _ in range(2)] for J in rows.G]
    total = _rate_of_rates(rows, free) if rows.rates.shape[0] else rows.rates
    for end, J, a in zip(rows.ends, rows.G, accelerations):
        if J is not None:
            total += ca.jacobian(rows.rates, velocities(end)) @ stack_linear_angular(*a)
    inputs = [time, *(x.motion for x in rows.ends), rows.c, rows.turn, *accelerations[0], *accelerations[1]]
    return function("motion", inputs, [rows.coordinates, rows.rates, total])


def _rate_of_rates(rows, free):
    """Time derivative of the rates of a joint at constant velocities of its bodies; moving grounds follow their paths."""
    total = rate(rows.rates, free)
    for end, ground in zip(rows.ends, rows.moving):
        if ground is not None:
            motion = ca.vertcat(*[ca.vec(ca.densify(x)) for x in ground.motion()])
            total += ca.jacobian(rows.rates, end.motion) @ ca.jacobian(motion, time)
    return total


def add_row_accelerations(outputs, constraints, vector, targets):
    """Append G v̇ − γ of constraints to the schedule of `outputs`, whether they are engaged or not.

    outputs       `Outputs`, which have computed the accelerations of all bodies
    constraints   indices of the constraints, each with one row
    vector        vector of the results; targets: their offsets
    """
    passes, s, system = outputs.kernels, outputs.schedule, outputs.system
    chosen = np.array(constraints)
    classes, kinds = system.rows
    ends = system.ends_of_constraints[chosen]
    index = {id(body): k for k, body in enumerate(system.shown.bodies)}
    shown = np.array([index[id(body)] for body in system.tree.bodies])
    body = 3 * shown[np.maximum(ends, 0)]  # of a ground: any, its acceleration is not used
    accelerations = [outputs.offsets[name] + at for at in body.T for name in ("acceleration", "angular_acceleration")]
    motion = passes.motion(s)
    vectors = ["memory", "memory", "constants", "memory", *[outputs.row] * 4, vector]
    further = passes.further.copy(s)[chosen]
    offsets = [*passes.motion_offsets(motion, ends).T, passes.frames[chosen], further, *accelerations, targets]
    used, own = np.unique(kinds[chosen], return_inverse=True)
    s.call([_row_acceleration(classes[k]) for k in used.tolist()], vectors, own, offsets)


def _row_acceleration(rows):
    """The function of G v̇ − γ of a class of rows."""
    accelerations = [[ca.SX.sym("a", 3) for _ in range(2)] for _ in rows.G]
    total = -rows.gamma
    for J, a in zip(rows.G, accelerations):
        if J is not None:
            total += J @ stack_linear_angular(*a)
    inputs = [*(end.motion for end in rows.ends), rows.c, rows.further, *accelerations[0], *accelerations[1]]
    return function("approach", inputs, [ca.densify(total)])
