"""Expressions of users as passes of a schedule: signals, rates of own states, watched functions of events.

Expressions with the same operations share their code (`expression_shapes.py`). Each reads the motions, reactions and inputs that it
contains from the vectors of the schedule.
"""

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ...joints import Constraint, Joint
from ...joints.base import Connection
from ...model.body import Ground, Placed
from ...model.include import owners_in
from .expression_shapes import shape_of
from .moving_grounds import at_paths
from .recursion_classes import fold_constants, function
from .tree_schedule import block_offsets, constant_rows

MOTION_STARTS = {"position": 0, "rotation": 3, "velocity": 12, "angular_velocity": 15}  # in the motion of a body
JOINT_MOTION = ("coordinate", "rate")
OUTPUT_SIZES = {
    "position": 3, "rotation": 9, "velocity": 3, "angular_velocity": 3, "acceleration": 3, "angular_acceleration": 3,
}  # fmt: skip
REACTION = ("reaction_force", "reaction_torque")
MULTIPLIER = "multiplier"


def depends_on_motion_only(system, expression):
    """True if an expression depends only on time, inputs, poses and velocities of bodies, and coordinates of joints in Rⁿ."""
    return all(is_motion(system, *owner) for owner in owners_in(system.model, expression))


def is_motion(system, element, name):
    """True if a symbol is an input, a pose or velocity of a body, or a coordinate or rate of a joint with coordinates in Rⁿ."""
    if name == "symbol":
        return True
    if isinstance(element, Joint):
        return name in JOINT_MOTION and system.link_in_rn(element) is not None
    return isinstance(element, Placed) and name in MOTION_STARTS


def depend_on_outputs_only(model, signals):
    """True if signals depend only on time, inputs, and outputs of bodies, joints and connections."""
    columns = [ca.SX(x) for x in signals.values()]
    owners = owners_in(model, ca.vertcat(*map(ca.vec, columns), ca.SX(0, 1)))
    return all(_is_output(element, name) for element, name in owners)


def _is_output(element, name):
    """True if a symbol is an input, or one of the outputs of its element."""
    if name == "symbol":
        return True
    if isinstance(element, Placed):
        return name in OUTPUT_SIZES
    if isinstance(element, Joint) and name in JOINT_MOTION:
        return True
    if name == MULTIPLIER:
        return isinstance(element, Constraint) and not isinstance(element, Joint)
    return isinstance(element, Connection) and name in REACTION


class Places:
    """Where the values of symbols are in the vectors of a schedule; abstract.

    further   symbols that are not the model's: (symbol, vector, offset, rank) by the hash of the symbol
    """

    def __init__(self, passes):
        self.passes = passes
        self.further = {}

    def add(self, symbol, vector, offset, rank=None):
        """Declare the place of a scalar symbol that is not the model's; rank: the one that knows its value, None: all do."""
        self.further[symbol.element_hash()] = symbol, vector, offset, rank

    def symbols(self, expression):
        """Symbols in an expression, each as a column with its element and the name of the quantity; None for added ones."""
        found = [
            (ca.vec(getattr(element, name)), element, name)
            for element, name in owners_in(self.passes.system.model, ca.SX(expression))
        ]
        hashes = [s.element_hash() for s in ca.symvar(ca.SX(expression))] if self.further else []
        return found + [(self.further[x][0], None, None) for x in hashes if x in self.further]

    def arguments(self, expression):
        """Symbols in an expression, each as a column with the vector and the offset of its values."""
        return [(symbol, *self.place_of(symbol, element, name)) for symbol, element, name in self.symbols(expression)]

    def place_of(self, symbol, element, name):
        """Vector and offset of the values of one of the `symbols`."""
        if name is None:
            return self.further[symbol.element_hash()][1:3]
        return self.passes.input_place(symbol) if name == "symbol" else self.locate(element, name)

    def rank_of(self, symbol, element, name):
        """The rank that knows the values of one of the `symbols`; None if all do."""
        if name is None:
            return self.further[symbol.element_hash()][3]
        return None if name == "symbol" else self.passes.system.rank_of(element)

    @staticmethod
    def key_of(symbol, element, name):
        """A key of one of the `symbols`."""
        return symbol.element_hash() if name is None else (id(element), name)

    def locate(self, element, name):
        """Vector and offset of the values of a symbol of an element."""
        raise NotImplementedError

    def _of_ground(self, ground, name):
        """Vector and offset of the pose of a ground at rest, or of its velocities."""
        x, R = ground.reference
        numbers = {"position": x, "rotation": np.ravel(R, order="F")}
        return "constants", self.passes.constants.keep(numbers.get(name, np.zeros(3)))

    def _multiplier(self, constraint):
        """Vector and offset of the multipliers of a constraint that closes a loop."""
        return "lam", self.passes.first_row[id(constraint)]


