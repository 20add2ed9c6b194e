"""Kernels of events for models that run through tables (`large_systems.py`): watched functions, values that events use, energies.

Each function is an expression of motions, reactions, inputs and time. Its derivative along the motion is

    φ̇ = ∂φ/∂t + Σ ∂φ/∂(x, R) · motion of the bodies + ∂φ/∂(ẋ, ω) (ẍ, ω̇) + ∂φ/∂q q̇ + ∂φ/∂q̇ q̈ + ∂φ/∂z ż           (1)

over the bodies, joints and own states in it. If neither accelerations nor reactions occur, only the motion of the bodies is
computed; otherwise all outputs of a run.
"""

from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.quantity import time
from ..events import State
from ..formulations.algebra.lie_derivative import rate, stack_linear_angular, velocities
from ..formulations.schedules.schedule import Schedule
from ..formulations.tables.expression_passes import MULTIPLIER, MotionPlaces, is_motion
from ..formulations.tables.group_schedule import call_in_blocks
from ..formulations.tables.loop_outputs import add_row_accelerations
from ..formulations.tables.moving_grounds import at_paths
from ..formulations.tables.numeric_tree import linear_by_kind
from ..formulations.tables.recursion_classes import function
from ..formulations.tables.row_classes import Moving
from ..formulations.tables.shared_values import SharedValues, add_shared_expressions
from ..formulations.tables.tree_outputs import Outputs
from ..formulations.tables.tree_schedule import allocate_blocks, constant_rows
from ..joints import Joint
from ..model.body import Ground, Placed
from ..model.include import owners_in
from .event_lowering import Approach, Rate
from .rate_bounds import largest, phase_rates


class WatchedFunctions:
    """Watched functions of a model with their rates and paces (`rate_bounds.py`), as expressions.

    q_accelerations   symbols of the accelerations of joint coordinates, by the id of the joint
    spins             symbols of the largest angular velocity on the path of a body, by the id of the body; None: of all bodies
    """

    def __init__(self, system, functions, rated):
        self.system = system
        self.q_accelerations: dict = {}
        self.spins: dict = {}
        functions = [at_paths(system.model, phi) for phi in functions]
        rates = [self.derivative(phi) if has_rate else ca.SX(0) for phi, has_rate in zip(functions, rated)]
        paces = [self._pace(phi, has_rate) for phi, has_rate in zip(functions, rated)]
        self.column = [*functions, *rates, *paces]

    def derivative(self, e):
        """ė along the motion: (1)."""
        owners = owners_in(self.system.model, e)
        bodies = _bodies(owners)
        total = rate(e, bodies)
        for body in bodies:
            total += ca.jacobian(e, velocities(body)) @ stack_linear_angular(
                body.acceleration, body.angular_acceleration
            )
        for joint in _unique(element for element, _ in owners if isinstance(element, Joint)):
            total += ca.jacobian(e, joint.coordinate) @ joint.rate
            if ca.depends_on(e, joint.rate):
                a = self.q_accelerations.setdefault(id(joint), (joint, ca.SX.sym("a", joint.dof)))[1]
                total += ca.jacobian(e, joint.rate) @ a
        for state in _unique(element for element, _ in owners if isinstance(element, State)):
            total += ca.jacobian(e, state.symbol) * state.rate
        return total

    def _pace(self, phi, has_rate):
        """The pace of a function. One of reactions or accelerations has no rate and depends on all angular velocities."""
        if not has_rate:
            return self._spin(None)
        bodies = _bodies(owners_in(self.system.model, phi))
        return largest([*map(self._spin, bodies), *phase_rates(phi, self.derivative)])

    def _spin(self, body):
        return self.spins.setdefault(id(body), (body, ca.SX.sym("spin")))[1]

    @property
    def need_outputs(self):
        """True if accelerations or reactions occur; multipliers of loops are given."""
        return bool(self.q_accelerations) or not depend_on_motion_only(self.system.whole, self.column, (MULTIPLIER,))


def _bodies(owners):
    """The bodies among the owners of symbols; grounds are at rest."""
    return _unique(x for x, _ in owners if isinstance(x, Placed) and not isinstance(x, Ground))


def _unique(things):
    """Things without repetitions, in their order."""
    return list({id(thing): thing for thing in things}.values())


def depend_on_motion_only(system, expressions, given=()):
    """True if expressions depend on motions, inputs and time only; given: names of further symbols that are known."""
    owners = owners_in(system.model, ca.vertcat(*map(ca.SX, expressions), ca.SX(0, 1)))
    return all(name in given or is_motion(system, element, name) for element, name in owners)


