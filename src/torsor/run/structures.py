"""Kernels per structure: compiled when a structure is first met, and kept.

A structure is a set of engaged constraints. What is redundant in it is found where it is first met, as at the start.
"""

import json
from dataclasses import dataclass, replace

from ..errors import AssemblyError
from .prepare import build, kernel_key, watched
from .program import lowered


@dataclass
class Structure:
    """Kernels and rows of one structure."""

    key: tuple
    built: object
    keep: list
    dependent: list
    watches: float


class Structures:
    """All structures of one run that were met so far, the one of the start first."""

    def __init__(self, told, system, built, options):
        self.told, self.system, self.options = told, system, options
        self.program = lowered(told.model, [label for label, _ in system.rows])
        self.known, self.used = [], set()  # used: rows that were chosen anew
        self.bits = self.program.tables["bits"]
        first = Structure(self.key_of(system.p), built, system.keep, system.dependent, system.watches)
        self.known.append(first)

    def key_of(self, p):
        """Which constraints are engaged."""
        return tuple(float(p[k]) for k in self.bits)

    def want(self, key, t, q, v, p):
        """The structure with this key, compiled at this state if it is new."""
        found = next((s for s in self.known if s.key == key), None)
        if found is None:
            found = self._found(key, t, q, v, p)
            self.known.append(found)
        return found

    def rebuilt(self, key, keep, dependent, watches):
        """A structure that an earlier run met, with the rows that it used."""
        found = next((s for s in self.known if s.key == key), None)
        if found is not None and found.keep == keep and found.dependent == dependent:
            return found
        f = self._released(key)
        f.keep, f.metric = keep, (tuple(dependent[:-1]) if len(dependent) > 1 else self.options[2])
        f.dependent = dependent[-1]
        again = Structure(key, self._library(f, key, dependent), keep, dependent, watches)
        self.known = [again if s.key == key else s for s in self.known] + ([again] if found is None else [])
        return again

    def rechosen(self, structure, t, q, p):
        """The same structure with the rows and the dependent coordinates that are best here."""
        from ..formulations.diagnosis import anew
        from ..formulations.examiner import Examiner

        f = self._released(structure.key)
        examiner = Examiner(f, f.scales)
        f.keep = anew(examiner, structure.keep, t, q, p)
        before = structure.dependent[-1] if f.keep == structure.keep else []
        dependent, _ = self._choose(f, examiner, t, q, p, before)
        if (f.keep, dependent) == (structure.keep, structure.dependent):
            return False
        structure.built = self._library(f, structure.key, dependent)
        self.used |= set(f.keep)
        structure.keep, structure.dependent = f.keep, dependent
        return True

    def _found(self, key, t, q, v, p):
        """What is redundant in a structure is found at the state where it is first met, whatever was run before."""
        from ..formulations import diagnosis
        from ..formulations.examiner import Examiner

        f = self._released(key)
        examiner = Examiner(f, f.scales)
        where, _ = examiner.assemble(t, q, p)
        where = q if where is None else where
        found = diagnosis.diagnose(examiner, t, where, p)
        self._refuse(examiner, f, found, t, where, v, p)
        f.keep = found.keep
        dependent, partition = self._choose(f, examiner, t, where, p)
        watches = watched(f, partition, found.redundant)
        return Structure(key, self._library(f, key, dependent), f.keep, json.loads(json.dumps(dependent)), watches)

    def _refuse(self, examiner, f, found, t, q, v, p):
        """Refuse engagements that contradict each other: redundant rows that ask for something else than the others."""
        from ..formulations import diagnosis

        found = replace(found, redundant=[k for k in found.redundant if f.rows[k].constraint.rank == 0])
        if not found.redundant:
            return
        rest = zip(found.redundant, examiner.g(t, q, p, found.redundant), examiner.units(t, q, p, found.redundant))
        off = [(k, g) for k, g, unit in rest if abs(g) > 1e-6 * unit]
        if off:
            names = "; ".join(f"{f.rows[k]} (off by {g:.3g})" for k, g in off[:5])
            raise AssemblyError(f"contradictory constraints would be engaged together: {names}")
        v = examiner.onto(t, q, v, p, found.keep)
        diagnosis.refuse_contradictions(examiner, found, t, q, v, p, f.rows)

    def _released(self, key):
        """The face of the formulation with the constraints of this structure engaged."""
        from ..formulations.scales import Scales

        f = self.told.face()
        f.release([c for c, on in zip(self.program.constraints, key) if on == 0.0])
        f.metric = self.options[2]
        f.measure(Scales(**self.system.scales))
        return f

    def _choose(self, f, examiner, t, q, p, before=()):
        """Dependent coordinates, where there are any to choose."""
        from ..formulations.partition import choose

        metric, chosen = self.options[2], []
        f.metric, f.dependent = metric, list(before)
        if isinstance(metric, list) and f.keep:
            partition = choose(f, examiner, t, q, p, metric)
            f.metric = chosen = (partition["positions"], partition["velocities"])
        elif isinstance(metric, list):
            f.metric = "mass"
        if f.watches:
            f.choose(examiner, t, q, p)
        return [*chosen, f.dependent], bool(chosen)

    def _library(self, f, key, dependent):
        """Kernels of a structure and of what is chosen in it."""
        mark, formulation = self.system.fingerprint, self.told.formulation
        place = kernel_key(mark, formulation, [list(key), f.keep], dependent, self.options, f.scales)
        make = lambda equations: build(equations, self.told.signals, self.program, place, self.options)
        return self.told.library(place, f, make)