class MotionPlaces(Places):
    """Places of poses and velocities, after the pass of the motion of all bodies; None: only joints and inputs occur.

    Multipliers are known in kernels that take them.
    """

    def __init__(self, passes, motion):
        super().__init__(passes)
        self.motion = motion

    def locate(self, element, name):
        passes = self.passes
        if name == MULTIPLIER:
            return self._multiplier(element)
        if isinstance(element, Ground):
            return self._of_ground(element, name)
        if isinstance(element, Joint):
            link = passes.system.link_in_rn(element)
            return "x", passes.q[link] if name == "coordinate" else passes.layout.q + passes.v[link]
        return "memory", self.motion.body[passes.system.link_of_body[id(element)]] + MOTION_STARTS[name]


class OutputPlaces(Places):
    """Places of everything in the outputs of a run.

    vector    vector that contains the outputs
    offsets   by name: the offset of each quantity in it
    """

    def __init__(self, passes, vector, offsets):
        super().__init__(passes)
        self.vector = vector
        self.offsets = offsets
        elements = passes.system.shown
        self.index = [{id(element): k for k, element in enumerate(group)} for group in elements]
        self.first_coordinate = block_offsets([joint.dof for joint in elements.joints])

    def locate(self, element, name):
        if name == MULTIPLIER:
            return self._multiplier(element)
        if isinstance(element, Ground):
            return self._of_ground(element, name)
        first = self.offsets[name]
        if name in OUTPUT_SIZES:
            return self.vector, first + OUTPUT_SIZES[name] * self.index[0][id(element)]
        if name in REACTION:
            return self.vector, first + 3 * self.index[2][id(element)]
        return self.vector, first + self.first_coordinate[self.index[1][id(element)]]


def add_expressions(schedule, expressions, places, vector, targets):
    """Append passes that compute scalar expressions. Those of the same shape are rows of one pass.

    places    `Places` of the symbols
    vector    vector of the results; targets: offset of each result
    """
    classes: dict = {}
    for expression, target in zip(expressions, targets):
        expression = ca.SX(at_paths(places.passes.system.model, expression))
        arguments = places.arguments(expression)
        symbols = [symbol for symbol, _, _ in arguments]
        shape, numbers = shape_of([expression], [time, *symbols])
        vectors = tuple(vector_of_symbol for _, vector_of_symbol, _ in arguments)
        key = vectors, tuple(s.shape[0] for s in symbols), shape
        classes.setdefault(key, []).append(([offset for _, _, offset in arguments], numbers, target))
    for (vectors, sizes, shape), rows in classes.items():
        numbers = np.array([row for _, row, _ in rows], float).reshape(len(rows), -1)
        column, c, data = fold_constants(numbers)
        symbols = [ca.SX.sym("s", size) for size in sizes]
        constants = ca.vertsplit(column) if numbers.shape[1] else []
        (value,) = shape.instantiate([time, *symbols], constants)
        f = function("expression", [time, *symbols, c], [value])
        first = np.zeros(len(rows), int)
        offsets = np.array([row for row, _, _ in rows], int).reshape(len(rows), -1).T
        stored = constant_rows(schedule.shared_constants, numbers[:, data])
        at = [target for _, _, target in rows]
        schedule.call([f], ["t", *vectors, "constants", vector], first, [first, *offsets, stored, at])
