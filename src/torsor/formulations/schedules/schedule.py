"""A kernel as a table of calls: the code of one class is called for all its instances, with other offsets into vectors.

    s = Schedule("rate", takes={"x": 2 * n}, gives={"xdot": n})
    rotations = s.reserve(9 * n)                                     offset of a new block in the kernel's memory
    s.call([outward, other], ["x", "memory"], kinds, [offsets in x, offsets in memory])

A class is a CasADi function of a few vectors. A row of the table is one call of a class. It gives the index of the class and the
offset of each argument and result in a vector of the kernel: an input, an output, the memory or the constants. Rows are
executed in order, so that a row may read what an earlier one has written. The native code consists of the classes and of one
loop per `call`. It does not depend on the number of rows, which are data.

    s.exchange("memory", offset, counts)

adds a pass in which ranks (processes or threads, each with its own kernel) exchange numbers. Each rank has computed its part of
a contiguous array; afterwards each rank has all of it. The kernel calls a function for this, whose address is set when the
kernel is loaded: void exchange(double* numbers, int32* counts). The numbers are ordered by rank.

    s.call_pairs(classes, kinds, facts, vectors…)

adds a pass over pairs of shapes that are near each other (`pair_passes.py`): a search finds them each time the kernel is called.

    begun = s.begin_iteration(count)
    s.end_iteration(begun, ("lam", y), ("memory", e))

repeats the passes between until e(y) = y, where they compute the numbers e from the numbers y
(`kernels/schedule_functions/fixed_point.py`).

A schedule has the same interface as a CasADi function. `unrolled` returns the equivalent graph.
"""

import hashlib
from copy import copy
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from ...errors import OptionError
from ...lookup.iteration_records import iteration_work_size
from ...lookup.pair_records import FACT_COUNT, may_touch, work_size
from .memory_plan import MemoryBlocks
from .schedule_passes import CONSTANTS, MEMORY, WITHOUT_CLASSES, Exchange, IterationBegin, IterationEnd, PairPass, Pass


class Constants:
    """Numbers that the kernels of one system share; equal arrays are stored once."""

    def __init__(self):
        self.count = 0
        self._arrays: list[np.ndarray] = []
        self._offsets: dict[bytes, int] = {}
        self._joined = np.zeros(0)

    def keep(self, numbers):
        """Store an array and return its offset."""
        numbers = np.ascontiguousarray(numbers, float).ravel()
        digest = hashlib.blake2b(numbers, digest_size=16).digest()
        if digest not in self._offsets:
            self._offsets[digest] = self.count
            self._arrays.append(numbers)
            self.count += numbers.size
        return self._offsets[digest]

    @property
    def numbers(self):
        """All constants as one array."""
        if self._joined.size < self.count:
            self._joined = np.concatenate(self._arrays)
            self._arrays = [self._joined]
        return self._joined


