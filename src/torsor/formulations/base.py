"""What a formulation hands on. Anything above this line works with every formulation.

manifold                 group on which the configuration lives (blocks of Rᵏ, SO(3), SE(3))
q, v, p                  symbols of configuration, velocity, and parameters followed by turn counters
rows, keep               declared constraint rows, and which of them the kernels use
released                 constraints that do not hold at present: one formulation serves every structure of a model
functions()              factor, accelerations, impulse, positions, velocities, turns: functions of flat vectors
examination()            what the start and the diagnosis are computed with: residuals and Jacobian of all declared rows …,
                         by name, each as a function without arguments that derives it
outputs(signals)         everything a result holds
watching(name, column)   any column of signals, as a function of the state, accelerations and multipliers
"""

from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..quantity import time
from .evaluation import Examined
from .factor import conditioning, constrained, correction, inverse_metrics
from .outputs import Outputs, watching
from .scales import Scales

FUSED = 5000  # instructions up to which the parts of a stage become one kernel


class Formulation:
    """Base of all formulations: one class in one file."""

    kind = "formulation"
    watches = False

    def __init__(self, model):
        self.model = model
        self.dependent = []  # velocities that follow from the others, in formulations that split them
        self.metric = "mass"  # of projections; "plain", or dependent coordinates for positions and velocities
        self.scales = Scales()  # in which unit lengths and rows are compared
        self.released = self._not_acting(e for e in model.switched if e.active.value == 0.0)

    # structures

    def active_rows(self):
        """Places of the rows whose constraints hold at present."""
        return [k for k, row in enumerate(self.rows) if id(row.constraint) not in self.released]

    def release(self, constraints):
        """From now on exactly these constraints do not hold; which rows depend on others has to be found anew."""
        known = {id(element) for element in self.model.switched}
        for c in constraints:
            if id(c) not in known:
                raise ModelError(f"{c.owner}: no event engages or releases it, so that it always holds")
        self.released = self._not_acting(constraints)
        self.keep, self.dependent = self.active_rows(), []

    def _not_acting(self, released):
        """Identities of these elements, and of the constraints that act in joints among them."""
        found = {id(element) for element in released}
        return found | {id(c) for c in self.model.constraints if any(id(joint) in found for joint in c.within())}

    @cached_property
    def examined(self):
        """`examination()`, each function derived once where it is asked for: it is the same for every structure."""
        known = self.examination()
        return Examined(known, lambda: known)

    @cached_property
    def _rows_of(self):
        """Places of the rows of every constraint that has rows here."""
        places = {}
        for k, row in enumerate(self.rows):
            places.setdefault(id(row.constraint), []).append(k)
        return places

    def adopt(self, t, q, v, p):
        """The state that corresponds to one in absolute coordinates: itself, where these are the coordinates."""
        if "adopt" not in self.examined:
            return q, v, p
        own_q, own_v = (x.ravel() for x in self.examined["adopt"](t, q, v, p))
        inputs = len(self.model.inputs)
        turned = {(j.name, k): p[inputs + i] for i, (j, k) in enumerate(self.absolute.turns)}
        turns = [turned[j.name, k] for j, k in self.turns]
        return own_q, own_v, np.concatenate([p[:inputs], turns])

    def choose(self, examiner, t, q, p):
        """Choose what depends on what at a configuration; nothing to choose here."""

    def multipliers(self, lam, a):
        """The multipliers that results show, of the rows in use."""
        return lam[: len(self.keep)]

    def kept_multipliers(self, constraint, lam):
        """λ of a constraint's rows, zero where a row is not in use; None for a constraint without rows here."""
        if id(constraint) not in self._rows_of:
            return None
        kept = {row: k for k, row in enumerate(self.keep)}
        return ca.vertcat(*[lam[kept[k]] if k in kept else 0 for k in self._rows_of[id(constraint)]])

    def multiplier_of(self, constraint, lam, a):
        """λ of a constraint's rows, whether these are rows of the formulation or not."""
        own = self.kept_multipliers(constraint, lam)
        return ca.SX.zeros(constraint.multiplier.shape) if own is None else own

    @property
    def implicit(self):
        """How many efforts depend on reactions or accelerations: they follow λ in what `accelerations` hands on."""
        return self.loads.size

    # results

    def outputs(self, signals):
        return Outputs(self, signals)

    def watching(self, name, column):
        """A column of signals as a function (t, q, v, p, a, λ) of that name."""
        return watching(self, name, column)

    def energies(self):
        """Kinetic and potential energy, as a function (t, q, v, p)."""
        both = ca.vertcat(self.kinetic_energy(), self.all_rows.loads.potential)
        found = self.in_state(both, ca.SX.zeros(self.v.shape[0]))
        return shared(ca.Function("energies", [time, self.q, self.v, self.p], [ca.densify(found)]))

    # contacts that depend on each other

    def ambiguous(self):
        """Whether contacts or friction hold that are not in the equations, since others hold the same."""
        kept = set(self.keep)
        return any(self.rows[k].constraint.rank > 0 for k in self.active_rows() if k not in kept)

    def meeting(self):
        """What impulses at all rows of contacts and friction do, as a function (t, q, v, p): A = G B, the velocities B that
        impulses of 1 bring about while everything else holds, and ψ of these rows."""
        of = lambda rows: self.jacobian()[rows, :]
        G = of([k for k, row in enumerate(self.rows) if row.constraint.rank > 0])
        H, solve, settle = constrained(
            of([k for k in self.keep if self.rows[k].constraint.rank == 0]), self.mass_matrix()
        )
        free = [settle(G[row, :].T) for row in range(G.shape[0])]
        B = ca.horzcat(*[x - settle(H.T @ solve(H @ x)) if H.shape[0] else x for x in free])
        psi = self.stacked("psi")[[k for k, row in enumerate(self.rows) if row.constraint.rank > 0], :]
        results = [ca.densify(ca.vec(x)) for x in (G @ B, B, psi)]
        return shared(ca.Function("meeting", [time, self.q, self.v, self.p], results))

    # projections

    def corrections(self, step, G, g, psi):
        """How positions and velocities are corrected: both by `step` in the mass metric, or in a metric of their own,
        factored inside their kernels. Returns the two corrections, of g and of ψ."""
        if self.metric == "mass" or not self.keep:
            return step(g), step(psi)
        W_q, W_v = inverse_metrics(self.metric, self.column_units())
        held = [k for k, row in enumerate(self.keep) if self.rows[row].holonomic]
        at_position = correction(G[held, :], W_q)(g[held]) if held else ca.SX.zeros(self.v.shape[0])
        return at_position, correction(G, W_v)(psi)

    def conditioned(self, factor, G):
        """A factor vector whose last entry tells how well a partition is conditioned, where one is in use."""
        if not isinstance(self.metric, tuple) or not self.keep:
            return factor
        W_q, W_v = inverse_metrics(self.metric, self.column_units())
        held = [k for k, row in enumerate(self.keep) if self.rows[row].holonomic]
        units, columns = np.array(self.row_units()), self.column_units()
        worst = conditioning(G, W_v, units, columns)
        if held:
            worst = ca.fmin(worst, conditioning(G[held, :], W_q, units[held], columns))
        return ca.vertcat(factor[:-1], worst)

    # scales

    def measure(self, scales):
        """Compare lengths and rows in these units from now on."""
        self.scales = scales

    def row_units(self):
        """Units of the rows in use."""
        return self.scales.row_units([self.rows[k].label for k in self.keep])

    def column_units(self):
        """Units of the velocities."""
        return [self.scales.unit if along else 1.0 for along in self.linear()]

    def with_size(self, residuals):
        """Residuals of the rows in use, and last the length of the vector of all of them in their units."""
        sizes = [x / unit for x, unit in zip(ca.vertsplit(ca.densify(residuals)), self.row_units())]
        return ca.densify(ca.vertcat(residuals, ca.sqrt(ca.sumsqr(ca.vertcat(*sizes))) if sizes else 0))

    # angles over full turns

    def placed(self, expression):
        """An expression of the bodies' symbols as one of the state."""
        return expression

    def counting(self):
        """Kernels of the angles that are counted over full turns: their values, continued from those in p, and their rates.

        A joint whose velocities are no rates of its coordinates has its angles differentiated along the motion.
        """
        angle = lambda j, k: self.placed(self.meaning.coordinates(j)[k])
        rate = lambda j, k: self.rate_of(angle(j, k)) if j.quasi else self.placed(self.meaning.rates(j)[k])
        found = [ca.vertcat(*[what(j, k) for j, k in self.turns], ca.SX(0, 1)) for what in (angle, rate)]
        return {
            "turns": ca.Function("turns", [time, self.q, self.p], [ca.densify(found[0])]),
            "spin": ca.Function("spin", [time, self.q, self.v, self.p], [ca.densify(found[1])]),
        }

    def along(self, correction):
        """Kernel (t, q, p, e): the part of an error in positions that a projection leaves, where some of the rows in use are at
        velocity level and restore no position; none where `tangent` serves. correction: of a residual, for a Jacobian."""
        held = [k for k, row in enumerate(self.keep) if self.rows[row].holonomic]
        if len(held) == len(self.keep):
            return {}
        e, G = ca.SX.sym("e", self.v.shape[0]), self.jacobian()[[self.keep[k] for k in held], :]
        left = e + correction(G)(G @ e) if held else e
        return {"along": ca.Function("along", [time, self.q, self.p, e], [ca.densify(left)])}

    def levels(self):
        """The part of `examination()` that holds all declared rows: residuals g and ψ, γ, and G."""
        t, q, v, p = time, self.q, self.v, self.p
        moving = {
            name: lambda name=name: ca.Function(name, [t, q, v, p], [self.stacked(name)]) for name in ("psi", "gamma")
        }
        return moving | {
            "g": lambda: ca.Function("g", [t, q, p], [self.stacked("g")]),
            "G": lambda: ca.Function("G", [t, q, p], [self.jacobian()]),
        }

    def moving(self):
        """A tidied step along a group direction, as assembly takes it."""
        q, u = ca.SX.sym("q", self.manifold.size), ca.SX.sym("u", self.manifold.dimension)
        return ca.Function("move", [q, u], [self.manifold.tidy(self.manifold.retract(q, u))])

    def retractions(self, map):
        """The manifold's own kernels: a step along a group direction, plain and tidied, and the correction dexp⁻¹."""
        q, u = ca.SX.sym("q", self.manifold.size), ca.SX.sym("u", self.manifold.dimension)
        w = ca.SX.sym("w", self.manifold.dimension)
        moved = self.manifold.retract(q, u, map)
        return {
            "retract": ca.Function("retract", [q, u], [moved]),
            "advance": ca.Function("advance", [q, u], [self.manifold.tidy(moved)]),
            "differential": ca.Function("differential", [u, w], [self.manifold.dexp_inverse(u, w, map)]),
        }


def fused_stage(kernels):
    """A whole Runge–Kutta stage as one kernel: (t, q, u, v, p) → (k, v̇, power) at q · exp(u).

    Same equations, one graph: what passes between the parts stays in registers. Worth it for small models, where calls
    and memory cost as much as arithmetic; `None` for large ones, whose parts are compiled once and called in turn.
    """
    factor, accelerations = kernels["factor"], kernels["accelerations"]
    if factor.n_instructions() + accelerations.n_instructions() > FUSED:
        return None
    t, q, v, p = (ca.SX.sym(f"x{i}", *accelerations.size_in(i)) for i in range(4))
    u = ca.SX.sym("u", v.shape[0])
    moved = kernels["retract"](q, u)
    a, _, power = accelerations(t, moved, v, p, factor(t, moved, p))
    return shared(ca.Function("stage", [t, q, u, v, p], [kernels["differential"](u, v), a, power]))


def shared(f):
    """The same function with common subexpressions computed once."""
    return ca.Function(f.name(), f.sx_in(), ca.cse(f.call(f.sx_in())))
