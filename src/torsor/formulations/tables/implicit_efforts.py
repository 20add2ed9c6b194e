"""Dry friction of a large system: efforts y that depend on reactions, which depend on them.

    y = e(λ(y), v̇(y), …)                                                                              (1)

y act on bodies or along a coordinate of a joint. The kernel `rate` solves (1) by an iteration
(`kernels/schedule_functions/fixed_point.py`): each step solves the equations of motion with the factors at hand. y follow the
multipliers of the loops in the vector `lam`, where all other kernels find them. Efforts that depend on motions, inputs and time
only need no iteration.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...joints import Joint
from ...joints.base import Connection
from ...model.body import Placed
from ...model.include import owners_in
from ..algebra.lie_derivative import split_linear_angular, velocities
from .expression_passes import MULTIPLIER, REACTION, MotionPlaces, is_motion
from .force_classes import BODIES, Law, classes_of_forces, parts_of_expressions
from .join_classes import SIX
from .moving_grounds import moving_grounds
from .recursion_classes import function
from .row_classes import at_rest
from .shared_values import add_shared_expressions
from .tree_schedule import allocate_blocks, running_sums

ACCELERATIONS = {"acceleration": 0, "angular_acceleration": 3}  # in the acceleration of a body


class Effort(NamedTuple):
    """An effort y of a friction element.

    force        the element
    unknown      symbols y
    definition   e of (1), zero while the element is switched off
    parts        of the force between bodies with the effort y (`force_data.Parts`); None: y acts along a joint
    joint        the joint, and the slope of the velocity along which y acts with respect to its rates; None: y acts between bodies
    """

    force: Any
    unknown: Any
    definition: Any
    parts: Any
    joint: Any

    @property
    def ends(self):
        """The two bodies or grounds on which it acts; the second is None if there is only one."""
        first, *others = self.parts.ends if self.joint is None else (self.joint[0].first, self.joint[0].second)
        return (first, *others, None)[:2]


def effort_of(system, force):
    """The effort of a friction element; None if there is no class for it."""
    ((u, e),) = force.efforts()
    gate = system.gate_of(force)
    y = ca.SX.sym("effort", u.shape[0])
    e = ca.densify(e if gate is None else gate * e)
    owners = owners_in(system.model, u)
    joints = [element for element, name in owners if isinstance(element, Joint) and name == "rate"]
    if len(owners) == 1 and joints:
        slope = ca.jacobian(u, joints[0].rate)
        is_known = slope.is_constant() and system.index_of_constraint(joints[0]) is not None
        return Effort(force, y, e, None, (joints[0], ca.DM(slope))) if is_known else None
    if any(not isinstance(element, Placed) or name not in BODIES for element, name in owners):
        return None
    parts = parts_of_expressions(Law(None, None, [(u, y)]), owners, tuple(ca.vertsplit(y)))
    return Effort(force, y, e, parts, None) if parts is not None and 1 <= len(parts.ends) <= 2 else None


def is_defined(system, effort):
    """True if the definition of an effort depends on what is known in the kernel `rate` only."""
    loops = {id(c) for c in system.loops}
    for element, name in owners_in(system.model, effort.definition):
        known = is_motion(system, element, name) or (name in ACCELERATIONS and isinstance(element, Placed))
        known = known or (name == MULTIPLIER and id(element) in loops)
        reacts = name in REACTION and isinstance(element, Connection)
        if not (known or (reacts and system.index_of_constraint(element) is not None)):
            return False
    return True


def unsupported_friction(system):
    """The first friction element without an effort that the kernels can compute; None if there is none."""
    pairs = zip(system.frictions, system.efforts)
    return next((f for f, effort in pairs if effort is None or not is_defined(system, effort)), None)


def classes_of_efforts(system):
    """Classes of the efforts between bodies, the class of each effort, −1 for efforts along joints, and their numbers."""
    kinds = np.full(len(system.efforts), -1)
    chosen = [k for k, effort in enumerate(system.efforts) if effort.joint is None]
    forces, parts = [system.frictions[k] for k in chosen], [system.efforts[k].parts for k in chosen]
    classes, kinds[chosen], numbers = classes_of_forces(
        forces, parts, system.ends.efforts[chosen], moving_grounds(system)
    )
    return classes, kinds, numbers


def reacting(system, efforts):
    """Connections whose reactions occur in the definitions of efforts, and whether anything occurs that depends on efforts."""
    owners = owners_in(system.model, ca.vertcat(*[effort.definition for effort in efforts]))
    connections = list({id(x): x for x, name in owners if name in REACTION}.values())
    return connections, any(name in (*REACTION, *ACCELERATIONS, MULTIPLIER) for _, name in owners)


class EffortPlaces(MotionPlaces):
    """Places of motions, accelerations, multipliers and reactions while efforts are computed.

    accelerations   offsets of the accelerations of all bodies
    reactions       offset of force and torque of a connection, by its id
    """

    def __init__(self, passes, motion, accelerations, reactions):
        super().__init__(passes, motion)
        self.accelerations = accelerations
        self.reactions = reactions

    def rank_of(self, symbol, element, name):
        if name in REACTION:
            return self.passes.system.rank_of_reaction(element)
        return super().rank_of(symbol, element, name)

    def locate(self, element, name):
        if name in ACCELERATIONS:
            return "memory", self.accelerations[self.passes.system.link_of_body[id(element)]] + ACCELERATIONS[name]
        if name in REACTION:
            return "memory", self.reactions[id(element)] + 3 * REACTION.index(name)
        return super().locate(element, name)


class EffortPasses:
    """Passes for the efforts of a system; passes: `SystemKernels`.

    every     efforts of the whole system; count: of their numbers
    implicit  True if one depends on reactions or accelerations; connections: whose reactions they depend on
    own       for each effort of this rank 1 if it belongs to it alone, 0 if all ranks compute it
    """

    def __init__(self, passes):
        self.passes = passes
        self.system = passes.system
        self.every = passes.system.whole.efforts
        self.connections, self.implicit = reacting(passes.system.whole, self.every)
        self.count = sum(effort.unknown.shape[0] for effort in self.every)
        cut = self.system.cut
        self.own = (cut.own.efforts if cut else np.zeros(len(self.system.efforts))).astype(int)

    def solve(self, s, motion, wrenches, sums, right):
        """Append the solution of the equations of motion and of (1).

        wrenches, sums   offsets of the wrench of all other forces on each body, and of their sums of power and potential
        right            offsets of the right-hand sides of the constraints
        Returns what `JoinPasses.solve` returns, and the sums with the power of the efforts. The multipliers of loops are in `lam`.
        """
        passes, first = self.passes, self.passes.loop_rows
        zeros = ca.Function("none", [ca.SX.sym("t")], [ca.SX.zeros(self.count)])
        s.call([zeros], ["t", "lam"], [0], [[0], [first]])
        if not self.implicit:
            self._evaluate(s, MotionPlaces(passes, motion), "lam", first)
        begun = s.begin_iteration(self.count) if self.implicit else None
        wrenches, sums = wrenches.copy(), sums.copy()
        self.apply(s, motion, wrenches, sums)
        accelerations, multipliers, powers = passes.solve(s, right, passes.accelerate(s, motion, wrenches), sums[1])
        passes.write_loop_rows(s, multipliers, "lam")
        if self.implicit:
            values = s.reserve(self.count)
            reactions = self._reactions(s, motion, multipliers)
            self._evaluate(s, EffortPlaces(passes, motion, accelerations, reactions), "memory", values)
            s.end_iteration(begun, ("lam", first), ("memory", values))
        return accelerations, multipliers, powers, sums

    def _evaluate(self, s, places, vector, first):
        """Append the definitions of all efforts."""
        definitions = [x for effort in self.every for x in ca.vertsplit(effort.definition)]
        add_shared_expressions(s, definitions, places, vector, first + np.arange(self.count))

    def _reactions(self, s, motion, multipliers):
        """Append the reactions of the connections of this rank that definitions contain. Returns offsets by the id of each."""
        passes, system = self.passes, self.system
        found = [(c, system.index_of_constraint(c)) for c in self.connections]
        own = [(c, k) for c, k in found if k is not None]
        if not own:
            return {}
        chosen = np.array([k for _, k in own])
        offsets = allocate_blocks(s, np.full(len(chosen), SIX))
        classes, kinds = system.rows
        used, of_used = np.unique(kinds[chosen], return_inverse=True)
        further = passes.further.copy(s)[chosen]
        arguments = [*passes.end_motions(motion)[chosen].T, passes.frames[chosen], further, multipliers[chosen]]
        vectors = ["memory", "memory", "constants", *["memory"] * 3]
        s.call([_reaction(classes[k]) for k in used.tolist()], vectors, of_used, [*arguments, offsets])
        return {id(c): int(at) for (c, _), at in zip(own, offsets)}

    def apply(self, s, motion, wrenches, sums):
        """Append the wrenches of the efforts in `lam` on the bodies; offsets of wrenches and sums of power are changed."""
        system, passes = self.system, self.passes
        zeros = s.reserve(SIX)
        zero = ca.Function("none", [ca.SX.sym("t")], [ca.SX.zeros(SIX)])
        s.call([zero], ["t", "memory"], [0], [[0], [zeros]])
        classes, kinds, numbers = system.effort_classes
        chosen = np.flatnonzero(kinds >= 0)
        if len(chosen):
            data = passes.class_data(classes, kinds, numbers)
            passes.add_forces(
                s, motion, [c.function for c in classes], kinds[chosen], system.ends.efforts[chosen],
                [system.efforts[k].parts.inputs for k in chosen.tolist()], data[chosen], self.own[chosen],
                wrenches, sums, zeros,
            )  # fmt: skip
        self._apply_along_joints(s, motion, np.flatnonzero(kinds < 0), wrenches, sums, zeros)

    def _apply_along_joints(self, s, motion, chosen, wrenches, sums, zeros):
        """Append the wrenches of efforts along joints."""
        system, passes = self.system, self.passes
        if not len(chosen):
            return
        joints = [system.efforts[k].joint for k in chosen.tolist()]
        rows = np.array([system.index_of_constraint(joint) for joint, _ in joints])
        row_classes, row_kinds = system.rows
        known: dict = {}
        own = []
        for kind, (_, slope) in zip(row_kinds[rows].tolist(), joints):
            key = kind, tuple(slope.full().ravel().tolist())
            own.append(known.setdefault(key, (len(known), row_classes[kind], slope))[0])
        ends = system.ends_of_constraints[rows]
        motions, before, after = passes.wrench_offsets(s, ends, motion, wrenches, zeros)
        total = running_sums(self.own[chosen], sums, allocate_blocks(s, np.full(len(chosen), 2)))
        unknowns = np.array([passes.effort_offsets[id(system.efforts[k].force)] for k in chosen.tolist()])
        vectors = ["memory", "memory", "constants", "lam", *["memory"] * 6]
        offsets = [*motions.T, passes.frames[rows], unknowns, *before.T, total[0], *after.T, total[1]]
        s.call([_along_joint(c, slope) for _, c, slope in known.values()], vectors, own, offsets)


def reaction_on_second(rows, lam):
    """Force and torque of a connection on its second body, at its frame there, in world axes."""
    sign, end, J = (1, rows.ends[1], rows.G[1]) if rows.G[1] is not None else (-1, rows.ends[0], rows.G[0])
    F, T = split_linear_angular(sign * (J.T @ lam))
    second = rows.ends[1]
    at = second.position + second.rotation @ rows.frames[1][:, -1]
    return F, end.rotation @ T - ca.cross(at - end.position, F)


def _reaction(rows):
    """The function of the reaction of a class of connections."""
    lam = ca.SX.sym("lam", rows.size)
    arguments = [*(end.motion for end in rows.ends), rows.c, rows.further, lam]
    return function("reaction", arguments, [ca.vertcat(*reaction_on_second(rows, lam))])


def _along_joint(rows, slope):
    """The function that adds the wrenches of an effort along a joint on both ends, and its power: (∂q̇/∂V)ᵀ (∂u/∂q̇)ᵀ y."""
    y = ca.SX.sym("y", slope.shape[0])
    sums = ca.SX.sym("sums", 2)
    u = slope @ rows.rates
    carried = at_rest(u, rows.ends, [not is_ground for is_ground in rows.fixed])  # by moving grounds
    before = [ca.SX.sym("before", 0 if is_ground else SIX) for is_ground in rows.fixed]
    after = [
        b if is_ground else b + ca.jacobian(u, velocities(end)).T @ y
        for b, end, is_ground in zip(before, rows.ends, rows.fixed)
    ]
    arguments = [*(end.motion for end in rows.ends), rows.c, y, *before, sums]
    return function("along_joint", arguments, [*after, sums + ca.vertcat(ca.dot(u - carried, y), 0)])
