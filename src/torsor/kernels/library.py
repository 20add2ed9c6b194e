"""Kernels by name: compiled, or taken from the cache."""

import ctypes
import json
from functools import cached_property
from itertools import accumulate

import numpy as np

from ..errors import OptionError
from ..registry import lookup
from . import cache
from .backends.base import Backend


class Kernel:
    """The native form of one function, callable from NumPy and, by its address, from compiled loops.

    address        of  void kernel(double* in_0, …, double* out_0, …, double* work)
    work_size      length of `work`
    instructions   number of arithmetic operations

    Every array holds the structural nonzeros of one argument, column by column. Arrays must not overlap.
    """

    def __init__(self, name, address, description, owner):
        self.name, self.address, self._owner = name, address, owner
        self.names_in, self.names_out = tuple(description["names_in"]), tuple(description["names_out"])
        self._in, self._out = description["in"], description["out"]
        self.n_in, self.n_out = len(self._in), len(self._out)
        self.work_size, self.instructions = description["work"], description["instructions"]

    def size_in(self, i):
        """Number of structural nonzeros of input i."""
        return self._in[i]["size"]

    def size_out(self, i):
        """Number of structural nonzeros of output i."""
        return self._out[i]["size"]

    def shape_in(self, i):
        """Rows and columns of input i."""
        return tuple(self._in[i]["shape"])

    def shape_out(self, i):
        """Rows and columns of output i."""
        return tuple(self._out[i]["shape"])

    def sparsity_in(self, i):
        """Rows and columns of the structural nonzeros of input i, two integer arrays in the order of the data."""
        return _pattern(self._in[i])

    def sparsity_out(self, i):
        """Rows and columns of the structural nonzeros of output i, two integer arrays in the order of the data."""
        return _pattern(self._out[i])

    @cached_property
    def _function(self):
        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (self.n_in + self.n_out + 1))(self.address)

    def work(self):
        """A work array for calls by address (never empty, so that it has an address)."""
        return np.empty(max(self.work_size, 1))

    def __call__(self, *arrays):
        """Evaluate: one float64 array per input, of as many elements as it has nonzeros; a tuple of new arrays."""
        if len(arrays) != self.n_in:
            raise OptionError(f"kernel {self.name!r} takes {self.n_in} arrays, not {len(arrays)}.")
        inputs = [self._checked(i, a) for i, a in enumerate(arrays)]
        outputs = tuple(np.empty(out["size"]) for out in self._out)
        alive = (*inputs, *outputs, self.work())
        self._function(*[array.ctypes.data for array in alive])
        return outputs

    def _checked(self, i, array):
        """An input as the kernel reads it: contiguous, column by column."""
        array = np.asarray(array)
        size = self._in[i]["size"]
        if array.dtype != np.float64 or array.size != size:
            raise OptionError(
                f"kernel {self.name!r}, input {i} ({self.names_in[i]}): "
                f"{size} float64 values are needed, not {array.size} of type {array.dtype}."
            )
        return np.ascontiguousarray(array.ravel(order="F"))

    def __repr__(self):
        return f"<Kernel {self.name!r}: {self.n_in} in, {self.n_out} out, {self.instructions} operations>"


class Library(dict):
    """Kernels by name. The code stays in memory as long as the library or any of its kernels does."""

    def __init__(self, backend, images, descriptions):
        addresses, owner = backend.link(images, len(descriptions))
        super().__init__(
            {
                name: Kernel(name, address, description, owner)
                for (name, description), address in zip(descriptions.items(), addresses)
            }
        )


def build(functions, backend="llvm", key=None, seldom=(), **options):
    """Compile CasADi functions, given by name, or take them from the cache.

    backend   key of a registered backend, made with `options`, or a backend
    key       text that stands for these functions: with it, `load` finds them later without tracing
    seldom    names of those that are called so rarely that they need not be fast
    """
    backend = _backend(backend, options)
    functions = {name: f if f.is_a("SXFunction") else f.expand() for name, f in functions.items()}
    places = [k for k, name in enumerate(functions) if name in seldom]
    graph = cache.digest(*[x for name, f in functions.items() for x in (name, f.serialize())], *map(str, places))
    if key is not None:
        cache.store(_full(key, backend), "graph", graph.encode())
    library = _stored(graph, backend)
    if library is None:
        images, sizes = backend.compile(list(functions.values()), places)
        descriptions = {name: _describe(f, size) for (name, f), size in zip(functions.items(), sizes)}
        library = Library(backend, images, descriptions)
        _keep(graph, backend, images, descriptions)
    return library


def load(key, backend="llvm", **options):
    """The library that was built under `key`, or None if the cache does not have it. CasADi is not imported."""
    backend = _backend(backend, options)
    graph = cache.load(_full(key, backend), "graph")
    return None if graph is None else _stored(graph.decode(), backend)


def _backend(backend, options):
    if isinstance(backend, Backend):
        return backend
    cls = lookup("backend", backend)
    try:
        return cls(**options)
    except TypeError as error:
        raise OptionError(f"backend {backend!r}: {error}.") from None


def _full(key, backend):
    """The caller's key with all else that object code depends on."""
    return cache.digest(key, backend.key, json.dumps(backend.options(), sort_keys=True), backend.target())


def _stored(graph, backend):
    """A library from the cache, or None. The first line of its entry is a description, the images follow."""
    entry = cache.load(_full(graph, backend), "code")
    if entry is None:
        return None
    header, _, body = entry.partition(b"\n")
    try:
        header = json.loads(header)
        ends = list(accumulate(header["images"]))
        images = [body[end - length : end] for end, length in zip(ends, header["images"])]
        return Library(backend, images, header["kernels"])
    except (ValueError, KeyError, RuntimeError):
        return None


def _keep(graph, backend, images, descriptions):
    header = json.dumps({"images": [len(image) for image in images], "kernels": descriptions}).encode()
    cache.store(_full(graph, backend), "code", header + b"\n" + b"".join(images))


def _describe(f, size):
    """What a kernel must know about itself, as plain data."""
    return {
        "names_in": f.name_in(),
        "names_out": f.name_out(),
        **size._asdict(),
        "in": [_argument(f.sparsity_in(i)) for i in range(f.n_in())],
        "out": [_argument(f.sparsity_out(i)) for i in range(f.n_out())],
    }


def _argument(sparsity):
    """Shape and number of nonzeros, with their places where the matrix is not full."""
    full = {"shape": list(sparsity.shape), "size": sparsity.nnz()}
    if sparsity.is_dense():
        return full
    rows, columns = sparsity.get_triplet()
    return {**full, "rows": list(rows), "columns": list(columns)}


def _pattern(argument):
    if "rows" in argument:
        return np.array(argument["rows"], dtype=np.int64), np.array(argument["columns"], dtype=np.int64)
    rows, columns = argument["shape"]
    return np.tile(np.arange(rows), columns), np.repeat(np.arange(columns), rows)
