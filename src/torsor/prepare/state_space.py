"""The state and the rate that a run uses, the same for every formulation.

    x = (q, y, w, z),      ẋ = (v, ẏ, P, ż)                                                            (1)

q   configuration, on the manifold of the formulation
v   velocities: elements of its Lie algebra
y   velocity block: velocities v, or scaled momenta (`velocity_block.py`)
w   work of everything that changes the energy; P is its power
z   the user's own states

All blocks but q are vectors, so the group of x is the group of q times Rⁿ. A kernel of a run is a function of x. This file
derives these kernels from the functions of q and v that a formulation provides.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks.potential_jumps import potential_may_jump
from ..elements.quantity import split_column, time
from ..formulations.algebra.safe_norm import regularise_norms
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..kernels.signatures import SIGNATURES, check_sizes
from . import method_kernels
from .choice import SHARE
from .velocity_block import Velocities, velocity_block

MAX_JACOBIAN_OPERATIONS = 60_000  # estimate up to which the Jacobian of a stage is one kernel: about 4 s of compilation
JACOBIAN_OPERATIONS_RATIO = 0.6  # operations of the Jacobian of a stage / (those of the stage × number of unknowns)
MAX_FUSED_INSTRUCTIONS = 5000  # up to this size the parts of a stage are fused into one kernel
KERNELS_WITH_STATES = ("landing_slope",)  # only for models with the user's states


@dataclass(frozen=True)
class Layout:
    """Block sizes of a state.

    q, v     sizes of the configuration and of the velocity block
    p        number of inputs of the kernels
    states   places of the user's states z in p
    """

    q: int
    v: int
    p: int
    states: tuple = ()

    @property
    def x(self):
        """Size of a state."""
        return self.q + self.v + 1 + len(self.states)

    @property
    def algebra(self):
        """Size of the rate of a state."""
        return 2 * self.v + 1 + len(self.states)

    def join_blocks(self, q, y, p):
        """The state with these blocks and zero work."""
        return np.concatenate([q, y, [0.0], np.asarray(p, float)[list(self.states)]])

    def split_blocks(self, x):
        """Configuration and velocity block of a state."""
        return x[: self.q], x[self.q : self.q + self.v]


class StateKernels:
    """Builds the kernels of a run, as functions of one state, from the functions of a formulation.

    parts            functions of q, v and p by name: see `Formulation.functions` and `retractions`
    state_rates      ż as a function (t, q, v, p, a, λ)
    tables           kernels that are schedules, by name
    velocity_block   `Velocities` or `Momenta`
    """

    def __init__(self, layout, parts, state_rates, tables, velocity_block=None):
        self.layout = layout
        self.parts = parts
        self.state_rates = state_rates
        self.tables = tables
        self.velocity_block = velocity_block or Velocities(parts)
        self.x = ca.SX.sym("x", layout.x)
        self.p = ca.SX.sym("p", layout.p)
        self.u = ca.SX.sym("u", layout.algebra)
        self.xdot = ca.SX.sym("xdot", layout.algebra)
        self.F = ca.SX.sym("F", parts["factor"].size_out(0)[0])
        multipliers = parts["accelerations"].size_out(1)[0] if "accelerations" in parts else 0
        self.lam = ca.SX.sym("lam", tables["rate"].gives["lam"] if "rate" in tables else multipliers)
        self.gains = ca.SX.sym("gains", 4)

    # blocks of vectors

    def q(self, x):
        """Configuration of a state."""
        return split_column(x, self.layout.q)[0]

    def y(self, x):
        """Velocity block of a state."""
        return split_column(x, self.layout.q, self.layout.v)[1]

    def v(self, x, F=None):
        """Velocities of a state.

        F   the factor at x, if it is already computed
        """
        return self.velocity_block.velocities(self.q(x), self.y(x), self.inputs(x), F)

    def rest(self, x):
        """Work and the user's states."""
        return split_column(x, self.layout.q, self.layout.v)[2]

    def inputs(self, x):
        """p with the user's states replaced by their values in x."""
        p = ca.SX(self.p)
        for k, place in enumerate(self.layout.states):
            p[place] = x[self.layout.q + self.layout.v + 1 + k]
        return p

    def blocks(self, u):
        """Blocks of an element of the algebra: configuration, velocity block, rest."""
        return split_column(u, self.layout.v, self.layout.v)

    # kernels

    def functions(self, baumgarte, fused, needs=()):
        """All kernels of a run, as CasADi functions.

        fused   also fuse a stage into one kernel if it is small
        needs   names of further kernels that the method requires
        """
        kernels = {
            "factor": self._of("factor", [time, self.x, self.p], "t q p"),
            "rate": self.tables["rate"] if "rate" in self.tables else self._rate(baumgarte),
            **self._group(),
            **self._projections(),
            "turns": self._of("turns", [time, self.x, self.p], "t q p"),
            "spin": self._of("spin", [time, self.x, self.p], "t q v p"),
        }
        required = [
            "push" if name == "slope" and self._jacobian_is_large(kernels) else name
            for name in needs
            if name in SIGNATURES and (self.layout.states or name not in KERNELS_WITH_STATES)
        ]
        for name in required:  # in this order: a kernel may use one before it
            kernels[name] = self._method_kernel(name, kernels)
        if "rate" in self.tables:
            return kernels
        instructions = sum(self.parts[k].n_instructions() for k in ("factor", self.velocity_block.rate_function))
        if fused and instructions <= MAX_FUSED_INSTRUCTIONS and not baumgarte:
            kernels["stage"] = self._stage(kernels)
        return kernels

    def _method_kernel(self, name, kernels):
        """The kernel of this name that a method requires."""
        build = getattr(self, f"_{name}", None)
        return method_kernels.kernel(self, name) if build is None else build(kernels)

    def signals(self, name, f):
        """Convert a function (t, q, v, p, a, λ) into a function of the state, its rate and λ."""
        x = self.x
        xdot = self.xdot
        q, v, p = self.q(x), self.v(x), self.inputs(x)
        a = self.velocity_block.accelerations(q, v, p, self.blocks(xdot)[1])
        results = f.call([time, q, v, p, a, self.lam])
        return eliminate_common_subexpressions(self._function(name, [time, x, self.p, xdot, self.lam], results))

    def of_state(self, name, f):
        """Convert a function (t, q, v, p) into a function of the state."""
        return self._function(name, [time, self.x, self.p], f.call(self._arguments("t q v p")))

    def impulse(self):
        """Kernel of the change of y and of the constraint impulses that remove velocity residuals r."""
        r = ca.SX.sym("r", self.parts["impulse"].size_in(4)[0])
        dv, impulse = self.parts["impulse"].call([*self._arguments("t q p F"), r])
        results = self.velocity_block.block_change(self.q(self.x), self.inputs(self.x), dv), impulse
        return self._function("impulse", [time, self.x, self.p, self.F, r], results)

    def meeting(self, f):
        """Kernel of the effect of impulses at contacts, from a function (t, q, v, p). B is the change of y per impulse."""
        A, B, psi = f.call(self._arguments("t q v p"))
        columns = ca.horzsplit(ca.reshape(B, self.layout.v, -1))
        change = self.velocity_block.block_change
        changes = ca.vertcat(*[change(self.q(self.x), self.inputs(self.x), dv) for dv in columns])
        return eliminate_common_subexpressions(self._function("meeting", [time, self.x, self.p], [A, changes, psi]))

    def conversions(self):
        """Kernels for states whose velocity block is not v: `stored` writes velocities into a state, `shown` reads them, and
        `renewed` keeps them constant while parameters change."""
        x = self.x
        arguments = [time, self.x, self.p]
        q = self.q(self.x)
        p = self.inputs(self.x)
        block = self.velocity_block
        after = ca.SX.sym("after", self.layout.p)
        changed = block.from_velocities(q, self.v(x), after) - block.from_velocities(q, self.v(x), p)

        def state(y):
            return [ca.vertcat(q, y, self.rest(x))]

        kernels = {
            "stored": self._function("stored", arguments, state(block.from_velocities(q, self.y(x), p))),
            "shown": self._function("shown", arguments, state(self.v(x))),
        }
        if ca.depends_on(changed, after):
            kernels["renewed"] = eliminate_common_subexpressions(
                self._function("renewed", [*arguments, after], state(self.y(x) + changed))
            )
        return kernels

    def _arguments(self, names):
        """Arguments, in this order, of functions of configuration and velocities. If F is among them, v is computed from it."""
        names = names.split()
        F = self.F if "F" in names else None
        values = {"t": time, "q": self.q(self.x), "p": self.inputs(self.x), "F": self.F}
        return [self.v(self.x, F) if name == "v" else values[name] for name in names]

    def _of(self, name, inputs, names):
        """Kernel of the part of this name, called with the named arguments."""
        return self._function(name, inputs, self.parts[name].call(self._arguments(names)))

    @staticmethod
    def _function(name, inputs, results):
        """A kernel with dense results.

        The functions of a formulation already share common subexpressions. A kernel that combines several of them, or other
        functions, is passed through `shared` by the caller.
        """
        return ca.Function(name, inputs, [ca.densify(result) for result in results])

    def _rate(self, baumgarte):
        """Kernel of ẋ and λ: (1)."""
        more = [self.gains] if baumgarte else []
        t, q, v, p, F = self._arguments("t q v p F")
        ydot, lam, power = self.velocity_block.rate(t, q, v, p, F, *more)
        a = self.velocity_block.accelerations(q, v, p, ydot)
        states = self.state_rates(t, q, v, p, a, lam) if self.layout.states else ca.SX(0, 1)
        results = ca.vertcat(v, ydot, power, states), lam
        rate = self._function("rate", [time, self.x, self.p, self.F, self.gains], results)
        return eliminate_common_subexpressions(rate) if self.layout.states else rate

    def _group(self):
        """Kernels of the group: retraction along an element of the algebra (`retract`), the same with normalisation
        (`advance`), and dexp⁻¹ (`differential`)."""
        x = self.x
        u_q, u_y, u_rest = self.blocks(self.u)

        def move(name):
            return ca.vertcat(self.parts[name](self.q(x), u_q), self.y(x) + u_y, self.rest(x) + u_rest)

        rate, *others = self.blocks(self.xdot)
        k = ca.vertcat(self.parts["differential"](u_q, rate), *others)
        return {
            "retract": self._function("retract", [x, self.u], [move("retract")]),
            "advance": self._function("advance", [x, self.u], [move("advance")]),
            "differential": self._function("differential", [self.u, self.xdot], [k]),
        }

    def _projections(self):
        """Kernels that project positions and velocities onto the constraints, and errors onto the tangent space."""
        x = self.x
        arguments = [time, self.x, self.p, self.F]
        e_q, e_y, e_rest = self.blocks(self.u)
        q, v, p = self.q(x), self.v(x, self.F), self.inputs(x)
        q_projected, g = self.parts["positions"].call(self._arguments("t q p F"))
        v_projected, psi = self.parts["velocities"].call(self._arguments("t q v p F"))
        along = self.parts.get("along")

        def tangent(e):
            return self.parts["tangent"](p, self.F, e)

        e_q = tangent(e_q) if along is None else along(*self._arguments("t q p"), e_q)
        # v is computed without F here: F may belong to an earlier position
        y_same_velocity = self.velocity_block.from_velocities(q_projected, self.v(x), p)
        y_projected = self.velocity_block.corrected_block(self.y(x), q, p, v, v_projected)
        e_v = tangent(self.velocity_block.velocity_change(q, p, self.F, e_y))  # errors are measured as velocities
        positions = [ca.vertcat(q_projected, y_same_velocity, self.rest(x)), g]
        return {
            "positions": self._function("positions", arguments, positions),
            "velocities": self._function("velocities", arguments, [ca.vertcat(q, y_projected, self.rest(x)), psi]),
            "tangent": self._function("tangent", [*arguments, self.u], [ca.vertcat(e_q, e_v, e_rest)]),
        }

    def _local(self, kernels):
        """Kernel of the element u of the algebra that leads from one state to another: x · exp(u) = y."""
        y = ca.SX.sym("y", self.layout.x)
        u_q = self.parts["local"](self.q(self.x), self.q(y))
        u = ca.vertcat(u_q, self.y(y) - self.y(self.x), self.rest(y) - self.rest(self.x))
        return self._function("local", [self.x, y], [u])

    def _jacobian_is_large(self, kernels):
        """True if the Jacobian of a stage has so many operations that its compilation takes too long."""
        operations = JACOBIAN_OPERATIONS_RATIO * self._stage(kernels).n_instructions() * self.layout.algebra
        return operations > MAX_JACOBIAN_OPERATIONS

    def _slope(self, kernels):
        """Kernel of the Jacobian of a stage with respect to u, for Newton's method."""
        k = self._stage(kernels)(time, self.x, self.u, self.p)
        return eliminate_common_subexpressions(
            ca.Function("slope", [time, self.x, self.u, self.p], [ca.jacobian(k, self.u)])
        )

    def _landing_slope(self, kernels):
        return method_kernels.landing_slope(self, kernels)

    def _push(self, kernels):
        """Kernel of the directional derivative of a stage; the input `slope` declares the sparsity of its Jacobian."""
        k = self._stage(kernels)(time, self.x, self.u, self.p)
        e = ca.SX.sym("e", self.layout.algebra)
        slope = ca.SX.sym("slope", ca.jacobian_sparsity(k, self.u))
        arguments = [time, self.x, self.u, self.p, e, slope]
        return eliminate_common_subexpressions(ca.Function("push", arguments, [ca.densify(ca.jtimes(k, self.u, e))]))

    def _stage(self, kernels):
        """A whole stage of a method as one kernel: dexp⁻¹(u) ẋ at x · exp(u).

        The equations are those of the separate kernels, in one graph, so intermediate values stay in registers. This pays for
        small models, where calls and memory cost as much as arithmetic. For large models the separate kernels are compiled
        once and called in turn.
        """
        moved = kernels["retract"](self.x, self.u)
        factor = kernels["factor"](time, moved, self.p)
        rate, _ = kernels["rate"](time, moved, self.p, factor, ca.SX.zeros(self.gains.shape))
        return eliminate_common_subexpressions(
            self._function("stage", [time, self.x, self.u, self.p], [kernels["differential"](self.u, rate)])
        )


