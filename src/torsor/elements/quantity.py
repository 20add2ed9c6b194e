"""Checks of numbers and expressions that a user gives.

Quantities of a model are read as small CasADi SX: numbers are constants in them, parameters and signals are symbols.
`time` is the symbol for time that all models share.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, reduce, wraps
from operator import add
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ..errors import ModelError, SymbolError
from .conversion import LARGEST as LARGEST
from .conversion import PLAIN, constant, finite, given, instead, is_number, matrix, numbers_or, short, show
from .conversion import SMALLEST as SMALLEST
from .conversion import number as number
from .conversion import plain as plain
from .conversion import reals as reals
from .conversion import unchanging as unchanging

Number: TypeAlias = float | ca.SX  # or an expression
Vector: TypeAlias = Sequence[Number] | np.ndarray | ca.SX
Axis: TypeAlias = Vector | str  # or "x", "-y" …
Rotation: TypeAlias = Sequence[Sequence[Number]] | Vector  # matrix, quaternion (scalar first) or rotation vector

time = ca.SX.sym("time")
LARGEST_ANGLE = 1e13  # [rad]; the rounding error of an angle reaches a full turn at about 5e16 rad
INSTEAD = (
    "write casadi.fmax(a, b) for max, casadi.fmin(a, b) for min, casadi.if_else(condition, a, b) for `a if condition else b`, "
    "casadi.logic_and, logic_or, logic_not for `and`, `or`, `not`, and numpy.sin(a) or casadi.sin(a) for math.sin(a)"
)


def _explain_conversion(convert, purpose):
    """Wrap a conversion of an SX to a Python value: for symbols it raises an error that says what to write instead."""

    def convert_or_explain(self):
        if self.is_scalar() and not self.is_constant():
            with suppress(Exception):
                if (found := convert(self)) == found:
                    return found
            raise SymbolError(f"{show(self)} has no {purpose} before a run: {INSTEAD}")
        return convert(self)

    return convert_or_explain


_SX: Any = ca.SX
_SX.__bool__ = _explain_conversion(ca.SX.__bool__, "truth value")  # called by max, min, and, or, not, if
_SX.__float__ = _explain_conversion(
    ca.SX.__float__, "number"
)  # called by math.sin and the like, which would make nan of it


def _short(operator):
    """Wrap an operator of expressions so that long doubles are converted to floats.

    CasADi calls `item` of a number until it is a float; `item` of a long double returns a long double, without end.
    """

    @wraps(operator)
    def operate(self, *others, **options):
        return operator(self, *map(short, others), **options)

    return operate


_ARITHMETIC = [side + name for name in ("add", "sub", "mul", "truediv", "pow", "matmul") for side in ("", "r", "i")]
for _name in (*_ARITHMETIC, "lt", "le", "gt", "ge", "eq", "ne", "array_ufunc"):
    setattr(_SX, f"__{_name}__", _short(getattr(_SX, f"__{_name}__")))
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)  # numpy.sin(signal) is casadi.sin(signal), without a notice


def expression(value, rows, columns, what, owner):
    """Convert `value` to an SX of the given shape; otherwise raise a ModelError that names `owner` and `what`."""
    return constant(given(value, rows, columns, what, owner))


def key(value):
    """Return a hashable key of a constant, exact to the last bit; TypeError for anything that is not a constant."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        ordinary = all(type(x) in PLAIN for x in value)
        return (tuple(value), *map(type, value)) if ordinary else tuple(key(x) for x in value)
    if isinstance(value, (ca.SX, ca.DM)) and value.is_constant():
        value = ca.DM(value).full()
    if isinstance(value, (np.ndarray, np.number)) and value.dtype != object:
        return (value.shape, value.dtype.str, value.tobytes())
    raise TypeError(f"{show(value)} is not constant")


def refuse_far_angles(value, angular, what, owner):
    """Refuse angles among coordinates that are too large to be resolved; angular: one flag for each coordinate."""
    for x, turns in zip(value.tolist() if is_number(value) else value.nonzeros(), angular):
        if turns and (is_number(x) or x.is_constant()) and abs(float(x)) > LARGEST_ANGLE:
            raise ModelError(f"{owner}: {what} must not be an angle beyond {LARGEST_ANGLE:g} rad, got {float(x):g}")


def symbol(name, *shape):
    """Create a symbol. Characters that CasADi would read as a list of names (commas, brackets) are replaced."""
    return ca.SX.sym(re.sub(r"[^\w.-]", "_", str(name)), *shape)


def scalar(value, what, owner):
    return expression(value, 1, 1, what, owner)


def vector(value, what, owner, size=3):
    return expression(value, size, 1, what, owner)


def column(value, what, owner):
    """Convert an expression, or a list of expressions, to one column."""
    try:
        parts = value if isinstance(value, (list, tuple)) else [value]
        found = ca.densify(ca.vertcat(ca.SX(0, 1), *[ca.vec(matrix(part)) for part in parts]))
    except Exception:  # whatever a user's class raises when it is converted to numbers
        found = ca.SX(0, 1)
    if not found.shape[0]:
        raise ModelError(
            f"{owner}: {what} must be an expression of signals, or several, got {show(value)}{instead(value)}"
        )
    if not finite(found):
        raise ModelError(f"{owner}: {what} must be finite, got {show(value)}")
    return found