class Schedule:
    """A kernel as a sequence of passes over named vectors.

    takes, gives   sizes of the inputs and outputs, by name
    constants      constants that are shared with other kernels; None: the kernel has its own
    """

    own = MEMORY, CONSTANTS

    def __init__(self, name, takes, gives, constants=None):
        self.label = name
        self.takes = dict(takes)
        self.gives = dict(gives)
        self.passes: list[Any] = []
        self.memory_plan = MemoryBlocks()
        self._constants = Constants() if constants is None else constants

    # description

    def reserve(self, size):
        """Allocate a block of the kernel's memory and return its offset; its numbers are not initialised."""
        return self.memory_plan.allocate(int(size))

    def keep(self, numbers):
        """Store constants and return their offset."""
        return self._constants.keep(numbers)

    @property
    def constants(self):
        return self._constants.numbers

    @property
    def shared_constants(self):
        """The constants, which other kernels may share."""
        return self._constants

    def call(self, classes, vectors, kinds, offsets):
        """Append a pass that calls classes, one row for each number in `kinds`.

        vectors   name of the vector of every argument and then of every result of a class
        kinds     index of the class of each row
        offsets   for each argument and result the offsets in its vector, one number per row
        """
        classes = [f if f.is_a("SXFunction") else f.expand() for f in classes]
        columns = np.stack([np.asarray(column) for column in (kinds, *offsets)])
        self._validate(classes, vectors, columns)
        self.passes.append(Pass(classes, list(vectors), columns.astype(np.int32)))

    def exchange(self, vector, offset, counts):
        """Append a pass in which ranks exchange numbers; counts: how many numbers each rank contributes, from `offset` on."""
        sizes = self._sizes()
        end = offset + sum(counts)
        if vector not in sizes or vector in self.takes or vector == CONSTANTS or offset < 0 or end > sizes[vector]:
            raise OptionError(
                f"schedule {self.label!r}: {vector!r} has no space for an exchange at offsets {offset} to {end}"
            )
        self.passes.append(Exchange([vector], np.array([[offset], *([count] for count in counts)], np.int32)))

    def call_pairs(self, classes, kinds, columns, sizes):
        """Append a pass over pairs of rows that are near each other: see `PairPass`. Returns nothing; sums are changed in place."""
        count = columns.shape[1]
        rows = [np.full(count, self.reserve(size)) for size in (work_size(count), 2 * sizes[0] + sizes[1])]
        columns = np.vstack([columns, *rows]).astype(np.int32)
        classes = [f if f.is_a("SXFunction") else f.expand() for f in classes]
        self.passes.append(PairPass(classes, tuple(kinds), columns, tuple(sizes)))

    def begin_iteration(self, count):
        """Begin an iteration for `count` numbers y: the passes from here to its end are repeated. Returns what its end needs."""
        work = self.reserve(iteration_work_size(count))
        zero = ca.Function("begin", [ca.SX.sym("t")], [ca.SX(0)])
        self.call([zero], [next(iter(self.takes)), MEMORY], [0], [[0], [work]])
        self.passes.append(IterationBegin())
        return len(self.passes) - 1, work, count

    def end_iteration(self, begun, unknowns, values):
        """End an iteration: y shall be equal to e, which the passes since its begin compute from y.

        begun      what `begin_iteration` returned
        unknowns   vector and offset of y, which have their first values before the begin; values: of e
        """
        begin, work, count = begun
        vectors, offsets = zip(unknowns, values, (MEMORY, work))
        column = np.array([[at] for at in (*offsets, count)], np.int32)
        self.passes.append(IterationEnd(begin, list(vectors), column))

    def replace_classes(self, change):
        """A schedule with each class replaced by change(class); the schedule itself if no class changes."""
        changed = [[change(f) for f in one.classes] for one in self.passes]
        if all(a is b for new, one in zip(changed, self.passes) for a, b in zip(new, one.classes)):
            return self
        other = copy(self)
        pairs = zip(changed, self.passes)
        other.passes = [one if isinstance(one, WITHOUT_CLASSES) else one._replace(classes=new) for new, one in pairs]
        return other

    @property
    def exchanges(self):
        """True if the schedule contains an exchange between ranks."""
        return any(isinstance(one, Exchange) for one in self.passes)

    @property
    def searches(self):
        """True if the schedule searches for pairs."""
        return any(isinstance(one, PairPass) for one in self.passes)

    @property
    def iterations(self):
        """True if the schedule contains an iteration."""
        return any(isinstance(one, IterationEnd) for one in self.passes)

    def _sizes(self):
        """Sizes of all vectors by name."""
        return {**self.takes, **self.gives, MEMORY: self.memory_plan.size, CONSTANTS: self._constants.count}

    def _validate(self, classes, vectors, columns):
        """Raise an OptionError if a row reads or writes outside of its vectors."""
        sizes = self._sizes()
        kinds = columns[0]
        if unknown := [v for v in vectors if v not in sizes]:
            raise OptionError(f"schedule {self.label!r}: there is no vector {unknown[0]!r}. Known: {', '.join(sizes)}")
        if len(columns) != 1 + len(vectors) or not np.all((kinds >= 0) & (kinds < len(classes))):
            raise OptionError(
                f"schedule {self.label!r}: a row must have the index of one of {len(classes)} classes and "
                f"{len(vectors)} offsets"
            )
        lengths = [_lengths(f) for f in classes]
        for f, own in zip(classes, lengths):
            read_only = [vector for vector in vectors[f.n_in() :] if vector in self.takes or vector == CONSTANTS]
            if len(own) != len(vectors) or read_only:
                raise OptionError(
                    f"schedule {self.label!r}: the arguments and results of class {f.name()!r} do not match {vectors}"
                )
        for vector, offsets, *own in zip(vectors, columns[1:], *lengths):
            if not self._fit(vector, offsets, max(own, default=0)):  # for at least one class: check each of them
                for kind, (f, length) in enumerate(zip(classes, own)):
                    self._validate_offsets(f, vector, offsets[kinds == kind], length)

    def _fit(self, vector, offsets, length):
        """True if `length` numbers from each offset on are inside a vector and, in the memory, inside one block."""
        inside = not len(offsets) or (offsets.min() >= 0 and offsets.max() + length <= self._sizes()[vector])
        return inside and (vector != MEMORY or self.memory_plan.contain(offsets, length))

    def _validate_offsets(self, f, vector, offsets, length):
        if self._fit(vector, offsets, length):
            return
        first = offsets.min()
        last = offsets.max() + length
        size = self._sizes()[vector]
        if first < 0 or last > size:
            what = f"offsets {first} to {last} of {vector!r}, which has {size} numbers"
        else:
            what = f"{length} numbers of the memory that are not in one block"
        raise OptionError(f"schedule {self.label!r}: class {f.name()!r} is called with {what}")

    # as data

    @property
    def memory(self):
        """Size of the kernel's memory, with storage shared."""
        return self.memory_plan.share_storage(self._memory_accesses())[1]

    def allocate(self):
        """Yield the passes with offsets in a memory in which blocks that are live at different times share storage."""
        shifts = self.memory_plan.share_storage(self._memory_accesses())[0]
        for one in self.passes:
            columns = one.columns.copy()
            for k in one.memory_columns():
                columns[k] = self.memory_plan.shift_offsets(columns[k], shifts)
            yield one._replace(columns=columns)

    def _memory_accesses(self):
        """For each pass the columns of offsets in the memory that it reads or writes; for both ends of an iteration those of all
        passes in it, whose blocks are needed as long as it goes on."""
        accesses = [[one.columns[k] for k in one.memory_columns()] for one in self.passes]
        for k, one in enumerate(self.passes):
            if isinstance(one, IterationEnd):
                every = [column for of_one in accesses[one.begin : k + 1] for column in of_one]
                accesses[one.begin] = accesses[k] = every
        return accesses

    def serialize(self):
        """What the native code depends on, as text; rows are not part of it."""
        return f"{self.takes.keys()} {self.gives.keys()} {[x.text() for x in self.passes]}"

    def count_operations(self, operations):
        """Number of operations of one call; operations: those of the classes, by pass and kind."""
        return int(sum(x.operation_count(each) for x, each in zip(self.passes, operations)))

    # the interface of CasADi's functions

    def is_a(self, kind):
        return kind == "Schedule"

    def name(self):
        return self.label

    def n_in(self):
        return len(self.takes)

    def n_out(self):
        return len(self.gives)

    def name_in(self):
        return list(self.takes)

    def name_out(self):
        return list(self.gives)

    def sparsity_in(self, i):
        return _dense_column(list(self.takes.values())[i])

    def sparsity_out(self, i):
        return _dense_column(list(self.gives.values())[i])

    def unroll(self):
        """The equivalent CasADi function without loops; a schedule with exchanges or iterations has none."""
        if self.exchanges:
            raise OptionError(f"schedule {self.label!r}: an exchange between ranks has no graph")
        if self.iterations:
            raise OptionError(f"schedule {self.label!r}: an iteration has no graph")
        inputs = {name: ca.SX.sym(name, size) for name, size in self.takes.items()}
        cells = {name: ca.vertsplit(x) if x.shape[0] else [] for name, x in inputs.items()}
        cells |= {name: [ca.SX(0)] * size for name, size in {**self.gives, MEMORY: self.memory_plan.size}.items()}
        cells[CONSTANTS] = [ca.SX(float(x)) for x in self.constants]
        for one in self.passes:
            if isinstance(one, PairPass):
                _unroll_pairs(one, cells, self.constants)
                continue
            for kind, *offsets in one.columns.T.tolist():
                f = one.classes[kind]
                ends = zip(one.vectors, offsets)
                arguments = [
                    ca.SX(f.sparsity_in(i), _column(cells[v][at : at + f.nnz_in(i)]))
                    for i, (v, at) in zip(range(f.n_in()), ends)
                ]
                for result, (vector, at) in zip(f.call(arguments), ends):
                    cells[vector][at : at + result.nnz()] = result.nonzeros()
        results = [_column(cells[name]) for name in self.gives]
        return ca.Function(self.label, list(inputs.values()), results, self.name_in(), self.name_out())


