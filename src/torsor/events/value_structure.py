"""Numbers that travel together, in the form in which a user writes them: one number, several in a list, or several by name.

Inside they are one column, in which matrices stand row by row. A bundle knows the form, and goes both ways: numbers or
expressions, whatever the column is made of.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity

NUMBER, LIST, NAMED = "number", "list", "named"


@dataclass(frozen=True)
class Bundle:
    """A form: its kind, and names with the shape of the array that each stands for, () for a number."""

    kind: str
    parts: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, given: Any, name: str, listed: bool, owner: str) -> tuple["Bundle", ca.SX]:
        """The structure of a value, and its numbers as a column.

        name     of what has none of its own
        listed   whether a single number is a list of one
        """
        if isinstance(given, Mapping):
            shaped = {key: _column_and_shape(x, f"{name} {quantity.show(key)}", owner) for key, x in given.items()}
            parts = tuple((key, shape) for key, (_, shape) in shaped.items())
            return cls(NAMED, parts), ca.vertcat(ca.SX(0, 1), *[column for column, _ in shaped.values()])
        if isinstance(given, (list, tuple)) and not given:
            return cls(LIST, ((name, (0,)),)), ca.SX(0, 1)
        column, shape = _column_and_shape(given, name, owner)
        if listed or isinstance(given, (list, tuple)):
            return cls(LIST, ((name, (column.shape[0],)),)), column
        return cls(NUMBER if shape == () else LIST, ((name, shape),)), column

    @property
    def names(self) -> list[str]:
        """One name per number."""
        return [
            f"{name}[{', '.join(map(str, place))}]" if place else name
            for name, shape in self.parts
            for place in np.ndindex(shape)
        ]

    def restore_form(self, column: np.ndarray) -> Any:
        """An array in the form that was given: itself, a number, or a dictionary of numbers and arrays."""
        if self.kind == LIST:
            return column.reshape(self.parts[0][1]) if self.parts else column
        found, at = {}, 0
        for name, shape in self.parts:
            size = math.prod(shape)
            found[name] = column[at : at + size].reshape(shape) if shape else column[at]
            at += size
        return found if self.kind == NAMED else found[self.parts[0][0]]

    def flatten(self, value: Any) -> list[Any]:
        """The entries of something in that form; a ValueError that says what is wrong with any other."""
        if self.kind != NAMED:
            return entries(value, len(self.names))
        wanted = [name for name, _ in self.parts]
        if not isinstance(value, Mapping) or set(value) != set(wanted):
            raise ValueError(f"{quantity.show(value)}, not a dictionary with {', '.join(map(repr, wanted))}")
        return [x for name, shape in self.parts for x in entries(value[name], math.prod(shape))]


NOTHING = Bundle(LIST, ())


def _column_and_shape(given, what, owner):
    """What was given as a column, row by row, and its shape: () of a number, (n,) of several, (m, n) of a matrix."""
    if isinstance(given, (list, tuple)):  # of whatever: one after the other
        parts = [_column_and_shape(x, what, owner)[0] if _is_matrix(x) else x for x in given]
        column = quantity.column(parts, what, owner)
        return column, (column.shape[0],)
    if not _is_matrix(given):
        column = quantity.column(given, what, owner)
        several = isinstance(given, np.ndarray) and given.ndim > 0
        return column, (column.shape[0],) if several or not column.is_scalar() else ()
    return quantity.column(given.T, what, owner), given.shape


def _is_matrix(given):
    return (
        given.ndim == 2 if isinstance(given, np.ndarray) else isinstance(given, (ca.SX, ca.DM)) and given.shape[1] > 1
    )


def entries(value: Any, count: int) -> list[Any]:
    """So many numbers or expressions; a ValueError for anything else."""
    if isinstance(value, float) and count == 1:  # by far the most common
        return [float(value)]
    try:
        found = list(_flat(value))
    except Exception:  # whatever a user's class raises when it is converted to numbers
        raise ValueError(f"{quantity.show(value)}, not {_numbers(count)}") from None
    if len(found) != count:
        raise ValueError(f"{quantity.show(value)}, {_numbers(len(found))} instead of {count}")
    return found


def _flat(value):
    """The numbers and expressions in lists and arrays, one by one."""
    if isinstance(value, (ca.SX, ca.DM)):
        yield from ca.vertsplit(ca.vec(ca.SX(value).T))
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for x in value:
            yield from (x,) if type(x) is float else _flat(x)
    else:
        yield from quantity.reals(value).ravel().tolist()


def array(expressions: Sequence[ca.SX]) -> np.ndarray:
    """Expressions as an array of NumPy, with which functions can calculate as with one of numbers."""
    found = np.empty(len(expressions), object)
    found[:] = list(expressions)
    return found


def scalars(column: ca.SX) -> tuple[ca.SX, ...]:
    """The entries of a column, which may be empty."""
    return tuple(ca.vertsplit(column)) if column.numel() else ()


def _numbers(count):
    return "a number" if count == 1 else f"{count} numbers"
