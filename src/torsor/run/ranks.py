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
from contextlib import contextmanager, nullcontext

import numpy as np

from ..errors import OptionError, RunError
from ..methods.agreement import LARGEST

PATIENCE = 600.0  # seconds after which a thread that says nothing counts as lost


class Lost(Exception):
    """Another rank has ended, or said nothing for too long; the text says which, and why."""


class Ranks(ABC):
    """One of several ranks."""

    word = "rank"

    def __init__(self, rank, count):
        self.rank, self.count = rank, count
        self.trouble: BaseException | None = None
        self.shares: list[str] = []  # what each rank has, in words, once that is known
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

    @contextmanager
    def together(self):
        """What fails in here is told to the others, and what failed elsewhere is an error here, too; all leave together."""
        try:
            yield
            self.check()
            self.gathered(None)
        except Lost as lost:
            raise RunError(f"{lost}") from None
        except BaseException as error:
            self.ended(error)
            raise

    @contextmanager
    def waiting(self):
        """While others are waited for, or compiled code runs."""
        yield

    def to_first(self, thing):
        """The same on rank 0; None on all others."""
        found = self.gathered(thing)
        return found if self.rank == 0 else None

    def check(self):
        """Raise what went wrong in compiled code."""
        if self.trouble is not None:
            raise self.trouble

    def named(self, rank):
        """A rank, and what it has."""
        return f"{self.word} {rank} ({self.shares[rank]})" if self.shares else f"{self.word} {rank}"

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

    def all(self, fine):
        """Whether something is so on all ranks."""
        return all(self.gathered(bool(fine)))

    def any(self, found):
        """Whether something is so on any rank."""
        return any(self.gathered(bool(found)))


class Alone:
    """Where there are no other ranks."""

    rank, count, exchange, waiting = 0, 1, None, nullcontext

    def gathered(self, thing):
        return [thing]

    def largest(self, *numbers):
        return np.array(numbers)

    def all(self, fine):
        return fine

    def any(self, found):
        return found


ALONE = Alone()


class Threads(Ranks):
    """Ranks that are threads of one process. Only one of them is at work in Python at a time, for CasADi's sake; where it waits,
    or compiled code runs, another one is."""

    def __init__(self, rank, count, barrier, table, lock):
        super().__init__(rank, count)
        self.barrier, self.table, self.turn, self.lock, self.held = barrier, table, 0, lock, False

    @classmethod
    def several(cls, count):
        """As many ranks that belong together."""
        barrier, lock = threading.Barrier(count, timeout=PATIENCE), threading.Lock()
        table: dict = {}
        return [cls(rank, count, barrier, table, lock) for rank in range(count)]

    @contextmanager
    def at_work(self):
        """While this thread runs."""
        with self.lock:
            self.held = True
            try:
                yield
            finally:
                self.held = False

    @contextmanager
    def waiting(self):
        held, self.held = self.held, False
        if held:
            self.lock.release()
        try:
            yield
        finally:
            if held:
                self.lock.acquire()
                self.held = True

    def gathered(self, thing):
        self.turn += 1
        self.table[self.turn, self.rank] = thing
        self.table.pop((self.turn - 2, self.rank), None)  # everybody has been past that
        every = [(self.turn, k) for k in range(self.count)]
        try:
            with self.waiting():
                self.barrier.wait()
        except threading.BrokenBarrierError:
            if not all(place in self.table for place in every):  # else everybody was here before
                raise Lost(self.table.get("ended", "a rank has said nothing for too long")) from None
        return [self.table[place] for place in every]

    def share(self, numbers, counts):
        ends = np.cumsum([0, *counts])
        parts = self.gathered(numbers[ends[self.rank] : ends[self.rank + 1]].copy())
        for k, part in enumerate(parts):
            numbers[ends[k] : ends[k + 1]] = part

    def ended(self, error):
        self.table.setdefault("ended", f"{self.named(self.rank)} has ended: {error}")
        self.barrier.abort()


def ranks_of(given, certify, checkpoint):
    """The ranks that are meant by what `simulate` is given: True for those of MPI."""
    if certify or checkpoint is not None:
        raise OptionError("ranks: not together with certify or a checkpoint")
    if isinstance(given, Ranks):
        return given
    if given is not True:
        raise OptionError(f"ranks must be True or False, got {given!r}")
    from .mpi import world  # late: MPI is started there

    return world()
