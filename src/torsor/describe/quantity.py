"""Numbers and expressions that a user gives, checked at the moment they are given.

Every quantity of a model is a small CasADi SX: plain numbers are constants in it, parameters and signals stay symbols.
`time` is the one symbol for time that all models share.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from functools import wraps
from numbers import Real
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ..errors import ModelError, SymbolError

Number: TypeAlias = float | ca.SX  # or an expression
Vector: TypeAlias = Sequence[Number] | np.ndarray | ca.SX
Axis: TypeAlias = Vector | str  # or "x", "-y" …
Rotation: TypeAlias = Sequence[Sequence[Number]] | Vector  # matrix, quaternion (scalar first) or rotation vector

time = ca.SX.sym("time")
SMALLEST, LARGEST = 1e-100, 1e100  # of masses, lengths, times …: their squares and products are numbers, too
FARTHEST = 1e13  # rad: a larger angle cannot be told from its rounding
INSTEAD = (
    "write casadi.fmax(a, b) for max, casadi.fmin(a, b) for min, casadi.if_else(condition, a, b) for `a if condition else b`, "
    "casadi.logic_and, logic_or, logic_not for `and`, `or`, `not`, and numpy.sin(a) or casadi.sin(a) for math.sin(a)"
)


def _speaking(convert, purpose):
    """A conversion of an expression to a plain Python value, refused for symbols with what to write instead."""

    def converted(self):
        if self.is_scalar() and not self.is_constant():
            with suppress(Exception):
                if (found := convert(self)) == found:
                    return found
            raise SymbolError(f"{show(self)} has no {purpose} before a run: {INSTEAD}")
        return convert(self)

    return converted


_SX: Any = ca.SX
_SX.__bool__ = _speaking(ca.SX.__bool__, "truth value")  # asked for by max, min, and, or, not, if
_SX.__float__ = _speaking(ca.SX.__float__, "number")  # asked for by math.sin and the like, which would make nan of it


def _short(operator):
    """An operator of expressions that takes long doubles as floats. CasADi asks a number for its `item`, and that of a long
    double is one again, without end."""

    @wraps(operator)
    def operated(self, *others, **options):
        return operator(self, *map(short, others), **options)

    return operated


_ARITHMETIC = [side + name for name in ("add", "sub", "mul", "truediv", "pow", "matmul") for side in ("", "r", "i")]
for _name in (*_ARITHMETIC, "lt", "le", "gt", "ge", "eq", "ne", "array_ufunc"):
    setattr(_SX, f"__{_name}__", _short(getattr(_SX, f"__{_name}__")))
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)  # numpy.sin(signal) is casadi.sin(signal), without a notice


def show(value):
    """A given value, short enough for a message."""
    try:
        text = repr(value)
    except Exception:  # of a stranger's class
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def expression(value, rows, columns, what, owner):
    """`value` as an SX of the given shape, or a ModelError that names `owner` and `what`."""
    allowed = "a number" if rows * columns == 1 else f"{rows} numbers" if columns == 1 else f"a {rows}x{columns} matrix"
    try:
        result = matrix(value)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        raise ModelError(f"{owner}: {what} must be {allowed} (numbers or expressions), got {show(value)}") from None
    if result.shape != (rows, columns):
        raise ModelError(f"{owner}: {what} must be {allowed}, got {show(value)}")
    result = ca.densify(result)
    if not finite(result):
        raise ModelError(f"{owner}: {what} must be finite, got {show(value)}")
    if any(x.is_constant() and abs(float(x)) > LARGEST for x in result.nonzeros()):
        raise ModelError(f"{owner}: {what} must not be larger than {LARGEST:g}, got {show(value)}")
    return result


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


def reals(value):
    """Real numbers of any kind as an array of float64, the one kind that CasADi takes without harm; TypeError for what is
    none: text, dates, complex, missing and masked numbers, truth values."""
    if np.ma.is_masked(value):
        raise TypeError("some numbers are masked")
    array = np.asarray(value)
    if array.dtype == object:
        known = all(isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.timedelta64)) for x in array.flat)
        array = np.array([float(x) for x in array.flat] if known else [None]).reshape(array.shape if known else 1)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is no real number")
    with np.errstate(over="ignore"):  # beyond the range: infinite, and judged as such
        return array.astype(float)


def short(value):
    """A number or an array of long doubles as floats, of long complex numbers as complex ones; anything else as it is."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.char not in "gG":
        return value
    with np.errstate(over="ignore"):
        return value.astype(complex if value.dtype.char == "G" else float)


def plain(value, depth=3):
    """The same with long doubles, in arrays, lists and tuples too, as floats: CasADi crashes on them."""
    value = short(value)
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        return [plain(x, depth) for x in value]
    if type(value) in (list, tuple) and depth:
        parts = [plain(x, depth - 1) for x in value]
        return value if all(a is b for a, b in zip(parts, value)) else type(value)(parts)
    return value


def number(value):
    """A real number as a float; None for anything else."""
    try:
        array = reals(value)
    except Exception:
        return None
    return float(array.item()) if array.ndim == 0 else None


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


