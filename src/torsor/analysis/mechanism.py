"""A model prepared for analysis: equations in the coordinates of a formulation, a consistent start, and the unknowns at a state.

All quantities are scaled as at the start of a run (`formulations/algebra/scales.py`), with E = m L² of the whole model:

    v = C v̂,     Ĝ = G C / unit,     λ = E λ̂ / unit,     forces: C f / E                               (1)
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import ModelError, OptionError
from ..prepare.auto_formulation import choose_and_prepare
from ..prepare.choice import KernelOptions
from ..prepare.derivation import derive
from ..prepare.prepare import numeric_formulation_of
from ..prepare.state_space import layout_of
from ..registry import lookup
from ..start.constraints import Examiner
from ..start.diagnosis import diagnose, independent, is_well_conditioned_basis
from .arguments import finite_number, require_model
from .equations import Equations, Unknown

EFFORT_ITERATIONS = 30  # Newton steps for efforts that depend on reactions
EFFORT_STEP_CONVERGED = 1e-13  # last Newton step / residual, both scaled by (1)
ROW_SINE_SINGULAR = 1e-7  # sine of the angle between constraint rows at a singular position


@dataclass(frozen=True)
class OperatingPoint:
    """A state of a model at which it is analysed.

    t, q, v, p   time, configuration, velocities and inputs
    released     indices of the switched elements that are not active
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    released: tuple = ()

    def with_changes(self, **changes):
        """A copy with other values of some fields."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Rows:
    """Constraint rows at an operating point.

    keep            rows in use: independent at the velocity level
    position_rows   independent position-level rows
    """

    keep: list
    position_rows: list


def equations_of(derivation, key, f, choice):
    """The equations of a formulation, derived once per model. `prepare` calls this function instead of building kernels."""
    known = derivation.model.derived.setdefault("equations", {})
    if (derivation.formulation, derivation.mark) not in known:
        formulation_object = lookup("formulation", derivation.formulation)(derivation.model)
        formulation_object.measure(f.scales)
        states = layout_of(
            derivation.model,
            formulation_object.q.shape[0],
            formulation_object.v.shape[0],
            formulation_object.p.shape[0],
        ).states
        known[derivation.formulation, derivation.mark] = Equations(formulation_object, states)
    return known[derivation.formulation, derivation.mark]


class Mechanism:
    """A model in the coordinates of a formulation.

    system      the prepared system, as in a run
    equations   residuals and derivatives, see `equations.py`
    start       the start of the model as an operating point
    time        the requested time; None: the time of the state that is analysed
    """

    def __init__(self, model, formulation="auto", parameters=None, time=None, caller="analysis"):
        require_model(model, caller)
        t = finite_number(0.0 if time is None else time, f"{caller}: time")
        model.seal()
        self.model, self.parameters = model, model.values(parameters)
        self.time = None if time is None else t
        chosen, self.system, self.equations = choose_and_prepare(
            model, formulation, KernelOptions(needs=("equations",)), parameters=parameters, t=t, build=equations_of
        )
        self.formulation = chosen.formulation
        self._derivation = derive(model, self.formulation, dict(model.signals))
        q, v, p = (np.array(x, float) for x in (self.system.q, self.system.v, self.system.p))
        self.start = OperatingPoint(t, q, v, p, tuple(self.system.choice.released))
        self._examiners: dict = {}
        self._rows_in_use: dict = {}

    # names and units

    @property
    def names(self):
        """Names of the velocities."""
        return list(self.system.coordinates)

    @property
    def states(self):
        """Names of the user's states."""
        return [name for name, _ in self.system.states]

    @cached_property
    def columns(self):
        """C of (1)."""
        return self.examiner(self.start).columns

    @cached_property
    def energy(self):
        """E of (1), over s²."""
        size = self.system.mass * self.system.length**2
        return size if size > 0 else max(self.system.inertia, 1e-300)

    # rows

    def numeric_formulation(self, point):
        """Numeric access to the formulation with the elements that are active at an operating point."""
        return numeric_formulation_of(self._derivation, self.system, point.released)

    def examiner(self, point):
        """Numeric access to the constraint rows that are active at an operating point."""
        if point.released not in self._examiners:
            numeric = self.numeric_formulation(point)
            self._examiners[point.released] = Examiner(numeric, numeric.scales)
        return self._examiners[point.released]

    def rows(self, point):
        """The constraint rows at an operating point; ModelError if the constraints lose rank there."""
        examiner, at = self.examiner(point), (point.t, point.q, point.p)
        known, keep = {row: k for k, row in enumerate(examiner.places)}, self._rows_in_use.get(point.released)
        if keep is None or not is_well_conditioned_basis(examiner.matrix(*at), [known[row] for row in keep]):
            keep = self._rows_in_use[point.released] = diagnose(examiner, *at).keep
        independent_rows, sine = independent(examiner.matrix(*at, keep))
        if len(independent_rows) < len(keep) or sine < ROW_SINE_SINGULAR:
            dependent = [str(examiner.rows[known[keep[k]]]) for k in set(range(len(keep))) - set(independent_rows)]
            raise ModelError(
                f"model {self.model.name!r}: this is a singular position: the constraints are linearly dependent here "
                f"({'; '.join(dependent) or 'nearly dependent rows'}), and there is no linear model"
            )
        positions = [k for k, row in zip(examiner.places, examiner.rows) if row.holonomic]
        if len(positions) == len(examiner.rows):
            return Rows(keep, keep)
        chosen, _ = independent(examiner.matrix(*at, positions)) if positions else ([], 1.0)
        return Rows(keep, [positions[k] for k in chosen])

    def row_units(self, point, rows):
        """Units of constraint rows, see (1)."""
        return self.examiner(point).units(point.t, point.q, point.p, rows)

    # unknowns

    def zero_unknowns(self):
        """Zero accelerations, multipliers and efforts."""
        sizes = self.equations.sizes
        return Unknown(*(np.zeros(sizes[name]) for name in ("v", "rows", "efforts")))

    def directions(self, point, keep):
        """Unit changes of accelerations, of multipliers of the rows in use and of efforts, scaled by (1)."""
        n, m, k = (self.equations.sizes[name] for name in ("v", "rows", "efforts"))
        r = len(keep)
        a, lam, y = np.zeros((n, n + r + k)), np.zeros((m, n + r + k)), np.zeros((k, n + r + k))
        a[:, :n] = np.diag(self.columns)
        lam[keep, n : n + r] = np.diag(self.energy / self.row_units(point, keep))
        y[:, n + r :] = np.eye(k)
        return {"a": a, "lam": lam, "y": y}

    def scaled_equations(self, point, keep, residuals):
        """Residuals of (1), (3) for the rows in use, and (2) of `equations.py`, scaled by (1)."""
        balance = residuals["balance"] * self.columns[:, None] / self.energy
        constraints = residuals["constraints"][keep] / self.row_units(point, keep)[:, None]
        return np.vstack([balance, constraints, residuals["efforts"]])

    def matrix(self, point, keep, unknown):
        """The Jacobian of the scaled equations with respect to the unknowns."""
        e, at = self.equations, (point.t, point.q, point.v, point.p)
        return self.scaled_equations(point, keep, e.slopes(*at, unknown, self.directions(point, keep)))

    def add_step(self, point, keep, unknown, step):
        """The unknowns plus a scaled step."""
        directions = self.directions(point, keep)
        return Unknown(*(x + directions[name] @ step for x, name in zip(unknown, ("a", "lam", "y"))))

    def count_turns(self, point):
        """The operating point with its counted angles updated, by less than half a turn each."""
        if not self.equations.f.turns:
            return point
        p = np.array(point.p)
        p[self.model.input_layout.turns] = self.equations["turns"](point.t, point.q, p)[0]
        return point.with_changes(p=p)

    def imposed_velocities(self, point, keep):
        """Velocities of least norm that satisfy the rows in use: zero without drives and moving grounds."""
        return self.examiner(point).onto(point.t, point.q, np.zeros(len(self.columns)), point.p, keep)

    def solve_accelerations(self, point, keep):
        """Accelerations, multipliers and efforts at an operating point. The equations are nonlinear in the efforts only."""
        e, at, unknown = self.equations, (point.t, point.q, point.v, point.p), self.zero_unknowns()
        for _ in range(EFFORT_ITERATIONS):
            residual = self.scaled_equations(point, keep, e.residuals(*at, unknown))[:, 0]
            step = np.linalg.solve(self.matrix(point, keep, unknown), -residual)
            unknown = self.add_step(point, keep, unknown, step)
            if not e.sizes["efforts"]:
                break
            if np.abs(step).max(initial=0.0) <= EFFORT_STEP_CONVERGED * max(1.0, np.abs(residual).max()):
                break
        self.require_finite(point, "accelerations", *unknown)
        return unknown

    # results

    def results(self, point, unknown):
        """All outputs of a result as one vector, in the order of `system.layout`."""
        forces = np.concatenate([unknown.lam, unknown.y])
        return self.equations.numeric_function("results")(point.t, point.q, point.v, point.p, unknown.a, forces).ravel()

    def output_values(self, point):
        """Outputs that depend on positions and velocities only, by name; the unknowns are set to zero."""
        return self.system.outputs.split(self.results(point, self.zero_unknowns()))

    def coordinates(self, point):
        """Joint coordinates by name; positions of the bodies if there are no joints."""
        parts = self.output_values(point)
        if self.system.joint_coordinates:
            return dict(zip(self.system.joint_coordinates, parts["coordinate"].tolist()))
        labels = [f"{body} {axis}" for body in self.system.bodies for axis in "xyz"]
        return dict(zip(labels, parts["position"].tolist()))

    def require_finite(self, point, what, *values):
        """ModelError if values are not finite."""
        if not all(np.isfinite(x).all() for x in values):
            where = ", ".join(f"{name} = {x:.6g}" for name, x in list(self.coordinates(point).items())[:6])
            raise ModelError(f"model {self.model.name!r}: {what} are not numbers at this state ({where})")

    def refuse_constraint_inputs(self, rows, slopes, inputs, first):
        """OptionError if constraints depend on an input: a linear model would need its time derivatives as well."""
        names = [*self.parameters]
        for k, index in enumerate(inputs, first):
            for level, which in (("g", rows.position_rows), ("psi", rows.keep)):
                affected = [row for row in which if slopes[level][row, k] != 0]
                if affected:
                    row = self.equations.f.rows[affected[0]]
                    raise OptionError(
                        f"linearise: input {names[index]!r} occurs in constraint {row.constraint.name!r}, which also needs its "
                        "rates. Inputs may occur in forces, masses and rates of states: use a force instead of an imposed motion"
                    )
