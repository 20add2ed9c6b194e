"""Threads of one process that run a large system together: ranks that share memory.

Each has its part of the system, as ranks of MPI do (`parted.py`); what kernels and time loops tell each other goes through memory,
in native code (`kernels/team.py`), without Python.
"""

import os
import threading

from ..errors import OptionError, TorsorError
from ..kernels.team import Team
from .ranks import Lost, Threads


class Crew(Threads):
    """One of several threads."""

    word = "thread"
    team: Team

    @classmethod
    def several(cls, count):
        found, team = super().several(count), Team(count)
        for one in found:
            one.team, one.exchange, one.agree = team, team.exchange[one.rank], team.agree[one.rank]
        return found

    def ended(self, error):
        super().ended(error)
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
    first, *others = Crew.several(count)
    failed: list = []

    def run(one):
        try:
            with one.at_work():
                action(one)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in others]
    for thread in threads:
        thread.start()
    try:
        with first.at_work():
            return action(first)
    except TorsorError:
        told = [error for error in failed if isinstance(error, TorsorError) and type(error).__name__ != "RunError"]
        if told:
            raise told[0] from None
        raise
    finally:
        first.team.end()  # whoever still waits does so in vain
        for thread in threads:
            thread.join()
