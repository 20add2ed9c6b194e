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
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import OptionError, RunError
from ..methods.agreement import LARGEST
from .lifeline import LEFT, LOST, Lifeline, Notice, in_time
from .processes import OVER, job, rank_of_environment
from .ranks import Lost, Ranks, said

EAGER = 200  # looks at an operation before others may have the processor
LISTEN = 0.005  # seconds between two looks at the lifelines
START = 120.0  # seconds in which all ranks have to start
NOTICE = 1.0  # seconds in which it is heard why ranks are being ended
LEAVE = 0.002  # seconds after which ranks that have no results look whether rank 0 has finished
FIRST = 1024  # bytes of what rank 0 says first
REST = 5e-5  # seconds to sleep between looks once an operation has taken longer than that
INSTALL = "install it with `pip install torsor[mpi]`, or mpi4py for the MPI of a cluster"


@cache
def world():
    """The ranks of MPI that this process belongs to."""
    late = f"rank {rank_of_environment()}: not all ranks have started within {START:.0f} s: one has ended before, or has no torsor"
    with in_time(START, late, lambda: f"rank {rank_of_environment()}: {why}" if (why := job().ended()) else ""):
        try:
            return MPI()
        except (Lost, OSError) as error:  # the system's own errors: ranks that do not connect
            raise RunError(f"rank {rank_of_environment()}: the ranks cannot be connected: {error}") from None


class MPI(Ranks):
    """A rank of MPI.

    world   is used to connect the ranks and to make a communicator for each run: operations of a run that failed are abandoned
    run     number of the present run
    """

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
        self.run, self.comm, self.abandoned = 0, self.world, list[Any]()
        self.lifeline = Lifeline(self.rank, self.count, self._from_first, self._refuse_ended)
        job().joined = True
        if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # by which MPICH says that a process has ended
        atexit.register(self._leave)

    def _refuse_ended(self):
        """Raise Lost where a rank has ended before it was connected."""
        if why := job().ended():
            raise Lost(why)

    def _from_first(self, thing):
        """What rank 0 gives, on all ranks, before they are connected."""
        content = np.zeros(FIRST, np.uint8)
        own = np.frombuffer(pickle.dumps(thing), np.uint8)
        content[: own.size] = own if self.rank == 0 else 0
        request, heard = self.world.Ibcast([content, self.mpi.BYTE]), time.perf_counter()
        while not request.Test():
            if time.perf_counter() - heard > NOTICE:
                self._refuse_ended()
                heard = time.perf_counter()
            time.sleep(REST)
        return pickle.loads(content.tobytes())

    def _leave(self):
        """MPI ends in an orderly way, where all ranks do; else it might wait for those that are gone."""
        self.lifeline.listen(self.run)
        self.lifeline.tell(0, Notice(self.rank, LEFT, job().failure or OVER))
        if not self.lifeline.lost and not self.mpi.Is_finalized():
            self.mpi.Finalize()

    def begin(self):
        """A communicator of its own for the next run: what the last one left undone does not reach it."""
        super().begin()
        self.run, self.shares = self.run + 1, []
        self.comm, request = self.world.Idup()
        self._wait(request)

    def leave(self):
        self.check()
        request = self.comm.Ibarrier()
        if self.rank:
            time.sleep(LEAVE)  # rank 0 has results to look at, and gets the processor
        self._wait(request)
        self.comm.Free()

    def share(self, numbers, counts):
        """Fill in the numbers of all ranks, those of one behind those of the other; my own are there already."""
        kind = self.mpi.DOUBLE if numbers.dtype == float else self.mpi.BYTE
        places = [0, *accumulate(counts)][:-1]
        self._wait(self.comm.Iallgatherv(self.mpi.IN_PLACE, [numbers, counts, places, kind]), numbers)

    def gathered(self, thing):
        own, ends = self._packed(thing)
        every = np.zeros(ends[-1], np.uint8)
        every[ends[self.rank] : ends[self.rank + 1]] = own
        self.share(every, np.diff(ends).tolist())
        return [pickle.loads(every[a:b].tobytes()) for a, b in zip(ends, ends[1:])]

    def to_first(self, thing):
        own, ends = self._packed(thing)
        if self.rank:
            self._wait(self.comm.Isend([own, self.mpi.BYTE], 0), own)
            return None
        found = [thing]
        for rank in range(1, self.count):
            told = np.zeros(ends[rank + 1] - ends[rank], np.uint8)
            self._wait(self.comm.Irecv([told, self.mpi.BYTE], rank), told)
            found.append(pickle.loads(told.tobytes()))
        return found

    def _packed(self, thing):
        """An object as bytes, and where those of all ranks end, one after the other."""
        own, sizes = np.frombuffer(pickle.dumps(thing), np.uint8), np.zeros(self.count)
        sizes[self.rank] = own.size
        self.share(sizes, [1] * self.count)
        return own, np.cumsum([0, *sizes.astype(int)])

    def _wait(self, request, *buffers):
        """Wait for an operation, as long as all ranks live."""
        for _ in range(EAGER):
            if request.Test():
                return
        begun = heard = time.perf_counter()
        try:
            while not request.Test():
                now = time.perf_counter()
                if now - heard > LISTEN:
                    self._listen()
                    heard = now
                time.sleep(0 if now - begun < LISTEN else REST)
        except BaseException:
            self.abandoned.append((request, buffers))  # MPI may still write there
            raise

    def _listen(self):
        """Raise Lost where a rank has ended this run, or its program, or what started the ranks has ended."""
        notice, orphaned = self.lifeline.listen(self.run), os.getppid() != self.parent
        limit = time.perf_counter() + NOTICE
        while notice is None and orphaned and time.perf_counter() < limit:  # for a reason that is about to be heard
            time.sleep(LISTEN)
            notice = self.lifeline.listen(self.run)
        if notice is not None:
            why = "was lost: its process has ended" if notice.kind == LOST else f"has ended: {notice.text}"
            raise Lost(f"{self.named(notice.rank)} {why}", notice.kind)
        if orphaned:
            raise Lost("what started the ranks has ended")

    # for compiled code

    def _exchanged(self, address, counts):
        counts = counts[: self.count]
        self._or_nan(lambda every: self.share(every, counts), _array(address, sum(counts)))

    def _agreed(self, address, count, what):
        def told(own):
            if what == LARGEST:
                every = np.empty((self.count, count))
                every[self.rank] = own
                self.share(every.ravel(), [count] * self.count)
                own[:] = every.max(axis=0)
            else:
                self.share(own, [count] + [0] * (self.count - 1))

        self._or_nan(told, _array(address, count))

    def _or_nan(self, action, numbers):
        """Let an action change numbers of compiled code, by way of a copy: MPI may write to it after a run was abandoned."""
        if self.trouble is None:
            try:
                own = numbers.copy()
                action(own)
                numbers[:] = own
            except BaseException as error:  # nothing may be raised through compiled code
                self.trouble = error
        if self.trouble is not None:
            numbers[:] = np.nan

    def ended(self, error):
        self.trouble = self.trouble or Lost(said(error))
        self.lifeline.tell(self.run, Notice(self.rank, type(error).__name__, said(error)))


def _array(address, count):
    """Numbers that a pointer of compiled code points to."""
    return np.frombuffer((ctypes.c_double * count).from_address(ctypes.addressof(address.contents)))


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
