"""What a user gives as a quantity: numbers, which stay numbers, or an expression that contains symbols.

Numbers are kept as they are calculated with, a float or an array of float64, and cost no expression. What asks for an
expression of them gets one from `constant`.
"""

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError

SMALLEST, LARGEST = 1e-100, 1e100  # of masses, lengths, times …: their squares and products are numbers, too
PLAIN = frozenset({float, int, np.float64, np.int64})


def show(value):
    """A given value, short enough for a message."""
    try:
        text = repr(value)
    except Exception:  # of a stranger's class
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def instead(value):
    """What to write in the place of a function, as the end of a message; empty for anything else."""
    if not callable(value):
        return ""
    return (
        ". A function cannot be called while a model runs; write an expression of torsor.time and other signals, as in "
        "`-4 * joint.rate + numpy.sin(torsor.time)`, or give the function to a torsor.Controller, which calls it at sample "
        "instants and whose outputs may be used here"
    )


def given(value, rows, columns, what, owner) -> Any:
    """`value` as numbers of the given shape (a float, an array of `rows`, or of `rows` and `columns`), or as an SX where it
    contains symbols; a ModelError that names `owner` and `what` for anything else."""
    found = _numbers(value, rows, columns)
    if found is not None:
        return found
    allowed = "a number" if rows * columns == 1 else f"{rows} numbers" if columns == 1 else f"a {rows}x{columns} matrix"
    try:
        result = matrix(value)
    except Exception:  # whatever a user's class raises when it is converted to numbers
        raise ModelError(
            f"{owner}: {what} must be {allowed} (numbers or expressions), got {show(value)}{instead(value)}"
        ) from None
    if result.shape != (rows, columns):
        raise ModelError(f"{owner}: {what} must be {allowed}, got {show(value)}")
    result = ca.densify(result)
    if not finite(result):
        raise ModelError(f"{owner}: {what} must be finite, got {show(value)}")
    if any(x.is_constant() and abs(float(x)) > LARGEST for x in result.nonzeros()):
        raise ModelError(f"{owner}: {what} must not be larger than {LARGEST:g}, got {show(value)}")
    return numbers_or(result)


def numbers_or(expression) -> Any:
    """A dense SX as numbers, shaped as by `given`, where it is made of them; else as it is."""
    if not expression.is_constant() or not expression.numel():
        return expression
    found = np.array(ca.DM(expression), float).reshape(expression.shape)
    return found.item() if found.size == 1 else found.ravel() if found.shape[1] == 1 else found


def constant(value):
    """Numbers as an SX; an SX as it is."""
    return value if isinstance(value, ca.SX) else ca.SX(value)


def is_number(value):
    """Whether a quantity is made of numbers, and not an expression of symbols."""
    return not isinstance(value, ca.SX)


def _numbers(value, rows, columns):
    """Ordinary numbers of this shape; None for anything else, which takes a closer look."""
    kind = type(value)
    if kind is tuple or kind is list:
        if (
            columns == 1
            and rows
            and len(value) == rows
            and all(type(x) in PLAIN and -LARGEST <= x <= LARGEST for x in value)
        ):
            return np.array(value, float) + 0.0 if rows > 1 else float(value[0]) + 0.0  # there is no −0.0 in an SX
        if columns > 1 and len(value) == rows:
            found = [_numbers(row, columns, 1) if type(row) in (tuple, list, np.ndarray) else None for row in value]
            return None if any(row is None for row in found) else np.array(found)
    elif kind in PLAIN:
        return float(value) + 0.0 if rows * columns == 1 and -LARGEST <= value <= LARGEST else None
    elif kind is np.ndarray and value.dtype == float and value.size == rows * columns > 1:
        flat = value.shape in ((rows,), (rows, 1)) if columns == 1 else value.shape == (rows, columns)
        if flat and -LARGEST <= value.min() and value.max() <= LARGEST:
            return (value.ravel() if columns == 1 else value) + 0.0
    return None


def matrix(value):
    """A number, a list (a column), a list of lists (rows), an array or an expression as an SX; an error for anything else."""
    if isinstance(value, (ca.SX, ca.DM)):
        return ca.SX(value)
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object and value.ndim):
        parts = [matrix(x) for x in value]
        if all(x.is_scalar() for x in parts):
            return ca.vertcat(ca.SX(0, 1), *parts)
        if any(x.shape != parts[0].shape or x.shape[1] != 1 for x in parts):
            raise ValueError
        return ca.horzcat(*parts).T
    return ca.SX(reals(value))


def _float(x):
    """A real number of any kind; infinite beyond the range of float64."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def reals(value):
    """Real numbers of any kind as an array of float64, the one kind that CasADi takes without harm; TypeError for what is
    none: text, dates, complex, missing and masked numbers, truth values."""
    if np.ma.is_masked(value):
        raise TypeError("some numbers are masked")
    array = np.asarray(value)
    if array.dtype == object:
        known = all(isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.timedelta64)) for x in array.flat)
        array = np.array([_float(x) for x in array.flat] if known else [None]).reshape(array.shape if known else 1)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is no real number")
    with np.errstate(over="ignore"):  # beyond the range: infinite, and judged as such
        return array.astype(float)


def number(value):
    """A real number as a float; None for anything else."""
    try:
        array = reals(value)
    except Exception:
        return None
    return float(array.item()) if array.ndim == 0 else None


def short(value):
    """A number or an array of long doubles as floats, of long complex numbers as complex ones; anything else as it is."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.char not in "gG":
        return value
    with np.errstate(over="ignore"):
        return value.astype(complex if value.dtype.char == "G" else float)


def plain(value, depth=3):
    """The same with long doubles, in arrays, lists and tuples too, as floats: CasADi crashes on them."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = short(value)
        return [plain(x, depth) for x in value] if value.dtype == object and value.ndim == 1 else value
    if type(value) in (list, tuple) and depth and not PLAIN.issuperset(map(type, value)):
        parts = [plain(x, depth - 1) for x in value]
        return value if all(a is b for a, b in zip(parts, value)) else type(value)(parts)
    return value


def unchanging(value):
    """The same as it cannot be changed in place: tuples for lists, and for arrays of numbers in rows and columns."""
    kind = type(value)
    if kind is tuple and PLAIN.issuperset(map(type, value)):
        return value
    if kind is np.ndarray and value.dtype == float and value.ndim in (1, 2):
        return unchanging(value.tolist())
    return tuple(map(unchanging, value)) if kind is list or kind is tuple else value


def finite(value):
    """False if a number in an expression, at any depth, is not one, or if an entry is infinite."""
    if value.is_constant():
        return value.is_regular()
    entries = value.nonzeros()
    if any(x.is_constant() and not x.is_regular() for x in entries):
        return False
    if all(x.is_constant() or x.is_symbolic() for x in entries):
        return True
    f = ca.Function("expression", ca.symvar(value), [value])
    return not any(
        f.instruction_id(k) == ca.OP_CONST and np.isnan(f.instruction_constant(k)) for k in range(f.n_instructions())
    )
