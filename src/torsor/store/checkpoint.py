"""Checkpoints: a folder from which a run is resumed with the same results as a run without interruption.

    lock          locked while a process uses the folder; the operating system unlocks it when the process ends
    state         the state of the run and its options; replacing this file commits a checkpoint
    outputs, events   journals: the results so far, so that they do not accumulate in memory
    times         output times, if they were given as an array
    result.nc     the result, when the run is complete

Every file is tied to the state: journals contain the identifier of their run and a checksum, `times` and `result.nc` have a digest
in the state. A file that is damaged, missing or of another run is reported before the run continues.

Steps do not depend on how a run is divided into slices, portions or processes, so a resumed run gives the same bits.
"""

import hashlib
import os
import pathlib
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError, ResultError, TorsorError
from ..run.output_times import EqualIntervals
from .journal import Journal, pack, replace, unpack

OWN_FILES = {"lock", "state", "outputs", "events", "times"}
TEMPORARY_SUFFIX = ".part"  # of files that are being written, or that a killed process left
PREVIOUS_KEPT = "The previous checkpoint is complete: resume from it"


class Checkpoint:
    """The checkpoint folder of one run; source: the file from which the command line built the model, if it did."""

    def __init__(self, folder, source=None):
        try:
            self.folder = os.path.abspath(os.fsdecode(folder))
            os.stat(self.folder)
        except OSError:  # it is created, or refused, when it is used
            pass
        except (TypeError, ValueError):
            raise OptionError(f"checkpoint must be a folder, got {quantity.show(folder)}") from None
        self.source = source
        self._lock: Any = None
        self.static: dict = {}
        self.times: Any = None
        self.outputs: Any = None
        self.events: Any = None
        self.result: Any = None
        self._last_state: Any = None

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def exists(self):
        return os.path.exists(self.path("state"))

    def refuse_occupied(self):
        """Raise ResultError if the folder cannot be used for a new run."""
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise ResultError(f"checkpoint {self.folder!r} is not a folder")
        if self.exists:
            raise ResultError(
                f"{self.folder!r} holds a checkpoint already: resume it (torsor.resume, `torsor resume`), or choose another "
                "folder; nothing was changed"
            )
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        others = sorted(name for name in names if name not in OWN_FILES and not name.endswith(TEMPORARY_SUFFIX))
        if others:
            raise ResultError(
                f"checkpoint {self.folder!r}: there are other files in it ({others[0]}); choose an empty folder"
            )

    def lock(self):
        """Lock the folder against other processes."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            self._lock = open(self.path("lock"), "ab")  # noqa: SIM115
        except OSError as error:
            raise ResultError(f"cannot use the folder {self.folder!r}: {error.strerror}") from None
        try:
            _lock_file(self._lock)
        except OSError:
            self.release()
            raise ResultError(f"{self.folder!r} is in use by another process; nothing was changed") from None

    def release(self):
        """Close all files and unlock the folder."""
        for file in (self._lock, self.outputs, self.events):
            if file is not None:
                file.close()
        self._lock = None

    def begin(self, static, times, width, event_width):
        """Begin a new run with empty journals."""
        self.static = static | {"source": self.source, "run": os.urandom(16).hex(), "times": None}
        self.times = times
        with self._writing("Nothing was computed yet"):
            with suppress(FileNotFoundError):
                os.unlink(self.path("times"))
            if isinstance(times, np.ndarray):
                content = pack({"run": self.static["run"]}, {"times": times})
                self.static["times"] = hashlib.sha256(content).hexdigest()
                replace(self.path("times"), content)
            self._make_journals([width, 0, 0], [event_width, 0, 0])
            self.outputs.begin()
            self.events.begin()

    def _make_journals(self, outputs, events):
        """Create the journal objects from [width, count, checksum] of each."""
        mark = bytes.fromhex(self.static["run"])
        self.outputs = Journal(self.path("outputs"), mark, *outputs)
        self.events = Journal(self.path("events"), mark, *events)

    @contextmanager
    def _writing(self, kept):
        """Convert an OSError to a ResultError that says what is kept."""
        try:
            yield
        except OSError as error:
            if isinstance(error, ResultError):
                raise
            why = error.strerror or str(error)
            raise ResultError(f"cannot write a checkpoint in {self.folder!r}: {why}. {kept}") from None

    def read(self):
        """Read the state file: options and state of the run, as facts and arrays. No file is changed."""
        try:
            if not os.path.isfile(self.path("state")) and os.path.exists(self.path("state")):
                raise ResultError(f"{self.path('state')!r} is not a regular file")
            content = pathlib.Path(self.path("state")).read_bytes()
        except FileNotFoundError:
            exists = os.path.isdir(self.folder)
            why = (
                "a run that ended before its first checkpoint must be started again"
                if exists
                else "there is no such folder"
            )
            raise ResultError(f"{self.folder!r} holds no checkpoint: {why}") from None
        except (OSError, ValueError) as error:
            if isinstance(error, ResultError):
                raise
            why = getattr(error, "strerror", None) or str(error)
            raise ResultError(f"cannot read the checkpoint in {self.folder!r}: {why}") from None
        try:
            facts, arrays = unpack(content, self.path("state"))
            self.static = facts["static"]
            self.source = facts["static"]["source"]
            for journal in (facts["outputs"], facts["events"]):
                if len(journal) != 3 or not all(type(x) is int and 0 <= x < 2**53 for x in journal):
                    raise ValueError("journal")
            _refuse_invalid_outcome(facts["outcome"])
            self._make_journals(facts["outputs"], facts["events"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ResultError(f"{self.path('state')}: not a checkpoint of torsor, or a damaged one") from None
        self.result = facts.get("result")
        self.times = None
        self._last_state = (facts, arrays)
        return facts, arrays

    def verify(self):
        """Raise ResultError if rows of the journals are missing or damaged."""
        self.outputs.verify()
        self.events.verify()

    def refuse_other_width(self, outputs):
        """Raise ResultError if the row width of a journal differs from that of the system."""
        program = self.static["events"]
        constraint_rows = len(self.static["system"]["rows"])
        events = 3 + constraint_rows + program["slots"] if program else 0
        if (self.outputs.width, self.events.width) != (outputs, events):
            raise ResultError(f"{self.folder!r}: the checkpoint is damaged: its journals do not fit the model")

    def output_times(self):
        """The output times of a stored run: equal intervals or an array."""
        options = self.static["options"]
        if further := options.get("further"):  # the run was extended
            return np.concatenate([self._first_times(options, options["spaced_until"])[:], further])
        return self._first_times(options, options["until"])

    def _first_times(self, options, until):
        """The output times with which the run began."""
        if options["outputs"] is not None:
            return EqualIntervals(until, options["outputs"])
        try:
            content = pathlib.Path(self.path("times")).read_bytes()
        except OSError as error:
            raise ResultError(f"cannot read {self.path('times')!r}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != self.static["times"]:
            raise ResultError(f"{self.path('times')}: damaged, or the file of another run: its checksum is wrong")
        return unpack(content, self.path("times"))[1]["times"]

    def tidy(self):
        """Remove files that a killed process left."""
        for name in ["partial.nc", *(name for name in os.listdir(self.folder) if name.endswith(TEMPORARY_SUFFIX))]:
            with suppress(FileNotFoundError):
                os.unlink(self.path(name))

    def commit(self, runner, status):
        """Write a checkpoint: first the results, then the state that counts them. Returns the outcome."""
        with self._writing(PREVIOUS_KEPT):
            self.outputs.append(runner.take())
            events = runner.take_events()
            if events is not None:
                self.events.append(events)
            snapshot, arrays = runner.snapshot()
            facts = {
                "static": self.static, "runner": snapshot, "outputs": self.outputs.facts(), "events": self.events.facts(),
                "outcome": outcome(runner, status),
            }  # fmt: skip
            replace(self.path("state"), pack(facts, arrays))
        self._last_state = (facts, arrays)
        return facts["outcome"]

    def conclude(self, digest):
        """Record the digest of the result file, which is complete, and remove the journals."""
        facts, arrays = self._last_state
        with self._writing(PREVIOUS_KEPT):
            replace(self.path("state"), pack(facts | {"result": digest}, arrays))
            self.outputs.remove()
            self.events.remove()
        self.result = digest


@contextmanager
def damage_as_error(folder):
    """Convert any error that invalid content of a checkpoint causes to a ResultError."""
    try:
        yield
    except (
        AttributeError,
        ArithmeticError,
        AssertionError,
        LookupError,
        MemoryError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, TorsorError):
            raise
        raise ResultError(f"{folder!r}: the checkpoint is damaged, or was changed; nothing was changed") from error


def outcome(runner, status):
    """Status, time reached, wall time, counts and constraint rows in use of a run, for its result."""
    return {
        "status": runner.verdict(status), "reached": runner.state.time, "wall": runner.wall, "counts": runner.counts(),
        "used": runner._used_rows(),
    }  # fmt: skip


def _refuse_invalid_outcome(stored):
    """Raise ValueError if a stored outcome has invalid values."""
    numbers = [stored["reached"], stored["wall"], *stored["counts"].values()]
    rows_valid = all(type(k) is int and k >= 0 for k in stored["used"])
    if type(stored["status"]) is not str or not rows_valid or not all(type(x) in (int, float) for x in numbers):
        raise ValueError("outcome")


def _lock_file(file):
    """Lock an open file exclusively. Raise OSError at once if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
