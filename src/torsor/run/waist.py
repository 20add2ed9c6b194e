"""The waist: whatever a formulation is, a run sees one state on one group, and one rate.

    x = (q, v, w, z),      ẋ = (v, v̇, P, ż)                                                            (1)

q   configuration, on the manifold of the formulation
v   velocities: elements of its algebra, whatever they are
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
from ..kernels.signatures import checked

FUSED = 5000  # instructions up to which the parts of a stage become one kernel


@dataclass(frozen=True)
class Layout:
    """Sizes of the blocks of a state: configuration, velocities and the user's states; those of p, and where z stands in it."""

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

    def joined(self, q, v, p):
        """The state with these values; no work was done yet."""
        return np.concatenate([q, v, [0.0], np.asarray(p, float)[list(self.states)]])

    def parted(self, x):
        """Configuration and velocities of a state."""
        return x[: self.q], x[self.q : self.q + self.v]


class Waist:
    """The kernels of a run, as functions of one state, from those of a formulation.

    parts    functions of q, v and p by name: see `Formulation.functions` and `retractions`
    rates    ż as a function (t, q, v, p, a, λ)
    tables   kernels that are schedules, by name
    """

    def __init__(self, layout, parts, rates, tables):
        self.layout, self.parts, self.rates, self.tables = layout, parts, rates, tables
        self.x, self.p = ca.SX.sym("x", layout.x), ca.SX.sym("p", layout.p)
        self.u, self.xdot = ca.SX.sym("u", layout.algebra), ca.SX.sym("xdot", layout.algebra)
        self.F = ca.SX.sym("F", parts["factor"].size_out(0)[0])
        multipliers = tables["rate"].gives["lam"] if "rate" in tables else parts["accelerations"].size_out(1)[0]
        self.lam = ca.SX.sym("lam", multipliers)
        self.gains = ca.SX.sym("gains", 2)

    # blocks of vectors

    def q(self, x):
        return parted(x, self.layout.q)[0]

    def v(self, x):
        return parted(x, self.layout.q, self.layout.v)[1]

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
        """Parts of an element of the algebra: of the configuration, of the velocities, of the rest."""
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
        found |= {name: getattr(self, f"_{name}")(found) for name in needs}
        if "rate" in self.tables:
            return found
        small = sum(self.parts[k].n_instructions() for k in ("factor", "accelerations")) <= FUSED
        if fused and small and not baumgarte:
            found["stage"] = self._stage(found)
        return found

    def signals(self, name, f):
        """A function (t, q, v, p, a, λ) as one of the state, its rate and λ."""
        x, xdot = self.x, self.xdot
        results = f.call([time, self.q(x), self.v(x), self.inputs(x), self.steps(xdot)[1], self.lam])
        return shared(self._function(name, [time, x, self.p, xdot, self.lam], results))

    def of_state(self, name, f):
        """A function (t, q, v, p) as one of the state."""
        return self._function(name, [time, self.x, self.p], f.call(self._given("t q v p")))

    def impulse(self):
        r = ca.SX.sym("r", self.parts["impulse"].size_in(4)[0])
        results = self.parts["impulse"].call([*self._given("t q p F"), r])
        return self._function("impulse", [time, self.x, self.p, self.F, r], results)

    def _given(self, names):
        known = {"t": time, "q": self.q(self.x), "v": self.v(self.x), "p": self.inputs(self.x), "F": self.F}
        return [known[name] for name in names.split()]

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
        a, lam, power = self.parts["accelerations"].call([*self._given("t q v p F"), *more])
        states = self.rates(*self._given("t q v p"), a, lam) if self.layout.states else ca.SX(0, 1)
        results = ca.vertcat(self.v(self.x), a, power, states), lam
        rate = self._function("rate", [time, self.x, self.p, self.F, self.gains], results)
        return shared(rate) if self.layout.states else rate

    def _group(self):
        """A step along an element of the algebra, plain and tidied, and the correction dexp⁻¹."""
        x, (step, faster, more) = self.x, self.steps(self.u)
        moved = lambda how: ca.vertcat(self.parts[how](self.q(x), step), self.v(x) + faster, self.rest(x) + more)
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
        moved, g = self.parts["positions"].call(self._given("t q p F"))
        faster_, psi = self.parts["velocities"].call(self._given("t q v p F"))
        tangent = lambda e: self.parts["tangent"](self.inputs(x), self.F, e)
        along = self.parts.get("along")
        left = tangent(at) if along is None else along(*self._given("t q p"), at)
        return {
            "positions": self._function("positions", given, [ca.vertcat(moved, self.v(x), self.rest(x)), g]),
            "velocities": self._function("velocities", given, [ca.vertcat(self.q(x), faster_, self.rest(x)), psi]),
            "tangent": self._function("tangent", [*given, self.u], [ca.vertcat(left, tangent(faster), more)]),
        }

    def _local(self, found):
        """The element of the algebra that leads from one state to another: x · exp(u) = y."""
        y = ca.SX.sym("y", self.layout.x)
        way = self.parts["local"](self.q(self.x), self.q(y))
        moved = ca.vertcat(way, self.v(y) - self.v(self.x), self.rest(y) - self.rest(self.x))
        return self._function("local", [self.x, y], [moved])

    def _slope(self, found):
        """How a stage changes with where it is taken: Newton's method needs it."""
        k = self._stage(found)(time, self.x, self.u, self.p)
        slope = ca.vec(ca.densify(ca.jacobian(k, self.u)))
        return shared(self._function("slope", [time, self.x, self.u, self.p], [slope]))

    def _stage(self, found):
        """A whole stage of a method as one kernel: dexp⁻¹(u) ẋ at x · exp(u).

        Same equations, one graph: what passes between the parts stays in registers. Worth it for small models, where calls
        and memory cost as much as arithmetic; the parts of large ones are compiled once and called in turn.
        """
        given = time, self.x, self.u, self.p
        moved = found["retract"](self.x, self.u)
        rate, _ = found["rate"](time, moved, self.p, found["factor"](time, moved, self.p), ca.SX.zeros(2))
        return shared(self._function("stage", list(given), [found["differential"](self.u, rate)]))


def layout_of(model, q, v, p):
    """Where the user's states are among the numbers that kernels take."""
    inputs = [s.element_hash() for s in model.inputs]
    return Layout(q, v, p, tuple(inputs.index(state.symbol.element_hash()) for state in model.states))


def kernels_of(f, map, baumgarte, signals, program=None, needs=()):
    """The kernels of a run of a formulation; with a program of events, those that it needs too; and what a method needs."""
    layout = layout_of(f.model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    tables = {} if needs else f.schedules(layout)
    parts = {**f.functions(baumgarte, "rate" not in tables), **f.retractions(map)}
    rates = f.watching("states", ca.vertcat(*[state.rate for state in f.model.states], ca.SX(0, 1)))
    waist = Waist(layout, parts, rates, tables)
    found = waist.functions(baumgarte, True, needs)
    found["outputs"] = waist.signals("outputs", f.outputs(signals).function())
    if program is not None:
        found |= {name: waist.signals(name, f.watching(name, column)) for name, column in program(f).items()}
        found |= {"energies": waist.of_state("energies", f.energies()), "impulse": waist.impulse()}
        if f.ambiguous():
            found["meeting"] = waist.of_state("meeting", f.meeting())
    return checked(found)
