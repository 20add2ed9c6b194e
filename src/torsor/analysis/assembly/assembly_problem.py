"""Residuals and Jacobians of an assembly problem, for many configurations at once.

    0 = g(q)          position-level constraints: loops, drives, …
    0 = r(q, y)       residuals of the targets, or their least squares
    0 ≤ d(q)          stops of joints

Lengths are divided by the size of the model. A change of the configuration is û with u = C û, where C is the size of the model for
lengths and 1 for angles. Derivatives are taken along û:  q → q · exp(C û).
"""

from functools import cached_property

import casadi as ca
import numpy as np

from ... import kernels
from ...dynamics.compiled_model import Dynamics
from ...elements.quantity import time
from ...errors import ModelError, OptionError
from ...formulations.graphs.assembly_measures import reachability_errors, smallest_cosines
from ...formulations.graphs.outputs import coordinate_units
from ...formulations.graphs.run_kernels import eliminate_common_subexpressions
from ...start.impostors import ALIGNED_COSINE, IMPOSTOR_IN_RUN
from ...start.levenberg_marquardt import ROWS_DEPENDENT_BELOW
from .assembly_targets import LENGTH, SIGNAL

FIRST_FORMULATION = "relative"
SECOND_FORMULATION = "absolute"  # where the first one cannot express the model
COMPILED_MODELS_KEPT = 8  # sets of parameter values for which the compiled model is kept


class SharedKernels:
    """Kernels that all assembly problems of a model share: constraints, joint coordinates, moves on the configuration manifold.

    dynamics   the compiled model
    f          its formulation
    rows       indices of the active position-level constraint rows
    """

    def __init__(self, dynamics):
        self.dynamics, self.f = dynamics, dynamics.formulation_object
        f = self.f
        self.rows = [k for k in f.active_rows() if f.rows[k].holonomic]
        q, end = (ca.SX.sym(name, f.manifold.size) for name in ("q", "end"))
        constraint_rows = f.stack_rows("g")[self.rows, :], ca.vec(f.jacobian()[self.rows, :])
        still, joints = ca.SX.zeros(f.v.shape), [joint for joint in f.model.joints if joint.dof]
        coordinates = f.to_state_symbols(
            ca.vertcat(*[f.joint_motion(joint, still)[0] for joint in joints], ca.SX(0, 1))
        )
        holding = list({id(f.rows[k].constraint): f.rows[k].constraint for k in self.rows}.values())
        closing = [c for c in holding if c.has_coordinates]
        graphs = {
            "departures": eliminate_common_subexpressions(reachability_errors(f, closing)),
            "alignments": eliminate_common_subexpressions(smallest_cosines(f, holding)),
            "coordinates": eliminate_common_subexpressions(
                ca.Function("coordinates", [time, f.q, f.p], [ca.densify(coordinates)])
            ),
            "constraints": eliminate_common_subexpressions(
                ca.Function("constraints", [time, f.q, f.p], [ca.densify(x) for x in constraint_rows])
            ),
            "local": ca.Function("local", [q, end], [f.manifold.local(q, end, "exp")]),
            "move": f.examination()["move"](),
        }
        self.kernels = kernels.build(graphs)


