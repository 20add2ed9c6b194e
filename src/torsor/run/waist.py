"""The waist: whatever a formulation is, a run sees one state on one group, and one rate.

    x = (q, y, w, z),      ẋ = (v, ẏ, P, ż)                                                            (1)

q   configuration, on the manifold of the formulation
v   velocities: elements of its algebra, whatever they are
y   these velocities, or momenta (`beside.py`)
w   work of what changes the energy, and its power P
z   the states of the user

All but q are plain vectors, so that the group is that of q times Rⁿ. A kernel of a run is a function of x; how it follows
from what a formulation says of q and v is written here, once for all formulations.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..describe.quantity import parted, time
from ..formulations.graphs import shared
from ..formulations.lengths import sloped
from ..kernels.signatures import SIGNATURES, checked
from . import solving
from .beside import Velocities, beside
from .choice import SHARE

SLOPE = 60_000  # operations up to which the derivatives of a stage become one kernel: some four seconds
WHOLE = 0.6  # operations of all derivatives over those of a stage times its unknowns
FUSED = 5000  # instructions up to which the parts of a stage become one kernel


@dataclass(frozen=True)
class Layout:
    """Sizes of the blocks of a state: configuration, what stands beside it, and the user's states; those of p, and where z stands
    in it."""

    q: int
    v: int
    p: int
    states: tuple = ()

    @property
    def x(self):
        """Numbers of a state."""
        return self.q + self.v + 1 + len(self.states)

    @property
    def algebra(self):
        """Numbers of its rate."""
        return 2 * self.v + 1 + len(self.states)

    def joined(self, q, y, p):
        """The state with these values; no work was done yet."""
        return np.concatenate([q, y, [0.0], np.asarray(p, float)[list(self.states)]])

    def parted(self, x):
        """Configuration of a state, and what stands beside it."""
        return x[: self.q], x[self.q : self.q + self.v]


class Waist:
    """The kernels of a run, as functions of one state, from those of a formulation.

    parts    functions of q, v and p by name: see `Formulation.functions` and `retractions`
    rates    ż as a function (t, q, v, p, a, λ)
    tables   kernels that are schedules, by name
    beside   what stands beside the configuration
    """

    def __init__(self, layout, parts, rates, tables, beside=None):
        self.layout, self.parts, self.rates, self.tables = layout, parts, rates, tables
        self.beside = beside or Velocities(parts)
        self.x, self.p = ca.SX.sym("x", layout.x), ca.SX.sym("p", layout.p)
        self.u, self.xdot = ca.SX.sym("u", layout.algebra), ca.SX.sym("xdot", layout.algebra)
        self.F = ca.SX.sym("F", parts["factor"].size_out(0)[0])
        found = parts["accelerations"].size_out(1)[0] if "accelerations" in parts else 0
        self.lam = ca.SX.sym("lam", tables["rate"].gives["lam"] if "rate" in tables else found)
        self.gains = ca.SX.sym("gains", 4)

    # blocks of vectors

    def q(self, x):
        return parted(x, self.layout.q)[0]

    def y(self, x):
        """What stands beside the configuration."""
        return parted(x, self.layout.q, self.layout.v)[1]

    def v(self, x, F=None):
        """Velocities of a state; F: its factor, where that is at hand."""
        return self.beside.velocities(self.q(x), self.y(x), self.inputs(x), F)

    def rest(self, x):
        """Work and the user's states."""
        return parted(x, self.layout.q, self.layout.v)[2]

    def inputs(self, x):
        """p with the user's states as they are in x."""
        p = ca.SX(self.p)
        for k, place in enumerate(self.layout.states):
            p[place] = x[self.layout.q + self.layout.v + 1 + k]
        return p

    def steps(self, u):
        """Parts of an element of the algebra: of the configuration, of what stands beside it, of the rest."""
        return parted(u, self.layout.v, self.layout.v)

    # kernels

    def functions(self, baumgarte, fused, needs=()):
        """All kernels that a run needs, as CasADi functions; needs: further ones, that a method asks for."""
        found = {
            "factor": self._of("factor", [time, self.x, self.p], "t q p"),
            "rate": self.tables["rate"] if "rate" in self.tables else self._rate(baumgarte),
            **self._group(),
            **self._projections(),
            "turns": self._of("turns", [time, self.x, self.p], "t q p"),
            "spin": self._of("spin", [time, self.x, self.p], "t q v p"),
        }
        asked = ["push" if name == "slope" and self._long(found) else name for name in needs if name in SIGNATURES]
        found |= {name: self._further(name, found) for name in asked}
        if "rate" in self.tables:
            return found
        small = sum(self.parts[k].n_instructions() for k in ("factor", self.beside.solves)) <= FUSED
        if fused and small and not baumgarte:
            found["stage"] = self._stage(found)
        return found

    def _further(self, name, found):
        """A kernel that a method asks for."""
        own = getattr(self, f"_{name}", None)
        return solving.kernel(self, name) if own is None else own(found)

    def signals(self, name, f):
        """A function (t, q, v, p, a, λ) as one of the state, its rate and λ."""
        x, xdot = self.x, self.xdot
        q, v, p = self.q(x), self.v(x), self.inputs(x)
        a = self.beside.accelerations(q, v, p, self.steps(xdot)[1])
        results = f.call([time, q, v, p, a, self.lam])
        return shared(self._function(name, [time, x, self.p, xdot, self.lam], results))

    def of_state(self, name, f):
        """A function (t, q, v, p) as one of the state."""
        return self._function(name, [time, self.x, self.p], f.call(self._given("t q v p")))

    def impulse(self):
        r = ca.SX.sym("r", self.parts["impulse"].size_in(4)[0])
        dv, impulse = self.parts["impulse"].call([*self._given("t q p F"), r])
        results = self.beside.added(self.q(self.x), self.inputs(self.x), dv), impulse
        return self._function("impulse", [time, self.x, self.p, self.F, r], results)

    def meeting(self, f):
        """A function (t, q, v, p) of what impulses at contacts do as one of the state: B is what y changes by."""
        A, B, psi = f.call(self._given("t q v p"))
        columns = ca.horzsplit(ca.reshape(B, self.layout.v, -1))
        changes = ca.vertcat(*[self.beside.added(self.q(self.x), self.inputs(self.x), dv) for dv in columns])
        return shared(self._function("meeting", [time, self.x, self.p], [A, changes, psi]))

    def conversions(self):
        """Kernels that put velocities into a state, read them from it, and keep them where parameters are set, for states in
        which something else stands in their place."""
        x, given, q, p = self.x, [time, self.x, self.p], self.q(self.x), self.inputs(self.x)
        after = ca.SX.sym("after", self.layout.p)
        changed = self.beside.stored(q, self.v(x), after) - self.beside.stored(q, self.v(x), p)
        state = lambda y: [ca.vertcat(q, y, self.rest(x))]
        found = {
            "stored": self._function("stored", given, state(self.beside.stored(q, self.y(x), p))),
            "shown": self._function("shown", given, state(self.v(x))),
        }
        if ca.depends_on(changed, after):
            found["renewed"] = shared(self._function("renewed", [*given, after], state(self.y(x) + changed)))
        return found

    def _given(self, names):
        """Arguments of functions of configuration and velocities, with the factor where they take it."""
        names = names.split()
        F = self.F if "F" in names else None
        known = {"t": time, "q": self.q(self.x), "p": self.inputs(self.x), "F": self.F}
        return [self.v(self.x, F) if name == "v" else known[name] for name in names]

    def _of(self, name, inputs, names):
        return self._function(name, inputs, self.parts[name].call(self._given(names)))

    @staticmethod
    def _function(name, inputs, results):
        """A kernel. What a formulation hands on computes common subexpressions once already; where several of its functions
        are put together, or it has not been looked through, `shared` does so."""
        return ca.Function(name, inputs, [ca.densify(result) for result in results])

    def _rate(self, baumgarte):
        """Kernel of ẋ and λ: (1)."""
        more = [self.gains] if baumgarte else []
        t, q, v, p, F = self._given("t q v p F")
        ydot, lam, power = self.beside.rate(t, q, v, p, F, *more)
        a = self.beside.accelerations(q, v, p, ydot)
        states = self.rates(t, q, v, p, a, lam) if self.layout.states else ca.SX(0, 1)
        results = ca.vertcat(v, ydot, power, states), lam
        rate = self._function("rate", [time, self.x, self.p, self.F, self.gains], results)
        return shared(rate) if self.layout.states else rate

    def _group(self):
        """A step along an element of the algebra, plain and tidied, and the correction dexp⁻¹."""
        x, (step, faster, more) = self.x, self.steps(self.u)
        moved = lambda how: ca.vertcat(self.parts[how](self.q(x), step), self.y(x) + faster, self.rest(x) + more)
        rate, *others = self.steps(self.xdot)
        k = ca.vertcat(self.parts["differential"](step, rate), *others)
        return {
            "retract": self._function("retract", [x, self.u], [moved("retract")]),
            "advance": self._function("advance", [x, self.u], [moved("advance")]),
            "differential": self._function("differential", [self.u, self.xdot], [k]),
        }

    def _projections(self):
        """Corrections of positions and velocities, and the part of an error that they leave."""
        x, given, (at, faster, more) = self.x, [time, self.x, self.p, self.F], self.steps(self.u)
        q, v, p = self.q(x), self.v(x, self.F), self.inputs(x)
        moved, g = self.parts["positions"].call(self._given("t q p F"))
        corrected, psi = self.parts["velocities"].call(self._given("t q v p F"))
        tangent = lambda e: self.parts["tangent"](p, self.F, e)
        along = self.parts.get("along")
        left = tangent(at) if along is None else along(*self._given("t q p"), at)
        kept = self.beside.stored(moved, self.v(x), p)  # the factor of positions may be that of an earlier one
        y = self.beside.corrected(self.y(x), q, p, v, corrected)
        left_over = tangent(self.beside.taken(q, p, self.F, faster))  # errors are judged as velocities
        return {
            "positions": self._function("positions", given, [ca.vertcat(moved, kept, self.rest(x)), g]),
            "velocities": self._function("velocities", given, [ca.vertcat(q, y, self.rest(x)), psi]),
            "tangent": self._function("tangent", [*given, self.u], [ca.vertcat(left, left_over, more)]),
        }

    def _local(self, found):
        """The element of the algebra that leads from one state to another: x · exp(u) = y."""
        y = ca.SX.sym("y", self.layout.x)
        way = self.parts["local"](self.q(self.x), self.q(y))
        moved = ca.vertcat(way, self.y(y) - self.y(self.x), self.rest(y) - self.rest(self.x))
        return self._function("local", [self.x, y], [moved])

    def _long(self, found):
        """Whether the derivatives of a stage in all directions are so many operations that they take long to compile."""
        return WHOLE * self._stage(found).n_instructions() * self.layout.algebra > SLOPE

    def _slope(self, found):
        """How a stage changes with where it is taken: Newton's method needs it."""
        k = self._stage(found)(time, self.x, self.u, self.p)
        return shared(ca.Function("slope", [time, self.x, self.u, self.p], [ca.jacobian(k, self.u)]))

    def _push(self, found):
        """How a stage changes where it is taken a little further in one direction; and where it changes in any."""
        k, e = self._stage(found)(time, self.x, self.u, self.p), ca.SX.sym("e", self.layout.algebra)
        slope = ca.SX.sym("slope", ca.jacobian_sparsity(k, self.u))
        given = [time, self.x, self.u, self.p, e, slope]
        return shared(ca.Function("push", given, [ca.densify(ca.jtimes(k, self.u, e))]))

    def _stage(self, found):
        """A whole stage of a method as one kernel: dexp⁻¹(u) ẋ at x · exp(u).

        Same equations, one graph: what passes between the parts stays in registers. Worth it for small models, where calls
        and memory cost as much as arithmetic; the parts of large ones are compiled once and called in turn.
        """
        given = time, self.x, self.u, self.p
        moved = found["retract"](self.x, self.u)
        rate, _ = found["rate"](
            time, moved, self.p, found["factor"](time, moved, self.p), ca.SX.zeros(self.gains.shape)
        )
        return shared(self._function("stage", list(given), [found["differential"](self.u, rate)]))


