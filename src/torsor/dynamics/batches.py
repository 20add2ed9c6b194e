"""Batches of states: arrays with leading dimensions, which are broadcast against each other by the rules of NumPy."""

import numpy as np

from ..elements import quantity
from ..errors import OptionError


class Batch:
    """Named arrays of numbers for one state or for many.

    arguments   by name: (value, count). The last dimension of the value has `count` numbers, those of one state. With count None
                the value is one number per state, and all its dimensions are leading dimensions
    shape       leading dimensions after broadcasting: () for a single state
    count       number of states
    rows        by name: a vector if it is the same for all states, else a matrix with one row per state
    """

    def __init__(self, **arguments):
        arrays = {name: finite_array(value, name, count) for name, (value, count) in arguments.items()}
        shapes = {name: x.shape[:-1] for name, x in arrays.items()}
        try:
            self.shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
            raise OptionError(
                f"leading dimensions do not fit together: {listed}; they must broadcast by the rules of NumPy"
            ) from None
        self.count = int(np.prod(self.shape))
        self.rows = {name: self.broadcast(x) for name, x in arrays.items()}

    def broadcast(self, array):
        """A vector if the array has no leading dimensions, else a matrix with one row per state."""
        n = array.shape[-1]
        return array.ravel() if array.ndim == 1 else np.broadcast_to(array, (*self.shape, n)).reshape(self.count, n)

    def __getitem__(self, names):
        """Rows of several names, as in batch["t q p"]."""
        return [self.rows[name] for name in names.split()]

    def reshape(self, rows, *matrix):
        """Rows with the leading dimensions of the batch; with `matrix`, each row becomes a matrix of that shape, stored column
        by column. A single row is repeated for all states."""
        rows = rows if len(rows) == self.count else np.repeat(rows, self.count, axis=0)
        if not matrix:
            return rows.reshape(*self.shape, rows.shape[-1])
        leading = range(len(self.shape))
        trailing = range(len(self.shape) + len(matrix) - 1, len(self.shape) - 1, -1)
        return rows.reshape(*self.shape, *matrix[::-1]).transpose(*leading, *trailing)


def finite_array(value, name, count):
    """An array of finite numbers with `count` numbers in its last dimension; count None: a last dimension of 1 is appended."""
    try:
        array = quantity.reals(value)
    except Exception:  # conversion of an arbitrary user class can raise anything
        array = np.array(np.nan)
    if count is None or array.ndim == 0 and count == 1:
        array = array[..., None]
        count = 1
    if array.ndim == 0 or array.shape[-1] != count or not np.isfinite(array).all():
        given = f"shape {array.shape}" if np.isfinite(array).all() and array.ndim else quantity.show(value)
        raise OptionError(f"{name} must have {count} finite numbers in the last dimension of an array, got {given}")
    return array
