"""What a formulation is: the contract. A new one is one file in this folder; see docs/extend.md.

A formulation chooses a state (q, v) on a group, says what the bodies' motion is in it, and solves for the accelerations.
Everything that is handed on is made from that once, here, for all formulations:

    functions()              factor, accelerations, impulse, positions, velocities, turns …: the kernels of a run
    examination()            what the start and the diagnosis are computed with: residuals and Jacobian of all declared rows …,
                             by name, each as a function without arguments that derives it
    outputs(signals)         everything a result holds
    watching(name, column)   any column of signals, as a function of the state, accelerations and multipliers
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca

from ..describe.quantity import time
from ..lie import Product
from . import graphs
from .evaluation import Examined
from .lagrangian import Lagrangian
from .lie_derivative import parts
from .outputs import Outputs, watching
from .rows import Block, RowsInUse


class Solvers(NamedTuple):
    """What can be computed once a configuration has been factored, with S = G M⁻¹ Gᵀ of the rows in use.

    accelerations   γ → (v̇, λ): the equations of motion with G v̇ = γ
    restored        b → (M⁻¹ Gᵀ Λ, Λ = S⁻¹ b): the least change of velocities with G δv = b, and its impulses
    tangent         e → the part of an error that a projection leaves; None: e − M⁻¹ Gᵀ S⁻¹ G e
    G               the Jacobian as the factor holds it, for that
    over_mass       b → M⁻¹ b; None: the factor does not hold that of M
    hands_on        whether λ is handed on with the accelerations; else it is recovered where it is asked for
    """

    accelerations: Callable
    restored: Callable
    tangent: Callable | None = None
    G: ca.SX | None = None
    over_mass: Callable | None = None
    hands_on: bool = True


class Formulation(RowsInUse):
    """Base of all formulations. A subclass sets, in `__init__`,

    manifold       group on which the configuration lives (blocks of Rᵏ, SO(3), SE(3))
    q, v, p        symbols of configuration, velocity, and parameters followed by turn counters
    turns          angles that are counted over full turns: (joint, place)
    substitution   what signals are in the bodies' symbols; loads: the applied forces
    blocks         all levels of every declared constraint, with `declare`

    and defines what is abstract here.
    """

    kind = "formulation"
    key: str
    manifold: Product
    q: ca.SX
    v: ca.SX
    p: ca.SX
    substitution: Any
    loads: Any
    blocks: list[Block]

    # the contract

    @abstractmethod
    def jacobian(self) -> ca.SX:
        """G of all declared rows, sparse: ψ = G v + g_t."""

    @abstractmethod
    def mass_matrix(self) -> ca.SX:
        """M(q), sparse."""

    @abstractmethod
    def applied(self) -> ca.SX:
        """Q(t, q, v): generalised forces of all that acts on the bodies, gravity included, without inertia."""

    @abstractmethod
    def factored(self, G: ca.SX) -> tuple[ca.SX, Callable[[ca.SX], Solvers]]:
        """What depends on (t, q, p) alone and is worth computing once, as one column whose last entry tells how well it is
        conditioned (it is compared with a small number during a run); and what reads a symbol of such a column."""

    @abstractmethod
    def least_change(self, rows: list) -> Callable[[ca.SX], ca.SX]:
        """Correction of a residual of some declared rows that changes coordinates least in the mass metric, factored on the
        spot."""

    @abstractmethod
    def power(self, lam: ca.SX, a: ca.SX) -> ca.SX:
        """Power of what changes the energy: forces without potential, imposed motions, moving grounds."""

    @abstractmethod
    def in_state(self, expression: ca.SX, a: ca.SX) -> ca.SX:
        """An expression of the bodies' symbols, accelerations included, in the state and v̇ = a."""

    @abstractmethod
    def rate_of(self, expression: ca.SX) -> ca.SX:
        """ė along the motion, velocities held, and with time."""

    @abstractmethod
    def joint_motion(self, joint, a: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """q, v and v̇ of a joint, in the bodies' symbols or in the state."""

    @abstractmethod
    def reaction(self, connection, lam: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force and torque that a connection exerts on its second body, at its frame there, in world axes."""

    @property
    @abstractmethod
    def all_rows(self) -> "Formulation":
        """The formulation, itself or another, whose rows are those of every constraint, in the bodies' symbols."""

    def turning(self) -> list[bool]:
        """Whether each row in use stops rotations alone: no linear velocity of a body is in it."""
        found = {}
        for block in self.all_rows.blocks:
            sizes = sum((ca.sum1(ca.fabs(parts(J.T)[0])).T for J in block.G), ca.SX.zeros(block.psi.shape[0]))
            found[id(block.constraint)] = [x.is_zero() for x in ca.vertsplit(ca.densify(sizes))]
        return [found[id(row.constraint)][row.index] for row in (self.rows[k] for k in self.keep)]

    def bias(self) -> ca.SX:
        """What has to be overcome at v̇ = 0, applied forces included: M v̇ + bias = Gᵀ λ. From the kinetic energy, where a
        formulation knows no shorter way."""
        L = Lagrangian(self)
        return L.rate(L.momenta, ca.SX.zeros(self.v.shape)) - L.transported - L.carried - L.applied

    def needed(self, a: ca.SX) -> ca.SX:
        """M v̇ + bias for given v̇ = a: what constraints and further forces have to give."""
        return self.mass_matrix() @ a + self.bias()

    def placed(self, expression):
        """An expression of the bodies' symbols, without accelerations, in the state: as it is, where these are the state."""
        return expression

    # rows

    def declare(self, blocks):
        """Take the constraints of the model as blocks of rows; None for one that has no rows."""
        self.blocks = [block for block in blocks if block is not None]
        self.rows = [row for block in self.blocks for row in block.rows()]
        self.keep = self.active_rows()

    def block_of(self, constraint):
        """The rows of a constraint, None where it has none."""
        return next((block for block in self.blocks if block.constraint is constraint), None)

    def stacked(self, what):
        """g, psi or gamma of all declared rows."""
        return ca.vertcat(*[getattr(block, what) for block in self.blocks]) if self.blocks else ca.SX(0, 1)

    # kernels

    def functions(self, baumgarte=False, accelerations=True):
        """The kernels of a run, by name, as CasADi functions of flat vectors: see `graphs.functions`."""
        return graphs.functions(self, baumgarte, accelerations)

    def schedules(self, layout):
        """Kernels of a run that are better called through a table than written as one graph, by name: see `schedule`.

        layout   how a state is made of its parts
        """
        return {}

    def inertias(self) -> ca.SX:
        """κ(p), units of momenta over those of velocities, where momenta are state: the inertia that a joint feels in the reference
        configuration while all joints beyond it are free, masses and moments of bodies."""
        raise NotImplementedError

    def retractions(self, map):
        """The manifold's own kernels, for the exponential or the Cayley map."""
        return graphs.retractions(self, map)

    def meeting(self):
        """What impulses at all rows of contacts and friction do, as a function (t, q, v, p)."""
        return graphs.meeting(self)

    # before a run

    def examination(self):
        """Functions on all declared rows, for the start and for the diagnosis of redundancy, each derived when asked for."""
        t, q, v, p = time, self.q, self.v, self.p
        return {
            "g": lambda: ca.Function("g", [t, q, p], [self.stacked("g")]),
            "psi": lambda: ca.Function("psi", [t, q, v, p], [self.stacked("psi")]),
            "gamma": lambda: ca.Function("gamma", [t, q, v, p], [self.stacked("gamma")]),
            "G": lambda: ca.Function("G", [t, q, p], [self.jacobian()]),
            "move": lambda: graphs.moving(self),
        }

    @cached_property
    def examined(self):
        """`examination()`, each function derived once where it is asked for: it is the same for every structure."""
        known = self.examination()
        return Examined(known, lambda: known)

    # multipliers and reactions

    def multipliers(self, lam, a):
        """The multipliers that results show, of the rows in use."""
        return lam[: len(self.keep)]

    def kept_multipliers(self, constraint, lam):
        """λ of a constraint's rows, zero where a row is not in use; None for a constraint without rows here.

        lam   of the rows in use, or of these, of closed contacts and of the friction beside them
        """
        if id(constraint) not in self.places:
            return None
        every = [*self.keep, *self.loose_contacts(), *self.beside(), *self.spare()]
        kept = {row: k for k, row in zip(range(lam.shape[0]), every)}
        return ca.vertcat(*[lam[kept[k]] if k in kept else 0 for k in self.places[id(constraint)]])

    def multiplier_of(self, constraint, lam, a):
        """λ of a constraint's rows, whether these are rows of the formulation or not."""
        own = self.kept_multipliers(constraint, lam)
        return ca.SX.zeros(constraint.multiplier.shape) if own is None else own

    def exerted(self, connection, lam):
        """What a connection with rows exerts, see `reaction`:  F = G_xᵀ λ,    T = R G_θᵀ λ − (p − x) × F."""
        own, block = self.kept_multipliers(connection, lam), self.all_rows.block_of(connection)
        if own is None or block is None:
            return ca.SX.zeros(3), ca.SX.zeros(3)
        sign, body = (1, connection.second) if connection.second in block.bodies else (-1, connection.first)
        F, T = parts(sign * (block.G[block.bodies.index(body)].T @ own))
        p = self.all_rows.substitution.of(connection.ends()[1][1])
        return F, (ca.SX.zeros(3) if body.particle else body.rotation @ T) - ca.cross(p - body.position, F)

    @property
    def implicit(self):
        """How many efforts depend on reactions or accelerations: they follow λ in what `accelerations` hands on."""
        return self.loads.size

    # results

    def outputs(self, signals):
        """One function of everything that a result holds, and its layout."""
        return Outputs(self, signals)

    def watching(self, name, column):
        """A column of signals as a function (t, q, v, p, a, λ) of that name."""
        return watching(self, name, column)

    def kinetic_energy(self):
        """T, in the bodies' symbols."""
        return sum((body.kinetic_energy() for body in self.model.bodies), ca.SX(0))

    def energies(self):
        """Kinetic and potential energy, as a function (t, q, v, p)."""
        both = ca.vertcat(self.kinetic_energy(), self.all_rows.loads.potential)
        found = self.in_state(both, ca.SX.zeros(self.v.shape[0]))
        return graphs.shared(ca.Function("energies", [time, self.q, self.v, self.p], [ca.densify(found)]))
