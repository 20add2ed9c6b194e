"""Functions of other programs in expressions, called like tables (`lookup_calls.py`): what is stored under their numbers.

    y₁ … yₘ = f(u₁ … uₙ),      n ≥ 3                                                                      (1)

Native code calls back into Python with the address of a record and that of the arguments, and gets the address of the row of
results. f must not have a memory: what it depends on besides is an argument, too.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .interval_search import keep
from .lookup_calls import lookup

FEWEST = 3  # arguments: with fewer it would be a table
_ROW = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class ForeignContent:
    """What the model keeps of a function: how another process makes it again.

    make   a function at the top of a module, called with `given`, that stores it and returns its content
    """

    outside, smooth, points = "none", 0, ()
    number: float  # under which it is stored
    failure = ""  # why it had no value last

    def __init__(self, name: str, make: Callable[..., Any], given: tuple):
        self.name, self.make, self.given = name, make, given

    def bends(self, axis: int = 0) -> np.ndarray:
        """Arguments at which it is known to jump: none."""
        return np.zeros(0)

    def __reduce__(self):
        return self.make, self.given

    def __repr__(self):
        return self.name


class ForeignFunction:
    """A function of other programs, equation (1).

    values     f: an array of arguments to a new array of results
    jacobian   number of the function that gives ∂y/∂u, row by row; None: it is zero
    """

    def __init__(self, arguments: int, width: int, values: Callable, content: ForeignContent, jacobian: float | None):
        if arguments < FEWEST:
            raise ValueError(f"a function of another program has {FEWEST} arguments or more")
        self.axes, self.width, self.values = (None,) * arguments, width, values
        self.content, self.jacobian = content, jacobian
        self._rows, self._numbers = threading.local(), ctypes.c_double * arguments
        self._call = _ROW(self._answer)  # kept, since native code calls it
        self.record = np.array([ctypes.cast(self._call, ctypes.c_void_p).value], np.uint64)

    @property
    def address(self) -> int:
        return self.record.ctypes.data

    def _answer(self, record, given):
        numbers: Any = self._numbers.from_address(given)
        row = self.values(np.frombuffer(numbers))
        self._rows.row = row  # kept until the next call of this thread
        return row.ctypes.data

    def rows_at(self, *u: Any) -> np.ndarray:
        """Results at arguments that are numbers."""
        return self.values(np.array([float(x) for x in u]))


def store_function(
    number: float, arguments: int, width: int, values: Callable, jacobian: Callable, content: ForeignContent
) -> Any:
    """Store a function under a number, and its Jacobian (arguments x width numbers, row by row) under the next one. Second
    derivatives are taken to be zero."""
    content.number = number
    zero = lambda u: np.zeros(arguments**2 * width)
    keep(number + 2, lambda: ForeignFunction(arguments, arguments**2 * width, zero, content, None))
    keep(number + 1, lambda: ForeignFunction(arguments, arguments * width, jacobian, content, None))
    return keep(number, lambda: ForeignFunction(arguments, width, values, content, number + 1))


def call_function(number: float, arguments: list, width: int) -> list:
    """The results as expressions of the arguments."""
    return lookup(number, arguments, width)
