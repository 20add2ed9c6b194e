"""Kernels by name: compiled, or taken from the cache."""

import ctypes
import json
from contextlib import nullcontext
from functools import cached_property
from itertools import accumulate

import numpy as np

from ..errors import OptionError
from ..lookup.interval_search import stored_table
from ..registry import lookup
from . import cache
from .backends.base import Backend, Size
from .emit_schedule import USES
from .loops import loops
from .row_kernels import over
from .schedule_functions.fixed_point import FIXED_POINT
from .schedule_functions.pair_search import SEARCH
from .schedule_tables import Tables


class Kernel:
    """The native form of one function, callable from NumPy and, by its address, from compiled loops.

    address        of  void kernel(double* in_0, …, double* out_0, …, double* work)
    work_size      length of `work`
    instructions   number of arithmetic operations

    Every array holds the structural nonzeros of one argument, column by column. Arrays must not overlap.
    """

    def __init__(self, name, address, description, owner, waiting=nullcontext):
        self.name, self.address, self._owner, self._waiting = name, address, owner, waiting
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

    @property
    def tables(self):
        """Tables of all kernels of its library that are schedules."""
        return self._owner[1]

    @property
    def looked_up(self):
        """The tables, and the functions of other programs, that the kernels of its library look up."""
        return self._owner[3]

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
        inputs = [self._input(i, a) for i, a in enumerate(arrays)]
        outputs = tuple(np.empty(out["size"]) for out in self._out)
        alive = (*inputs, *outputs, self.work())
        with self._waiting():
            self._function(*[array.ctypes.data for array in alive])
        return outputs

    def over(self, *arrays):
        """Evaluate row by row in native code: each input is one row for all, or as many rows as the others have."""
        with self._waiting():
            return over(self, arrays)

    def _input(self, i, array):
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
    """Kernels by name. The code stays in memory as long as the library or any of its kernels does.

    numbers   of the tables that they look up, by their places in the code
    """

    def __init__(self, backend, images, descriptions, tables, numbers, exchange=None, waiting=nullcontext):
        looked_for = {
            k: ["table", "pool", "constants", *(what for what, used in USES.items() if description.get(used))]
            for k, (name, description) in enumerate(descriptions.items())
            if name in tables
        }
        self.looked_up = [stored_table(number) for number in numbers]
        at = [one.address for one in self.looked_up]
        addresses, owner, found = backend.link_schedules(images, len(descriptions), looked_for, at)
        owners = owner, tables, exchange, self.looked_up
        super().__init__(
            {
                name: Kernel(name, address, description, owners, waiting)
                for (name, description), address in zip(descriptions.items(), addresses)
            }
        )
        for k, (name, description) in enumerate(descriptions.items()):
            things = tables.addresses(name) if name in tables else []
            if description.get("exchanges"):
                things.append(ctypes.cast(exchange, ctypes.c_void_p).value)
            if description.get("searches"):
                things.append(loops(SEARCH)["next_pairs"].address)
            if description.get("iterations"):
                things.append(loops(FIXED_POINT)["next_iterate"].address)
            for address, thing in zip(found.get(k, ()), things):
                ctypes.c_void_p.from_address(address).value = thing


def build(functions, backend="llvm", key=None, seldom=(), exchange=None, waiting=nullcontext, **options):
    """Compile CasADi functions, given by name, or take them from the cache.

    backend   key of a registered backend, made with `options`, or a backend
    key       text that stands for these functions: with it, `load` finds them later without tracing
    seldom    names of those that are called so rarely that they need not be fast
    exchange  a function of ctypes by which ranks tell each other numbers, for schedules that ask for it
    waiting   a context for calls from Python, in which others may work
    """
    backend = _backend(backend, options)
    if exchange is None and (asking := [name for name, f in functions.items() if f.is_a("Schedule") and f.exchanges]):
        raise OptionError(f"kernel {asking[0]!r} exchanges numbers between ranks: give a function for that")
    numbers: dict[float, int] = {}
    functions = {name: _ready(f, backend, numbers) for name, f in functions.items()}
    tables = Tables({name: f for name, f in functions.items() if f.is_a("Schedule")})
    places = [k for k, name in enumerate(functions) if name in seldom]
    graph = cache.digest(*[x for name, f in functions.items() for x in (name, f.serialize())], *map(str, places))
    code = _load_images(graph, backend)
    if code is None:
        code = backend.compile(list(functions.values()), places)
        _keep(graph, backend, *code)
    images, sizes = code
    descriptions = {name: _describe(f, Size(*size)) for (name, f), size in zip(functions.items(), sizes)}
    if key is not None:
        cache.store(_full(key, backend), "kernels", _pack(graph, descriptions, tables, list(numbers)))
    return Library(backend, images, descriptions, tables, numbers, exchange, waiting)


