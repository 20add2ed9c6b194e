"""Kernels per structure: compiled when a structure is first met, and kept.

A structure is a set of engaged constraints. What is redundant in it is found where it is first met, as at the start.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import AssemblyError
from .choice import Choice
from .prepare import best_choice, chosen_anew, contact_kernels, face_of, run_kernels, watched
from .program import lowered


@dataclass
class Structure:
    """Kernels of one structure, and what was chosen about them."""

    key: tuple
    built: object
    choice: Choice
    watches: float
    scales: object = None  # of the system in which it was met
    contacts: object = None  # the kernel of contacts, where it was wanted

    @property
    def keep(self):
        return list(self.choice.keep)


class Standing:
    """Whether the rows of a structure stand well to each other, so that none of them depends on the rows before it."""

    def __init__(self, f):
        self.G, self.places = f.examined["G"], f.active_rows()
        self.labels, self.carried = [f.rows[k].label for k in self.places], f.carried()
        self.linear = np.array(f.linear(), bool)

    def __call__(self, scales, t, q, p):
        """At a configuration, measured as `formulations/scales.py` says."""
        from ..start.examiner import WELL, shortened

        length, rows, levers = scales["length"], scales["rows"], scales["levers"]
        if not self.places or not rows:
            return not self.places
        arms = np.array([levers.get(name, length) for name in self.carried])
        units = np.array([rows.get(label, 1.0) for label in self.labels])
        A = self.G(t, q, p)[self.places] * np.where(self.linear, length, length / arms) / units[:, None]
        if len(A) == 1:
            return bool(A[0] @ A[0] > WELL**2)
        return len(A) <= A.shape[1] and bool(np.abs(np.diag(np.linalg.qr(shortened(A)[0].T, mode="r"))).min() > WELL)


class Structures:
    """All structures of one run that were met so far, the one of the start first."""

    def __init__(self, told, system, built, options):
        self.told, self.options = told, options
        self.program = lowered(told.model, [label for label, _ in system.rows])
        self.bits = self.program.tables["bits"]
        self.first = self.key_of(system.p)  # the structure that choices of systems are for
        self.begin(system, built)
        self.plain: dict = {}  # met in earlier runs, with nothing to choose about them
        self.standing: dict = {}  # how rows of structures stand to each other, by key

    def begin(self, system, built):
        """The structure of the model's start is the only one that is known."""
        self.used = set()  # rows that were chosen anew
        self.system = system
        self.known = [Structure(self.first, built, system.choice, system.watches, system.scales)]

    def restart(self, system, built=None):
        """Forget which structures were met. Returns the kernels of that of the model's start.

        A structure whose rows are all in use, with nothing to choose, is found the same wherever its rows stand well to each
        other: its kernels stay at hand as long as rows have the same units.
        """
        unit, units = system.choice.unit, system.choice.units
        same = lambda s: not s.watches and s.choice.unit == unit and s.choice.units == units
        self.plain = {s.key: s for s in [*self.plain.values(), *self.known] if same(s)}
        first = self.known[0]
        if built is None:
            known = first.choice == system.choice
            built = first.built if known else self.told.library(system.choice, run_kernels)
        self.begin(system, built)
        return built

    def contact_library(self, structure):
        """The kernel of what forces at contacts and friction do in a structure: the same wherever the same other rows hold."""
        rows = face_of(self.told, self.system).rows
        keep = tuple(k for k in structure.choice.keep if rows[k].constraint.rank == 0)
        choice = replace(structure.choice, keep=keep, released=(), dependent=(), metric="mass", needs=())
        return self.told.library(choice, contact_kernels)

    def key_of(self, p):
        """Which constraints are engaged."""
        return tuple(float(p[k]) for k in self.bits)

    def met(self, key):
        """Whether an earlier run has met a structure, so that its kernels are at hand."""
        return tuple(key.tolist()) in self.plain

    def want(self, key, t, q, v, p):
        """The structure with this key, compiled at this state if it is new."""
        found = next((s for s in self.known if s.key == key), None)
        if found is None:
            found = self._again(key, t, q, p) or self._found(key, t, q, v, p)
            self.known.append(found)
        return found

    def _again(self, key, t, q, p):
        """A structure that was met in an earlier run, where it is surely found the same here; else None."""
        known = self.plain.get(key)
        if known is None or known.scales is self.system.scales:
            return known
        if key not in self.standing:
            self.standing[key] = Standing(face_of(self.told, self.system, self._released(key)))
        standing = self.standing[key]
        well = known.keep == standing.places and standing(self.system.scales, t, q, p)
        return replace(known, scales=self.system.scales) if well else None

    def restored(self, facts):
        """The structures that an earlier run met, with what was chosen in each."""
        known = {(s.key, s.choice): s for s in self.known}
        self.known = []
        for key, choice, watches in facts:
            key, choice = tuple(key), Choice.restored(choice)
            found = known.get((key, choice)) or Structure(key, self.told.library(choice, run_kernels), choice, watches)
            self.known.append(found)

    def rechosen(self, structure, t, q, p):
        """Whether other rows or dependent coordinates are better here; then the structure has them."""
        choice = chosen_anew(self.told, self.system, structure.choice, self.options, t, q, p)
        if choice == structure.choice:
            return False
        structure.built, structure.choice = self.told.library(choice, run_kernels), choice
        self.used |= set(choice.keep)
        return True

    def _found(self, key, t, q, v, p):
        """What is redundant in a structure is found at the state where it is first met, whatever was run before."""
        from ..start import diagnosis
        from ..start.examiner import Examiner

        f = face_of(self.told, self.system, self._released(key))
        examiner = Examiner(f, f.scales)
        where, _ = examiner.assemble(t, q, p)
        where = q if where is None else where
        found = diagnosis.diagnose(examiner, t, where, p)
        self._refuse(examiner, f, found, t, where, v, p)
        f.keep = found.keep
        choice, _ = best_choice(f, examiner, t, where, p, self.options)
        watches = watched(f, choice.partitions, found.redundant)
        return Structure(key, self.told.library(choice, run_kernels), choice, watches, self.system.scales)

    def _released(self, key):
        """Places among the switched elements of those that do not act in a structure."""
        off = {id(c) for c, on in zip(self.program.constraints, key) if on == 0.0}
        return [k for k, element in enumerate(self.told.model.switched) if id(element) in off]

    def _refuse(self, examiner, f, found, t, q, v, p):
        """Refuse engagements that contradict each other: redundant rows that ask for something else than the others."""
        from ..start import diagnosis

        found = replace(found, redundant=[k for k in found.redundant if f.rows[k].constraint.rank == 0])
        if not found.redundant:
            return
        rest = zip(found.redundant, examiner.g(t, q, p, found.redundant), examiner.units(t, q, p, found.redundant))
        off = [(k, g) for k, g, unit in rest if abs(g) > 1e-6 * unit]
        if off:
            names = "; ".join(f"{f.rows[k]} (off by {g:.3g})" for k, g in off[:5])
            raise AssemblyError(f"contradictory constraints would be engaged together: {names}")
        held = examiner.onto(t, q, v, p, found.keep)
        diagnosis.refuse_contradictions(examiner, found, t, q, held, p, f.rows, examiner.speed(v))
