"""`torsor.assemble`, inverse kinematics: configurations in which joints, bodies and points reach given targets."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ...dynamics.batches import Batch
from ...errors import AssemblyError, OptionError
from ...kernels.derivation_lock import deriving
from ...model.model import Model
from ...start.request import StartNames
from ..arguments import count, finite_number, flag, formulation_name, named_values, require_model
from . import least_squares as solver
from . import multistart
from .assembly_problem import Problem
from .assembly_targets import limits_of, targets_of, weights_of
from .unreachable_targets import unreachable_message, which_targets

RANDOM_STARTS = 100  # default number of random starts for a target that is not reached from the given start


@dataclass(frozen=True)
class Assembly:
    """One configuration that was found, or an array of them with the leading dimensions of the targets.

    coordinates   of all joints, by name
    poses         H of the bodies' frames, by name
    missing       residuals of the targets, by name [m, rad or the signal's own unit]
    residual      norm of all residuals, lengths divided by the size of the model
    freedom       degrees of freedom that the targets leave
    q             configuration in the coordinates of `formulation`
    parameters    parameter values of the assembly
    """

    coordinates: dict[str, Any]
    poses: dict[str, np.ndarray]
    missing: dict[str, np.ndarray]
    residual: Any
    freedom: Any
    q: np.ndarray
    formulation: str
    parameters: dict[str, float]

    def __getitem__(self, index) -> "Assembly":
        """One element of an array of assemblies, or a slice of it."""
        if not np.ndim(self.residual):
            raise OptionError("this Assembly is a single configuration, not an array: it has no index")

        def pick(x):
            return x[index].item() if np.ndim(x[index]) == 0 else x[index]

        def of(several):
            return {name: pick(x) for name, x in several.items()}

        return Assembly(
            of(self.coordinates), of(self.poses), of(self.missing), pick(self.residual), pick(self.freedom), self.q[index],
            self.formulation, self.parameters,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def __repr__(self):
        shape = np.shape(self.residual)
        if shape:
            return f"<Assembly of {shape}: largest residual {np.max(self.residual, initial=0.0):.2g}>"
        requested = ", ".join(f"{name} {value:.6g}" for name, value in self.coordinates.items())
        return f"<Assembly: {requested}; residual {self.residual:.2g}>"


@deriving
def assemble(
    model: Model,
    targets: Mapping[str, Any],
    weights: Mapping[str, Any] | None = None,
    least_squares: bool = False,
    start: Any = None,
    modes: bool = False,
    signals: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    time: float = 0.0,
    starts: int | None = None,
    formulation: str = "auto",
) -> Assembly:
    """Find a configuration that satisfies the constraints of a model and the given targets.

    targets        by name: a coordinate of a joint ("hinge", "ball[1]"), "tool.position" (centre of mass), "tool.point" (origin of
                   its frame), "tool.rotation", "tool.pose" (4x4, of its frame), or a signal of positions; arrays with leading
                   dimensions ask for many configurations at once
    weights        of targets, by name; 1 where nothing is given. Lengths are compared over the size of the model, angles in rad
    least_squares  accept the least sum of squares where not all targets can be reached
    start          as in `simulate`: coordinates by name, an earlier Assembly, a result at one time …; the search begins there
    modes          find all configurations that random starts lead to; there may be others
    signals        further expressions of positions, or frames of bodies, that targets name
    limits         pairs (lower, upper) of joint coordinates, by name, in addition to `ts.Limit` in the model; also the limits of a
                   file, as `ts.read` returns them
    parameters     values of parameters that differ from the model's
    time           time of drives and moving grounds [s]
    starts         number of random configurations to start from where a target is not reached from `start`
    formulation    "relative" or "absolute"; "auto": joint coordinates, where the model has them

    An exact target that is out of reach raises AssemblyError, whose `nearest` is the nearest assembly.
    """
    require_model(model, "assemble")
    modes, least_squares = flag(modes, "modes"), flag(least_squares, "least_squares")
    if modes and least_squares:
        raise OptionError(
            "assemble: modes=True finds exact assemblies, least_squares=True one that is not: give one of them"
        )
    goals, numbers = targets_of(model, targets, named_values(signals, "signals", "expressions or frames"))
    limits, weights = named_values(limits, "limits", "pairs of numbers"), named_values(weights, "weights", "numbers")
    problem = problem_of(model, goals, limits_of(model, limits), parameters, formulation)
    fit_problem, shape = _build_fit_problem(problem, goals, numbers, weights, time)
    begin = _start_configurations(problem, start, shape, len(fit_problem.y), fit_problem)
    tries = (0 if least_squares else RANDOM_STARTS) if starts is None else count(starts, "starts")
    with np.errstate(over="ignore", invalid="ignore"):  # the search discards values that are not finite
        if modes:
            return _find_all_modes(fit_problem, begin, shape, tries)
        return _solve_targets(fit_problem, begin, shape, tries, least_squares)


def _build_fit_problem(problem, goals, numbers, weights, time):
    """The fit problem with one row per requested configuration, and the leading dimensions of the targets."""
    batch = Batch(**{name: (value, value.shape[-1]) for name, value in numbers.items()})
    count = batch.count if batch.shape else 1
    rows = [np.broadcast_to(x, (count, x.shape[-1])) for x in batch.rows.values()]
    y = np.concatenate(rows or [np.zeros((1, 0))], axis=1)
    t = np.array([finite_number(time, "assemble: time")])
    p = problem.inputs_with_turns(problem.dynamics.p, y)
    return solver.FitProblem(problem, t, p, y, weights_of(goals, weights)), batch.shape


def _solve_targets(fit_problem, begin, shape, tries, least_squares):
    """The assembly for all requested configurations; AssemblyError if one is out of reach."""
    model, fit = fit_problem.problem.model, search_fits(fit_problem, begin, tries, not least_squares)
    if not fit.feasible.all():
        raise AssemblyError(
            f"model {model.name!r}: {which_targets(~fit.feasible, shape)} beyond assembly: no configuration was found that "
            "satisfies the constraints and stops of the model"
        )
    free = solver.freedom(fit_problem, fit.q)
    movable = np.flatnonzero(fit.exact & (free > 0))
    if len(movable):
        fit.q[movable] = solver.move_towards_start(fit_problem.select(movable), fit.q[movable], begin[movable])
    result = _assembly_of(fit_problem, fit, free, shape)
    if not least_squares and not fit.exact.all():
        raise AssemblyError(unreachable_message(model, result, ~fit.exact, shape, tries), result)
    return result


def problem_of(model, goals, limits, parameters, formulation):
    """The problem of these targets, cached with the model. Target values are inputs of its kernels."""
    formulation = formulation_name(formulation)
    parameters = named_values(parameters, "parameters", "numbers")
    values = tuple(model.values(parameters).items())
    problems = model.derived.setdefault("assembly", {})

    def signature(e):
        return () if e is None else tuple(x.element_hash() for x in _entries(e))

    key = (
        tuple((w.name, signature(w.column), signature(w.rotation)) for w in goals),
        tuple((joint.name, k, *pair) for (joint, k), pair in limits), values, formulation,
    )  # fmt: skip
    if key not in problems:
        problems[key] = Problem(model, goals, limits, parameters, formulation)
        model.derived.setdefault("assembly", {})[key] = problems[key]
    return problems[key]


def _entries(e):
    """Scalar entries of an expression."""
    import casadi as ca

    return ca.vertsplit(ca.densify(ca.vec(e)))


def search_fits(fit_problem, begin, tries, exactly):
    """The best fits from the start and, where these are not exact, from random configurations."""
    best = solver.minimise(fit_problem, begin.copy(), exactly)
    random = np.random.default_rng(1)
    for turn in range(1, tries + 1):
        bad = np.flatnonzero(~best.exact)
        if not len(bad):
            break
        part = fit_problem.select(bad)
        other = solver.minimise(part, multistart.random_starts(part, begin[bad], random, turn), exactly)
        other.q = multistart.unwind_angles(part, other.q, begin[bad])
        better = np.where(
            other.feasible & best.feasible[bad],
            other.residual < best.residual[bad],
            other.violation < best.violation[bad],
        )
        for old, new in ((best.q, other.q), (best.residual, other.residual), (best.violation, other.violation)):
            old[bad[better]] = new[better]
    bad = np.flatnonzero(~best.exact & best.feasible)
    if exactly and len(bad):  # out of reach: converge to the least residual
        other = solver.minimise(fit_problem.select(bad), best.q[bad], False)
        best.q[bad], best.residual[bad], best.violation[bad] = other.q, other.residual, other.violation
    return best


def _find_all_modes(fit_problem, begin, shape, tries):
    """All isolated configurations that random starts lead to, the nearest first: an Assembly with a leading dimension."""
    if shape:
        raise OptionError(f"modes: ask for one configuration at a time, got an array of {shape} targets")
    fit, free, isolated = multistart.find_all(fit_problem, begin, max(tries, 1))
    model = fit_problem.problem.model
    if not len(fit.q):
        return _raise_no_mode(fit_problem, begin, model, tries)
    if not isolated.any():
        raise OptionError(
            f"model {model.name!r}: the targets leave {free.min()} degrees of freedom, so that configurations are not isolated; "
            "modes=True needs as many targets as the mechanism has degrees of freedom"
        )
    if not isolated.all():
        warnings.warn(
            f"model {model.name!r}: {isolated.sum()} assemblies stand alone. Others are left out because they can still move "
            f"({free[~isolated].max()} degrees of freedom)",
            stacklevel=4,
        )
    fit = solver.Fit(fit.q[isolated], fit.residual[isolated], fit.violation[isolated])
    return _assembly_of(fit_problem.repeat(len(fit.q)), fit, free[isolated], (len(fit.q),))


def _raise_no_mode(fit_problem, begin, model, tries):
    """Raise AssemblyError with the nearest assembly."""
    best = search_fits(fit_problem, begin, tries, True)
    result = _assembly_of(fit_problem, best, solver.freedom(fit_problem, best.q), ())
    raise AssemblyError(unreachable_message(model, result, ~best.exact, (), tries), result)


def _assembly_of(fit_problem, fit, free, shape):
    """A fit as an Assembly with the leading dimensions of the targets."""
    problem, dynamics = fit_problem.problem, fit_problem.problem.dynamics

    def row(x):
        return x.reshape(*shape, *x.shape[1:]) if shape else x[0]

    def number(x):
        return row(x) if shape else float(x[0])

    flat = problem.coordinates(fit_problem.t, fit.q, fit_problem.p)
    labels = dynamics.system.joint_coordinates
    H = dynamics.poses(fit.q, fit_problem.p, fit_problem.t[0])
    r = problem.target_rows(fit_problem.t, fit.q, fit_problem.p, fit_problem.y)[0] * problem.units["targets"]
    parts = np.split(r, np.cumsum([len(w.units) for w in problem.targets])[:-1], axis=1) if problem.targets else []
    return Assembly(
        {label: number(flat[:, k]) for k, label in enumerate(labels)},
        {body: row(H[:, k]) for k, body in enumerate(dynamics.system.bodies)},
        {w.name: row(part) for w, part in zip(problem.targets, parts)},
        number(fit.residual),
        row(free) if shape else int(free[0]),
        row(fit.q),
        dynamics.formulation,
        problem.model.values(problem.parameters),
    )


def _configuration_near(problem, goals, y, t):
    """A configuration that satisfies the constraints with these coordinates, or with coordinates near them.

    The search begins at the start of the model. Another assembly of a loop may not be reachable from there: then the targets are
    solved with open loops first, and the loops are closed afterwards.
    """
    begin, form = problem.dynamics.q[None, :], problem.dynamics.formulation

    def fit(goals, y, q, open):
        near = Problem(problem.model, goals, (), problem.parameters, form, open)
        own = solver.FitProblem(near, t, near.inputs_with_turns(problem.dynamics.p, y), y, weights_of(goals, {}))
        return solver.minimise(own, q.copy(), False)

    first = fit(goals, y, begin, False)
    if first.exact[0]:
        return first.q
    counted = {(id(joint), k) for joint, k in problem.f.turns}
    own = [
        w.joint_coordinate is None or (id(w.joint_coordinate[0]), w.joint_coordinate[1]) not in counted for w in goals
    ]
    own = own if any(own) else [True] * len(goals)  # counted angles mislead the open search: omit them
    opened = fit([w for w, x in zip(goals, own) if x], y[:, np.repeat(own, [w.size for w in goals])], begin, True)
    closed = fit(goals, y, opened.q, False)
    return closed.q if closed.feasible[0] and closed.residual[0] < first.residual[0] else first.q


def _start_configurations(problem, start, shape, count, fit_problem):
    """Configurations at which the search begins, one row per target."""
    n = problem.dynamics.q.size
    if start is None:
        q = problem.dynamics.q
    elif isinstance(start, Assembly) and start.formulation == problem.dynamics.formulation:
        if start.q.shape[-1] != n or start.q.shape[:-1] not in ((), shape):
            raise OptionError(
                f"start: an Assembly of this model with shape () or {shape} is needed for {shape} targets, got one with shape "
                f"{start.q.shape[:-1]} and {start.q.shape[-1]} coordinates"
            )
        q = start.q.reshape(-1, n)
    else:
        requested = StartNames(problem.model, problem.dynamics.system).parse(start)
        places = {
            f"{body}.{what}": x for (body, what), x in requested.bodies.items() if what in ("position", "rotation")
        }
        goals, numbers = targets_of(problem.model, requested.coordinates or places)
        y = np.concatenate([x.ravel() for x in numbers.values()] or [np.zeros(0)])[None, :]
        q = _configuration_near(problem, goals, y, fit_problem.t)
    return np.array(np.broadcast_to(q, (count, n)))