def _ready(f, backend, numbers):
    """A function as a backend takes it: a graph of scalars, or a schedule where it has code for one. Tables are identified by their
    places among `numbers`, to which they are added, so that code does not depend on what is in them."""
    from ..lookup.lookup_calls import calls, without_derivative_calls  # late: kernels that are loaded need no CasADi

    if f.is_a("Schedule"):
        return f.replace_classes(lambda one: _ready(one, backend, numbers)) if backend.schedules else f.unroll()
    f = f if f.is_a("SXFunction") else f.expand()
    if not calls(f) or not backend.searches:
        return f
    return without_derivative_calls(f, lambda number: numbers.setdefault(number, len(numbers)))


def load(key, backend="llvm", **options):
    """The library that was built under `key`, or None if the cache does not have it. CasADi is not imported."""
    backend = _backend(backend, options)
    entry = cache.load(_full(key, backend), "kernels")
    try:
        graph, descriptions, tables, numbers = _unpack(entry) if entry is not None else (None, {}, None, [])
        code = _load_images(graph, backend) if graph else None
        alone = not any(d["exchanges"] for d in descriptions.values())  # only `build` knows what ranks exchange
        known = all(stored_table(number) is not None for number in numbers)
        return Library(backend, code[0], descriptions, tables, numbers) if code and alone and known else None
    except (ValueError, KeyError, RuntimeError):
        return None


def _pack(graph, descriptions, tables, numbers):
    """What a library is besides its code: a line of text, then the numbers of schedules."""
    facts = {"graph": graph, "kernels": descriptions, "tables": tables.lengths(), "looked_up": numbers}
    header = json.dumps(facts).encode()
    return b"".join([header, b"\n", *[x.tobytes() for x in tables.arrays()]])


def _unpack(entry):
    header, _, body = entry.partition(b"\n")
    header = json.loads(header)
    return header["graph"], header["kernels"], Tables.read(header["tables"], body), header["looked_up"]


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


def _load_images(graph, backend):
    """Images and sizes of kernels from the cache, or None. The first line of the entry is a description, the images follow."""
    entry = cache.load(_full(graph, backend), "code")
    if entry is None:
        return None
    header, _, body = entry.partition(b"\n")
    try:
        header = json.loads(header)
        ends = list(accumulate(header["images"]))
        return [body[end - length : end] for end, length in zip(ends, header["images"])], header["sizes"]
    except (ValueError, KeyError):
        return None


def _keep(graph, backend, images, sizes):
    header = json.dumps({"images": [len(image) for image in images], "sizes": sizes}).encode()
    cache.store(_full(graph, backend), "code", header + b"\n" + b"".join(images))


def _describe(f, size):
    """What a kernel must know about itself, as plain data; the size of a schedule is that of its classes."""
    (work, instructions), table = size, f.is_a("Schedule")
    if table:
        work += f.memory
        instructions = f.count_operations(instructions)
    return {
        "exchanges": table and f.exchanges,
        "searches": table and f.searches,
        "iterations": table and f.iterations,
        "names_in": f.name_in(),
        "names_out": f.name_out(),
        "work": work,
        "instructions": instructions,
        "in": _columns(f.takes) if table else [_argument(f.sparsity_in(i)) for i in range(f.n_in())],
        "out": _columns(f.gives) if table else [_argument(f.sparsity_out(i)) for i in range(f.n_out())],
    }


def _columns(sizes):
    """Arguments that are full columns, by name."""
    return [{"shape": [size, 1], "size": size} for size in sizes.values()]


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
