"""Threads of one process that run a large system together: ranks that share memory.

Each has its part of the system, as ranks of MPI do (`parted.py`); what kernels and time loops tell each other goes through memory,
in native code (`kernels/team.py`), without Python.
"""

import os
import threading
from contextlib import contextmanager

from ..errors import OptionError, RunError, TorsorError
from ..kernels.team import Team
from .ranks import Lost, Ranks

PATIENCE = 600.0  # seconds after which a thread that says nothing counts as lost


class Threads(Ranks):
    """One of several threads. Only one of them is at work in Python at a time, for CasADi's sake; where it waits,
    or compiled code runs, another one is."""

    word = "thread"

    def __init__(self, rank, team, barrier, table, lock):
        super().__init__(rank, team.size, team.exchange[rank], team.agree[rank])
        self.team, self.barrier, self.table, self.lock = team, barrier, table, lock
        self.turn, self.held = 0, False

    @classmethod
    def several(cls, count):
        """As many as belong together."""
        team, barrier, lock = Team(count), threading.Barrier(count, timeout=PATIENCE), threading.Lock()
        table: dict = {}
        return [cls(rank, team, barrier, table, lock) for rank in range(count)]

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
                raise Lost(self.table.get("ended", "a thread has said nothing for too long")) from None
        return [self.table[place] for place in every]

    def ended(self, error):
        self.table.setdefault("ended", f"{self.named(self.rank)} has ended: {error}")
        self.barrier.abort()
        self.team.end()

    def check(self):
        if self.trouble is None and self.team.over:
            self.trouble = Lost(self.table.get("ended", "threads tell each other more numbers than there is room for"))
        super().check()


def count_of(threads, certify, checkpoint):
    """How many threads are asked for."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads must be a whole number of at least 1, got {threads!r}")
    if threads > 1 and (certify or checkpoint is not None):
        raise OptionError("threads: not together with certify or a checkpoint")
    most = os.cpu_count() or 1
    if threads > most:
        raise OptionError(f"threads must not be more than this machine's processors, {most}, got {threads}")
    return threads


def run_together(count, action):
    """What an action gives for the first of so many threads, which is this one; an error of any of them is one here."""
    first, *others = Threads.several(count)
    failed: list = []

    def run(one):
        try:
            with one.at_work():
                action(one)
        except BaseException as error:
            failed.append(error)

    def end():
        first.team.end()  # whoever still waits does so in vain
        for thread in threads:
            thread.join()

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in others]
    for thread in threads:
        thread.start()
    try:
        with first.at_work():
            return action(first)
    except RunError as lost:
        end()
        causes = [error for error in failed if isinstance(error, TorsorError) and not isinstance(error, RunError)]
        raise (causes[0] if causes else lost) from None
    finally:
        end()
