"""Inverse kinematics: configurations of a mechanism in which joints, bodies and points are where they are asked to be."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..describe.model import Model
from ..errors import AssemblyError, OptionError
from ..kernels.deriving import deriving
from ..run.batches import Batch
from ..run.wanted import Names
from . import branches, fitting
from .given import by_name, count, finite, flag, formulation_given, model_given
from .missing import unreachable, which
from .problem import Problem
from .targets import limits_of, targets_of, weights_of

STARTS = 100  # random configurations from which a target is tried that the start does not lead to


@dataclass(frozen=True)
class Assembly:
    """Configurations that were found: one, or an array of them with the leading dimensions of what was asked for.

    coordinates   of all joints, by name
    poses         H of the bodies' frames, by name
    missing       what is missing of each target, by name: residuals in m, rad or the signal's own unit
    residual      size of all of it, lengths over the size of the model
    freedom       how many freedoms the targets leave
    q             in the coordinates of `formulation`
    parameters    values that they belong to
    """

    coordinates: dict[str, Any]
    poses: dict[str, np.ndarray]
    missing: dict[str, np.ndarray]
    residual: Any
    freedom: Any
    q: np.ndarray
    formulation: str
    parameters: dict[str, float]

    def __getitem__(self, place) -> "Assembly":
        """One of an array of them, or some."""
        if not np.ndim(self.residual):
            raise OptionError("this Assembly is a single one, not an array of them")
        pick = lambda x: x[place].item() if np.ndim(x[place]) == 0 else x[place]
        of = lambda several: {name: pick(x) for name, x in several.items()}
        return Assembly(
            of(self.coordinates), of(self.poses), of(self.missing), pick(self.residual), pick(self.freedom), self.q[place],
            self.formulation, self.parameters,
        )  # fmt: skip

    def __repr__(self):
        shape = np.shape(self.residual)
        if shape:
            return f"<Assembly of {shape}: largest residual {np.max(self.residual, initial=0.0):.2g}>"
        told = ", ".join(f"{name} {value:.6g}" for name, value in self.coordinates.items())
        return f"<Assembly: {told}; residual {self.residual:.2g}>"


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
    formulation: str | None = None,
) -> Assembly:
    """Find a configuration that satisfies the constraints of a model and what is asked for.

    targets        by name: a coordinate of a joint ("hinge", "ball[1]"), "tool.position" (centre of mass), "tool.point" (origin of
                   its frame), "tool.rotation", "tool.pose" (4x4, of its frame), or a signal of positions; arrays with leading
                   dimensions ask for many configurations at once
    weights        of targets, by name; 1 where nothing is given. Lengths are compared over the size of the model, angles in rad
    least_squares  be content with the least sum of squares where not all targets can be met
    start          as in `simulate`: coordinates by name, an earlier Assembly, a result at one time …; what is found is near it
    modes          find all configurations that there are, as far as random starts lead to them: no proof that there are no others
    signals        further expressions of positions, or frames of bodies, that targets name
    limits         pairs (lower, upper) of joint coordinates, by name, besides those of `ts.Limit` in the model; also as `ts.read`
                   tells those of a file
    parameters     values of parameters that differ from the model's
    time           at which drives and moving grounds are
    starts         how many random configurations are tried where the start does not lead to the target
    formulation    "relative" or "absolute"; None: joint coordinates, where the model has them

    An exact target that is out of reach raises AssemblyError, whose `nearest` is the nearest assembly.
    """
    model_given(model, "assemble")
    modes, least_squares = flag(modes, "modes"), flag(least_squares, "least_squares")
    if modes and least_squares:
        raise OptionError(
            "assemble: modes=True finds exact assemblies, least_squares=True one that is not: give one of them"
        )
    wanted, numbers = targets_of(model, targets, by_name(signals, "signals", "expressions or frames"))
    limits, weights = by_name(limits, "limits", "pairs of numbers"), by_name(weights, "weights", "numbers")
    problem = problem_of(model, wanted, limits_of(model, limits), parameters, formulation)
    one, shape = _asked(problem, wanted, numbers, weights, time)
    begin = _begin(problem, start, shape, len(one.y), one)
    tries = (0 if least_squares else STARTS) if starts is None else count(starts, "starts")
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is not taken
        if modes:
            return _all_modes(one, begin, shape, tries)
        return _best(one, begin, shape, tries, least_squares)


def _asked(problem, wanted, numbers, weights, time):
    """All that is asked for, a row for each configuration, and the leading dimensions of it."""
    asked = Batch(**{name: (value, value.shape[-1]) for name, value in numbers.items()})
    count = asked.count if asked.shape else 1
    rows = [np.broadcast_to(x, (count, x.shape[-1])) for x in asked.rows.values()]
    y = np.concatenate(rows or [np.zeros((1, 0))], axis=1)
    t = np.array([finite(time, "assemble: time")])
    p = problem.turned(problem.dynamics.p, y)
    return fitting.Fitting(problem, t, p, y, weights_of(wanted, weights)), asked.shape


def _best(one, begin, shape, tries, least_squares):
    """The assembly of each configuration that is asked for; refused where one is out of reach."""
    model, found = one.problem.model, searched(one, begin, tries, not least_squares)
    if not found.sound.all():
        raise AssemblyError(
            f"model {model.name!r}: {which(~found.sound, shape)} beyond assembly: no configuration was found that satisfies the "
            "constraints and stops of the model"
        )
    free = fitting.freedom(one, found.q)
    loose = np.flatnonzero(found.exact & (free > 0))
    if len(loose):
        found.q[loose] = fitting.nearest(one.few(loose), found.q[loose], begin[loose])
    result = _told(one, found, free, shape)
    if not least_squares and not found.exact.all():
        raise AssemblyError(unreachable(model, result, ~found.exact, shape, tries), result)
    return result


def problem_of(model, wanted, limits, parameters, formulation):
    """The problem of these targets, kept with the model: other numbers need no other kernels."""
    parameters = by_name(parameters, "parameters", "numbers")
    values = tuple(model.values(parameters).items())
    known = model.derived.setdefault("assembly", {})
    mark = lambda e: () if e is None else tuple(x.element_hash() for x in _entries(e))
    key = (
        tuple((w.name, mark(w.column), mark(w.rotation)) for w in wanted),
        tuple((joint.name, k, *pair) for (joint, k), pair in limits), values, formulation_given(formulation),
    )  # fmt: skip
    if key not in known:
        known[key] = Problem(model, wanted, limits, parameters, formulation)
        model.derived.setdefault("assembly", {})[key] = known[key]
    return known[key]


def _entries(e):
    import casadi as ca

    return ca.vertsplit(ca.densify(ca.vec(e)))


def searched(one, begin, tries, exactly):
    """The best fits from the start and, where these are not exact, from random configurations."""
    best = fitting.fitted(one, begin.copy(), exactly)
    random = np.random.default_rng(1)
    for turn in range(1, tries + 1):
        bad = np.flatnonzero(~best.exact)
        if not len(bad):
            break
        part = one.few(bad)
        other = fitting.fitted(part, branches.tried(part, begin[bad], random, turn), exactly)
        other.q = branches.unwound(part, other.q, begin[bad])
        better = np.where(other.sound & best.sound[bad], other.residual < best.residual[bad], other.off < best.off[bad])
        for old, new in ((best.q, other.q), (best.residual, other.residual), (best.off, other.off)):
            old[bad[better]] = new[better]
    bad = np.flatnonzero(~best.exact & best.sound)
    if exactly and len(bad):  # out of reach: the least distance, and not only its neighbourhood
        other = fitting.fitted(one.few(bad), best.q[bad], False)
        best.q[bad], best.residual[bad], best.off[bad] = other.q, other.residual, other.off
    return best


def _all_modes(one, begin, shape, tries):
    """All configurations that random starts lead to, the nearest first: an Assembly with a leading dimension."""
    if shape:
        raise OptionError(f"modes: ask for one configuration at a time, got an array of {shape} targets")
    found, free, alone = branches.every(one, begin, max(tries, 1))
    model = one.problem.model
    if not len(found.q):
        return _no_mode(one, begin, model, tries)
    if not alone.any():
        raise OptionError(
            f"model {model.name!r}: the targets leave {free.min()} freedoms, so that configurations are not isolated; "
            "modes=True needs as many targets as there are freedoms"
        )
    if not alone.all():
        warnings.warn(
            f"model {model.name!r}: besides the {alone.sum()} assemblies that stand alone there are others in which something can "
            f"still move ({free[~alone].max()} freedoms); they are left out",
            stacklevel=4,
        )
    found = fitting.Fit(found.q[alone], found.residual[alone], found.off[alone])
    return _told(one.times(len(found.q)), found, free[alone], (len(found.q),))


def _no_mode(one, begin, model, tries):
    best = searched(one, begin, tries, True)
    result = _told(one, best, fitting.freedom(one, best.q), ())
    raise AssemblyError(unreachable(model, result, ~best.exact, (), tries), result)


def _told(one, found, free, shape):
    """What was found, with the leading dimensions of what was asked for."""
    problem, dynamics = one.problem, one.problem.dynamics
    row = lambda x: x.reshape(*shape, *x.shape[1:]) if shape else x[0]
    plain = lambda x: row(x) if shape else float(x[0])
    flat = problem.coordinates(one.t, found.q, one.p)
    labels = dynamics.system.joint_coordinates
    H = dynamics.poses(found.q, one.p, one.t[0])
    r = problem.wanted(one.t, found.q, one.p, one.y)[0] * problem.units["wanted"]
    parts = np.split(r, np.cumsum([len(w.units) for w in problem.targets])[:-1], axis=1) if problem.targets else []
    return Assembly(
        {label: plain(flat[:, k]) for k, label in enumerate(labels)},
        {body: row(H[:, k]) for k, body in enumerate(dynamics.system.bodies)},
        {w.name: row(part) for w, part in zip(problem.targets, parts)},
        plain(found.residual),
        row(free) if shape else int(free[0]),
        row(found.q),
        dynamics.formulation,
        problem.model.values(problem.parameters),
    )


def _near(problem, wanted, y, t):
    """A configuration with these coordinates, or near one: from the start of the model and, where that does not lead there, since
    another assembly of a loop may not be reached from it, with loops that are opened first and then closed."""
    begin, form = problem.dynamics.q[None, :], problem.dynamics.formulation

    def fit(wanted, y, q, open):
        near = Problem(problem.model, wanted, (), problem.parameters, form, open)
        own = fitting.Fitting(near, t, near.turned(problem.dynamics.p, y), y, weights_of(wanted, {}))
        return fitting.fitted(own, q.copy(), False)

    first = fit(wanted, y, begin, False)
    if first.exact[0]:
        return first.q
    counted = {(id(joint), k) for joint, k in problem.f.turns}
    own = [w.turns is None or (id(w.turns[0]), w.turns[1]) not in counted for w in wanted]
    own = own if any(own) else [True] * len(wanted)  # angles that are counted lead astray, where there are others
    opened = fit([w for w, x in zip(wanted, own) if x], y[:, np.repeat(own, [w.size for w in wanted])], begin, True)
    closed = fit(wanted, y, opened.q, False)
    return closed.q if closed.sound[0] and closed.residual[0] < first.residual[0] else first.q


def _begin(problem, start, shape, count, one):
    """The configurations to begin with, a row for each target."""
    n = problem.dynamics.q.size
    if start is None:
        q = problem.dynamics.q
    elif isinstance(start, Assembly) and start.formulation == problem.dynamics.formulation:
        if start.q.shape[-1] != n or start.q.shape[:-1] not in ((), shape):
            raise OptionError(
                f"start: an Assembly of {start.q.shape[:-1]} configurations of this model is needed for {shape} targets"
            )
        q = start.q.reshape(-1, n)
    else:
        told = Names(problem.model, problem.dynamics.system).wanted(start)
        places = {f"{body}.{what}": x for (body, what), x in told.bodies.items() if what in ("position", "rotation")}
        wanted, numbers = targets_of(problem.model, told.coordinates or places)
        y = np.concatenate([x.ravel() for x in numbers.values()] or [np.zeros(0)])[None, :]
        q = _near(problem, wanted, y, one.t)
    return np.array(np.broadcast_to(q, (count, n)))
