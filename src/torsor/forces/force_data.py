"""A force as data: what it has in common with others of its kind, its numbers, and the things that it acts on."""

from dataclasses import fields
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..elements.element import Owned, fill_in

PLACES = ("points", "frames", "point")  # fields that are turned into what is fixed in the bodies


class Parts(NamedTuple):
    """A force as what it has in common with those of its class, its numbers, and the things that it depends on.

    given   numbers of its own;   world: place and rotation of what it is given in, further numbers
    inputs  symbols of parameters, memories and states in its expressions
    """

    key: tuple
    given: list
    ends: list
    world: tuple = ()
    inputs: tuple = ()

    @property
    def numbers(self):
        return self.given + [x for part in self.world for x in part.ravel(order="F").tolist()]


def rows_of(several):
    """Numbers of forces that have their key in common, row by row."""
    known = {id(parts.given): parts.given for parts in several}
    place = dict(zip(known, range(len(known))))
    given = np.array(list(known.values()), float).reshape(len(known), -1)[[place[id(parts.given)] for parts in several]]
    worlds = zip(*[parts.world for parts in several])
    return np.hstack([given, *(np.array(x).swapaxes(1, -1).reshape(len(several), -1) for x in worlds)])


class SharedData(NamedTuple):
    """What copies of a force share: names of the fields that are things it acts on, and all else that its fields say."""

    ends: tuple
    key: tuple
    numbers: list


def parts_of(force):
    """The parts of a force by its fields; None where an expression is in one."""
    shared, world = shared_data(force), force.world.reference
    if shared is None or not all(isinstance(x, np.ndarray) for x in world):
        return None
    return Parts(shared.key, shared.numbers, [getattr(force, name) for name in shared.ends], world)


def shared_data(force):
    """What its copies share; None where an expression is in a field. Kept with it until it changes."""
    if "_shared_data" not in vars(force):
        fill_in(force, _shared_data=_shared_frames(force))
    return vars(force)["_shared_data"]


def _shared_frames(force):
    if force.memories() or force.own_code:  # their symbols are its own
        return None
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
    return SharedData(tuple(ends), tuple(key), numbers)


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
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biuf":
            return None
        value = np.asarray(value, float)  # CasADi may crash on long doubles
        return (*value.shape, 1, 1)[:2], value.ravel(order="F").tolist()
    try:
        x = value if isinstance(value, ca.SX) else ca.SX(value)
    except (NotImplementedError, TypeError):
        return None
    return (x.shape, ca.DM(ca.densify(x)).nonzeros()) if x.is_constant() else None
