"""Equations and kernels that are derived from a model for one formulation and one set of recorded signals.

They are derived once, kept with the model in memory, and stored in the cache on the disk, so that a second process derives nothing
either. Values of parameters are arguments of all functions. Results that depend on these values (the start, redundant rows,
dependent coordinates) are computed again for each value, in milliseconds. The first start is also stored on the disk, with the
values it belongs to, because most models are run again unchanged. Starts for other values are not stored.
"""

import json
import pathlib
import zlib
from dataclasses import asdict
from functools import cache
from typing import Any

from .. import kernels
from ..kernels.derivation_lock import DERIVING
from ..registry import lookup
from .system import System


class Derivation:
    """A formulation of a model: its numeric form, and the kernels of every choice so far.

    mark      fingerprint of the model and of the signals
    facts     contents of results, as plain data
    systems   prepared systems with their kernels, by the options of `prepare`
    likely    rows in use at the last start, in absolute coordinates and in those of the formulation: a first guess for other starts
    """

    def __init__(self, model, formulation, signals, mark, key):
        self.model = model
        self.signals = signals
        self.mark = mark
        self.cls = lookup("formulation", formulation)
        self.formulation = formulation
        self.lock = DERIVING
        self.libraries: dict = {}
        self.systems: dict = {}
        self.key = key
        self._equations = None
        self._content: Any = None
        self.likely: dict[str, list] = {}

    @property
    def facts(self):
        return self._load_or_derive()[0]

    @property
    def sides(self):
        """Facts and functions of the formulation and, if it is another one, of absolute coordinates."""
        return self._load_or_derive()[1]

    def _load_or_derive(self):
        """`facts` and `sides`, read from the disk or derived at the first call. A stored start needs neither."""
        with self.lock:
            if self._content is None:
                stored = kernels.cache.load(self.key, "derived")
                self._content = self._derive() if stored is None else self._load(json.loads(zlib.decompress(stored)))
            return self._content

    def _derive(self):
        from ..start.numeric_formulation import facts_of, output_facts

        sides = [(facts_of(x), x.start_functions) for x in self._formulations()]
        return output_facts(self.equations, self.signals), sides

    def _load(self, stored):
        from ..formulations.algebra.numpy_functions import NumericFunctions

        sides = []
        for k, (facts, names, texts) in enumerate(stored["sides"]):

            def examination(k=k):
                return self._formulations()[k].examination()

            sides.append((facts, NumericFunctions(names, examination, texts)))
        return stored["facts"], sides

    def _store_new(self):
        """Store the functions that were derived since the last call."""
        if self._content and not all(functions.complete for _, functions in self.sides):
            sides = [(facts, functions.names, functions.texts()) for facts, functions in self.sides]
            stored = json.dumps({"facts": self.facts, "sides": sides})
            kernels.cache.store(self.key, "derived", zlib.compress(stored.encode(), 1))

    def start(self, options, values, compute):
        """The system at the start for these values: the stored one, or the result of `compute()`, which is stored if it is the
        first."""
        key = kernels.cache.digest("start", self.key, repr(options))
        content = kernels.cache.load(key, "start")
        stored_values, facts = json.loads(content) if content else (None, None)
        if stored_values == repr(values):
            return System.from_facts(facts)
        system = compute()
        if content is None:
            kernels.cache.store(key, "start", json.dumps([repr(values), asdict(system)]).encode())
        return system

    def _formulations(self):
        """The formulation and, if it is another one, that of absolute coordinates."""
        f = self.equations
        absolute = getattr(f, "absolute", f)
        return [f] if f is absolute else [f, absolute]

    @property
    def equations(self):
        """The formulation with its equations in symbols, derived when a new kernel must be compiled."""
        with self.lock:
            if self._equations is None:
                self._equations = self.cls(self.model)
            return self._equations

    def numeric(self):
        """A new numeric form of the formulation, on which the caller may set a choice."""
        from ..start.numeric_formulation import NumericFormulation

        numeric = None
        classes = (self.cls, lookup("formulation", "absolute"))  # as in `sides`, absolute coordinates come last
        for (facts, functions), cls in reversed(list(zip(self.sides, classes))):
            numeric = NumericFormulation(self.model, cls, facts, functions, numeric)
        return numeric

    def library(self, choice, build):
        """Kernels of a choice: from memory, from the disk, or built now by `build(derivation, key, equations, choice)`."""
        key = kernels.cache.digest("kernels", self.mark, self.formulation, repr(choice), build.__name__, _source())
        with self.lock:
            if key not in self.libraries:
                self.libraries[key] = kernels.load(key) or build(self, key, self.equations.with_choice(choice), choice)
            self._store_new()
            return self.libraries[key]


@cache
def _source():
    """Digest of the source files of this package: stored derivations are valid for it only."""
    files = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    return kernels.cache.digest(*[path.read_text() for path in files])


def derive(model, formulation, signals):
    """The derivation of a model, a new one or that of an earlier call."""
    from ..formulations.fingerprint import fingerprint

    mark = fingerprint(model, signals)
    derivations = model.derived.setdefault("formulations", {})
    if (formulation, mark) not in derivations:
        key = kernels.cache.digest("derived", mark, formulation, _source())
        derivations[formulation, mark] = Derivation(model, formulation, signals, mark, key)
    return derivations[formulation, mark]
