"""The tables of several schedules, as native code reads them: columns of places in one pool, each of which is there once.

A pass has a column for the class of its rows, and one for every vector that they take or give. Columns of different passes and
kernels are often the same but for where they begin, and for their direction: numbers of all bodies stand one after the other in
every vector. A table therefore consists of a header for each pass, 64-bit integers:

    count, first, step, and for each column  offset, base            place of row i:  base + pool[offset + first + step i]

The columns are 32-bit integers. Those that grow by equal steps are the beginning of the longest such one.
"""

import hashlib

import numpy as np

HEAD = 3  # numbers of a header besides those of the columns: count, first, step


class Tables:
    """Headers by the name of a kernel, the pool of columns, and constants by name.

    given   schedules by name
    """

    def __init__(self, given):
        pool = _Pool()
        found = {name: [_header(one, pool) for one in s.allocate()] for name, s in given.items()}
        offsets, self.pool = pool.join()
        self.headers = {name: _resolve(several, offsets) for name, several in found.items()}
        self.constants = {name: s.constants for name, s in given.items()}

    # as a file has them

    def arrays(self):
        """All arrays one by one: the pool, headers, and constants, those that kernels share once."""
        shared = {id(x): x for x in self.constants.values()}
        return [self.pool, *self.headers.values(), *shared.values()]

    def lengths(self):
        """The shape of such arrays: lengths, and which kernel has which constants."""
        shared = {id(x): k for k, x in enumerate({id(x): x for x in self.constants.values()}.values())}
        return {
            "pool": self.pool.size,
            "headers": {name: x.size for name, x in self.headers.items()},
            "constants": [x.size for x in {id(x): x for x in self.constants.values()}.values()],
            "which": {name: shared[id(x)] for name, x in self.constants.items()},
        }

    @classmethod
    def read(cls, lengths, body):
        """Tables from such lengths, and the bytes of the arrays."""
        at = 0

        def take(kind, size):
            nonlocal at
            found = np.frombuffer(body, kind, size, at)
            at += found.nbytes
            return found.copy()

        self = cls.__new__(cls)
        self.pool = take(np.int32, lengths["pool"])
        self.headers = {name: take(np.int64, size) for name, size in lengths["headers"].items()}
        shared = [take(np.float64, size) for size in lengths["constants"]]
        self.constants = {name: shared[k] for name, k in lengths["which"].items()}
        return self

    def __contains__(self, name):
        return name in self.headers

    def addresses(self, name):
        """Where native code finds the header of a kernel, the pool, and its constants."""
        return [x.ctypes.data for x in (self.headers[name], self.pool, self.constants[name])]

    @property
    def nbytes(self):
        """Bytes of all of it."""
        return sum(x.nbytes for x in self.arrays())


class _Pool:
    """Columns, each kept once; one that grows by equal steps as long as the longest of its kind."""

    def __init__(self):
        self.columns, self.known = [], {}

    def keep(self, column, mark):
        """The number of a column with this mark."""
        number = self.known.setdefault(mark, len(self.columns))
        if number == len(self.columns):
            self.columns.append(column)
        elif len(self.columns[number]) < len(column):  # both grow by equal steps
            self.columns[number] = column
        return number

    def join(self):
        """Where each column begins, and all of them as one."""
        offsets = np.cumsum([0, *map(len, self.columns)])
        return offsets, np.concatenate([*self.columns, np.zeros(1, np.int32)])


def header_size(one):
    """Numbers in the header of a pass without classes: an exchange, or an end of an iteration."""
    if hasattr(one, "begin"):
        return len(one.columns)
    return 2 if one.vectors else 0


def _header(one, pool):
    """The header of a pass, with numbers of columns instead of offsets: the part before the columns, numbers, bases."""
    if not one.classes and header_size(one) != 2:  # an end of an iteration: offsets, and how many numbers
        return one.columns[:, 0].tolist(), [], []
    if not one.classes:  # an exchange: where its numbers are, and how many each rank gives
        place, *counts = one.columns[:, 0].tolist()
        column = np.array(counts, np.int32)
        return [], [pool.keep(column, _column_digest(column))], [place]
    columns, count = one.columns, one.columns.shape[1]
    if not count:
        return [0, 0, 1], [pool.keep(column, 0) for column in columns], [0] * len(columns)
    head, (beginning, marks) = [count, 0, 1], _mark(columns)
    missing = [mark for mark in marks if mark not in pool.known]
    if missing:
        other, turned = _mark(columns[:, ::-1])
        if sum(mark not in pool.known for mark in turned) < len(missing):
            columns, beginning, marks, head = columns[:, ::-1], other, turned, [count, count - 1, -1]
    return head, [pool.keep(*pair) for pair in zip(beginning, marks)], columns[:, 0].tolist()


def _mark(columns):
    """Columns less their first number, and a mark that identifies them: their step, where it is the same everywhere, or a hash."""
    beginning = np.ascontiguousarray(columns - columns[:, :1], np.int32)
    steps = np.diff(beginning, axis=1)
    even = np.all(steps == steps[:, :1], axis=1) if steps.shape[1] else np.ones(len(columns), bool)
    first = steps[:, 0].tolist() if steps.shape[1] else [0] * len(columns)
    return beginning, [step if e else _column_digest(x) for x, step, e in zip(beginning, first, even.tolist())]


def _column_digest(column):
    return hashlib.blake2b(column, digest_size=16).digest()


def _resolve(several, offsets):
    """Headers of the passes of a kernel as one array."""
    found: list = []
    for head, numbers, bases in several:
        found += head
        for number, base in zip(numbers, bases):
            found += [int(offsets[number]), base]
    return np.array(found or [0], np.int64)
