"""Constraints that are stated in signals, by classes: drives, imposed motions, equations of the user.

The equation of such a constraint contains time, inputs, motions of at most two bodies, and coordinates and rates of joints between
these bodies and grounds:

    0 = g(A, B, q, u, t)        or        0 = ψ(A, B, q, q̇, u, t)                                     (1)

Constraints with the same operations are of one class (`expression_shapes.py`). Coordinates of joints of the tree are entries of the
state; their rates q̇, and coordinates of other joints, are expressions of the motions of their bodies.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...elements import quantity
from ...errors import ModelError
from ...events import State
from ...joints import Joint
from ...joints.base import MOTIONS
from ...model.body import Ground, Placed
from ...model.include import owners_in
from ..algebra.lie_derivative import velocities
from .expression_shapes import shape_of
from .recursion_classes import fold_constants, split_column
from .row_classes import AXES_END, Moving, RowClass, split_frames

BODY_SIGNALS = tuple(name for name, _ in MOTIONS)
JOINT_SIGNALS = ("coordinate", "rate")
INPUT = "symbol"
POSE = 12  # numbers of the pose of a ground: position and rotation
FRAMES = 24  # numbers of the two frames of a joint


class StatedRows(NamedTuple):
    """The equations of a constraint as data.

    holonomic    True: at position level
    directions   names of the rows
    key          what the constraint has in common with those of its class
    numbers      numbers of its own
    ends         the two bodies or grounds that it connects
    inputs       symbols of parameters and memories in it
    joints       joints whose coordinates occur in it
    """

    holonomic: bool
    directions: list
    key: Any
    numbers: list
    ends: tuple
    inputs: tuple
    joints: tuple

    @property
    def only_joint(self):
        """The joint whose coordinates alone are in the equation; None if there is something else."""
        alone = len(self.joints) == 1 and all(kind != "end" for kind, _, _ in self.key.roles)
        return self.joints[0] if alone else None


class _Key(NamedTuple):
    """What constraints of a class have in common.

    roles    of each symbol: a kind of element, its number among those of the kind, and the name of the symbol
    joints   what the joints have in common
    inputs, constants, grounds   numbers of inputs, constants of the equation, and grounds that are not among its ends
    """

    holonomic: bool
    shape: Any
    roles: tuple
    joints: tuple
    inputs: int
    constants: int
    grounds: int


class _JointKey(NamedTuple):
    """What a joint in an equation has in common with those in other equations of the class.

    shape, constants   of its equations
    in_state           True if its coordinates are entries of the state
    ends               the two places that it connects: "end" or "ground", and the number among these
    """

    shape: Any
    constants: int
    dof: int
    angular: tuple
    in_state: bool
    ends: tuple


def stated_rows(system, constraint):
    """The equations of a constraint of a `NumericSystem` as data; None if there is no class of rows for them."""
    stated = constraint.equations()
    raw = stated.velocity if stated.position is None else stated.position
    owners = owners_in(system.model, raw)
    inputs = tuple(element for element, name in owners if name == INPUT)
    joints = _unique(element for element, _ in owners if isinstance(element, Joint))
    if not _are_supported(system, constraint, owners, inputs, joints):
        return None
    ends, further = _ends(system.model, _unique(_places(owners)))
    if ends is None:
        return None
    symbols = [getattr(element, name) for element, name in owners]
    shape, numbers = shape_of([raw], [quantity.time, *symbols])
    if shape is None:
        return None
    described = [_describe(system, joint, ends, further) for joint in joints]
    roles = tuple(_role(element, name, ends, further, inputs, joints) for element, name in owners)
    counts = len(inputs), len(numbers), len(further)
    key = _Key(stated.position is not None, shape, roles, tuple(d[0] for d in described), *counts)
    for ground in further:
        x, R = ground.reference
        numbers = [*numbers, *np.ravel(x), *R.ravel(order="F")]
    numbers = [*numbers, *(x for _, own in described for x in own)]
    symbols_of_inputs = tuple(element.symbol for element in inputs)
    return StatedRows(key.holonomic, stated.directions, key, numbers, ends, symbols_of_inputs, tuple(joints))


def ends_of(constraint, trace):
    """The two bodies or grounds that a constraint connects."""
    return trace.ends if isinstance(trace, StatedRows) else (constraint.first, constraint.second)


def _unique(things):
    return list({id(thing): thing for thing in things}.values())


def _places(owners):
    """Bodies and grounds in an equation, in the order in which they occur; those of a joint are its ends."""
    for element, _ in owners:
        if isinstance(element, Joint):
            yield from (element.first, element.second)
        elif isinstance(element, Placed):
            yield element


def _are_supported(system, constraint, owners, inputs, joints):
    """True if all symbols in an equation are known at a state, and their rates too."""
    if constraint.has_coordinates or (constraint.connects_bodies and constraint.placed_numbers is None):
        return False
    if any(isinstance(element, State) for element in inputs):
        return False
    for joint in joints:
        in_tree = system.link_in_rn(joint) is not None
        closes = any(joint is loop for loop in system.loops) and not joint.quasi
        if joint.trace() is None or joint.placed_numbers is None or not (in_tree or closes):
            return False
    allowed = {Joint: JOINT_SIGNALS, Placed: BODY_SIGNALS}
    return all(
        name == INPUT or any(isinstance(element, kind) and name in names for kind, names in allowed.items())
        for element, name in owners
    )


def _ends(model, places):
    """The two ends of an equation, and further grounds at rest; None if there are more than two bodies, or none."""
    bodies = [x for x in places if not isinstance(x, Ground)]
    grounds = [x for x in places if isinstance(x, Ground) and not x.moves]
    if not bodies or len(bodies) > 2:
        return None, []
    if len(bodies) == 2:
        return tuple(bodies), grounds
    return ((grounds or [model.ground])[0], bodies[0]), grounds[1:]


def _index(things, thing):
    return next((k for k, other in enumerate(things) if other is thing), None)


def _place(element, ends, further):
    """The place of a body or ground: among the ends, or among further grounds; of a moving ground the ground itself."""
    if isinstance(element, Ground) and element.moves:
        return "moving", element
    k = _index(ends, element)
    return ("ground", _index(further, element)) if k is None else ("end", k)


def _role(element, name, ends, further, inputs, joints):
    """What a symbol of an equation is."""
    if name == INPUT:
        return "input", _index(inputs, element), name
    if isinstance(element, Joint):
        return "joint", _index(joints, element), name
    return (*_place(element, ends, further), name)


def _describe(system, joint, ends, further):
    """What a joint has in common with those of the class, and its numbers: those of its frames and of its equations."""
    shape, constants = system.shape_of_trace(joint.trace())
    frames = [np.concatenate([H[:3, :3].ravel(order="F"), H[:3, 3]]) for H in joint.placed_numbers]
    in_state = system.link_in_rn(joint) is not None
    places = tuple(_place(element, ends, further) for element in (joint.first, joint.second))
    key = _JointKey(shape, len(constants), joint.dof, tuple(joint.angular), in_state, places)
    return key, [*np.concatenate(frames), *constants]


class _JointSymbols(NamedTuple):
    """A joint in the equation of a class: coordinates and rates, and symbols of its numbers that change with the state."""

    coordinate: Any
    rate: Any
    symbols: Any


class StatedRowClass(RowClass):
    """The rows of a class of stated constraints.

    further   symbols of time, inputs, and of joints: coordinates in the state, or angles near which coordinates are counted
    """

    def __init__(self, constraint, stated, fixed, numbers, switches=0):
        self.fixed = fixed
        column, self.c, self.data = fold_constants(numbers)
        key = stated.key
        self.ends = [Moving(), Moving()]
        self.frames = split_frames(column)
        self.angular = []
        self.turn = ca.SX(0, 1)
        self.coordinates = self.rates = ca.SX(0, 1)
        self.connects = constraint.connects_bodies
        entries = iter(ca.vertsplit(column)[AXES_END:] if column.shape[0] > AXES_END else [])

        def take(count):
            return ca.vertcat(ca.SX(0, 1), *[next(entries) for _ in range(count)])

        constants = ca.vertsplit(take(key.constants)) if key.constants else []
        places: dict = {
            "moving": _Paths(),
            "end": self.ends,
            "ground": [still_ground(take(POSE)) for _ in range(key.grounds)],
        }
        inputs = ca.SX.sym("inputs", key.inputs)
        joints = [self._joint(entry, places, take) for entry in key.joints]

        def value(kind, k, name):
            if kind == "input":
                return inputs[k]
            return getattr(joints[k] if kind == "joint" else places[kind][k], name)

        (rows,) = key.shape.instantiate([quantity.time, *(value(*role) for role in key.roles)], constants)
        t = ca.SX.sym("t")
        self.further = ca.vertcat(t, inputs, *[joint.symbols for joint in joints])
        in_state = [(joint.coordinate, joint.rate) for joint, entry in zip(joints, key.joints) if entry.in_state]
        self._derive(rows, key.holonomic, switches, in_state)
        self._replace_time(t)
        self._refuse_nonlinear_rates(constraint)

    @staticmethod
    def _joint(entry, places, take):
        """Symbols of a joint; take: the function that takes a number of entries from the column of the class."""
        first, second = (places[kind][k] for kind, k in entry.ends)
        numbers = take(FRAMES)
        motions = [getattr(end, name) for end in (first, second) for name in BODY_SIGNALS]
        own = ca.SX.sym("q", entry.dof)
        constants = ca.vertsplit(take(entry.constants)) if entry.constants else []
        symbols = [*motions, *split_frames(numbers), own, quantity.time]
        _, coordinates, rates = entry.shape.instantiate(symbols, constants)
        return _JointSymbols(own if entry.in_state else coordinates, rates, own)

    def _refuse_nonlinear_rates(self, constraint):
        """Raise an error if the equation is not linear in the velocities."""
        v = ca.vertcat(*[velocities(end) for end in self.ends])
        if any(J is not None and ca.depends_on(ca.vec(J), v) for J in self.G):
            level = "position" if self.holonomic else "velocity"
            raise ModelError(f"{constraint.owner}: a {level}-level constraint must be linear in the velocities")


class _Paths:
    """Motions of moving grounds as functions of time, by the ground."""

    def __getitem__(self, ground):
        return SimpleNamespace(**dict(zip(BODY_SIGNALS, ground.motion())))


def still_ground(pose):
    """A ground at rest with the numbers of its pose."""
    x, R = split_column(pose, (3, 9))
    rest = ca.SX.zeros(3)
    return SimpleNamespace(position=x, rotation=ca.reshape(R, 3, 3), velocity=rest, angular_velocity=rest)
