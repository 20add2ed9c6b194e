"""CasADi functions as functions of NumPy arrays, without the cost of CasADi's own matrices in between."""

from threading import Lock

import casadi as ca
import numpy as np


class Evaluated:
    """A function of columns whose results are full matrices: one, or a tuple where it has several results."""

    def __init__(self, f):
        self.function = f if all(f.sparsity_out(k).is_dense() for k in range(f.n_out())) else _dense(f)
        self._lock, self._bound = Lock(), None

    def __call__(self, *columns):
        with self._lock:
            if self._bound is None:
                self._bound = self._bind()
            _, trigger, inputs, results = self._bound
            for place, column in zip(inputs, columns, strict=True):
                place[:] = column
            trigger()
            found = tuple(x.copy() for x in results)
        return found[0] if len(found) == 1 else found

    def _bind(self):
        """Memory that the function reads and writes, bound to it once; the trigger lives no longer than its buffer."""
        f, (buffer, trigger) = self.function, self.function.buffer()
        inputs = [np.zeros(f.nnz_in(k)) for k in range(f.n_in())]
        flat = [np.zeros(f.nnz_out(k)) for k in range(f.n_out())]
        for bind, arrays in ((buffer.set_arg, inputs), (buffer.set_res, flat)):
            for k, array in enumerate(arrays):
                if array.size:
                    bind(k, memoryview(array))
        return buffer, trigger, inputs, [x.reshape(f.size_out(k), order="F") for k, x in enumerate(flat)]


def _dense(f):
    inputs = f.sx_in()
    return ca.Function(f.name(), inputs, [ca.densify(x) for x in f.call(inputs)])


def packed(functions):
    """Functions by name as texts."""
    return {name: f.function.serialize() for name, f in functions.items()}


def unpacked(texts):
    return {name: Evaluated(ca.Function.deserialize(text)) for name, text in texts.items()}