def event_kernels(passes, parts, program, built_impulse):
    """The kernels `guards`, `slots`, `energies` and `impulse`.

    parts           names and sizes of the outputs of a run
    program         the events as tables (`event_lowering.py`)
    built_impulse   function that makes the kernel `impulse` of a system with loops; None for a tree
    """
    rated = program.tables["events"]["rated"]
    watched = WatchedFunctions(passes.system, program.guards, rated)
    return {
        "guards": _guards(passes, parts, watched),
        "slots": _slots(passes, parts, program.slots),
        "energies": _energies(passes),
        "impulse": _no_impulse(passes) if built_impulse is None else built_impulse(),
    }


def _begin(passes, parts, name, result, count, outputs):
    """The schedule of a kernel of expressions, and the places of their symbols.

    outputs   True: compute all outputs; False: the motion of the bodies
    """
    if outputs:
        kernel = Outputs(passes, parts, into=(name, {result: count}))
        return kernel.schedule, kernel.places
    s = Schedule(name, passes.inputs("t", "x", "p", "xdot", "lam"), {result: count}, passes.constants)
    return s, MotionPlaces(passes, passes.motion(s))


def _slots(passes, parts, slots):
    """The kernel of the values that events use: expressions of motions, reactions and inputs, and accelerations of contacts."""
    approaches = {k: x.constraint for k, x in enumerate(slots) if isinstance(x, Approach)}
    rated = WatchedFunctions(passes.system, [], [])
    rest = {
        k: rated.derivative(at_paths(passes.system.model, x.signal)) if isinstance(x, Rate) else x
        for k, x in enumerate(slots)
        if not isinstance(x, Approach)
    }
    outputs = bool(approaches or rated.q_accelerations)
    outputs = outputs or not depend_on_motion_only(passes.system.whole, rest.values(), (MULTIPLIER,))
    if not outputs:
        s, places = _begin(passes, parts, "slots", "slot", len(slots), False)
        add_shared_expressions(s, rest.values(), places, "slot", np.array([*rest]))
        return s
    kernel = Outputs(passes, parts, into=("slots", {"slot": len(slots)}))
    if approaches:
        _add_approaches(kernel, [*approaches.values()], np.array([*approaches]))
    _place_accelerations(passes, kernel.places, rated)
    add_shared_expressions(kernel.schedule, rest.values(), kernel.places, "slot", np.array([*rest]))
    return kernel.schedule


def _add_approaches(kernel, constraints, targets):
    """Append the accelerations G v̇ − γ of constraints to the kernel of slots."""
    system = kernel.system
    index = {id(c): k for k, c in enumerate(system.constraints)}
    if system.cut is None:
        add_row_accelerations(kernel, [index[id(c)] for c in constraints], "slot", targets)
        return
    values = SharedValues(kernel.schedule, system.cut, [system.rank_of(c) or 0 for c in constraints])
    if len(values.own):
        own = [index[id(constraints[k])] for k in values.own.tolist()]
        add_row_accelerations(kernel, own, "memory", values.at[values.own])
    values.send("slot", targets)


def _guards(passes, parts, watched):
    """The kernel of the values, rates and paces of all watched functions."""
    count = len(watched.column)
    cut = passes.system.cut
    s, places = _begin(passes, parts, "guards", "phi", count, watched.need_outputs)
    _place_accelerations(passes, places, watched)
    if watched.spins:
        own, everywhere = _largest_spins(passes, s)
        for body, symbol in watched.spins.values():
            rank = None if body is None or not cut else passes.system.rank_of(body)
            at = everywhere if body is None else own[passes.system.link_of_body.get(id(body), 0)]
            places.add(symbol, "memory", at, rank)
    add_shared_expressions(s, watched.column, places, "phi", np.arange(count))
    return s


def _place_accelerations(passes, places, watched):
    """Declare the places of the accelerations of joint coordinates that derivatives contain."""
    cut = passes.system.cut
    for joint, a in watched.q_accelerations.values():
        rank = passes.system.rank_of(joint) if cut else None
        if rank is not None and rank != cut.rank:
            first = 0  # of another rank, which sends the value
        else:
            first = places.offsets["coordinate_acceleration"] + places.first_coordinate[places.index[1][id(joint)]]
        for k, symbol in enumerate(ca.vertsplit(a)):
            places.add(symbol, places.vector, first + k, rank)


