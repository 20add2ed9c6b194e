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
import time as clock
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import OptionError, ResultError
from .journal import Journal, pack, replace, unpack

PORTION = 2**24  # bytes of results that are held in memory
OWN = {"lock", "state", "outputs", "events", "times", "state.part", "times.part", "result.nc.part", "partial.nc.part"}


class Checkpoint:
    """The folder of one run. source: from what the command line built the model, if it did."""

    def __init__(self, folder, source=None):
        try:
            self.folder = os.path.abspath(os.fsdecode(folder))
            os.path.exists(self.folder)
        except (TypeError, ValueError):
            raise OptionError(f"checkpoint must be a folder, got {folder!r}") from None
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
        others = sorted(set(os.listdir(self.folder)) - OWN) if os.path.isdir(self.folder) else []
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
            content = pathlib.Path(self.path("state")).read_bytes()
        except FileNotFoundError:
            there = os.path.isdir(self.folder)
            why = (
                "a run that ended before its first one has to be started again" if there else "there is no such folder"
            )
            raise ResultError(f"{self.folder!r} holds no checkpoint: {why}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ResultError(f"cannot read the checkpoint in {self.folder!r}: {why}") from None
        try:
            facts, arrays = unpack(content, self.path("state"))
            self.static, self.source = facts["static"], facts["static"]["source"]
            self._journals(facts["outputs"], facts["events"])
        except (KeyError, TypeError, ValueError):
            raise ResultError(f"{self.path('state')}: not a checkpoint of torsor, or a damaged one") from None
        self.result, self.times, self._last = facts.get("result"), None, (facts, arrays)
        return facts, arrays

    def verify(self):
        """An error where results are missing or damaged that the state counts."""
        self.outputs.verify()
        self.events.verify()

    def output_times(self):
        """The output times of a stored run: a rule or an array."""
        options = self.static["options"]
        if options["outputs"] is not None:
            return Spaced(options["until"], options["outputs"])
        try:
            content = pathlib.Path(self.path("times")).read_bytes()
        except OSError as error:
            raise ResultError(f"cannot read {self.path('times')!r}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != self.static["times"]:
            raise ResultError(f"{self.path('times')}: damaged, or the file of another run: its checksum is wrong")
        return unpack(content, self.path("times"))[1]["times"]

    def tidy(self):
        """Remove what a killed process left behind."""
        for name in OWN - {"lock", "state", "outputs", "events", "times"} | {"partial.nc"}:
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


class Spaced:
    """Equal intervals from 0 to `until`, as numbers only where they are asked for: those of numpy.linspace."""

    def __init__(self, until, intervals):
        self.until, self.intervals = until, intervals

    def __len__(self):
        return self.intervals + 1

    def __getitem__(self, part):
        start, stop, _ = part.indices(len(self))
        times = np.arange(start, stop) * (self.until / self.intervals)
        if stop == len(self) and stop > start:
            times[-1] = self.until
        return times


def outcome(runner, status):
    """How far a run got, for its result."""
    return {
        "status": runner.verdict(status), "reached": runner.state.time, "wall": runner.wall, "counts": runner.counts(),
        "used": runner._rows_used(),
    }  # fmt: skip


def drive(runner, checkpoint, bar, note, every, interval):
    """Run from where the journals end to the last output, in portions, with checkpoints on the way. Returns the outcome and
    the signal that ended it, if one did.

    note       of a signal that asks the run to end
    every      wall-clock seconds between checkpoints, or None; interval: simulated seconds, or None
    """
    times, journal = checkpoint.times, checkpoint.outputs
    rows = max(1, PORTION // (8 * (journal.width + sum(runner.sizes[k] for k in "qvp"))))
    events = max(1, PORTION // (8 * max(checkpoint.events.width, 1)))
    stride = np.inf if interval is None else interval
    message, last, since = "finished", clock.monotonic(), runner.state.time

    def stop():
        late = every is not None and clock.monotonic() - last >= every
        far = runner.state.time - since >= stride
        return late or far or runner.backlog >= events or note.signal is not None

    more = lambda: journal.count < len(times) or runner.state.time < runner.until
    runner.begin(times[:0], last=False)
    told = checkpoint.commit(runner, "running")
    while message == "finished" and more() and note.signal is None:
        runner.begin(times[journal.count : journal.count + rows], last=journal.count + rows >= len(times))
        message = "paused"
        while message == "paused":
            message = runner.run(bar, stop, stride)
            if message == "interrupted":  # anywhere: the checkpoint before is the last that can be relied on
                return told, note.signal
            ended = message != "finished" and message != "paused"
            told = checkpoint.commit(runner, message if ended else "running")
            last, since = clock.monotonic(), runner.state.time
            if note.signal is not None and not ended:
                return told, note.signal
    if message == "finished" and not more():
        told = checkpoint.commit(runner, message)
    return told, note.signal


def circumstances():
    """What the numbers of a run depend on besides the model: versions, and the processor that code is made for."""
    import casadi
    import llvmlite

    from .. import __version__
    from ..kernels import cache, worker

    root = pathlib.Path(__file__).parent.parent
    files = [f for folder in ("methods", "run", "store") for f in sorted((root / folder).rglob("*.py"))]
    source = hashlib.sha256(b"".join(f.read_bytes() for f in files) + cache.versions().encode())
    triple, processor, features = worker.host()
    return {
        "torsor": __version__, "casadi": casadi.CasadiMeta.version(), "llvmlite": llvmlite.__version__,
        "numba": _numba(), "numpy": np.__version__, "system": triple, "processor": processor,
        "features of the processor": features, "source of torsor": source.hexdigest(),
    }  # fmt: skip


def _numba():
    """The version of Numba, which compiles loops whose source has changed; nothing needs it otherwise."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


def refuse_other_circumstances(folder, stored):
    """An error where a run could not go on with the same bits."""
    here = circumstances()
    different = [name for name in here if here[name] != stored.get(name)]
    if different:
        show = lambda x: x if x is None or len(x) < 40 else f"{hashlib.sha256(x.encode()).hexdigest()[:12]} (digest)"
        told = "; ".join(f"{name}: stored {show(stored.get(name))}, here {show(here[name])}" for name in different)
        raise ResultError(f"{folder!r} was written under other circumstances: {told}. Nothing was changed")


def refuse_other_model(folder, stored, model, signals, fingerprint, given):
    """An error where a model is not the one that a checkpoint belongs to, with the first difference that is found.

    stored     static facts of the checkpoint; signals: expressions by name, those of the model included
    given      values of the parameters
    """
    system, values = stored["system"], stored["values"]
    pairs = [
        ("the model's name", stored["model"], model.name),
        ("bodies", system["bodies"], [b.name for b in model.bodies]),
        ("joints and constraints", stored["constraints"], [c.name for c in model.constraints]),
        ("signals", system["signals"], list(signals)),
        ("parameters", list(values), list(given)),
        *((f"parameter {name!r}", values[name], given.get(name)) for name in values),
    ]
    for what, old, new in pairs:
        if old != new:
            raise ResultError(f"{folder!r} is the checkpoint of another model: {what}: stored {old!r}, given {new!r}")
    if fingerprint != system["fingerprint"]:
        raise ResultError(
            f"{folder!r} is the checkpoint of another model: names agree with {model.name!r}, but equations, start or "
            f"signals differ (stored {system['fingerprint'][:12]}, given {fingerprint[:12]})"
        )


def static_facts(model, system, options, values, given, program):
    """What does not change during a run. options: of the run; given: parameters that differ from the model's."""
    events = None
    if program is not None:
        events = {"names": program.names, "records": program.records, "slots": max(len(program.slots), 1)}
    return {
        "model": model.name, "constraints": [c.name for c in model.constraints], "system": asdict(system), "values": values,
        "given": given, "options": options, "events": events, "circumstances": circumstances(),
    }  # fmt: skip


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
