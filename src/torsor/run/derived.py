"""What was derived from a model for one formulation and one set of recorded signals: once, whatever its parameters are.

It is kept with the model while the process lives, and on the disk, so that a second process derives nothing either.
Values of parameters are arguments of everything in it; what depends on them (the start, which rows are redundant, which
coordinates depend on others) is computed anew for each value, in milliseconds. The first start is kept on the disk, too,
with the values it belongs to: most models are run again as they are. However many values follow, no more is stored.
"""

import json
import pathlib
import zlib
from dataclasses import asdict
from functools import cache
from typing import Any

from .. import kernels
from ..kernels.deriving import DERIVING
from ..registry import lookup
from .system import System


class Derived:
    """A formulation of a model: its numeric face, and the kernels of every choice that was met.

    mark    fingerprint of the model and of the signals
    facts   what results hold, as plain data
    likely  rows that the last start had in use, in absolute coordinates and in its own: others probably have the same
    """

    def __init__(self, model, formulation, signals, mark, key):
        self.model, self.signals, self.mark = model, signals, mark
        self.cls, self.formulation = lookup("formulation", formulation), formulation
        self.lock, self.libraries, self.known = DERIVING, {}, {}
        self.key, self._equations = key, None
        self._content: Any = None
        self.likely: dict[str, list] = {}

    @property
    def facts(self):
        return self._known()[0]

    @property
    def sides(self):
        """Facts and functions of the formulation and, where it is another one, of that of absolute coordinates."""
        return self._known()[1]

    def _known(self):
        """Derived, or read from the disk, when first asked for: a start that is kept needs none of it."""
        with self.lock:
            if self._content is None:
                stored = kernels.cache.load(self.key, "derived")
                self._content = (
                    self._derived() if stored is None else self._recalled(json.loads(zlib.decompress(stored)))
                )
            return self._content

    def _derived(self):
        from ..start.numeric import facts_of, recorded

        sides = [(facts_of(x), x.examined) for x in self._formulations()]
        return recorded(self.equations, self.signals), sides

    def _recalled(self, stored):
        from ..formulations.evaluation import Examined

        sides = []
        for k, (facts, names, texts) in enumerate(stored["sides"]):
            derive = lambda k=k: self._formulations()[k].examination()
            sides.append((facts, Examined(names, derive, texts)))
        return stored["facts"], sides

    def _keep(self):
        """Store what was derived since the last time."""
        if self._content and not all(functions.complete for _, functions in self.sides):
            sides = [(facts, functions.names, functions.texts()) for facts, functions in self.sides]
            stored = json.dumps({"facts": self.facts, "sides": sides})
            kernels.cache.store(self.key, "derived", zlib.compress(stored.encode(), 1))

    def start(self, options, values, begin):
        """The system at the start with these values: the one that is kept, or what `begin()` finds, which is kept where it is
        the first."""
        key = kernels.cache.digest("start", self.key, repr(options))
        kept = kernels.cache.load(key, "start")
        told, facts = json.loads(kept) if kept else (None, None)
        if told == repr(values):
            return System.restored(facts)
        system = begin()
        if kept is None:
            kernels.cache.store(key, "start", json.dumps([repr(values), asdict(system)]).encode())
        return system

    def _formulations(self):
        """The formulation and, where it is another one, that of absolute coordinates."""
        f = self.equations
        absolute = getattr(f, "absolute", f)
        return [f] if f is absolute else [f, absolute]

    @property
    def equations(self):
        """The formulation itself, derived when something new has to be compiled."""
        with self.lock:
            if self._equations is None:
                self._equations = self.cls(self.model)
            return self._equations

    def face(self):
        """A numeric face, for one use: what is chosen is written on it."""
        from ..start.numeric import Numeric

        face, classes = None, (self.cls, lookup("formulation", "absolute"))  # absolute coordinates come last
        for (facts, functions), cls in reversed(list(zip(self.sides, classes))):
            face = Numeric(self.model, cls, facts, functions, face)
        return face

    def library(self, choice, build):
        """Kernels of a choice: known here, on the disk, or built now by `build(key, equations)`."""
        key = kernels.cache.digest("kernels", self.mark, self.formulation, repr(choice), build.__name__, _source())
        with self.lock:
            if key not in self.libraries:
                self.libraries[key] = kernels.load(key) or build(self, key, choice.write(self.equations), choice)
            self._keep()
            return self.libraries[key]


@cache
def _source():
    """Digest of the files with which the meaning of what is stored changes."""
    here = pathlib.Path(__file__).parent
    names = (
        "prepare.py",
        "columns.py",
        "system.py",
        "derived.py",
        "program.py",
        "pace.py",
        "structures.py",
        "waist.py",
        "beside.py",
        "solving.py",
        "choice.py",
    )
    return kernels.cache.digest(*[(here / name).read_text() for name in names])


def derived(model, formulation, signals):
    """What was derived from a model, in this process or before."""
    from ..formulations.fingerprint import fingerprint

    mark = fingerprint(model, signals)
    known = model.derived.setdefault("formulations", {})
    if (formulation, mark) not in known:
        key = kernels.cache.digest("derived", mark, formulation, _source())
        known[formulation, mark] = Derived(model, formulation, signals, mark, key)
    return known[formulation, mark]
