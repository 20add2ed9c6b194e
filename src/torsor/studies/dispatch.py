"""Runs of a study handed out to those who carry them out, in portions that last about as long as each other."""

import os
import pickle
import signal
import threading
import warnings
from concurrent import futures

import numpy as np

from ..errors import OptionError, RunError
from ..run.interruption import abrupt, never_lost, noted
from .executors import DEEP, workers
from .order import unpacked, version
from .portion import Portion, blank_counts, joined
from .session import INTERRUPTED, Session
from .stopping import Stop

LASTING = 0.5  # seconds that a portion should take: long against what sending it costs, short against the patience of a person
SHORTEST = 0.05  # seconds of a portion, towards the end
FIRST = 4  # runs of the first portions, where there are many: as many as may run side by side
FEW = 100  # runs for each worker, where the first portions have one each
PATIENCE = 5.0  # seconds that a study which is interrupted waits for what those who work have done
GROWING = 128  # times as many runs as the portion before it, at most: how long a run takes is not known at first
ENDED = ("KilledWorker", "WorkerCrashedError")  # what dask and ray tell of workers that ended
LOST = "not run: the study ended before"
SESSIONS: dict[bytes, Session] = {}  # of other processes that have sent orders here; the last ones
LOCK = threading.Lock()


class Dispatch:
    """The runs of a study on their way.

    left     ranges of runs that nobody has;   pending   futures of portions;   done   portions that are there
    size     runs of the next portion;   signal   which ended the study, if any
    """

    def __init__(self, session, runs, pushed, folder):
        self.session, self.runs, self.pushed, self.folder = session, runs, pushed, folder
        self.done = [] if folder is None else folder.portions()
        self.left, self.pending, self.size = missing(len(runs), self.done), set(), 1
        self.stop, self.signal = Stop(), None

    def carry_out(self, executor, bar):
        """All runs as one portion. Where somebody interrupts it, those that are not there are marked."""
        team = workers(executor)
        self.size = FIRST if len(self.runs) > FEW * team.count else 1
        packed = None if team.here else self.session.order.packed()
        try:
            while self.left or self.pending:
                deep = DEEP if self.done else 1  # the first portions tell how long a run takes
                while self.left and len(self.pending) < deep * team.count:
                    self._hand_out(team, packed)
                if not team.here:
                    import xarray  # noqa: F401  now, while others work
                self._wait(team)
                bar(sum(map(len, self.done)), [0])
        except KeyboardInterrupt:
            with noted(keeps=False) as note:
                note.signal = self.signal  # the second Ctrl-C is not waited for
                self._interrupted(team)
            self._warn_or_end()
        except RunError as error:
            self._mark(LOST)
            raise RunError(str(error), joined(self.done)) from error
        finally:
            self._end(team)
            bar.close()
        whole = joined(self.done)
        whole.told |= {} if self.signal is None else {"interrupted_by": signal.Signals(self.signal).name}
        return whole

    def _wait(self, team):
        """Keep the portions that come next. A signal ends the wait for them, but not what is done with them; processes that are
        started for others in between do not inherit how it is handled."""
        with noted(keeps=False) as note:
            try:
                with abrupt():
                    over, self.pending = futures.wait(self.pending, return_when=futures.FIRST_COMPLETED)
                self._gather(over, team)
            finally:
                self.signal = note.signal
        if self.signal is not None:
            raise KeyboardInterrupt

    def _hand_out(self, team, packed):
        """Submit the next portion."""
        first, last = self.left.pop(0)
        if last - first > self.size:
            self.left.insert(0, (first + self.size, last))
            last = first + self.size
        held = [x[first:last] for x in self.pushed]
        job = (here, self.session, self.stop) if team.here else (elsewhere, version(), packed, self.stop.mark)
        try:
            self.pending.add(team.submit(*job, first, self.runs.values[first:last], held))
        except RuntimeError as error:  # it was shut down, or has lost its workers
            kind = RunError if self.done else OptionError
            raise kind(f"study: the executor takes no runs: {error}") from error

    def _gather(self, over, team):
        """Keep the portions that came; then tell of one that could not be carried out."""
        troubles: list[BaseException] = []
        for future in over:
            try:
                portion = future.result() if team.here else received(future)
            except (RunError, KeyboardInterrupt) as error:
                troubles.append(error)
            else:
                self._take(portion, team)
        if troubles:
            raise min(troubles, key=lambda one: isinstance(one, RunError))

    def _take(self, portion, team):
        """Keep a portion; the next ones are as long as its pace suggests, and the last ones end together."""
        count = team.count
        if not self.done:
            self._refuse_large(portion)
        self.done.append(portion)
        if self.folder is not None and INTERRUPTED not in portion.messages:
            self.folder.keep(portion)
        pace = max(portion.seconds / len(portion), 1e-6)
        busy = count * team.cost  # seconds in which this process can hand out a portion to each of them
        share = max(max(SHORTEST, busy) / pace, sum(last - first for first, last in self.left) / (2 * count))
        self.size = int(max(1, min(max(LASTING, 2 * busy) / pace, GROWING * len(portion), share)))

    def _refuse_large(self, portion):
        """Refuse a study whose results do not fit in memory."""
        bytes_ = len(self.runs) * sum(x.nbytes for _, x in portion.variables.values()) / len(portion)
        if bytes_ > memory():
            raise OptionError(
                f"study: the results of {len(self.runs)} runs would take {bytes_ / 2**30:.1f} GB: give `reduce`, `keep` or fewer "
                "`outputs`"
            )

    def _interrupted(self, team):
        """What is there counts; all other runs are marked."""
        self.stop.set(self.pending)
        over, self.pending = futures.wait(self.pending, timeout=PATIENCE)
        for future in over:
            if not future.cancelled() and future.exception() is None and not isinstance(future.result(), str):
                self._take(future.result() if team.here else received(future), team)
        self._mark(INTERRUPTED)

    def _warn_or_end(self):
        """Tell what is returned. Where that is nothing, the signal goes on to whoever handles it."""
        count = sum(message == INTERRUPTED for portion in self.done for message in portion.messages)
        if count < len(self.runs):
            told = f"interrupted: {count} of {len(self.runs)} runs were not carried out; the others are returned"
            warnings.warn(told, stacklevel=4)
            return
        if self.signal is not None:
            signal.raise_signal(self.signal)
        raise KeyboardInterrupt

    def _end(self, team):
        """Nobody goes on; those who cannot be stopped are not waited for."""
        at_work = bool(self.pending)
        if not self.stop():
            self.stop.set(self.pending)
        for future in self.pending:
            future.cancel()
        team.close(not at_work)

    def _mark(self, why):
        """Tell of all runs that are not there why."""
        left = missing(len(self.runs), self.done)
        self.done += [Portion(a, [why] * (b - a), blank_counts(b - a)) for a, b in left]


