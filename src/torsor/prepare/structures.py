"""Kernels of the structures of a run. A structure is a set of engaged constraints.

The first `APART` structures of a run get kernels of their own, in which inactive rows do not occur. All further ones share the
kernels of one flagged structure: its rows are those of all constraints that events switch, and a flag F in p says which are
active. An inactive row becomes a row of the identity,

    (F S F + I − F) λ = F (γ − G M⁻¹ f),     S = G M⁻¹ Gᵀ                                               (1)

so that nothing is derived or compiled when constraints are engaged or released. A structure whose active rows depend on each
other gets kernels of its own in any case: its redundant rows are diagnosed at the state where it first occurs, as at the start.
In models with more than `MANY` contacts and frictions such structures share kernels, too: S of contacts and friction has some
compliance there, whose effect iterative refinement removes (`formulations/algebra/factorisation.py`). Dependent contacts and
friction share their load like equally compliant ones.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import AssemblyError
from ..methods.integrator import keys_with_equations
from .choice import Choice
from .event_lowering import lower_events
from .prepare import best_choice, choose_again, conditioning_limit, contact_kernels, numeric_formulation_of, run_kernels

CONTRADICTION_RESIDUAL = 1e-6  # residual of a redundant row / its unit: above this the row contradicts the others
APART = 3  # structures of a run with kernels of their own; further ones share the kernels of the flagged structure
MANY = 16  # contacts and frictions of a model: with more of them, structures with dependent rows share kernels, too
NOWHERE = -1.0  # value in the key of the flagged structure, which no switch has
LISTED_ROWS = 5  # contradictory rows that a message names


@dataclass
class Structure:
    """One structure, its kernels and their choice."""

    key: tuple  # values in p that say which constraints are engaged
    built: object  # its kernels
    choice: Choice
    watches: float  # see `prepare.conditioning_limit`
    scales: object = None  # of the system in which it first occurred
    contacts: object = None  # the kernel of contacts, once it was needed

    @property
    def keep(self):
        return list(self.choice.keep)


class RowIndependence:
    """Test whether the active constraint rows of a structure are linearly independent with a margin."""

    def __init__(self, f):
        self.G = f.start_functions["G"]
        self.places = f.active_rows()
        self.labels = [f.rows[k].label for k in self.places]
        self.carried = f.moved_bodies()
        self.linear = np.array(f.linear(), bool)

    def __call__(self, scales, t, q, p):
        """True if the rows are independent at a configuration, scaled as in `formulations/algebra/scales.py`."""
        from ..start.constraints import WELL_CONDITIONED_SINE, limit_row_lengths

        length = scales["length"]
        rows = scales["rows"]
        levers = scales["levers"]
        if not self.places or not rows:
            return not self.places
        arms = np.array([levers.get(name, length) for name in self.carried])
        units = np.array([rows.get(label, 1.0) for label in self.labels])
        A = self.G(t, q, p)[self.places] * np.where(self.linear, length, length / arms) / units[:, None]
        if len(A) == 1:
            return bool(A[0] @ A[0] > WELL_CONDITIONED_SINE**2)
        return len(A) <= A.shape[1] and bool(
            np.abs(np.diag(np.linalg.qr(limit_row_lengths(A)[0].T, mode="r"))).min() > WELL_CONDITIONED_SINE
        )


class Structures:
    """All structures of one run so far, that of the start first.

    known          structures of this run
    first          key of the structure of the model's start
    used           rows that were chosen again during the run
    reusable       structures of earlier runs that need no choice, by key
    independence   tests of the rows of structures, by key
    lasting_redundant   True if constraints that always hold were found to be redundant
    only           True if one structure serves all others
    """

    only = False

    def __init__(self, derivation, system, built, options):
        self.derivation = derivation
        self.options = options
        self.program = lower_events(derivation.model, [label for label, _ in system.rows])
        self.bits = self.program.tables["bits"]
        self.first = self.key_of(system.p)
        self.begin(system, built)
        self.reusable: dict = {}
        self.independence: dict = {}
        self.lasting_redundant = False

    def begin(self, system, built):
        """Begin a run with the structure of the model's start only."""
        self.used = set()
        self.system = system
        self.known = [Structure(self.first, built, system.choice, system.watches, system.scales)]

    def restart(self, system, built=None):
        """Begin another run. Returns the kernels of the structure of the model's start.

        A structure with all rows in use and without a choice of coordinates is the same at every state where its rows are
        independent. Its kernels are kept for the next run as long as the rows have the same units.
        """
        unit = system.choice.unit
        units = system.choice.units

        def stays_valid(s):
            return not s.watches and s.choice.unit == unit and s.choice.units == units

        self.reusable = {s.key: s for s in [*self.reusable.values(), *self.known] if stays_valid(s)}
        first = self.known[0]
        if built is None:
            same = first.choice == system.choice
            built = first.built if same else self.derivation.library(system.choice, run_kernels)
        self.begin(system, built)
        return built

    def contact_library(self, structure):
        """The kernel of the effect of impulses at contacts and friction elements."""
        return self.derivation.library(self.contact_choice(structure.choice), contact_kernels)

    def contact_choice(self, choice):
        """The choice of that kernel for a structure. Structures with the same other rows share it."""
        rows = numeric_formulation_of(self.derivation, self.system).rows
        keep = tuple(k for k in choice.keep if not rows[k].constraint.intermittent)
        return replace(choice, keep=keep, released=(), dependent=(), metric="mass", needs=(), flagged=choice.flagged)

    def shared(self, t, q, p):
        """The structures whose kernels serve every set of engaged constraints: one for independent rows, and if the formulation has
        it one for rows that depend on each other. None if there are no such kernels."""
        if not self._shares_kernels():
            return None
        dependent = self.derivation.cls.declares("switches") == "dependent"
        found = [self._make_flagged(t, q, p, soft) for soft in ((False, True) if dependent else (False,))]
        return None if None in found else found

    def key_of(self, p):
        """Key of the structure: the values in p that say which constraints are engaged."""
        return tuple(float(p[k]) for k in self.bits)

    def is_known(self, key):
        """True if a structure occurred in an earlier run and its kernels may be reused."""
        return tuple(key.tolist()) in self.reusable

    def want(self, key, t, q, v, p, dependent=False):
        """The structure that serves this key at this state: with kernels of its own, or the flagged one.

        dependent   True if the rows of this structure were found to depend on each other
        """
        structure = next((s for s in self.known if s.key == key), None)
        if structure is None:
            structure = self._find_sharing(key, t, q, p, dependent)
        if structure is None:
            structure = self._reuse(key, t, q, p) or self._diagnose(key, t, q, v, p)
            self.known.append(structure)
        return structure

    def _find_sharing(self, key, t, q, p, dependent):
        """The structure whose kernels this key shares with others; None if it needs kernels of its own."""
        many = len(self.program.tables["onesided"]) + len(self.program.tables["frictions"]) > MANY
        if len(self.known) < (1 if many else APART) or not self._shares_kernels():
            return None
        flagged, soft = (
            next((s for s in self.known if s.choice.flagged and s.choice.soft == soft), None) for soft in (False, True)
        )
        if flagged is None and soft is None and not dependent:
            dependent = not self._has_independent_rows(key, t, q, p)
        if dependent and not (many and self.derivation.cls.declares("switches") == "dependent"):
            return None
        structure = soft if dependent or flagged is None else flagged
        if structure is None:
            structure = self._make_flagged(t, q, p, soft=dependent)
            if structure is not None:
                self.known.append(structure)
        return structure

    def _has_independent_rows(self, key, t, q, p):
        """True if the active rows of a structure are independent at this state."""
        f = numeric_formulation_of(self.derivation, self.system, self._released_places(key))
        return RowIndependence(f)(self.system.scales, t, q, p)

    def _shares_kernels(self):
        """True if one set of kernels can serve several structures.

        This is not so if dependent coordinates are chosen for each structure, for methods with equations of their own, and if
        constraints that always hold are redundant.
        """
        choice = self.known[0].choice
        own_equations = "leap" in choice.needs or keys_with_equations(choice.needs)
        chosen = choice.partitions or self.derivation.cls.watches or self.lasting_redundant
        return bool(self.derivation.cls.declares("switches")) and not (own_equations or chosen)

    def _make_flagged(self, t, q, p, soft):
        """A structure whose kernels read which rows are active; None if constraints that always hold are redundant.

        Its rows are the independent ones of constraints that always hold, and all rows that events switch.

        soft   True: it serves structures whose active rows depend on each other
        """
        from ..start import diagnosis
        from ..start.constraints import Examiner

        elements = range(len(self.derivation.model.switched_elements))
        f = numeric_formulation_of(self.derivation, self.system, elements)
        lasting = set(f.active_rows())
        if lasting and diagnosis.diagnose(Examiner(f, f.scales), t, q, p).redundant:
            self.lasting_redundant = True
            return None
        choice = replace(self.known[0].choice, released=(), keep=tuple(range(len(f.rows))), flagged=True, soft=soft)
        library = self.derivation.library(choice, run_kernels)
        return Structure((NOWHERE,) * len(self.bits), library, choice, 0.0, self.system.scales)

    def _reuse(self, key, t, q, p):
        """The structure of an earlier run, if a diagnosis at this state would certainly give the same; else None."""
        structure = self.reusable.get(key)
        if structure is None or structure.scales is self.system.scales:
            return structure
        if key not in self.independence:
            self.independence[key] = RowIndependence(
                numeric_formulation_of(self.derivation, self.system, self._released_places(key))
            )
        independent = self.independence[key]
        same = structure.keep == independent.places and independent(self.system.scales, t, q, p)
        return replace(structure, scales=self.system.scales) if same else None

    def restore(self, facts):
        """Restore the structures of a checkpoint, each with its choice."""
        known = {(s.key, s.choice): s for s in self.known}
        self.known = []
        for stored_key, stored_choice, watches in facts:
            key = tuple(stored_key)
            choice = Choice.from_facts(stored_choice)
            structure = known.get((key, choice))
            self.known.append(
                structure or Structure(key, self.derivation.library(choice, run_kernels), choice, watches)
            )

    def choose_again(self, structure, t, q, p):
        """Choose rows and dependent coordinates of a structure again at this state. Returns True if the choice changes."""
        choice = choose_again(self.derivation, self.system, structure.choice, self.options, t, q, p)
        if choice == structure.choice:
            return False
        structure.built = self.derivation.library(choice, run_kernels)
        structure.choice = choice
        self.used |= set(choice.keep)
        return True

    def _diagnose(self, key, t, q, v, p):
        """A new structure. Its redundant rows are diagnosed at this state, independently of earlier runs."""
        from ..start import diagnosis
        from ..start.constraints import Examiner

        f = numeric_formulation_of(self.derivation, self.system, self._released_places(key))
        examiner = Examiner(f, f.scales)
        assembled, _ = examiner.assemble(t, q, p)
        q = q if assembled is None else assembled
        result = diagnosis.diagnose(examiner, t, q, p)
        self._refuse_contradictions(examiner, f, result, t, q, v, p)
        f.keep = result.keep
        choice, _ = best_choice(f, examiner, t, q, p, self.options)
        watches = conditioning_limit(f, choice.partitions, result.redundant)
        return Structure(key, self.derivation.library(choice, run_kernels), choice, watches, self.system.scales)

    def _released_places(self, key):
        """Places, among the switched elements, of those that do not act in a structure."""
        off = {id(c) for c, on in zip(self.program.constraints, key) if on == 0.0}
        return [k for k, element in enumerate(self.derivation.model.switched_elements) if id(element) in off]

    def _refuse_contradictions(self, examiner, f, result, t, q, v, p):
        """Raise an error if redundant rows contradict the rows in use."""
        from ..start import diagnosis

        result = replace(result, redundant=[k for k in result.redundant if not f.rows[k].constraint.intermittent])
        redundant = result.redundant
        if not redundant:
            return
        residuals = zip(redundant, examiner.g(t, q, p, redundant), examiner.units(t, q, p, redundant))
        wrong = [(k, g) for k, g, unit in residuals if abs(g) > CONTRADICTION_RESIDUAL * unit]
        if wrong:
            rows = "; ".join(f"{f.rows[k]} (off by {g:.3g})" for k, g in wrong[:LISTED_ROWS])
            raise AssemblyError(f"contradictory constraints would be engaged together: {rows}")
        projected = examiner.onto(t, q, v, p, result.keep)
        diagnosis.refuse_contradictions(examiner, result, t, q, projected, p, f.rows, examiner.speed(v))
