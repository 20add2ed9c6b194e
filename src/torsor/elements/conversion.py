"""Conversion of quantities as users write them: to numbers, or to an expression if they contain symbols.

Numbers are stored as a float or an array of float64, not as an expression. Where an expression is needed, `constant` makes
one from them.
"""

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError

SMALLEST, LARGEST = (
    1e-100,
    1e100,
)  # range of masses, lengths, times …: squares and products neither underflow nor overflow
PLAIN = frozenset({float, int, np.float64, np.int64})


def show(value):
    """Return a given value as text, shortened for a message."""
    try:
        text = repr(value)
    except Exception:  # whatever the class of a user raises
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def instead(value):
    """Return the end of a message that says what to write instead of a function; empty if the value is not a function."""
    if not callable(value):
        return ""
    return (
        ". A function cannot be called while a model runs; write an expression of torsor.time and other signals, as in "
        "`-4 * joint.rate + numpy.sin(torsor.time)`, or give the function to a torsor.Controller, which calls it at sample "
        "instants and whose outputs may be used here"
    )


def given(value, rows, columns, what, owner) -> Any:
    """Convert `value` to numbers of the given shape (a float, an array of `rows`, or of `rows` and `columns`), or to an SX if
    it contains symbols. Anything else raises a ModelError that names `owner` and `what`."""
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
    """Convert a dense SX without symbols to numbers, shaped as by `given`; return any other expression unchanged."""
    if not expression.is_constant() or not expression.numel():
        return expression
    found = np.array(ca.DM(expression), float).reshape(expression.shape)
    return found.item() if found.size == 1 else found.ravel() if found.shape[1] == 1 else found


def constant(value):
    """Convert numbers to an SX; return an SX unchanged."""
    return value if isinstance(value, ca.SX) else ca.SX(value)


def is_number(value):
    """True if a quantity is made of numbers, False if it is an expression."""
    return not isinstance(value, ca.SX)


def _numbers(value, rows, columns):
    """Convert ordinary numbers of this shape, as a fast path of `given`; None for anything else."""
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
    """Convert a number, a list (a column), a list of lists (rows), an array or an expression to an SX.

    Anything else raises an exception of any kind.
    """
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
    """Convert a real number of any kind to a float; infinite beyond the range of float64."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def reals(value):
    """Convert real numbers of any kind to an array of float64, the only type that CasADi reads without loss.

    Text, dates, complex, missing and masked numbers and truth values raise a TypeError.
    """
    if np.ma.is_masked(value):
        raise TypeError("some numbers are masked")
    array = np.asarray(value)
    if array.dtype == object:
        known = all(isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.timedelta64)) for x in array.flat)
        array = np.array([_float(x) for x in array.flat] if known else [None]).reshape(array.shape if known else 1)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is no real number")
    with np.errstate(over="ignore"):  # numbers beyond the range become infinite; callers refuse them
        return array.astype(float)


def number(value):
    """Convert a real number to a float; None for anything else."""
    try:
        array = reals(value)
    except Exception:
        return None
    return float(array.item()) if array.ndim == 0 else None


def short(value):
    """Convert long doubles to floats, and long complex numbers to complex ones; return anything else unchanged."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.char not in "gG":
        return value
    with np.errstate(over="ignore"):
        return value.astype(complex if value.dtype.char == "G" else float)


def plain(value, depth=3):
    """Convert long doubles to floats, also within arrays, lists and tuples: CasADi crashes on them."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = short(value)
        return [plain(x, depth) for x in value] if value.dtype == object and value.ndim == 1 else value
    if type(value) in (list, tuple) and depth and not PLAIN.issuperset(map(type, value)):
        parts = [plain(x, depth - 1) for x in value]
        return value if all(a is b for a, b in zip(parts, value)) else type(value)(parts)
    return value


def unchanging(value):
    """Return a value that cannot be changed in place: lists, and arrays of one or two dimensions, become tuples."""
    kind = type(value)
    if kind is tuple and PLAIN.issuperset(map(type, value)):
        return value
    if kind is np.ndarray and value.dtype == float and value.ndim in (1, 2):
        return unchanging(value.tolist())
    return tuple(map(unchanging, value)) if kind is list or kind is tuple else value


def finite(value):
    """True if no entry of an expression is infinite and no number within it is NaN."""
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
