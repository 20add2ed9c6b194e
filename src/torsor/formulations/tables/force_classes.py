"""Forces by classes: forces of one class differ in numbers and in the bodies or joints they act on, and share their code.

Forces of the same type whose fields are numbers are of one class. If a field is an expression, forces are of one class if their
expressions have the same operations (`expression_shapes.py`). A force acts between one or two bodies, or along the coordinates of
a joint:

    f = −∂U/∂(x, θ) − ∂D/∂v + Σ (∂u/∂v)ᵀ e,     P = −v·∂D/∂v + Σ (∂u/∂v v)·e + ∂U/∂t                    (1)

as in `formulations/algebra/loads.py`. Each force adds its wrenches, power and potential to the sums over the forces before it.
"""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...elements.element import fill_in
from ...elements.quantity import time
from ...forces.force_data import PLACES, Parts, rows_of
from ...joints import Joint
from ...model.body import Placed
from ..algebra.lie_derivative import gradient, velocities
from .expression_shapes import Shape, shape_of
from .numeric_tree import NO_BODY
from .recursion_classes import fold_constants, function, group_rows
from .row_classes import Moving, at_rest

BODIES = ("position", "rotation", "velocity", "angular_velocity")
JOINTS = ("coordinate", "rate")
INPUT = "symbol"  # name of the symbol of a parameter, memory or state


class Law(NamedTuple):
    """Potential, dissipation function and efforts of a force, as it declares them."""

    potential: Any
    dissipation: Any
    efforts: list

    @classmethod
    def of(cls, force):
        return cls(force.potential(), force.dissipation(), force.efforts())

    def times(self, gate):
        """The law with all forces multiplied by a number."""
        U, D = (None if x is None else gate * x for x in (self.potential, self.dissipation))
        return Law(U, D, [(velocity, gate * effort) for velocity, effort in self.efforts])

    def columns(self):
        """All expressions in a fixed order; an empty column for one that is None."""
        return [
            ca.SX(0, 1) if x is None else ca.SX(x) for x in (self.potential, self.dissipation, *sum(self.efforts, ()))
        ]

    @classmethod
    def from_columns(cls, columns):
        """The law with the expressions of `columns`."""
        U, D, *rest = columns

        def or_none(x):
            return x if x.shape[0] else None

        return cls(or_none(U), or_none(D), list(zip(rest[::2], rest[1::2])))


def parts_of_expressions(law, owners, further=()):
    """The parts of a force, from its expressions; None if they depend on anything but time, inputs and motions.

    owners    pairs of an element and the name of its symbol
    further   symbols that are no element's, the last inputs
    """
    inputs = (*(element.symbol for element, name in owners if name == INPUT), *further)
    owners = [(element, name) for element, name in owners if name != INPUT]
    elements = list({id(element): element for element, _ in owners}.values())
    if any(name not in (JOINTS if isinstance(element, Joint) else BODIES) for element, name in owners):
        return None
    if not all(isinstance(element, (Placed, Joint)) for element in elements):
        return None
    symbols = [time, *(getattr(element, name) for element in elements for name in _symbol_names(element))]
    symbols.append(ca.vertcat(*inputs, ca.SX(0, 1)))
    shape, numbers = shape_of(law.columns(), symbols)
    kinds = tuple(_kind(element) for element in elements)
    return None if shape is None else Parts((kinds, len(inputs), shape), numbers, elements, (), inputs)


def _symbol_names(element):
    return JOINTS if isinstance(element, (Joint, _JointSymbols)) else BODIES


def _kind(element):
    """The number of degrees of freedom of a joint, −1 for a body."""
    return element.dof if isinstance(element, Joint) else -1


class _JointSymbols:
    """A joint with symbols for its coordinates and rates."""

    def __init__(self, joint):
        self.name = joint.name
        self.dof = joint.dof
        self.angular = joint.angular
        self.coordinate = ca.SX.sym("q", joint.dof)
        self.rate = ca.SX.sym("v", joint.dof)


def _law(example, parts, ends, column, inputs):
    """The law of a class of forces: that of an example with other ends and inputs, and with numbers from a column."""
    if isinstance(parts.key[-1], Shape):
        symbols = [time, *(getattr(end, name) for end in ends for name in _symbol_names(end)), inputs]
        return Law.from_columns(parts.key[-1].instantiate(symbols, ca.vertsplit(column) if column.shape[0] else []))
    values: dict[str, Any] = {}
    at = 0
    remaining = iter(ends)
    for f in fields(example):
        value = getattr(example, f.name)
        if isinstance(value, (Placed, Joint)):
            values[f.name] = next(remaining)
        elif f.name in PLACES:
            values[f.name] = None
        elif f.name != "name" and f.type not in (int, "int"):
            symbolic, at = _replace_numbers(value, column, at)
            values |= {f.name: symbolic} if f.init else {}
    (x, R), _ = _replace_numbers((example.world.start_position, example.world.start_rotation), column, at)
    world = SimpleNamespace(
        position=x,
        rotation=R,
        velocity=ca.SX.zeros(3),
        angular_velocity=ca.SX.zeros(3),
        start_position=x,
        start_rotation=R,
    )
    return Law.of(fill_in(replace(example, **values), world=world))


