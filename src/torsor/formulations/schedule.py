"""A kernel as a table of calls: one piece of code for all that is alike, called with other places in memory.

    s = Schedule("rate", takes={"x": 2 * n}, gives={"xdot": n})
    turned = s.room(9 * n)                                        a place in the kernel's own memory
    s.call([outward, other], ["x", "memory"], kinds, [places in x, places in memory])

A class is a CasADi function of a few vectors. A row of the table calls a class: it says which one, and where in the vectors of
the kernel (what it takes and gives, its memory, its constants) each argument and result begins. Rows are called in their
order, so that a row may read what an earlier one has written. Native code is that of the classes and of one loop for each
call of `call`; it does not depend on the number of rows, which are data.

    s.exchange("memory", place, counts)

is a pass in which ranks (processes, or threads, that each call a kernel of their own) tell each other numbers: each has computed
its part of a run of them, and has all afterwards. The kernel calls a function for that, whose address it is given when it is
loaded: void exchange(double* numbers, int32* counts), where the numbers of one rank stand behind those of the one before.

Nobody who calls the kernel can tell: it has the signature of a graph. `unrolled` is that graph.
"""

import hashlib
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..errors import OptionError
from .rooms import Rooms

MEMORY, CONSTANTS = "memory", "constants"  # the vectors of a schedule's own


class Pass(NamedTuple):
    """Rows that call classes with the same vectors: of each the class, then the place of every argument and result, by columns."""

    classes: list
    vectors: list
    columns: np.ndarray

    def text(self):
        return f"{self.vectors} {[f.serialize() for f in self.classes]}"

    def counted(self, operations):
        return np.dot(np.bincount(self.columns[0], minlength=len(self.classes)), operations)

    def in_memory(self):
        """Its columns that are places in the memory."""
        return [k + 1 for k, vector in enumerate(self.vectors) if vector == MEMORY]


class Exchange(NamedTuple):
    """A pass in which ranks tell each other numbers: their place, then how many each rank gives, as one column."""

    vectors: list
    columns: np.ndarray
    classes: tuple = ()

    def text(self):
        return f"exchange {self.vectors} {len(self.columns)}"

    def counted(self, operations):
        return 0

    def in_memory(self):
        return [0] if self.vectors == [MEMORY] else []


class Constants:
    """Numbers that kernels of one system share; runs of them that are equal are kept once."""

    def __init__(self):
        self.count, self._parts, self._places = 0, [], {}
        self._joined = np.zeros(0)

    def keep(self, numbers):
        """The place of further numbers."""
        numbers = np.ascontiguousarray(numbers, float).ravel()
        mark = hashlib.blake2b(numbers, digest_size=16).digest()
        if mark not in self._places:
            self._places[mark] = self.count
            self._parts.append(numbers)
            self.count += numbers.size
        return self._places[mark]

    @property
    def numbers(self):
        if self._joined.size < self.count:
            self._joined = np.concatenate(self._parts)
            self._parts = [self._joined]
        return self._joined


