"""Kernels per structure: compiled when a structure is first met, and kept.

A structure is a set of engaged constraints. What is redundant in it is found where it is first met, as at the start.
"""

from dataclasses import dataclass, replace

from ..errors import AssemblyError
from ..formulations.scales import Scales
from .choice import Choice
from .prepare import best_choice, chosen_anew, face_of, run_kernels, watched
from .program import lowered


@dataclass
class Structure:
    """Kernels of one structure, and what was chosen about them."""

    key: tuple
    built: object
    choice: Choice
    watches: float
    scales: object = None  # of the system in which it was met

    @property
    def keep(self):
        return list(self.choice.keep)


class Structures:
    """All structures of one run that were met so far, the one of the start first."""

    def __init__(self, told, system, built, options):
        self.told, self.options = told, options
        self.program = lowered(told.model, [label for label, _ in system.rows])
        self.bits = self.program.tables["bits"]
        self.first = self.key_of(system.p)  # the structure that choices of systems are for
        self.begin(system, built)
        self.plain: dict = {}  # met in earlier runs, with nothing to choose about them
        self.faces: dict = {}  # numeric faces of structures by key

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

    def key_of(self, p):
        """Which constraints are engaged."""
        return tuple(float(p[k]) for k in self.bits)

    def want(self, key, t, q, v, p):
        """The structure with this key, compiled at this state if it is new."""
        found = next((s for s in self.known if s.key == key), None)
        if found is None:
            found = self._again(key, t, q, p) or self._found(key, t, q, v, p)
            self.known.append(found)
        return found

    def _again(self, key, t, q, p):
        """A structure that was met in an earlier run, where it is surely found the same here; else None."""
        from ..start.diagnosis import independent
        from ..start.examiner import WELL, Examiner

        known = self.plain.get(key)
        if known is None or known.scales is self.system.scales:
            return known
        if key not in self.faces:
            self.faces[key] = face_of(self.told, self.system, self._released(key))
        f = self.faces[key]
        examiner = Examiner(f, Scales(**self.system.scales))
        kept, sine = independent(examiner.matrix(t, q, p)) if examiner.places else ([], 1.0)
        stands = sine > WELL and len(kept) == len(examiner.places) and known.keep == examiner.places
        return replace(known, scales=self.system.scales) if stands else None

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
        v = examiner.onto(t, q, v, p, found.keep)
        diagnosis.refuse_contradictions(examiner, found, t, q, v, p, f.rows)
