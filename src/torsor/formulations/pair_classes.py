"""Contacts in number by classes: pairs of shapes of two kinds share their code, and a search finds those that are near each other.

The wrenches of a pair on both bodies, and its power, are added to sums (`schedule.PairPass`).
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..elements.shapes import SIZES
from ..forces.contact_geometry import ShapeAt, touches
from ..forces.contact_group import SHAPE_KINDS
from ..forces.contact_law import LAW_NUMBERS, ContactLaw
from ..lookup.pair_records import facts_of
from .algebra.lie_derivative import velocities
from .tables.recursion_classes import function
from .tables.row_classes import Moving

SHAPE_SIZE = 3  # numbers of the largest size of a shape
SHAPE_DATA = SHAPE_SIZE + 3 + 9  # size, position and rotation of a shape in its body
PAIR_WRENCH = 6  # numbers that a pair adds to each wrench


class PairClass(NamedTuple):
    """Pairs of kinds, numbers of the kinds of shapes, and the function of each pair."""

    kinds: list
    functions: list


def numbers_of_group(group):
    """Stiffness, exponent, damping, friction and slip speed of a group."""
    return np.array([float(ca.SX(getattr(group, what))) for what in LAW_NUMBERS])


def data_of_group(group):
    """Size and place of each shape, row by row."""
    rows = np.zeros((len(group.bodies), SHAPE_DATA))
    for row, size, (x, R) in zip(rows, group.sizes, group.places):
        row[: len(size)], row[SHAPE_SIZE : SHAPE_SIZE + 3], row[SHAPE_SIZE + 3 :] = (
            size,
            np.ravel(x),
            np.ravel(R, order="F"),
        )
    return rows


def facts_of_group(group, ends):
    """What the search knows of each shape; ends: numbers of the bodies and grounds."""
    planes = []
    for kind, (x, R) in zip(group.kinds, group.places):
        normal = np.asarray(R)[:, 2]
        planes.append((normal, float(normal @ np.ravel(x))) if SHAPE_KINDS[kind] == "plane" else None)
    return facts_of(np.array(group.radii()), ends, np.array(group.families), planes)


def pair_classes(group):
    """The classes of all pairs of kinds in a group."""
    several = sorted(set(group.kinds))
    count = {kind: group.kinds.count(kind) for kind in several}
    kinds = [
        (a, b) for a in several for b in several if a < b or (a == b and count[a] > 1 and SHAPE_KINDS[a] != "plane")
    ]
    numbers = numbers_of_group(group)
    return PairClass(kinds, [_pair_function(SHAPE_KINDS[a], SHAPE_KINDS[b], group.law, numbers) for a, b in kinds])


def _pair_function(first, second, law, numbers):
    """The function of one pair: motions and data of both, and the numbers of the law → wrenches on both, power, potential."""
    ends: list[Any] = [Moving(), Moving()]
    data = [ca.SX.sym("data", SHAPE_DATA) for _ in range(2)]
    column = ca.SX.sym("numbers", len(numbers))
    stiffness, _, damping, friction, slip_speed = ca.vertsplit(column)
    exponent, friction = ca.SX(numbers[1]), friction if numbers[3] else ca.SX(0)
    contact = ContactLaw(stiffness, exponent, damping, friction, slip_speed, law)
    shapes = []
    for kind, end, own in zip((first, second), ends, data):
        R = end.rotation @ ca.reshape(own[SHAPE_SIZE + 3 :], 3, 3)
        x = end.position + end.rotation @ own[SHAPE_SIZE : SHAPE_SIZE + 3]
        shapes.append(ShapeAt(kind, ca.vertsplit(own[: SIZES[kind]]), x, R))
    wrenches = [ca.SX.zeros(PAIR_WRENCH), ca.SX.zeros(PAIR_WRENCH)]
    for velocity, effort in contact.efforts(contact.pressures(touches(*shapes), *ends)):
        for k, end in enumerate(ends):
            wrenches[k] += ca.jacobian(velocity, velocities(end)).T @ effort
    power = sum(ca.dot(wrench, velocities(end)) for wrench, end in zip(wrenches, ends))
    return function("pair", [*(end.motion for end in ends), *data, column], [ca.vertcat(*wrenches, power, 0)])
