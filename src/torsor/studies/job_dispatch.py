"""Dispatch of the runs of a study to workers, in portions of about equal duration."""

import pickle
import signal
import threading
import warnings
from concurrent import futures

import numpy as np

from ..errors import OptionError, RunError
from ..prepare.memory_estimate import machine_memory
from ..run.interrupt_signals import defer_signals, raise_signals_at_once, reraise_signals
from .cancellation import Stop
from .executors import PORTIONS_PER_WORKER, workers
from .run_portion import Portion, blank_counts, join_portions
from .run_request_batch import unpack_request, version
from .run_session import INTERRUPTED, Session

PORTION_SECONDS = 0.5  # target duration of a portion: long compared with sending it, short for an interactive user
SHORTEST_PORTION_SECONDS = 0.05  # at the end of a study
FIRST_PORTION_RUNS = 4  # runs of the first portions in a large study; they can be computed in lanes
SMALL_STUDY_RUNS = 100  # runs per worker, up to which the first portions have one run each
INTERRUPT_SECONDS = 5.0  # an interrupted study waits so long for portions that are being computed
MAX_GROWTH = 128  # runs of a portion / runs of the portion before: the duration of a run is not known at first
CRASH_ERRORS = ("KilledWorker", "WorkerCrashedError")  # errors of dask and ray for workers that ended
NOT_RUN = "not run: the study ended before"
MAX_SESSIONS = 4  # sessions that a worker process keeps
SESSIONS: dict[bytes, Session] = {}  # of a worker process, by packed request; the latest ones
SESSIONS_LOCK = threading.Lock()


class Dispatch:
    """Submits the runs of a study to workers and collects their results.

    left      ranges of runs that are not submitted yet
    pending   futures of submitted portions
    done      portions that are computed
    size      number of runs of the next portion
    signal    number of the signal that ended the study, if any
    """

    def __init__(self, session, runs, input_values, folder):
        self.session = session
        self.runs = runs
        self.input_values = input_values
        self.folder = folder
        self.done = [] if folder is None else folder.portions()
        self.left = missing_ranges(len(runs), self.done)
        self.pending = set()
        self.size = 1
        self.stop = Stop()
        self.signal = None

    def carry_out(self, executor, bar):
        """Compute all runs and return them as one portion. If the study is interrupted, the missing runs get a message."""
        team = workers(executor)
        self.size = FIRST_PORTION_RUNS if len(self.runs) > SMALL_STUDY_RUNS * team.count else 1
        packed = None if team.local else self.session.request.pack()
        try:
            while self.left or self.pending:
                depth = PORTIONS_PER_WORKER if self.done else 1  # the first portions measure how long a run takes
                while self.left and len(self.pending) < depth * team.count:
                    self._submit_next(team, packed)
                if not team.local:
                    import xarray  # noqa: F401  needed later; imported while the workers are busy
                self._wait(team)
                bar(sum(map(len, self.done)), [0])
        except KeyboardInterrupt:
            with defer_signals(keeps=False) as note:
                note.signal = self.signal  # a second Ctrl-C ends the process at once
                self._collect_after_interrupt(team)
            self._warn_or_raise()
        except RunError as error:
            self._fill_missing(NOT_RUN)
            raise RunError(str(error), join_portions(self.done)) from error
        finally:
            self._stop_workers(team)
            bar.close()
        whole = join_portions(self.done)
        if self.signal is not None:
            whole.common_attributes |= {"interrupted_by": signal.Signals(self.signal).name}
        return whole

    def _wait(self, team):
        """Wait for the next portions and keep them.

        A signal ends the wait, but not the processing of portions that have arrived. Its handler is set only here, so that worker
        processes, which are started in between, do not inherit it.
        """
        with defer_signals(keeps=False) as note:
            try:
                with raise_signals_at_once():
                    completed, self.pending = futures.wait(self.pending, return_when=futures.FIRST_COMPLETED)
                self._collect(completed, team)
            finally:
                self.signal = note.signal
        if self.signal is not None:
            raise KeyboardInterrupt

    def _submit_next(self, team, packed):
        """Submit the next portion."""
        first, last = self.left.pop(0)
        if last - first > self.size:
            self.left.insert(0, (first + self.size, last))
            last = first + self.size
        input_values = [x[first:last] for x in self.input_values]
        if team.local:
            job: tuple = (run_in_thread, self.session, self.stop)
        else:
            job = (run_in_worker_process, version(), packed, self.stop.file)
        try:
            self.pending.add(team.submit(*job, first, self.runs.values[first:last], input_values))
        except RuntimeError as error:  # the executor was shut down, or has lost its workers
            kind = RunError if self.done else OptionError
            raise kind(f"study: the executor takes no runs: {error}") from error

    def _collect(self, completed, team):
        """Keep the portions of completed futures, then raise the error of a portion that failed, if any."""
        errors: list[BaseException] = []
        for future in completed:
            try:
                portion = future.result() if team.local else receive(future)
            except (RunError, KeyboardInterrupt) as error:
                errors.append(error)
            else:
                self._take(portion, team)
        if errors:
            raise min(errors, key=lambda error: isinstance(error, RunError))

    def _take(self, portion, team):
        """Keep a portion, and choose the size of the next one from its duration, so that the last portions end together."""
        count = team.count
        if not self.done:
            self._refuse_large(portion)
        self.done.append(portion)
        if self.folder is not None and INTERRUPTED not in portion.messages:
            self.folder.keep(portion)
        run_seconds = max(portion.seconds / len(portion), 1e-6)
        round_seconds = count * team.cost  # in which this process can submit one portion to each worker
        shortest = max(SHORTEST_PORTION_SECONDS, round_seconds) / run_seconds
        share = max(shortest, sum(last - first for first, last in self.left) / (2 * count))
        target = max(PORTION_SECONDS, 2 * round_seconds) / run_seconds
        self.size = int(max(1, min(target, MAX_GROWTH * len(portion), share)))

    def _refuse_large(self, portion):
        """Refuse a study whose results do not fit in memory."""
        bytes_ = len(self.runs) * sum(x.nbytes for _, x in portion.variables.values()) / len(portion)
        if bytes_ > machine_memory():
            raise OptionError(
                f"study: the results of {len(self.runs)} runs would take {bytes_ / 2**30:.1f} GB: give `reduce`, `keep` or fewer "
                "`outputs`"
            )

    def _collect_after_interrupt(self, team):
        """Keep the portions that workers finish in a short time; all other runs get a message."""
        self.stop.set(self.pending)
        completed, self.pending = futures.wait(self.pending, timeout=INTERRUPT_SECONDS)
        for future in completed:
            if not future.cancelled() and future.exception() is None and not isinstance(future.result(), str):
                self._take(future.result() if team.local else receive(future), team)
        self._fill_missing(INTERRUPTED)

    def _warn_or_raise(self):
        """Warn that runs are missing. If no run was computed, raise the signal again, for its usual handler."""
        count = sum(message == INTERRUPTED for portion in self.done for message in portion.messages)
        if count < len(self.runs):
            text = f"interrupted: {count} of {len(self.runs)} runs were not carried out; the others are returned"
            warnings.warn(text, stacklevel=4)
            return
        if self.signal is not None:
            signal.raise_signal(self.signal)
        raise KeyboardInterrupt

    def _stop_workers(self, team):
        """Stop all workers. Portions that are still being computed are not waited for."""
        still_running = bool(self.pending)
        if not self.stop():
            self.stop.set(self.pending)
        for future in self.pending:
            future.cancel()
        team.close(not still_running)

    def _fill_missing(self, message):
        """Add portions without results for all missing runs, with this message."""
        left = missing_ranges(len(self.runs), self.done)
        self.done += [Portion(a, [message] * (b - a), blank_counts(b - a)) for a, b in left]


