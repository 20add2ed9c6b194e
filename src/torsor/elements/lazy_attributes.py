"""Attributes that are made at their first use: symbols, and expressions of the numbers of an element.

A model of a hundred thousand bodies is mostly numbers; symbols are made for those of its signals that somebody uses.
"""

from threading import RLock
from typing import Any

import casadi as ca
import numpy as np

from . import quantity
from .assignments import freeze_entries

MAKING = RLock()  # of what is made on demand: once, whoever asks


class Signal:
    """A symbol of a thing: made at its first use and registered with the model; the same one from then on.

    kind     what it stands for, see `element.py`; `homeless` for a thing that is a particle
    shape    rows and columns, or a function of the thing that returns the rows; None instead of rows: there is none yet
    """

    def __init__(self, kind, *shape, homeless=None):
        self.kind, self.shape, self.homeless = kind, shape, homeless or kind

    def __set_name__(self, cls, name):
        self.name, self.kept = name, f"_{name}"

    def __get__(self, thing, cls=None) -> Any:
        if thing is None:
            return self
        try:
            return getattr(thing, self.kept)
        except AttributeError:
            return self._make(thing)

    def __set__(self, thing, symbol):
        home = thing._home
        if home is not None:
            home._symbols.update(self.kinds(thing, symbol))
        object.__setattr__(thing, self.kept, symbol)
        object.__setattr__(thing, "_signals", (*(name for name in thing._signals if name != self.name), self.name))

    def _make(self, thing):
        with MAKING:
            if not hasattr(thing, self.kept):
                shape = [size(thing) if callable(size) else size for size in self.shape]
                if None in shape:
                    return None
                self.__set__(thing, freeze_entries(quantity.symbol(f"{thing.name}.{self.name}", *shape)))
        return getattr(thing, self.kept)

    def kinds(self, thing, symbol):
        """What its scalar symbols stand for, by their identity."""
        kind = self.homeless if getattr(thing, "particle", False) else self.kind
        return {s.element_hash(): kind for s in ca.symvar(symbol)}


def symbols_of(thing):
    """The scalar symbols of a thing that were used so far, with their kind: {identity: kind}."""
    found: dict = {}
    for name in thing._signals:
        found |= getattr(type(thing), name).kinds(thing, getattr(thing, name))
    return found


class Quantity:
    """A quantity that is kept as numbers where it is made of them, and read as an SX."""

    def __set_name__(self, cls, name):
        self.name, self.kept = name, f"_{name}"

    def __get__(self, thing, cls=None) -> Any:
        if thing is None:
            return None  # the default of a field
        value = getattr(thing, self.kept)
        if not self.numeric(value):
            return value
        made = thing.__dict__.setdefault("_expressions", {})
        if self.name not in made:
            made[self.name] = self.expression(value)
        return made[self.name]

    def __set__(self, thing, value):
        value = None if value is self else value  # itself: the default of a field, too
        object.__setattr__(thing, self.kept, self.simplify(value))
        if thing._expressions is not None:
            thing._expressions.pop(self.name, None)

    def simplify(self, value):
        """An SX without symbols as numbers."""
        if not isinstance(value, ca.SX):
            return value
        found = quantity.numbers_or(value)
        return freeze_entries(ca.SX(found)) if isinstance(found, ca.SX) else found

    def __repr__(self):
        return "None"  # what it stands for as the default of a field

    def numeric(self, value):
        return isinstance(value, (float, np.ndarray))

    def expression(self, value):
        return freeze_entries(ca.SX(value))


class Frames(Quantity):
    """Two poses, as numbers in one array (2, 4, 4), or as two SX."""

    def numeric(self, value):
        return isinstance(value, np.ndarray) and value.shape == (2, 4, 4) and value.dtype == float

    def simplify(self, value):
        plain = type(value) is tuple and all(isinstance(H, ca.SX) and H.is_constant() for H in value)
        return np.array([quantity.numbers_or(H) for H in value]) if plain and len(value) == 2 else value

    def expression(self, value):
        return tuple(freeze_entries(ca.SX(H)) for H in value)


class Start(Quantity):
    """What a user gave, as it was given; once it is a column of numbers, read as an SX."""

    def simplify(self, value):
        return value

    def numeric(self, value):
        return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == float


_KEPT: dict = {}


def storage_name(cls, name):
    """Name of the attribute that a quantity of a class is kept in; anything else is kept under its own."""
    if (cls, name) not in _KEPT:
        found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        _KEPT[cls, name] = f"_{name}" if isinstance(found, Quantity) else name
    return _KEPT[cls, name]


def storage_of(thing, name):
    """A quantity as it is kept: as numbers, where it is made of them."""
    return getattr(thing, storage_name(type(thing), name))
