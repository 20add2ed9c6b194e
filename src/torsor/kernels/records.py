"""Data with named fields, at one place in memory: Python and compiled code see the same.

    class Clock(Record):
        time: REAL
        ticks: COUNT
        marks: VECTOR

    clock = Clock(time=0.5, marks=np.zeros(3))
    clock.time += 0.1

Numbers stand in the record itself. An array is kept alive by the record, which holds its address and sizes, and a record in
a record by its address. Compiled code is handed the address of one record, from which it finds everything (`compiled`).
"""

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np


class Array:
    """The kind of a field that is a C-contiguous array of so many dimensions."""

    def __init__(self, dtype, dimensions=1):
        self.dtype, self.dimensions = np.dtype(dtype), dimensions

    def slots(self, name):
        return [(name, ctypes.c_void_p), *[(f"{name}.{k}", ctypes.c_int64) for k in range(self.dimensions)]]


if TYPE_CHECKING:  # what fields of these kinds are for readers of a record
    REAL = float
    COUNT = int
    VECTOR = np.ndarray
    MATRIX = np.ndarray
    INDICES = np.ndarray
    COMPLEX = np.ndarray
else:
    REAL, COUNT = ctypes.c_double, ctypes.c_int64
    VECTOR, MATRIX, INDICES, COMPLEX = Array(float), Array(float, 2), Array(np.int64), Array(complex)


def rows(**fields):
    """Type of the rows of a table: REAL or COUNT by name."""
    return np.dtype([(name, float if kind is REAL else np.int64) for name, kind in fields.items()])


def table(kind, entries):
    """A table from entries by field name; a field that an entry leaves out is 0."""
    found = np.zeros(len(entries), kind)
    for k, entry in enumerate(entries):
        for name, value in entry.items():
            found[name][k] = value
    return found


class Record:
    """Base of all records; a subclass declares its fields by annotations."""

    fields: dict = {}
    memory: Any  # the type of its memory: a structure of ctypes

    def __init_subclass__(cls):
        cls.fields = {**cls.fields, **cls.__annotations__}
        slots = []
        for name, kind in cls.fields.items():
            if isinstance(kind, Array):
                slots += kind.slots(name)
            else:
                slots.append((name, kind if kind in (REAL, COUNT) else ctypes.c_void_p))
            setattr(cls, name, _number(name, kind) if kind in (REAL, COUNT) else _reference_property(name, kind))
        cls.memory = type(f"{cls.__name__}Memory", (ctypes.Structure,), {"_fields_": slots})

    def __init__(self, **values):
        self._memory, self._held = self.memory(), {}
        for name, kind in self.fields.items():
            if name in values:
                setattr(self, name, values.pop(name))
            elif isinstance(kind, Array):
                setattr(self, name, np.zeros((0,) * kind.dimensions, kind.dtype))
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    @property
    def address(self):
        return ctypes.addressof(self._memory)

    def words(self):
        """Its own memory, as whole numbers: numbers, and where arrays and records are."""
        return np.frombuffer(self._memory, np.int64)

    @classmethod
    def offset(cls, slot):
        return getattr(cls.memory, slot).offset

    def snapshot(self):
        """Copies of all numbers and arrays, by name."""
        numbers = {n: np.array([getattr(self, n)]) for n, kind in self.fields.items() if kind in (REAL, COUNT)}
        return numbers | {n: plain(x).copy() for n, x in self._held.items() if isinstance(x, np.ndarray)}

    def clear(self):
        """Zero everywhere; arrays keep their places, and records stay."""
        for name, kind in self.fields.items():
            if kind in (REAL, COUNT):
                setattr(self._memory, name, 0)
            elif isinstance(kind, Array):
                plain(self._held[name])[...] = 0

    def restore(self, arrays):
        """Back to a snapshot; arrays keep their places."""
        for name, kind in self.fields.items():
            if kind in (REAL, COUNT):
                setattr(self, name, arrays[name][0].item())
            elif isinstance(kind, Array):
                plain(getattr(self, name))[...] = arrays[name]


def plain(x):
    """An array of numbers with the same memory."""
    return x if x.dtype.names is None else x.view(np.int64)


def _number(name, kind):
    plain = float if kind is REAL else int
    return property(lambda self: getattr(self._memory, name), lambda self, x: setattr(self._memory, name, plain(x)))


def _reference_property(name, kind):
    """Arrays and records."""

    def hold(self, x):
        if isinstance(kind, Array):
            x = np.ascontiguousarray(x, kind.dtype)
            if x.ndim != kind.dimensions:
                raise TypeError(f"{type(self).__name__}.{name} must have {kind.dimensions} dimensions, got {x.ndim}")
            for k, size in enumerate(x.shape):
                setattr(self._memory, f"{name}.{k}", size)
        setattr(self._memory, name, x.ctypes.data if isinstance(kind, Array) else x.address)
        self._held[name] = x

    return property(lambda self: self._held[name], hold)