def missing_ranges(count, done):
    """Ranges (first, last + 1) of runs that no portion contains."""
    present = np.zeros(count + 2, bool)
    present[[0, -1]] = True
    for portion in done:
        present[1 + portion.first : 1 + portion.first + len(portion)] = True
    edges = np.flatnonzero(np.diff(present.astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def run_in_thread(session, stop, first, values, input_values):
    """Compute runs in a thread of this process."""
    return session.carry_out(first, values, input_values, stop)


def run_in_worker_process(required_version, packed, stop, first, values, input_values):
    """Compute runs of a request from another process. Returns a portion as bytes, or an error message."""
    if required_version != version():
        return f"a worker has torsor {version()}, but the study runs {required_version}: install the same version everywhere"
    with reraise_signals():
        with SESSIONS_LOCK:
            if packed not in SESSIONS:
                while len(SESSIONS) >= MAX_SESSIONS:
                    SESSIONS.pop(next(iter(SESSIONS)))
                SESSIONS[packed] = Session(unpack_request(packed))
            session = SESSIONS[packed]
        portion = session.carry_out(first, values, input_values, stop)
    return pickle.dumps(portion, pickle.HIGHEST_PROTOCOL)  # one block of bytes is faster to send than many arrays


def _describe(error):
    """Type and text of an error, without a final full stop."""
    return f"{type(error).__name__}: {error}".rstrip(". ")


def receive(future):
    """The portion that a worker process has computed. Raise RunError if the worker failed."""
    try:
        content = future.result()
    except (OptionError, KeyboardInterrupt, futures.CancelledError):
        raise
    except Exception as error:
        crashed = isinstance(error, futures.BrokenExecutor) or type(error).__name__ in CRASH_ERRORS
        why = (
            "it was killed, ran out of memory, or crashed"
            if crashed
            else "workers need the same version of torsor, and the modules that define your functions"
        )
        raise RunError(
            f"study: a worker could not carry out its runs: {_describe(error)} ({why}). Finished runs are in `data` of this error; "
            "with `store` a study can be continued"
        ) from error
    if isinstance(content, str):
        raise OptionError(f"study: {content}")
    return pickle.loads(content)
