"""What was derived from a model for one formulation and one set of recorded signals: once, whatever its parameters are.

It is kept with the model while the process lives, and on the disk, so that a second process derives nothing either.
Values of parameters are arguments of everything in it; what depends on them (the start, which rows are redundant, which
coordinates depend on others) is computed anew for each run, in milliseconds, and never stored.
"""

import json
import pathlib
import zlib
from functools import cache
from threading import RLock

from .. import kernels
from ..registry import lookup


class Derived:
    """A formulation of a model: its numeric face, and the kernels of every choice that was met.

    mark    fingerprint of the model and of the signals
    facts   what results hold, as plain data
    """

    def __init__(self, model, formulation, signals, mark, key):
        self.model, self.signals, self.mark = model, signals, mark
        self.cls, self.formulation = lookup("formulation", formulation), formulation
        self.lock, self.libraries, self.known = RLock(), {}, {}
        self._equations = None
        self.key, stored = key, kernels.cache.load(key, "derived")
        self._derive() if stored is None else self._recall(json.loads(zlib.decompress(stored)))

    def _derive(self):
        from ..start.numeric import facts_of, recorded

        self.facts = recorded(self.equations, self.signals)
        self.sides = [(facts_of(x), x.examined) for x in self._formulations()]

    def _recall(self, stored):
        from ..formulations.evaluation import Examined

        self.facts, self.sides = stored["facts"], []
        for k, (facts, names, texts) in enumerate(stored["sides"]):
            derive = lambda k=k: self._formulations()[k].examination()
            self.sides.append((facts, Examined(names, derive, texts)))

    def _keep(self):
        """Store what was derived since the last time."""
        if not all(functions.complete for _, functions in self.sides):
            sides = [(facts, functions.names, functions.texts()) for facts, functions in self.sides]
            stored = json.dumps({"facts": self.facts, "sides": sides})
            kernels.cache.store(self.key, "derived", zlib.compress(stored.encode(), 1))

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

        *own, absolute = self.sides
        last = Numeric(self.model, lookup("formulation", "absolute"), *absolute)
        return Numeric(self.model, self.cls, *own[0], last) if own else last

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
    names = ("prepare.py", "system.py", "derived.py", "program.py", "pace.py", "structures.py", "waist.py", "choice.py")
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
