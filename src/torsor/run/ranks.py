"""Ranks: processes, or threads, that run one system together. What they tell each other, and what happens when one is lost.

Each rank has its own kernels, records and time loop. Three things are common to them:

    exchange   kernels tell each other numbers, each rank its part of them (`formulations/schedule.py`)
    agree      time loops agree on the largest of some numbers, so that they decide alike, and on the state of the trunk
    gathered   Python agrees on anything else, between slices of the loop

Compiled code calls the first two by address. Whatever goes wrong there is kept as `trouble`: numbers become NaN, at which every
loop comes to its end, and Python is told.
"""

import ctypes
import threading
from abc import ABC, abstractmethod

import numpy as np

LARGEST, SAME = 0, 1  # what is agreed on: the largest of each number; the numbers of rank 0
PATIENCE = 600.0  # seconds after which a thread that says nothing counts as lost


class Lost(Exception):
    """Another rank has ended, or said nothing for too long; the text says which, and why."""


class Ranks(ABC):
    """One of several ranks."""

    def __init__(self, rank, count):
        self.rank, self.count = rank, count
        self.trouble: BaseException | None = None
        pointer = ctypes.POINTER(ctypes.c_double)
        self.exchange = ctypes.CFUNCTYPE(None, pointer, ctypes.POINTER(ctypes.c_int32))(self._exchanged)
        self.agree = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int64, ctypes.c_int64)(self._agreed)

    @abstractmethod
    def share(self, numbers, counts):
        """Fill in the numbers of all ranks, those of one behind those of the other; my own are there already."""

    @abstractmethod
    def gathered(self, thing):
        """What every rank has given, in their order: any object that can be pickled."""

    @abstractmethod
    def ended(self, error):
        """Tell the others that this rank ends with an error."""

    def largest(self, *numbers):
        """The largest of each number over all ranks; not a number if any is not."""
        return np.max(self.gathered(numbers), axis=0)

    # for compiled code

    def _exchanged(self, address, counts):
        counts = [counts[k] for k in range(self.count)]
        numbers = np.ctypeslib.as_array(address, (sum(counts),))
        self._or_nan(lambda: self.share(numbers, counts), numbers)

    def _agreed(self, address, count, what):
        numbers, every = np.ctypeslib.as_array(address, (count,)), np.empty((self.count, count))

        def told():
            if what == LARGEST:
                every[self.rank] = numbers
                self.share(every.ravel(), [count] * self.count)
                numbers[:] = every.max(axis=0)
            else:
                self.share(numbers, [count] + [0] * (self.count - 1))

        self._or_nan(told, numbers)

    def _or_nan(self, action, numbers):
        if self.trouble is None:
            try:
                action()
            except BaseException as error:  # nothing may be raised through compiled code
                self.trouble = error
        if self.trouble is not None:
            numbers[:] = np.nan


class Threads(Ranks):
    """Ranks that are threads of one process: to try things out."""

    def __init__(self, rank, count, barrier, table):
        super().__init__(rank, count)
        self.barrier, self.table = barrier, table

    @classmethod
    def several(cls, count):
        """As many ranks that belong together."""
        barrier = threading.Barrier(count, timeout=PATIENCE)
        table: dict = {}
        return [cls(rank, count, barrier, table) for rank in range(count)]

    def gathered(self, thing):
        try:
            self.table[self.rank] = thing
            self.barrier.wait()
            found = [self.table[k] for k in range(self.count)]
            self.barrier.wait()
            return found
        except threading.BrokenBarrierError:
            raise Lost(self.table.get("ended", "a rank has said nothing for too long")) from None

    def share(self, numbers, counts):
        ends = np.cumsum([0, *counts])
        parts = self.gathered(numbers[ends[self.rank] : ends[self.rank + 1]].copy())
        for k, part in enumerate(parts):
            numbers[ends[k] : ends[k + 1]] = part

    def ended(self, error):
        self.table.setdefault("ended", f"rank {self.rank} has ended: {error}")
        self.barrier.abort()
