"""The decorator `returns`: functions that are written for CasADi matrices accept numbers, too.

If an argument is an SX or an MX, so is the result. If all arguments are numbers (floats, lists, NumPy arrays, DM), the
function is traced once for these shapes, the trace is evaluated, and the result is a float or a NumPy array.
"""

from functools import wraps

import casadi as ca
import numpy as np

_ARRAYS = (int, float, np.number, np.ndarray, list, tuple, ca.DM, ca.SX, ca.MX)

_TO_NUMPY = {
    "scalar": float,
    "vector": lambda x: x.full().ravel(order="F"),
    "matrix": lambda x: x.full(),
}


def symbol_type(*arguments):
    """Return MX or SX if one of them occurs in the arguments, at any depth of lists and tuples; else None."""
    found = None
    for argument in arguments:
        inner = type(argument) if isinstance(argument, (ca.SX, ca.MX)) else None
        if isinstance(argument, (list, tuple)) or (isinstance(argument, np.ndarray) and argument.dtype == object):
            inner = symbol_type(*argument)
        if inner is ca.MX:
            return ca.MX
        found = found or inner
    return found


def as_matrix(argument, kind):
    """Convert to a dense CasADi matrix of type `kind`; a flat list is a column, a list of lists a matrix by rows."""
    if isinstance(argument, (ca.DM, ca.SX, ca.MX)):
        return _full(argument, kind)
    if symbol_type(argument):
        rows = (as_matrix(row, kind) for row in argument)
        return ca.vertcat(*(row if row.is_scalar() else row.T for row in rows))
    numbers = ca.DM(np.asarray(argument, dtype=float))
    return numbers if kind is ca.DM else kind(numbers)


def _dense(results, kind):
    """Return the results of a function as a list of dense matrices."""
    return [_full(x, kind) for x in (results if isinstance(results, tuple) else (results,))]


def _full(matrix, kind):
    """Convert a matrix to a dense one of type `kind`; return it unchanged if it is one."""
    matrix = matrix if isinstance(matrix, kind) else kind(matrix)
    return matrix if matrix.is_dense() else ca.densify(matrix)


def returns(*shapes):
    """Decorate a function that is written for CasADi matrices: for numbers it returns floats and NumPy arrays.

    shapes  "scalar", "vector" or "matrix", one for each result of the function. A vector of numbers has the
            shape (n,), a matrix the shape (m, n), a scalar is a float.
    """

    def decorate(function):
        traces = {}

        def trace(names, arguments, key):
            if key not in traces:
                inputs = [ca.SX.sym("x", x.shape) if isinstance(x, ca.DM) else x for x in arguments]
                results = _call(function, names, inputs)
                symbols = [x for x in inputs if isinstance(x, ca.SX)]
                traces[key] = ca.Function(function.__name__, symbols, _dense(results, ca.SX))
            return traces[key]

        @wraps(function)
        def serve(*args, **options):
            names, arguments = tuple(options), (*args, *options.values())
            kind = symbol_type(*arguments)
            arguments = tuple(as_matrix(x, kind or ca.DM) if isinstance(x, _ARRAYS) else x for x in arguments)
            if kind:
                results = _dense(_call(function, names, arguments), kind)
            else:
                key = (names, *(x.shape if isinstance(x, ca.DM) else x for x in arguments))
                numbers = [x for x in arguments if isinstance(x, ca.DM)]
                results = trace(names, arguments, key).call(numbers)
                results = [_TO_NUMPY[shape](x) for shape, x in zip(shapes, results, strict=True)]
            return results[0] if len(shapes) == 1 else tuple(results)

        return serve

    return decorate


def _call(function, names, arguments):
    """Call the function, the last arguments by name."""
    count = len(arguments) - len(names)
    return function(*arguments[:count], **dict(zip(names, arguments[count:], strict=True)))
