"""Descriptor form on (R³×SO(3))ᴺ, index 1 (Zagreb thesis, eq. 1.8 [zenzerovic2012]; Aslanov et al., eq. 1 to 3 [aslanov2011]).

    M v̇ − Gᵀ λ = f,        G v̇ = γ                                                               (1)
    S λ = γ − G M⁻¹ f,     S = G M⁻¹ Gᵀ = Pᵀ L D Lᵀ P                                             (2)

State: position and rotation of every body's centre of mass, ẋ in world axes, ω in body axes.
f contains −ω × J ω. S is factored symbolically in a fill-reducing order. The accelerations and both projections use the same
factorisation:

    δq = −M⁻¹ Gᵀ S⁻¹ g,    δv = −M⁻¹ Gᵀ S⁻¹ ψ            least change in the mass metric            (3)
    e ← e − M⁻¹ Gᵀ S⁻¹ G e                               the part of an error that a projection leaves (4)

and the impulses Λ = −S⁻¹ r with the jump δv = M⁻¹ Gᵀ Λ that changes G v by −r. Rotors along joint coordinates are further rows
of S, which have a compliance (`algebra/rotor_inertia.py`), so that M⁻¹ remains block diagonal.

A pivot that is negligible relative to its diagonal entry shows that the rank of G is lower at this configuration. Its
multiplier is set to zero. The smallest ratio of pivot to diagonal is the last entry of the factor, so that a run can report it.
"""

import casadi as ca
import numpy as np

from ..elements import quantity
from ..lie import SO3, Product, Rn
from ..registry import register
from .algebra.balanced_sums import smallest
from .algebra.constraint_rows import derive
from .algebra.factorisation import (
    PIVOT_RATIO_SINGULAR,
    add_inactive,
    append_inertia,
    column,
    correction,
    ldl_solver,
    pad_rows,
    refine_iteratively,
    sparse_ldl,
)
from .algebra.lie_derivative import rate, split_linear_angular, stack_linear_angular, velocities
from .algebra.loads import Loads
from .algebra.rotor_inertia import RotorInertia, inverse_product
from .algebra.substitution import Substitution
from .base import Formulation, Solvers
from .graphs.assembly_measures import reachability_errors, smallest_cosines
from .graphs.outputs import joint_motion_of_bodies
from .graphs.run_kernels import active_jacobian, replace_conditioning
from .graphs.start_functions import initial_functions

VELOCITY_NAMES = ("x", "y", "z", "about x", "about y", "about z")  # labels of the six velocities of a body


