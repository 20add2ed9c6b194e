"""Save and resume: a folder from which a run goes on as if it had never stopped.

    lock          held while a process works in the folder; the system lets go of it when the process dies
    state         all that the further run depends on, and what was asked for; whoever replaces it commits a checkpoint
    outputs, events   journals: results so far, which so never pile up in memory
    times         output times, where they were given one by one
    result.nc     the result, once the run is complete

Every file is bound to the state: journals carry the mark of their run and a checksum, `times` and `result.nc` a digest. A file
that is damaged, missing or of another run is told before anything goes on.

Steps do not depend on where a run is cut into slices, portions or processes, so a resumed run gives the same bits.
"""

import hashlib
import os
import pathlib
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ..describe import quantity
from ..errors import OptionError, ResultError, TorsorError
from ..run.times import Spaced
from .journal import Journal, pack, replace, unpack

OWN = {"lock", "state", "outputs", "events", "times"}
PART = ".part"  # end of the names of files that are being written, or were when somebody was killed


class Checkpoint:
    """The folder of one run. source: from what the command line built the model, if it did."""

    def __init__(self, folder, source=None):
        try:
            self.folder = os.path.abspath(os.fsdecode(folder))
            os.stat(self.folder)
        except OSError:  # it is made, or refused, where it is used
            pass
        except (TypeError, ValueError):
            raise OptionError(f"checkpoint must be a folder, got {quantity.show(folder)}") from None
        self.source, self._lock, self.static, self.times = source, None, {}, None
        self.outputs: Any = None
        self.events: Any = None
        self.result: Any = None
        self._last: Any = None

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def exists(self):
        return os.path.exists(self.path("state"))

    def refuse_used(self):
        """An error where the folder is not free for a new run."""
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise ResultError(f"checkpoint {self.folder!r} is not a folder")
        if self.exists:
            raise ResultError(
                f"{self.folder!r} holds a checkpoint already: resume it (torsor.resume, `torsor resume`), or choose another "
                "folder; nothing was changed"
            )
        found = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        others = sorted(name for name in found if name not in OWN and not name.endswith(PART))
        if others:
            raise ResultError(
                f"checkpoint {self.folder!r}: there are other files in it ({others[0]}); choose an empty folder"
            )

    def lock(self):
        """Keep other processes out of the folder."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            self._lock = open(self.path("lock"), "ab")  # noqa: SIM115
        except OSError as error:
            raise ResultError(f"cannot use the folder {self.folder!r}: {error.strerror}") from None
        try:
            _hold(self._lock)
        except OSError:
            self.release()
            raise ResultError(f"{self.folder!r} is in use by another process; nothing was changed") from None

    def release(self):
        for file in (self._lock, self.outputs, self.events):
            if file is not None:
                file.close()
        self._lock = None

    def begin(self, static, times, width, event_width):
        """A new run: nothing is there yet."""
        self.static, self.times = static | {"source": self.source, "run": os.urandom(16).hex(), "times": None}, times
        with self._writing("Nothing was computed yet"):
            with suppress(FileNotFoundError):
                os.unlink(self.path("times"))
            if isinstance(times, np.ndarray):
                content = pack({"run": self.static["run"]}, {"times": times})
                self.static["times"] = hashlib.sha256(content).hexdigest()
                replace(self.path("times"), content)
            self._journals([width, 0, 0], [event_width, 0, 0])
            self.outputs.begin()
            self.events.begin()

    def _journals(self, outputs, events):
        mark = bytes.fromhex(self.static["run"])
        self.outputs = Journal(self.path("outputs"), mark, *outputs)
        self.events = Journal(self.path("events"), mark, *events)

    @contextmanager
    def _writing(self, kept):
        """An error of the system as one that says what is kept."""
        try:
            yield
        except OSError as error:
            if isinstance(error, ResultError):
                raise
            why = error.strerror or str(error)
            raise ResultError(f"cannot write a checkpoint in {self.folder!r}: {why}. {kept}") from None

    def read(self):
        """What was asked for and how far it got: facts and arrays. Changes nothing."""
        try:
            if not os.path.isfile(self.path("state")) and os.path.exists(self.path("state")):
                raise ResultError(f"{self.path('state')!r} is not a regular file")
            content = pathlib.Path(self.path("state")).read_bytes()
        except FileNotFoundError:
            there = os.path.isdir(self.folder)
            why = (
                "a run that ended before its first one has to be started again" if there else "there is no such folder"
            )
            raise ResultError(f"{self.folder!r} holds no checkpoint: {why}") from None
        except (OSError, ValueError) as error:
            if isinstance(error, ResultError):
                raise
            why = getattr(error, "strerror", None) or str(error)
            raise ResultError(f"cannot read the checkpoint in {self.folder!r}: {why}") from None
        try:
            facts, arrays = unpack(content, self.path("state"))
            self.static, self.source = facts["static"], facts["static"]["source"]
            for journal in (facts["outputs"], facts["events"]):
                if len(journal) != 3 or not all(type(x) is int and 0 <= x < 2**53 for x in journal):
                    raise ValueError("journal")
            _refuse_unfit_outcome(facts["outcome"])
            self._journals(facts["outputs"], facts["events"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ResultError(f"{self.path('state')}: not a checkpoint of torsor, or a damaged one") from None
        self.result, self.times, self._last = facts.get("result"), None, (facts, arrays)
        return facts, arrays

    def verify(self):
        """An error where results are missing or damaged that the state counts."""
        self.outputs.verify()
        self.events.verify()

    def refuse_other_width(self, outputs):
        """An error where the rows of journals do not fit the system."""
        events, rows = self.static["events"], len(self.static["system"]["rows"])
        happened = 3 + rows + events["slots"] if events else 0
        if (self.outputs.width, self.events.width) != (outputs, happened):
            raise ResultError(f"{self.folder!r}: the checkpoint is damaged: its journals do not fit the model")

    def output_times(self):
        """The output times of a stored run: a rule or an array."""
        options = self.static["options"]
        if further := options.get("further"):  # of a run that was extended
            return np.concatenate([self._first_times(options, options["spaced_until"])[:], further])
        return self._first_times(options, options["until"])

    def _first_times(self, options, until):
        """Output times that were asked for when the run began."""
        if options["outputs"] is not None:
            return Spaced(until, options["outputs"])
        try:
            content = pathlib.Path(self.path("times")).read_bytes()
        except OSError as error:
            raise ResultError(f"cannot read {self.path('times')!r}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != self.static["times"]:
            raise ResultError(f"{self.path('times')}: damaged, or the file of another run: its checksum is wrong")
        return unpack(content, self.path("times"))[1]["times"]

    def tidy(self):
        """Remove what a killed process left behind."""
        for name in ["partial.nc", *(name for name in os.listdir(self.folder) if name.endswith(PART))]:
            with suppress(FileNotFoundError):
                os.unlink(self.path(name))

    def commit(self, runner, status):
        """A checkpoint: results first, then the state that counts them."""
        with self._writing("The one before is whole: resume from it"):
            self.outputs.append(runner.take())
            happened = runner.take_events()
            if happened is not None:
                self.events.append(happened)
            facts, arrays = runner.snapshot()
            about = lambda journal: [journal.width, journal.count, journal.check]
            told = {
                "static": self.static, "runner": facts, "outputs": about(self.outputs), "events": about(self.events),
                "outcome": outcome(runner, status),
            }  # fmt: skip
            replace(self.path("state"), pack(told, arrays))
        self._last = (told, arrays)
        return told["outcome"]

    def conclude(self, digest):
        """The result is written, with this digest: the journals are no longer needed."""
        facts, arrays = self._last
        with self._writing("The one before is whole: resume from it"):
            replace(self.path("state"), pack(facts | {"result": digest}, arrays))
            self.outputs.remove()
            self.events.remove()
        self.result = digest


@contextmanager
def readable(folder):
    """Whatever goes wrong with what a file holds, as one kind of error: a folder may come from anybody."""
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
    """How far a run got, for its result."""
    return {
        "status": runner.verdict(status), "reached": runner.state.time, "wall": runner.wall, "counts": runner.counts(),
        "used": runner._rows_used(),
    }  # fmt: skip


def _refuse_unfit_outcome(found):
    """A ValueError where a file tells something else than how far a run got."""
    numbers = [found["reached"], found["wall"], *found["counts"].values()]
    places = all(type(k) is int and k >= 0 for k in found["used"])
    if type(found["status"]) is not str or not places or not all(type(x) in (int, float) for x in numbers):
        raise ValueError("outcome")


def _hold(file):
    """An exclusive lock on an open file, or OSError at once."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
