"""Threads of one process that run a large system together: ranks that share memory.

Each thread has its share of the system, like a rank of MPI (`run/rank_part.py`). Kernels and time loops exchange numbers through
memory, in native code (`kernels/thread_exchange.py`), without Python.
"""

import os
import threading
from contextlib import contextmanager

from ..errors import OptionError, RunError, TorsorError
from ..kernels.thread_exchange import Team
from .ranks import RankLost, Ranks

BARRIER_TIMEOUT = 600.0  # after this time a thread that does not reach a barrier counts as lost [s]


class Threads(Ranks):
    """One of several threads. Only one of them runs Python at a time, because CasADi requires it. While it waits, or runs compiled
    code, another one may run Python."""

    word = "thread"

    def __init__(self, rank, team, barrier, table, lock):
        super().__init__(rank, team.size, team.exchange[rank], team.agree[rank])
        self.team = team
        self.barrier = barrier
        self.table = table
        self.lock = lock
        self.turn = 0  # number of calls of `gather`
        self.has_lock = False

    @classmethod
    def create(cls, count):
        """`count` threads that run one system together."""
        team = Team(count)
        barrier = threading.Barrier(count, timeout=BARRIER_TIMEOUT)
        lock = threading.Lock()
        table: dict = {}
        return [cls(rank, team, barrier, table, lock) for rank in range(count)]

    @contextmanager
    def python_lock(self):
        """Hold the lock of the thread that runs Python."""
        with self.lock:
            self.has_lock = True
            try:
                yield
            finally:
                self.has_lock = False

    @contextmanager
    def waiting(self):
        had_lock = self.has_lock
        self.has_lock = False
        if had_lock:
            self.lock.release()
        try:
            yield
        finally:
            if had_lock:
                self.lock.acquire()
                self.has_lock = True

    def gather(self, thing):
        self.turn += 1
        self.table[self.turn, self.rank] = thing
        self.table.pop((self.turn - 2, self.rank), None)  # all threads have read it
        keys = [(self.turn, k) for k in range(self.count)]
        try:
            with self.waiting():
                self.barrier.wait()
        except threading.BrokenBarrierError:
            if not all(key in self.table for key in keys):  # else all threads reached this call before one ended
                raise RankLost(
                    self.table.get("ended", f"a thread did not respond within {BARRIER_TIMEOUT:.0f} s")
                ) from None
        return [self.table[key] for key in keys]

    def notify_end(self, error):
        self.table.setdefault("ended", f"{self.name_of(self.rank)} has ended: {error}")
        self.barrier.abort()
        self.team.end()

    def check(self):
        if self.trouble is None and self.team.over:
            self.trouble = RankLost(
                self.table.get("ended", "threads exchange more numbers than their buffer can store")
            )
        super().check()


def validate_thread_count(threads, checkpoint):
    """Validate the options of a run by threads. Returns the number of threads."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads must be a whole number of at least 1, got {threads!r}")
    if threads > 1 and checkpoint is not None:
        raise OptionError("threads: not together with a checkpoint; set threads=1")
    processors = os.cpu_count() or 1
    if threads > processors:
        raise OptionError(f"threads must not be more than this machine's processors, {processors}, got {threads}")
    return threads


def run_together(count, action):
    """Run an action in `count` threads; the first is the calling one. Returns its result. An error of any thread is raised here."""
    first, *others = Threads.create(count)
    errors: list = []

    def run(ranks):
        try:
            with ranks.python_lock():
                action(ranks)
        except BaseException as error:
            errors.append(error)

    def end():
        first.team.end()  # threads that still wait in compiled code return
        for thread in threads:
            thread.join()

    threads = [threading.Thread(target=run, args=(ranks,), daemon=True) for ranks in others]
    for thread in threads:
        thread.start()
    try:
        with first.python_lock():
            return action(first)
    except RunError as lost:
        end()
        causes = [error for error in errors if isinstance(error, TorsorError) and not isinstance(error, RunError)]
        raise (causes[0] if causes else lost) from (None if causes else lost.__cause__)
    finally:
        end()
