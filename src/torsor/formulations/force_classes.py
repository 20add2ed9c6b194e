"""Forces by classes: those that are alike but for numbers, and for whose motion they depend on, share their code.

Forces of one kind are alike where their fields are numbers. Where a field is an expression, forces are alike whose expressions
have the same operations (`shapes.py`). A force acts between one or two bodies, or along the coordinates of a joint:

    f = −∂U/∂(x, θ) − ∂D/∂v + Σ (∂u/∂v)ᵀ e,     P = −v·∂D/∂v + Σ (∂u/∂v v)·e + ∂U/∂t                    (1)

as in `loads.py`. Every one adds what it does to the sums of those before it.
"""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.body import Placed
from ..describe.element import fill_in
from ..describe.quantity import time
from ..forces.parts import PLACES, Parts
from ..joints import Joint
from .classes import folded, function
from .lie_derivative import gradient, velocities
from .row_classes import Moving
from .shapes import Shape, shape_of

BODIES = ("position", "rotation", "velocity", "angular_velocity")
JOINTS = ("coordinate", "rate")


class Law(NamedTuple):
    """What a force declares."""

    potential: Any
    dissipation: Any
    efforts: list

    @classmethod
    def of(cls, force):
        return cls(force.potential(), force.dissipation(), force.efforts())

    def columns(self):
        """All of it, nothing where there is none."""
        return [
            ca.SX(0, 1) if x is None else ca.SX(x) for x in (self.potential, self.dissipation, *sum(self.efforts, ()))
        ]

    @classmethod
    def read(cls, columns):
        U, D, *rest = columns
        given = lambda x: x if x.shape[0] else None
        return cls(given(U), given(D), list(zip(rest[::2], rest[1::2])))


def parts_of_expressions(law, owners):
    """The parts of a force by its expressions; None where it depends on something else than motions of bodies, joints, and time.

    owners   pairs of a thing and the name of its symbol
    """
    things = list({id(thing): thing for thing, _ in owners}.values())
    if any(name not in (JOINTS if isinstance(thing, Joint) else BODIES) for thing, name in owners):
        return None
    if not all(isinstance(thing, (Placed, Joint)) for thing in things):
        return None
    symbols = [time, *(getattr(thing, name) for thing in things for name in _names(thing))]
    shape, numbers = shape_of(law.columns(), symbols)
    kinds = tuple(_kind(thing) for thing in things)
    return None if shape is None else Parts((kinds, shape), numbers, things)


def _names(thing):
    return JOINTS if isinstance(thing, (Joint, _Turning)) else BODIES


def _kind(thing):
    return thing.dof if isinstance(thing, Joint) else -1


class _Turning:
    """A joint in symbols of its coordinates."""

    def __init__(self, joint):
        self.name, self.dof, self.angular = joint.name, joint.dof, joint.angular
        self.coordinate, self.rate = ca.SX.sym("q", joint.dof), ca.SX.sym("v", joint.dof)


def _law(example, parts, ends, column):
    """What a force of a class declares, of other things than those of an example, with numbers from a column."""
    if isinstance(parts.key[-1], Shape):
        symbols = [time, *(getattr(end, name) for end in ends for name in _names(end))]
        return Law.read(parts.key[-1].filled(symbols, ca.vertsplit(column) if column.shape[0] else []))
    given: dict[str, Any] = {}
    at, others = 0, iter(ends)
    for f in fields(example):
        value = getattr(example, f.name)
        if isinstance(value, (Placed, Joint)):
            given[f.name] = next(others)
        elif f.name in PLACES:
            given[f.name] = None
        elif f.name != "name" and f.type not in (int, "int"):
            built, at = _built(value, column, at)
            given |= {f.name: built} if f.init else {}
    (x, R), _ = _built((example.world.start_position, example.world.start_rotation), column, at)
    still = {"velocity": ca.SX.zeros(3), "angular_velocity": ca.SX.zeros(3), "start_position": x, "start_rotation": R}
    return Law.of(fill_in(replace(example, **given), world=SimpleNamespace(position=x, rotation=R, **still)))


class ForceClass:
    """Forces between one or two bodies: wrenches on them, power and potential, as functions of motions and of data.

    held   which of its ends is a ground
    """

    along_joint = False

    def __init__(self, example, parts, numbers, held):
        column, self.c, self.data = folded(np.asarray(numbers, float))
        self.ends = [Moving() for _ in held]
        law = _law(example, parts, self.ends, column)
        free = [end for end, still in zip(self.ends, held) if not still]
        U = ca.SX(0) if law.potential is None else law.potential
        on, power = {id(end): -gradient(U, end).T for end in free}, ca.jacobian(U, time)
        pairs = law.efforts + ([] if law.dissipation is None else [(None, law.dissipation)])
        for velocity, effort in pairs:
            for end in free:
                v = velocities(end)
                push = -ca.jacobian(effort, v).T if velocity is None else ca.jacobian(velocity, v).T @ effort
                on[id(end)] += push  # (1)
                power += ca.dot(push, v)
        held_still = [end.motion[12:] for end, h in zip(self.ends, held) if h]
        rest = lambda x: ca.substitute(x, ca.vertcat(*held_still, ca.SX(0, 1)), ca.SX.zeros(6 * len(held_still)))
        sums, before = ca.SX.sym("sums", 2), [ca.SX.sym("before", 6 if not h else 0) for h in held]
        after = [b + on[id(e)] if not h else b for e, b, h in zip(self.ends, before, held)]
        motions, total = [end.motion for end in self.ends], sums + ca.vertcat(power, U)
        if len(held) == 1:  # one end: a second one that is not there
            motions, before, after = [*motions, ca.SX(0, 1)], [*before, ca.SX(0, 1)], [*after, ca.SX(0, 1)]
        results = [rest(x) for x in (*after, total)]
        self.function = function("force", [time, *motions, self.c, *before, sums], results)


class JointForceClass:
    """Forces along the coordinates of a joint, power and potential, as functions of coordinates, their rates, and data."""

    along_joint = True

    def __init__(self, example, parts, numbers):
        column, self.c, self.data = folded(np.asarray(numbers, float))
        joint = _Turning(parts.ends[0])
        q, v, law = joint.coordinate, joint.rate, _law(example, parts, [joint], column)
        U = ca.SX(0) if law.potential is None else law.potential
        push = ca.SX.zeros(joint.dof) if law.dissipation is None else -ca.jacobian(law.dissipation, v).T
        for velocity, effort in law.efforts:
            push += ca.jacobian(velocity, v).T @ effort
        before, sums = ca.SX.sym("before", joint.dof), ca.SX.sym("sums", 2)
        power = ca.dot(push, v) + ca.jacobian(U, time)
        results = [before + push - ca.jacobian(U, q).T, sums + ca.vertcat(power, U)]  # (1)
        self.function = function("along", [time, q, v, self.c, before, sums], results)


def _built(value, column, at):
    """A value of the same kind as another, with its numbers from a column."""
    if value is None or isinstance(value, (str, bool)):
        return value, at
    if isinstance(value, (tuple, list)):
        found = []
        for x in value:
            y, at = _built(x, column, at)
            found.append(y)
        return tuple(found), at
    shape = ca.SX(value).shape
    size = shape[0] * shape[1]
    return ca.reshape(column[at : at + size], *shape), at + size
