"""The abstract base class of all formulations. A new formulation is one file in this folder; see docs/extend.md.

A formulation chooses a state (q, v) on a group, expresses the motion of the bodies in it, and solves for the accelerations.
This class derives the following from that, once for all formulations:

    functions()              kernels of a run: factor, accelerations, impulse, positions, velocities, turns …
    examination()            functions for the start and the diagnosis: residuals and Jacobian of all declared rows …,
                             by name; each entry is a function without arguments that derives the function
    outputs(signals)         all outputs of a result, as one function
    watching(name, column)   a column of signals, as a function of the state, accelerations and multipliers
"""

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import casadi as ca

from ..elements.quantity import time
from ..lie import Product
from .algebra.constraint_rows import Block, RowsInUse
from .algebra.lagrangian import Lagrangian
from .algebra.lie_derivative import split_linear_angular
from .algebra.numpy_functions import NumericFunctions
from .graphs import run_kernels
from .graphs.outputs import Outputs, signal_function


class Solvers(NamedTuple):
    """Solutions with the factorisation at one configuration, where S = G M⁻¹ Gᵀ of the rows in use.

    accelerations         γ → (v̇, λ): the equations of motion with G v̇ = γ
    velocity_change       b → (M⁻¹ Gᵀ Λ, Λ = S⁻¹ b): the least change of velocities with G δv = b, and its impulses
    tangent               e → the part of an error that a projection leaves; None: e − M⁻¹ Gᵀ S⁻¹ G e
    G                     the Jacobian read from the factor, for the default of `tangent`
    over_mass             b → M⁻¹ b; None if the factor does not contain the factors of M
    returns_multipliers   True if `accelerations` returns λ for the results; False if `multipliers` recovers it from v̇
    """

    accelerations: Callable
    velocity_change: Callable
    tangent: Callable | None = None
    G: ca.SX | None = None
    over_mass: Callable | None = None
    returns_multipliers: bool = True


