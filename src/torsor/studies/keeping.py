"""Portions of a study in a folder, so that a study that was killed goes on: each run is carried out once.

study.json          what is asked for, as a digest: a folder belongs to one study
                    files are created whole: of two studies that begin in one folder at once, one is refused
runs-FIRST-LAST     a portion, with the digest of its study, checked by its own digest (`store/journal.py`); whole or not there
"""

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..describe import quantity
from ..errors import OptionError, ResultError
from ..formulations.fingerprint import fingerprint
from ..run.laws import digest
from ..store.journal import pack, unpack
from .order import version
from .portion import Portion

RUNS = re.compile(r"runs-(\d+)-(\d+)")
PART = ".part-"  # files that are being written, or were when somebody was killed


class Folder:
    """The folder of a study."""

    def __init__(self, path, order, variants, more=()):
        if not isinstance(path, (str, os.PathLike)):
            raise OptionError(f"study: store must be the path of a folder, got {quantity.show(path)}")
        self.path = Path(path)
        self.study, self.count = _digest(order, variants, more), len(variants)
        asked = {"study": self.study, "runs": self.count}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            told = self.path / "study.json"
            if not told.exists():
                others = any(not one.name.startswith(PART) for one in self.path.iterdir())
                if others and not told.exists():  # else somebody else begins a study in it just now
                    raise ResultError(f"study: {str(path)!r} is not the folder of a study: it has other files in it")
                self._write("study.json", json.dumps(asked).encode(), place_new)
            if json.loads(told.read_text()) != asked:
                raise ResultError(
                    f"study: the folder {str(path)!r} belongs to another study: other parameters, options, model, functions "
                    "or version of torsor; give another folder, or delete it"
                )
        except (OSError, ValueError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(
                f"study: cannot use the folder {str(path)!r}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def portions(self):
        """What is there already, each run once, also where two have carried it out. Files that are damaged, or belong to another
        study, do not count: their runs are carried out again."""
        found, end = [], 0
        for name in sorted(os.listdir(self.path)):
            if (match := RUNS.fullmatch(name)) and int(match[1]) >= end:
                with suppress(Exception):  # whatever is wrong with a file that somebody else has written
                    portion = self._read(name, int(match[1]), int(match[2]) + 1)
                    found.append(portion)
                    end = portion.first + len(portion)
        return found

    def _read(self, name, first, last):
        """A portion that is whole, and belongs to this study."""
        facts, arrays = unpack((self.path / name).read_bytes(), name)
        if facts.pop("study", None) != self.study or not first < last <= self.count:
            raise ResultError(f"{name}: not of this study")
        portion = Portion.restored(facts, arrays)
        rows = {len(portion), *(len(x) for x in portion.counts.values())}
        rows |= {len(x) for dims, x in portion.variables.values() if len(dims) == x.ndim}
        if portion.first != first or rows != {last - first}:
            raise ResultError(f"{name}: not whole")
        return portion

    def keep(self, portion):
        """Store a portion, with the digest of the study that it belongs to."""
        facts, arrays = portion.facts()
        name = f"runs-{portion.first:09d}-{portion.first + len(portion) - 1:09d}"
        self._write(name, pack(facts | {"study": self.study}, arrays), os.replace)

    def _write(self, name, content, place):
        """Write a file under another name, then place it under its own: with os.replace, or with place_new."""
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=PART)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            place(temporary, self.path / name)
        except OSError as error:
            raise ResultError(f"study: cannot write to {str(self.path)!r}: {error.strerror}") from None
        finally:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)


def place_new(temporary, path):
    """Give a file a second name, unless there is one of that name already: nobody ever sees a part of it."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # of a disk that has no links
        if not os.path.exists(path):
            os.replace(temporary, path)


def _digest(order, variants, more):
    """Of everything that the numbers of a study depend on."""
    every = dict(order.model.signals) | order.signals
    facts = [
        version(), fingerprint(order.model, every), order.until, order.times.tolist(), order.names, order.starts,
        sorted((k, repr(v)) for k, v in order.options.items()), order.pushed, order.keep, digest(order.reduce),
        {name: p.value for name, p in order.model.parameters.items()},
        digest([(rule.name, rule.function, rule.state) for rule in order.model.rules if getattr(rule, "function", None)]),
    ]  # fmt: skip
    content = hashlib.sha256(repr([*facts, _begun(order.start)]).encode())
    for array in (variants.values, *more):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _begun(start):
    """What counts of a start that all runs have in common (`run/wanted.py`)."""
    parts = ("data", "names", "motion", "states", "coordinates", "rates")
    return digest(start if hasattr(start, "data_vars") else {part: getattr(start, part, None) for part in parts})