def shape_of(value):
    """Return rows and columns of a given value, a list being a column; None if it has no shape."""
    if type(value) in (tuple, list) and all(type(x) in PLAIN for x in value):
        return (len(value), 1)
    if type(value) is np.ndarray and value.dtype == float and value.ndim in (1, 2):
        return (*value.shape, 1)[:2]
    try:
        return matrix(value).shape
    except Exception:
        return None


def rotation_matrix(value, what, owner):
    """Convert a 3x3 matrix, a quaternion (4, scalar first) or a rotation vector (3) to a rotation matrix, as an SX."""
    return constant(orientation(value, what, owner))


def orientation(value, what, owner):
    """Convert a rotation as `rotation_matrix` does. Numbers stay numbers, and are replaced by the nearest rotation."""
    shape = shape_of(value)
    if shape not in ((3, 3), (4, 1), (3, 1)):
        raise ModelError(
            f"{owner}: {what} must be a 3x3 rotation matrix, a quaternion (4 numbers, scalar first) or a rotation "
            f"vector (3 numbers), got {show(value)}"
        )
    rows, columns = shape
    found = given(value, rows, columns, what, owner)
    if shape == (4, 1) and is_number(found) and not found.any():
        raise ModelError(f"{owner}: {what} must not be the quaternion zero")
    if not is_number(found):
        return found if shape == (3, 3) else numbers_or(_turn(found, ca.sumsqr))
    R = _nearest(found) if shape == (3, 3) else _rotation_of_numbers(tuple(found.tolist()))
    if R is None:
        raise ModelError(f"{owner}: {what} is not a rotation (orthogonal, determinant +1), got {show(value)}")
    return R


def _turn(vector, sumsqr):
    """Return the rotation matrix of a quaternion or of a rotation vector."""
    from ..lie import so3

    return so3.exp(vector) if vector.shape[0] == 3 else so3.from_quaternion(vector / np.sqrt(sumsqr(vector)))


@lru_cache(1000)
def _rotation_of_numbers(vector):
    """Compute the rotation matrix of a quaternion or a rotation vector of numbers. Results are shared, hence read-only."""
    R = _nearest(_turn(np.array(vector), lambda q: reduce(add, (q * q).tolist())))
    if R is not None:
        R.setflags(write=False)
    return R


def _nearest(M):
    """Return the rotation nearest to a matrix; None if the matrix is not a rotation to six digits."""
    if not (np.isfinite(M).all() and np.abs(M.T @ M - np.eye(3)).max() <= 1e-6 and np.linalg.det(M) >= 0):
        return None
    u, _, vt = np.linalg.svd(M)
    clean = u @ vt
    clean[np.abs(clean) < 1e-16] = 0.0
    return clean if np.abs(M - clean).max() > 0 else M


def axis(value, what, owner):
    """Convert a direction, three numbers or expressions or the name of an axis ("x", "-y" …), to an SX."""
    return constant(_direction(value, what, owner))


def unit(value, what, owner):
    """Convert a direction to a unit vector; a zero vector is refused."""
    direction = _direction(value, what, owner)
    if not is_number(direction):
        return direction / ca.sqrt(ca.sumsqr(direction))
    length = float(np.linalg.norm(direction))
    if length == 0:
        raise ModelError(f"{owner}: {what} must not be zero, got {show(value)}")
    return ca.SX(direction / length)


def _direction(value, what, owner):
    if not isinstance(value, str):
        return given(value, 3, 1, what, owner)
    if not re.fullmatch("[+-]?[xyz]", value):
        raise ModelError(f"{owner}: {what} must be 3 numbers, or 'x', 'y', 'z', '-x', '-y' or '-z', got {show(value)}")
    sign = -1.0 if value[0] == "-" else 1.0
    return np.array([sign if name == value[-1] else 0.0 for name in "xyz"])


def numbers(value, at=None):
    """Evaluate an expression with the values of the symbols in `at` (symbol name to value)."""
    value = ca.SX(value)
    symbols = ca.symvar(value)
    given = [float((at or {}).get(s.name(), 0.0 if s.name() == "time" else np.nan)) for s in symbols]
    if not symbols:
        return np.array(ca.DM(value), float).reshape(value.shape)
    return np.array(ca.Function("value", symbols, [value])(*given), float).reshape(value.shape)


def split_column(column, *sizes):
    """Split a column into parts of these sizes and the rest. Empty parts are columns, too (x[:0] of a scalar is not)."""
    return ca.vertsplit(column, np.cumsum([0, *sizes, column.shape[0] - sum(sizes)]).tolist())


def check_true_false_or_none(value, what, owner):
    """Refuse values other than True, False and None."""
    if value is not None and not isinstance(value, (bool, np.bool_)):
        raise ModelError(f"{owner}: {what} must be True, False or None, got {show(value)}")
