"""Portions of a study in a folder, so that a study that was killed goes on: each run is carried out once.

study.json          what is asked for, as a digest: a folder belongs to one study
runs-FIRST-LAST     a portion, checked by its digest (`store/journal.py`); whole or not there
"""

import hashlib
import json
import os
import pickle
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..errors import ResultError
from ..formulations.fingerprint import fingerprint
from ..store.journal import pack, unpack
from .order import version
from .portion import Portion

RUNS = re.compile(r"runs-(\d+)-(\d+)")


class Folder:
    """The folder of a study."""

    def __init__(self, path, order, variants, more=()):
        self.path = Path(path)
        mark = _digest(order, variants, more)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            told = self.path / "study.json"
            if told.exists():
                known = json.loads(told.read_text())
                if known.get("study") != mark:
                    raise ResultError(
                        f"study: the folder {str(path)!r} belongs to another study: other parameters, options, model or version of "
                        "torsor; give another folder, or delete it"
                    )
            elif any(self.path.iterdir()):
                raise ResultError(f"study: {str(path)!r} is not the folder of a study: it has other files in it")
            else:
                self._write("study.json", json.dumps({"study": mark, "runs": len(variants)}).encode())
        except (OSError, ValueError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(f"study: cannot use the folder {str(path)!r}: {error}") from None

    def portions(self):
        """What is there already. Files that are damaged do not count: their runs are carried out again."""
        found = []
        for name in sorted(os.listdir(self.path)):
            if RUNS.fullmatch(name):
                with suppress(ResultError, OSError, ValueError, KeyError):
                    found.append(Portion.restored(*unpack((self.path / name).read_bytes(), name)))
        return found

    def keep(self, portion):
        """Store a portion."""
        self._write(f"runs-{portion.first:09d}-{portion.first + len(portion) - 1:09d}", pack(*portion.facts()))

    def _write(self, name, content):
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=".part-")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path / name)
        except OSError as error:
            raise ResultError(f"study: cannot write to {str(self.path)!r}: {error.strerror}") from None


def _digest(order, variants, more):
    """Of everything that the numbers of a study depend on."""
    every = dict(order.model.signals) | order.signals
    facts = [
        version(), fingerprint(order.model, every), order.until, order.times.tolist(), order.names, order.starts,
        sorted((k, repr(v)) for k, v in order.options.items()), order.pushed, order.keep, _named(order.reduce),
        {name: p.value for name, p in order.model.parameters.items()},
    ]  # fmt: skip
    content = hashlib.sha256(repr(facts).encode() + pickle.dumps(order.start))
    for array in (variants.values, *more):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _named(reduce):
    """A reduction as text that changes where it does: of a function its code."""
    if isinstance(reduce, dict):
        return sorted((name, _named(how)) for name, how in reduce.items())
    code = getattr(reduce, "__code__", None)
    return repr(reduce) if code is None else [reduce.__qualname__, *_code(code)]


def _code(code):
    """What a function does, without the addresses of anything."""
    constants = [_code(x) if hasattr(x, "co_code") else repr(x) for x in code.co_consts]
    return [code.co_code.hex(), constants, code.co_names]
