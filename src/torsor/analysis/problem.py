"""The equations of an assembly in numbers, for many configurations side by side.

    0 = g(q)          loops, drives and all other constraints of positions
    0 = r(q, y)       what is asked for, or least in the sense of squares
    0 ≤ d(q)          stops of joints

Lengths are divided by the size of the model, and a change of configuration is û with u = C û, C the size for lengths and 1 for
angles; derivatives are those along û:  q → q · exp(C û).
"""

from functools import cached_property

import casadi as ca
import numpy as np

from .. import kernels
from ..describe.quantity import time
from ..errors import ModelError, OptionError
from ..formulations.departures import alignments, departures
from ..formulations.graphs import shared
from ..formulations.outputs import coordinate_units
from ..joints import Joint
from ..joints.limit import Limit
from ..run.dynamics import Dynamics
from ..start.impostors import ALIGNED, JUMPED
from .targets import LENGTH, OWN

PREFERRED, OTHERWISE = "relative", "absolute"
DEPENDENT = 1e-9  # singular values over the largest one, below which rows depend on each other
KNOWN = 8  # values of parameters for which a model is kept compiled


class Ground:
    """What all problems of a model have in common: the compiled model, its constraints, and how configurations move.

    dynamics   the compiled model;  f: its equations;  rows: places of those that hold positions
    """

    def __init__(self, dynamics):
        self.dynamics, self.f = dynamics, dynamics.formulation_object
        f = self.f
        self.rows = [k for k in f.active_rows() if f.rows[k].holonomic]
        q, end = (ca.SX.sym(name, f.manifold.size) for name in ("q", "end"))
        held = f.stacked("g")[self.rows, :], ca.vec(f.jacobian()[self.rows, :])
        still, joints = ca.SX.zeros(f.v.shape), [joint for joint in f.model.joints if joint.dof]
        coordinates = f.placed(ca.vertcat(*[f.joint_motion(joint, still)[0] for joint in joints], ca.SX(0, 1)))
        holding = list({id(f.rows[k].constraint): f.rows[k].constraint for k in self.rows}.values())
        closing = [c for c in holding if isinstance(c, Joint)]
        graphs = {
            "departures": shared(departures(f, closing)),
            "alignments": shared(alignments(f, holding)),
            "coordinates": shared(ca.Function("coordinates", [time, f.q, f.p], [ca.densify(coordinates)])),
            "held": shared(ca.Function("held", [time, f.q, f.p], [ca.densify(x) for x in held])),
            "local": ca.Function("local", [q, end], [f.manifold.local(q, end, "exp")]),
            "move": f.examination()["move"](),
        }
        self.kernels = kernels.build(graphs)


