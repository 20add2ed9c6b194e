"""CasADi functions as functions of NumPy arrays, without the cost of CasADi's own matrices in between."""

from collections.abc import Mapping
from threading import Lock, RLock

import numpy as np

from ..describe.expressions import function, text

TOGETHER = 64  # arguments for which a function is evaluated in one call


class Evaluated:
    """A function of columns whose results are full matrices: one, or a tuple where it has several results."""

    def __init__(self, f):
        self.function = f
        self._lock, self._bound, self._mapped = Lock(), None, None

    def __call__(self, *columns):
        with self._lock:
            if self._bound is None:
                self._bound = self._bind(self.function)
            _, trigger, inputs, results = self._bound
            for place, column in zip(inputs, columns, strict=True):
                place[:] = column
            trigger()
            found = tuple(_full(*result) for result in results)
        return found[0] if len(found) == 1 else found

    def over(self, *rows):
        """The results for many arguments at once, the first dimension counting them: arrays (n, size), or one row for all."""
        n = max(len(row) for row in rows)
        found = [np.zeros((n, *self.function.size_out(k))) for k in range(self.function.n_out())]
        with self._lock:
            if self._mapped is None:
                self._mapped = self._bind(self.function.map(TOGETHER), TOGETHER)
            _, trigger, inputs, results = self._mapped
            for first in range(0, n, TOGETHER):
                count = min(TOGETHER, n - first)
                for place, row in zip(inputs, rows, strict=True):
                    place.reshape(TOGETHER, -1)[:count] = row if len(row) == 1 else row[first : first + count]
                trigger()
                for target, (shape, places, flat) in zip(found, results):
                    _spread(target[first : first + count], shape, places, flat.reshape(TOGETHER, -1)[:count])
        return found[0] if len(found) == 1 else tuple(found)

    def _bind(self, called, times=1):
        """Memory that the function, or that which calls it so many times, reads and writes, bound once; the trigger lives no
        longer than its buffer."""
        f, (buffer, trigger) = self.function, called.buffer()
        inputs = [np.zeros(times * f.nnz_in(k)) for k in range(f.n_in())]
        flat = [np.zeros(times * f.nnz_out(k)) for k in range(f.n_out())]
        for bind, arrays in ((buffer.set_arg, inputs), (buffer.set_res, flat)):
            for k, array in enumerate(arrays):
                if array.size:
                    bind(k, memoryview(array))  # type: ignore[arg-type]  # NumPy's arrays are buffers
        return buffer, trigger, inputs, [(f.size_out(k), _places(f.sparsity_out(k)), x) for k, x in enumerate(flat)]


def _places(pattern):
    """Where the nonzeros of a matrix stand in it, column by column; None where all of it is nonzero."""
    return None if pattern.is_dense() else np.array(pattern.find(), int)


def _full(shape, places, nonzeros):
    """A new matrix from its nonzeros."""
    if places is None:
        return nonzeros.reshape(shape, order="F").copy()
    flat = np.zeros(shape[0] * shape[1])
    flat[places] = nonzeros
    return flat.reshape(shape, order="F")


def _spread(target, shape, places, nonzeros):
    """Write the nonzeros of many matrices, one row each, to their places."""
    if places is None:
        target[...] = nonzeros.reshape(len(target), *shape[::-1]).swapaxes(1, 2)
    else:
        target[:, places % shape[0], places // shape[0]] = nonzeros


class Examined(Mapping):
    """The functions of an examination by name. One that no earlier process knew is derived when it is first asked for.

    names    of all of them
    derive   gives `examination()` of the formulation
    texts    of those that are known
    """

    def __init__(self, names, derive, texts=None):
        self.names, self.complete = tuple(names), True
        self._derive, self._texts = derive, dict(texts or {})
        self._lock, self._found = RLock(), {}

    def __getitem__(self, name):
        with self._lock:
            if name not in self._found:
                if name not in self.names:
                    raise KeyError(name)
                self._found[name] = Evaluated(self._known(name))
            return self._found[name]

    def _known(self, name):
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
        """Everything that is known by now, as texts; `complete` until more is derived."""
        with self._lock:
            found = {name: text(f.function) for name, f in self._found.items() if name not in self._texts}
            self._texts, self.complete = self._texts | found, True
            return self._texts