def key(value):
    """A hashable stand-in for a constant, exact to the last bit; TypeError for anything that is no plain constant."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return tuple(key(x) for x in value)
    if isinstance(value, (ca.SX, ca.DM)) and value.is_constant():
        value = numbers(value)
    if isinstance(value, (np.ndarray, np.number)) and value.dtype != object:
        return (value.shape, value.dtype.str, value.tobytes())
    raise TypeError(f"{show(value)} is not constant")


def refuse_far_angles(value, angular, what, owner):
    """Refuse constants among coordinates that are angles, and so large that they mean nothing; angular: which are."""
    for x, turns in zip(value.nonzeros(), angular):
        if turns and x.is_constant() and abs(float(x)) > FARTHEST:
            raise ModelError(f"{owner}: {what} must not be an angle beyond {FARTHEST:g} rad, got {float(x):g}")


def symbol(name, *shape):
    """A new symbol; CasADi would take commas and brackets in its name for a list of names."""
    return ca.SX.sym(re.sub(r"[^\w.-]", "_", str(name)), *shape)


def scalar(value, what, owner):
    return expression(value, 1, 1, what, owner)


def vector(value, what, owner, size=3):
    return expression(value, size, 1, what, owner)


def column(value, what, owner):
    """An expression, or several in a list, as one column."""
    try:
        parts = value if isinstance(value, (list, tuple)) else [value]
        found = ca.densify(ca.vertcat(ca.SX(0, 1), *[ca.vec(matrix(part)) for part in parts]))
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        found = ca.SX(0, 1)
    if not found.shape[0]:
        raise ModelError(f"{owner}: {what} must be an expression of signals, or several, got {show(value)}")
    if not finite(found):
        raise ModelError(f"{owner}: {what} must be finite, got {show(value)}")
    return found


def shape_of(value):
    """Rows and columns of a given value, a list counting as a column; None if it has no shape."""
    try:
        return matrix(value).shape
    except Exception:
        return None


def rotation_matrix(value, what, owner):
    """A rotation given as a 3x3 matrix, a quaternion (4, scalar first) or a rotation vector (3)."""
    from ..lie import so3

    shape = shape_of(value)
    if shape == (3, 3):
        R = expression(value, 3, 3, what, owner)
    elif shape == (4, 1):
        quaternion = vector(value, what, owner, 4)
        if all(x.is_zero() for x in quaternion.nonzeros()):
            raise ModelError(f"{owner}: {what} must not be the quaternion zero")
        R = so3.from_quaternion(quaternion / ca.sqrt(ca.sumsqr(quaternion)))
    elif shape == (3, 1):
        R = so3.exp(vector(value, what, owner))
    else:
        raise ModelError(
            f"{owner}: {what} must be a 3x3 rotation matrix, a quaternion (4 numbers, scalar first) or a rotation "
            f"vector (3 numbers), got {show(value)}"
        )
    if R.is_constant():
        M = numbers(R)
        if not np.all(np.isfinite(M)) or np.abs(M.T @ M - np.eye(3)).max() > 1e-6 or np.linalg.det(M) < 0:
            raise ModelError(f"{owner}: {what} is not a rotation (orthogonal, determinant +1), got {show(value)}")
        u, _, vt = np.linalg.svd(M)
        clean = u @ vt
        clean[np.abs(clean) < 1e-16] = 0.0
        R = ca.SX(clean) if np.abs(M - clean).max() > 0 else ca.SX(M)
        R = ca.densify(R)
    return R


def axis(value, what, owner):
    """A direction: three numbers or expressions, or the name of an axis, "x", "-y" …"""
    if not isinstance(value, str):
        return vector(value, what, owner)
    if not re.fullmatch("[+-]?[xyz]", value):
        raise ModelError(f"{owner}: {what} must be 3 numbers, or 'x', 'y', 'z', '-x', '-y' or '-z', got {show(value)}")
    sign = -1.0 if value[0] == "-" else 1.0
    return ca.densify(ca.SX([sign if name == value[-1] else 0.0 for name in "xyz"]))


def unit(value, what, owner):
    """A direction, normalised; a zero vector is refused."""
    direction = axis(value, what, owner)
    if direction.is_constant():
        length = float(np.linalg.norm(numbers(direction)))
        if length == 0:
            raise ModelError(f"{owner}: {what} must not be zero, got {show(value)}")
        return ca.densify(ca.SX(numbers(direction).ravel() / length))
    return direction / ca.sqrt(ca.sumsqr(direction))


def numbers(value, at=None):
    """The numeric value of an expression, with the symbols in the mapping `at` (symbol name to value) filled in."""
    value = ca.SX(value)
    symbols = ca.symvar(value)
    given = [float((at or {}).get(s.name(), 0.0 if s.name() == "time" else np.nan)) for s in symbols]
    if not symbols:
        return np.array(ca.DM(value), float).reshape(value.shape)
    return np.array(ca.Function("value", symbols, [value])(*given), float).reshape(value.shape)


def parted(column, *sizes):
    """A column in parts of these sizes, and the rest. Each is a column, as x[:0] of a single number is not."""
    return ca.vertsplit(column, np.cumsum([0, *sizes, column.shape[0] - sum(sizes)]).tolist())
