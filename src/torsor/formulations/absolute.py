"""Descriptor form on (R³×SO(3))ᴺ, index 1 (Zagreb thesis, eq. 1.8 [zenzerovic2012]; Aslanov et al., eq. 1 to 3 [aslanov2011]).

    M v̇ − Gᵀ λ = f,        G v̇ = γ                                                               (1)
    S λ = γ − G M⁻¹ f,     S = G M⁻¹ Gᵀ = Pᵀ L D Lᵀ P                                             (2)

State: position and rotation of every body's centre of mass, ẋ in world axes, ω in body axes.
f contains −ω × J ω. S is factored symbolically in a fill-reducing order; one factorisation serves accelerations and both
projections:

    δq = −M⁻¹ Gᵀ S⁻¹ g,    δv = −M⁻¹ Gᵀ S⁻¹ ψ            least change in the mass metric            (3)
    e ← e − M⁻¹ Gᵀ S⁻¹ G e                               the part of an error that a projection leaves (4)

and the impulses Λ = −S⁻¹ r with the jump δv = M⁻¹ Gᵀ Λ that changes G v by −r.

A pivot that vanishes against its diagonal (the rank of G has dropped at this configuration) is not divided through: its
multiplier is set to zero, and the smallest ratio is handed on so that a run can report it.
"""

import casadi as ca
import numpy as np

from ..describe import quantity
from ..joints.base import Connection
from ..lie import SO3, Product, Rn
from ..registry import register
from .base import Formulation, Solvers
from .departures import alignments, departures
from .factor import SINGULAR, column, correction, pivoted, solver, spreading
from .folding import smallest
from .graphs import conditioned
from .initial import initial_functions
from .lie_derivative import parts, rate, together, velocities
from .loads import Loads
from .outputs import joint_motion_of_bodies
from .rows import derive
from .substitution import Substitution

AXES = ("x", "y", "z", "about x", "about y", "about z")  # along and about which a body's coordinates count