class ForceClass:
    """Forces between one or two bodies: wrenches on them, power and potential, as functions of motions and of data.

    fixed   for each end whether it is a ground
    moves   for each end whether it is a ground that moves
    """

    along_joint = False

    def __init__(self, example, parts, numbers, fixed, moves):
        column, self.c, self.data = fold_constants(np.asarray(numbers, float))
        self.ends = [Moving() for _ in fixed]
        inputs = ca.SX.sym("inputs", len(parts.inputs))
        law = _law(example, parts, self.ends, column, inputs)
        free = [end for end, is_ground in zip(self.ends, fixed) if not is_ground]
        U = ca.SX(0) if law.potential is None else law.potential
        wrenches = {id(end): -gradient(U, end).T for end in free}
        power = ca.jacobian(U, time)
        power += sum(ca.dot(gradient(U, end).T, velocities(end)) for end, carried in zip(self.ends, moves) if carried)
        pairs = law.efforts + ([] if law.dissipation is None else [(None, law.dissipation)])
        for velocity, effort in pairs:
            for end in free:
                v = velocities(end)
                wrench = -ca.jacobian(effort, v).T if velocity is None else ca.jacobian(velocity, v).T @ effort
                wrenches[id(end)] += wrench  # (1)
                power += ca.dot(wrench, v)
        sums = ca.SX.sym("sums", 2)
        before = [ca.SX.sym("before", 0 if is_ground else 6) for is_ground in fixed]
        after = [b if is_ground else b + wrenches[id(end)] for end, b, is_ground in zip(self.ends, before, fixed)]
        motions = [end.motion for end in self.ends]
        total = sums + ca.vertcat(power, U)
        if len(fixed) == 1:  # an empty second end
            motions = [*motions, ca.SX(0, 1)]
            before = [*before, ca.SX(0, 1)]
            after = [*after, ca.SX(0, 1)]
        still = [is_ground and not carried for is_ground, carried in zip(fixed, moves)]
        results = [at_rest(x, self.ends, still) for x in (*after, total)]
        self.function = function("force", [time, *motions, self.c, inputs, *before, sums], results)


class JointForceClass:
    """Forces along the coordinates of a joint, power and potential, as functions of coordinates, their rates, and data."""

    along_joint = True

    def __init__(self, example, parts, numbers):
        column, self.c, self.data = fold_constants(np.asarray(numbers, float))
        joint = _JointSymbols(parts.ends[0])
        q = joint.coordinate
        v = joint.rate
        inputs = ca.SX.sym("inputs", len(parts.inputs))
        law = _law(example, parts, [joint], column, inputs)
        U = ca.SX(0) if law.potential is None else law.potential
        tau = ca.SX.zeros(joint.dof) if law.dissipation is None else -ca.jacobian(law.dissipation, v).T
        for velocity, effort in law.efforts:
            tau += ca.jacobian(velocity, v).T @ effort
        before = ca.SX.sym("before", joint.dof)
        sums = ca.SX.sym("sums", 2)
        power = ca.dot(tau, v) + ca.jacobian(U, time)
        results = [before + tau - ca.jacobian(U, q).T, sums + ca.vertcat(power, U)]  # (1)
        self.function = function("along", [time, q, v, self.c, inputs, before, sums], results)


def classes_of_forces(forces, parts, ends, moving):
    """Classes of forces, the class of each force, and for each class the numbers of its forces, row by row.

    parts   of each force
    ends    numbers of the bodies or grounds between which each acts; both are NO_BODY if it acts along a joint
    moving  for each ground whether it moves
    """
    key_numbers: dict = {}
    keys = {id(x.key): x.key for x in parts}  # equal keys are often one object
    number_by_id = {k: key_numbers.setdefault(key, len(key_numbers)) for k, key in keys.items()}
    own = np.array([number_by_id[id(x.key)] for x in parts], int)
    classes: list = []
    numbers_of_classes: list = []
    kinds = np.zeros(len(forces), int)
    no_numbers = np.zeros((len(own), 0))
    grounds = (ends < 0) & (ends != NO_BODY)
    carried = grounds & (np.append(moving, 0)[np.where(grounds, -1 - ends, -1)] > 0)
    key = np.column_stack([own, ends < 0, ends == NO_BODY, carried])
    for group in group_rows(key, no_numbers)[1] if len(own) else []:
        numbers = rows_of([parts[k] for k in group.tolist()])
        which, members = group_rows(np.zeros((len(group), 1), int), numbers)
        kinds[group] = len(classes) + which
        for m in members:
            example = group[m[0]]
            rows = numbers[m]
            fixed = tuple((ends[example] < 0)[ends[example] != NO_BODY].tolist())
            moves = tuple(carried[example][ends[example] != NO_BODY].tolist())
            arguments = forces[example], parts[example], rows
            classes.append(ForceClass(*arguments, fixed, moves) if fixed else JointForceClass(*arguments))
            numbers_of_classes.append(rows)
    return classes, kinds, numbers_of_classes


def _replace_numbers(value, column, at):
    """A value with its numbers replaced by entries of a column, from index `at` on; and the index after them."""
    if value is None or isinstance(value, (str, bool)):
        return value, at
    if isinstance(value, (tuple, list)):
        items = []
        for x in value:
            item, at = _replace_numbers(x, column, at)
            items.append(item)
        return tuple(items), at
    shape = ca.SX(value).shape
    size = shape[0] * shape[1]
    return ca.reshape(column[at : at + size], *shape), at + size