def memory():
    """Bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return np.inf


def missing(count, done):
    """Ranges of runs that are not there yet."""
    there = np.zeros(count + 2, bool)
    there[[0, -1]] = True
    for portion in done:
        there[1 + portion.first : 1 + portion.first + len(portion)] = True
    edges = np.flatnonzero(np.diff(there.astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def here(session, stop, first, values, pushed):
    """Runs of an order of this process."""
    return session.carry_out(first, values, pushed, stop)


def elsewhere(asked, packed, stop, first, values, pushed):
    """Runs of an order that came from another process. Returns a portion as bytes, or in words why there is none."""
    if asked != version():
        return f"a worker has torsor {version()}, but {asked} asks it to work: install the same version everywhere"
    with never_lost():
        with LOCK:
            if packed not in SESSIONS:
                while len(SESSIONS) >= 4:
                    SESSIONS.pop(next(iter(SESSIONS)))
                SESSIONS[packed] = Session(unpacked(packed))
            session = SESSIONS[packed]
        portion = session.carry_out(first, values, pushed, stop)
    return pickle.dumps(portion, pickle.HIGHEST_PROTOCOL)  # one thing to be sent, not many


def _said(error):
    """An error of somebody else, in a sentence."""
    return f"{type(error).__name__}: {error}".rstrip(". ")


def received(future):
    """The portion of a future; an error where the worker could not make it."""
    try:
        found = future.result()
    except (OptionError, KeyboardInterrupt, futures.CancelledError):
        raise
    except Exception as error:
        ended = isinstance(error, futures.BrokenExecutor) or type(error).__name__ in ENDED
        why = (
            "it was killed, ran out of memory, or crashed"
            if ended
            else "the same torsor, and modules with functions of yours, must be there"
        )
        raise RunError(
            f"study: a worker could not carry out its runs: {_said(error)} ({why}). What was done is in `data` of this error; with "
            "`store` a study goes on from there"
        ) from error
    if isinstance(found, str):
        raise OptionError(f"study: {found}")
    return pickle.loads(found)