def _largest_spins(passes, s):
    """Append the largest angular velocity of the joints on the path of each body. Returns its offsets, and that of the largest of
    all."""
    tree = passes.tree
    own = allocate_blocks(s, np.ones(tree.n, int))
    over_all = allocate_blocks(s, np.ones(tree.n + 1, int))
    zero = s.reserve(1)
    s.call([ca.Function("zero", [time], [ca.SX(0)])], ["t", "memory"], [0, 0], [[0, 0], [zero, over_all[0]]])
    classes = []
    for linear in linear_by_kind(tree):
        v = ca.SX.sym("v", len(linear))
        before = ca.SX.sym("before")
        parent = ca.SX.sym("parent")
        spins = [ca.fabs(v[k]) for k, is_linear in enumerate(linear) if not is_linear]
        classes.append(function("spin", [v, parent, before], [largest([parent, *spins]), largest([before, *spins])]))
    parent = np.where(tree.parents >= 0, own[tree.parents], zero)
    offsets = [passes.layout.q + passes.v, parent, over_all[:-1], own, over_all[1:]]
    s.call(classes, ["x", *["memory"] * 4], tree.traces, offsets)
    cut = passes.system.cut
    if cut is None:
        return own, over_all[-1]
    of_ranks = SharedValues(s, cut, np.arange(cut.ranks))
    of_ranks.copy_own("memory", np.full(cut.ranks, over_all[-1]))
    of_ranks.send()
    return own, passes.combine(s, of_ranks.at[0], of_ranks.at[1:], ca.fmax)


def _energies(passes):
    """The kernel (t, x, p) → kinetic and potential energy."""
    cut = passes.system.cut
    s = Schedule("energies", passes.inputs("t", "x", "p"), {"energy": 2}, passes.constants)
    motion = passes.motion(s)
    _, sums = passes.applied_wrenches(s, motion)
    mass, J = passes.tree.weights
    data = constant_rows(passes.constants, np.column_stack([mass, J.transpose(0, 2, 1).reshape(passes.n, 9)]))
    c = ca.SX.sym("c", 10)
    before = ca.SX.sym("before", 2)
    body: Any = Moving()
    w = body.angular_velocity
    gravity = ca.SX(quantity.numbers(passes.system.model.gravity).ravel())
    T = c[0] * ca.sumsqr(body.velocity) / 2 + ca.dot(w, ca.reshape(c[1:], 3, 3) @ w) / 2
    U = -c[0] * ca.dot(gravity, body.position)
    both = function("energy", [body.motion, c, before], [before + ca.vertcat(T, U)])
    total = s.reserve(2 * (passes.n + 1)) + 2 * np.arange(passes.n + 1)
    s.call([ca.Function("zero", [time], [ca.SX.zeros(2)])], ["t", "memory"], [0], [[0], total[:1]])
    counted = np.flatnonzero(cut.counted) if cut else np.arange(passes.n)
    before, after = total[: len(counted)], total[1 : len(counted) + 1]
    kinds = np.zeros(len(counted), int)
    s.call(
        [both], ["memory", "constants", "memory", "memory"], kinds, [motion.body[counted], data[counted], before, after]
    )
    own = ca.SX.sym("own", 2)
    forces = [ca.SX.sym("U") for _ in sums]
    last = ca.Function("energies", [own, *forces], [own + ca.vertcat(0, sum(forces))])
    potentials = [[at + 1] for at in sums]
    if cut is None:
        s.call([last], [*["memory"] * 3, "energy"], [0], [total[len(counted) :][:1], *potentials, [0]])
        return s
    if cut.rank:  # the potential of forces that all ranks compute is counted on rank 0 only
        potentials[0] = total[:1]
    of_ranks = SharedValues(s, cut, np.repeat(np.arange(cut.ranks), 2))
    own_energies = s.reserve(2)
    s.call([last], ["memory"] * 4, [0], [total[len(counted) :][:1], *potentials, [own_energies]])
    of_ranks.copy_own("memory", np.tile(own_energies + np.arange(2), cut.ranks))
    of_ranks.send()
    every = ca.SX.sym("every", 2, cut.ranks)
    sum_up = function("sum", [ca.vec(every)], [ca.sum2(every)])
    s.call([sum_up], ["memory", "energy"], [0], [of_ranks.at[:1], [0]])
    return s


def _no_impulse(passes):
    """The kernel `impulse` of a tree without rows: nothing changes."""
    gives = {"dv": passes.layout.v, "impulse": 0}
    s = Schedule("impulse", passes.inputs("t", "x", "p", "F") | {"r": 0}, gives, passes.constants)
    every = np.arange(passes.layout.v)
    call_in_blocks(s, lambda x: ca.SX.zeros(x.shape), ["x", "dv"], [every, every])
    return s