class Schedule:
    """Vectors by name with their sizes, passes, and the numbers of the kernel's own.

    constants   that it shares with others; None: has to itself
    """

    own = MEMORY, CONSTANTS

    def __init__(self, name, takes, gives, constants=None):
        self.label, self.takes, self.gives = name, dict(takes), dict(gives)
        self.passes: list[Pass | Exchange] = []
        self.rooms = Rooms()
        self._constants = Constants() if constants is None else constants

    # description

    def room(self, size):
        """The place of so many further numbers in the kernel's memory; they are not set to anything."""
        return self.rooms.take(int(size))

    def keep(self, numbers):
        """The place of further constants."""
        return self._constants.keep(numbers)

    @property
    def constants(self):
        return self._constants.numbers

    def call(self, classes, vectors, kinds, places):
        """Call classes, one for each number in `kinds`.

        vectors   which vector every argument and then every result of a class is in
        places    for each of them where it begins, one number for each row
        """
        classes = [f if f.is_a("SXFunction") else f.expand() for f in classes]
        columns = np.stack([np.asarray(column) for column in (kinds, *places)])
        self._refuse(classes, vectors, columns)
        self.passes.append(Pass(classes, list(vectors), columns.astype(np.int32)))

    def exchange(self, vector, place, counts):
        """Tell other ranks, and be told by them, so many numbers each, which stand in one vector from `place` on."""
        sizes, end = self._sizes(), place + sum(counts)
        if vector not in sizes or vector in self.takes or vector == CONSTANTS or place < 0 or end > sizes[vector]:
            raise OptionError(
                f"schedule {self.label!r}: {vector!r} has no room for an exchange at places {place} to {end}"
            )
        self.passes.append(Exchange([vector], np.array([[place], *([count] for count in counts)], np.int32)))

    def with_classes(self, changed):
        """The same with each class changed by a function; itself where that changes none."""
        several = [[changed(f) for f in one.classes] for one in self.passes]
        if all(a is b for fs, one in zip(several, self.passes) for a, b in zip(fs, one.classes)):
            return self
        other = copy(self)
        changes = zip(several, self.passes)
        other.passes = [one._replace(classes=fs) if isinstance(one, Pass) else one for fs, one in changes]
        return other

    @property
    def exchanges(self):
        """Whether ranks tell each other anything in it."""
        return any(isinstance(one, Exchange) for one in self.passes)

    def _sizes(self):
        return {**self.takes, **self.gives, MEMORY: self.rooms.size, CONSTANTS: self._constants.count}

    def _refuse(self, classes, vectors, columns):
        """Refuse rows that would read or write outside of their vectors."""
        sizes, kinds = self._sizes(), columns[0]
        if unknown := [v for v in vectors if v not in sizes]:
            raise OptionError(f"schedule {self.label!r}: there is no vector {unknown[0]!r}, only {', '.join(sizes)}")
        if len(columns) != 1 + len(vectors) or not np.all((kinds >= 0) & (kinds < len(classes))):
            raise OptionError(f"schedule {self.label!r}: a row is a class of {len(classes)} and {len(vectors)} places")
        lengths = [_lengths(f) for f in classes]
        for f, own in zip(classes, lengths):
            written = [vector for vector in vectors[f.n_in() :] if vector in self.takes or vector == CONSTANTS]
            if len(own) != len(vectors) or written:
                raise OptionError(f"schedule {self.label!r}: class {f.name()!r} does not take and give {vectors}")
        for vector, places, *own in zip(vectors, columns[1:], *lengths):
            if not self._fit(vector, places, max(own, default=0)):  # for some class: a closer look
                for kind, (f, length) in enumerate(zip(classes, own)):
                    self._refuse_places(f, vector, places[kinds == kind], length)

    def _fit(self, vector, places, length):
        """Whether so many numbers of a vector, from any of some places on, are there, and where it is the memory, in one room."""
        inside = not len(places) or (places.min() >= 0 and places.max() + length <= self._sizes()[vector])
        return inside and (vector != MEMORY or self.rooms.hold(places, length))

    def _refuse_places(self, f, vector, places, length):
        if self._fit(vector, places, length):
            return
        first, last, size = places.min(), places.max() + length, self._sizes()[vector]
        if first < 0 or last > size:
            what = f"places {first} to {last} of {vector!r}, which has {size} numbers"
        else:
            what = f"{length} numbers of the memory that are not in one room"
        raise OptionError(f"schedule {self.label!r}: class {f.name()!r} is called with {what}")

    # as data

    @property
    def memory(self):
        """How many numbers the kernel's memory has."""
        return self.rooms.shared(self._touched())[1]

    def placed(self):
        """The passes one by one, with places in a memory in which rooms that are needed at different times share theirs."""
        moved = self.rooms.shared(self._touched())[0]
        for one in self.passes:
            columns = one.columns.copy()
            for k in one.in_memory():
                columns[k] = self.rooms.placed(columns[k], moved)
            yield one._replace(columns=columns)

    def _touched(self):
        """For each pass the places in the memory that it reads or writes."""
        return [[one.columns[k] for k in one.in_memory()] for one in self.passes]

    def serialize(self):
        """Everything that its native code depends on, as text: no rows."""
        return f"{self.takes.keys()} {self.gives.keys()} {[x.text() for x in self.passes]}"

    def counted(self, operations):
        """Operations of one call, from those of the classes by pass and kind."""
        return int(sum(x.counted(each) for x, each in zip(self.passes, operations)))

    # as CasADi's functions are asked

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
        return _full(list(self.takes.values())[i])

    def sparsity_out(self, i):
        return _full(list(self.gives.values())[i])

    def unrolled(self):
        """The same as one straight graph; there is none where ranks tell each other anything."""
        if self.exchanges:
            raise OptionError(f"schedule {self.label!r}: an exchange between ranks has no graph")
        known = {name: ca.SX.sym(name, size) for name, size in self.takes.items()}
        cells = {name: ca.vertsplit(x) if x.shape[0] else [] for name, x in known.items()}
        cells |= {name: [ca.SX(0)] * size for name, size in {**self.gives, MEMORY: self.rooms.size}.items()}
        cells[CONSTANTS] = [ca.SX(float(x)) for x in self.constants]
        for one in self.passes:
            for kind, *places in one.columns.T.tolist():
                f = one.classes[kind]
                ends = zip(one.vectors, places)
                given = [
                    ca.SX(f.sparsity_in(i), _column(cells[v][at : at + f.nnz_in(i)]))
                    for i, (v, at) in zip(range(f.n_in()), ends)
                ]
                for result, (vector, at) in zip(f.call(given), ends):
                    cells[vector][at : at + result.nnz()] = result.nonzeros()
        results = [_column(cells[name]) for name in self.gives]
        return ca.Function(self.label, list(known.values()), results, self.name_in(), self.name_out())


@lru_cache(16)
def _full(size):
    return ca.Sparsity.dense(size, 1)


def _lengths(f):
    """How many numbers every argument and every result of a class has."""
    return [f.nnz_in(i) for i in range(f.n_in())] + [f.nnz_out(i) for i in range(f.n_out())]


def _column(cells):
    return ca.vertcat(*cells, ca.SX(0, 1))
