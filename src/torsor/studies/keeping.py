"""Portions of a study in a folder, so that a study that was killed goes on: each run is carried out once.

study.json          what is asked for, as a digest: a folder belongs to one study
runs-FIRST-LAST     a portion, checked by its digest (`store/journal.py`); whole or not there
"""

import hashlib
import inspect
import json
import os
import pickle
import re
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError, ResultError
from ..formulations.fingerprint import fingerprint
from ..store.journal import pack, unpack
from .order import version
from .portion import Portion

RUNS = re.compile(r"runs-(\d+)-(\d+)")
PART = ".part-"  # files that are being written, or were when somebody was killed
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Folder:
    """The folder of a study."""

    def __init__(self, path, order, variants, more=()):
        if not isinstance(path, (str, os.PathLike)):
            raise OptionError(f"study: store must be the path of a folder, got {quantity.show(path)}")
        self.path = Path(path)
        asked = {"study": _digest(order, variants, more), "runs": len(variants)}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            told = self.path / "study.json"
            if told.exists():
                if json.loads(told.read_text()) != asked:
                    raise ResultError(
                        f"study: the folder {str(path)!r} belongs to another study: other parameters, options, model, functions "
                        "or version of torsor; give another folder, or delete it"
                    )
            elif any(not one.name.startswith(PART) for one in self.path.iterdir()):
                raise ResultError(f"study: {str(path)!r} is not the folder of a study: it has other files in it")
            else:
                self._write("study.json", json.dumps(asked).encode())
        except (OSError, ValueError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(
                f"study: cannot use the folder {str(path)!r}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def portions(self):
        """What is there already, each run once, also where two have carried it out. Files that are damaged do not count: their runs
        are carried out again."""
        found, end = [], 0
        for name in sorted(os.listdir(self.path)):
            if (match := RUNS.fullmatch(name)) and int(match[1]) >= end:
                with suppress(ResultError, OSError, ValueError, KeyError):
                    found.append(Portion.restored(*unpack((self.path / name).read_bytes(), name)))
                    end = found[-1].first + len(found[-1])
        return found

    def keep(self, portion):
        """Store a portion."""
        self._write(f"runs-{portion.first:09d}-{portion.first + len(portion) - 1:09d}", pack(*portion.facts()))

    def _write(self, name, content):
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=PART)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path / name)
        except OSError as error:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
            raise ResultError(f"study: cannot write to {str(self.path)!r}: {error.strerror}") from None


def _digest(order, variants, more):
    """Of everything that the numbers of a study depend on."""
    every = dict(order.model.signals) | order.signals
    facts = [
        version(), fingerprint(order.model, every), order.until, order.times.tolist(), order.names, order.starts,
        sorted((k, repr(v)) for k, v in order.options.items()), order.pushed, order.keep, _named(order.reduce),
        {name: p.value for name, p in order.model.parameters.items()},
        _named([(rule.name, rule.function, rule.state) for rule in order.model.rules if getattr(rule, "function", None)]),
    ]  # fmt: skip
    content = hashlib.sha256(repr([*facts, _begun(order.start)]).encode())
    for array in (variants.values, *more):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _begun(start):
    """What counts of a start that all runs have in common (`run/wanted.py`)."""
    parts = ("data", "names", "motion", "states", "coordinates", "rates")
    return _named(start if hasattr(start, "data_vars") else {part: getattr(start, part, None) for part in parts})


def _named(thing, seen=()):
    """A reduction as text that changes where it does: of a function its code, and the values and functions that it refers to; of a
    result its numbers, not how long it took."""
    if isinstance(thing, dict):
        return sorted((str(name), _named(how, seen)) for name, how in thing.items())
    if isinstance(thing, (list, tuple)):
        return [_named(x, seen) for x in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(map(repr, thing))
    if isinstance(thing, Model):
        return fingerprint(thing, dict(thing.signals))
    if hasattr(thing, "data_vars"):
        return [(str(name), x.dims, _value(x.values)) for name, x in thing.variables.items()]
    if isinstance(thing, partial):
        return [_named(part, seen) for part in (thing.func, thing.args, thing.keywords)]
    if inspect.ismethod(thing):
        return [_named(thing.__func__, seen), _named(thing.__self__, seen)]
    if inspect.isfunction(thing):
        return [thing.__module__, thing.__qualname__] if thing in seen else _function(thing, (*seen, thing))
    own = vars(type(thing)).get("__call__")
    return [_value(thing), _named(own, seen) if inspect.isfunction(own) else ""]


def _function(function, seen):
    """A function: its code, and what it refers to; of other modules than its own the names alone."""
    known = {name: function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__}
    around = [(name, "" if _elsewhere(x, function) else _named(x, seen)) for name, x in sorted(known.items())]
    cells = inspect.getclosurevars(function).nonlocals
    given = [_named(function.__defaults__, seen), _named(function.__kwdefaults__, seen), _named(dict(cells), seen)]
    return [function.__qualname__, *_code(function.__code__), given, around]


def _elsewhere(thing, function):
    """Whether something is a module, or a function or class of another module than this function's."""
    named = inspect.isroutine(thing) or inspect.isclass(thing)
    return inspect.ismodule(thing) or (named and getattr(thing, "__module__", None) != function.__module__)


def _names(code):
    """Names that code refers to, that of functions within it too."""
    inner = [_names(x) for x in code.co_consts if hasattr(x, "co_code")]
    return {*code.co_names}.union(*inner)


def _value(thing):
    """A value as text: its bytes where it can be pickled, as arrays can, else what it says of itself without addresses."""
    try:
        return hashlib.sha256(pickle.dumps(thing)).hexdigest()
    except Exception:  # whatever a stranger's class raises
        return ADDRESS.sub("", repr(thing))


def _code(code):
    """What a function does, without the addresses of anything."""
    constants = [_code(x) if hasattr(x, "co_code") else _named(x) for x in code.co_consts]
    return [code.co_code.hex(), constants, code.co_names]
