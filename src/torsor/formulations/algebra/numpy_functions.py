"""CasADi functions as functions of NumPy arrays, without conversion to CasADi matrices."""

from collections.abc import Mapping
from threading import Lock, RLock

import numpy as np

from ...model.expressions import function, text

BATCH = 64  # number of evaluations in one call of a mapped function


class NumericFunction:
    """A function of columns. It returns a dense matrix, or a tuple of them if the CasADi function has several outputs."""

    def __init__(self, f):
        self.function = f
        self._lock = Lock()
        self._bound = None  # memory of single calls
        self._mapped = None  # memory of calls with BATCH evaluations

    def __call__(self, *columns):
        with self._lock:
            if self._bound is None:
                self._bound = self._bind(self.function)
            _, trigger, inputs, results = self._bound
            for target, column in zip(inputs, columns, strict=True):
                target[:] = column
            trigger()
            outputs = tuple(_dense(*result) for result in results)
        return outputs[0] if len(outputs) == 1 else outputs

    def over(self, *rows):
        """The results for n sets of arguments, as arrays whose first dimension is n.

        rows   one array (n, size) per argument, or (1, size) for an argument that is the same in all evaluations
        """
        n = max(len(row) for row in rows)
        outputs = [np.zeros((n, *self.function.size_out(k))) for k in range(self.function.n_out())]
        with self._lock:
            if self._mapped is None:
                self._mapped = self._bind(self.function.map(BATCH), BATCH)
            _, trigger, inputs, results = self._mapped
            for first in range(0, n, BATCH):
                count = min(BATCH, n - first)
                for target, row in zip(inputs, rows, strict=True):
                    target.reshape(BATCH, -1)[:count] = row if len(row) == 1 else row[first : first + count]
                trigger()
                for target, (shape, indices, flat) in zip(outputs, results):
                    _scatter(target[first : first + count], shape, indices, flat.reshape(BATCH, -1)[:count])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _bind(self, called, times=1):
        """Allocate and bind the memory of the function, or of its map over `times` evaluations.

        The buffer is returned too, because the trigger is valid only while the buffer exists.
        """
        f = self.function
        buffer, trigger = called.buffer()
        inputs = [np.zeros(times * f.nnz_in(k)) for k in range(f.n_in())]
        flat = [np.zeros(times * f.nnz_out(k)) for k in range(f.n_out())]
        for bind, arrays in ((buffer.set_arg, inputs), (buffer.set_res, flat)):
            for k, array in enumerate(arrays):
                if array.size:
                    bind(k, memoryview(array))  # type: ignore[arg-type]  # NumPy's arrays are buffers
        results = [(f.size_out(k), _nonzero_indices(f.sparsity_out(k)), x) for k, x in enumerate(flat)]
        return buffer, trigger, inputs, results


def _nonzero_indices(pattern):
    """Indices of the nonzeros of a matrix, column by column; None for a dense matrix."""
    return None if pattern.is_dense() else np.array(pattern.find(), int)


def _dense(shape, indices, nonzeros):
    """A new dense matrix from its nonzeros."""
    if indices is None:
        return nonzeros.reshape(shape, order="F").copy()
    flat = np.zeros(shape[0] * shape[1])
    flat[indices] = nonzeros
    return flat.reshape(shape, order="F")


def _scatter(target, shape, indices, nonzeros):
    """Write the nonzeros of many matrices, one row each, into an array of dense matrices."""
    if indices is None:
        target[...] = nonzeros.reshape(len(target), *shape[::-1]).swapaxes(1, 2)
    else:
        target[:, indices % shape[0], indices // shape[0]] = nonzeros


class NumericFunctions(Mapping):
    """Functions for the start and the diagnosis, by name. Each is read from its text, or derived, at its first use.

    names      names of all functions
    derive     returns the builders of the functions: `examination()` of the formulation
    texts      functions from an earlier process, as text
    complete   True while `texts()` contains every function that has been derived
    """

    def __init__(self, names, derive, texts=None):
        self.names = tuple(names)
        self.complete = True
        self._derive = derive
        self._texts = dict(texts or {})
        self._lock = RLock()
        self._functions = {}

    def __getitem__(self, name):
        with self._lock:
            if name not in self._functions:
                if name not in self.names:
                    raise KeyError(name)
                self._functions[name] = NumericFunction(self._load(name))
            return self._functions[name]

    def _load(self, name):
        """The CasADi function, from its text or derived."""
        if name in self._texts:
            return function(self._texts[name])
        self.complete = False
        return self._derive()[name]()

    def __contains__(self, name):
        return name in self.names

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)

    def texts(self):
        """All functions that have been read or derived so far, as text. Sets `complete`."""
        with self._lock:
            added = {name: text(f.function) for name, f in self._functions.items() if name not in self._texts}
            self._texts = self._texts | added
            self.complete = True
            return self._texts
