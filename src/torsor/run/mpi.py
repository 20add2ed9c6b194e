"""Ranks that are processes started by MPI, on one computer or on several.

Only here is MPI used: `share` and `gathered` are collective operations that do not block. While they wait, lifelines are
listened to (`lifeline.py`), so that a rank that has ended ends the others.
"""

import atexit
import ctypes
import os
import pickle
import signal
import sys
import time
from functools import cache

import numpy as np

from ..errors import OptionError
from ..methods.agreement import LARGEST
from .lifeline import Lifeline, in_time
from .ranks import Lost, Ranks

EAGER = 200  # looks at an operation before others may have the processor
LISTEN = 0.005  # seconds between two looks at the lifelines
START = 120.0  # seconds in which all ranks have to start
NOTICE = 1.0  # seconds in which it is heard why ranks are being ended
REST = 5e-5  # seconds to sleep between looks once an operation has taken longer than that
STARTED = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
)
INSTALL = "install it with `pip install torsor[mpi]`, or mpi4py for the MPI of a cluster"


def started():
    """How many processes MPI has started beside each other here, as its environment says; 1 where it has not."""
    sizes = [os.environ.get(size, "") for rank, size in STARTED if rank in os.environ]
    return max([int(text) for text in sizes if text.isdigit()], default=1)


def rank_of_environment():
    """Which of these processes this is."""
    ranks = [os.environ[rank] for rank, _ in STARTED if os.environ.get(rank, "").isdigit()]
    return int(ranks[0]) if ranks else 0


@cache
def world():
    """The ranks of MPI that this process belongs to."""
    late = f"rank {rank_of_environment()}: not all ranks have started within {START:.0f} s: one has ended before, or has no torsor"
    with in_time(START, late):
        return MPI()


class MPI(Ranks):
    """A rank of MPI."""

    def __init__(self):
        self.mpi, alone = (
            _loaded(),
            "this process is the only one of MPI: start several with `mpiexec -n N` or `--ranks N`",
        )
        self.world = self.mpi.COMM_WORLD
        if self.world.size == 1:
            raise OptionError(f"ranks: {alone}")
        pointer = ctypes.POINTER(ctypes.c_double)
        exchange = ctypes.CFUNCTYPE(None, pointer, ctypes.POINTER(ctypes.c_int32))(self._exchanged)
        agree = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int64, ctypes.c_int64)(self._agreed)
        super().__init__(self.world.rank, self.world.size, exchange, agree)
        self.parent = os.getppid()
        self.lifeline = Lifeline(self.rank, self.count, lambda thing: self.world.bcast(thing))
        if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # by which MPICH says that a process has ended
        atexit.register(self._leave)

    def _leave(self):
        """MPI ends in an orderly way, where all ranks do; else it might wait for those that are gone."""
        if self.trouble is None and self.lifeline.listen() is None and not self.mpi.Is_finalized():
            self.mpi.Finalize()

    def share(self, numbers, counts):
        """Fill in the numbers of all ranks, those of one behind those of the other; my own are there already."""
        kind = self.mpi.DOUBLE if numbers.dtype == float else self.mpi.BYTE
        places = np.cumsum([0, *counts])[:-1].tolist()
        self._wait(self.world.Iallgatherv(self.mpi.IN_PLACE, [numbers, counts, places, kind]))

    def gathered(self, thing):
        own, ends = self._packed(thing)
        every = np.zeros(ends[-1], np.uint8)
        every[ends[self.rank] : ends[self.rank + 1]] = own
        self.share(every, np.diff(ends).tolist())
        return [pickle.loads(every[a:b].tobytes()) for a, b in zip(ends, ends[1:])]

    def to_first(self, thing):
        own, ends = self._packed(thing)
        if self.rank:
            self._wait(self.world.Isend([own, self.mpi.BYTE], 0))
            return None
        found = [thing]
        for rank in range(1, self.count):
            told = np.zeros(ends[rank + 1] - ends[rank], np.uint8)
            self._wait(self.world.Irecv([told, self.mpi.BYTE], rank))
            found.append(pickle.loads(told.tobytes()))
        return found

    def _packed(self, thing):
        """An object as bytes, and where those of all ranks end, one after the other."""
        own, sizes = np.frombuffer(pickle.dumps(thing), np.uint8), np.zeros(self.count)
        sizes[self.rank] = own.size
        self.share(sizes, [1] * self.count)
        return own, np.cumsum([0, *sizes.astype(int)])

    def _wait(self, request):
        """Wait for an operation, as long as all ranks live."""
        for _ in range(EAGER):
            if request.Test():
                return
        begun = heard = time.perf_counter()
        while not request.Test():
            now = time.perf_counter()
            if now - heard > LISTEN:
                self._listen()
                heard = now
            time.sleep(0 if now - begun < LISTEN else REST)

    def _listen(self):
        """Raise Lost where a rank has ended, or what started the ranks."""
        found, orphaned = self.lifeline.listen(), os.getppid() != self.parent
        limit = time.perf_counter() + NOTICE
        while found is None and orphaned and time.perf_counter() < limit:  # for a reason that is about to be heard
            time.sleep(LISTEN)
            found = self.lifeline.listen()
        if found is not None:
            rank, text = found
            raise Lost(
                f"{self.named(rank)} {'was lost: its process has ended' if text is None else f'has ended: {text}'}"
            )
        if orphaned:
            raise Lost("what started the ranks has ended")

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

    def ended(self, error):
        self.trouble = self.trouble or Lost(str(error))
        self.lifeline.tell(self.rank, error)


def _loaded():
    """MPI, started."""
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.finalize = False  # `_leave` does, if all is well
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise OptionError(f"ranks: MPI is not available ({error}): {INSTALL}") from None
    return MPI
