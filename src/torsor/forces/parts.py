"""A force as data: what it has in common with others of its kind, its numbers, and the things that it acts on."""

from dataclasses import fields
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe.element import Owned, fill_in

PLACES = ("points", "frames", "point")  # fields that are turned into what is fixed in the bodies


class Parts(NamedTuple):
    """A force as what it has in common with those of its class, its numbers, and the things that it depends on."""

    key: tuple
    numbers: list
    ends: list


class Alike(NamedTuple):
    """What copies of a force share: names of the fields that are things it acts on, and all else that its fields say."""

    ends: tuple
    key: tuple
    numbers: list


def parts_of(force):
    """The parts of a force by its fields; None where an expression is in one."""
    shared, world = alike(force), force.world.reference
    if shared is None or not all(isinstance(x, np.ndarray) for x in world):
        return None
    x, R = world
    numbers = shared.numbers + x.tolist() + R.ravel(order="F").tolist()
    return Parts(shared.key, numbers, [getattr(force, name) for name in shared.ends])


def alike(force):
    """What its copies share; None where an expression is in a field. Kept with it until it changes."""
    if "_alike" not in vars(force):
        fill_in(force, _alike=_shared(force))
    return vars(force)["_alike"]


def _shared(force):
    key: list = [type(force)]
    numbers: list = []
    ends: list = []
    for f in fields(force):
        value = getattr(force, f.name)
        if f.name == "name":
            continue
        if isinstance(value, Owned):
            ends.append(f.name)
            continue
        if f.type in (int, "int"):
            key.append((f.name, int(value)))
            continue
        flat = _flat(None if f.name in PLACES else value)
        if flat is None:
            return None
        key.append((f.name, flat[0]))
        numbers += flat[1]
    return Alike(tuple(ends), tuple(key), numbers)


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
        return (*value.shape, 1, 1)[:2], value.ravel(order="F").tolist()
    try:
        x = value if isinstance(value, ca.SX) else ca.SX(value)
    except (NotImplementedError, TypeError):
        return None
    return (x.shape, ca.DM(ca.densify(x)).nonzeros()) if x.is_constant() else None
