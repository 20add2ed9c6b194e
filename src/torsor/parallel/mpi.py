"""Ranks that are processes started by MPI, on one computer or on several.

This is the only file that uses MPI. `share` and `gather` use nonblocking collective operations. While they wait, the connections
between ranks are read (`rank_connections.py`), so that the end of one rank ends the others.
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
from ..methods.rank_agreement import LARGEST
from .mpi_processes import PROGRAM_OVER, job, rank_of_environment
from .rank_connections import LEFT, LOST, Notice, RankConnections, time_limit
from .ranks import RankLost, Ranks, error_text

BUSY_TESTS = 200  # tests of an operation before the processor is yielded to other processes
LISTEN_INTERVAL = 0.005  # time between two reads of the connections [s]
START_TIMEOUT = 120.0  # time within which all ranks must start [s]
NOTICE_TIME = 1.0  # time in which a notice about the end of the ranks may arrive [s]
LEAVE_DELAY = 0.002  # time before ranks without results test whether rank 0 has finished [s]
BROADCAST_BYTES = 1024  # size of the first broadcast of rank 0
POLL_SLEEP = 5e-5  # sleep between two tests of an operation that takes longer than LISTEN_INTERVAL [s]
INSTALL = "install it with `pip install torsor[mpi]`, or mpi4py for the MPI of a cluster"


@cache
def world():
    """The ranks of MPI that this process belongs to."""
    owner = f"rank {rank_of_environment()}"
    late = f"{owner}: not all ranks have started within {START_TIMEOUT:.0f} s: one has ended before, or torsor is not installed"

    def failure():
        return f"{owner}: {reason}" if (reason := job().early_end()) else ""

    with time_limit(START_TIMEOUT, late, failure):
        try:
            return MPI()
        except (RankLost, OSError) as error:  # OSError: ranks that do not connect
            raise RunError(f"{owner}: the ranks cannot be connected: {error}") from None


class MPI(Ranks):
    """A rank of MPI.

    world         communicator of all ranks, to connect them and to create a communicator for each run
    comm          communicator of the present run
    run           number of the present run
    connections   connections to other ranks, which report their end
    abandoned     operations of runs that failed, with their buffers
    """

    def __init__(self):
        self.mpi = _load_mpi()
        self.world = self.mpi.COMM_WORLD
        if self.world.size == 1:
            raise OptionError(
                "ranks: this process is the only one of MPI: start several with `mpiexec -n N` or `--ranks N`"
            )
        pointer = ctypes.POINTER(ctypes.c_double)
        exchange = ctypes.CFUNCTYPE(None, pointer, ctypes.POINTER(ctypes.c_int32))(self._exchange)
        agree = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int64, ctypes.c_int64)(self._agree)
        super().__init__(self.world.rank, self.world.size, exchange, agree)
        self.parent = os.getppid()
        self.run = 0
        self.comm = self.world
        self.abandoned: list[Any] = []
        self.connections = RankConnections(self.rank, self.count, self._broadcast, self._refuse_ended)
        job().joined = True
        if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the signal of MPICH that a process has ended
        atexit.register(self._finalize)

    def _refuse_ended(self):
        """Raise Lost if a rank has ended before it was connected."""
        if reason := job().early_end():
            raise RankLost(reason)

    def _broadcast(self, thing):
        """The object of rank 0, on all ranks, before they are connected."""
        content = np.zeros(BROADCAST_BYTES, np.uint8)
        own = np.frombuffer(pickle.dumps(thing), np.uint8)
        content[: own.size] = own if self.rank == 0 else 0
        request = self.world.Ibcast([content, self.mpi.BYTE])
        checked = time.perf_counter()
        while not request.Test():
            if time.perf_counter() - checked > NOTICE_TIME:
                self._refuse_ended()
                checked = time.perf_counter()
            time.sleep(POLL_SLEEP)
        return pickle.loads(content.tobytes())

    def _finalize(self):
        """Notify the other ranks at the end of the program. Finalize MPI only if no rank is lost: else it might wait for it."""
        self.connections.listen(self.run)
        self.connections.send(0, Notice(self.rank, LEFT, job().failure or PROGRAM_OVER))
        if not self.connections.lost and not self.mpi.Is_finalized():
            self.mpi.Finalize()

    def begin(self):
        """Create a communicator for the next run, which unfinished operations of the last one do not reach."""
        super().begin()
        self.run += 1
        self.shares = []
        self.comm, request = self.world.Idup()
        self._wait(request)

    def leave(self):
        self.check()
        request = self.comm.Ibarrier()
        if self.rank:
            time.sleep(LEAVE_DELAY)  # leave the processor to rank 0, which evaluates the results
        self._wait(request)
        self.comm.Free()

    def share(self, numbers, counts):
        """Fill a vector with the numbers of all ranks, in their order. Those of this rank are already in place.

        counts   number of entries of each rank
        """
        kind = self.mpi.DOUBLE if numbers.dtype == float else self.mpi.BYTE
        places = [0, *accumulate(counts)][:-1]
        self._wait(self.comm.Iallgatherv(self.mpi.IN_PLACE, [numbers, counts, places, kind]), numbers)

    def gather(self, thing):
        own, ends = self._pack(thing)
        content = np.zeros(ends[-1], np.uint8)
        content[ends[self.rank] : ends[self.rank + 1]] = own
        self.share(content, np.diff(ends).tolist())
        return [pickle.loads(content[a:b].tobytes()) for a, b in zip(ends, ends[1:])]

    def to_first(self, thing):
        own, ends = self._pack(thing)
        if self.rank:
            self._wait(self.comm.Isend([own, self.mpi.BYTE], 0), own)
            return None
        objects = [thing]
        for rank in range(1, self.count):
            content = np.zeros(ends[rank + 1] - ends[rank], np.uint8)
            self._wait(self.comm.Irecv([content, self.mpi.BYTE], rank), content)
            objects.append(pickle.loads(content.tobytes()))
        return objects

    def _pack(self, thing):
        """The object of this rank as bytes, and the cumulative sizes of those of all ranks."""
        own = np.frombuffer(pickle.dumps(thing), np.uint8)
        sizes = np.zeros(self.count)
        sizes[self.rank] = own.size
        self.share(sizes, [1] * self.count)
        return own, np.cumsum([0, *sizes.astype(int)])

    def _wait(self, request, *buffers):
        """Wait for an operation. Raises Lost if a rank ends."""
        for _ in range(BUSY_TESTS):
            if request.Test():
                return
        begin = listened = time.perf_counter()
        try:
            while not request.Test():
                now = time.perf_counter()
                if now - listened > LISTEN_INTERVAL:
                    self._listen()
                    listened = now
                time.sleep(0 if now - begin < LISTEN_INTERVAL else POLL_SLEEP)
        except BaseException:
            self.abandoned.append((request, buffers))  # MPI may still write there
            raise

    def _listen(self):
        """Raise Lost if this run or the program of another rank has ended, or if the launcher has ended."""
        notice = self.connections.listen(self.run)
        orphaned = os.getppid() != self.parent
        limit = time.perf_counter() + NOTICE_TIME
        while notice is None and orphaned and time.perf_counter() < limit:  # a notice with the reason may still arrive
            time.sleep(LISTEN_INTERVAL)
            notice = self.connections.listen(self.run)
        if notice is not None:
            reason = "was lost: its process has ended" if notice.kind == LOST else f"has ended: {notice.text}"
            raise RankLost(f"{self.name_of(notice.rank)} {reason}", notice.kind)
        if orphaned:
            raise RankLost("the process that started the ranks has ended")

    # called by compiled code

    def _exchange(self, address, counts):
        """Exchange the parts of a vector: the collective operation `exchange`."""
        counts = counts[: self.count]
        self._change_or_set_nan(lambda numbers: self.share(numbers, counts), _array(address, sum(counts)))

    def _agree(self, address, count, operation):
        """Replace numbers by their maximum over all ranks, or by those of rank 0: the collective operation `agree`."""

        def reduce(numbers):
            if operation == LARGEST:
                values = np.empty((self.count, count))
                values[self.rank] = numbers
                self.share(values.ravel(), [count] * self.count)
                numbers[:] = values.max(axis=0)
            else:
                self.share(numbers, [count] + [0] * (self.count - 1))

        self._change_or_set_nan(reduce, _array(address, count))

    def _change_or_set_nan(self, action, numbers):
        """Apply an action to numbers of compiled code; after an error they are NaN.

        The action works on a copy, because MPI may write to its buffer after a run was abandoned.
        """
        if self.trouble is None:
            try:
                copy = numbers.copy()
                action(copy)
                numbers[:] = copy
            except BaseException as error:  # an error must not pass through compiled code
                self.trouble = error
        if self.trouble is not None:
            numbers[:] = np.nan

    def notify_end(self, error):
        self.trouble = self.trouble or RankLost(error_text(error))
        self.connections.send(self.run, Notice(self.rank, type(error).__name__, error_text(error)))


def _array(address, count):
    """The numbers at an address of compiled code."""
    return np.frombuffer((ctypes.c_double * count).from_address(ctypes.addressof(address.contents)))


def _load_mpi():
    """Import mpi4py, which starts MPI."""
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.finalize = False  # `_finalize` does it if no rank is lost
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise OptionError(f"ranks: MPI is not available ({error}): {INSTALL}") from None
    return MPI