def _unroll_pairs(one, cells, constants):
    """Add the results of all pairs of a pass, whether they are near each other or not."""
    memory, fixed = cells[MEMORY], cells[CONSTANTS]
    rows = one.columns.T.tolist()
    facts = [constants[row[4] : row[4] + FACT_COUNT] for row in rows]
    own, common = one.sizes
    for j, b in enumerate(rows):
        for i, a in enumerate(rows[:j]):
            if (a[0], b[0]) not in one.kinds or not may_touch(facts, i, j):
                continue
            f = one.classes[one.kinds.index((a[0], b[0]))]
            vectors = [(memory, a[1]), (memory, b[1]), (fixed, a[2]), (fixed, b[2]), (fixed, a[5])]
            given = [_column(cells_of[at : at + f.nnz_in(n)]) for n, (cells_of, at) in enumerate(vectors)]
            added = f(*given).nonzeros()
            for at, first, size in ((a[3], 0, own), (b[3], own, own), (a[6], 2 * own, common)):
                for k in range(size):
                    memory[at + k] = memory[at + k] + added[first + k]


@lru_cache(16)
def _dense_column(size):
    return ca.Sparsity.dense(size, 1)


def _lengths(f):
    """Number of entries of every argument and every result of a class."""
    return [f.nnz_in(i) for i in range(f.n_in())] + [f.nnz_out(i) for i in range(f.n_out())]


def _column(cells):
    return ca.vertcat(*cells, ca.SX(0, 1))