def layout_of(model, q, v, p):
    """Where the user's states are among the numbers that kernels take."""
    inputs = [s.element_hash() for s in model.inputs]
    return Layout(q, v, p, tuple(inputs.index(state.symbol.element_hash()) for state in model.states))


def kernels_of(f, map, baumgarte, signals, program=None, needs=()):
    """The kernels of a run of a formulation; with a program of events, those that it needs too; and what a method needs."""
    layout = layout_of(f.model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    tables = {} if set(needs) - {SHARE} else f.schedules(layout)
    parts = {**f.functions(baumgarte, "rate" not in tables), **f.retractions(map), **solving.parts(f, map, needs)}
    rates = f.watching("states", sloped(ca.vertcat(*[state.rate for state in f.model.states], ca.SX(0, 1))))
    waist = Waist(layout, parts, rates, tables, beside(f, parts))
    found = waist.functions(baumgarte, True, needs) | (waist.conversions() if f.conjugate else {})
    found["outputs"] = waist.signals("outputs", f.outputs(signals).function())
    if program is not None:
        found |= {name: waist.signals(name, f.watching(name, column)) for name, column in program(f).items()}
        found |= {"energies": waist.of_state("energies", f.energies()), "impulse": waist.impulse()}
    return checked(found)


def contact_kernels_of(f):
    """The kernel of what forces at all contacts and friction do, while the rows in use hold."""
    layout = layout_of(f.model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    parts = f.functions(accelerations=f.conjugate)
    return checked({"meeting": Waist(layout, parts, None, {}, beside(f, parts)).meeting(f.meeting())})
