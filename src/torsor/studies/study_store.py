"""The folder of a study. It holds finished portions, so that a study that was killed continues without repeating runs.

study.json          digest of the study: a folder belongs to one study
runs-FIRST-LAST     a portion, with the digest of its study and a checksum (`store/journal.py`)

Files are written under a temporary name and then renamed: a file is complete, or does not exist. If two different studies begin in
one folder at the same time, one of them is refused.
"""

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..elements import quantity
from ..errors import OptionError, ResultError
from ..formulations.fingerprint import fingerprint
from ..prepare.function_digest import digest
from ..store.journal import pack, unpack
from .run_portion import Portion
from .run_request_batch import version

PORTION_NAME = re.compile(r"runs-(\d+)-(\d+)")
TEMPORARY_PREFIX = ".part-"  # of files that are being written, or that a killed process left


class StudyFolder:
    """The folder of a study; input_values: values (run, interval) of each input."""

    def __init__(self, path, request, variants, input_values=()):
        if not isinstance(path, (str, os.PathLike)):
            raise OptionError(f"study: store must be the path of a folder, got {quantity.show(path)}")
        self.path = Path(path)
        self.study = _digest(request, variants, input_values)
        self.count = len(variants)
        identity = {"study": self.study, "runs": self.count}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            identity_file = self.path / "study.json"
            if not identity_file.exists():
                others = any(not file.name.startswith(TEMPORARY_PREFIX) for file in self.path.iterdir())
                if others and not identity_file.exists():  # else another process has just begun a study in this folder
                    raise ResultError(f"study: {str(path)!r} is not the folder of a study: it has other files in it")
                self._write("study.json", json.dumps(identity).encode(), place_new)
            if json.loads(identity_file.read_text()) != identity:
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
        """The stored portions, without overlaps. Files that are damaged, or belong to another study, are ignored: their runs are
        computed again."""
        portions = []
        end = 0
        for name in sorted(os.listdir(self.path)):
            if (match := PORTION_NAME.fullmatch(name)) and int(match[1]) >= end:
                with suppress(Exception):  # reading a damaged file may raise anything
                    portion = self._read(name, int(match[1]), int(match[2]) + 1)
                    portions.append(portion)
                    end = portion.first + len(portion)
        return portions

    def _read(self, name, first, last):
        """Read a portion. Raise ResultError if it is incomplete or belongs to another study."""
        facts, arrays = unpack((self.path / name).read_bytes(), name)
        if facts.pop("study", None) != self.study or not first < last <= self.count:
            raise ResultError(f"{name}: belongs to another study")
        portion = Portion.from_facts(facts, arrays)
        lengths = {len(portion), *(len(x) for x in portion.counts.values())}
        lengths |= {len(x) for dims, x in portion.variables.values() if len(dims) == x.ndim}
        if portion.first != first or lengths != {last - first}:
            raise ResultError(f"{name}: is incomplete")
        return portion

    def keep(self, portion):
        """Write a portion, with the digest of its study."""
        facts, arrays = portion.facts()
        name = f"runs-{portion.first:09d}-{portion.first + len(portion) - 1:09d}"
        self._write(name, pack(facts | {"study": self.study}, arrays), os.replace)

    def _write(self, name, content, rename):
        """Write a file under a temporary name, then rename it with `rename`: os.replace or place_new."""
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=TEMPORARY_PREFIX)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            rename(temporary, self.path / name)
        except OSError as error:
            raise ResultError(f"study: cannot write to {str(self.path)!r}: {error.strerror}") from None
        finally:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)


def place_new(temporary, path):
    """Make a file available under `path`, unless this path exists already. It appears there complete."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # the file system has no links
        if not os.path.exists(path):
            os.replace(temporary, path)


def _digest(request, variants, input_values):
    """Digest of everything that the numbers of a study depend on."""
    signals = dict(request.model.signals) | request.signals
    facts = [
        version(), fingerprint(request.model, signals), request.until, request.times.tolist(), request.names, request.starts,
        sorted((k, repr(v)) for k, v in vars(request.options).items()), request.inputs, request.keep, digest(request.reduce),
        {name: p.value for name, p in request.model.parameters.items()},
        digest([(rule.name, rule.function, rule.state) for rule in request.model.rules if getattr(rule, "function", None)]),
    ]  # fmt: skip
    content = hashlib.sha256(repr([*facts, _start_digest(request.start)]).encode())
    for array in (variants.values, *input_values):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _start_digest(start):
    """Digest of a start that all runs have in common (`start/request.py`)."""
    parts = ("data", "names", "motion", "states", "coordinates", "rates")
    return digest(start if hasattr(start, "data_vars") else {part: getattr(start, part, None) for part in parts})