def layout_of(model, q, v, p):
    """Layout of the states of a model, from the sizes of q, v and p."""
    inputs = [s.element_hash() for s in model.inputs]
    return Layout(q, v, p, tuple(inputs.index(state.symbol.element_hash()) for state in model.states))


def kernels_of(f, map, baumgarte, signals, columns=None, needs=()):
    """The kernels of a run of formulation f.

    columns   function of f that returns the columns of signals that events need; None: there are no events
    needs     names of further kernels that the method requires
    """
    layout = layout_of(f.model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    tables = {} if set(needs) - {SHARE} else f.schedules(layout)
    rates = f.watching("states", regularise_norms(ca.vertcat(*[state.rate for state in f.model.states], ca.SX(0, 1))))
    solved = method_kernels.parts(f, map, needs, layout.states, rates)
    parts = {**f.functions(baumgarte, "rate" not in tables), **f.retractions(map), **solved}
    state = StateKernels(layout, parts, rates, tables, velocity_block(f, parts))
    kernels = state.functions(baumgarte, True, needs) | (state.conversions() if f.conjugate else {})
    kernels["outputs"] = state.signals("outputs", f.outputs(signals).function())
    if columns is not None:
        kernels |= {name: state.signals(name, f.watching(name, column)) for name, column in columns(f).items()}
        kernels["impulse"] = state.impulse()
    if columns is not None or (not tables and potential_may_jump(f.model)):
        kernels["energies"] = state.of_state("energies", f.energies())
    return check_sizes(kernels)


def contact_kernels_of(f):
    """The kernel of the effect of impulses at all contacts and friction elements, while the rows in use are satisfied."""
    layout = layout_of(f.model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    parts = f.functions(accelerations=f.conjugate)
    state = StateKernels(layout, parts, None, {}, velocity_block(f, parts))
    return check_sizes({"meeting": state.meeting(f.meeting())})