@register("absolute")
class Absolute(Formulation):
    """Every body has its own six coordinates; joints are constraints."""

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
        self.declare(derive(c, self.substitution) for c in model.constraints)
        self.loads = Loads(model, self.substitution)

    # assembly over all bodies and constraints

    def jacobian(self):
        """G of all declared rows, sparse."""
        rows = []
        for block in self.blocks:
            parts = {self.offset[id(body)]: J for body, J in zip(block.bodies, block.G)}
            at, pieces = 0, []
            for start in sorted(parts):
                pieces += [ca.SX(parts[start].shape[0], start - at), parts[start]]
                at = start + parts[start].shape[1]
            pieces.append(ca.SX(block.psi.shape[0], self.v.shape[0] - at))
            rows.append(ca.horzcat(*pieces))
        return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(0, self.v.shape[0])

    def inverse_mass(self):
        """M⁻¹, block diagonal."""
        blocks = []
        for body in self.model.bodies:
            blocks.append(ca.diag(ca.repmat(1 / body.mass, 3, 1)))
            if not body.particle:
                J = body.inertia
                inverse = ca.SX(np.linalg.inv(quantity.numbers(J))) if J.is_constant() else ca.inv(J)
                blocks.append(ca.sparsify(inverse))
        return ca.diagcat(*blocks)

    def mass_matrix(self):
        """M, block diagonal."""
        blocks = [
            ca.diag(ca.repmat(b.mass, 3, 1)) if b.particle else ca.diagcat(b.mass * ca.SX.eye(3), b.inertia)
            for b in self.model.bodies
        ]
        return ca.sparsify(ca.diagcat(*blocks))

    def applied(self):
        return ca.vertcat(*[self.loads.on[id(body)] for body in self.model.bodies])

    def forces(self):
        """f: applied forces and −ω × J ω."""
        parts = []
        for body in self.model.bodies:
            f = self.loads.on[id(body)]
            if not body.particle:
                w = body.angular_velocity
                f = f - together(ca.SX.zeros(3), ca.cross(w, body.inertia @ w))
            parts.append(f)
        return ca.vertcat(*parts)

    def bias(self):
        return -self.forces()

    # kernels

    def factored(self, G):
        """G, L and D⁻¹ as one column, and last the smallest ratio of a pivot to its diagonal: (2)."""
        Minv, f = self.inverse_mass(), self.forces()
        over_mass = lambda b: Minv @ b
        if not self.keep:
            free, still = lambda gamma: (Minv @ f, ca.SX(0, 1)), ca.SX.zeros(self.v.shape[0])
            return ca.SX.ones(1), lambda F: Solvers(free, lambda b: (still, b), over_mass=over_mass)
        S = ca.sparsify(G @ Minv @ G.T)
        D, LT, order = pivoted(S)
        diagonal = ca.diag(S)[order]
        inverse = ca.if_else(D > SINGULAR * diagonal, 1 / D, 0)
        factor = ca.densify(ca.vertcat(column(G), column(LT), inverse, smallest(D / diagonal)))

        def read(F):
            own, lower, pivots, _ = ca.vertsplit(F, np.cumsum([0, G.nnz(), LT.nnz(), len(order), 1]).tolist())
            kept = ca.SX(G.sparsity(), own)
            solve = solver(ca.SX(LT.sparsity(), lower) + ca.SX.eye(len(order)), pivots, order)

            def accelerations(gamma):
                lam = solve(gamma - kept @ (Minv @ f))  # (2)
                return Minv @ (f + kept.T @ lam), lam  # (1)

            spread = lambda lam: over_mass(kept.T @ lam)
            return Solvers(accelerations, spreading(solve, spread), G=kept, over_mass=over_mass)  # (3), (4)

        return conditioned(self, factor, G), read

    def least_change(self, rows):
        return correction(self.jacobian()[rows, :], self.inverse_mass())

    def power(self, lam, a):
        imposed = ca.substitute(self.stacked("psi")[self.keep, :], self.v, ca.SX.zeros(self.v.shape))  # g_t: G v = −g_t
        return self.loads.power - ca.dot(lam, imposed)

    def examination(self):
        return super().examination() | {
            "Minv": lambda: ca.Function("Minv", [self.q, self.p], [self.inverse_mass()]),
            "departures": lambda: departures(self),
            "alignments": lambda: alignments(self),
            "exerted": self._exerted_by_rows,
            **initial_functions(self),
        }

    def _exerted_by_rows(self):
        """(t, q, p, multipliers of all rows) → force and torque of each connection on its second body, one after the other."""
        lam, kept = ca.SX.sym("lam", len(self.rows)), self.keep
        self.keep = list(range(len(self.rows)))
        found = [x for c in self.model.constraints if isinstance(c, Connection) for x in self.exerted(c, lam)]
        self.keep = kept
        column = ca.densify(ca.vertcat(*found, ca.SX(0, 1)))
        return ca.Function("exerted", [quantity.time, self.q, self.p, lam], [column])

    # what results are made of

    @property
    def all_rows(self):
        return self

    def in_state(self, expression, a):
        """The bodies' symbols are the state; their accelerations are parts of a."""
        old, new = [], []
        for body in self.model.bodies:
            at = self.offset[id(body)]
            linear, angular = parts(a[at : at + velocities(body).shape[0]])
            old += [body.acceleration, body.angular_acceleration]
            new += [linear, ca.SX.zeros(3) if body.particle else angular]
        return ca.substitute([expression], old, new)[0]

    def rate_of(self, expression):
        """ė along the motion, velocities held, and with time."""
        return rate(expression, self.substitution.bodies(expression), self.substitution.states(expression))

    def joint_motion(self, joint, a):
        return joint_motion_of_bodies(joint, self.substitution)

    def reaction(self, connection, lam, a):
        return self.exerted(connection, lam)

    def coordinate_names(self):
        """One name per velocity: the body, and the axis along which it moves or about which it turns."""
        return [f"{b.name} {axis}" for b in self.model.bodies for axis in AXES[: 3 if b.particle else 6]]

    def carried(self):
        """The body that each velocity moves, by name."""
        return [b.name for b in self.model.bodies for _ in range(3 if b.particle else 6)]

    def linear(self):
        """1 for every velocity that is a length per time, 0 for an angular one."""
        return [1 if k < 3 else 0 for b in self.model.bodies for k in range(3 if b.particle else 6)]
