"""A force as data: what it has in common with others of its kind, its numbers, and the things that it acts on."""

from dataclasses import fields
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe.element import Owned

PLACES = ("points", "frames", "point")  # fields that are turned into what is fixed in the bodies


class Parts(NamedTuple):
    """A force as what it has in common with those of its class, its numbers, and the things that it depends on."""

    key: tuple
    numbers: list
    ends: list


def parts_of(force, known=None):
    """The parts of a force by its fields; None where an expression is in one.

    known   what values are made of, by their identity: forces of components that are alike share them
    """
    known = {} if known is None else known
    key: list = [type(force)]
    numbers: list = []
    ends: list = []
    for f in fields(force):
        value = getattr(force, f.name)
        if f.name == "name":
            continue
        if isinstance(value, Owned):
            ends.append(value)
            continue
        if f.type in (int, "int"):
            key.append((f.name, int(value)))
            continue
        flat = _known(None if f.name in PLACES else value, known)
        if flat is None:
            return None
        key.append((f.name, flat[0]))
        numbers += flat[1]
    world = _flat(force.world.reference)
    return None if world is None else Parts(tuple(key), numbers + world[1], ends)


def _known(value, known):
    if isinstance(value, float) or value is None:
        return _flat(value)
    if id(value) not in known:
        known[id(value)] = value, _flat(value)
    return known[id(value)][1]


def _flat(value):
    """A value as what is no number in it, and its numbers."""
    if value is None or isinstance(value, (str, bool)):
        return value, []
    if isinstance(value, (tuple, list)):
        inner = [_flat(x) for x in value]
        return (
            None if any(x is None for x in inner) else (tuple(k for k, _ in inner), [x for _, xs in inner for x in xs])
        )
    if isinstance(value, float):
        return (1, 1), [value]
    if isinstance(value, np.ndarray) and value.dtype == float:
        return value.shape, value.ravel(order="F").tolist()
    try:
        x = value if isinstance(value, ca.SX) else ca.SX(value)
    except (NotImplementedError, TypeError):
        return None
    return (x.shape, ca.DM(ca.densify(x)).nonzeros()) if x.is_constant() else None