class Problem:
    """One model with targets and stops: values and derivatives, a row for each configuration.

    dynamics   the compiled model;  f: its equations
    open       without constraints: loops are open, drives let go
    """

    def __init__(self, model, targets, limits=(), parameters=None, formulation=None, open=False):
        self.model, self.targets, self.parameters = model, targets, parameters
        ground = grounded(model, formulation, parameters)
        self.dynamics, self.f = ground.dynamics, ground.f
        self.n, self.length = self.dynamics.v.size, self.dynamics.system.length
        self.columns = self.dynamics._examiner.plain
        self.rows = [] if open else ground.rows
        self.stops = _stops(model, limits)
        self.sizes = [target.size for target in targets]
        own = self._functions()
        self._kernels = {**ground.kernels, **(kernels.build(own) if own else {})}
        self.units = self._units()

    def _functions(self):
        """Graphs of what is asked for and of the stops, where there are any."""
        f, y = self.f, ca.SX.sym("y", sum(self.sizes))
        parts = ca.vertsplit(y, np.cumsum([0, *self.sizes]).tolist()) if self.sizes else []
        fits = [self._placed(target, target.residual(part), y) for target, part in zip(self.targets, parts)]
        gaps = [f.placed(f.substitution.of(gap)) for _, gap, _ in self.stops]
        along = lambda e: [ca.densify(x) for x in (e, ca.vec(ca.jacobian(f.rate_of(e), f.v)))]
        found = {}
        if fits:
            found["wanted"] = shared(ca.Function("wanted", [time, f.q, f.p, y], along(ca.vertcat(*fits))))
        if gaps:
            found["gaps"] = shared(ca.Function("gaps", [time, f.q, f.p], along(ca.vertcat(*gaps))))
        return found

    def _placed(self, target, residual, y):
        """A residual in the state; refused where it asks for more than positions."""
        f = self.f
        found = f.placed(f.substitution.of(residual))
        known = {s.element_hash() for s in ca.symvar(ca.vertcat(time, f.q, f.p, y))}
        other = [s.name() for s in ca.symvar(found) if s.element_hash() not in known]
        if other:
            raise OptionError(
                f"target {target.name!r} must be a signal of positions, time and parameters; it depends on {', '.join(other[:3])}"
            )
        return found

    def _units(self):
        """What the rows of g, r and d are measured in."""
        t, q, p = np.zeros(1), self.dynamics.q, self.dynamics.p
        examiner = self.dynamics._examiner
        held = examiner.units(0.0, q, p, self.rows) if self.rows else np.ones(0)
        J = np.zeros((0, self.n))
        if self.targets:
            J = self._kernels["wanted"].over(t, q, p, np.zeros(sum(self.sizes)))[1].reshape(self.n, -1).T * self.columns
        lengths = np.linalg.norm(np.where(np.isfinite(J), J, 0.0), axis=1)
        ends = np.cumsum([0, *[len(target.units) for target in self.targets]])
        own = [
            lengths[a:b].max(initial=0.0) or 1.0 for a, b in zip(ends, ends[1:])
        ]  # one for all components of a vector
        size = lambda unit, length: self.length if unit == LENGTH else length if unit == OWN else 1.0
        wanted = np.array([size(unit, length) for target, length in zip(self.targets, own) for unit in target.units])
        gaps = np.array([self.length if unit == LENGTH else 1.0 for unit, _, _ in self.stops])
        return {"held": held, "wanted": wanted, "gaps": gaps}

    # values and derivatives

    def _of(self, name, *given):
        unit = self.units[name]
        if not len(unit):
            count = len(given[1])
            return np.zeros((count, 0)), np.zeros((count, 0, self.n))
        value, slope = self._kernels[name].over(*given)
        slope = np.swapaxes(slope.reshape(len(slope), self.n, len(unit)), 1, 2)
        slope = np.where(np.isfinite(slope), slope, 0.0)  # where a signal has no derivative, it leads nowhere
        return value / unit, slope * self.columns / unit[:, None]

    def wanted(self, t, q, p, y):
        """r and its derivative."""
        return self._of("wanted", t, q, p, y)

    def held(self, t, q, p):
        """g and its derivative."""
        return self._of("held", t, q, p)

    def gaps(self, t, q, p):
        """d and its derivative."""
        return self._of("gaps", t, q, p)

    @cached_property
    def _bent(self):
        f, graph = self.f, ca.densify(self.f.stacked("gamma")[self.rows, :])
        return kernels.build({"bent": shared(ca.Function("bent", [time, f.q, f.v, f.p], [graph]))})["bent"]

    def accelerations(self, t, q, v, p):
        """v̇ of a mechanism without freedom, from its constraints alone, whatever acts on it: G v̇ = γ."""
        _, G = self.held(t, q, p)
        gamma = self._bent.over(t, q, v, p)[0] / self.units["held"]
        return np.einsum("nij,nj->ni", np.linalg.pinv(G, rcond=DEPENDENT), gamma) * self.columns

    def mistaken(self, t, q, p):
        """Whether a constraint holds in a position that it does not mean, of each configuration: see `start/impostors.py`."""
        if not self.rows:
            return np.zeros(len(q), bool)
        turned, away = np.split(self._kernels["departures"].over(t, q, p)[0], 2, axis=1)
        off = np.concatenate([turned, away / self.length], axis=1)
        return (off > JUMPED).any(axis=1) | (self._kernels["alignments"].over(t, q, p)[0] < ALIGNED).any(axis=1)

    def move(self, q, u):
        """q · exp(C û)."""
        return self._kernels["move"].over(q, u * self.columns)[0]

    def local(self, q, end):
        """û that leads from one configuration to another."""
        return self._kernels["local"].over(q, end)[0] / self.columns

    def coordinates(self, t, q, p):
        """All joint coordinates, in the order of results."""
        return self._kernels["coordinates"].over(t, q, p)[0]

    def started(self):
        """All joint coordinates at the start, by name."""
        values = self.coordinates(np.zeros(1), self.dynamics.q[None, :], self.dynamics.p)[0]
        return dict(zip(self.dynamics.system.joint_coordinates, values.tolist()))

    # angles

    def turned(self, p, y):
        """p for each row of y: angles that are asked for are counted from there, and not from those of the start."""
        places = {(id(j), k): len(self.model.inputs) + m for m, (j, k) in enumerate(self.f.turns)}
        p, at = np.repeat(p[None, :], len(y), axis=0), 0
        for target in self.targets:
            place = None if target.turns is None else places.get((id(target.turns[0]), target.turns[1]))
            if place is not None:
                p[:, place] = y[:, at]
            at += target.size
        return p


def grounded(model, formulation=None, parameters=None):
    """What problems of a model have in common, kept with it: in joint coordinates or, where it has none, in those of its bodies."""
    known, key = model.derived.setdefault("ground", {}), (formulation, *model.values(parameters).items())
    if key not in known:
        found = Ground(_compiled(model, formulation, parameters))
        while len(known) >= KNOWN:
            known.pop(next(iter(known)))
        model.derived.setdefault("ground", known)[key] = found
        return found
    return known[key]


def _compiled(model, formulation, parameters):
    if formulation is not None:
        return Dynamics(model, formulation, parameters=parameters)
    try:
        return Dynamics(model, PREFERRED, parameters=parameters)
    except (ModelError, OptionError) as error:
        try:
            return Dynamics(model, OTHERWISE, parameters=parameters)
        except (ModelError, OptionError):
            raise error from None


def _stops(model, limits):
    """Gaps of all stops, each with the unit of its coordinate and a name: those of the model, and those that are given besides."""
    found = []
    for c in model.constraints:
        if isinstance(c, Limit) and c.starts_armed:
            unit = _unit(c.joint, c.index)
            found += [(unit, gap, c.name) for gap in c.gaps()]
    for (joint, k), (lower, upper) in limits:
        q, unit, name = joint.coordinate[k], _unit(joint, k), f"limit of {joint.name}"
        found += [(unit, q - lower, name)] if np.isfinite(lower) else []
        found += [(unit, upper - q, name)] if np.isfinite(upper) else []
    return found


def _unit(joint, k):
    return coordinate_units(joint)[k]