class Problem:
    """A model with targets and stops: residuals and Jacobians, one row per configuration.

    dynamics   the compiled model
    f          its formulation
    open       True: without constraints, that is with open loops and no drives
    """

    def __init__(self, model, targets, limits=(), parameters=None, formulation=None, open=False):
        self.model, self.targets, self.parameters = model, targets, parameters
        common = shared_kernels(model, formulation, parameters)
        self.dynamics, self.f = common.dynamics, common.f
        self.n, self.length = self.dynamics.v.size, self.dynamics.system.length
        self.columns = self.dynamics._examiner.plain
        self.rows = [] if open else common.rows
        self.stops = _stops(model, limits)
        self.sizes = [target.size for target in targets]
        own = self._functions()
        self._kernels = {**common.kernels, **(kernels.build(own) if own else {})}
        self.units = self._units()

    def _functions(self):
        """Graphs of the target residuals and of the gaps of the stops, if there are any."""
        f, y = self.f, ca.SX.sym("y", sum(self.sizes))
        parts = ca.vertsplit(y, np.cumsum([0, *self.sizes]).tolist()) if self.sizes else []
        fits = [
            self._residual_expression(target, target.residual(part), y) for target, part in zip(self.targets, parts)
        ]
        gaps = [f.to_state_symbols(f.substitution.of(gap)) for _, gap, _ in self.stops]
        along = lambda e: [ca.densify(x) for x in (e, ca.vec(ca.jacobian(f.rate_of(e), f.v)))]
        functions = {}
        if fits:
            functions["targets"] = eliminate_common_subexpressions(
                ca.Function("targets", [time, f.q, f.p, y], along(ca.vertcat(*fits)))
            )
        if gaps:
            functions["gaps"] = eliminate_common_subexpressions(
                ca.Function("gaps", [time, f.q, f.p], along(ca.vertcat(*gaps)))
            )
        return functions

    def _residual_expression(self, target, residual, y):
        """A residual as an expression of t, q, p and y; OptionError if it depends on anything else."""
        f = self.f
        expression = f.to_state_symbols(f.substitution.of(residual))
        allowed = {s.element_hash() for s in ca.symvar(ca.vertcat(time, f.q, f.p, y))}
        other = [s.name() for s in ca.symvar(expression) if s.element_hash() not in allowed]
        if other:
            raise OptionError(
                f"target {target.name!r} must be a signal of positions, time and parameters; it depends on {', '.join(other[:3])}"
            )
        return expression

    def _units(self):
        """Units of the rows of g, r and d."""
        t, q, p = np.zeros(1), self.dynamics.q, self.dynamics.p
        examiner = self.dynamics._examiner
        constraint_units = examiner.units(0.0, q, p, self.rows) if self.rows else np.ones(0)
        J = np.zeros((0, self.n))
        if self.targets:
            J = (
                self._kernels["targets"].over(t, q, p, np.zeros(sum(self.sizes)))[1].reshape(self.n, -1).T
                * self.columns
            )
        lengths = np.linalg.norm(np.where(np.isfinite(J), J, 0.0), axis=1)
        ends = np.cumsum([0, *[len(target.units) for target in self.targets]])
        # one unit for all components of a vector
        own = [lengths[a:b].max(initial=0.0) or 1.0 for a, b in zip(ends, ends[1:])]
        size = lambda unit, length: self.length if unit == LENGTH else length if unit == SIGNAL else 1.0
        target_units = np.array(
            [size(unit, length) for target, length in zip(self.targets, own) for unit in target.units]
        )
        gap_units = np.array([self.length if unit == LENGTH else 1.0 for unit, _, _ in self.stops])
        return {"constraints": constraint_units, "targets": target_units, "gaps": gap_units}

    # values and derivatives

    def _scaled_rows(self, name, *arguments):
        """Values and derivatives of the rows of one kind, divided by their units."""
        unit = self.units[name]
        if not len(unit):
            count = len(arguments[1])
            return np.zeros((count, 0)), np.zeros((count, 0, self.n))
        value, slope = self._kernels[name].over(*arguments)
        slope = np.swapaxes(slope.reshape(len(slope), self.n, len(unit)), 1, 2)
        slope = np.where(np.isfinite(slope), slope, 0.0)  # a signal without a derivative gives no direction
        return value / unit, slope * self.columns / unit[:, None]

    def target_rows(self, t, q, p, y):
        """r and its derivative."""
        return self._scaled_rows("targets", t, q, p, y)

    def constraint_rows(self, t, q, p):
        """g and its derivative."""
        return self._scaled_rows("constraints", t, q, p)

    def gaps(self, t, q, p):
        """d and its derivative."""
        return self._scaled_rows("gaps", t, q, p)

    @cached_property
    def _gamma_kernel(self):
        """γ of the position-level rows, as a kernel."""
        f, graph = self.f, ca.densify(self.f.stack_rows("gamma")[self.rows, :])
        return kernels.build(
            {"gamma": eliminate_common_subexpressions(ca.Function("gamma", [time, f.q, f.v, f.p], [graph]))}
        )["gamma"]

    def accelerations(self, t, q, v, p):
        """v̇ of a mechanism without freedom, from its constraints alone: G v̇ = γ."""
        _, G = self.constraint_rows(t, q, p)
        gamma = self._gamma_kernel.over(t, q, v, p)[0] / self.units["constraints"]
        return np.einsum("nij,nj->ni", np.linalg.pinv(G, rcond=ROWS_DEPENDENT_BELOW), gamma) * self.columns

    def is_impostor(self, t, q, p):
        """True where a constraint is satisfied in a position that it does not mean: see `start/impostors.py`."""
        if not self.rows:
            return np.zeros(len(q), bool)
        turned, away = np.split(self._kernels["departures"].over(t, q, p)[0], 2, axis=1)
        off = np.concatenate([turned, away / self.length], axis=1)
        return (off > IMPOSTOR_IN_RUN).any(axis=1) | (
            self._kernels["alignments"].over(t, q, p)[0] < ALIGNED_COSINE
        ).any(axis=1)

    def move(self, q, u):
        """q · exp(C û)."""
        return self._kernels["move"].over(q, u * self.columns)[0]

    def local(self, q, end):
        """û that moves one configuration to another."""
        return self._kernels["local"].over(q, end)[0] / self.columns

    def coordinates(self, t, q, p):
        """Joint coordinates, in the order of results."""
        return self._kernels["coordinates"].over(t, q, p)[0]

    def start_coordinates(self):
        """Joint coordinates at the start, by name."""
        values = self.coordinates(np.zeros(1), self.dynamics.q[None, :], self.dynamics.p)[0]
        return dict(zip(self.dynamics.system.joint_coordinates, values.tolist()))

    # angles

    def inputs_with_turns(self, p, y):
        """Inputs p for each row of y. Full turns of a target angle are counted from its target value, not from the start."""
        places = self.model.input_layout.turn_places(self.f.turns)
        p, at = np.repeat(p[None, :], len(y), axis=0), 0
        for target in self.targets:
            if target.joint_coordinate is not None:
                joint, k = target.joint_coordinate
                if (joint.name, k) in places:
                    p[:, places[joint.name, k]] = y[:, at]
            at += target.size
        return p


