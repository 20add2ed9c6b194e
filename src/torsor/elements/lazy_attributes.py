"""Attributes that are created at their first use: symbols, and expressions of the numbers of an element.

A model of a hundred thousand bodies consists mostly of numbers; only the signals that are used get symbols.
"""

from threading import RLock
from typing import Any

import casadi as ca
import numpy as np

from . import quantity
from .assignments import freeze_entries

CREATION_LOCK = RLock()  # so that threads create an attribute once


class Signal:
    """Descriptor of a symbol that is created at its first use and registered with the model.

    kind     kind of the symbol, see `element.py`; `particle_kind` is used for particles
    shape    rows and columns, or a function of the thing that returns the rows; None as rows: there is no symbol yet
    """

    def __init__(self, kind, *shape, particle_kind=None):
        self.kind, self.shape, self.particle_kind = kind, shape, particle_kind or kind

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
        with CREATION_LOCK:
            if not hasattr(thing, self.kept):
                shape = [size(thing) if callable(size) else size for size in self.shape]
                if None in shape:
                    return None
                self.__set__(thing, freeze_entries(quantity.symbol(f"{thing.name}.{self.name}", *shape)))
        return getattr(thing, self.kept)

    def kinds(self, thing, symbol):
        """Return the kind of each scalar symbol: {element hash: kind}."""
        kind = self.particle_kind if getattr(thing, "particle", False) else self.kind
        return {s.element_hash(): kind for s in ca.symvar(symbol)}


def symbols_of(thing):
    """Return the kinds of the scalar symbols of a thing that were created so far: {element hash: kind}."""
    found: dict = {}
    for name in thing._signals:
        found |= getattr(type(thing), name).kinds(thing, getattr(thing, name))
    return found


class Quantity:
    """Descriptor of a quantity that is stored as numbers if it contains no symbols, and read as an SX."""

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
        value = None if value is self else value  # a dataclass passes the descriptor itself as the default
        object.__setattr__(thing, self.kept, self.simplify(value))
        if thing._expressions is not None:
            thing._expressions.pop(self.name, None)

    def simplify(self, value):
        """Convert an SX without symbols to numbers."""
        if not isinstance(value, ca.SX):
            return value
        found = quantity.numbers_or(value)
        return freeze_entries(ca.SX(found)) if isinstance(found, ca.SX) else found

    def __repr__(self):
        return "None"  # the default of the field, as `help` shows it

    def numeric(self, value):
        return isinstance(value, (float, np.ndarray))

    def expression(self, value):
        return freeze_entries(ca.SX(value))


class Frames(Quantity):
    """Descriptor of two poses, stored as numbers in one array (2, 4, 4) or as two SX."""

    def numeric(self, value):
        return isinstance(value, np.ndarray) and value.shape == (2, 4, 4) and value.dtype == float

    def simplify(self, value):
        plain = type(value) is tuple and all(isinstance(H, ca.SX) and H.is_constant() for H in value)
        return np.array([quantity.numbers_or(H) for H in value]) if plain and len(value) == 2 else value

    def expression(self, value):
        return tuple(freeze_entries(ca.SX(H)) for H in value)


class Start(Quantity):
    """Descriptor of a start value: stored as the user gave it; read as an SX once it is a column of numbers."""

    def simplify(self, value):
        return value

    def numeric(self, value):
        return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == float


_KEPT: dict = {}


def storage_name(cls, name):
    """Return the name of the attribute that stores a field of a class."""
    if (cls, name) not in _KEPT:
        found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        _KEPT[cls, name] = f"_{name}" if isinstance(found, Quantity) else name
    return _KEPT[cls, name]


def storage_of(thing, name):
    """Return a quantity as it is stored: as numbers if it contains no symbols."""
    return getattr(thing, storage_name(type(thing), name))