@register("absolute")
class Absolute(Formulation):
    """Every body has its own six coordinates; joints are constraints."""

    coordinates = "absolute"
    switches = "dependent"

    @staticmethod
    def estimated_cost(count):
        operations = count.absolute()
        return operations, count.run_cost(operations, bool(count.rows))

    def __init__(self, model):
        super().__init__(model)
        self.substitution = Substitution(model)
        self.manifold = Product(*[g for b in model.bodies for g in ([Rn(3)] if b.particle else [Rn(3), SO3()])])
        self.q = ca.vertcat(
            *[
                ca.vertcat(b.position) if b.particle else ca.vertcat(b.position, ca.vec(b.rotation))
                for b in model.bodies
            ]
        )
        self.v = ca.vertcat(*[velocities(b) for b in model.bodies])
        self.turns = [(j, k) for j in model.joints for k in range(j.dof) if j.angular[k]]
        self.p = ca.vertcat(*model.inputs, *[j.turn[k] for j, k in self.turns])
        sizes = [velocities(b).shape[0] for b in model.bodies]
        self.offset = dict(zip([id(b) for b in model.bodies], np.cumsum([0, *sizes])))
        self.rotors = RotorInertia(model, self.substitution)
        self.declare(derive(c, self.substitution) for c in model.constraints)
        self.loads = Loads(model, self.substitution)

    # assembly over all bodies and constraints

    def jacobian(self):
        """G of all declared rows, sparse."""
        rows = []
        for block in self.blocks:
            by_column = {self.offset[id(body)]: J for body, J in zip(block.bodies, block.G)}
            end = 0
            pieces = []
            for start in sorted(by_column):
                pieces += [ca.SX(by_column[start].shape[0], start - end), by_column[start]]
                end = start + by_column[start].shape[1]
            pieces.append(ca.SX(block.psi.shape[0], self.v.shape[0] - end))
            rows.append(ca.horzcat(*pieces))
        return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(0, self.v.shape[0])

    def inverse_mass(self):
        """M⁻¹ of the bodies, block diagonal, without rotors."""
        blocks = []
        for body in self.model.bodies:
            blocks.append(ca.diag(ca.repmat(1 / body.mass, 3, 1)))
            if not body.particle:
                J = body.inertia
                inverse = ca.SX(np.linalg.inv(quantity.numbers(J))) if J.is_constant() else ca.inv(J)
                blocks.append(ca.sparsify(inverse))
        return ca.diagcat(*blocks)

    def mass_of_bodies(self):
        """M of the bodies, block diagonal, without rotors."""
        blocks = [
            ca.diag(ca.repmat(b.mass, 3, 1)) if b.particle else ca.diagcat(b.mass * ca.SX.eye(3), b.inertia)
            for b in self.model.bodies
        ]
        return ca.sparsify(ca.diagcat(*blocks))

    def mass_matrix(self):
        """M: that of the bodies, and the inertia of rotors, which couples the two bodies of their joint."""
        if not self.rotors:
            return self.mass_of_bodies()
        J = self.rotors.jacobian(self.v)
        return ca.sparsify(self.mass_of_bodies() + J.T @ ca.diag(self.rotors.A) @ J)

    def applied_forces(self):
        return ca.vertcat(*[self.loads.on[id(body)] for body in self.model.bodies])

    def forces(self):
        """f: applied forces and −ω × J ω."""
        forces = []
        for body in self.model.bodies:
            f = self.loads.on[id(body)]
            if not body.particle:
                w = body.angular_velocity
                f = f - stack_linear_angular(ca.SX.zeros(3), ca.cross(w, body.inertia @ w))
            forces.append(f)
        return ca.vertcat(*forces)

    def bias(self):
        if not self.rotors:
            return -self.forces()
        bias_of_rotors = self.rotors.A * self.rotors.rate_at_constant_velocities()
        return self.rotors.jacobian(self.v).T @ bias_of_rotors - self.forces()

    # kernels

    def factorise(self, G):
        """The column (G, E, L, D⁻¹, smallest ratio of a pivot to its diagonal) of (2), and a function that makes the solvers.

        E   scaled rows of the rotors
        """
        W = self.inverse_mass()
        f = self.forces()
        E = self.rotors.scaled_jacobian(self.v)
        if not self.keep and not self.rotors:
            no_change = ca.SX.zeros(self.v.shape[0])

            def free(gamma):
                return W @ f, ca.SX(0, 1)

            return ca.SX.ones(1), lambda F: Solvers(free, lambda b: (no_change, b), over_mass=inverse_product(W, E))
        count = len(self.keep)
        rows, activity, softness = append_inertia(G, E, self.activity(self.keep), self.softness(self.keep))
        S = add_inactive(ca.sparsify(rows @ W @ rows.T), activity, softness)
        D, LT, order = sparse_ldl(S)
        diagonal = ca.diag(S)[order]
        inverse = ca.if_else(D > PIVOT_RATIO_SINGULAR * diagonal, 1 / D, 0)
        factor = ca.densify(ca.vertcat(column(rows), column(LT), inverse, smallest(D / diagonal)))

        def read(F):
            entries, lower, pivots, _ = ca.vertsplit(F, np.cumsum([0, rows.nnz(), LT.nnz(), len(order), 1]).tolist())
            stored = ca.SX(rows.sparsity(), entries)
            soft_solve = ldl_solver(ca.SX(LT.sparsity(), lower) + ca.SX.eye(len(order)), pivots, order)
            solve = refine_iteratively(
                soft_solve, lambda x: stored @ (W @ (stored.T @ x)) + (1 - activity) * x, softness
            )

            def accelerations(gamma):
                right = ca.vertcat(gamma, self.rotors.scaled_rate()) if self.rotors else gamma
                lam = solve(right - stored @ (W @ f))  # (2)
                return W @ (f + stored.T @ lam), lam[:count]  # (1)

            def velocity_change(b):
                impulses = solve(pad_rows(b, E.shape[0]))
                return W @ (stored.T @ impulses), impulses[:count]

            over_mass = inverse_product(W, stored[count:, :])
            return Solvers(accelerations, velocity_change, G=stored[:count, :], over_mass=over_mass)  # (3), (4)

        return replace_conditioning(self, factor, G), read

    def least_change(self, rows):
        E = self.rotors.scaled_jacobian(self.v)
        flags = self.activity(rows), self.softness(rows)
        return correction(active_jacobian(self, rows), self.inverse_mass(), *flags, inertia_rows=E)

    def power(self, lam, a):
        imposed = ca.substitute(
            self.stack_rows("psi")[self.keep, :], self.v, ca.SX.zeros(self.v.shape)
        )  # g_t: G v = −g_t
        return self.loads.power - ca.dot(lam, imposed) + self.power_of_rotors(a)

    def power_of_rotors(self, a):
        """Power of the rotors in joints on moving grounds, −μ·u_t."""
        imposed = self.rotors.imposed_rates(self.v)
        return -ca.dot(self.in_state(self.rotors.efforts(), a), imposed) if imposed.nnz() else 0

    def examination(self):
        return super().examination() | {
            "Minv": lambda: ca.Function("Minv", [self.q, self.p], [self._whole_inverse_mass()]),
            "departures": lambda: reachability_errors(self),
            "alignments": lambda: smallest_cosines(self),
            "exerted": self._reactions_function,
            **initial_functions(self),
        }

    def _whole_inverse_mass(self):
        """M⁻¹, of rotors too."""
        W = self.inverse_mass()
        if not self.rotors:
            return W
        E = ca.substitute(self.rotors.scaled_jacobian(self.v), quantity.time, 0)
        return inverse_product(W, E)(ca.SX.eye(W.shape[0]))

    def _reactions_function(self):
        """(t, q, p, multipliers of all declared rows) → force and torque of each connection on its second body, in turn."""
        lam = ca.SX.sym("lam", len(self.rows))
        kept = self.keep
        self.keep = list(range(len(self.rows)))
        connections = [c for c in self.model.constraints if c.connects_bodies]
        reactions = [x for c in connections for x in self.reaction_from_rows(c, lam)]
        self.keep = kept
        values = ca.densify(ca.vertcat(*reactions, ca.SX(0, 1)))
        return ca.Function("exerted", [quantity.time, self.q, self.p, lam], [values])

    # results

    @property
    def all_rows(self):
        return self

    def in_state(self, expression, a):
        """Replace the accelerations of the bodies by parts of a; the other symbols of the bodies are the state."""
        symbols = []
        values = []
        for body in self.model.bodies:
            start = self.offset[id(body)]
            linear, angular = split_linear_angular(a[start : start + velocities(body).shape[0]])
            symbols += [body.acceleration, body.angular_acceleration]
            values += [linear, ca.SX.zeros(3) if body.particle else angular]
        return ca.substitute([expression], symbols, values)[0]

    def rate_of(self, expression):
        return rate(expression, self.substitution.bodies(expression), self.substitution.states(expression))

    def joint_motion(self, joint, a):
        return joint_motion_of_bodies(joint, self.substitution)

    def reaction(self, connection, lam, a):
        return self.reaction_from_rows(connection, lam)

    def coordinate_names(self):
        """One name per velocity: the body, and the axis of the translation or rotation."""
        return [f"{b.name} {axis}" for b in self.model.bodies for axis in VELOCITY_NAMES[: 3 if b.particle else 6]]

    def moved_bodies(self):
        return [b.name for b in self.model.bodies for _ in range(3 if b.particle else 6)]

    def linear(self):
        return [1 if k < 3 else 0 for b in self.model.bodies for k in range(3 if b.particle else 6)]