def shared_kernels(model, formulation=None, parameters=None):
    """The shared kernels of a model, cached with it.

    Without a formulation: joint coordinates, or body coordinates where the model cannot be expressed in joint coordinates.
    """
    cache, key = model.derived.setdefault("ground", {}), (formulation, *model.values(parameters).items())
    if key not in cache:
        result = SharedKernels(_compile(model, formulation, parameters))
        while len(cache) >= COMPILED_MODELS_KEPT:
            cache.pop(next(iter(cache)))
        model.derived.setdefault("ground", cache)[key] = result
        return result
    return cache[key]


def _compile(model, formulation, parameters):
    """The compiled model; with formulation None, in the first formulation that can express it."""
    if formulation is not None:
        return Dynamics(model, formulation, parameters=parameters)
    try:
        return Dynamics(model, FIRST_FORMULATION, parameters=parameters)
    except (ModelError, OptionError) as error:
        try:
            return Dynamics(model, SECOND_FORMULATION, parameters=parameters)
        except (ModelError, OptionError):
            raise error from None


def _stops(model, limits):
    """Unit, gap and name of every stop: those of `ts.Limit` in the model, then those given by `limits`."""
    stops = []
    for c in model.constraints:
        if c.limited_coordinate and c.starts_armed:
            unit = _unit(*c.limited_coordinate)
            stops += [(unit, gap, c.name) for gap in c.gaps()]
    for (joint, k), (lower, upper) in limits:
        q, unit, name = joint.coordinate[k], _unit(joint, k), f"limit of {joint.name}"
        stops += [(unit, q - lower, name)] if np.isfinite(lower) else []
        stops += [(unit, upper - q, name)] if np.isfinite(upper) else []
    return stops


def _unit(joint, k):
    return coordinate_units(joint)[k]
