"""The kernels of an FMU as graphs: those of a run, and derivatives of everything that the FMU computes.

    x = P(reference · exp(u)),    u̇ = dexp⁻¹(u) (ẋ + κ δ),    y = outputs(t, x, p, ẋ, λ)                          (1)

u          continuous states, which a solver may add up
P          the projection onto the constraints, and δ the displacement by it
κ          rate at which u returns to the constraints where a solver has left them                         [1/s]
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..checks.table_breakpoints import breakpoints_of
from ..errors import OptionError
from ..prepare.auto_formulation import choose_and_prepare
from ..prepare.prepare import changes_structure
from ..prepare.state_space import kernels_of
from ..registry import lookup
from .event_run import EventRun, derive_event_run

RETURN_RATE = 5.0  # κ / rate of the motion at the start
KERNELS = ("factor", "rate", "retract", "advance", "differential", "positions", "velocities", "local", "outputs")
TURNS = ("turns", "spin")


@dataclass
class ModelEquations:
    """The kernels of a model and what an FMU must know about them."""

    formulation: str
    system: Any
    structures: list  # CasADi functions by name, of each structure
    x: np.ndarray  # state at the start
    added: list  # place in x of each continuous state whose group is addition; -1 for the others
    return_rate: float  # κ
    until: float  # end of the default experiment [s]
    breakpoints: Any  # times at which steps end, and times at which the next ones begin
    fixed: frozenset  # names of parameters on which these times depend
    events: EventRun | None = None  # of a model with events

    @property
    def kernels(self):
        """The kernels of the first structure."""
        return self.structures[0]

    @property
    def continuous(self):
        """Places in the algebra of the continuous states: all but the work."""
        work = 2 * self.system.state.v
        return [k for k in range(self.system.state.algebra) if k != work]


def derive_equations(
    model: Any, formulation: str, parameters: Any, signals: dict, until: float, step: float, method: str
) -> ModelEquations:
    """The kernels of a model, with a consistent start.

    until   end of the default experiment [s]: breakpoints over time are known up to there
    """
    events = None
    if changes_structure(model):
        events = derive_event_run(model, formulation, parameters, signals, until, step, method)
        key, system, structures = events.formulation, events.system, events.structures
        _refuse_momenta(lookup("formulation", key)(model))
    else:
        (key, _), system, _ = choose_and_prepare(model, formulation, parameters=parameters, signals=signals)
        if system.through_tables:
            raise OptionError(
                f"export_fmu: {model.owner} is so large that it runs through tables, which FMUs do not support yet"
            )
        f = lookup("formulation", key)(model).with_choice(system.choice)
        _refuse_momenta(f)
        structures = [kernels_of(f, "exp", False, dict(model.signals) | signals, needs=("local",))]
    layout = system.state
    rates = np.abs(np.array(system.v) / np.where(np.array(system.linear, bool), system.length, 1.0))
    rate = max(system.scales["rate"], rates.max(initial=0.0), 1.0)
    x = layout.join_blocks(system.q, system.v, system.p)
    added = _added_places(structures[0], layout)
    times, fixed = _breakpoints(model, system, until)
    return ModelEquations(key, system, structures, x, added, RETURN_RATE * rate, until, times, fixed, events)


def _refuse_momenta(f):
    if f.conjugate:
        raise OptionError(
            f"export_fmu: formulation {f.key!r} has momenta as state, which FMUs do not support; take 'relative'"
        )


def _breakpoints(model, system, until):
    """Breakpoints over time, and the names of the parameters on which they depend."""
    bends = breakpoints_of(model)
    if not bends.any:
        return (np.zeros(0), np.zeros(0)), frozenset()
    ends, begins = bends(np.array(system.p, float), until, system.t)
    later = begins > system.t
    columns = {symbol.element_hash(): k for k, symbol in enumerate(model.inputs)}
    fixed = [n for n, q in model.parameters.items() if bends.depends_on([columns[q.symbol.element_hash()]])]
    return (ends[later], begins[later]), frozenset(fixed)


def _added_places(kernels, layout):
    """The place in x to which each continuous state is added; -1 where the group is another one.

    A coordinate counts as added if no other one depends on its reference, so that the reference may be zero.
    """
    x, u, rate = ca.SX.sym("x", layout.x), ca.SX.sym("u", layout.algebra), ca.SX.sym("xdot", layout.algebra)
    moved, k = kernels["retract"](x, u), kernels["differential"](u, rate)
    by_u, by_x = ca.jacobian_sparsity(moved, u), ca.jacobian_sparsity(moved, x)
    by_k = ca.jacobian_sparsity(k, u)
    added = []
    for j in range(layout.algebra):
        if j == 2 * layout.v:
            continue
        targets = [row for row, column in zip(*by_u.get_triplet()) if column == j]
        place = targets[0] if len(targets) == 1 else -1
        plain = place >= 0 and ca.is_equal(ca.simplify(moved[place] - u[j] - x[place]), ca.SX(0), 2)
        alone = plain and [row for row, column in zip(*by_x.get_triplet()) if column == place] == [place]
        straight = alone and not any(column == j for _, column in zip(*by_k.get_triplet()))
        added.append(place if straight else -1)
    return added


def select_outputs(kernels: dict, rows: list) -> ca.Function:
    """The outputs function with these entries of its row only."""
    f = kernels["outputs"]
    given = [ca.SX.sym(f.name_in(k), f.sparsity_in(k)) for k in range(f.n_in())]
    row = ca.vertcat(ca.SX(0, 1), *f.call(given))
    chosen = row[rows] if rows else ca.SX.zeros(1)
    return ca.Function("outputs", given, [ca.densify(chosen)])


def whole_evaluation(equations: ModelEquations, kernels: dict, outputs: ca.Function) -> ca.Function:
    """(1) as one function (t, reference, u, p) → (u̇, y), with u in the algebra.

    kernels   those of a structure
    """
    layout = equations.system.state
    t, p = ca.SX.sym("t"), ca.SX.sym("p", max(layout.p, 1))
    reference, u = ca.SX.sym("reference", layout.x), ca.SX.sym("u", layout.algebra)
    inputs = p[: layout.p]
    raw = kernels["retract"](reference, u)
    x = raw
    constrained = kernels["positions"].size_out(1)[0] > 1
    if constrained:
        x, _ = kernels["positions"](t, x, inputs, kernels["factor"](t, x, inputs))
        x, _ = kernels["velocities"](t, x, inputs, kernels["factor"](t, x, inputs))
    rate, lam = kernels["rate"](t, x, inputs, kernels["factor"](t, x, inputs), ca.SX.zeros(4))
    back = equations.return_rate * kernels["local"](raw, x) if constrained else 0
    k = kernels["differential"](u, rate + back)
    y = outputs(t, x, inputs, rate, lam)
    return ca.Function("evaluation", [t, reference, u, p], [k, y])


def direction_kernel(evaluation: ca.Function) -> ca.Function:
    """Derivatives of u̇ and y in the direction (du, dp)."""
    t, reference, u, p = [ca.SX.sym(n, evaluation.sparsity_in(k)) for k, n in enumerate(("t", "reference", "u", "p"))]
    k, y = evaluation(t, reference, u, p)
    du, dp = ca.SX.sym("du", u.shape), ca.SX.sym("dp", p.shape)
    results = [ca.densify(ca.jtimes(z, ca.vertcat(u, p), ca.vertcat(du, dp))) for z in (k, y)]
    return ca.Function("direction", [t, reference, u, p, du, dp], results, {"cse": True})


def dependency_pattern(equations: ModelEquations, evaluation: ca.Function, places: list, count: int) -> ca.Sparsity:
    """Pattern of the Jacobian of (derivatives, outputs) by (these places of p, continuous states).

    count   number of outputs
    """
    t, reference, u, p = [ca.SX.sym(n, evaluation.sparsity_in(k)) for k, n in enumerate(("t", "reference", "u", "p"))]
    k, y = evaluation(t, reference, u, p)
    unknown = ca.vertcat(k[equations.continuous], y[:count])
    known = ca.vertcat(p[places] if places else ca.SX(0, 1), u[equations.continuous])
    return ca.jacobian_sparsity(unknown, known)