class Formulation(RowsInUse):
    """Base of all formulations. A subclass defines the abstract methods and sets, in `__init__`,

    manifold       group of the configuration (blocks of Rᵏ, SO(3), SE(3))
    q, v, p        symbols of configuration, velocity, and parameters followed by turn counters
    turns          angles that are counted over full turns: (joint, index of the coordinate)
    substitution   expresses signals by the bodies' symbols
    loads          the applied forces
    blocks         equations of every declared constraint at all levels; set by `declare`
    """

    kind = "formulation"
    key: str
    manifold: Product
    q: ca.SX
    v: ca.SX
    p: ca.SX
    substitution: Any
    loads: Any
    rotors: Any  # of all joints with an armature, in the bodies' symbols
    blocks: list[Block]

    # what a class declares of itself; derived classes, which solve otherwise, do not inherit it

    coordinates = ""  # the kind of coordinates, in a word
    # class kernels by which large systems run: "tree", "components"; none: they are one graph
    tables = ""
    # whether kernels may read from p which rows are active (`activity`), so that one serves all structures:
    # "" no, "independent" where rows in use are independent, "dependent" also where rows depend on each other
    switches = ""
    # True: threads and ranks can run parts of a large system
    ranks = False
    # count → (operations of an evaluation, cost of a run), see `prepare/cost.py`; None: `formulation="auto"` never chooses it
    estimated_cost: ClassVar[Callable | None] = None

    @classmethod
    def declares(cls, what: str) -> Any:
        """What this class itself declares under a name; None if it does not."""
        return getattr(cls, what) if what in vars(cls) else None

    # the contract

    @abstractmethod
    def jacobian(self) -> ca.SX:
        """G of all declared rows, sparse: ψ = G v + g_t."""

    @abstractmethod
    def mass_matrix(self) -> ca.SX:
        """M(q), sparse."""

    @abstractmethod
    def applied_forces(self) -> ca.SX:
        """Q(t, q, v): generalised applied forces, gravity included, without inertia forces."""

    @abstractmethod
    def factorise(self, G: ca.SX) -> tuple[ca.SX, Callable[[ca.SX], Solvers]]:
        """The factorisation at a configuration, and a function that makes the solvers from it.

        The first is a column of expressions of (t, q, p). Its last entry measures the conditioning; a run compares it with a
        threshold. The second takes a symbol of such a column and returns `Solvers`.
        """

    @abstractmethod
    def least_change(self, rows: list) -> Callable[[ca.SX], ca.SX]:
        """A function that maps a residual of some declared rows to the least correction of the coordinates in the mass metric.

        The factorisation is part of the returned expression.
        """

    @abstractmethod
    def power(self, lam: ca.SX, a: ca.SX) -> ca.SX:
        """Power that changes the energy: of forces without potential, imposed motions and moving grounds."""

    @abstractmethod
    def in_state(self, expression: ca.SX, a: ca.SX) -> ca.SX:
        """An expression of the bodies' symbols, accelerations included, in the state and v̇ = a."""

    @abstractmethod
    def rate_of(self, expression: ca.SX) -> ca.SX:
        """ė along the motion at constant velocities, explicit time dependence included."""

    @abstractmethod
    def joint_motion(self, joint, a: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """q, v and v̇ of a joint, in the bodies' symbols or in the state."""

    @abstractmethod
    def reaction(self, connection, lam: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force and torque that a connection exerts on its second body, at its frame there, in world axes."""

    @property
    @abstractmethod
    def all_rows(self) -> "Formulation":
        """The formulation that has rows for every constraint, in the bodies' symbols: itself or the absolute one."""

    def rotational_rows(self) -> list[bool]:
        """True for each row in use that contains no linear velocity of a body."""
        rotational = {}
        for block in self.all_rows.blocks:
            sizes = sum(
                (ca.sum1(ca.fabs(split_linear_angular(J.T)[0])).T for J in block.G), ca.SX.zeros(block.psi.shape[0])
            )
            rotational[id(block.constraint)] = [x.is_zero() for x in ca.vertsplit(ca.densify(sizes))]
        return [rotational[id(row.constraint)][row.index] for row in (self.rows[k] for k in self.keep)]

    def bias(self) -> ca.SX:
        """The bias force in M v̇ + bias = Gᵀ λ, applied forces included.

        Here it is derived from the kinetic energy; a formulation may override it with a shorter expression.
        """
        L = Lagrangian(self)
        return L.rate(L.momenta, ca.SX.zeros(self.v.shape)) - L.coadjoint_term - L.energy_gradient - L.applied_forces

    def inverse_dynamics(self, a: ca.SX) -> ca.SX:
        """Inverse dynamics: the generalised forces M v̇ + bias that produce v̇ = a, beyond the applied forces."""
        return self.mass_matrix() @ a + self.bias()

    def to_state_symbols(self, expression):
        """An expression of the bodies' symbols, without accelerations, in the symbols of the state.

        The expression is unchanged where the bodies' symbols are the state.
        """
        return expression

    # rows

    def declare(self, blocks):
        """Set the blocks of rows of the constraints; None stands for a constraint without rows."""
        self.blocks = [block for block in blocks if block is not None]
        self.rows = [row for block in self.blocks for row in block.rows()]
        self.keep = self.active_rows()

    def block_of(self, constraint):
        """The block of rows of a constraint, or None if it has no rows."""
        return next((block for block in self.blocks if block.constraint is constraint), None)

    def stack_rows(self, what):
        """g, psi or gamma of all declared rows."""
        return ca.vertcat(*[getattr(block, what) for block in self.blocks]) if self.blocks else ca.SX(0, 1)

    # kernels

    def with_choice(self, choice):
        """A copy with the rows in use, dependent velocities, metric and units of a choice (`prepare/choice.py`).

        The copy has the symbols and equations of this formulation, which stays as it is: kernels of several choices are
        derived from the same equations.
        """
        twin = copy(self)
        if self.all_rows is not self:
            twin.absolute = copy(self.absolute)
        return choice.set_on(twin)

    def functions(self, baumgarte=False, accelerations=True):
        """The kernels of a run, by name, as CasADi functions of flat vectors: see `graphs.functions`."""
        return run_kernels.functions(self, baumgarte, accelerations)

    def schedules(self, layout):
        """Kernels of a run as schedules (`formulations/schedules/schedule.py`), by name; other kernels are graphs.

        layout   the blocks of the state vector
        """
        return {}

    def inertias(self) -> ca.SX:
        """κ(p), scale of each momentum relative to its velocity, for formulations whose state contains momenta.

        It is the articulated inertia of each joint in the reference configuration, or the masses and moments of inertia of
        the bodies.
        """
        raise NotImplementedError

    def retractions(self, map):
        """The manifold's own kernels, for the exponential or the Cayley map."""
        return run_kernels.retractions(self, map)

    def meeting(self):
        """Response to impulses at all rows of contacts and friction, as a function (t, q, v, p)."""
        return run_kernels.contact_response(self)

    # before a run

    def examination(self):
        """Builders of the functions for the start and for the diagnosis of redundant rows, by name."""
        t, q, v, p = time, self.q, self.v, self.p
        return {
            "g": lambda: ca.Function("g", [t, q, p], [self.stack_rows("g")]),
            "psi": lambda: ca.Function("psi", [t, q, v, p], [self.stack_rows("psi")]),
            "gamma": lambda: ca.Function("gamma", [t, q, v, p], [self.stack_rows("gamma")]),
            "G": lambda: ca.Function("G", [t, q, p], [self.jacobian()]),
            "move": lambda: run_kernels.assembly_step(self),
        }

    @cached_property
    def start_functions(self):
        """The functions of `examination()`, each derived at its first use. They are the same for every structure."""
        builders = self.examination()
        return NumericFunctions(builders, lambda: builders)

    # multipliers and reactions

    def multipliers(self, lam, a):
        """The multipliers of the rows in use, for the results."""
        return lam[: len(self.keep)]

    def kept_multipliers(self, constraint, lam):
        """λ of a constraint's rows, zero for a row that is not in use; None for a constraint without rows here.

        lam   multipliers of the rows in use, optionally followed by those of redundant contacts, of redundant friction and of
              redundant rows that share loads
        """
        if id(constraint) not in self.rows_of_constraint:
            return None
        rows = [
            *self.keep,
            *self.redundant_contact_rows(),
            *self.redundant_friction_rows(),
            *self.load_sharing_rows(),
        ]
        index = {row: k for k, row in zip(range(lam.shape[0]), rows)}
        return ca.vertcat(*[lam[index[k]] if k in index else 0 for k in self.rows_of_constraint[id(constraint)]])

    def multiplier_of(self, constraint, lam, a):
        """λ of a constraint's rows, also for a constraint that has no rows in this formulation."""
        own = self.kept_multipliers(constraint, lam)
        return ca.SX.zeros(constraint.multiplier.shape) if own is None else own

    def reaction_from_rows(self, connection, lam):
        """The `reaction` of a connection that has rows:  F = G_xᵀ λ,    T = R G_θᵀ λ − (p − x) × F."""
        own, block = self.kept_multipliers(connection, lam), self.all_rows.block_of(connection)
        if own is None or block is None:
            return ca.SX.zeros(3), ca.SX.zeros(3)
        sign, body = (1, connection.second) if connection.second in block.bodies else (-1, connection.first)
        F, T = split_linear_angular(sign * (block.G[block.bodies.index(body)].T @ own))
        p = self.all_rows.substitution.of(connection.ends()[1][1])
        return F, (ca.SX.zeros(3) if body.particle else body.rotation @ T) - ca.cross(p - body.position, F)

    @property
    def implicit(self):
        """Number of efforts that depend on reactions or accelerations. The kernel `accelerations` returns them after λ."""
        return self.loads.size

    # results

    def outputs(self, signals):
        """All outputs of a result, as one function with its layout."""
        return Outputs(self, signals)

    def watching(self, name, column):
        """A column of signals as a function (t, q, v, p, a, λ) of that name."""
        return signal_function(self, name, column)

    def kinetic_energy(self):
        """T of bodies and rotors, in the bodies' symbols."""
        bodies = sum((body.kinetic_energy() for body in self.model.bodies), ca.SX(0))
        return bodies + self.all_rows.rotors.energy() if self.all_rows.rotors else bodies

    def energies(self):
        """Kinetic and potential energy, as a function (t, q, v, p)."""
        both = ca.vertcat(self.kinetic_energy(), self.all_rows.loads.potential)
        energies = self.in_state(both, ca.SX.zeros(self.v.shape[0]))
        return run_kernels.eliminate_common_subexpressions(
            ca.Function("energies", [time, self.q, self.v, self.p], [ca.densify(energies)])
        )
